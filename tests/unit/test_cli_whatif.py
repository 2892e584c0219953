import io
import json
from typing import Any

import pytest

from burstwatch.cli.main import run


def burstwatch(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


def whatif(text: str) -> dict[str, Any]:
    code, out, err = burstwatch("whatif", *text.split(), "--json")
    assert (code, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_a_full_100_gib_gp2_at_3000_iops_lasts_2000_s_and_falls_to_300() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 3000")
    assert answer["state"] == "finite"
    assert answer["baseline"] == 300
    assert answer["burst"] == 3_000
    assert answer["capacity"] == 5_400_000
    assert answer["credit_unit"] == "io"
    assert answer["time_to_empty_s"] == answer["worst_s"] == 2_000
    assert answer["refill_from_empty_s"] == 18_000
    assert (answer["limit_mib_s"], answer["limit_mib_s_when_empty"]) == (128, 75)
    assert answer["binding"] == "volume_iops"
    assert answer["served_iops_when_empty"] == 300


def test_twenty_percent_of_100_gib_is_under_seven_minutes_but_an_hour_at_900() -> None:
    assert whatif("--type gp2 --size-gib 100 --iops 3000 --balance-percent 20")[
        "time_to_empty_s"
    ] == pytest.approx(400)
    assert whatif("--type gp2 --size-gib 900 --iops 3000 --balance-percent 20")[
        "time_to_empty_s"
    ] == pytest.approx(3_600)


def test_large_io_meets_the_throughput_limit_first_and_so_lasts_longer() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 3000 --io-kib 64")
    assert answer["binding"] == "volume_throughput"
    assert answer["served_mib_s"] == 128
    assert answer["time_to_empty_s"] == pytest.approx(5_400_000 / (2_048 - 300))


@pytest.mark.parametrize(
    ("instance", "binding"),
    [("--instance-iops 1000", "instance_iops"), ("--instance-mib-s 10", "instance_throughput")],
)
def test_the_smaller_of_volume_and_instance_holds(instance: str, binding: str) -> None:
    answer = whatif(f"--type gp2 --size-gib 100 --iops 3000 {instance}")
    assert answer["binding"] == binding
    assert answer["time_to_empty_s"] > answer["worst_s"]


def test_a_demand_under_the_baseline_lasts_for_ever_and_refills() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 200 --balance-percent 50")
    assert answer["state"] == "infinite"
    assert answer["time_to_empty_s"] is None
    assert answer["time_to_full_s"] == 27_000
    assert answer["binding"] == "none"


def test_an_empty_bucket_under_load_is_exhausted() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 3000 --balance-percent 0")
    assert answer["state"] == "exhausted"
    assert answer["time_to_empty_s"] == 0


def test_an_empty_bucket_at_its_baseline_is_exhausted_now_not_never() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 300 --balance-percent 0")
    assert (answer["state"], answer["time_to_empty_s"]) == ("exhausted", 0)


def test_st1_counts_in_mib() -> None:
    answer = whatif("--type st1 --size-gib 2048 --mib-s 500")
    assert answer["credit_unit"] == "MiB"
    assert answer["time_to_empty_s"] == pytest.approx(4_993.2, abs=0.1)
    assert answer["binding"] == "volume_throughput"


def test_small_random_io_on_st1_costs_a_whole_mib_each() -> None:
    sequential = whatif("--type st1 --size-gib 1024 --mib-s 2 --io-kib 16")
    random = whatif("--type st1 --size-gib 1024 --mib-s 2 --io-kib 16 --access random")
    assert sequential["state"] == "infinite"
    assert random["state"] == "finite"


@pytest.mark.parametrize("volume", ["--type gp3 --size-gib 100", "--type gp2 --size-gib 1000"])
def test_volumes_without_a_bucket_are_not_applicable(volume: str) -> None:
    answer = whatif(f"{volume} --iops 3000")
    assert answer["state"] == "not_applicable"
    assert answer["capacity"] is None
    assert answer["worst_s"] is None


def test_without_a_provisioned_rate_the_most_for_the_size_is_the_limit() -> None:
    assert whatif("--type io1 --size-gib 10 --iops 50000")["served_iops"] == 500
    assert whatif("--type io2 --size-gib 10 --iops 50000 --io-kib 4")["served_iops"] == 10_000


def test_an_empty_bucket_serves_its_baseline() -> None:
    answer = whatif("--type gp2 --size-gib 100 --iops 3000 --balance-percent 0")
    assert (answer["served_iops"], answer["binding"]) == (300, "volume_iops")


def test_what_was_assumed_is_said() -> None:
    def words(*more: str) -> str:
        return burstwatch("whatif", "--type", "gp2", "--size-gib", "100", *more)[1]

    assert "assumed: 16 KiB per operation, random access" in words("--iops", "3000")
    assert "3000 provisioned IOPS, which every volume of this type has" in words(
        "--type", "gp3", "--iops", "9"
    )
    assert "assumed: random access" in words("--iops", "3000", "--mib-s", "47")
    assert "assumed" not in words("--iops", "3000", "--io-kib", "16", "--access", "random")


def test_people_get_words() -> None:
    code, out, _ = burstwatch(*["whatif", "--type", "gp2", "--size-gib", "100", "--iops", "3000"])
    assert code == 0
    assert out.startswith("runs out in 33 min; then 300 IOPS, 4.7 MiB/s\n")


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("--type gp2 --size-gib 100 --iops 200", "does not run out at this load; at the highest load it would in 33 min"),
        ("--type gp3 --size-gib 100 --iops 200", "gp3 of 100 GiB: gp3 has no burst credits"),
        ("--type gp2 --size-gib 100 --iops 200 --balance-percent 0", "empty now, and it does not run out again at this load"),
        ("--type gp2 --size-gib 100 --iops 900 --balance-percent 0", "has run out: 300 IOPS, 4.7 MiB/s"),
        ("--type t3.medium --cpu-percent 60", "runs out in 12 h, at worst in 5 h 3 min; then 20% of 2 vCPUs"),
    ],
)  # fmt: skip
def test_the_time_comes_first(text: str, begins: str) -> None:
    _, out, _ = burstwatch("whatif", *text.split())
    assert out.startswith(begins)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ("--type gp9 --size-gib 100 --iops 1", "'gp9'"),
        ("--type gp2 --size-gib 0 --iops 1", "0 GiB is out of range"),
        ("--type gp2 --size-gib nan --iops 1", "out of range"),
        ("--type gp2 --size-gib 100 --iops -5", "iops must be 0 or more, got -5"),
        ("--type gp2 --size-gib 100 --mib-s -5", "--mib-s must be 0 or more, got -5"),
        ("--type gp2 --size-gib 100 --iops 1 --io-kib 0", "--io-kib must be above 0"),
        ("--type gp2 --size-gib 100", "--iops, --mib-s or both"),
        ("--type gp2 --size-gib 100 --iops 3000 --mib-s 0", "contradict each other"),
        ("--type gp2 --size-gib 100 --iops 1e-320 --mib-s 1e308", "must be"),
        ("--type st1 --size-gib 500 --iops 1 --io-kib 5e-324", "--io-kib must be above 0"),
        ("--type gp3 --size-gib 100 --iops 1 --provisioned-iops -5", "--provisioned-iops must be"),
        ("--type gp3 --size-gib 100 --iops 1 --provisioned-iops nan", "--provisioned-iops must be"),
        ("--type gp2 --size-gib 100 --iops 100 --io-kib 16 --mib-s 9", "leave one of them out"),
        ("--type gp2 --size-gib 100 --iops 1 --balance-percent 101", "--balance-percent"),
        ("--type gp2 --size-gib ten --iops 1", "'ten' is not a number"),
        ("--size-gib 100", "--type"),
        (
            "--type io1 --size-gib 10 --iops 1 --provisioned-iops 50000",
            "must be 100 to 500 for io1 of 10 GiB, got 50000",
        ),
        (
            "--type gp3 --size-gib 1000 --iops 1 --provisioned-iops 400000",
            "must be 3000 to 80000 for gp3",
        ),
        (
            "--type gp3 --size-gib 100 --iops 1 --provisioned-mib-s 2000",
            "must be 125 to 750 at 3000 IOPS",
        ),
        (
            "--type gp2 --size-gib 100 --iops 1 --provisioned-iops 5000",
            "gp2 has none: only gp3, io1 and io2 do",
        ),
        (
            "--type io1 --size-gib 100 --iops 1 --provisioned-mib-s 200",
            "io1 has none: only gp3 does",
        ),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(args: str, named: str) -> None:
    code, out, err = burstwatch("whatif", *args.split())
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.parametrize(
    ("load", "unit", "baseline"),
    [("--iops 50000 --mib-s 200", "io", 2_000), ("--mib-s 200", "MiB", 30.5)],
)
def test_of_a_file_server_the_bucket_that_is_empty_first_is_told_in_its_own_unit(
    load: str, unit: str, baseline: float
) -> None:
    server = "--kind fsx_file_server --throughput-capacity 32 --json"
    code, out, _ = burstwatch("whatif", *server.split(), *load.split())
    found = json.loads(out)
    assert (code, found["credit_unit"], found["baseline"]) == (
        0,
        unit,
        pytest.approx(baseline, rel=0.01),
    )


def test_an_unknown_command_is_named() -> None:
    code, _, err = burstwatch("whatis")
    assert code == 2
    assert "whatis" in err


def test_iops_that_nobody_stated_are_named_as_assumed() -> None:
    _, out, _ = burstwatch("whatif", *["--type", "io1", "--size-gib", "100", "--iops", "3000"])
    assert "5000 provisioned IOPS, the most for this size" in out


def test_the_throughput_that_is_provisioned_of_a_gp3_is_its_limit() -> None:
    answer = whatif(
        "--type gp3 --size-gib 100 --provisioned-iops 4000 --provisioned-mib-s 500 --io-kib 256 --iops 4000"
    )
    assert answer["limit_mib_s"] == 500


def test_a_mode_that_is_not_stated_is_said_to_be_assumed() -> None:
    """T3 starts in Unlimited mode unless somebody has chosen the other."""
    stated = ("whatif", "--type", "t3.medium", "--cpu-percent", "60")
    out = io.StringIO()
    run(stated, stdout=out, stderr=out, env={}, clock=lambda: 0.0)
    assert out.getvalue().splitlines()[-1] == "assumed: standard mode (--mode)"
    out = io.StringIO()
    run([*stated, "--mode", "standard"], stdout=out, stderr=out, env={}, clock=lambda: 0.0)
    assert "assumed" not in out.getvalue()

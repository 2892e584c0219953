"""The way into the command line: nothing typed, a slip of the finger, a number as people write it."""

import io
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.cli.main import GROUPS, SUCCESSORS, build_parser, command_names, run
from burstwatch.cli.values import COUNTS, PERCENTS, RATES, SIZES, number_in, reader_of


def burstwatch(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


def test_without_a_command_it_says_four_that_one_can_type() -> None:
    code, out, err = burstwatch()
    assert (code, err) == (0, "")
    calls = [line for line in out.splitlines() if line.startswith("burstwatch")]
    assert [call.split()[1] for call in calls] == ["scan", "whatif", "explain", "help"]


def test_what_it_says_to_type_works() -> None:
    _, out, _ = burstwatch()
    (line,) = (line for line in out.splitlines() if " whatif " in line)
    code, answer, err = burstwatch(*line.split()[1:])
    assert (code, err) == (0, "")
    assert "33 min" in answer


def test_the_help_has_each_command_once_in_a_group() -> None:
    code, out, _ = burstwatch("help")
    assert code == 0
    assert [line.rstrip(":") for line in out.splitlines() if line.endswith(":")] == [
        *GROUPS.values()
    ]
    listed = [
        line.split()[0] for line in out.splitlines() if line.startswith("  ") and line[2] != " "
    ]
    assert sorted(listed) == command_names()


@pytest.mark.parametrize("command", command_names())
def test_help_of_a_command_is_its_help(command: str) -> None:
    code, out, _ = burstwatch("help", command)
    assert code == 0
    assert out.startswith(f"usage: burstwatch {command} ")
    example = out.partition("\nexample:\n")[2].replace("\\\n", "")
    program_name, name, *arguments = shlex.split(example)
    assert (program_name, name) == ("burstwatch", command)
    build_parser(command).parse_args([command, *arguments])


@pytest.mark.parametrize("command", [name for name in command_names() if len(name) > 3])
def test_a_slip_of_the_finger_is_understood(command: str) -> None:
    slipped = command[1] + command[0] + command[2:]
    code, _, err = burstwatch(slipped)
    assert code == 2
    assert f"'{command}'" in err.partition("did you mean ")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("--type GP2 --size-gib 1,000 --iops 3k", "--type gp2 --size-gib 1000 --iops 3000"),
        ("--type gp2 --size-gib 100GiB --iops 3,000", "--type gp2 --size-gib 100 --iops 3000"),
        ("--type st1 --size-gib 1TB --mib-s 0.5GiB/s", "--type st1 --size-gib 1024 --mib-s 512"),
        ("--type gp2 --size-gib 100 --iops 3000 --io-kib 16KiB", "--type gp2 --size-gib 100 --iops 3000 --io-kib 16"),
        ("--type gp2 --size-gib 100 --iops 3000 --balance-percent 20%", "--type gp2 --size-gib 100 --iops 3000 --balance-percent 20"),
    ],
)  # fmt: skip
def test_values_are_taken_as_people_write_them(written: str, plain: str) -> None:
    assert burstwatch("whatif", *written.split()) == burstwatch("whatif", *plain.split())


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("--type t3.medium --cpu-percent 60", "ec2_instance_cpu"),
        ("--type db.T3.medium --cpu-percent 60", "rds_instance_cpu"),
        ("--type cache.t3.micro --cpu-percent 40", "elasticache_node_cpu"),
        ("--type gp2 --size-gib 100 --iops 3000 --engine postgres", "rds_storage"),
        ("--type gp2 --size-gib 100 --iops 3000", "ebs_volume"),
    ],
)
def test_the_type_tells_the_kind(stated: str, kind: str) -> None:
    by_type = burstwatch("whatif", *stated.split())
    assert by_type[0] == 0
    assert by_type == burstwatch("whatif", "--kind", kind, *stated.split())


def test_a_type_without_credits_is_refused_by_its_kind() -> None:
    code, _, err = burstwatch("whatif", "--type", "m5.large", "--cpu-percent", "40")
    assert code == 2
    assert "ec2_instance_cpu with type m5.large has no credits" in err


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("size_gib", "512MiB", 0.5), ("size_gib", "100GB", 100), ("size_gib", "100 g", 100), ("size_gib", "1TiB", 1024),
        ("size_gib", "2tb", 2048), ("size_gib", "1.5T", 1536), ("iops", "3k", 3_000), ("provisioned_iops", "1.5K", 1_500),
        ("iops", "2M", 2_000_000), ("mib_s", "250MiB/s", 250), ("mib_s", "250 MB/s", 250), ("mib_s", "1GiB/s", 1024),
        ("provisioned_mib_s", "0.5GB/s", 512), ("io_kib", "16KiB", 16), ("io_kib", "16k", 16), ("io_kib", "1MiB", 1024),
        ("balance_percent", "20 %", 20), ("cpu_percent", "7.5%", 7.5), ("throughput_capacity", "1,024", 1024),
        ("iops", "1e3", 1_000), ("iops", ".5k", 500), ("size_gib", "1,234,567", 1_234_567),
    ],
)  # fmt: skip
def test_a_unit_means_what_people_mean_by_it(name: str, text: str, value: float) -> None:
    assert reader_of(name)(text) == value


@pytest.mark.parametrize("units", [SIZES, COUNTS, RATES, PERCENTS])
@given(value=st.integers(min_value=0, max_value=10**7), upper=st.booleans(), blank=st.booleans())
def test_a_number_with_any_unit_in_any_case_and_with_commas_is_read(
    units: dict[str, float], value: int, *, upper: bool, blank: bool
) -> None:
    read = number_in(units, like="1")
    for unit, scale in units.items():
        text = f"{value:,}{' ' if blank else ''}{unit.upper() if upper else unit}"
        assert read(text) == value * scale


@pytest.mark.parametrize(("gone", "successor"), SUCCESSORS.items())
def test_a_command_that_is_gone_is_answered_with_the_one_that_does_its_work(
    gone: str, successor: str
) -> None:
    command, *flags = successor.split()
    assert gone not in command_names()
    assert set(flags) <= set(build_parser(command).by_name[command].flags())
    code, out, err = burstwatch(gone, "--example")
    assert (code, out) == (2, "")
    assert f"did you mean '{successor}'?" in err


def test_a_command_that_is_chosen_is_the_only_one_that_is_imported() -> None:
    parser = build_parser("whatif")
    assert [*parser.by_name] == ["whatif"]

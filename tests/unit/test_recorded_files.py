"""Files as other programs write them are read, and tell the same story as our own columns."""

import gzip
import io
import json
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.cli.main import run
from burstwatch.recordings import formats
from burstwatch.recordings.cells import Number, parse_number
from burstwatch.recordings.formats.documents import json_formats, json_programs, read_documents
from burstwatch.recordings.times import Conventions, read_times
from tests.recorded import volume_samples

pytestmark = pytest.mark.slow

FILES = Path(__file__).parents[1] / "recordings"
OWN = FILES / "own.csv"
GP2 = ("--type", "gp2", "--size-gib", "100")
LINES = OWN.read_text().splitlines()


def burstwatch(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: 0.0, stdin=lambda _: stdin)
    return code, out.getvalue(), err.getvalue()


def story(path: Path | str, *args: str, stdin: bytes = b"") -> dict[str, Any]:
    code, out, err = burstwatch("explain", str(path), *GP2, "--json", *args, stdin=stdin)
    assert code == 0, err
    told: dict[str, Any] = json.loads(out)
    return told


def times(told: dict[str, Any]) -> list[tuple[float, str]]:
    return [(one["at"], one["verdict"]) for one in told["pages"]]


def test_the_recording_has_something_to_tell() -> None:
    told = story(OWN)
    assert len(told["pages"]) >= 1
    assert told["run_out"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("console.csv", "CSV of the CloudWatch console, periods of 300 s; times have no zone"),
        ("query_range.json", "JSON of Prometheus, periods of 300 s"),
    ],
)
def test_a_file_that_says_all_tells_the_very_same(name: str, said: str) -> None:
    assert {**story(FILES / name), "name": "", "notes": []} == {**story(OWN), "name": ""}
    assert said in burstwatch("explain", str(FILES / name), *GP2)[2]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("get-metric-data.json", "BurstBalance is taken as an Average"),
        ("grafana-raw.csv", "BurstBalance is taken as an Average"),
        ("grafana-frames.json", "JSON of Grafana, periods of 300 s"),
        ("grafana-panel.json", "JSON of Grafana, periods of 300 s"),
        ("grafana-formatted.csv", "times have no zone and are taken as UTC"),
        ("get-metric-statistics.json", "get-metric-statistics, periods of 300 s"),
    ],
)
def test_a_file_that_says_less_pages_within_a_period_and_names_what_it_assumes(
    name: str, said: str
) -> None:
    told, own = story(FILES / name), story(OWN)
    assert told["run_out"] == own["run_out"]
    pages, expected = times(told), times(own)
    first_s, first_own_s = pages[0][0], expected[0][0]
    assert abs(first_s - first_own_s) <= 900
    assert said in burstwatch("explain", str(FILES / name), *GP2)[2]


def test_balance_alone_in_a_csv_of_two_columns_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "value.csv"
    rows = [line.split(",")[:2] for line in LINES[1:]]
    path.write_text("\n".join(["Time,Value", *(",".join(row) for row in rows)]))
    assert story(path)["run_out"] == story(OWN)["run_out"]
    assert (
        "its only series, 'Value', is taken as BurstBalance"
        in burstwatch("explain", str(path), *GP2)[2]
    )


def in_disorder(lines: list[str]) -> list[str]:
    return [lines[0], *reversed(lines[1:])]


def twice(lines: list[str]) -> list[str]:
    return [*lines, *lines[5:9]]


def with_jitter(lines: list[str]) -> list[str]:
    late = [line.split(",", 1) for line in lines[1:]]
    return [lines[0], *(f"{int(t) + n * 7 % 40},{rest}" for n, (t, rest) in enumerate(late))]


def with_semicolons(lines: list[str]) -> list[str]:
    return [line.replace(",", ";").replace(".", ",") for line in lines]


def in_iso(lines: list[str]) -> list[str]:
    dated = [line.split(",", 1) for line in lines[1:]]
    start = int(dated[0][0])
    return [
        lines[0],
        *(
            f"2026-11-02T{(int(t) - start) // 3600:02d}:{(int(t) - start) % 3600 // 60:02d}:00Z,{rest}"
            for t, rest in dated
        ),
    ]


def in_milliseconds(lines: list[str]) -> list[str]:
    return [lines[0], *(line.replace(",", "000,", 1) for line in lines[1:])]


def with_more(lines: list[str]) -> list[str]:
    return [f"{lines[0]},Something", *(f"{line},7" for line in lines[1:])]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (in_disorder, "times are sorted"),
        (twice, "20 duplicate values are merged"),
        (with_jitter, "times are moved to the nearest period"),
        (with_semicolons, ""),
        (in_iso, ""),
        (in_milliseconds, ""),
        (with_more, "left out Something"),
    ],
)
def test_the_same_rows_in_another_form_tell_the_same(
    change: Callable[[list[str]], list[str]], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "other.csv"
    path.write_text("\n".join(change(LINES)))
    assert times(story(path)) == times(story(OWN))
    err = burstwatch("explain", str(path), *GP2)[2]
    assert said in err if said else err == ""


def test_gzip_standard_input_and_utf_16_are_read(tmp_path: Path) -> None:
    expected = times(story(OWN))
    packed = tmp_path / "own.csv.gz"
    packed.write_bytes(gzip.compress(OWN.read_bytes()))
    assert times(story(packed)) == expected
    assert times(story("-", stdin=packed.read_bytes())) == expected
    of_excel = tmp_path / "excel.csv"
    of_excel.write_text(OWN.read_text(), encoding="utf-16")
    assert times(story(of_excel)) == expected


def test_answers_that_follow_one_another_are_one_recording(tmp_path: Path) -> None:
    whole = json.loads((FILES / "get-metric-statistics.json").read_text())
    half = len(whole["Datapoints"]) // 2
    parts = [
        {**whole, "Datapoints": whole["Datapoints"][at]} for at in (slice(half, None), slice(half))
    ]
    path = tmp_path / "joined.json"
    path.write_text("\n".join(map(json.dumps, parts)))
    assert times(story(path)) == times(story(FILES / "get-metric-statistics.json"))


def with_hole(tmp_path: Path, missing: range) -> tuple[list[str], str]:
    """The states of a replay in which datapoints are missing, and what was said of it."""
    answer = json.loads((FILES / "get-metric-statistics.json").read_text())
    answer["Datapoints"] = [
        one for n, one in enumerate(sorted(answer["Datapoints"], key=lambda p: p["Timestamp"]))
        if n not in missing
    ]  # fmt: skip
    path = tmp_path / "gap.json"
    path.write_text(json.dumps(answer))
    code, out, err = burstwatch("explain", str(path), *GP2, "--every-period", "--json")
    assert code == 0
    return [json.loads(line)["state"] for line in out.splitlines()], err


def test_minutes_without_a_datapoint_are_taken_as_idle_and_counted(tmp_path: Path) -> None:
    states, said = with_hole(tmp_path, range(101, 110))
    assert "idle" in states[102:112]
    assert "9 periods without a row are taken as no I/O" in said


def test_hours_without_a_datapoint_are_unknown_and_not_idle(tmp_path: Path) -> None:
    states, said = with_hole(tmp_path, range(80, 130))
    assert "idle" not in states
    assert "taken as no I/O" not in said


@pytest.mark.parametrize(("last", "spent"), [(90, 0), (20, 10)])
def test_a_balance_does_not_fall_in_silence(last: int, spent: int, tmp_path: Path) -> None:
    at = [*range(1_790_000_000, 1_790_003_000, 300), *range(1_790_006_000, 1_790_009_000, 300)]
    points = [
        {"Timestamp": t, "Minimum": 90 if t < 1_790_003_000 else last, "Unit": "Percent"}
        for t in at
    ]
    path = tmp_path / "gap.json"
    path.write_text(json.dumps({"Label": "BurstBalance", "Datapoints": points}))
    code, out, err = burstwatch("explain", str(path), *GP2, "--every-period", "--json")
    assert code == 0
    assert ("10 periods without a row are taken as no I/O" in err) is (spent == 0)
    assert (f"doubtful: the balance falls over {spent} periods without a row" in err) is (spent > 0)
    states = [json.loads(line)["state"] for line in out.splitlines()]
    assert ("idle" in states[12:20]) is (spent == 0)


def rows_of(lines: Iterable[str], *, head: str = "Time,BurstBalance,VolumeReadOps") -> str:
    return "\n".join([head, *lines, ""])


def said_of(text: str, tmp_path: Path, *args: str) -> str:
    path = tmp_path / "file.csv"
    path.write_text(text)
    code, _, err = burstwatch("explain", str(path), *GP2, *args)
    assert code == 0, err
    return err


FOUR = "Time,BurstBalance,VolumeReadOps,VolumeWriteOps,VolumeReadBytes,VolumeWriteBytes"


def test_sums_that_an_exporter_repeats_are_doubtful(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 60 * n},90,{75_000 + n // 5},0,0,0" for n in range(60))
    said = said_of(rows_of(lines, head=FOUR), tmp_path)
    assert "each value of VolumeReadOps comes 5 times or more: are the rows closer" in said


def test_a_load_that_cannot_have_moved_the_balance_is_doubtful(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 60 * n},{95 - n},1.5,0,0,0" for n in range(60))
    said = said_of(rows_of(lines, head=FOUR), tmp_path)
    assert (
        "VolumeReadOps, VolumeWriteOps, VolumeReadBytes, VolumeWriteBytes are taken as Sums" in said
    )
    # 1 % a minute are 54,000 credits, and what comes in are 18,000 more: 1,200 a second for a load of 0.025.
    assert "the balance falls 48,000 times what the load explains: is the load an Average" in said


def test_a_balance_that_is_stated_as_an_average_is_said_to_hide_how_low_it_was(
    tmp_path: Path,
) -> None:
    points = [
        {"Timestamp": f"2026-11-24T08:{n:02d}:00Z", "Average": 98.0, "Unit": "Percent"}
        for n in range(0, 60, 5)
    ]
    path = tmp_path / "balance.json"
    path.write_text(json.dumps({"Label": "BurstBalance", "Datapoints": points}))
    _, _, err = burstwatch("explain", str(path), *GP2)
    assert "BurstBalance is an Average, and can be lower within a period" in err


def test_a_load_with_a_part_missing_is_named(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 60 * n},90,100" for n in range(60))
    said = said_of(rows_of(lines), tmp_path)
    assert (
        "the load is not used, VolumeReadBytes, VolumeWriteBytes, VolumeWriteOps is missing" in said
    )


def test_two_values_at_one_time_are_doubtful(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 60 * (n // 2)},{90 - 5 * (n % 2)},100" for n in range(60))
    said = said_of(rows_of(lines), tmp_path)
    assert (
        "BurstBalance has two values for the same time in 30 places, and the worse one is used"
        in said
    )


@pytest.mark.parametrize("every", [7, 10, 90])
def test_a_column_that_is_mostly_empty_does_not_make_the_file_coarser(
    every: int, tmp_path: Path
) -> None:
    lines = (
        f"{1_700_000_040 + 60 * n},{90},{100 if n % every == 0 else ''},,," for n in range(300)
    )
    head = "t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes"
    path = tmp_path / "own.csv"
    path.write_text(rows_of(lines, head=head))
    code, out, _ = burstwatch("explain", str(path), *GP2, "--every-period", "--json")
    assert code == 0
    assert len(out.splitlines()) >= 300


def test_a_balance_that_is_coarser_than_the_load_loses_none_of_the_load(tmp_path: Path) -> None:
    head = "t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes"
    lines = (
        f"{1_700_000_100 + 60 * n},{'' if n % 5 else 80},60000,0,983040000,0" for n in range(120)
    )
    path = tmp_path / "own.csv"
    path.write_text(rows_of(lines, head=head))
    code, out, _ = burstwatch("explain", "--verbose", str(path), *GP2)
    assert code == 0
    assert "using 1,000 credits/s, 300 are earned" in out


def test_the_period_that_the_console_states_is_used(tmp_path: Path) -> None:
    head = "Label,BurstBalance\nStatistic,Minimum\nPeriod,300"
    lines = (f"2026-11-20 10:{15 * n:02}:00,9{n}" for n in range(4))
    assert "periods of 300 s" in said_of(rows_of(lines, head=head), tmp_path)


def test_a_metric_of_five_minutes_that_the_console_shows_at_one_tells_the_same(
    tmp_path: Path,
) -> None:
    """Between its rows is no silence: that would read as no I/O in four of five minutes."""
    coarse = "Period,300,300,300,300,300"
    text = (FILES / "console.csv").read_text()
    assert coarse in text
    path = tmp_path / "console.csv"
    path.write_text(text.replace(coarse, coarse.replace("300", "60")))
    assert {**story(path), "name": "", "notes": []} == {**story(OWN), "name": ""}


def test_columns_of_text_are_left_out(tmp_path: Path) -> None:
    lines = [
        f"{1_700_000_000 + 60 * n},web{n % 2},vol-0123456789abcdef0,{90 - n}" for n in range(5)
    ]
    said = said_of(rows_of(lines, head="Time,host,VolumeId,BurstBalance"), tmp_path)
    assert "left out host, VolumeId" in said


def test_a_column_of_text_with_a_number_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("Time,x,BurstBalance\n1700000000,up,90\n1700000060,3,90\n")
    code, _, err = burstwatch("explain", str(path), *GP2)
    assert code == 2
    assert "file.csv line 2: x is 'up'; allowed: a number" in err


def test_jitter_of_a_third_of_a_period_loses_no_row(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 60 * n + 19 * n % 41 - 20},{90 - n / 10}" for n in range(200))
    said = said_of(rows_of(lines, head="Time,BurstBalance"), tmp_path)
    assert "merged" not in said
    assert "doubtful" not in said


@pytest.mark.parametrize(("period_s", "late_s"), [("311.96", 0), ("300", 1.5), ("300", 7)])
def test_a_period_that_is_stated_may_be_one_that_the_rows_have_about(
    tmp_path: Path, period_s: str, late_s: float
) -> None:
    times = (1_700_000_000 + float(period_s) * n + late_s * (n % 3) for n in range(50))
    lines = (f"{at:.3f},{90 - n / 10}" for n, at in enumerate(times))
    said_of(rows_of(lines, head="Time,BurstBalance"), tmp_path, "--period-s", period_s)


@pytest.mark.parametrize(
    ("kind", "spec", "metric", "value", "doubt"),
    [
        ("efs_file_system", "size_gib=256", "BurstCreditBalance", 2_200_000, "in another unit?"),
        (
            "ec2_instance_cpu",
            "type=t3.medium",
            "CPUCreditBalance",
            5_000,
            "check the type and size",
        ),
    ],
)
def test_credits_that_no_bucket_has_are_doubtful(
    tmp_path: Path, kind: str, spec: str, metric: str, value: float, doubt: str
) -> None:
    path = tmp_path / "file.csv"
    rows = "".join(f"{1_700_000_000 + 300 * n},{value - n}\n" for n in range(30))
    path.write_text(f"Time,{metric}\n{rows}")
    code, _, err = burstwatch("explain", str(path), "--kind", kind, "--spec", spec)
    assert code == 0
    assert doubt in err


def test_the_settings_of_the_environment_are_those_of_a_replay() -> None:
    out, err = io.StringIO(), io.StringIO()
    args = ("explain", str(OWN), *GP2, "--json")
    code = run(args, stdout=out, stderr=err, env={"BURSTWATCH_LEAD_S": "5400"}, clock=lambda: 0.0)
    assert code == 0
    assert times(json.loads(out.getvalue()))[0] < times(story(OWN))[0]
    code = run(args, stdout=out, stderr=err, env={"BURSTWATCH_LEAD_S": "9"}, clock=lambda: 0.0)
    assert code == 2


def test_a_prometheus_step_of_15_s_stays_as_it_is(tmp_path: Path) -> None:
    lines = (f"{1_700_000_000 + 15 * n},90" for n in range(60))
    said = said_of(rows_of(lines, head="Time,BurstBalance"), tmp_path)
    assert "periods of 15 s" in said
    assert "moved" not in said


def test_a_dot_separates_thousands_where_a_comma_is_the_decimal_sign() -> None:
    assert parse_number("150.000", decimal_comma=True) == Number(value=150_000)
    assert parse_number("82,24", decimal_comma=True) == Number(value=82.24)
    assert parse_number("150.000") == Number(value=150)
    with pytest.raises(ValueError, match=r"82\.24"):
        parse_number("82.24", decimal_comma=True)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{}", "document of an unknown form; allowed: the answers of"),
        ("[1,2]", "document of an unknown form"),
        ('{"Datapoints": [{"Timestamp": "x", "Minimum": 3}]}', "a time is 'x'; allowed: seconds"),
        ('{"Datapoints": [{"Timestamp": 1790000000, "Minimum": "x"}]}', "a value is 'x'; allowed: a number"),
        ('{"Datapoints": []}', "no series with a time and a value, so nothing can be said"),
        ('{"Datapoints": [{"Minimum": 3}]}', "document of an unknown form"),
        ('{"Datapoints": [', "begins like JSON and is not valid: line 1"),
        ('{"status":"error","error":"too many"}', "Prometheus answered with an error: too many"),
        ('{"status":"success","data":{"resultType":"vector","result":[]}}', "only query_range gives"),
        ("[" * 100_000, "begins like JSON and is not valid: too deep"),
        ("t_s,BurstBalance Maximum\n0,3\n60,4\n", "as Maximum only, which hides how low it was"),
        ("Time,a BurstBalance,b BurstBalance\n1790000000,3,4\n", "several series of BurstBalance: a BurstBalance, b"),
        (
            "Time,vol-0aaaaaaaaaaaaaaa1 BurstBalance,vol-0aaaaaaaaaaaaaaa2 VolumeReadOps\n1790000000,3,4\n",
            "series of vol-0aaaaaaaaaaaaaaa1, vol-0aaaaaaaaaaaaaaa2: choose one by --only TEXT",
        ),
        ("Time,BurstBalance\n0,3.5 Mb/s\n", "BurstBalance is '3.5 Mb/s'; allowed: a number"),
        ("Time,BurstBalance\n1790000000,3.5 io/s\n", "BurstBalance per second, and a balance is no rate"),
        ("t_s,BurstBalance\n0,3\n60,4\n90,5\n", ""),
    ],
)  # fmt: skip
def test_what_no_program_writes_is_refused_in_one_line(
    text: str, named: str, tmp_path: Path
) -> None:
    path = tmp_path / "odd"
    path.write_text(text)
    code, out, err = burstwatch("explain", str(path), *GP2, "--every-period", "--json")
    if not named:
        assert code == 0
        return
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err


def test_a_broken_gzip_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(OWN.read_bytes())[:100])
    code, _, err = burstwatch("explain", str(path), *GP2)
    assert code == 2
    assert "cut.csv.gz is a broken gzip file" in err


def test_only_chooses_one_of_several_volumes(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    rows = [f"{line.split(',')[0]},{line.split(',')[1]},100" for line in LINES[1:]]
    path.write_text("\n".join(["Time,orders BurstBalance,logs BurstBalance", *rows]))
    assert story(path, "--only", "orders")["run_out"] == story(OWN)["run_out"]
    assert story(path, "--only", "logs")["run_out"] == []
    code, _, err = burstwatch("explain", str(path), *GP2, "--only", "nobody")
    assert code == 2
    assert "no series with 'nobody', only orders BurstBalance, logs BurstBalance" in err


def doubted(rows: list[str], tmp_path: Path, *args: str) -> str:
    path = tmp_path / "doubted.csv"
    path.write_text(
        "\n".join(["t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes", *rows])
    )
    code, _, err = burstwatch("explain", str(path), *(args or GP2), "--every-period", "--json")
    assert code == 0
    return err


def test_what_a_recording_contradicts_is_named(tmp_path: Path) -> None:
    rows = [f"{60 * n},100,90000,90000,3e9,3e9" for n in range(60)]
    assert "of load above the baseline at +0:00, and the balance does not move" in doubted(
        rows, tmp_path
    )
    rows = [f"{60 * n},{90 - n},1e9,1e9,1e12,1e12" for n in range(20)]
    assert "and at most 3,000 are served" in doubted(rows, tmp_path)
    rows = [f"{60 * n},{max(0, 90 - 20 * n)},100,100,1e6,1e6" for n in range(20)]
    assert "falls faster than this type can spend at +0:01 and 4 times more" in doubted(
        rows, tmp_path
    )
    rows = [f"{60 * n},{min(90, 20 * n)},100,100,1e6,1e6" for n in range(20)]
    assert "rises faster than this type earns" in doubted(rows, tmp_path)
    rows = [f"{60 * n},0.{90 - n},100,100,1e6,1e6" for n in range(20)]
    assert "no BurstBalance is above 1: it is read in percent" in doubted(rows, tmp_path)


def test_a_recording_of_its_own_type_is_not_doubted() -> None:
    for args in (("--example",), (str(OWN), *GP2)):
        assert burstwatch("explain", *args)[2] == ""
    assert (
        "check the type and size"
        in burstwatch("explain", str(OWN), "--type", "gp2", "--size-gib", "900")[2]
    )


@pytest.mark.parametrize(
    ("cell", "seconds", "has_zone"),
    [
        ("1793577600", 1_793_577_600.0, True),
        ("1793577600000", 1_793_577_600.0, True),
        ("2026-11-02T00:00:00Z", 1_793_577_600.0, True),
        ("2026-11-02T01:00:00+01:00", 1_793_577_600.0, True),
        ("2026-11-02 00:00:00", 1_793_577_600.0, False),
        ("2026/11/02 00:00:00", 1_793_577_600.0, False),
        ("2026-11-02 00:00:00 UTC", 1_793_577_600.0, True),
        ("0", 0.0, True),
    ],
)
def test_times_are_read_as_programs_write_them(cell: str, seconds: float, has_zone: bool) -> None:  # noqa: FBT001
    times = read_times([cell], Conventions(), is_own=seconds == 0)
    assert list(times.seconds) == [seconds]
    assert times.notes == (
        () if has_zone else ("times have no zone and are taken as UTC (--timezone names another)",)
    )


@pytest.mark.parametrize(
    ("cell", "value", "is_rate"),
    [
        ("82.24", 82.24, False), ("82.2%", 82.2, False), ("218,775", 218_775.0, False), ("219 K", 219_000.0, False),
        ("1.5 Mil", 1.5e6, False), ("3.34 GiB", 3.34 * 2**30, False), ("0 B", 0.0, False), ("1e3", 1_000.0, False),
        ("3.2K iops", 3_200.0, True), ("3,000 iops", 3_000.0, True), ("2B iops", 2e9, True), ("12.5 MB/s", 1.25e7, True),
        ("1.5M ops/s", 1.5e6, True), ("3 io/s", 3.0, True), ("100\u202f%", 100.0, False), ("%85", 85.0, False),
        ("1\u00a0234", 1_234.0, False), ("1\u2019234.5", 1_234.5, False), ("5 k", 5_000.0, False),
    ],
)  # fmt: skip
def test_numbers_are_read_as_programs_write_them(cell: str, value: float, is_rate: bool) -> None:  # noqa: FBT001
    assert parse_number(cell) == Number(value=value, is_rate=is_rate)


@pytest.mark.parametrize("cell", ["", "null", "NaN", "-", "—", "NaT", "<NA>"])
def test_what_programs_print_for_no_value_is_none(cell: str) -> None:
    assert parse_number(cell) is None


@pytest.mark.parametrize("cell", ["x", "-1", "inf", "3 Mb/s", "1,5", "1,2,3", "1e400", "1e-300"])
def test_what_is_no_number_of_a_metric_is_refused(cell: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_number(cell)


@given(st.lists(st.integers(0, 25), min_size=9, max_size=40), st.integers(0, 20))
def test_jitter_below_a_fifth_of_a_period_never_loses_a_row(late: list[int], first: int) -> None:
    rows = [f"{120 * n + first + one},50,0,0,0,0\n" for n, one in enumerate(late)]
    samples = volume_samples(
        ["t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes\n", *rows]
    )
    assert len(samples) == len(rows)
    gaps = {b.t_s - a.t_s for a, b in pairwise(samples)}
    assert gaps == {120.0}


INFLUXDB = """
from burstwatch.recordings.raw import RawContents, RawSeries
from burstwatch.recordings.samples import About

PROGRAMS = ("InfluxDB",)


def read_document(document):
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        return None
    (series,) = document["results"][0]["series"]
    times, values = zip(*series["values"])
    balance = RawSeries(names=(series["name"],), times=times, values=values)
    return RawContents(about=About(format="InfluxDB", gaps_are_silence=False), series=[balance])
"""


@pytest.mark.parametrize("module_name", ["aaa", "zzz"])
def test_a_format_is_found_by_its_file_whatever_its_name_and_whoever_is_asked_before_it(
    module_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{module_name}.py").write_text(INFLUXDB)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    json_formats.cache_clear()
    try:
        values = [[60 * minute, 99.0 - minute] for minute in range(3)]
        answer = {"results": [{"series": [{"name": "BurstBalance", "values": values}]}]}
        (series,) = read_documents(json.dumps(answer), name="file").series
        assert (series.names, len(series.values)) == (("BurstBalance",), 3)
        assert "InfluxDB" in json_programs()
    finally:
        monkeypatch.undo()
        json_formats.cache_clear()
        sys.modules.pop(f"{formats.__name__}.{module_name}", None)

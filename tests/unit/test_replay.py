import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.cli.main import run
from burstwatch.ebs.volumes import volume_spec
from burstwatch.recordings.samples import COLUMNS
from tests.recorded import volume_samples, write_series

HEADING = ",".join(COLUMNS)


def replay(*args: str) -> tuple[int, list[dict[str, Any]], str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(
        ["explain", *args, "--every-period", "--json"],
        stdout=out,
        stderr=err,
        env={},
        clock=lambda: 0.0,
    )
    return code, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


@pytest.fixture
def drain(tmp_path: Path) -> Path:
    """An hour of calm, then a full burst that empties the bucket at 3,600 + 2,000 s."""
    spec = volume_spec("gp2", 100)
    assert spec.bucket is not None
    loads = [
        Phase(seconds=3_600, read_iops=100, write_iops=100),
        Phase(seconds=3_600, read_iops=1_500, write_iops=1_500),
    ]
    points = Simulation(spec=spec, bucket=spec.bucket).play(loads)
    path = tmp_path / "drain.csv"
    path.write_text("".join(write_series(points)))
    return path


GP2 = ("--type", "gp2", "--size-gib", "100")


def test_there_is_one_moment_a_period_from_the_first_row(drain: Path) -> None:
    _, moments, _ = replay(str(drain), *GP2, "--delay-s", "60")
    times = [moment["at"] for moment in moments]
    assert times == [60.0 * n for n in range(len(times))]
    assert moments[0]["state"] == "unknown"


@pytest.mark.parametrize("delay_s", [0, 60, 300])
def test_only_rows_that_were_published_by_then_are_seen(drain: Path, delay_s: int) -> None:
    _, whole, _ = replay(str(drain), *GP2, "--delay-s", str(delay_s))
    lines = drain.read_text().splitlines(keepends=True)
    cut_at = 80  # rows
    shorter = drain.with_name("cut.csv")
    shorter.write_text("".join(lines[: 1 + cut_at]))
    _, cut, _ = replay(str(shorter), *GP2, "--delay-s", str(delay_s))
    assert cut == whole[: len(cut)]
    assert len(cut) == cut_at + 1 + delay_s // 60


def test_the_data_age_is_the_delay(drain: Path) -> None:
    _, moments, _ = replay(str(drain), *GP2, "--delay-s", "300")
    assert {moment["data_age_s"] for moment in moments[10:]} == {300.0}


@pytest.mark.parametrize("delay_s", ["0", "180", "300"])
def test_the_time_left_is_right_once_the_drain_is_seen(drain: Path, delay_s: str) -> None:
    _, moments, _ = replay(str(drain), *GP2, "--delay-s", delay_s)
    for moment in moments:
        left = 5_600 - moment["at"]
        if moment["at"] >= 3_600 + 240 + float(delay_s) and left > 60:
            assert moment["time_to_empty_s"] == pytest.approx(left, rel=0.02, abs=5)
            assert moment["worst_s"] <= left + 1


def test_it_is_critical_before_the_lead_and_exhausted_at_the_end(drain: Path) -> None:
    _, moments, _ = replay(str(drain), *GP2, "--delay-s", "60")
    first = next(m["at"] for m in moments if m["verdict"] == "critical")
    assert 5_600 - first >= 900
    assert moments[-1]["state"] == moments[-1]["verdict"] == "exhausted"
    assert all(m["verdict"] == "ok" for m in moments if 300 < m["at"] < 3_600)


def test_at_100_gib_a_full_burst_is_acted_on_as_soon_as_it_can_be_too_late(tmp_path: Path) -> None:
    """Lead, sweep, alarm path and data age together are 25 minutes of the 33 that it lasts."""
    rows = [f"{60 * n},100,3000,3000,1e6,1e6" for n in range(60)]
    rows += [f"{3_600 + 60 * n},{97 - 3 * n},90000,90000,1e9,1e9" for n in range(32)]
    path = tmp_path / "burst.csv"
    path.write_text("\n".join([HEADING, *rows]))
    _, moments, _ = replay(str(path), *GP2, "--delay-s", "300")
    first = next(moment for moment in moments if moment["verdict"] == "critical")
    newest = [row.split(",") for row in rows if float(row.split(",")[0]) + 360 <= first["at"]][-1]
    assert float(newest[1]) == pytest.approx(70, abs=3)  # it falls by 3 a minute


def test_a_row_without_values_is_silence_and_a_missing_row_is_blindness(tmp_path: Path) -> None:
    rows = [f"{60 * n},90,100,100,1e6,1e6" for n in range(30)]
    silent = tmp_path / "silent.csv"
    silent.write_text("\n".join([HEADING, *rows, *[f"{60 * n},,,,," for n in range(30, 60)]]))
    _, moments, _ = replay(str(silent), *GP2, "--delay-s", "0")
    assert moments[-1]["state"] == "idle"
    assert moments[-1]["balance"] > 0.9
    gap = tmp_path / "gap.csv"
    gap.write_text("\n".join([HEADING, *rows, "5400,90,100,100,1e6,1e6"]))
    _, moments, _ = replay(str(gap), *GP2, "--delay-s", "0")
    assert {m["state"] for m in moments if 3_000 < m["at"] < 5_400} == {"unknown"}


def test_the_example_plays_and_runs_dry() -> None:
    code, moments, err = replay("--example")
    assert (code, err) == (0, "")
    assert {"infinite", "finite", "exhausted"} <= {moment["state"] for moment in moments}


def test_people_get_a_table_with_a_row_for_each_period(drain: Path) -> None:
    out = io.StringIO()
    asked = ["explain", str(drain), *GP2, "--every-period"]
    run(asked, stdout=out, stderr=out, env={}, clock=lambda: 0.0)
    lines = out.getvalue().splitlines()
    assert lines[0].split()[:3] == ["at", "verdict", "balance"]
    assert len(lines) == 1 + len(replay(str(drain), *GP2)[1])


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("", "the file is empty"),
        (f"{HEADING}\n", "no rows with a time and values under a heading"),
        (f"{HEADING}\n0,,,,,\n", "no value at all, so nothing can be said"),
        (
            "t_s,percent,other\n0,1,2\n",
            "no metric of ebs_volume: found percent, other; allowed: BurstBalance",
        ),
        (
            f"{HEADING}\n0,101,0,0,0,0\n",
            "BurstBalance is 101 at +0:00; allowed: a number from 0 to 100",
        ),
        (f"{HEADING}\n0,50,0,0,0,0\n60,50,-1,0,0,0\n", "line 3: read_ops is '-1'"),
        (f"{HEADING}\n0,50,0,0,0,0\n60,50,x,0,0,0\n", "line 3: read_ops is 'x'"),
        (f"{HEADING}\n0,50,0,0,0\n", "line 2: 6 cells expected, got 5"),
        (f"{HEADING}\n,50,0,0,0,0\n", "line 2: the time is ''"),
        (f"{HEADING}\n1e18,50,0,0,0,0\n", "line 2: the time is '1e18'; allowed: seconds"),
        (f"{HEADING}\n24/24/2026,50,0,0,0,0\n", "line 2: the time is '24/24/2026'; allowed: "),
        (f"{HEADING}\n0,50,1e-300,0,1e308,0\n", "line 2: read_ops is '1e-300'"),
        (
            f"{HEADING}\n0,50,0,0,0,0\n60,50,0,0,0,0\n120,50,0,0,0,0\n9e10,50,0,0,0,0\n",
            "periods of 60 s, at most",
        ),
        (f"{HEADING}\n0,50,0,0,0,0\n86400,50,0,0,0,0\n", "86400 s apart, at most 3600"),
        (f"{HEADING}\n0,{'5' * 140_000},0,0,0,0\n", "line 2: "),
        (f"t_s,t_s,{HEADING}\n0,0,0,0,0,0,0,0\n", "two columns are called 't_s'"),
    ],
)
def test_a_malformed_series_is_refused_with_its_line(tmp_path: Path, body: str, named: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(body)
    code, moments, err = replay(str(path), *GP2)
    assert (code, moments, err.count("\n")) == (2, [], 1)
    assert named in err


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("nowhere.csv", *GP2), "nowhere.csv"),
        ((), "FILE"),
        (("--example", "--period-s", "0"), "--period-s must be from 1 to 3600"),
        (("--example", "--type", "gp9"), "'gp9'"),
        (("--example", "--type", ""), "unknown volume type ''"),
        (("--example", "--size-gib", "0"), "--size-gib must be above 0"),
        ((".", *GP2), "directory"),
        (("--example", "--period-s", "60"), "the rows are 300 s apart, and not 60"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(args: tuple[str, ...], named: str) -> None:
    code, _, err = replay(*args)
    assert (code, err.count("\n")) == (2, 1)
    assert named in err


@given(st.text(alphabet="t_s,0123456789.-nainfe#\n ", max_size=200))
def test_whatever_a_file_holds_it_is_rows_or_a_named_line(text: str) -> None:
    with contextlib.suppress(ValueError):
        rows = volume_samples([f"{HEADING}\n{text}"])
        assert [row.t_s for row in rows] == sorted({row.t_s for row in rows})


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00")
    code, _, err = replay(str(path), *GP2)
    assert (code, err.count("\n")) == (2, 1)
    assert "binary.csv is not UTF-8" in err


def test_a_byte_order_mark_is_no_part_of_the_heading(drain: Path) -> None:
    drain.write_text("\ufeff" + drain.read_text())
    assert replay(str(drain), *GP2)[0] == 0


def test_a_delay_longer_than_usual_is_not_taken_for_silence(drain: Path) -> None:
    _, moments, _ = replay(str(drain), *GP2, "--delay-s", "600")
    assert "idle" not in {moment["state"] for moment in moments}


def test_a_long_silence_fills_the_bucket_and_never_empties_it(tmp_path: Path) -> None:
    rows = [f"{60 * n},90,100,100,1e6,1e6" for n in range(30)]
    path = tmp_path / "silent.csv"
    path.write_text("\n".join([HEADING, *rows, *[f"{60 * n},,,,," for n in range(30, 400)]]))
    _, moments, _ = replay(str(path), *GP2, "--delay-s", "0")
    assert moments[-1]["balance"] == 1.0


@pytest.mark.parametrize("size", ["100", "500"])
def test_a_verdict_never_rises_in_silence_and_ends_when_the_hold_time_is_over(
    tmp_path: Path, size: str
) -> None:
    rows = [f"{60 * n},100,3000,3000,1e6,1e6" for n in range(30)]
    rows += [f"{60 * n},{100 - 3 * (n - 29)},90000,90000,1e9,1e9" for n in range(30, 33)]
    rows += [f"{60 * n},,,,," for n in range(33, 700)]
    path = tmp_path / "silence.csv"
    path.write_text("\n".join([HEADING, *rows]))
    _, moments, _ = replay(str(path), "--type", "gp2", "--size-gib", size, "--delay-s", "60")
    order = ["ok", "watch", "warning", "critical", "exhausted"]
    silent = [moment for moment in moments if moment["at"] >= 60 * 33 + 600]
    ranks = [order.index(moment["verdict"]) for moment in silent]
    assert ranks == sorted(ranks, reverse=True)
    assert max(ranks) < order.index("critical")
    assert {moment["verdict"] for moment in silent if moment["at"] > 60 * 60} == {"ok"}


def test_a_series_needs_its_volume(drain: Path) -> None:
    code, _, err = replay(str(drain))
    assert code == 2
    assert "--type and --size-gib" in err


@settings(max_examples=40, deadline=None)
@given(
    period_s=st.sampled_from([60, 300, 600, 900, 1_800, 3_600]),
    delay_s=st.sampled_from([0, 60, 90, 300, 1_000]),
    rows=st.integers(4, 30),
    last=st.sampled_from([0.0, 20.0, 55.0]),
)
def test_the_newest_row_is_what_the_last_moment_says(
    period_s: int, delay_s: int, rows: int, last: float
) -> None:
    """Whatever the period is of the delay: a row more changes the last moment."""
    balances = [100.0] * (rows - 1)
    moments = [last_moment(values, period_s, delay_s) for values in (balances, [*balances, last])]
    assert moments[1]["at"] == rows * period_s + delay_s
    assert moments[1]["at"] > moments[0]["at"]
    assert moments[1]["data_age_s"] == delay_s
    refilled = 300 * (period_s + delay_s) / 5_400_000 + 1e-9
    assert last / 100 <= moments[1]["balance"] <= last / 100 + refilled
    assert moments[0]["balance"] == 1.0


def last_moment(balances: list[float], period_s: int, delay_s: int) -> dict[str, Any]:
    out = io.StringIO()
    text = (
        HEADING
        + "\n"
        + "".join(f"{period_s * row},{value},0,0,0,0\n" for row, value in enumerate(balances))
    )
    run(
        ["explain", "-", *GP2, "--json", "--delay-s", f"{delay_s}", "--period-s", f"{period_s}"],
        stdout=out, stderr=io.StringIO(), env={}, clock=lambda: 0.0, stdin=lambda _: text.encode(),
    )  # fmt: skip
    moment: dict[str, Any] = json.loads(out.getvalue())["last"]
    return moment

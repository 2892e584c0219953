"""The measures of the backtest, on stories short enough to count by hand."""

import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.backtest import policies
from burstwatch.backtest.evaluate import (
    FEEDS,
    REPEAT_S,
    WARNED_S,
    Scorer,
    score_trial,
)
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.scores import COLUMNS as FIGURES
from burstwatch.backtest.scores import WEEK_S, Score, resample
from burstwatch.backtest.trials import Incident, make_trial
from burstwatch.backtest.workloads import COLUMNS, Workload, read_workload
from burstwatch.cli.main import run
from burstwatch.drawing.charts import ticks
from burstwatch.forecast.chance import FORESIGHT_S
from burstwatch.recordings.samples import at_period, volume_sample

HOUR = 3_600.0
SPAN = (0.0, WEEK_S)


def score(times: list[float], events: list[Incident], warnings: list[float] | None = None) -> Score:
    judged = Scorer(period_s=60.0, events=events, span=SPAN, lead_s=900.0, fastest_s=1_200.0)
    return judged.score(times, warnings or [])


def minutes(first: float, last: float) -> list[float]:
    return [first + 60 * n for n in range(int((last - first) / 60))]


EVENT = Incident(empty_s=100 * HOUR, recovered_s=101 * HOUR)


def test_an_alarm_that_is_on_at_the_lead_is_in_time() -> None:
    assert score(minutes(EVENT.empty_s - 960, EVENT.recovered_s), [EVENT]).announced == 1.0
    assert score(minutes(EVENT.empty_s - 840, EVENT.recovered_s), [EVENT]).announced == 0.0


def test_a_page_that_is_old_news_is_no_page_in_time() -> None:
    # On since five hours: the repeat after four is 60 minutes before, and counts.
    assert score(minutes(EVENT.empty_s - 5 * HOUR, EVENT.recovered_s), [EVENT]).paged_in_time == 1.0
    # On since three hours: its page is too long ago, and the repeat is still to come.
    late = score(minutes(EVENT.empty_s - 3 * HOUR, EVENT.recovered_s), [EVENT])
    assert (late.announced, late.paged_in_time) == (1.0, 0.0)


def test_a_stuck_alarm_pages_again_every_four_hours() -> None:
    stuck = score(minutes(0.0, 12 * HOUR), [])
    assert stuck.needless_pages == 12 * HOUR / REPEAT_S
    assert stuck.needless_per_week == 3.0
    assert stuck.in_alarm == pytest.approx(12 / (7 * 24))


def test_a_page_is_needless_where_nothing_runs_dry_within_two_hours() -> None:
    near = score(minutes(EVENT.empty_s - FORESIGHT_S, EVENT.empty_s), [EVENT])
    assert (near.right_pages, near.needless_pages) == (1, 0)
    far = score(minutes(EVENT.empty_s - FORESIGHT_S - 60, EVENT.empty_s - FORESIGHT_S), [EVENT])
    assert (far.right_pages, far.needless_pages) == (0, 1)


def test_pages_within_an_incident_are_neither_right_nor_needless() -> None:
    inside = score(minutes(EVENT.empty_s, EVENT.recovered_s), [EVENT])
    assert (inside.right_pages, inside.needless_pages, inside.events) == (0, 0, 1)


def test_two_alarms_for_one_exhaustion_are_not_one_page() -> None:
    flapping = minutes(EVENT.empty_s - 3_000, EVENT.empty_s - 2_000)
    flapping += minutes(EVENT.empty_s - 1_200, EVENT.recovered_s)
    assert score(flapping, [EVENT]).one_page == 0.0
    assert score(minutes(EVENT.empty_s - 1_200, EVENT.recovered_s), [EVENT]).one_page == 1.0


def test_a_page_is_warned_of_where_a_warning_was_on_thirty_minutes_before() -> None:
    page = minutes(EVENT.empty_s - 1_200, EVENT.recovered_s)
    early = minutes(page[0] - WARNED_S, page[0])
    assert score(page, [EVENT], early).warned == 1.0
    assert score(page, [EVENT], early[1:]).warned == 0.0
    assert score(page, [EVENT]).warned is None  # a rule that never warns


def test_a_warning_is_needless_where_nothing_runs_dry_within_two_hours() -> None:
    alone = score([], [], minutes(HOUR, 2 * HOUR))
    assert (alone.needless_warnings_per_week, alone.needless_pages) == (1.0, 0)
    page = minutes(EVENT.empty_s - 1_200, EVENT.recovered_s)
    escalated = minutes(page[0] - WARNED_S, page[0])
    # One that becomes a page is one warning, and the page that ends in a warning is none.
    after = minutes(EVENT.recovered_s, EVENT.recovered_s + HOUR)
    assert score(page, [EVENT], [*escalated, *after]).needless_warnings == 0


def test_an_exhaustion_that_no_page_can_announce_is_reported_with_the_lead_it_left() -> None:
    fast = Incident(empty_s=100 * HOUR, recovered_s=101 * HOUR, full_s=100 * HOUR - 1_140)
    page = minutes(fast.empty_s - 600, fast.recovered_s)
    assert score(page, [fast]).fast_leads_s == (600.0,)
    slow = Incident(empty_s=100 * HOUR, recovered_s=101 * HOUR, full_s=100 * HOUR - 1_200)
    assert score(page, [slow, EVENT]).fast_leads_s == ()


def test_what_began_before_the_span_is_not_counted() -> None:
    before = Incident(empty_s=-HOUR, recovered_s=HOUR)
    found = score([], [before])
    assert found.events == 0
    assert found.announced is None


def test_scores_add_up_and_intervals_come_from_whole_groups() -> None:
    one, none = Score(events=4, announced_events=4), Score(events=4, announced_events=0)
    assert (one + none).announced == 0.5
    interval = resample([one] * 5 + [none] * 5, lambda total: total.announced)
    assert interval is not None
    low, high = interval
    assert 0.1 <= low < 0.5 < high <= 0.9
    assert resample([one] * 5, lambda total: total.announced) == (1.0, 1.0)


def test_minutes_become_five_as_cloudwatch_sums_them_up() -> None:
    rows = [
        volume_sample(60.0 * n, balance_percent=90.0 - n, read_ops=n, read_bytes=0)
        for n in range(13)
    ]
    wide, period_s = at_period(rows, 60.0, 300.0)
    assert period_s == 300.0
    assert wide == [
        volume_sample(0.0, balance_percent=86.0, read_ops=10.0, read_bytes=0),
        volume_sample(300.0, balance_percent=81.0, read_ops=35.0, read_bytes=0),
    ]
    averaged, _ = at_period(rows, 60.0, 300.0, level_statistic="Average")
    assert averaged[0].values["BurstBalance"] == 88.0
    holed = [row for row in rows if row.t_s != 120.0]
    assert [row.values["VolumeReadOps"] for row in at_period(holed, 60.0, 300.0)[0]] == [8.0, 35.0]
    with pytest.raises(
        ValueError, match="a row each 45 s does not fit into periods of 60 s; allowed: a divisor"
    ):
        at_period(rows, 45.0, 60.0)
    assert at_period(rows, 300.0, 60.0) == (rows, 300.0)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from([0.0, 1.0, 5.0, 30.0]), min_size=100, max_size=300),
    st.sampled_from([100.0, 300.0, 700.0]),
    st.sampled_from(sorted(FEEDS)),
)
@example(bursts=[1.0] * 150 + [0.0] * 20, size_gib=700.0, view="mid")  # coarser than the view
def test_the_guarantee_misses_no_exhaustion_of_any_workload(
    bursts: list[float], size_gib: float, view: str
) -> None:
    warm_up = [0.2] * (7 * 24 * 12)
    workload = Workload(name="hostile", step_s=300.0, rates=[*warm_up, *bursts])
    trial = make_trial(workload, volume_type="gp2", size_gib=size_gib, rho=0.9)
    found = score_trial(trial, FEEDS[view], [find_policies()["guarantee"]], lead_s=900.0)[
        "guarantee"
    ]
    assert found.announced_events == found.events


# The command


WARM_UP = "".join(f"{60 * n},{10 + n % 3},0,,\n" for n in range(7 * 24 * 60 + 600))


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """A week and ten hours of calm, two hours that empty it, and four of calm."""
    path = tmp_path / "job_r.csv"
    start = 7 * 24 * 60 + 600
    bursts = "".join(f"{60 * (start + n)},{400 if n < 120 else 10},0,,\n" for n in range(360))
    path.write_text(f"{','.join(COLUMNS)}\n{WARM_UP}{bursts}")
    return path


def backtest(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(
        ["backtest", "--jobs", "1", *args], stdout=out, stderr=err, env={}, clock=lambda: 0.0
    )
    return code, out.getvalue(), err.getvalue()


def as_json(*args: str) -> dict[str, Any]:
    code, out, err = backtest(*args, "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.slow
def test_a_table_has_a_row_for_each_policy(workload: Path) -> None:
    code, out, err = backtest(str(workload), "--size-gib", "100", "--rho", "0.8")
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    names = [column.name for column in FIGURES]
    assert [cell.strip() for cell in head.split("  ") if cell] == ["policy", *names, "lead"]
    end = lines.index("1 run-outs in 0 volume-weeks")
    assert {line.split("  ")[0] for line in lines[:end]} == set(find_policies())
    assert [line.partition(": ")[0] for line in lines[end + 2 :]] == [
        *names,
        "lead",
        *find_policies(),
    ]


@pytest.mark.slow
def test_exhaustions_faster_than_the_lead_are_said_apart(workload: Path) -> None:
    args = (str(workload), "--size-gib", "100", "--rho", "0.8", "--policy", "guarantee")
    assert "faster" not in backtest(*args)[1]
    assert "1 of them went from full to empty faster than" in backtest(*args, "--lead-s", "7200")[1]


@pytest.mark.slow
def test_the_oracle_is_perfect_and_burstwatch_in_time(workload: Path, tmp_path: Path) -> None:
    picture = tmp_path / "out.svg"
    found = as_json(
        str(workload), "--size-gib", "100", "--rho", "0.8", "--picture", str(picture),
        "--policy", "oracle", "--policy", "burstwatch",
    )  # fmt: skip
    oracle, ours = found["policies"]["oracle"], found["policies"]["burstwatch"]
    assert (oracle["announced"], oracle["needless_pages"], oracle["one_page"]) == (1.0, 0, 1.0)
    assert (ours["announced"], ours["one_page"]) == (1.0, 1.0)
    assert found["trials"][0]["scenario"] == "100 GiB at 0.8"
    assert ">burstwatch</text>" in picture.read_text()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((), "nothing to play"),
        (("nowhere.csv",), "nowhere.csv"),
        (("{file}", "--policy", "best"), "unknown policy 'best'; allowed: "),
        (("{file}", "--rho", "x"), "rho is 'x'; allowed: numbers above 0"),
        (("{file}", "--size-gib", "-1"), "--size-gib is '-1'"),
        (("{file}", "--size-gib", "2000"), "baseline of 6000 IOPS, at or above its burst"),
        (("{file}", "--type", "gp3"), "gp3 has no burst credits"),
        (("{file}", "--lead-s", "1"), "--lead-s must be 60 to 7200, got 1"),
        (("{short}",), "short lasts 0.0 days, needed is more than 7: these first days are history"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(
    workload: Path, args: tuple[str, ...], named: str
) -> None:
    short = workload.with_name("short.csv")
    short.write_text(f"{','.join(COLUMNS)}\n0,1,,,\n60,2,,,\n")
    code, out, err = backtest(*(arg.format(file=workload, short=short) for arg in args))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("0,1,,,\n0,1,,,\n", "line 3: t_seconds is '0', it must rise"),
        ("0,-1,,,\n60,1,,,\n", "line 2: '-1' is not allowed; allowed: a number of 0 or more"),
        ("0,x,,,\n", "line 2: 'x' is not allowed; allowed: a number of 0 or more"),
        ("0,0,,,\n60,0,,,\n", "2 rows, of which 0 with load"),
        ("0,1,,,\n", "needed are two rows"),
        (
            "0,1,,,\n60,1,,,\n150,1,,,\n",
            "line 4: 90 s after the row before; allowed: 1 to 60 steps of 60 s",
        ),
        ("0,1,,,\n60,1,,,\n36000,1,,,\n", "line 4: 35940 s after the row before"),
    ],
)
def test_a_malformed_workload_is_refused_with_its_line(
    tmp_path: Path, body: str, named: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{','.join(COLUMNS)}\n{body}")
    with pytest.raises(ValueError, match=named):
        read_workload(path)


def test_bytes_alone_are_operations_of_16_kib_and_a_hole_repeats_the_step_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bytes.csv"
    path.write_text(f"{','.join(COLUMNS)}\n0,,,16384,16384\n60,,,,\n120,3,4,99,99\n240,1,,,\n")
    assert read_workload(path).rates == [2.0, 2.0, 7.0, 7.0, 1.0]


def test_ticks_are_round() -> None:
    assert ticks(0.0, 1.0) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(3.0, 3.0) == [3.0]
    assert len(ticks(0.0, 3_333.0)) <= 8
    assert all(math.isfinite(value) for value in ticks(-5.0, 7.3))


def test_two_policies_of_one_name_are_refused_and_not_played_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "second.py").write_text(
        "from burstwatch.backtest.policies.baselines import POLICIES\nPOLICIES = POLICIES[-1:]\n"
    )
    monkeypatch.setattr(policies, "__path__", [*policies.__path__, str(tmp_path)])
    with pytest.raises(ValueError, match=r"two policies are called 'static 50 %'.* second\.py"):
        find_policies()
    sys.modules.pop(f"{policies.__name__}.second", None)

"""The week before: what it says of a burst that came many times, and of one that is new."""

from copy import copy
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.backtest.replay import Played, volume
from burstwatch.backtest.simulate import Phase
from burstwatch.config import Config
from burstwatch.forecast.chance import FORESIGHT_S, chance
from burstwatch.forecast.own_past import UNKNOWN, OwnPast, days_alike, look_at_past
from burstwatch.forecast.policy import assess
from burstwatch.history.history import History
from burstwatch.history.past import PAST_PERIOD_S, Past, renewed_past, to_past, with_recent
from burstwatch.history.points import DemandPoint
from burstwatch.recordings.samples import Sample
from tests.unit.played import rows_of, steady

pytestmark = pytest.mark.slow

MARGIN_S = Config().margin_s
#: Of a gp2 volume of 100 GiB, in credits and credits a second.
CAPACITY, BASELINE = 5_400_000.0, 300.0
#: A job at the limit takes 7.2 % in three minutes, and an hour and a half gives it back.
BURST = [*steady(3_000, 8), *steady(100, 112)]


def burst_at_half(*, bursts: int, last_minutes: int = 5, size: float = 100) -> list[Sample]:
    """So many bursts, a load that leaves 70 %, and a burst of so many minutes."""
    ebb = [*steady(1_200, 30), *steady(295, 100)]
    return rows_of([*BURST * bursts, *ebb, *steady(3_000, last_minutes)], size=size)


def seen(rows: list[Sample]) -> History:
    found = Played(rows, volume("gp2", 100), 60.0).at(rows[-1].t_s + 60, 0.0, Config()).history
    assert found is not None
    return found


def past_of(history: History) -> Past:
    past = history.track.past
    assert past is not None
    return past


def of_now(rows: list[Sample]) -> OwnPast:
    return look_at_past(seen(rows), MARGIN_S)


def test_a_burst_as_there_were_many_is_less_likely_to_be_the_end_than_a_new_one() -> None:
    often, new = burst_at_half(bursts=40), burst_at_half(bursts=1)
    assert chance(seen(often), MARGIN_S) < chance(seen(new), MARGIN_S)
    found = of_now(often)
    assert found.moments > 0 == found.spent


def test_the_reason_says_what_became_of_moments_like_this_one() -> None:
    rows = burst_at_half(bursts=40)
    now = rows[-1].t_s + 60
    found = assess(Played(rows, volume("gp2", 100), 60.0).at(now, 0.0, Config()), Config())
    assert "of the last week, the load of two hours would have used up what is left" in found.reason


def test_one_that_spent_as_much_as_is_left_now_is_remembered() -> None:
    # The bucket was full then, and so it did not run out.
    ebb = [*steady(1_200, 30), *steady(295, 100)]
    long = [*steady(100, 240), *steady(3_000, 30), *steady(100, 240)]
    rows = rows_of([*BURST * 6, *long, *BURST * 6, *ebb, *steady(3_000, 5)])
    assert of_now(rows).spent > 0
    assert chance(seen(rows), MARGIN_S) > chance(seen(burst_at_half(bursts=40)), MARGIN_S)


def test_a_week_ago_is_too_long_ago() -> None:
    long = [*steady(3_000, 30), *steady(100, 7 * 24 * 60)]
    rows = rows_of([*long, *steady(1_200, 30), *steady(3_000, 5)])
    assert of_now(rows).spent == 0


def test_of_a_volume_without_a_past_few_moments_are_assumed() -> None:
    history = seen(burst_at_half(bursts=1))
    alone = History(copy(history.track), history.size)
    alone.track.past = None
    assert look_at_past(alone, MARGIN_S) == UNKNOWN


@given(
    st.lists(st.floats(min_value=0, max_value=5_000), min_size=80, max_size=200),
    st.integers(min_value=1, max_value=79),
    st.integers(min_value=0, max_value=79),
)
def test_a_kept_past_with_what_was_seen_since_is_the_past_as_it_would_be_asked_now(
    rates: list[float], asked_at: int, recent_from: int
) -> None:
    points = [
        DemandPoint(start_s=60.0 * n, period_s=60, least=rate, nominal=rate, most=rate)
        for n, rate in enumerate(rates)
    ]
    kept, whole = to_past(points[:asked_at]), to_past(points)
    assert kept is not None
    assert whole is not None
    recent = points[min((asked_at - 1) // 5 * 5, recent_from) :]
    assert with_recent(kept, recent) == whole


def test_a_moment_of_the_future_changes_nothing() -> None:
    rows = burst_at_half(bursts=40, last_minutes=30)
    whole = Played(rows, volume("gp2", 100), 60.0)
    for minutes in (22, 16, 8):
        now = rows[-1].t_s + 60 - 60 * minutes
        cut, alone = whole.at(now, 0.0, Config()).history, seen(rows[: len(rows) - minutes])
        assert cut is not None
        assert past_of(cut).rates != past_of(alone).rates
        assert look_at_past(cut, MARGIN_S) == look_at_past(alone, MARGIN_S)


@given(
    loads=st.lists(st.one_of(st.none(), st.floats(0, 3_000)), min_size=30, max_size=400),
    asked_before=st.integers(0, 100),
    overlap=st.integers(0, 12),
)
def test_days_before_that_are_renewed_are_those_that_are_asked_for_anew(
    loads: list[float | None], asked_before: int, overlap: int
) -> None:
    points = [
        DemandPoint(PAST_PERIOD_S * slot, PAST_PERIOD_S, load, load, load)
        for slot, load in enumerate(loads)
        if load is not None
    ]
    then_s = PAST_PERIOD_S * (len(loads) - asked_before)
    kept = to_past([point for point in points if point.start_s < then_s])
    newest = [point for point in points if point.start_s >= then_s - PAST_PERIOD_S * overlap]
    renewed = renewed_past(kept, newest, back_s=8.0 * 86_400)
    assert renewed == to_past(points)
    shorter = renewed_past(kept, newest, back_s=10 * PAST_PERIOD_S)
    if shorter is not None and shorter is not kept:
        assert shorter.rates == to_past(points).rates[-len(shorter.rates) :]  # type: ignore[union-attr]
        assert len(shorter.rates) <= 10


def test_a_late_datapoint_from_before_the_days_that_are_known_shifts_nothing() -> None:
    points = [DemandPoint(300.0 * slot, 300, 100.0 + slot, 0, 0) for slot in range(24)]
    points = [point._replace(nominal=point.least) for point in points]
    kept = to_past(points[10:20])
    assert kept is not None
    assert with_recent(kept, points[8:]) == to_past(points[8:])


def is_known_again(seed: int) -> bool:
    """True if a job by the clock that emptied the bucket each day or week is known, well into its next time."""
    random = Random(seed)  # noqa: S311 - the same each time
    every_minutes, before = random.choice([(24 * 60, random.randint(2, 6)), (7 * 24 * 60, 1)])
    height = random.uniform(1_000.0, 3_000.0)
    lasts = round(CAPACITY / (height - BASELINE) / 60)  # minutes from full to empty
    loads: list[Phase] = []
    for number in range(before):
        begin = number * every_minutes + 3 * 60 + random.randint(-15, 15)
        loads += [*steady(120, begin - minutes_of(loads)), *steady(height, lasts + 30)]
    begin = before * every_minutes + 3 * 60 + random.randint(-15, 15)
    loads += steady(120, begin - minutes_of(loads))
    loads += steady(height, round(random.uniform(0.5, 0.9) * lasts))
    history = seen(rows_of(loads))
    days_spent, _ = days_alike(history, FORESIGHT_S)
    return look_at_past(history, FORESIGHT_S).spent > 0 or days_spent > 0


def minutes_of(loads: list[Phase]) -> int:
    return round(sum(load.seconds for load in loads) / 60)


# Among them two that came earlier the week before.
@pytest.mark.parametrize("seed", [*range(4), 105, 107])
def test_a_job_that_emptied_the_bucket_before_is_known_when_it_comes_again(seed: int) -> None:
    assert is_known_again(seed)


@pytest.mark.many
def test_many_jobs_that_emptied_the_bucket_before_are_known_when_they_come_again() -> None:
    assert [seed for seed in range(100, 200) if not is_known_again(seed)] == []

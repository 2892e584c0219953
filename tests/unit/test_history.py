"""Histories: what a cut sees, what is read from a balance, and what contradicts a bucket."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.backtest.replay import Played, volume
from burstwatch.backtest.simulate import Simulation
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.policy import assess
from burstwatch.history.history import (
    FELL_TOO_FAST,
    JUMPED_UP,
    SERVED_TOO_MUCH,
    History,
    build_history,
)
from burstwatch.history.past import to_past
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.recordings.samples import to_points, volume_sample
from tests.recorded import volume_samples, write_series
from tests.unit.played import steady, watch

RATES = st.lists(st.floats(min_value=0, max_value=4_000), min_size=20, max_size=60)


def history_of(rates: list[float], *, ratio: float = 0.6, size: float = 100) -> History:
    loads = [load for rate in rates for load in steady(rate, 1)]
    history = watch(loads, ratio=ratio, size=size)[0].observation.history
    assert history is not None
    return history


@given(RATES, st.integers(min_value=5, max_value=19))
def test_a_cut_is_the_history_of_the_points_before_it(rates: list[float], size: int) -> None:
    loads = [load for rate in rates for load in steady(rate, 1)]
    seen, _ = watch(loads, ratio=0.6)
    whole = seen.observation.history
    assert whole is not None
    bucket = seen.resource.bucket
    assert bucket is not None
    alone = build_history(bucket, seen.levels[:size], seen.demand[:size])
    cut = whole.cut(size)
    for one, other in (
        (cut.likely, alone.likely),
        (cut.least, alone.least),
        (cut.most, alone.most),
    ):
        assert one.by_slot[:size] == other.by_slot
        assert one.mean(size, 5) == pytest.approx(other.mean(size, 5))
    assert cut.oddity() == alone.oddity()
    assert cut.since_empty() == alone.since_empty()


@given(RATES)
def test_the_balance_alone_tells_what_was_spent_where_it_does_not_clip(rates: list[float]) -> None:
    loads = [load for rate in rates for load in steady(min(rate, 1_500), 1)]
    seen, _ = watch(loads, ratio=0.9, size=334)
    known = seen.observation.history
    blind = replace(seen, demand=[]).observation.history
    assert known is not None
    assert blind is not None
    for slot in range(2, known.size):
        before, level = known.levels[slot - 1], known.levels[slot]
        if known.levels[slot - 2] > before > level and 0.01 < level < 0.99:
            assert blind.likely.by_slot[slot] == pytest.approx(known.likely.by_slot[slot], abs=20)


@pytest.mark.parametrize(("stated", "factor"), [(200.0, "1.1"), (400.0, "1.5")])
def test_a_balance_that_falls_faster_than_its_load_explains_says_by_which_factor(
    stated: float, factor: str
) -> None:
    # A smaller one is not: EBS may have merged some of the I/O, and charged less for it.
    spec = volume_spec("gp2", 100)
    assert spec.bucket is not None
    played = Simulation(spec=spec, bucket=spec.bucket).play(steady(1_500, 40))
    rows = volume_samples(write_series(played))
    resource = volume("gp2", stated)
    seen = Played(rows, resource, 60.0).at(rows[-1].t_s + 60, 0.0, Config())
    reason = assess(seen, Config()).reason
    assert f"the balance lost {factor} times what the published I/O can cost" in reason


def test_a_series_of_its_own_size_is_not_found_odd() -> None:
    for rates in ([3_000.0] * 30, [100.0, 2_000.0] * 20, [0.0] * 30, [299.0] * 30):
        assert history_of(rates).oddity() == ""


def test_a_balance_that_jumps_up_is_a_resize_and_the_reason_says_so() -> None:
    seen, _ = watch([*steady(2_500, 20)], ratio=0.9)
    jumped = [
        point._replace(ratio=min(1.0, point.ratio + 0.4)) if index >= 15 else point
        for index, point in enumerate(seen.levels)
    ]
    assert JUMPED_UP in assess(replace(seen, levels=jumped).observation, Config()).reason


def test_a_balance_that_falls_faster_than_the_burst_is_named() -> None:
    bucket = volume("gp2", 500).bucket
    assert bucket is not None
    levels = [LevelPoint(start_s=60.0 * n, period_s=60, ratio=0.9 - 0.1 * n) for n in range(6)]
    assert build_history(bucket, levels, []).oddity() == FELL_TOO_FAST


def test_more_io_than_the_volume_serves_is_named() -> None:
    bucket = volume("gp2", 100).bucket
    assert bucket is not None
    levels = [LevelPoint(start_s=60.0 * n, period_s=60, ratio=0.5) for n in range(6)]
    demand = [
        DemandPoint(start_s=60.0 * n, period_s=60, least=9_000, nominal=9_000, most=9_000)
        for n in range(6)
    ]
    assert build_history(bucket, levels, demand).oddity() == SERVED_TOO_MUCH


def test_an_empty_bucket_is_an_incident_until_it_is_back_at_20_percent() -> None:
    seen, _ = watch([*steady(3_000, 12), *steady(0, 80)], ratio=0.3)
    history = seen.observation.history
    assert history is not None
    states = [history.cut(size).since_empty() is not None for size in range(1, history.size + 1)]
    first, last = states.index(True), len(states) - 1 - states[::-1].index(True)
    assert all(states[first : last + 1])
    assert seen.levels[last].ratio < 0.2 <= seen.levels[last + 2].ratio


def test_days_back_are_summed_up_over_five_minutes() -> None:
    _, demand = to_points(
        [
            volume_sample(
                60.0 * n,
                balance_percent=50,
                read_ops=600 * (n % 5),
                write_ops=0,
                read_bytes=0,
                write_bytes=0,
            )
            for n in range(20)
        ],
        volume("gp2", 100),
        60.0,
    )
    past = to_past(demand)
    assert past is not None
    assert past.rates == [20.0] * 4  # the mean of 0, 10, 20, 30 and 40 operations a second
    assert past.means[-1] == 20.0
    assert to_past([]) is None


def test_the_drain_began_where_the_bucket_last_stopped_filling() -> None:
    # Ten minutes of burst, an hour of rest, and burst again for the last ten.
    history = history_of([3_000.0] * 10 + [0.0] * 60 + [3_000.0] * 10, ratio=0.9)
    began_s, ratio = history.drain_began()
    assert history.end_s - began_s == pytest.approx(600, abs=120)
    assert ratio == pytest.approx(0.8, abs=0.05)


def test_a_drain_that_has_only_begun_began_at_the_fullest() -> None:
    history = history_of([3_000.0] * 12, ratio=0.9)
    began_s, ratio = history.drain_began()
    assert history.end_s - began_s == pytest.approx(660, abs=120)
    assert ratio == pytest.approx(0.87, abs=0.05)

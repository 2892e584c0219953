"""Projection, demand and policy, on histories that the simulator makes."""

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.bucket import Bucket
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.demand import demand_now
from burstwatch.forecast.policy import assess
from burstwatch.forecast.projection import project, project_level
from burstwatch.history.observations import Observation, observe
from burstwatch.history.points import LevelPoint, Range
from tests.unit.played import AGE, steady, watch


@given(
    st.integers(min_value=34, max_value=900),
    st.floats(min_value=0.4, max_value=1.0),
    st.floats(min_value=1.1, max_value=3.0),
    st.sampled_from([0.0, 60.0, 180.0, 300.0]),
)
def test_a_constant_demand_is_projected_to_its_true_end(
    size: int, ratio: float, factor: float, age_s: float
) -> None:
    iops = min(3_000.0, 3 * size * factor)
    seen, level = watch(steady(iops, 15), ratio=ratio, size=size, age_s=age_s)
    projection = seen.project()
    if level <= 0:
        return
    truth = level * 5_400_000 / (iops - 3 * size)
    if truth > 6 * 3_600:
        return  # a fall of less than 0.3 % a minute, of which the balance shows 0.01 %
    assert projection.time_to_empty_s == pytest.approx(truth, rel=0.02, abs=15)
    assert projection.worst_s is not None
    assert projection.worst_s <= truth + 1


@given(
    st.lists(st.floats(min_value=0, max_value=4_000), min_size=12, max_size=40),
    st.floats(min_value=0.05, max_value=1.0),
    st.sampled_from([0.0, 120.0, 300.0]),
)
def test_the_guarantee_holds_for_any_history(
    rates: list[float], ratio: float, age_s: float
) -> None:
    loads = [load for rate in rates for load in steady(rate, 1)]
    seen, level = watch(loads, ratio=ratio, age_s=age_s)
    projection = seen.project()
    soonest = level * 5_400_000 / 2_700  # nothing empties it faster from where it truly is
    assert projection.worst_s is not None
    # A printed balance is good to 0.01 %: half a step is 0.1 s.
    assert projection.worst_s <= soonest + 0.2
    assert projection.low_s is not None
    assert projection.high_s is not None
    assert projection.time_to_empty_s is not None
    assert projection.low_s <= projection.time_to_empty_s <= projection.high_s
    assert projection.worst_s <= projection.low_s + 1e-6


@given(
    st.lists(st.floats(min_value=0, max_value=6_000), min_size=3, max_size=30),
    st.lists(st.floats(min_value=0, max_value=6_000), min_size=1, max_size=60),
    st.floats(min_value=0.05, max_value=1.0),
    st.sampled_from([34.0, 100.0, 334.0, 900.0]),
    st.sampled_from([0.0, 60.0, 300.0]),
)
@example([0.0, 3_000.0, 3_000.0], [3_000.0], 0.125, 900.0, 60.0)
def test_no_workload_however_hostile_empties_a_bucket_before_its_worst_case(
    before: list[float], after: list[float], ratio: float, size: float, age_s: float
) -> None:
    minutes = [*before, *after, *[6_000.0] * 60]
    loads = [load for rate in minutes for load in steady(rate, 1)]
    seen, _ = watch(loads, ratio=ratio, size=size)
    now = 60.0 * len(before)
    seen = replace(
        seen,
        at=now,
        levels=[point for point in seen.levels if point.end_s <= now - age_s],
        demand=[point for point in seen.demand if point.end_s <= now - age_s],
    )
    worst_s = seen.project().worst_s
    spec = volume_spec("gp2", size)
    assert spec.bucket is not None
    played = Simulation(spec=spec, bucket=spec.bucket).play(loads, ratio=ratio)
    emptied = [point.emptied_at for point in played if point.emptied_at is not None]
    still_full = [at for at in emptied if at > now]
    if worst_s is not None and still_full and not any(at <= now for at in emptied):
        # A printed balance is good to 0.01 %, so half a step of it may be missing.
        half_step_s = 0.00005 * spec.bucket.capacity / (spec.bucket.burst - spec.bucket.refill)
        assert still_full[0] - now >= worst_s - half_step_s - 0.01


def test_a_demand_at_or_under_the_baseline_never_empties() -> None:
    seen, _ = watch(steady(290, 30), ratio=0.5)
    projection = seen.project()
    assert projection.state == "infinite"
    assert projection.time_to_empty_s == math.inf
    assert projection.time_to_full_s == pytest.approx(0.5 * 5_400_000 / 10, rel=0.05)


def test_a_step_of_demand_is_seen_after_two_minutes() -> None:
    seen, level = watch([*steady(100, 30), *steady(3_000, 2)], ratio=0.5)
    projection = seen.project()
    assert projection.time_to_empty_s == pytest.approx(level * 2_000, rel=0.01)


@pytest.mark.parametrize("every", [2, 5])
def test_minutes_whose_io_is_not_known_are_read_from_the_balance(every: int) -> None:
    seen, level = watch(steady(3_000, 25), ratio=0.9)
    gappy = replace(seen, demand=seen.demand[::-1][::every][::-1])
    projection = gappy.project()
    assert projection.time_to_empty_s == pytest.approx(level * 2_000, rel=0.05)
    assert projection.low_s == pytest.approx(level * 2_000, rel=0.05)


def test_two_balances_alone_show_how_soon_it_could_be() -> None:
    seen, level = watch(steady(3_000, 15), ratio=0.9, io=False)
    pair = replace(seen, levels=seen.levels[-2:])
    assert pair.project().low_s == pytest.approx(level * 2_000, rel=0.05)


def test_minutes_without_io_count_as_zero() -> None:
    # A minute at full burst in every ten: the mean is the baseline, and so it never empties.
    rhythm = [*steady(3_000, 1), *steady(0, 9)]
    seen, _ = watch([*rhythm * 8, *steady(3_000, 1)], ratio=0.5)
    silent = {point.start_s for point in seen.demand if point.nominal == 0}
    sparse = replace(
        seen,
        levels=[p for p in seen.levels if p.start_s not in silent],
        demand=[p for p in seen.demand if p.start_s not in silent],
    )
    assert assess(sparse.observation, Config()).verdict not in {"warning", "critical"}


def test_a_single_spike_is_not_believed_to_last() -> None:
    seen, _ = watch([*steady(100, 30), *steady(3_000, 1)], ratio=0.5)
    assert seen.project().time_to_empty_s != pytest.approx(1_000, rel=0.5)


@pytest.mark.parametrize("charge_ratio", [0.25, 0.5, 0.8])
def test_the_charge_ratio_is_fitted_from_the_balance(charge_ratio: float) -> None:
    # 4 KiB sequential writes that EBS merges: it charges less than the guest's operations.
    loads = steady(2_900, 15, io_kib=4)
    seen, level = watch(loads, ratio=0.9, charge_ratio=charge_ratio)
    history = seen.observation.history
    assert history is not None
    assert history.likely.mean(history.size, 1) == pytest.approx(2_900 * charge_ratio, rel=0.001)
    projection = seen.project()
    assert projection.time_to_empty_s == pytest.approx(
        level * 5_400_000 / (2_900 * charge_ratio - 300), rel=0.03
    )


def test_the_balance_alone_is_enough_where_no_io_is_known() -> None:
    seen, level = watch(steady(2_000, 20), ratio=0.9, io=False)
    projection = seen.project()
    assert projection.time_to_empty_s == pytest.approx(level * 5_400_000 / 1_700, rel=0.03)


def test_at_the_limit_more_may_be_wanted_than_is_served() -> None:
    seen, _ = watch(steady(3_000, 20), ratio=0.9)
    demand = seen.project().demand
    assert demand is not None
    assert demand.high == 3_000


def test_more_may_be_wanted_only_after_two_periods_at_the_limit() -> None:
    limit, burst = 1_000, 3_000
    for minutes_at_limit, may_want_more in ((1, False), (2, True)):
        seen, _ = watch([*steady(500, 60), *steady(limit, minutes_at_limit)], ratio=0.9)
        history = seen.observation.history
        assert history is not None
        high = demand_now(history, limit=limit).high
        assert high == burst if may_want_more else high < limit


def test_an_empty_bucket_under_load_is_exhausted_and_one_that_recovers_is_not() -> None:
    drained, _ = watch(steady(3_000, 40))
    assert drained.project().state == "exhausted"
    recovering, _ = watch([*steady(3_000, 40), *steady(50, 10)])
    projection = recovering.project()
    assert projection.state == "infinite"
    assert projection.level is not None
    assert projection.level.likely > 0


def test_st1_is_projected_in_mib() -> None:
    loads = [Phase(seconds=3_600, read_iops=120, write_iops=0, io_kib=1024, access="sequential")]
    seen, level = watch(loads, volume_type="st1", size=500)
    net = 120 - 500 * 40 / 1024
    assert seen.project().time_to_empty_s == pytest.approx(level * 500 * 1024 / net, rel=0.02)


def test_stale_data_is_idle_in_a_fresh_unit_and_unknown_in_a_blind_one() -> None:
    seen, _ = watch(steady(3_000, 30), age_s=900)
    assert seen.project().state == "idle"
    blind = replace(seen.observation, unit_is_fresh=False)
    assert project(blind, max_data_age_s=AGE).state == "unknown"


@pytest.mark.parametrize("period_s", [60.0, 300.0])
def test_data_is_stale_from_one_period_after_its_greatest_age_on(period_s: float) -> None:
    seen, _ = watch(steady(500, 30), period_s=period_s)
    latest_s = seen.at + AGE + period_s
    assert replace(seen, at=latest_s).project().state == "finite"
    assert replace(seen, at=latest_s + 1).project().state == "idle"


def test_a_failed_series_is_unknown_whatever_else_is_known() -> None:
    resource = volume("gp2", 100)
    seen = Observation(resource=resource, at=0.0, missing="denied")
    assert project(seen, max_data_age_s=AGE).state == "unknown"
    assert assess(seen, Config()).verdict == "unknown"


@pytest.mark.parametrize(("volume_type", "size"), [("gp3", 100), ("gp2", 1_000), ("st1", 16_000)])
def test_without_a_bucket_no_metric_can_raise_anything(volume_type: str, size: float) -> None:
    resource = volume(volume_type, size)
    empty = LevelPoint(start_s=0, period_s=60, ratio=0.0)  # some report 0 for "not applicable"
    seen = observe(resource, 60.0, [empty])
    assert project(seen, max_data_age_s=AGE).state == "not_applicable"
    assert assess(seen, Config()).verdict == "ok"


# Policy


def verdict(loads: list[Phase], *, ratio: float, **more: float) -> str:
    seen, _ = watch(loads, ratio=ratio, **more)  # type: ignore[arg-type]
    return assess(seen.observation, Config()).verdict


def test_a_low_balance_alone_wakes_nobody() -> None:
    assert verdict(steady(100, 60), ratio=0.05) == "watch"


def test_a_short_burst_of_a_full_bucket_wakes_nobody() -> None:
    assert verdict([*steady(100, 60), *steady(3_000, 3)], ratio=1.0, size=500) == "ok"


def test_a_bucket_that_empties_within_the_lead_is_critical() -> None:
    assert verdict(steady(3_000, 10), ratio=0.9) == "warning"  # 20 minutes left
    assert verdict(steady(3_000, 12), ratio=0.9) == "critical"  # 18, and the margin is 19


def test_what_was_critical_is_held_for_a_while_and_then_let_go() -> None:
    drain = steady(3_000, 20)
    assert verdict([*drain, *steady(0, 5)], ratio=0.9) == "critical"
    assert verdict([*drain, *steady(0, 110)], ratio=0.9) in {"ok", "watch"}


def test_a_longer_lead_never_judges_milder() -> None:
    order = ["ok", "watch", "warning", "critical", "exhausted"]
    for minutes in range(2, 36, 3):
        seen, _ = watch(steady(2_500, minutes))
        found = [
            assess(seen.observation, Config(lead_s=lead)).verdict
            for lead in (300, 900, 1_800, 3_600)
        ]
        ranks = [order.index(one) for one in found]
        assert ranks == sorted(ranks)


def test_the_reason_is_one_sentence_with_numbers() -> None:
    seen, _ = watch(steady(3_000, 10), ratio=0.9)
    reason = assess(seen.observation, Config()).reason
    assert "3,000 credits/s" in reason
    assert "worst case" in reason


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (True, "no credits left"),
        (False, "the projection says that no credits are left now"),
    ],
)
def test_a_bucket_that_was_seen_empty_is_told_from_one_that_must_be_by_now(
    *, held: bool, reason: str
) -> None:
    bucket = Bucket(capacity=1_000.0, refill=10.0, burst=100.0)
    nothing, much = (Range(low=value, likely=value, high=value) for value in (0.0, 50.0))
    projection = project_level(
        bucket, nothing, much, at=0.0, data_age_s=0.0, worst_level=0.0, held_at_zero=held
    )
    assert (projection.state, projection.reason.partition(",")[0]) == ("exhausted", reason)

"""The policy on whole stories: what pages, how often, and when it ends."""

import math
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.backtest.evaluate import FEEDS, Policy, Truth
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.replay import Played, volume
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.chance import FEATURES, MODEL, PAGED_FROM, chance, evidence
from burstwatch.forecast.own_past import UNKNOWN, look_at_past
from burstwatch.forecast.policy import PAGED, SEVERITY, assess
from burstwatch.history.history import History, build_history
from burstwatch.history.observations import Observation
from burstwatch.history.past import to_past
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.recordings.samples import Sample, at_period, to_points
from tests.unit.played import Seen, rows_of, steady, watch

DAY_MINUTES = 24 * 60


def paged(rows: list[Sample], *, size: float = 100, every: int = 1) -> list[bool]:
    """Whether a page is on, at each datapoint."""
    played, config = Played(rows, volume("gp2", size), 60.0), Config()
    moments = (row.t_s + 60 for row in rows[::every])
    return [assess(played.at(now, 0.0, config), config).verdict in PAGED for now in moments]


def test_one_incident_is_one_page_that_resolves_once() -> None:
    # Down to nothing, up and down near it for an hour, and calm after.
    rows = rows_of(
        [
            *steady(100, 120),
            *steady(3_000, 40),
            *[load for _ in range(6) for load in (*steady(50, 5), *steady(1_500, 5))],
            *steady(50, 400),
        ]
    )
    assert [on for on, _ in groupby(paged(rows))] == [False, True, False]


def test_a_bucket_that_was_empty_pages_until_it_is_back_at_20_percent_for_half_an_hour() -> None:
    rows = rows_of([*steady(3_000, 40), *steady(0, 200)])
    on = paged(rows)
    back = next(n for n, row in enumerate(rows) if n > 45 and row.values["BurstBalance"] >= 20)
    assert all(on[34 : back + 29])  # what emptied it may come back, and would be too fast
    assert not any(on[back + 31 :])


def test_a_bucket_that_was_empty_and_outlasts_the_lead_pages_no_more() -> None:
    rows = rows_of([*steady(3_000, 65), *steady(0, 200)], size=500)  # refills within an hour
    on = paged(rows, size=500)
    far = next(n for n, row in enumerate(rows) if n > 70 and row.values["BurstBalance"] >= 34)
    assert any(on)
    assert not any(on[far:])


@pytest.mark.parametrize(("lead_s", "minutes"), [(900.0, 30), (3_600.0, 60)])
def test_an_incident_goes_on_for_half_an_hour_or_the_lead_however_short_the_hold_time_is(
    lead_s: float, minutes: int
) -> None:
    rows = rows_of([*steady(3_000, 40), *steady(0, 200)])
    played, config = Played(rows, volume("gp2", 100), 60.0), Config(hold_s=300.0, lead_s=lead_s)
    on = [assess(played.at(row.t_s + 60, 0.0, config), config).verdict in PAGED for row in rows]
    back = next(n for n, row in enumerate(rows) if n > 45 and row.values["BurstBalance"] >= 20)
    assert all(on[34 : back + minutes - 1])
    assert not any(on[back + minutes + 1 :])


def test_a_warning_after_a_page_makes_the_page_no_longer() -> None:
    rows = rows_of([*steady(3_000, 16), *steady(150, 120)])
    played = Played(rows, volume("gp2", 100), 60.0)

    def ends(hold_s: float, verdicts: frozenset[str]) -> int:
        config = Config(hold_s=hold_s)
        moments = [row.t_s + 60 for row in rows]
        found = [assess(played.at(now, 0.0, config), config).verdict for now in moments]
        return max(n for n, verdict in enumerate(found) if verdict in verdicts)

    acted, warned = ends(60.0, PAGED), ends(60.0, PAGED | {"warning"})
    assert acted < warned
    assert acted < ends(1_800.0, PAGED) <= acted + 30


@pytest.mark.parametrize(
    ("ratio", "after_minutes", "before_minutes"), [(0.25, 3, 5), (0.6, 6, 14), (0.8, 9, 17)]
)
def test_a_burst_after_a_quiet_hour_pages_once_it_lasts_for_minutes(
    ratio: float, after_minutes: int, before_minutes: int
) -> None:
    def burst(minutes: int) -> tuple[Seen, float]:
        # The quiet hour fills a fifth of the bucket.
        return watch([*steady(0, 60), *steady(3_000, minutes)], ratio=ratio - 0.2)

    def is_paged(minutes: int) -> bool:
        return assess(burst(minutes)[0].observation, Config()).verdict in PAGED

    assert next(minutes for minutes in range(1, 34) if is_paged(minutes)) <= after_minutes
    bucket = volume_spec("gp2", 100).bucket
    assert bucket is not None
    left_s = burst(after_minutes)[1] * bucket.capacity / (bucket.burst - bucket.refill)
    assert left_s >= 60 * before_minutes


@pytest.mark.parametrize("delay_s", [0.0, 60.0, 120.0])
def test_data_whose_age_goes_up_and_down_ends_an_incident_once(delay_s: float) -> None:
    # Looked at each minute, with a datapoint each fifth.
    rows = at_period(rows_of([*steady(3_000, 80), *steady(0, 200)], size=600), 60.0, 300.0)[0]
    played, config = Played(rows, volume("gp2", 600), 300.0), Config()
    first, last = rows[0].t_s + 600, rows[-1].t_s
    moments = [first + 60 * n for n in range(int((last - first) / 60))]
    on = [assess(played.at(now, delay_s, config), config).verdict in PAGED for now in moments]
    assert [is_on for is_on, _ in groupby(on)] == [False, True, False]


def test_an_incident_that_is_nearly_over_by_projection_does_not_end_and_begin_anew() -> None:
    # Nearly back at 20 %, and down again: only a datapoint ends an incident.
    rows = rows_of([*steady(3_000, 40), *steady(0, 57), *steady(600, 120), *steady(0, 120)])
    five = at_period(rows, 60.0, 300.0)[0]
    played, config = Played(five, volume("gp2", 100), 300.0), FEEDS["stale"].config(900.0)
    moments = [row.t_s + 600 for row in five]
    on = [assess(played.at(now, 300.0, config), config).verdict in PAGED for now in moments]
    assert [is_on for is_on, _ in groupby(on)] == [False, True, False]


def test_load_that_would_empty_it_is_told_of_before_it_comes_at_its_hour() -> None:
    # Each noon a job takes 60 %; on the last day only 45 % is left before it.
    day = [*steady(250, 11 * 60), *steady(3_000, 20), *steady(200, DAY_MINUTES - 11 * 60 - 20)]
    last = [*steady(250, 8 * 60), *steady(1_500, 41), *steady(299, 3 * 60)]
    rows = rows_of([*day * 6, *last])
    played, config = Played(rows, volume("gp2", 100), 60.0), Config()
    noon = rows[0].t_s + 60 * (6 * DAY_MINUTES + 11 * 60)
    found = assess(played.at(noon - 300, 0.0, config), config)
    assert found.verdict in {"warning", "critical"}


def test_what_came_at_the_same_hours_of_each_day_before_is_likely_to_come_again() -> None:
    resource = volume("gp2", 100)
    assert resource.bucket is not None
    evening = steady(1_200, 60)
    rows = rows_of([*steady(3_000, 30), *steady(100, DAY_MINUTES - 90), *evening] * 2)
    levels, demand = to_points(rows, resource, 60.0)
    history = build_history(resource.bucket, levels, demand, past=to_past(demand))
    # As it is again at the end of the second day; some of a day is assumed.
    assert look_at_past(history, 1_200.0).same_hours == pytest.approx(2.1 / 3)
    assert look_at_past(history.cut(DAY_MINUTES), 1_200.0).same_hours == pytest.approx(1.1 / 2)


def test_a_lead_of_a_day_looks_at_no_day_that_is_still_to_come() -> None:
    resource = volume("gp2", 100)
    assert resource.bucket is not None
    rows = rows_of([*steady(3_000, 30), *steady(100, DAY_MINUTES - 30)] * 3)
    levels, demand = to_points(rows, resource, 60.0)
    history = build_history(resource.bucket, levels, demand, past=to_past(demand))
    found = look_at_past(history.cut(2 * DAY_MINUTES), 86_400.0 * 1.5)
    assert found.same_hours == UNKNOWN.same_hours


@given(
    st.lists(st.floats(min_value=0, max_value=4_000), min_size=12, max_size=40),
    st.floats(min_value=0.05, max_value=1.0),
)
def test_the_short_cut_of_the_backtest_finds_what_the_policy_finds(
    rates: list[float], ratio: float
) -> None:
    seen, _ = watch([load for rate in rates for load in steady(rate, 2)], ratio=ratio)
    view = FEEDS["fresh"]
    known = Truth(config=view.config(900.0), events=[])
    found = find_policies()["burstwatch"].judge(seen.observation, known)
    whole = assess(seen.observation, known.config).verdict
    assert found == whole or {found, whole} == {"ok", "watch"}


@given(
    st.lists(st.floats(min_value=0, max_value=3_000), min_size=10, max_size=40),
    st.floats(min_value=300.0, max_value=3_600.0),
)
def test_the_chance_is_a_probability_whatever_was_done(
    rates: list[float], horizon_s: float
) -> None:
    history = watch([load for rate in rates for load in steady(rate, 1)])[0].observation.history
    assert history is not None
    found = evidence(history, horizon_s)
    assert len(found) == len(FEATURES) == len(MODEL.parts)
    assert all(math.isfinite(value) for value in found)
    assert 0 <= chance(history, horizon_s) < 1


def test_no_part_of_the_chance_falls_when_its_evidence_grows() -> None:
    for part in (*MODEL.parts, MODEL.log_odds):
        assert list(part.at) == sorted(part.at)
        assert list(part.adds) == sorted(part.adds)


@given(
    st.lists(st.floats(min_value=0, max_value=2_900), min_size=12, max_size=60),
    st.floats(min_value=0.01, max_value=0.9),
    st.floats(min_value=0.1, max_value=1.0),
    st.floats(min_value=1.0, max_value=3.0),
    st.tuples(st.floats(min_value=300, max_value=3_600), st.floats(min_value=1.0, max_value=10.0)),
)
def test_less_left_more_demand_or_a_longer_horizon_never_lowers_the_chance(
    rates: list[float],
    ratio: float,
    share_left: float,
    more_demand: float,
    horizon: tuple[float, float],
) -> None:
    horizon_s, longer = horizon
    before = with_demand(rates, ratio=ratio)
    found = chance(before, horizon_s) - 1e-12
    assert chance(with_demand(rates, ratio=ratio * share_left), horizon_s) >= found
    assert chance(with_demand([r * more_demand for r in rates], ratio=ratio), horizon_s) >= found
    assert chance(before, horizon_s * longer) >= found


def with_demand(rates: list[float], *, ratio: float) -> History:
    """Minutes of demand up to a level, after a week with bursts by the hour.

    Of the levels before nothing is known: one that stood still would contradict the demand, and decide in its place.
    """
    bucket = volume("gp2", 100).bucket
    assert bucket is not None
    week = [(2_000.0 if slot % 12 < 3 else 100.0) for slot in range(7 * 288)]
    past = [DemandPoint(300.0 * n, 300, rate, rate, rate) for n, rate in enumerate(week)]
    start_s = 300.0 * len(week)
    levels = [LevelPoint(start_s + 60 * (len(rates) - 1), 60, ratio)]
    demand = [DemandPoint(start_s + 60.0 * n, 60, r, r, r) for n, r in enumerate(rates)]
    return build_history(bucket, levels, demand, past=to_past(past))


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 100.0, 400.0, 1_500.0, 3_000.0]), st.integers(5, 60)),
        min_size=2,
        max_size=6,
    ),
    st.floats(min_value=0.1, max_value=1.0),
)
@example([(0.0, 5), (3_000.0, 5)], 1.0)
def test_whoever_wants_to_be_surer_is_paged_no_more_often_and_warned_as_early(
    loads: list[tuple[float, int]], ratio: float
) -> None:
    seen, _ = watch(
        [load for rate, minutes in loads for load in steady(rate, minutes)], ratio=ratio
    )
    told = {
        page_on: assess(seen.observation, Config(page_on=page_on, hold_s=60.0)).verdict
        for page_on in ("sure", "balanced", "early", "worst")
    }
    severities = [SEVERITY[verdict] for verdict in told.values()]
    assert severities == sorted(severities), told
    assert (told["sure"] in WARNED) == (told["balanced"] in WARNED), told


WARNED = {"warning", "critical", "exhausted"}


def test_whoever_wants_to_be_sure_of_a_page_is_warned_of_a_burst_as_early_as_others() -> None:
    seen, _ = watch([*steady(0, 60), *steady(3_000, 5)], ratio=0.4)
    told = [
        assess(seen.observation, Config(page_on=page_on)).verdict
        for page_on in ("sure", "balanced")
    ]
    assert told == ["warning", "warning"]


def test_the_ways_to_page_begin_at_rising_chances() -> None:
    assert list(PAGED_FROM) == ["early", "balanced", "sure"]
    assert list(PAGED_FROM.values()) == sorted(PAGED_FROM.values())


def test_a_volume_at_rest_never_pages_however_low_it_is() -> None:
    seen, _ = watch(steady(0, 200), ratio=0.02)
    assert assess(seen.observation, Config()).verdict in {"ok", "watch"}


@pytest.mark.parametrize("policy", find_policies().values(), ids=lambda policy: policy.name)
def test_every_policy_is_quiet_without_data_and_on_a_full_bucket(policy: Policy) -> None:
    view = FEEDS["fresh"]
    known = Truth(config=view.config(900.0), events=[])
    nothing = Observation(resource=volume("gp2", 100), at=0.0)
    full, _ = watch(steady(100, 120), size=500)
    for seen in (nothing, full.observation):
        assert policy.judge(seen, known) in {"ok", "unknown"}

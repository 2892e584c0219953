import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket

GP2_100 = Bucket(capacity=5_400_000, refill=300, burst=3_000)

rates = st.floats(min_value=0, max_value=20_000)


@st.composite
def buckets(draw: st.DrawFn) -> Bucket:
    refill = draw(st.floats(min_value=0.1, max_value=10_000))
    extra = draw(st.floats(min_value=0, max_value=10_000))
    return Bucket(
        capacity=draw(st.floats(min_value=1, max_value=1e9)), refill=refill, burst=refill + extra
    )


ratios = st.floats(min_value=0, max_value=1)


def step(bucket: Bucket, level: float, demand: float, seconds: float) -> float:
    """The level after one small step of the differential equation, for comparison."""
    allowed = bucket.burst if level > 0 else bucket.refill
    available = level + bucket.refill * seconds
    spent = min(min(demand, allowed) * seconds, available)
    return min(bucket.capacity, available - spent)


def test_a_full_100_gib_volume_lasts_2000_s_at_full_burst() -> None:
    assert tb.worst_time_to_empty(GP2_100, level=GP2_100.capacity) == 2_000


def test_a_demand_above_burst_empties_no_faster_than_burst() -> None:
    at_burst = tb.time_to_empty(GP2_100, level=1e6, demand=3_000)
    assert tb.time_to_empty(GP2_100, level=1e6, demand=9_999) == at_burst


@given(buckets(), ratios)
def test_a_volume_at_or_under_its_baseline_never_empties(bucket: Bucket, ratio: float) -> None:
    level = ratio * bucket.capacity
    assert math.isinf(tb.time_to_empty(bucket, level=level, demand=bucket.refill))
    assert math.isinf(tb.time_to_empty(bucket, level=level, demand=bucket.refill / 2))


@given(buckets(), ratios, rates)
def test_nothing_is_faster_than_the_worst_case(bucket: Bucket, ratio: float, demand: float) -> None:
    level = ratio * bucket.capacity
    worst = tb.worst_time_to_empty(bucket, level=level)
    assert tb.time_to_empty(bucket, level=level, demand=demand) >= worst


@given(buckets(), ratios, rates, rates)
def test_more_demand_never_empties_later(
    bucket: Bucket, ratio: float, one: float, other: float
) -> None:
    level = ratio * bucket.capacity
    less, more = sorted((one, other))
    assert tb.time_to_empty(bucket, level=level, demand=more) <= tb.time_to_empty(
        bucket, level=level, demand=less
    )


@given(buckets(), ratios, rates, st.floats(min_value=0, max_value=1e6))
def test_no_more_is_lost_than_can_be_spent_and_no_more_gained_than_comes_in(
    bucket: Bucket, ratio: float, demand: float, seconds: float
) -> None:
    level = ratio * bucket.capacity
    after = tb.level_after(bucket, level=level, demand=demand, seconds=seconds)
    assert 0 <= after <= bucket.capacity
    scale = level + bucket.burst * seconds + 1
    assert after - level <= bucket.refill * seconds + 1e-9 * scale
    assert level - after <= (bucket.burst - bucket.refill) * seconds + 1e-9 * scale


@given(buckets(), ratios, rates)
def test_at_the_time_to_empty_the_level_is_zero(
    bucket: Bucket, ratio: float, demand: float
) -> None:
    level = ratio * bucket.capacity
    seconds = tb.time_to_empty(bucket, level=level, demand=demand)
    if math.isfinite(seconds) and seconds < 1e12:
        after = tb.level_after(bucket, level=level, demand=demand, seconds=seconds)
        assert after <= 1e-6 * bucket.capacity


@given(
    refill=st.integers(min_value=1, max_value=2_999),
    ratio=ratios,
    demand=st.floats(min_value=0, max_value=4_000),
    steps=st.integers(min_value=1, max_value=400),
)
def test_the_closed_form_agrees_with_small_steps(
    refill: int, ratio: float, demand: float, steps: int
) -> None:
    bucket = Bucket(capacity=100_000, refill=refill, burst=3_000)
    level = start = ratio * bucket.capacity
    for _ in range(steps):
        level = step(bucket, level, demand, 1.0)
    exact = tb.level_after(bucket, level=start, demand=demand, seconds=steps)
    # A step cannot see the instant of emptying inside it: off by one step's flow at most.
    assert level == pytest.approx(exact, abs=bucket.burst)


@given(buckets(), ratios)
def test_refilling_takes_what_emptying_gave(bucket: Bucket, ratio: float) -> None:
    level = ratio * bucket.capacity
    seconds = tb.time_to_full(bucket, level=level, demand=0)
    assert seconds == pytest.approx((bucket.capacity - level) / bucket.refill)


@pytest.mark.parametrize(
    ("capacity", "refill", "burst", "named"),
    [
        (0, 1, 2, "capacity"),
        (1, -1, 2, "refill"),
        (1, 3, 2, "burst"),
        (math.inf, 1, 2, "finite"),
        (1, math.nan, 2, "finite"),
    ],
)
def test_an_impossible_bucket_is_refused(
    capacity: float, refill: float, burst: float, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        Bucket(capacity=capacity, refill=refill, burst=burst)


@pytest.mark.parametrize("demand", [-1.0, math.nan])
def test_a_negative_demand_is_refused(demand: float) -> None:
    with pytest.raises(ValueError, match="demand"):
        tb.time_to_empty(GP2_100, level=1, demand=demand)


def test_an_empty_bucket_spends_what_comes_in_and_one_with_any_credit_its_burst() -> None:
    assert tb.spend_rate(GP2_100, level=0.0, demand=5_000) == 300
    assert tb.spend_rate(GP2_100, level=0.0, demand=200) == 200
    assert tb.spend_rate(GP2_100, level=1e-6, demand=5_000) == 3_000


@pytest.mark.parametrize(
    ("refill", "beyond", "empties"),
    [
        (300.0, 0.9 * 300.0, False),
        (300.0, 1.1 * 300.0, True),
        (0.1, 0.9, False),
        (0.1, 1.5, True),
    ],
)
def test_a_demand_within_rounding_of_the_refill_never_empties_it(
    refill: float, beyond: float, *, empties: bool
) -> None:
    bucket = Bucket(capacity=1e6, refill=refill, burst=3_000)
    demand = refill + beyond * tb.ROUNDING
    seconds = tb.time_to_empty(bucket, level=bucket.capacity, demand=demand)
    assert math.isfinite(seconds) == empties


def test_a_time_before_now_is_refused() -> None:
    with pytest.raises(ValueError, match="seconds must be 0 or more, got -1"):
        tb.level_after(GP2_100, level=0.0, demand=0.0, seconds=-1.0)


def test_a_bucket_into_which_nothing_comes_is_one_and_lasts_as_long_as_its_credits() -> None:
    bucket = Bucket(capacity=100, refill=0, burst=10)
    assert tb.time_to_empty(bucket, level=100, demand=5) == 20

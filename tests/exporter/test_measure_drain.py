"""Where a volume falls, and what that says of its bucket."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.ebs.volumes import volume_spec
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.measure.drain import (
    ServedSample,
    estimate,
    find_knee,
    has_fallen,
    refill_while_resting,
)


def drained(
    *, burst: float, baseline: float, capacity: float, share: float = 1.0, noise: float = 0.0,
    after_s: int = 12, seed: int = 0,
) -> list[ServedSample]:  # fmt: skip
    """What a volume serves second by second, from so full on."""
    rng = random.Random(seed)  # noqa: S311 - noise, and no secret
    empty_at = share * capacity / (burst - baseline)
    samples = []
    for second in range(int(empty_at) + 1 + after_s):
        inside = min(1.0, max(0.0, empty_at - second))
        rate = (burst * inside + baseline * (1 - inside)) * (1 + noise * rng.uniform(-1, 1))
        samples.append(ServedSample(at=second + 1, seconds=1, rate=rate))
    return samples


@given(
    burst=st.floats(500, 20_000),
    ratio=st.floats(0.01, 0.6),
    seconds=st.floats(8, 400),
    share=st.floats(0.3, 1),
    noise=st.floats(0, 0.05),
    seed=st.integers(0, 1_000),
)
def test_burst_baseline_and_capacity_are_found_through_noise(
    burst: float, ratio: float, seconds: float, share: float, noise: float, seed: int
) -> None:
    baseline = ratio * burst
    capacity = (burst - baseline) * seconds / share
    samples = drained(
        burst=burst, baseline=baseline, capacity=capacity, share=share, noise=noise, seed=seed
    )
    left = Interval(low=share * capacity, high=share * capacity)
    found = estimate(samples, interval=left, capacity=capacity)
    assert found is not None
    assert found.knee.at == pytest.approx(seconds, abs=1)
    assert found.knee.burst == pytest.approx(burst, rel=0.05)
    assert found.knee.baseline == pytest.approx(baseline, rel=0.05)
    tolerance = 0.02 + 2 * noise
    assert found.capacity == pytest.approx(capacity, rel=tolerance)


@pytest.mark.parametrize("size_gib", [100, 500, 751, 800, 900])
def test_every_gp2_volume_that_can_be_drained_is_seen_to_fall(size_gib: int) -> None:
    bucket = volume_spec("gp2", size_gib).bucket
    assert bucket is not None
    middle = (bucket.burst + bucket.refill) / 2
    share = 60 * (bucket.burst - bucket.refill) / bucket.capacity  # a minute of it is left
    samples = drained(
        burst=bucket.burst,
        baseline=bucket.refill,
        capacity=bucket.capacity,
        share=share,
        noise=0.02,
    )
    assert has_fallen(samples, below=middle)
    assert not has_fallen(samples[:60], below=middle)
    knee = find_knee(samples)
    assert knee is not None
    assert knee.at == pytest.approx(60, abs=2)


def test_how_large_it_is_is_not_said_where_the_start_was_hardly_known() -> None:
    samples = drained(burst=3_000, baseline=300, capacity=108_000)
    for low, known in ((107_000, True), (80_000, False), (1_080, False)):
        found = estimate(samples, interval=Interval(low=low, high=108_000), capacity=108_000)
        assert found is not None
        assert (found.capacity is not None) == known


def test_a_run_that_never_falls_has_no_knee() -> None:
    steady = [ServedSample(at=second + 1, seconds=1, rate=3_000) for second in range(60)]
    assert find_knee(steady) is None
    assert not has_fallen(steady, below=1_650)
    assert estimate(steady, interval=Interval(low=1, high=1), capacity=1) is None


def test_a_dip_of_some_seconds_is_no_knee() -> None:
    rates = [3_000.0] * 20 + [300.0] * 4 + [3_000.0] * 20
    samples = [ServedSample(at=i + 1, seconds=1, rate=rate) for i, rate in enumerate(rates)]
    assert not any(has_fallen(samples[:end], below=1_650) for end in range(1, len(samples) + 1))


def test_a_fall_is_believed_after_ten_seconds() -> None:
    samples = drained(burst=3_000, baseline=300, capacity=108_000, after_s=20)
    first = next(
        end for end in range(1, len(samples) + 1) if has_fallen(samples[:end], below=1_650)
    )
    assert samples[first - 1].at == pytest.approx(40 + 11, abs=1)


def test_no_samples_are_no_knee() -> None:
    assert find_knee([]) is None
    assert not has_fallen([], below=1_650)
    assert find_knee(drained(burst=3_000, baseline=300, capacity=9_000)[:3]) is None


def test_without_a_known_start_there_is_no_capacity() -> None:
    samples = drained(burst=3_000, baseline=300, capacity=108_000)
    found = estimate(samples, interval=Interval(low=0, high=108_000), capacity=108_000)
    assert found is not None
    assert found.capacity is None
    assert found.drained == pytest.approx(108_000, rel=0.01)


def test_what_came_in_while_it_rested_is_what_it_bursts_with_again() -> None:
    first = drained(burst=3_000, baseline=300, capacity=108_000)
    knee = find_knee(first)
    assert knee is not None
    again = drained(burst=3_000, baseline=300, capacity=6_000)
    assert refill_while_resting(again, knee, rested_s=20) == pytest.approx(300, rel=0.02)
    assert refill_while_resting(again, knee, rested_s=0) is None


@given(seed=st.integers(0, 1_000), started_s=st.integers(0, 5))
def test_an_irregular_load_and_a_slow_start_add_nothing_to_what_came_in(
    seed: int, started_s: int
) -> None:
    knee = find_knee(drained(burst=3_000, baseline=300, capacity=108_000))
    assert knee is not None
    waiting = [ServedSample(at=second + 1, seconds=1, rate=0) for second in range(started_s)]
    burst = drained(burst=3_000, baseline=300, capacity=300 * (20 + started_s))
    rng = random.Random(seed)  # noqa: S311 - noise, and no secret
    served = [*waiting, *(replace(sample, at=sample.at + started_s) for sample in burst)]
    # A busy machine is late with some of the I/O of a second, and the next second has it.
    for early, late in pairwise(range(len(served))):
        moved = 0.4 * rng.random() * served[early].rate
        served[early] = replace(served[early], rate=served[early].rate - moved)
        served[late] = replace(served[late], rate=served[late].rate + moved)
    assert refill_while_resting(served, knee, rested_s=20) == pytest.approx(300, rel=0.03)

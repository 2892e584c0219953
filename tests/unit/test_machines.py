"""New hardware under an old id: what it has not earned yet is no incident, and what a load empties still is."""

import random
from collections.abc import Sequence

import pytest

from burstwatch.aws.alarms.plan import NEWS_S
from burstwatch.backtest.replay import Played
from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY, Assessment, assess
from burstwatch.history.machine import machine_since
from burstwatch.history.observations import Resource, observe
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.history.track import look_back_s
from burstwatch.kinds import find_kinds
from burstwatch.recordings.samples import Sample
from tests.unit.every_bucket import START, buckets

#: The kinds whose machines begin without credits.
EVERY = [resource for _, resource in buckets() if resource.terms.starts_empty]
HOUR = 3_600.0
#: Every way to another machine: hours without a datapoint, the share that the new one begins with, and why.
WAYS = [
    pytest.param(0.0, 0.0, id="a node is replaced in its window"),
    pytest.param(0.2, 0.0, id="a replacement takes some minutes"),
    pytest.param(12.0, 0.0, id="a database is stopped at night"),
    pytest.param(150.0, 0.0, id="it was stopped for a week"),
    pytest.param(0.0, 0.06, id="a failover to a standby with a few credits"),
    pytest.param(1.0, 0.01, id="it is restored under the same name"),
]


def played(
    resource: Resource,
    *,
    before: float,
    gap_h: float,
    after: float,
    loads: Sequence[tuple[float, float]],
) -> list[tuple[float, Assessment]]:
    """What a sweep says each five minutes after a change of the machine, under loads in baselines for so many hours each.

    It asks for as much as a sweep does. A bucket that is held at zero shows a little now and then.
    """
    bucket, period_s = resource.bucket, resource.reporting.published_every_s
    assert bucket is not None
    levels = [LevelPoint(START + n * period_s, period_s, before, "Average") for n in range(144)]
    usual = 0.4 * bucket.refill
    spent = [DemandPoint(p.start_s, period_s, usual, usual, usual) for p in levels]
    began = levels[-1].end_s + gap_h * HOUR
    level, told = after * bucket.capacity, []
    rates = [
        load * bucket.refill for load, hours in loads for _ in range(round(hours * HOUR / period_s))
    ]
    for n, rate in enumerate(rates):
        at = began + n * period_s
        flickers = level <= 0 < rate - bucket.refill and n % 3 == 0
        served = rate if level > 0 else min(rate, bucket.refill)
        shown = level / bucket.capacity + (2e-4 if flickers else 0.0)
        levels.append(LevelPoint(at, period_s, shown, "Average"))
        spent.append(DemandPoint(at, period_s, served, served, served))
        level = min(bucket.capacity, max(0.0, level + (bucket.refill - served) * period_s))
        now = at + period_s
        from_s = now - look_back_s(bucket)
        seen = [point for point in levels if point.end_s > from_s]
        observation = observe(resource, now, seen, spent, levels_from_s=from_s)
        told.append((now - began, assess(observation, Config())))
    return told


def is_told(assessment: Assessment) -> bool:
    """True if a sweep that has told nothing yet pages for it."""
    is_bad = SEVERITY.get(assessment.verdict, 0) >= SEVERITY["critical"]
    return is_bad and assessment.ago_s <= NEWS_S


@pytest.mark.parametrize(("gap_h", "after"), WAYS)
@pytest.mark.parametrize("before", [1.0, 0.5])
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_new_machine_that_refills_is_not_told(
    resource: Resource, before: float, gap_h: float, after: float
) -> None:
    moments = played(resource, before=before, gap_h=gap_h, after=after, loads=[(0.4, 9)])
    told = [(at, assessment.reason) for at, assessment in moments if is_told(assessment)]
    assert not told, told[:3]


@pytest.mark.parametrize(("gap_h", "after"), WAYS)
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_new_machine_that_spends_what_it_has_gathered_is_told_before_zero(
    resource: Resource, gap_h: float, after: float
) -> None:
    bucket = resource.bucket
    assert bucket is not None
    full = min(resource.limit.rate, bucket.burst) / bucket.refill
    moments = played(
        resource, before=1.0, gap_h=gap_h, after=after, loads=[(0.1, 4), (1.3, 3), (full, 8)]
    )
    empty_s = next(at for at, assessment in moments if assessment.verdict == "exhausted")
    told_s = next(at for at, assessment in moments if is_told(assessment))
    assert empty_s - told_s >= 900, (told_s, empty_s)


@pytest.mark.parametrize("gap_h", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_bucket_that_stays_empty_under_load_is_told_whatever_was_before(
    resource: Resource, gap_h: float
) -> None:
    """As after an outage of CloudWatch in which the credits ran out."""
    moments = played(resource, before=0.3, gap_h=gap_h, after=0.0, loads=[(3.0, 5)])
    verdicts = {assessment.verdict for at, assessment in moments if at > 1_200}
    assert verdicts <= {"critical", "exhausted"}
    assert "exhausted" in verdicts


@pytest.mark.parametrize("seed", range(60))
def test_no_load_is_taken_for_another_machine(seed: int) -> None:
    """Whatever is spent, at whatever times, and however the datapoints lie in their periods."""
    rng = random.Random(seed)  # noqa: S311 - the same loads each time
    resource = rng.choice(EVERY)
    bucket, period_s = resource.bucket, resource.reporting.published_every_s
    assert bucket is not None
    level, points = rng.uniform(0.1, 1.0) * bucket.capacity, []
    for n in range(400):
        rate = rng.choice([0.0, bucket.refill, bucket.burst, bucket.burst])
        half = min(
            bucket.capacity, max(0.0, level + (bucket.refill - rate) * period_s * rng.random())
        )
        level = min(bucket.capacity, max(0.0, level + (bucket.refill - rate) * period_s))
        if rng.random() < 0.9:  # a datapoint may be missing
            shown = rng.choice([level, half])
            points.append(
                LevelPoint(START + n * period_s, period_s, shown / bucket.capacity, "Average")
            )
        assert machine_since(points[-80:], bucket, from_s=None, reports_when_idle=True) is None


@pytest.mark.parametrize("periods", [2, 3, 6, 12])
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_balance_that_falls_on_is_told_however_fast_it_falls(
    resource: Resource, periods: int
) -> None:
    """What is published counts more than what the stated type can spend: then the type is wrong."""
    period_s = resource.reporting.published_every_s
    ratios = [0.9] * 100 + [0.9 * (1 - (n + 1) / periods) for n in range(periods)] + [0.0] * 3
    levels = [
        LevelPoint(START + n * period_s, period_s, r, "Average") for n, r in enumerate(ratios)
    ]
    told = [
        assess(observe(resource, levels[n].end_s, levels[: n + 1]), Config()).verdict
        for n in range(102, len(levels))
    ]
    assert told[-1] == "exhausted"
    assert all(verdict in {"warning", "critical", "exhausted"} for verdict in told[periods - 2 :])


@pytest.mark.parametrize("seed", range(12))
def test_a_replay_says_the_same_whatever_came_afterwards(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same recordings each time
    resource = rng.choice(EVERY)
    kind, bucket = find_kinds()[resource.kind], resource.bucket
    assert bucket is not None
    period_s = resource.reporting.published_every_s
    share, shares = 0.6, []
    for _ in range(500):
        share = min(1.0, max(0.0, share + rng.choice([-0.01, -0.004, 0.001, 0.002])))
        share = 0.0 if rng.random() < 0.004 else share  # another machine
        shares.append(share)
    size = bucket.capacity / kind.example.unit_size
    rows = [
        Sample(t_s=START + n * period_s, values={resource.level_metric: size * ratio})
        for n, ratio in enumerate(shares)
    ]
    whole = Played(rows, resource, period_s, kind)
    for end in (150, 260, 370):
        cut = Played(rows[:end], resource, period_s, kind)
        for number in range(end - 30, end):
            now = START + number * period_s
            verdicts = {
                assess(played.at(now, 0.0, Config()), Config()).verdict for played in (whole, cut)
            }
            assert len(verdicts) == 1, (number, verdicts)


#: The kinds whose machines, or volumes, begin with all that a bucket holds.
FULL = [resource for _, resource in buckets() if not resource.terms.starts_empty]
WAYS_TO_FULL = [
    pytest.param(0.0, 0.05, id="it is replaced while it is in danger"),
    pytest.param(0.3, 0.0, id="it is replaced when it is empty"),
    pytest.param(12.0, 0.0, id="it is restored the next morning"),
    pytest.param(0.0, 0.6, id="it is replaced in its window"),
]


@pytest.mark.parametrize(("gap_h", "before"), WAYS_TO_FULL)
@pytest.mark.parametrize("resource", FULL, ids=[resource.key for resource in FULL])
def test_a_new_machine_that_is_full_is_told_for_its_own_load_alone(
    resource: Resource, gap_h: float, before: float
) -> None:
    light = played(resource, before=before, gap_h=gap_h, after=1.0, loads=[(0.4, 3)])
    told = [(at, assessment.reason) for at, assessment in light if is_told(assessment)]
    assert not told, told[:3]
    bucket = resource.bucket
    assert bucket is not None
    full = min(resource.limit.rate, bucket.burst)
    lasts_h = bucket.capacity / (full - bucket.refill) / HOUR
    moments = played(
        resource, before=before, gap_h=gap_h, after=1.0, loads=[(0.4, 1), (full / bucket.refill, min(lasts_h, 40) + 1)]
    )  # fmt: skip
    empty_s = next((at for at, assessment in moments if assessment.verdict == "exhausted"), None)
    if lasts_h < 40:
        assert empty_s is not None
        told_s = next(at for at, assessment in moments if is_told(assessment))
        assert empty_s - told_s >= 600, (told_s, empty_s)

"""New hardware under an old id: what it has not earned yet is no incident, and what a load empties still is."""

import random

import pytest

from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY, assess
from burstwatch.history.machine import machine_since
from burstwatch.history.observations import Resource, Verdict, observe
from burstwatch.history.points import DemandPoint, LevelPoint
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
    resource: Resource, *, before: float, gap_h: float, after: float, load: float, hours: float
) -> list[tuple[float, Verdict]]:
    """The verdicts of each five minutes after a change of the machine under a load in baselines."""
    bucket, period_s = resource.bucket, resource.reporting.published_every_s
    assert bucket is not None
    rate = load * bucket.refill
    levels = [LevelPoint(START + n * period_s, period_s, before, "Average") for n in range(144)]
    spent = [DemandPoint(p.start_s, period_s, rate, rate, rate) for p in levels]
    began = levels[-1].end_s + gap_h * HOUR
    level, verdicts = after * bucket.capacity, []
    for n in range(round(hours * HOUR / period_s)):
        at = began + n * period_s
        served = rate if level > 0 else min(rate, bucket.refill)
        levels.append(LevelPoint(at, period_s, level / bucket.capacity, "Average"))
        spent.append(DemandPoint(at, period_s, served, served, served))
        level = min(bucket.capacity, max(0.0, level + (bucket.refill - served) * period_s))
        now = at + period_s
        seen = [point for point in levels if point.end_s > now - 14 * HOUR]
        observation = observe(resource, now, seen, spent, levels_from_s=now - 14 * HOUR)
        verdicts.append((now - began, assess(observation, Config()).verdict))
    return verdicts


@pytest.mark.parametrize(("gap_h", "after"), WAYS)
@pytest.mark.parametrize("before", [1.0, 0.5])
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_new_machine_that_refills_is_not_told(
    resource: Resource, before: float, gap_h: float, after: float
) -> None:
    verdicts = played(resource, before=before, gap_h=gap_h, after=after, load=0.4, hours=6)
    told = [(at, verdict) for at, verdict in verdicts if SEVERITY.get(verdict, 0) >= SEVERITY["critical"]]  # fmt: skip
    assert not told, told[:3]


@pytest.mark.parametrize("gap_h", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("resource", EVERY, ids=[resource.kind for resource in EVERY])
def test_a_bucket_that_stays_empty_under_load_is_told_whatever_was_before(
    resource: Resource, gap_h: float
) -> None:
    """As after an outage of CloudWatch in which the credits ran out."""
    verdicts = played(resource, before=0.3, gap_h=gap_h, after=0.0, load=3.0, hours=2)
    assert next(verdict for at, verdict in verdicts if at > 1_200) == "exhausted"


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

"""At the moment at which a bucket runs out, the advice is for the load that emptied it, and not for all that it could serve."""

import re
from collections.abc import Iterator

import pytest

from burstwatch.bucket import level_after
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.history.background import make_background
from burstwatch.history.observations import Resource, observe
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.kinds.base import Kind
from burstwatch.messages.brief import Brief, make_brief
from tests.unit.every_bucket import START, buckets

EVERY = list(buckets())
LONGEST_S = 3 * 3_600.0


def briefs(
    kind: Kind, resource: Resource, share: float, *, breathes: bool = False
) -> Iterator[Brief]:
    """What is said before a load empties the bucket, and at four times after that. It may hold some credits for a moment."""
    bucket, period_s = resource.bucket, resource.reporting.published_every_s
    assert bucket is not None
    load = bucket.refill + share * (resource.limit.rate - bucket.refill)
    lasts_s = min(LONGEST_S, 0.9 * bucket.capacity / (load - bucket.refill))
    level = (load - bucket.refill) * lasts_s
    levels, demand = [], []
    for number in range(round((lasts_s + 3_600.0) / period_s)):
        at = START + number * period_s
        served = load if level > 0 else bucket.refill
        level = level_after(bucket, level=level, demand=served, seconds=period_s)
        is_breath = breathes and round((at - START - lasts_s) / period_s) in {1, 4}
        ratio = 0.02 if is_breath else level / bucket.capacity
        levels.append(LevelPoint(at, period_s, ratio, resource.reporting.statistic))
        demand.append(DemandPoint(at, period_s, served, served, served))
    empty_s = START + lasts_s
    for now in (
        empty_s - min(600.0, lasts_s / 3),
        *(empty_s + back * period_s for back in (1, 2, 4, 8)),
    ):
        seen = [point for point in levels if point.end_s <= now]
        spent = [point for point in demand if point.end_s <= now]
        observation = observe(resource, now, seen, spent)
        assessment = assess(observation, Config())
        background = make_background(observation.history, {}, now)
        yield make_brief(resource, assessment, kind, background)


def asked_for(brief: Brief) -> list[tuple[str, list[float]]]:
    """The changes that are advised, each with its numbers apart."""
    changes = [fix for fix in brief.fixes if not fix.is_less_load]
    number = re.compile(r"\d[\d,.]*\d|\d")
    return [
        (number.sub("N", fix.action), [float(text.replace(",", "")) for text in number.findall(fix.action)])
        for fix in changes
    ]  # fmt: skip


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
@pytest.mark.parametrize(
    ("kind", "resource"), EVERY, ids=[f"{r.kind}-{r.level_metric}" for _, r in EVERY]
)
def test_the_advice_stays_the_same_when_a_bucket_runs_out(
    kind: Kind, resource: Resource, share: float
) -> None:
    before, *after = (asked_for(brief) for brief in briefs(kind, resource, share))
    for told in after:
        assert [words for words, _ in told] == [words for words, _ in before]
        for (_, now), (_, then) in zip(told, before, strict=True):
            assert now == pytest.approx(then, rel=0.2)


@pytest.mark.parametrize(
    ("kind", "resource"), EVERY, ids=[f"{r.kind}-{r.level_metric}" for _, r in EVERY]
)
def test_an_empty_bucket_that_holds_some_credits_for_a_moment_is_advised_as_before(
    kind: Kind, resource: Resource
) -> None:
    """What is served then is no more what was asked for."""
    before, *after = briefs(kind, resource, 0.3, breathes=True)
    for brief in after:
        if brief.has_run_out:
            assert [words for words, _ in asked_for(brief)] == [
                words for words, _ in asked_for(before)
            ]

"""Plays the whole life of one episode on the strict fake: opened, escalated, empty, recovered."""

from collections.abc import Callable
from dataclasses import replace

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from tests.aws.sweeping import EVERY_KIND
from tests.conftest import Cloud
from tests.kinds.playing import (
    examples_of,
    put_examples,
    put_levels,
    spent_at,
    sweep_kinds,
    to_the_limit,
)

#: Minutes that the bucket lasts at the limit when the load begins, and those for which it goes on.
MINUTES, LONGER = 60, 4
#: A sweep every so many minutes while it drains.
EVERY = 2


def live(
    cloud: Cloud,
    kind: Kind,
    *,
    config: Config = EVERY_KIND,
    before: Callable[[str], object] = str,
) -> Resource:
    """Drain the first example that can run out at its limit, and let it recover. Returns it.

    ``before`` is called with its id when all is still well.
    """
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    # While it is being changed, a volume has other limits than its type and size say.
    cloud.aws.regions["us-east-1"].modifications.clear()
    found = look(
        cloud.unit, [kind], cloud.clients, config, Memory(), now=cloud.clock.now, deadline=cloud.never()
    )  # fmt: skip
    buckets = [one for one, _ in found.buckets if one.can_spend]
    victim = buckets[0]
    same = [one for one in buckets if one.id == victim.id]
    factor = min(to_the_limit(kind, one, examples) for one in same)
    began = cloud.clock.now
    for one in buckets:
        full = _full(one, kind, factor) if one in same else 1.0
        put_levels(cloud, kind, one, [full] * 60, until=began)
    memory = Memory()
    before(victim.id)
    for minute in range(1, MINUTES + LONGER + 1):
        cloud.clock.now = began + 60.0 * minute
        for one in same:
            left = _full(one, kind, factor) - minute * _step(one, kind, factor)
            put_levels(cloud, kind, one, [max(0.0, left)], until=cloud.clock.now)
        for metric in kind.demand_metrics:
            pairs = dict(kind.dimensions_of(victim))
            value = examples.VALUES[metric.name] * factor
            cloud.aws.put(kind.namespace, metric.name, pairs, cloud.clock.now - 60.0, value)
        if minute % EVERY == 0:
            sweep_kinds(cloud, [kind], memory, config=config)
            cloud.aws.evaluate_alarms()
    ended = cloud.clock.now
    cloud.clock.now += max(map(_rest_s, same))
    for back in range(6):
        for one in same:
            ages_s = [cloud.clock.now - ended - 60.0 * age for age in range(1 if back else 150)]
            levels = [_refilled(one, age_s) for age_s in reversed(ages_s)]
            put_levels(cloud, kind, one, levels, until=cloud.clock.now)
        sweep_kinds(cloud, [kind], memory, config=config)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60.0
    return replace(victim, unit=str(cloud.unit))


def _rest_s(resource: Resource) -> float:
    """Seconds without load until half of a bucket is back; all of one of unpublished size, of which half may be little."""
    assert resource.bucket is not None
    share = 0.5 if resource.terms.is_documented else 1.0
    return share * resource.bucket.capacity / resource.bucket.refill


def _refilled(resource: Resource, age_s: float) -> float:
    """The share of the bucket that is back after so many seconds without load."""
    assert resource.bucket is not None
    return min(1.0, resource.bucket.refill * age_s / resource.bucket.capacity)


def _step(resource: Resource, kind: Kind, factor: float) -> float:
    """The share of the bucket that a minute takes."""
    assert resource.bucket is not None
    rate = spent_at(kind, resource, examples_of(kind)).nominal * factor
    return max(0.0, rate - resource.bucket.refill) * 60.0 / resource.bucket.capacity


def _full(resource: Resource, kind: Kind, factor: float) -> float:
    """The share of the bucket when the load begins: a bucket that the load does not drain is full."""
    step = _step(resource, kind, factor)
    return min(1.0, MINUTES * step) if step else 1.0

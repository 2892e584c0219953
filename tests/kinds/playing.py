"""Plays the worked examples of kinds through a look, an alarm and a recovery on the strict fake."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from botocore.model import Shape

from burstwatch.aws.alarms.plan import MOST_NEW_ALARMS
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint
from burstwatch.kinds.base import Kind, Listing
from burstwatch.shards import shards_of
from tests.aws.sweeping import EVERY_KIND, alarms, run_sweep
from tests.conftest import NOW, Cloud
from tests.fake.modelled import Modelled, member
from tests.fake.wire import paginators, service_model


def examples_of(kind: Kind) -> ModuleType:
    return import_module(f"tests.kinds.{kind.name}")


def described(kind: Kind, examples: ModuleType) -> list[Resource]:
    things = [replace(kind.inventory.identify(item), unit="unit") for item in examples.ITEMS]
    tags = kind.inventory.tags
    if tags is not None:
        tagged = {one.id: one.tags for one in map(tags.listing.identify, examples.TAGGED)}
        things = [replace(one, tags=tagged.get(tags.arn(one.item), {})) for one in things]
    return [one for thing in things for one in kind.describe(thing, examples.FOUND, NOW)]


def item_shape(listing: Listing) -> Shape:
    """What AWS answers for one item. Raises KeyError if there is no such list."""
    output = service_model(listing.service).operation_model(listing.operation).output_shape
    assert output is not None
    return member(output, listing.items)


def check_listing(listing: Listing) -> None:
    """Raises KeyError or ValueError for what AWS does not have or does not take."""
    model = service_model(listing.service)
    if listing.operation not in model.operation_names:
        raise KeyError(listing.operation)
    item_shape(listing)
    if listing.page_size is None:
        if paginators(listing.service).get(listing.operation):
            raise ValueError(listing.page_size)  # the first page would pass for all
    elif listing.page_size == 0:
        if "limit_key" in paginators(listing.service)[listing.operation]:
            raise ValueError(listing.page_size)  # a size may be asked for
    else:
        least, most = Modelled(listing.service, listing.operation).page_sizes
        # EC2's texts do not say how large a page may be; its fake does.
        if listing.service != "ec2" and not least <= listing.page_size <= most:
            raise ValueError(listing.page_size)


def level_value(kind: Kind, resource: Resource, ratio: float) -> float:
    """The value of the level metric that means this share of the bucket: shares are linear."""
    zero, one = (kind.to_ratio(resource, value) for value in (0.0, 1.0))
    return (ratio - zero) / (one - zero)


def put_levels(
    cloud: Cloud, kind: Kind, resource: Resource, levels: list[float], *, until: float
) -> None:
    """Datapoints, one a minute, the newest of which has just ended."""
    pairs = dict(kind.dimensions_of(resource))
    for back, ratio in enumerate(reversed(levels)):
        at = until - 60.0 * (back + 1)
        value = level_value(kind, resource, ratio)
        cloud.aws.put(kind.namespace, resource.level_metric, pairs, at, value)


def put_examples(cloud: Cloud, kind: Kind, examples: ModuleType) -> None:
    """The worked examples as an account's inventory."""
    for item in examples.ITEMS:
        cloud.aws.add_item(kind.inventory.service, kind.inventory.operation, item)
        # Every kind of instances sees it, and AWS describes every type.
        name = item.get("InstanceType", item.get("DBInstanceClass", "")).removeprefix("db.")
        if name:
            cloud.aws.instance_types.setdefault(name, {"InstanceType": name, "Hypervisor": "xen"})
    if kind.inventory.tags is not None:
        listing = kind.inventory.tags.listing
        for item in examples.TAGGED:
            cloud.aws.add_item(listing.service, listing.operation, item)
    for lookup in kind.lookups:
        for item in examples.FOUND[lookup.name].values():
            if lookup.listing.operation == "ListMetrics":  # it lists what there is
                pairs = {one["Name"]: one["Value"] for one in item["Dimensions"]}
                cloud.aws.put(item["Namespace"], item["MetricName"], pairs, NOW - 600.0, 0.0)
                continue
            cloud.aws.add_item(lookup.listing.service, lookup.listing.operation, item)


def spent_at(kind: Kind, resource: Resource, examples: ModuleType) -> DemandPoint:
    """What one minute of the worked examples costs a resource."""
    totals = {
        metric.name: metric.total(examples.VALUES[metric.name], 60.0)
        for metric in kind.demand_metrics
    }
    spent = kind.spent(resource, totals, NOW, 60)
    assert spent is not None
    return spent


def to_the_limit(kind: Kind, resource: Resource, examples: ModuleType) -> float:
    """So many times the worked example is all that a resource can spend."""
    assert resource.bucket is not None
    if not resource.terms.is_sized:
        return 1.0  # nobody knows what it can spend: its balance alone is judged
    most = min(resource.bucket.burst, resource.limit.rate)
    return most / spent_at(kind, resource, examples).nominal


def sweep_kinds(
    cloud: Cloud, some: Iterable[Kind], memory: Memory, *, config: Config = EVERY_KIND
) -> Sweep:
    names = ",".join(kind.name for kind in some)
    return run_sweep(cloud, memory, config=replace(config, kinds=names, mass_from=50.0))


def drain(cloud: Cloud, kind: Kind, examples: ModuleType, victims: list[Resource]) -> None:
    """Forty minutes at the limit, five minutes before the end."""
    for victim in victims:
        bucket = victim.bucket
        assert bucket is not None
        step = (bucket.burst - bucket.refill) * 60.0 / bucket.capacity
        left = min(0.02, 5 * step)
        levels = [min(1.0, left + step * back) for back in range(40)]
        put_levels(cloud, kind, victim, levels[::-1], until=NOW)
        # A thing with several buckets reaches the limit of one of them first.
        factor = min(to_the_limit(kind, one, examples) for one in victims if one.id == victim.id)
        for metric in kind.demand_metrics:
            for back in range(1, 40):
                value = examples.VALUES[metric.name] * factor
                pairs = dict(kind.dimensions_of(victim))
                cloud.aws.put(kind.namespace, metric.name, pairs, NOW - 60.0 * back, value)


def drain_and_recover(
    cloud: Cloud, fleet: Mapping[str, tuple[Kind, ModuleType]], *, shards: int = 1
) -> None:
    """Every example that can run out is seen, alarmed and recovered, by sweeps of each shard."""
    some = [kind for kind, _ in fleet.values()]
    for kind, examples in fleet.values():
        put_examples(cloud, kind, examples)
    found = look(
        cloud.unit, some, cloud.clients, Config(), Memory(), now=NOW, deadline=cloud.never()
    )
    assert found.problems == ()
    victims = [one for one, _ in found.buckets if one.can_spend]
    assert {one.kind for one in victims} == set(fleet)
    for kind, examples in fleet.values():
        drain(cloud, kind, examples, [one for one in victims if one.kind == kind.name])
    memories = [Memory(shard=shard) for shard in shards_of(shards)]
    ids = {victim.id for victim in victims}
    # What only costs money never pages.
    costly = {victim.id for victim in victims if victim.terms.highest_verdict == "warning"}
    for _ in range((len(ids) - 1) // MOST_NEW_ALARMS):  # a sweep creates no more than that
        for memory in memories:
            sweep_kinds(cloud, some, memory)
        cloud.clock.now += 60.0
    for _ in range(2):
        swept = [sweep_kinds(cloud, some, memory) for memory in memories]
        assert all(one.completed for one in swept)
        assessed = {key: entry for one in swept for key, entry in one.snapshot.assessments.items()}
        assert {assessed[one][1].verdict for one in costly} <= {"warning"}
        assert {assessed[one][1].verdict for one in ids - costly} <= {"critical", "exhausted"}
        cloud.aws.evaluate_alarms()
        raised = {name.split("/")[-2] for name, state in alarms(cloud).items() if state == "ALARM"}
        assert raised == ids
        cloud.clock.now += 60.0
    there = cloud.aws.regions[cloud.unit.region].alarms
    assert {name.split("/")[-2] for name in there} == ids
    for victim in victims:
        (text,) = (
            one["AlarmDescription"]
            for name, one in there.items()
            if f"/{victim.id}/" in name
            and f".{'warning' if victim.id in costly else 'critical'}/" in name
        )
        same = [one for one in victims if one.id == victim.id]
        assert not victim.terms.is_sized or any(one.words.rate_unit in text for one in same)
    cloud.clock.now += 3 * 3_600.0
    for back in range(6):
        for victim in victims:
            kind = fleet[victim.kind][0]
            put_levels(cloud, kind, victim, [1.0] * (1 if back else 100), until=cloud.clock.now)
        for memory in memories:
            sweep_kinds(cloud, some, memory)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60.0
    assert alarms(cloud) == {}

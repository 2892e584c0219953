"""RDS and Aurora instances of the T classes: CPU credits.

T3 and T4g are Unlimited: a bucket at zero costs money, after a surplus of up to a day's
earnings that is free. AWS's page of metrics has none of the surplus, and accounts have it all the same:
where CloudWatch lists it, it is the level. Elsewhere that is the balance, and the first charge may come
later than the time that is stated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from burstwatch.formatting import InputError
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import DatabaseCpu, is_unlimited
from burstwatch.kinds.base import Arguments, Item, Listing, Lookup, Related, Scope, Thing

NAMESPACE, INSTANCE = "AWS/RDS", "DBInstanceIdentifier"
PUBLISHED, BALANCE_ONLY = "published", "not published"


def _of_instance(metric: Item) -> Thing:
    """A metric of one instance, by the id of that; raises KeyError for one of something else."""
    by_name = {dimension["Name"]: dimension["Value"] for dimension in metric["Dimensions"]}
    if by_name.keys() != {INSTANCE}:
        raise KeyError(INSTANCE)
    return Thing(id=by_name[INSTANCE], name="", tags={}, item=metric)


def _surplus_metrics(_scope: Scope) -> Arguments:
    return {
        "Namespace": NAMESPACE,
        "MetricName": _cpu.SURPLUS,
        "Dimensions": [{"Name": INSTANCE}],
        "RecentlyActive": "PT3H",  # the only value that AWS takes
    }


#: The instances of which CloudWatch has had the surplus in the last hours.
SURPLUS_METRICS = Listing(
    service="cloudwatch",
    operation="ListMetrics",
    items="Metrics[]",
    identify=_of_instance,
    arguments=_surplus_metrics,
    ids_per_call=1,
    page_size=0,
)


def _may_owe(item: Item) -> bool:
    """True for an instance of which it is known how much surplus it may owe."""
    instance_class = item.get("DBInstanceClass") or ""
    return _cpu.is_known(instance_class) and is_unlimited(instance_class)


def _surplus_wanted(lists: Mapping[str, Sequence[Item]]) -> set[str]:
    """The metric, if there is any instance that may owe a surplus."""
    return {_cpu.SURPLUS} if any(map(_may_owe, lists["inventory"])) else set()


class RdsInstanceCpu(DatabaseCpu):
    """The instances of RDS and Aurora."""

    name = "rds_instance_cpu"
    namespace = NAMESPACE
    engine = "postgres"
    metric = _cpu.BALANCE
    level_metrics = (metric, _cpu.SURPLUS)
    charge_metric = _cpu.CHARGED
    example = _cpu.cpu_example(
        "an instance class, such as db.t3.medium",
        defaults={"surplus": BALANCE_ONLY},
        surplus=f"{PUBLISHED} where CloudWatch has the surplus, or {BALANCE_ONLY} (default)",
    )
    lookups = (
        Lookup(
            name=PUBLISHED,
            listing=SURPLUS_METRICS,
            find_ids=_surplus_wanted,
            is_needed=True,
            concerns=lambda _lists: _may_owe,
        ),
    )
    service = "rds"
    console = _rds.CONSOLE
    spenders = _rds.QUERIES

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The credits of one instance, with whether its surplus is published."""
        for resource in super().describe(thing, related, now):
            is_surplus = resource.level_metric == _cpu.SURPLUS
            spec = {**resource.spec, "surplus": PUBLISHED} if is_surplus else resource.spec
            yield replace(resource, spec=spec)

    def listed(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """An instance, with what CloudWatch has of it."""
        surplus = spec.get("surplus", BALANCE_ONLY)
        if surplus not in {PUBLISHED, BALANCE_ONLY}:
            msg = f"must be {PUBLISHED!r} or {BALANCE_ONLY!r}, got {surplus!r}"
            raise InputError(msg, name="surplus")
        item, _ = super().listed(spec)
        published: dict[str, Item] = {item[INSTANCE]: {}} if surplus == PUBLISHED else {}
        return item, {PUBLISHED: published}

    def metric_of(self, thing: Thing, related: Related) -> str:
        """The surplus of an Unlimited instance where it is published, else the balance."""
        is_published = _may_owe(thing.item) and thing.id in related.get(PUBLISHED, {})
        return _cpu.SURPLUS if is_published else _cpu.BALANCE

    def is_own(self, engine: str) -> bool:
        """True for what RDS itself runs."""
        return not engine.startswith((_rds.DOCDB, _rds.NEPTUNE))


KIND = RdsInstanceCpu()

"""CPU credits of database instances: what RDS, DocumentDB and Neptune share.

Their T3 and T4g instances are always Unlimited: at zero they do not slow down, AWS charges for
the surplus. So they only warn. RDS still has T2, which slows down.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from burstwatch.fixes.fix import STOPS, Afterwards, Command, Fix
from burstwatch.fixes.prices import price
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds.base import Item, RatesByMetric, Related, Thing, waiting_changes
from burstwatch.shards import thing_id
from burstwatch.sources import Figure

#: The only family of databases in Standard mode, and one that is never in it.
STANDARD_FAMILY, UNLIMITED_FAMILY = "t2", "t3"
SURPLUS = "rds_surplus"
#: The engines that have a price, as their names begin.
PRICED_ENGINES = ("aurora", "sqlserver", "docdb", "neptune", "mysql", "mariadb", "postgres")
#: The storage of Aurora I/O-Optimized, whose surplus costs more.
IO_OPTIMIZED = "aurora-iopt1"


def _surplus_price(thing: Thing) -> Figure | None:
    """The price of a vCPU-hour of surplus, by the engine and its storage."""
    engine, storage = thing.item["Engine"], thing.item.get("StorageType", "")
    region = thing.unit.rpartition("/")[2]
    name = next((prefix for prefix in PRICED_ENGINES if engine.startswith(prefix)), engine)
    return price(SURPLUS, region, storage if storage == IO_OPTIMIZED else name)


def _reclassed(
    service: str, instance: str, region: str, instance_class: str
) -> tuple[Command, ...]:
    """The command that gives an instance another class."""
    return (
        Command(
            service=service,
            operation="ModifyDBInstance",
            region=region,
            parameters={
                "DBInstanceIdentifier": instance,
                "DBInstanceClass": instance_class,
                "ApplyImmediately": True,
            },
        ),
    )


def _unlimited(spec: _cpu.CpuSpec, commands_for: Callable[[str], tuple[Command, ...]]) -> Fix:
    """The class of the same size whose family is always Unlimited; AWS offers no new T2."""
    name = f"db.{UNLIMITED_FAMILY}.{spec.size}"
    return Fix(
        action=f"change to {name}",
        effect="is in Unlimited mode: nothing is throttled, and AWS bills the extra vCPU-hours",
        takes=STOPS,
        commands=commands_for(name),
        afterwards=Afterwards(bucket=None),
    )


def is_unlimited(instance_class: str) -> bool:
    """True if instances of a class never slow down without credits: all but those of T2."""
    return not instance_class.startswith(f"db.{STANDARD_FAMILY}.")


def _instance(item: Item) -> _cpu.Instance:
    return _cpu.Instance(
        type=item["DBInstanceClass"],
        since_s=_rds.created_s(item),
        in_use=_rds.is_database_running(item),
    )


class DatabaseCpu(_cpu.BurstableCpu):
    """The instances of some engines, of which ``engine`` is one.

    ``metric`` is that of the level, ``service`` the one that changes an instance.
    """

    engine: ClassVar[str]
    metric: ClassVar[str]
    service: ClassVar[str]
    dimensions = ("DBInstanceIdentifier",)
    part = "cpu"
    inventory = _rds.DATABASES
    tagging = _rds.TAGGING
    example = _cpu.cpu_example("an instance class, such as db.t3.medium")

    def is_own(self, engine: str) -> bool:
        """True for an engine of this kind."""
        return engine.startswith(self.engine)

    def metric_of(self, thing: Thing, related: Related) -> str:
        """The metric of the level of one instance."""
        return self.metric

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The credits of one instance; none for another engine, and for a class without credits."""
        instance = _instance(thing.item)
        engine = thing.item["Engine"]
        if not self.is_own(engine) or not _cpu.is_burstable(instance.type):
            return
        metric = self.metric_of(thing, related)
        resource = self.credits_of(
            thing,
            instance,
            metric=metric,
            is_unlimited=is_unlimited(instance.type),
            starts_empty=metric == _cpu.BALANCE,
            terms=_cpu.Terms(usd_vcpu_h=_surplus_price(thing)),
        )
        yield replace(
            resource,
            changes=replace(
                resource.changes,
                under_way=_rds.unsettled_status(thing.item, _rds.CHANGING, now),
                window=thing.item.get("PreferredMaintenanceWindow", ""),
                waiting=waiting_changes(thing.item),
                place=_rds.place_of_database(thing.item, thing.unit),
            ),
        )

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """A class in Unlimited mode for one that slows down; the price of another class is not known here."""
        detail: _cpu.Detail = resource.detail
        commands_for = partial(_reclassed, self.service, thing_id(resource.id), resource.region)
        if detail.spec.family == STANDARD_FAMILY and demand > detail.spec.baseline:
            yield _unlimited(detail.spec, commands_for)

    def listed(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """An instance of the engine."""
        item = {"DBInstanceIdentifier": "example", "DBInstanceClass": spec["type"]}
        return {**item, "Engine": self.engine}, {}

"""CPU credits of database instances: what RDS, DocumentDB and Neptune share.

Their T3 and T4g instances are always Unlimited: at zero they do not slow down, AWS charges for
the surplus. So they only warn. RDS still has T2, which slows down.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from burstwatch.fixes import Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds.base import Item, Kind, RatesByMetric, Related, Thing
from burstwatch.sources import Figure

#: The only family of databases in Standard mode.
STANDARD_FAMILY = "t2"


def database_kind(
    *,
    name: str,
    namespace: str,
    metric: str,
    engine: str,
    is_own: Callable[[str], bool],
    console: str,
    largest: str,
    usd_vcpu_h: Figure | None = None,
) -> Kind:
    """The kind of the instances of some engines, of which ``engine`` is one.

    ``largest`` is the largest T size that the service has, ``metric`` the one of its level.
    """

    def describe(thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        instance = _instance(thing.item)
        if not is_own(thing.item["Engine"]) or not _cpu.is_burstable(instance.type):
            return
        is_unlimited = not instance.type.startswith(f"db.{STANDARD_FAMILY}.")
        yield _cpu.resource_of(
            thing,
            instance,
            kind=kind,
            metric=metric,
            is_unlimited=is_unlimited,
            starts_empty=metric == _cpu.BALANCE,
            usd_vcpu_h=usd_vcpu_h,
        )

    def fixes(resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """A larger instance; the price of another class is not known here."""
        detail: _cpu.Detail = resource.detail
        yield _cpu.larger_fix(
            detail.spec, demand, word="an instance class", prefix="db.", largest=largest
        )

    kind = Kind(
        name=name,
        namespace=namespace,
        dimensions=("DBInstanceIdentifier",),
        part="cpu",
        inventory=_rds.DATABASES,
        tagging=_rds.TAGGING,
        level_metrics=(metric,),
        demand_metrics=_cpu.DEMAND_METRICS,
        describe=describe,
        to_ratio=_cpu.to_ratio,
        spent=_cpu.spent,
        console=console,
        limits=_cpu.LIMITS,
        cause=_cpu.cause,
        at_zero=_cpu.at_zero,
        fixes=fixes,
        example=_cpu.cpu_example("an instance class, such as db.t3.medium", partial(_item, engine)),
    )
    return kind


def _item(engine: str, spec: Mapping[str, str]) -> tuple[Item, Related]:
    listed = {"DBInstanceIdentifier": "example", "DBInstanceClass": spec["type"]}
    return {**listed, "Engine": engine}, {}


def _instance(item: Item) -> _cpu.Instance:
    return _cpu.Instance(
        type=item["DBInstanceClass"],
        since_s=_rds.created_s(item),
        in_use=_rds.is_database_running(item),
    )

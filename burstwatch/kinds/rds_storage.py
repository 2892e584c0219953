"""RDS storage of the type gp2: I/O credits of the volumes below a database.

RDS stripes larger storage over four volumes. Each has a bucket of its own, and AWS does not
say whether ``BurstBalance`` is the mean or the minimum of the four. A mean can hide an empty
one, so the worst case of a striped storage is an estimate.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.volumes import VolumeSpec, charge, volume_spec
from burstwatch.fixes import Fix
from burstwatch.history.observations import Limit, Resource
from burstwatch.history.points import NO_LIMIT, DemandPoint
from burstwatch.kinds._disk import IOPS, LIMITS, cause_of, rate_facts, totals_of
from burstwatch.kinds._rds import (
    CONSOLE,
    DATABASES,
    TAGGING,
    TRAFFIC,
    TRAFFIC_METRICS,
    created_s,
    is_database_running,
)
from burstwatch.kinds._spent import binding_of, demand_of
from burstwatch.kinds.base import (
    Example,
    Item,
    Kind,
    RatesByMetric,
    Related,
    Thing,
    Totals,
    float_in,
)
from burstwatch.sources import Figure, Source

STORAGE_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html",
    read="2026-04",
    note="four volumes from 400 GiB, for Oracle from 200 GiB, for SQL Server never",
)
STRIPES = Figure(value=4, unit="volumes", source=STORAGE_PAGE)
#: The storage in GiB from which an engine stripes, by how its name begins.
STRIPED_FROM: dict[str, Figure | None] = {
    "mysql": Figure(value=400, unit="GiB", source=STORAGE_PAGE),
    "mariadb": Figure(value=400, unit="GiB", source=STORAGE_PAGE),
    "postgres": Figure(value=400, unit="GiB", source=STORAGE_PAGE),
    "db2-": Figure(value=400, unit="GiB", source=STORAGE_PAGE),
    "oracle-": Figure(value=200, unit="GiB", source=STORAGE_PAGE),
    "custom-oracle-": Figure(value=200, unit="GiB", source=STORAGE_PAGE),
    "sqlserver-": None,
    "custom-sqlserver-": None,
}
#: These answer DescribeDBInstances too. Their storage has no volume of its own.
OTHER_STORAGE = ("aurora", "neptune", "docdb")
CHANGING = frozenset({"modifying", "storage-optimization", "storage-config-upgrade"})


def describe(thing: Thing, related: Related, now: float) -> Iterator[Resource]:
    """The storage of one database instance; none for engines with a storage of another kind.

    Raises:
        ValueError: for an engine whose striping is not known here.
    """
    item = thing.item
    engine, status = item["Engine"], item.get("DBInstanceStatus", "")
    if engine.startswith(OTHER_STORAGE):
        return
    storage_type, size_gib = item["StorageType"], item["AllocatedStorage"]
    resource = Resource(
        kind=KIND.name,
        id=thing.id,
        level_metric=KIND.level_metrics[0],
        name=thing.name,
        tags=thing.tags,
        unit=thing.unit,
        bucket=None,
        no_bucket_reason=f"{storage_type} has no burst credits",
        limit=Limit(rate=0.0, binding=NO_LIMIT),
        # One sample a minute, and no page says of which instant in it.
        statistic="Average",
        in_use=is_database_running(item),
        reports_when_idle=True,
        rate_unit=IOPS,
        facts={
            "type": f"{engine} {storage_type} {size_gib:g} GiB",
            "volume_type": storage_type,
            "size_gib": f"{size_gib:g}",
        },
        spec={"type": storage_type, "size_gib": f"{size_gib:g}", "engine": engine},
        caveats=("its storage is being changed",) if status in CHANGING else (),
        history_from_s=created_s(item),
    )
    if storage_type != "gp2":  # their sizes have other limits on RDS than on EBS
        yield resource
        return
    stripes = _stripes(engine, size_gib)
    try:
        volume = volume_spec(storage_type, size_gib / stripes)
    except ValueError as error:
        msg = f"storage of {size_gib:g} GiB has {stripes} volumes of {size_gib / stripes:g} GiB each: {error}"
        raise ValueError(msg) from None
    burst = stripes * volume.burst
    yield replace(
        resource,
        bucket=None if volume.bucket is None else _striped(volume.bucket, stripes),
        no_bucket_reason=volume.no_bucket_reason,
        is_documented=stripes == 1,
        limit=Limit(rate=burst, binding="volume_iops"),
        facts={**resource.facts, **rate_facts(stripes * volume.baseline, burst)},
        detail=volume,
    )


def _stripes(engine: str, size_gib: float) -> int:
    for prefix, striped_from in STRIPED_FROM.items():
        if engine.startswith(prefix):
            is_striped = striped_from is not None and size_gib >= striped_from.value
            return int(STRIPES.value) if is_striped else 1
    msg = f"engine {engine!r} is unknown, allowed are {', '.join(STRIPED_FROM)}"
    raise ValueError(msg)


def _striped(bucket: Bucket, stripes: int) -> Bucket:
    return Bucket(
        capacity=stripes * bucket.capacity,
        refill=stripes * bucket.refill,
        burst=stripes * bucket.burst,
    )


def spent(
    resource: Resource, totals: Totals, start_s: float, period_s: float
) -> DemandPoint | None:
    """Credits per second of one period's operations and bytes."""
    volume: VolumeSpec | None = resource.detail
    if volume is None or not totals.keys() >= set(TRAFFIC.metrics):
        return None
    ops = totals[TRAFFIC.read_ops] + totals[TRAFFIC.write_ops]
    mib = (totals[TRAFFIC.read_bytes] + totals[TRAFFIC.write_bytes]) / MIB
    cost = charge(volume, ops=ops, mib=mib)
    return demand_of(cost, start_s, period_s, binding_of(resource, ops / period_s))


def fixes(resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
    """Storage without credits; the price of RDS storage is not known here."""
    yield Fix(
        action="change to gp3 storage",
        effect="uses no credits",
        takes="takes minutes to hours",
    )


def totals(resource: Resource, load: Mapping[str, float]) -> Totals:
    """The amounts of one second of a load, as far as the volumes' throughput lets it through."""
    demand = totals_of(TRAFFIC)(resource, load)
    volume: VolumeSpec | None = resource.detail
    mib = demand[TRAFFIC.read_bytes] / MIB
    if volume is None or not mib:
        return demand
    stripes = resource.limit.rate / volume.burst
    share = min(1.0, stripes * volume.limit_mib_s / mib)
    return {metric: amount * share for metric, amount in demand.items()}


def _item(spec: Mapping[str, str]) -> tuple[Item, Related]:
    listed = {
        "DBInstanceIdentifier": "example",
        "Engine": spec.get("engine", "postgres"),
        "StorageType": spec["type"],
        "AllocatedStorage": float_in(spec, "size_gib"),
    }
    return listed, {}


KIND = Kind(
    name="rds_storage",
    namespace="AWS/RDS",
    dimensions=("DBInstanceIdentifier",),
    inventory=DATABASES,
    tagging=TAGGING,
    level_metrics=("BurstBalance",),
    demand_metrics=TRAFFIC_METRICS,
    describe=describe,
    spent=spent,
    console=CONSOLE,
    limits=LIMITS,
    cause=cause_of(TRAFFIC),
    fixes=fixes,
    example=Example(
        spec={
            "type": "gp2",
            "size_gib": "the allocated storage",
            "engine": "postgres (default), mysql, oracle-ee, ...",
        },
        load={
            "iops": "operations per second",
            "mib_s": "MiB per second",
            "io_kib": "KiB per operation (default 16)",
        },
        item=_item,
        totals=totals,
        unit="io",
    ),
)

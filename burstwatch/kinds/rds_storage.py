"""RDS storage of the type gp2: I/O credits of the volumes below a database.

RDS stripes larger storage over four volumes. Each has a bucket of its own, and AWS does not
say whether ``BurstBalance`` is the mean or the minimum of the four. A mean can hide an empty
one, so the worst case of a striped storage is an estimate.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB, io_load
from burstwatch.ebs.volumes import VolumeSpec, charge, volume_spec
from burstwatch.fixes.fix import Afterwards, Command, Fix
from burstwatch.fixes.prices import price
from burstwatch.formatting import InputError, number
from burstwatch.history.observations import BucketTerms, Changes, Limit, Reporting, Resource, Words
from burstwatch.history.points import NO_LIMIT, DemandPoint
from burstwatch.kinds import _rds
from burstwatch.kinds._disk import IOPS, LIMITS, Disk, rate_facts
from burstwatch.kinds._rds import (
    CONSOLE,
    DATABASES,
    TAGGING,
    TRAFFIC,
    TRAFFIC_METRICS,
    created_s,
    is_database_running,
    storage_caveats,
)
from burstwatch.kinds._spent import binding_of, demand_of
from burstwatch.kinds.base import (
    Example,
    Item,
    RatesByMetric,
    Related,
    Thing,
    Totals,
    float_in,
    terms_without,
    waiting_changes,
)
from burstwatch.shards import thing_id
from burstwatch.sources import Figure, Source

STORAGE_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html",
    read="2026-04",
    note="four volumes from 400 GiB, for Oracle from 200 GiB, for SQL Server never",
)
#: Storage with credits, and those without.
GP2 = "gp2"
WITHOUT = frozenset({"gp3", "io1", "io2", "standard"})
STRIPES = Figure(value=4, unit="volumes", source=STORAGE_PAGE)
#: Of a database that is described by hand without its engine.
DEFAULT_ENGINE = "postgres"
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
STORAGE_CHANGING = frozenset({"modifying", "storage-optimization", "storage-config-upgrade"})

#: A request for more storage is rounded up to so much of the present size, where it names less.
LEAST_GROWTH = Figure(
    value=1.1,
    unit="",
    source=Source(
        url="https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html",
        read="2026-11",
    ),
)
#: What RDS may grow to by itself must be so much of the present size, or more, else it refuses; and from the second on it
#: sends no notice that the size comes near.
AUTOSCALING_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.Autoscaling.html",
    read="2026-11",
)
LEAST_MOST = Figure(value=1.1, unit="", source=AUTOSCALING_PAGE)
QUIET_MOST = Figure(value=1.26, unit="", source=AUTOSCALING_PAGE)
PRICES = "rds_storage"
#: How the names of RDS Custom's engines begin.
CUSTOM = "custom-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gp3:
    """The IOPS and MiB/s that gp3 storage of RDS has without being paid for."""

    iops: Figure
    mib_s: Figure


#: Of one volume, and of storage that RDS stripes over four.
SINGLE = Gp3(
    iops=Figure(value=3_000, unit="IOPS", source=STORAGE_PAGE),
    mib_s=Figure(value=125, unit="MiB/s", source=STORAGE_PAGE),
)
STRIPED = Gp3(
    iops=Figure(value=12_000, unit="IOPS", source=STORAGE_PAGE),
    mib_s=Figure(value=500, unit="MiB/s", source=STORAGE_PAGE),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Storage:
    """The gp2 storage of one database: one of its volumes, of how many, and what a change of it must know.

    ``most_gib`` is the size to which RDS grows it by itself, None where it does not.
    """

    volume: VolumeSpec
    stripes: int
    engine: str
    size_gib: float
    is_multi_az: bool
    most_gib: float | None = None

    @property
    def mib_s(self) -> float:
        """The most MiB/s of all its volumes, with credits left."""
        return self.stripes * self.volume.limit_mib_s


def storage_volumes(item: Item) -> list[VolumeSpec]:
    """The volumes below a database, by what they can reach together; none where that is not known."""
    storage_type, size_gib = item.get("StorageType"), item.get("AllocatedStorage", 0)
    try:
        if storage_type == "gp2":
            stripes = _stripes(item["Engine"], size_gib)
            return [volume_spec("gp2", size_gib / stripes)] * stripes
        if storage_type == "gp3" and "Iops" in item and "StorageThroughput" in item:
            rates = {"iops": item["Iops"], "mib_s": item["StorageThroughput"]}
            return [volume_spec("gp3", size_gib, **rates)]
    except ValueError:
        return []
    return []


def _with_bucket(resource: Resource, item: Item) -> Resource:
    """Give gp2 storage the bucket of its volumes; raises ValueError for a size that AWS does not make."""
    engine, size_gib = item["Engine"], item["AllocatedStorage"]
    stripes = _stripes(engine, size_gib)
    try:
        volume = volume_spec("gp2", size_gib / stripes)
    except ValueError as error:
        msg = f"storage of {size_gib:g} GiB has {stripes} volumes of {size_gib / stripes:g} GiB each: {error}"
        raise ValueError(msg) from None
    burst = stripes * volume.burst
    return replace(
        resource,
        bucket=None if volume.bucket is None else _striped(volume.bucket, stripes),
        terms=replace(
            resource.terms, no_bucket_reason=volume.no_bucket_reason, is_documented=stripes == 1
        ),
        limit=Limit(rate=burst, binding="volume_iops"),
        words=replace(
            resource.words,
            facts={**resource.words.facts, **rate_facts(stripes * volume.baseline, burst)},
        ),
        detail=Storage(
            volume=volume,
            stripes=stripes,
            engine=engine,
            size_gib=size_gib,
            is_multi_az=item.get("MultiAZ", False),
            most_gib=item.get("MaxAllocatedStorage"),
        ),
    )


def _stripes(engine: str, size_gib: float) -> int:
    """The number of volumes over which RDS stripes storage of a size."""
    threshold = _striped_from(engine)
    is_striped = threshold is not None and size_gib >= threshold.value
    return int(STRIPES.value) if is_striped else 1


def _striped_from(engine: str) -> Figure | None:
    """The storage from which an engine stripes; None for one that never does.

    Raises:
        ValueError: for an engine of which that is not known here.
    """
    for prefix, threshold in STRIPED_FROM.items():
        if engine.startswith(prefix):
            return threshold
    msg = f"{engine!r} is unknown; allowed: {', '.join(STRIPED_FROM)}"
    raise InputError(msg, name="engine")


def _striped(bucket: Bucket, stripes: int) -> Bucket:
    return Bucket(
        capacity=stripes * bucket.capacity,
        refill=stripes * bucket.refill,
        burst=stripes * bucket.burst,
    )


def _mib_s_of(rates: RatesByMetric) -> float:
    """MiB a second of reads and writes together; 0 where they are not known."""
    load = io_load(TRAFFIC, rates)
    return load.mib_s if load else 0.0


def _gp3_fix(
    resource: Resource,
    gp3: Gp3,
    mib_s_needed: float,
    *,
    is_chosen: bool,
    grown_gib: int | None = None,
) -> Fix:
    """The change to gp3 of some size. ``is_chosen`` where its rates may be chosen, and so must be named."""
    storage: Storage = resource.detail
    size_gib = grown_gib or math.ceil(storage.size_gib)
    iops, mib_s = int(gp3.iops.value), int(gp3.mib_s.value)
    parameters: dict[str, Any] = {"DBInstanceIdentifier": thing_id(resource.id)}
    parameters["StorageType"] = "gp3"
    if is_chosen:
        parameters |= {"AllocatedStorage": size_gib, "Iops": iops}
    # https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html (2026-11): RDS Custom
    # takes no StorageThroughput.
    if is_chosen and not storage.engine.startswith(CUSTOM):
        mib_s = max(mib_s, math.ceil(storage.mib_s))
        parameters["StorageThroughput"] = mib_s
    most = ""
    if storage.most_gib is not None and storage.most_gib < size_gib * LEAST_MOST.value:
        most_gib = math.ceil(size_gib * QUIET_MOST.value)
        parameters["MaxAllocatedStorage"] = most_gib
        most = f"; it may then grow by itself to {number(most_gib)} GiB instead of {number(storage.most_gib)}"
    parameters["ApplyImmediately"] = True
    size = f" of {number(size_gib)} GiB" if grown_gib else ""
    effect = "uses no credits"
    if mib_s < storage.mib_s:
        needed = f" (the load has {number(mib_s_needed)})" if mib_s_needed else ""
        effect += f", and serves {number(mib_s)} MiB/s at the most instead of {number(storage.mib_s)}{needed}"
    if not is_chosen:
        effect += "; gp3 of this size has these rates, and no others can be chosen"
    if grown_gib:
        effect = f"{effect}{most}"
    return Fix(
        action=f"change to gp3 storage{size} with {number(iops)} IOPS and {number(mib_s)} MiB/s",
        effect=effect,
        takes="takes minutes to hours",
        is_for_good=grown_gib is not None,
        # "During the migration, the DB instance is available for use, but might experience performance degradation":
        # https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBInstance.html (2026-11)
        has_downtime=False,
        usd_month=_more_usd(resource, size_gib, mib_s - gp3.mib_s.value),
        afterwards=Afterwards(bucket=None, rate=gp3.iops.value),
        commands=(
            Command(
                service="rds",
                operation="ModifyDBInstance",
                region=resource.region,
                parameters=parameters,
            ),
        ),
    )


def _more_usd(resource: Resource, size_gib: float, paid_mib_s: float) -> float | None:
    """The price of gp3 of a size over that of today's gp2, in USD a month; None where it is not known."""
    storage: Storage = resource.detail
    gp2, gp3, mib_s = (price(PRICES, resource.region, name) for name in ("gp2", "gp3", "gp3_mib_s"))
    if gp2 is None or gp3 is None or mib_s is None:
        return None
    usd = gp3.value * size_gib + mib_s.value * paid_mib_s - gp2.value * storage.size_gib
    return usd * (2 if storage.is_multi_az else 1)


class RdsStorage(Disk):
    """The storage of RDS databases; of the type gp2 it has credits."""

    traffic = TRAFFIC

    name = "rds_storage"
    namespace = "AWS/RDS"
    dimensions = ("DBInstanceIdentifier",)
    inventory = DATABASES
    tagging = TAGGING
    level_metrics = ("BurstBalance",)
    demand_metrics = TRAFFIC_METRICS
    console = CONSOLE
    limits = LIMITS
    spenders = _rds.QUERIES
    example = Example(
        spec={
            "type": "gp2",
            "size_gib": "the allocated storage",
            "engine": f"{DEFAULT_ENGINE} (default), mysql, oracle-ee, ...",
        },
        load={
            "iops": "operations per second",
            "mib_s": "MiB per second",
            "io_kib": "KiB per operation (default 16)",
        },
        unit="io",
        defaults={"engine": DEFAULT_ENGINE},
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
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
            kind=self.name,
            id=thing.id,
            level_metric=self.level_metrics[0],
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=None,
            terms=BucketTerms()
            if storage_type == GP2
            else terms_without("storage", storage_type, known=WITHOUT),
            limit=Limit(rate=0.0, binding=NO_LIMIT),
            reporting=Reporting(
                # One sample a minute, and no page says of which instant in it.
                statistic="Average",
                in_use=is_database_running(item),
                reports_when_idle=True,
                history_from_s=created_s(item),
            ),
            words=Words(
                rate_unit=IOPS,
                facts={
                    "type": f"{engine} {storage_type} {size_gib:g} GiB",
                    "volume_type": storage_type,
                    "size_gib": f"{size_gib:g}",
                },
                caveats=(
                    *(("its storage is being changed",) if status in STORAGE_CHANGING else ()),
                    *storage_caveats(item),
                ),
            ),
            changes=Changes(
                under_way=_rds.unsettled_status(item, _rds.CHANGING | {_rds.OPTIMIZING}, now),
                place=_rds.place_of_database(item, thing.unit),
                window=item.get("PreferredMaintenanceWindow", ""),
                waiting=waiting_changes(item),
            ),
            spec={"type": storage_type, "size_gib": f"{size_gib:g}", "engine": engine},
        )
        # The sizes of other types have other limits on RDS than on EBS.
        yield _with_bucket(resource, item) if storage_type == GP2 else resource

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """Credits per second of one period's operations and bytes."""
        storage: Storage | None = resource.detail
        if storage is None or not totals.keys() >= set(TRAFFIC.metrics):
            return None
        ops = totals[TRAFFIC.read_ops] + totals[TRAFFIC.write_ops]
        mib = (totals[TRAFFIC.read_bytes] + totals[TRAFFIC.write_bytes]) / MIB
        cost = charge(storage.volume, ops=ops, mib=mib)
        return demand_of(cost, start_s, period_s, binding_of(resource, ops / period_s))

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """Storage of the type gp3, which has no credits: as it is, and grown to the size from which RDS stripes it.

        Below that size gp3 has fixed rates, and AWS refuses a request that names them. From it on the request must
        name the IOPS and the size.
        """
        storage: Storage = resource.detail
        threshold, mib_s_needed = _striped_from(storage.engine), _mib_s_of(rates)
        if threshold is None:
            yield _gp3_fix(resource, SINGLE, mib_s_needed, is_chosen=True)
        elif storage.size_gib >= threshold.value:
            yield _gp3_fix(resource, STRIPED, mib_s_needed, is_chosen=True)
        else:
            if mib_s_needed <= SINGLE.mib_s.value:  # that cannot be raised there
                yield _gp3_fix(resource, SINGLE, mib_s_needed, is_chosen=False)
            grown_gib = max(threshold.value, storage.size_gib * LEAST_GROWTH.value)
            yield _gp3_fix(
                resource, STRIPED, mib_s_needed, is_chosen=True, grown_gib=math.ceil(grown_gib)
            )

    def usd_month(self, resource: Resource) -> float | None:
        """The price of gp2 storage."""
        storage: Storage | None = resource.detail
        gp2 = price(PRICES, resource.region, "gp2")
        if storage is None or gp2 is None:
            return None
        return gp2.value * storage.size_gib * (2 if storage.is_multi_az else 1)

    def totals(self, resource: Resource, load: Mapping[str, float]) -> Totals:
        """The amounts of one second of a load, as far as the volumes' throughput lets it through."""
        demand = super().totals(resource, load)
        storage: Storage | None = resource.detail
        mib = demand[TRAFFIC.read_bytes] / MIB
        if storage is None or not mib:
            return demand
        share = min(1.0, storage.mib_s / mib)
        return {metric: amount * share for metric, amount in demand.items()}

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """A database with storage of the stated size."""
        listed = {
            "DBInstanceIdentifier": "example",
            "Engine": spec.get("engine", DEFAULT_ENGINE),
            "StorageType": spec["type"],
            "AllocatedStorage": float_in(spec, "size_gib"),
        }
        return listed, {}


KIND = RdsStorage()

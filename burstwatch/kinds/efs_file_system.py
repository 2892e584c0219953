"""EFS file systems in bursting mode: burst credits in bytes, here in MiB.

AWS meters what is stored about once an hour, and earns and bursts by that. Metered I/O is the
charge itself. Filling can take months or years: a small file system earns next to nothing.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from burstwatch.bucket import DAY_S, HOUR_S, Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.volume_types import GIB_PER_TIB
from burstwatch.fixes.fix import Afterwards, Command, Fix
from burstwatch.fixes.prices import HOURS_A_MONTH, price
from burstwatch.formatting import number
from burstwatch.history.observations import BucketTerms, Changes, Limit, Reporting, Resource, Words
from burstwatch.history.points import DemandPoint
from burstwatch.kinds._disk import MIB_S, rate_facts
from burstwatch.kinds._names import name_from_tags
from burstwatch.kinds._spent import demand_point
from burstwatch.kinds.base import (
    AtZero,
    Cause,
    DemandMetric,
    Example,
    Item,
    Kind,
    LimitCheck,
    Listing,
    PastLoad,
    RatesByMetric,
    Related,
    Tagging,
    Thing,
    Totals,
    float_in,
    is_by_hand,
    terms_without,
)
from burstwatch.sources import Figure, Source

PAGE = Source(
    url="https://docs.aws.amazon.com/efs/latest/ug/performance.html",
    read="2026-04",
    note="the size of the bucket is from the page of 2021 and from live metrics",
)
FLOOR_PAGE = Source(
    url="https://aws.amazon.com/about-aws/whats-new/2020/07/amazon-elastic-file-system-increases-file-system-minimum-throughput/",
    read="2020-06",
    note="what is served at the least; that it is not earned is our reading",
)
EARNED = Figure(value=50 / 1024, unit="MiB/s per GiB", source=PAGE)
BURST = Figure(value=100, unit="MiB/s per TiB, and for less than a TiB", source=PAGE)
CAPACITY = Figure(value=2.1 * 1024 * 1024, unit="MiB per TiB, and for less than a TiB", source=PAGE)
SERVED_AT_LEAST = Figure(value=1, unit="MiB/s", source=FLOOR_PAGE)
#: The most that a file system serves, with credits or not: one of a region, and one of a single zone. AWS gives a
#: range by region, of which this is the upper end.
MOST = Figure(value=3 * 1024, unit="MiB/s metered", source=PAGE)
MOST_IN_ONE_ZONE = Figure(value=1024, unit="MiB/s metered", source=PAGE)
PROVISIONED_MOST = Figure(
    value=3_414,
    unit="MiB/s",
    source=Source(
        url="https://docs.aws.amazon.com/efs/latest/ug/API_UpdateFileSystem.html",
        read="2026-11",
        note="the upper limit depends on the region",
    ),
)
PRICES = "efs"
#: Metadata of an empty file system. A size of 0 would earn nothing at all.
SMALLEST_BYTES = 6 * 1024
#: A size is rounded down to steps of this share. A bucket that changes each hour would have no history.
SIZE_STEP = 0.05
GIB = 1024**3
MONTH_S = HOURS_A_MONTH * HOUR_S
ELASTIC = "EFS elastic"
#: A performance mode that elastic throughput does not support.
MAX_IO = "maxIO"
ONCE_A_DAY = "AWS allows one change of the mode in 24 hours"
#: How many bytes are read for one that is metered.
READ_SHARE = Figure(value=3, unit="", source=PAGE)
#: A mode can be changed once a day, so its owner hears of it two hours before.
LEAD_S = 7_200.0
BURSTING = "bursting"
#: Modes without credits.
WITHOUT = frozenset({"provisioned", "elastic"})
#: A state in which AWS takes no change.
UPDATING = "updating"
BALANCE, METERED = "BurstCreditBalance", "MeteredIOBytes"
DIMENSION = "FileSystemId"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """The size of a file system in GiB, not rounded, for AWS bills by it; and what is provisioned, None in another mode."""

    size_gib: float
    provisioned_mib_s: float | None
    may_be_elastic: bool


def bucket_of(size_gib: float, *, most: float = MOST.value) -> Bucket | None:
    """The bucket of a file system with so much in Standard storage, in MiB; None where it earns the ``most`` that it serves."""
    if EARNED.value * size_gib >= most:
        return None
    tib = max(1.0, size_gib / GIB_PER_TIB)
    return Bucket(
        capacity=CAPACITY.value * tib,
        refill=EARNED.value * size_gib,
        burst=min(BURST.value * tib, most),
    )


def _in_general_purpose(resource: Resource) -> tuple[tuple[str, str], ...]:
    """The dimensions of a file system whose operations are limited; of one in Max I/O mode AWS publishes no such metric."""
    stored: Stored = resource.detail
    return ((DIMENSION, resource.id),) if stored.may_be_elastic else ()


def identify(item: Item) -> Thing:
    """A file system in the common shape."""
    tags = {tag["Key"]: tag["Value"] for tag in item.get("Tags", ())}
    name = item.get("Name") or name_from_tags(tags)
    return Thing(id=item["FileSystemId"], name=name, tags=tags, item=item)


def _terms(bucket: Bucket | None, mode: str) -> BucketTerms:
    """Why a file system in a mode has no credits, if so."""
    if mode != BURSTING:
        return terms_without("throughput", mode, known=WITHOUT)
    return BucketTerms(
        no_bucket_reason="" if bucket else "it earns the most that a file system may serve"
    )


def _rounded(size_bytes: float) -> float:
    """The size rounded down by up to a twentieth: what it earns is then at least that."""
    size = max(size_bytes, SMALLEST_BYTES)
    steps = math.floor(math.log(size) / math.log1p(SIZE_STEP) + 1e-9)
    return math.exp(steps * math.log1p(SIZE_STEP))


def _provisioned_usd(resource: Resource, provisioned_mib_s: float) -> float | None:
    """USD a month of provisioned throughput: what exceeds that which the size includes; None where it is not known."""
    rate = price(PRICES, resource.region, "provisioned_mb_s")
    if rate is None:
        return None
    stored: Stored = resource.detail
    included_mib_s = EARNED.value * stored.size_gib  # what bursting earns is included
    return rate.value * max(0.0, provisioned_mib_s - included_mib_s) * MIB / 1e6


def _stays_a_day(usd_month: float | None) -> str:
    """That a mode of so much a month stays for a day at least, and what that costs where it is known."""
    price_of_day = ""
    if usd_month:
        price_of_day = f" ({usd_month * DAY_S / MONTH_S:,.2f} USD)"
    return f"it stays a day at least{price_of_day}: {ONCE_A_DAY}"


def _update(resource: Resource, **parameters: str | float) -> Command:
    """The command that gives a file system other settings."""
    return Command(
        service="efs",
        operation="UpdateFileSystem",
        region=resource.region,
        parameters={"FileSystemId": resource.id, **parameters},
    )


class EfsFileSystem(Kind):
    """EFS file systems; in bursting mode they have credits."""

    is_percent = False

    name = "efs_file_system"
    namespace = "AWS/EFS"
    dimensions = (DIMENSION,)
    inventory = Listing(
        service="efs",
        operation="DescribeFileSystems",
        items="FileSystems[]",
        identify=identify,
        page_size=100,
        iam_prefix="elasticfilesystem",
    )
    tagging = Tagging(
        service="efs",
        put_operation="TagResource",
        remove_operation="UntagResource",
        arns=("elasticfilesystem:*:*:file-system/*",),
        target=lambda thing: {"ResourceId": thing.id},
    )
    level_metrics = (BALANCE,)
    demand_metrics = (DemandMetric(name=METERED),)
    checks = (
        LimitCheck(
            metric="PercentIOLimit",
            limit="the IOPS of its General Purpose mode",
            dimensions=_in_general_purpose,
            is_percent=True,
        ),
    )
    console = "efs/home?region={region}#/file-systems/{id}"
    limits = MappingProxyType({"throughput": "the file system's throughput"})
    spenders = "its clients (`nfsiostat 5 3` on each)"
    example = Example(
        spec={"size_gib": "what is stored in Standard storage"},
        load={"mib_s": "metered MiB per second"},
        unit="MiB",
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The bucket of one file system; none in another mode than bursting."""
        item = thing.item
        mode = item.get("ThroughputMode", BURSTING)
        size = item["SizeInBytes"]
        size_bytes = size.get("ValueInStandard", size["Value"])
        size_gib = (size_bytes if is_by_hand(thing.unit) else _rounded(size_bytes)) / GIB
        most = MOST_IN_ONE_ZONE if item.get("AvailabilityZoneName") else MOST
        bucket = bucket_of(size_gib, most=most.value) if mode == BURSTING else None
        yield Resource(
            kind=self.name,
            id=thing.id,
            level_metric=BALANCE,
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=bucket,
            terms=_terms(bucket, mode),
            limit=Limit(rate=bucket.burst if bucket else 0.0, binding="throughput"),
            reporting=Reporting(in_use=item.get("NumberOfMountTargets", 1) > 0),
            words=Words(
                rate_unit=MIB_S,
                facts={
                    "type": f"EFS {mode}",
                    "size_gib": f"{size_gib:.3g}",
                    **(rate_facts(bucket.refill, bucket.burst) if bucket else {}),
                },
            ),
            least_lead_s=LEAD_S,
            changes=Changes(
                under_way="the end of its status updating"
                if item.get("LifeCycleState") == UPDATING
                else ""
            ),
            spec={"size_gib": f"{size_gib!r}"},
            detail=Stored(
                size_gib=size_bytes / GIB,
                provisioned_mib_s=item.get("ProvisionedThroughputInMibps"),
                may_be_elastic=item.get("PerformanceMode") != MAX_IO,
            ),
        )

    def to_ratio(self, resource: Resource, value: float) -> float:
        """The share of the bucket of a balance in bytes."""
        if resource.bucket is None:
            return 1.0
        # A size that is rounded down has a bucket that is a little too small.
        return min(1.0, value / MIB / resource.bucket.capacity)

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """The bytes that AWS has metered, in MiB a second."""
        if METERED not in totals:
            return None
        return demand_point(resource, start_s, period_s, totals[METERED] / MIB / period_s)

    def totals(self, resource: Resource, load: Mapping[str, float]) -> Totals:
        """The metered bytes of one second of a load."""
        return {METERED: load["mib_s"] * MIB}

    def cause(self, resource: Resource, rates: RatesByMetric) -> Cause | None:
        """The metered I/O of the last minutes, in words."""
        if METERED not in rates:
            return None
        mib_s = rates[METERED] / MIB
        return Cause(text=f"{number(mib_s)} MiB/s metered", rate=mib_s)

    def at_zero(self, resource: Resource) -> AtZero:
        """Say what is served at zero: the baseline, and a little more for the smallest."""
        if resource.bucket is None:
            return AtZero()
        served = max(resource.bucket.refill, SERVED_AT_LEAST.value)
        return AtZero(short=f"{number(served)} of {number(resource.bucket.burst)} {MIB_S}")

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """Another throughput mode with its price."""
        provisioned = max(1, math.ceil(demand))
        usd_month = _provisioned_usd(resource, provisioned)
        if provisioned <= PROVISIONED_MOST.value:
            less = ""
            if provisioned < resource.limit.rate:
                less = f", and serves no more (with credits {number(resource.limit.rate)})"
            yield Fix(
                action=f"change to provisioned throughput of {number(provisioned)} MiB/s",
                effect=f"never runs out{less}; {_stays_a_day(usd_month)}",
                takes="works immediately",
                usd_month=usd_month,
                afterwards=Afterwards(bucket=None, rate=float(provisioned)),
                commands=(
                    _update(
                        resource,
                        ThroughputMode="provisioned",
                        ProvisionedThroughputInMibps=provisioned,
                    ),
                ),
            )
        if not resource.detail.may_be_elastic:
            return
        written, read = (
            price(PRICES, resource.region, name)
            for name in ("elastic_written_gb", "elastic_read_gb")
        )
        per_gb = ""
        if written is not None and read is not None:
            per_gb = f" ({written.value:g} USD for a GB written, {read.value:g} for one read)"
        yield Fix(
            action="change to elastic throughput",
            effect=f"never runs out, each byte is charged{per_gb}; {ONCE_A_DAY}",
            takes="works immediately",
            commands=(_update(resource, ThroughputMode="elastic"),),
            afterwards=Afterwards(bucket=None),
        )

    def savings(self, resource: Resource, past_load: PastLoad) -> Iterator[Fix]:
        """Elastic throughput with its price at the load of the periods, for another mode that has a price."""
        written, read = (
            price(PRICES, resource.region, name)
            for name in ("elastic_written_gb", "elastic_read_gb")
        )
        moved = [rates[METERED] for rates in past_load.periods if METERED in rates]
        if not resource.detail.may_be_elastic:
            return
        if not moved or written is None or read is None or resource.words.facts["type"] == ELASTIC:
            return
        # A byte that is read is metered as a third, so all of it may be three times as many bytes read.
        dearest = max(written.value, READ_SHARE.value * read.value)
        elastic_usd = dearest * sum(moved) / len(moved) * MONTH_S / 1e9
        now_usd = self.usd_month(resource) or 0.0
        yield Fix(
            action="change to elastic throughput",
            effect=f"never runs out, each byte is charged: at most {elastic_usd:,.2f} USD a month at the load of "
            f"these days; {ONCE_A_DAY}",
            takes="works immediately",
            usd_month=elastic_usd - now_usd,
            commands=(_update(resource, ThroughputMode="elastic"),),
            afterwards=Afterwards(bucket=None),
        )

    def usd_month(self, resource: Resource) -> float | None:
        """The price of the throughput that is provisioned; nothing in bursting mode, whose throughput is free."""
        stored: Stored = resource.detail
        if resource.words.facts["type"] == ELASTIC:
            return None
        if stored.provisioned_mib_s is None:
            return 0.0
        return _provisioned_usd(resource, stored.provisioned_mib_s)

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """A file system of the stated size."""
        size = float_in(spec, "size_gib") * GIB
        return {"FileSystemId": "fs-example", "SizeInBytes": {"Value": size}}, {}


KIND = EfsFileSystem()

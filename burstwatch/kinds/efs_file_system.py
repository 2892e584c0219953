"""EFS file systems in bursting mode: burst credits in bytes, here in MiB.

AWS meters what is stored about once an hour, and earns and bursts by that. Metered I/O is the
charge itself. Filling can take months or years: a small file system earns next to nothing.
"""

import math
from collections.abc import Iterator, Mapping

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.volume_types import GIB_PER_TIB
from burstwatch.fixes import Fix
from burstwatch.formatting import number
from burstwatch.history.observations import Limit, Resource
from burstwatch.kinds._disk import MIB_S, rate_facts
from burstwatch.kinds._spent import charged_by
from burstwatch.kinds.base import (
    BY_HAND,
    Cause,
    DemandMetric,
    Example,
    Item,
    Kind,
    Listing,
    RatesByMetric,
    Related,
    Tagging,
    Thing,
    float_in,
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
PRICE_PAGE = Source(
    url="https://aws.amazon.com/efs/pricing/", read="2026-06", note="us-east-1, as quoted by others"
)
EARNED = Figure(value=50 / 1024, unit="MiB/s per GiB", source=PAGE)
BURST = Figure(value=100, unit="MiB/s per TiB, and for less than a TiB", source=PAGE)
CAPACITY = Figure(value=2.1 * 1024 * 1024, unit="MiB per TiB, and for less than a TiB", source=PAGE)
SERVED_AT_LEAST = Figure(value=1, unit="MiB/s", source=FLOOR_PAGE)
PROVISIONED_USD = Figure(value=6.0, unit="USD per MB/s-month", source=PRICE_PAGE)
ELASTIC_USD = Figure(value=0.06, unit="USD/GB written, half of it read", source=PRICE_PAGE)
PRICED_REGIONS = frozenset({"us-east-1"})
#: Metadata of an empty file system. A size of 0 would earn nothing at all.
SMALLEST_BYTES = 6 * 1024
#: A size is rounded down to steps of this share. A bucket that changes each hour would have no history.
SIZE_STEP = 0.05
GIB = 1024**3
#: A mode can be changed once a day, so its owner hears of it two hours before.
LEAD_S = 7_200.0
BURSTING = "bursting"
BALANCE, METERED = "BurstCreditBalance", "MeteredIOBytes"


def bucket_of(size_gib: float) -> Bucket:
    """The bucket of a file system with so much in Standard storage, in MiB."""
    tib = max(1.0, size_gib / GIB_PER_TIB)
    return Bucket(
        capacity=CAPACITY.value * tib,
        refill=EARNED.value * size_gib,
        burst=BURST.value * tib,
    )


def identify(item: Item) -> Thing:
    """A file system in the common shape."""
    tags = {tag["Key"]: tag["Value"] for tag in item.get("Tags", ())}
    return Thing(id=item["FileSystemId"], name=item.get("Name", ""), tags=tags, item=item)


def describe(thing: Thing, related: Related, now: float) -> Iterator[Resource]:
    """The bucket of one file system; none in another mode than bursting."""
    item = thing.item
    mode = item.get("ThroughputMode", BURSTING)
    size = item["SizeInBytes"]
    size_bytes = size.get("ValueInStandard", size["Value"])
    size_gib = (size_bytes if thing.unit == BY_HAND else _rounded(size_bytes)) / GIB
    bucket = bucket_of(size_gib) if mode == BURSTING else None
    yield Resource(
        kind=KIND.name,
        id=thing.id,
        level_metric=BALANCE,
        name=thing.name,
        tags=thing.tags,
        unit=thing.unit,
        bucket=bucket,
        no_bucket_reason="" if bucket else f"{mode} throughput has no burst credits",
        limit=Limit(rate=bucket.burst if bucket else 0.0, binding="throughput"),
        in_use=item.get("NumberOfMountTargets", 1) > 0,
        rate_unit=MIB_S,
        least_lead_s=LEAD_S,
        facts={
            "type": f"EFS {mode}",
            "size_gib": f"{size_gib:.3g}",
            **(rate_facts(bucket.refill, bucket.burst) if bucket else {}),
        },
        spec={"size_gib": f"{size_gib!r}"},
    )


def _rounded(size_bytes: float) -> float:
    """The size rounded down by up to a twentieth: what it earns is then at least that."""
    size = max(size_bytes, SMALLEST_BYTES)
    steps = math.floor(math.log(size) / math.log1p(SIZE_STEP) + 1e-9)
    return math.exp(steps * math.log1p(SIZE_STEP))


def to_ratio(resource: Resource, value: float) -> float:
    """The share of the bucket of a balance in bytes."""
    if resource.bucket is None:
        return 1.0
    # A size that is rounded down has a bucket that is a little too small.
    return min(1.0, value / MIB / resource.bucket.capacity)


def cause(resource: Resource, rates: RatesByMetric) -> Cause | None:
    """The metered I/O of the last minutes, in words."""
    if METERED not in rates:
        return None
    mib_s = rates[METERED] / MIB
    return Cause(text=f"{number(mib_s)} MiB/s metered", rate=mib_s)


def at_zero(resource: Resource) -> str:
    """Say what is served at zero: the baseline, and a little more for the smallest."""
    if resource.bucket is None:
        return ""
    served = max(resource.bucket.refill, SERVED_AT_LEAST.value)
    return f"{number(served)} instead of {number(resource.bucket.burst)} {MIB_S}"


def fixes(resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
    """Another throughput mode with its price."""
    is_priced = resource.region in PRICED_REGIONS
    mb_s = demand * MIB / 1e6
    yield Fix(
        action=f"change to provisioned throughput of {number(math.ceil(demand))} MiB/s",
        effect="never runs dry; AWS allows one change a day",
        takes="works at once",
        usd_month=PROVISIONED_USD.value * mb_s if is_priced else None,
    )
    per_gb = (
        f" ({ELASTIC_USD.value:g} USD for a GB written, half of it for one read)"
        if is_priced
        else ""
    )
    yield Fix(
        action="change to elastic throughput",
        effect=f"never runs dry, each byte is charged{per_gb}; AWS allows one change a day",
        takes="works at once",
    )


def _item(spec: Mapping[str, str]) -> tuple[Item, Related]:
    size = float_in(spec, "size_gib") * GIB
    return {"FileSystemId": "fs-example", "SizeInBytes": {"Value": size}}, {}


KIND = Kind(
    name="efs_file_system",
    namespace="AWS/EFS",
    dimensions=("FileSystemId",),
    inventory=Listing(
        service="efs",
        operation="DescribeFileSystems",
        items="FileSystems[]",
        identify=identify,
        page_size=100,
        iam_prefix="elasticfilesystem",
    ),
    tagging=Tagging(
        service="efs",
        put_operation="TagResource",
        remove_operation="UntagResource",
        target=lambda thing: {"ResourceId": thing.id},
    ),
    level_metrics=(BALANCE,),
    demand_metrics=(DemandMetric(name=METERED),),
    describe=describe,
    to_ratio=to_ratio,
    spent=charged_by(METERED, 1 / MIB),
    console="efs/home?region={region}#/file-systems/{id}",
    limits={"throughput": "the file system's throughput"},
    cause=cause,
    at_zero=at_zero,
    fixes=fixes,
    example=Example(
        spec={"size_gib": "what is stored in Standard storage"},
        load={"mib_s": "metered MiB per second"},
        item=_item,
        totals=lambda _, load: {METERED: load["mib_s"] * MIB},
        unit="MiB",
    ),
)

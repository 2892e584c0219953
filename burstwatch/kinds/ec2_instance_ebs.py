"""EC2 instances: I/O and byte credits for the traffic to all their volumes together.

AWS says what an instance type sustains and what it reaches, and that it can hold the
maximum "for 30 minutes at least once every 24 hours". It does not say how large the buckets
are. Half an hour of the difference is what that sentence needs at least, so the worst
case here is an estimate and called so.
"""

from collections.abc import Iterator
from typing import Literal

from burstwatch.bucket import Bucket
from burstwatch.ebs.instance_types import OPTIMIZED_PAGE
from burstwatch.ebs.load import MIB, MIB_PER_MB, Traffic
from burstwatch.ebs.volumes import Binding
from burstwatch.fixes import Fix, less_load
from burstwatch.formatting import number
from burstwatch.history.observations import Limit, Resource
from burstwatch.history.points import AT_LIMIT, NO_LIMIT, DemandPoint
from burstwatch.kinds._disk import LIMITS, RATE_UNITS, cause_of, rate_facts
from burstwatch.kinds._ec2 import (
    TAGGING,
    instance_types,
    instances,
    is_running,
    started_at,
    types_in,
)
from burstwatch.kinds.base import DemandMetric, Found, Item, Kind, Lookup, Rates, Thing, Totals
from burstwatch.sources import Figure, Source

METRICS_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html",
    read="2026-04",
    note="the balances are published for some *.4xlarge and smaller",
)
#: How long a full bucket sustains the maximum.
FULL_LASTS = Figure(value=1800.0, unit="s", source=OPTIMIZED_PAGE)
#: The estimate of a bucket's size may be wrong by this factor either way, so what an I/O
#: costs of it may be as well; the balance's own slope decides.
UNCERTAIN = 2.0
LARGEST_PUBLISHED = Figure(value=4, unit="xlarge", source=METRICS_PAGE)

CreditUnit = Literal["io", "MiB"]
IO_BALANCE, BYTE_BALANCE = "EBSIOBalance%", "EBSByteBalance%"
TRAFFIC = Traffic(
    read_ops="EBSReadOps",
    write_ops="EBSWriteOps",
    read_bytes="EBSReadBytes",
    write_bytes="EBSWriteBytes",
)

INSTANCES = instances(
    "InstanceId", "InstanceType", "LaunchTime", "State.Name", "Tags[].Key", "Tags[].Value"
)
INSTANCE_TYPES = instance_types(
    "InstanceType",
    "Hypervisor",
    "EbsInfo.EbsOptimizedInfo.BaselineIops",
    "EbsInfo.EbsOptimizedInfo.MaximumIops",
    "EbsInfo.EbsOptimizedInfo.BaselineThroughputInMBps",
    "EbsInfo.EbsOptimizedInfo.MaximumThroughputInMBps",
)


def describe(thing: Thing, found: Found, now: float) -> tuple[Resource, ...]:
    """The instance's two buckets, or the one reason why it has none.

    Raises:
        ValueError: if the type's numbers are not known: then nothing can be said of it.
    """
    del now
    instance_type = thing.item["InstanceType"]
    spec = found["instance_types"].get(instance_type)
    if spec is None:
        msg = f"instance type {instance_type!r} is not described"
        raise ValueError(msg)
    info = spec.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    reason = _no_bucket_reason(instance_type, spec, info)
    if reason:
        return (_resource(thing, IO_BALANCE, "io", 0.0, 0.0, reason),)
    rates: tuple[tuple[str, CreditUnit, float, float], ...] = (
        (IO_BALANCE, "io", float(info["BaselineIops"]), float(info["MaximumIops"])),
        (
            BYTE_BALANCE,
            "MiB",
            info["BaselineThroughputInMBps"] * MIB_PER_MB,
            info["MaximumThroughputInMBps"] * MIB_PER_MB,
        ),
    )
    return tuple(
        _resource(thing, metric, of, baseline, maximum)
        for metric, of, baseline, maximum in rates
        if baseline < maximum
    )


def _no_bucket_reason(instance_type: str, spec: Item, info: Item) -> str:
    """Why an instance of this type has no balance, decided from the type alone."""
    if spec.get("Hypervisor") != "nitro" or not info:
        return f"{instance_type} is not of the types that burst"
    pairs = (
        ("BaselineIops", "MaximumIops"),
        ("BaselineThroughputInMBps", "MaximumThroughputInMBps"),
    )
    if all(info[baseline] >= info[maximum] for baseline, maximum in pairs):
        return f"{instance_type} sustains its maximum"
    size = instance_type.rpartition(".")[2]
    multiple = size.partition("xlarge")[0]
    if size.startswith("metal") or (multiple.isdigit() and int(multiple) > LARGEST_PUBLISHED.value):
        return f"AWS publishes no balance for sizes above {LARGEST_PUBLISHED.value:g}xlarge"
    return ""


def _resource(
    thing: Thing,
    metric: str,
    of: CreditUnit,
    baseline: float,
    maximum: float,
    no_bucket_reason: str = "",
) -> Resource:
    item = thing.item
    binding: Binding = "instance_iops" if of == "io" else "instance_throughput"
    bucket = Bucket(
        capacity=(maximum - baseline) * FULL_LASTS.value or 1.0, refill=baseline, burst=maximum
    )
    return Resource(
        kind=KIND.name,
        id=thing.id,
        level_metric=metric,
        name=thing.name,
        tags=thing.tags,
        unit=thing.unit,
        bucket=None if no_bucket_reason else bucket,
        no_bucket_reason=no_bucket_reason,
        is_documented=False,
        limit=Limit(rate=maximum, binding=binding),
        rate_unit=RATE_UNITS[of],
        statistic="Average",
        in_use=is_running(item),
        in_use_since_s=started_at(item),
        reports_when_idle=True,
        # What was before its last start is no sign of now, and its silence no late data.
        history_from_s=started_at(item),
        facts={
            "type": item["InstanceType"],
            "instance_type": item["InstanceType"],
            **rate_facts(baseline, maximum),
        },
        detail=of,
    )


def spent(
    resource: Resource, totals: Totals, start_s: float, period_s: float
) -> DemandPoint | None:
    """Credits per second of one period's operations, or of its bytes in MiB."""
    of: CreditUnit = resource.detail
    of_bytes = TRAFFIC.read_bytes, TRAFFIC.write_bytes
    of_ops = TRAFFIC.read_ops, TRAFFIC.write_ops
    reads, writes = (totals.get(name) for name in (of_bytes if of == "MiB" else of_ops))
    if reads is None or writes is None:
        return None
    rate = (reads + writes) / period_s / (MIB if of == "MiB" else 1)
    is_held_back = resource.limit.rate > 0 and rate >= AT_LIMIT * resource.limit.rate
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=rate / UNCERTAIN,
        nominal=rate,
        most=rate * UNCERTAIN,
        binding=resource.limit.binding if is_held_back else NO_LIMIT,
    )


def fixes(resource: Resource, level: float, demand: float, rates: Rates) -> Iterator[Fix]:
    """Less load, or an instance that sustains it: which and at what price is not known here."""
    del rates
    if resource.bucket is None:
        return
    yield less_load(resource.bucket, level=level, demand=demand, unit=resource.rate_unit)
    yield Fix(
        what=f"change to an instance type that sustains {number(demand)} {resource.rate_unit}",
        effect="never runs dry at the current load",
        takes="takes minutes, and the instance stops",
        usd_month=None,
    )


KIND = Kind(
    name="ec2_instance_ebs",
    namespace="AWS/EC2",
    dimensions=("InstanceId",),
    inventory=INSTANCES,
    tagging=TAGGING,
    lookups=(Lookup(name="instance_types", listing=INSTANCE_TYPES, wanted=types_in("inventory")),),
    level_metrics=(IO_BALANCE, BYTE_BALANCE),
    demand_metrics=tuple(DemandMetric(name=name) for name in TRAFFIC.metrics),
    describe=describe,
    spent=spent,
    console="ec2/home?region={region}#InstanceDetails:instanceId={id}",
    limits=LIMITS,
    cause=cause_of(TRAFFIC),
    fixes=fixes,
)

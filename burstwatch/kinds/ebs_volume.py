"""EBS volumes of the types gp2, st1 and sc1: I/O credits of their own."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from burstwatch.bucket import Bucket
from burstwatch.ebs.fixes import Attached, present_usd, volume_fixes, volume_savings
from burstwatch.ebs.load import MIB, MIB_PER_MB, Traffic, io_load
from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.ebs.volumes import (
    InstanceLimits,
    VolumeSpec,
    charge,
    volume_spec,
)
from burstwatch.fixes.fix import Fix
from burstwatch.formatting import clock_time, plain_name
from burstwatch.history.observations import BucketTerms, Changes, Reporting, Resource, Words
from burstwatch.history.points import DemandPoint, Statistic
from burstwatch.kinds._disk import LIMITS, RATE_UNITS, Disk, rate_facts
from burstwatch.kinds._ec2 import (
    INSTANCE_TYPES,
    INSTANCES,
    READERS_AND_WRITERS,
    TAGGING,
    VOLUMES,
    filtered_by,
    is_instance_running,
    limits_from_aws,
    managed_by,
    started_at,
    types_in,
    with_managed,
)
from burstwatch.kinds._names import name_from_tags
from burstwatch.kinds._spent import demand_of
from burstwatch.kinds._volume import Volume, held_back, on_instance
from burstwatch.kinds.base import (
    DemandMetric,
    Example,
    Item,
    LimitCheck,
    Listing,
    Lookup,
    PastLoad,
    RatesByMetric,
    Related,
    Thing,
    Totals,
    float_in,
    identified_by,
    peak,
    place_of,
)

TRAFFIC = Traffic(
    read_ops="VolumeReadOps",
    write_ops="VolumeWriteOps",
    read_bytes="VolumeReadBytes",
    write_bytes="VolumeWriteBytes",
)
UNSETTLED = frozenset({"modifying", "optimizing"})

MODIFICATIONS = Listing(
    service="ec2",
    operation="DescribeVolumesModifications",
    items="VolumesModifications[]",
    identify=identified_by("VolumeId"),
    arguments=with_managed(filtered_by("volume-id")),
    page_size=500,  # the most that AWS takes
)


def _place(attachment: Item, instance: Item) -> str:
    """The device and the host, by the name that people gave it where it has one."""
    instance_id = attachment.get("InstanceId", "")
    if not instance_id:
        return ""
    name = plain_name(_host_name(instance))
    host = f"{name} ({instance_id})" if name else instance_id
    return f"{attachment.get('Device') or 'attached'} of {host}"


def _host_name(instance: Item) -> str:
    """The name that people gave an instance, or nothing."""
    return name_from_tags({tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())})


def _host(attachment: Item, instance: Item) -> str:
    """The name of the host and the device, or nothing where the host has no name."""
    name = _host_name(instance)
    device = (attachment.get("Device") or "").rpartition("/")[2]
    return f"{name} {device}".strip() if name else ""


def _on_nitro(resource: Resource) -> tuple[tuple[str, str], ...]:
    """The dimensions of the checks, which AWS publishes of a volume on one Nitro instance."""
    volume: Volume = resource.detail
    if resource.reporting.statistic != "Minimum" or volume.is_shared or not resource.parents:
        return ()
    return (("VolumeId", resource.id), ("InstanceId", resource.parents[0]))


#: https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html (2026-11)
CHECKS = (
    LimitCheck(metric="VolumeIOPSExceededCheck", limit=LIMITS["volume_iops"], dimensions=_on_nitro),
    LimitCheck(
        metric="VolumeThroughputExceededCheck",
        limit=LIMITS["volume_throughput"],
        dimensions=_on_nitro,
    ),
)


def _attached(resource: Resource) -> Attached:
    volume: Volume = resource.detail
    return Attached(
        volume_id=resource.id,
        region=resource.region,
        instance_type=resource.words.facts["instance_type"],
        instance=volume.instance,
        is_shared=volume.is_shared,
    )


def _under_way(change: Item, now: float) -> str:
    """The change of size or type that is not settled, in words; empty where there is none.

    AWS takes the next one once the last is completed:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyVolume.html (2026-11)
    """
    if not _is_unsettled(change):
        return ""
    at = clock_time(now, now=now)
    progress = f", {change['Progress']}% done at {at}" if "Progress" in change else ""
    return f"the change to {change['TargetVolumeType']} of {change['TargetSize']} GiB{progress}"


def _is_unsettled(change: Item) -> bool:
    """True while a change goes on, in which a volume may still behave as before."""
    return change.get("ModificationState") in UNSETTLED


def _direction(totals: Totals, ops_name: str, bytes_name: str) -> tuple[float, float] | None:
    """Operations and bytes of one direction, or None where not enough is known.

    Xen publishes no bytes while there is no activity: only without operations is
    their absence a zero.
    """
    ops = totals.get(ops_name)
    if ops is None:
        return None
    moved = totals.get(bytes_name, 0.0 if ops == 0 else None)
    return None if moved is None else (ops, moved)


def _attachment(item: Item) -> Item:
    attached = (a for a in item.get("Attachments", ()) if a.get("State") != "detached")
    return next(attached, {})


def _type_of(instance: Item, related: Related) -> tuple[str, InstanceLimits | None, Statistic]:
    instance_type = instance.get("InstanceType", "")
    spec = related["instance_types"].get(instance_type, {})
    # Only Nitro publishes a Minimum. Asking for it on Xen would look like silence.
    statistic: Statistic = "Minimum" if spec.get("Hypervisor") == "nitro" else "Average"
    return instance_type, limits_from_aws(spec), statistic


def _settling(spec: VolumeSpec, change: Item, now: float) -> tuple[Bucket | None, float | None]:
    """The bucket to assume, and since when its history counts.

    A resize or retype takes minutes to a day. Until it is completed the volume may
    behave as either: the smaller refill and the larger burst of both are assumed.
    """
    if not change or change.get("ModificationState") == "failed":
        return spec.bucket, None
    started = change["StartTime"].timestamp()
    if not _is_unsettled(change):
        ended = change.get("EndTime")
        return spec.bucket, ended.timestamp() if ended else started
    ends = [
        volume_spec(change["OriginalVolumeType"], change["OriginalSize"]),
        volume_spec(change["TargetVolumeType"], change["TargetSize"]),
    ]
    buckets = [end.bucket for end in ends if end.bucket is not None]
    if not buckets or len({end.unit for end in ends if end.bucket is not None}) > 1:
        return spec.bucket, now  # between two units nothing measured so far means anything
    mixed = Bucket(
        capacity=min(bucket.capacity for bucket in buckets),
        refill=min(bucket.refill for bucket in buckets),
        burst=max(bucket.burst for bucket in buckets),
    )
    return mixed, started


def _instance_ids(lists: Mapping[str, Sequence[Item]]) -> set[str]:
    """Instances of the volumes that can run out, also of those that are being changed; the others need no limits."""
    original_types = {
        change["VolumeId"]: change.get("OriginalVolumeType", "")
        for change in lists["modifications"]
        if _is_unsettled(change)
    }
    return {
        attachment["InstanceId"]
        for item in lists["inventory"]
        if _has_credits(item["VolumeType"])
        or _has_credits(original_types.get(item["VolumeId"], ""))
        for attachment in [_attachment(item)]
        if attachment.get("InstanceId")
    }


def _has_credits(volume_type: str) -> bool:
    """True for a type that has a bucket."""
    return volume_type in CATALOGUE and CATALOGUE[volume_type].credits is not None


#: Stands for a limit of the instance that nobody stated.
FAR_ABOVE = "1e9"


@lru_cache(maxsize=4_096)
def _facts(spec: VolumeSpec) -> dict[str, str]:
    """The facts that all volumes of a type and size share."""
    return {
        "type": f"{spec.volume_type} {spec.size_gib:g} GiB",
        "volume_type": spec.volume_type,
        "size_gib": f"{spec.size_gib:g}",
        **rate_facts(spec.baseline, spec.burst),
    }


@lru_cache(maxsize=4_096)
def _by_hand(spec: VolumeSpec, limits: InstanceLimits | None) -> dict[str, str]:
    """The description that ``_item`` takes."""
    described = {"type": spec.volume_type, "size_gib": f"{spec.size_gib:g}"}
    if limits is None:
        return described
    return described | {
        "instance_iops": f"{limits.iops!r}",
        "instance_mib_s": f"{limits.mib_s!r}",
    }


class EbsVolume(Disk):
    """EBS volumes. Every type is described; those without credits have no bucket."""

    traffic = TRAFFIC

    name = "ebs_volume"
    namespace = "AWS/EBS"
    dimensions = ("VolumeId",)
    inventory = VOLUMES
    tagging = TAGGING
    lookups = (
        Lookup(name="modifications", listing=MODIFICATIONS),
        Lookup(name="instances", listing=INSTANCES, find_ids=_instance_ids),
        Lookup(name="instance_types", listing=INSTANCE_TYPES, find_ids=types_in("instances")),
    )
    level_metrics = ("BurstBalance",)
    demand_metrics = tuple(DemandMetric(name=name) for name in TRAFFIC.metrics)
    checks = CHECKS
    console = "ec2/home?region={region}#VolumeDetails:volumeId={id}"
    limits = LIMITS
    spenders = READERS_AND_WRITERS
    example = Example(
        spec={
            "type": "gp2, st1 or sc1",
            "size_gib": "its size",
            "instance_iops": "the most IOPS that its instance allows",
            "instance_mib_s": "the most MiB/s that its instance allows",
        },
        load={"iops": "operations per second", "mib_s": "MiB per second"},
        unit="io",
        optional=frozenset({"instance_iops", "instance_mib_s"}),
    )
    columns = MappingProxyType(
        {
            "balance_percent": level_metrics[0],
            "read_ops": TRAFFIC.read_ops,
            "write_ops": TRAFFIC.write_ops,
            "read_bytes": TRAFFIC.read_bytes,
            "write_bytes": TRAFFIC.write_bytes,
        }
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """A volume with its bucket, its instance's limits and what is still changing."""
        item = thing.item
        spec = volume_spec(
            item["VolumeType"], item["Size"], iops=item.get("Iops"), mib_s=item.get("Throughput")
        )
        attachment = _attachment(item)
        instance_id = attachment.get("InstanceId", "")
        instance = related["instances"].get(instance_id, {})
        instance_type, limits, statistic = _type_of(instance, related)
        change = related["modifications"].get(thing.id, {})
        under_way = _under_way(change, now)
        zone = item.get("AvailabilityZone") or ""
        place = place_of(zone, thing.unit, outpost=item.get("OutpostArn") or "")
        bucket, history_from_s = _settling(spec, change, now)
        bucket, limit = on_instance(spec, bucket, limits)
        yield Resource(
            kind=self.name,
            id=thing.id,
            level_metric=self.level_metrics[0],
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=bucket,
            terms=BucketTerms(no_bucket_reason=spec.no_bucket_reason),
            limit=limit,
            reporting=Reporting(
                statistic=statistic,
                in_use=bool(attachment) and is_instance_running(instance),
                in_use_since_s=started_at(instance),
                history_from_s=history_from_s,
            ),
            parents=(instance_id,) if instance_id else (),
            words=Words(
                rate_unit=RATE_UNITS[spec.unit],
                place=_place(attachment, instance),
                host=_host(attachment, instance),
                facts={
                    **_facts(spec),
                    "instance_id": instance_id,
                    "instance_type": instance_type,
                    "device": attachment.get("Device", ""),
                    "zone": zone,
                },
                caveats=()
                if limits or not instance_id
                else ("the instance's own limits are not known",),
            ),
            spec=_by_hand(spec, limits),
            detail=Volume(
                spec=spec,
                instance=limits,
                created_s=item["CreateTime"].timestamp() if "CreateTime" in item else None,
                is_changing=bool(under_way),
                is_shared=item.get("MultiAttachEnabled", False),
            ),
            changes=Changes(managed_by=managed_by(item), under_way=under_way, place=place),
        )

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """Credits per second of one period's operations and bytes."""
        volume: Volume = resource.detail
        reads = _direction(totals, TRAFFIC.read_ops, TRAFFIC.read_bytes)
        writes = _direction(totals, TRAFFIC.write_ops, TRAFFIC.write_bytes)
        if reads is None or writes is None:
            return None
        ops, mib = reads[0] + writes[0], (reads[1] + writes[1]) / MIB
        cost = charge(volume.spec, ops=ops, mib=mib)
        binding = held_back(volume, iops=ops / period_s, mib_s=mib / period_s)
        return demand_of(cost, start_s, period_s, binding)

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """A volume that sustains it."""
        load = io_load(TRAFFIC, rates)
        yield from volume_fixes(
            resource.detail.spec,
            _attached(resource),
            demand=demand,
            io_kib=load.io_kib if load else 0.0,
        )

    def usd_month(self, resource: Resource) -> float | None:
        """The price of the volume, with what is provisioned."""
        return present_usd(resource.region, resource.detail.spec)

    def savings(self, resource: Resource, past_load: PastLoad) -> Iterator[Fix]:
        """A volume that costs less and serves the peak of the periods, in operations and in bytes."""
        loads = [
            load for rates in past_load.periods if (load := io_load(TRAFFIC, rates)) is not None
        ]
        if not loads:
            return
        yield from volume_savings(
            resource.detail.spec,
            _attached(resource),
            iops=peak(load.iops for load in loads),
            mib_s=peak(load.mib_s for load in loads),
            is_enough=past_load.is_enough,
        )

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """Build the answer of DescribeVolumes, and of what belongs to it, for a stated example."""
        listed = {
            "VolumeId": "vol-example",
            "VolumeType": spec["type"],
            "Size": float_in(spec, "size_gib"),
            "Attachments": [{"State": "attached"}],
        }
        if not spec.keys() & {"instance_iops", "instance_mib_s"}:
            return listed, {"instances": {}, "instance_types": {}, "modifications": {}}
        stated = {"instance_iops": FAR_ABOVE, "instance_mib_s": FAR_ABOVE, **spec}
        limits = {
            "MaximumIops": float_in(stated, "instance_iops"),
            "MaximumThroughputInMBps": float_in(stated, "instance_mib_s") / MIB_PER_MB,
        }
        instance = {"InstanceType": "example", "State": {"Name": "running"}}
        type_ = {"Hypervisor": "nitro", "EbsInfo": {"EbsOptimizedInfo": limits}}
        return {**listed, "Attachments": [{"State": "attached", "InstanceId": "i-example"}]}, {
            "instances": {"i-example": instance},
            "instance_types": {"example": type_},
            "modifications": {},
        }


KIND = EbsVolume()

"""EC2 instances: the I/O and byte credits that all volumes of the instance share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from burstwatch.ebs.load import Traffic
from burstwatch.ebs.volumes import VolumeSpec, volume_spec
from burstwatch.fixes.fix import STOPS, Afterwards, Fix
from burstwatch.formatting import number
from burstwatch.history.observations import Changes, Reporting, Resource, Words
from burstwatch.kinds._disk import LIMITS
from burstwatch.kinds._ec2 import (
    INSTANCE_TYPES,
    INSTANCES,
    READERS_AND_WRITERS,
    TAGGING,
    VOLUMES,
    is_instance_running,
    managed_by,
    place_of_instance,
    replaced_by,
    retyped,
    started_at,
    types_in,
)
from burstwatch.kinds._instance_ebs import (
    BASIC_PERIOD_S,
    NO_RATE,
    SIZES,
    TYPES,
    InstanceEbs,
    buckets_of,
    bursting,
    families_of,
    has_buckets,
    reach_of,
    sizes_of,
    smallest_of,
)
from burstwatch.kinds.base import (
    DemandMetric,
    Item,
    LimitCheck,
    Lookup,
    RatesByMetric,
    Related,
    Thing,
)
from burstwatch.sources import Figure, Source

TRAFFIC = Traffic(
    read_ops="EBSReadOps",
    write_ops="EBSWriteOps",
    read_bytes="EBSReadBytes",
    write_bytes="EBSWriteBytes",
)
DISKS = "disks"
WEIGHTING_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-bandwidth-weighting.html",
    read="2026-11",
    note="boosts the baseline of either the network or EBS by 25%, and takes as much, in Gbps, from the other",
)
#: The share of what its network sustains that an instance takes from EBS where the network is boosted.
MOST_SHIFTED = Figure(value=0.25, unit="", source=WEIGHTING_PAGE)
#: Weightings that leave EBS what the type sustains, or more.
NOT_LESS = (None, "default", "ebs-1")
WEIGHTED = "its bandwidth is weighted towards the network, so it sustains less throughput to its volumes than its type"
MB_S_PER_GBPS = 125.0
#: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-lifetime.html (2026-11)
LOSES_STORE = "; the data on its instance store is lost"


def _disk_ids(instance: Item) -> list[str]:
    """The ids of its volumes. An instance without any boots from elsewhere."""
    mappings = instance.get("BlockDeviceMappings", ())
    return [mapping["Ebs"]["VolumeId"] for mapping in mappings if "Ebs" in mapping]


def _disks_that_matter(lists: Mapping[str, Sequence[Item]]) -> set[str]:
    """The ids of the volumes of the instances that have balances."""
    specs = {spec["InstanceType"]: spec for spec in lists.get(TYPES, ())}
    return {
        disk_id
        for instance in lists["inventory"]
        if has_buckets(instance["InstanceType"], specs.get(instance["InstanceType"]))
        for disk_id in _disk_ids(instance)
    }


def families_that_burst(lists: Mapping[str, Sequence[Item]]) -> set[str]:
    """A filter for all sizes of each family of which a listed instance has balances."""
    return families_of({instance["InstanceType"] for instance in lists["inventory"]}, lists)


def _reach(instance: Item, related: Related) -> dict[str, float]:
    """The most that its volumes can ask of it; empty if not all are known."""
    disks = [
        _spec_of(related.get(DISKS, {}).get(disk_id, {"VolumeType": ""}))
        for disk_id in _disk_ids(instance)
    ]
    promises = [disk for disk in disks if disk is not None]
    return reach_of(promises) if len(promises) == len(disks) else {}


def _spec_of(disk: Item) -> VolumeSpec | None:
    """The promise of a volume; None for a type or a size that is not known here."""
    try:
        return volume_spec(
            disk["VolumeType"], disk["Size"], iops=disk.get("Iops"), mib_s=disk.get("Throughput")
        )
    except (ValueError, KeyError):
        return None


def _least_of(spec: Item | None, weighting: str) -> Item | None:
    """A type with the least of its sustained throughput that a weighting of the bandwidth may leave.

    Raises:
        ValueError: where AWS does not say how much there is to shift.
    """
    info = {} if spec is None else spec.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    sustained, reached = (
        info.get(f"{name}ThroughputInMBps", 0.0) for name in ("Baseline", "Maximum")
    )
    if spec is None or sustained >= reached:  # it has no bucket, and AWS publishes no balance
        return spec
    cards = spec.get("NetworkInfo", {}).get("NetworkCards", ())
    gbps = [card.get("BaselineBandwidthInGbps") for card in cards]
    if not gbps or None in gbps:
        msg = f"its bandwidth is weighted ({weighting}), and AWS does not say what its network sustains"
        raise ValueError(msg)
    least = max(0.0, sustained - MOST_SHIFTED.value * sum(gbps) * MB_S_PER_GBPS)
    optimized = {**info, "BaselineThroughputInMBps": least}
    return {**spec, "EbsInfo": {**spec["EbsInfo"], "EbsOptimizedInfo": optimized}}


def _of_instance(resource: Resource) -> tuple[tuple[str, str], ...]:
    return (("InstanceId", resource.id),)


#: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html (2026-11)
CHECKS = (
    LimitCheck(
        metric="InstanceEBSIOPSExceededCheck",
        limit=LIMITS["instance_iops"],
        dimensions=_of_instance,
    ),
    LimitCheck(
        metric="InstanceEBSThroughputExceededCheck",
        limit=LIMITS["instance_throughput"],
        dimensions=_of_instance,
    ),
)


class Ec2InstanceEbs(InstanceEbs):
    """EC2 instances with EBS credits."""

    traffic = TRAFFIC
    word = "type"

    name = "ec2_instance_ebs"
    namespace = "AWS/EC2"
    dimensions = ("InstanceId",)
    inventory = INSTANCES
    tagging = TAGGING
    lookups = (
        Lookup(name=TYPES, listing=INSTANCE_TYPES, find_ids=types_in("inventory")),
        Lookup(name=DISKS, listing=VOLUMES, find_ids=_disks_that_matter),
        Lookup(name=SIZES, listing=INSTANCE_TYPES, find_ids=families_that_burst),
    )
    demand_metrics = tuple(DemandMetric(name=name) for name in TRAFFIC.metrics)
    checks = CHECKS
    console = "ec2/home?region={region}#InstanceDetails:instanceId={id}"
    spenders = READERS_AND_WRITERS

    def describe(self, thing: Thing, related: Related, now: float) -> tuple[Resource, ...]:
        """The instance's two buckets, or the one reason why it has none.

        Raises:
            ValueError: if the type's numbers are not known: then nothing can be said of it.
        """
        instance_type, started_s = thing.item["InstanceType"], started_at(thing.item)
        resource = Resource(
            kind=self.name,
            id=thing.id,
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=None,
            limit=NO_RATE,
            reporting=Reporting(
                in_use=is_instance_running(thing.item),
                in_use_since_s=started_s,
                reports_when_idle=True,
                # History from before its last start says nothing of now, and silence since then is no late data.
                history_from_s=started_s,
                published_every_s=BASIC_PERIOD_S,
            ),
            changes=Changes(
                managed_by=managed_by(thing.item),
                replaced_by=replaced_by(thing.item),
                place=place_of_instance(thing.item, thing.unit),
            ),
            words=Words(facts={"type": instance_type, "instance_type": instance_type}),
        )
        spec = related[TYPES].get(instance_type)
        weighting = (thing.item.get("NetworkPerformanceOptions") or {}).get("BandwidthWeighting")
        if weighting not in NOT_LESS:
            words = replace(resource.words, caveats=(f"{WEIGHTED} ({weighting})",))
            weighted = replace(resource, words=words)
            return buckets_of(
                weighted, instance_type, _least_of(spec, weighting), _reach(thing.item, related)
            )
        buckets = buckets_of(resource, instance_type, spec, _reach(thing.item, related))
        sizes = sizes_of(instance_type, related)
        return tuple(replace(resource, detail=sizes) for resource in buckets)

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """The smallest size of its family that sustains it, where AWS lists one. What it costs is not known here."""
        smallest = smallest_of(resource, demand)
        if smallest is None or resource.bucket is None:
            yield from super().fixes(resource, demand, rates)
            return
        sustained, reached = dict(smallest.rates)[resource.level_metric]
        yield Fix(
            action=f"change to {smallest.type}",
            effect=f"sustains {number(sustained)} {resource.words.rate_unit}{LOSES_STORE if smallest.has_store else ''}",
            takes=STOPS,
            is_for_good=smallest.has_store,
            commands=retyped(resource.id, resource.region, smallest.type),
            afterwards=Afterwards(bucket=bursting(sustained, reached), rate=reached),
        )

    def listed(self, instance_type: str) -> Item:
        """An instance of the type."""
        return {"InstanceId": "i-example", "InstanceType": instance_type}


KIND = Ec2InstanceEbs()

"""EC2 instances: the I/O and byte credits that all volumes of the instance share."""

from burstwatch.ebs.load import Traffic
from burstwatch.history.observations import Resource
from burstwatch.kinds._disk import LIMITS, cause_of, estimated_spent
from burstwatch.kinds._ec2 import (
    INSTANCE_TYPES,
    INSTANCES,
    TAGGING,
    is_instance_running,
    managed_by,
    replaced_by,
    started_at,
    types_in,
)
from burstwatch.kinds._instance_ebs import (
    BASIC_PERIOD_S,
    BYTE_BALANCE,
    IO_BALANCE,
    NO_RATE,
    buckets_of,
    fixes_of,
    instance_example,
)
from burstwatch.kinds.base import DemandMetric, Kind, LimitCheck, Lookup, Related, Thing

TRAFFIC = Traffic(
    read_ops="EBSReadOps",
    write_ops="EBSWriteOps",
    read_bytes="EBSReadBytes",
    write_bytes="EBSWriteBytes",
)
TYPES = "instance_types"


def describe(thing: Thing, related: Related, now: float) -> tuple[Resource, ...]:
    """The instance's two buckets, or the one reason why it has none.

    Raises:
        ValueError: if the type's numbers are not known: then nothing can be said of it.
    """
    instance_type, started_s = thing.item["InstanceType"], started_at(thing.item)
    resource = Resource(
        kind=KIND.name,
        id=thing.id,
        name=thing.name,
        tags=thing.tags,
        unit=thing.unit,
        bucket=None,
        limit=NO_RATE,
        in_use=is_instance_running(thing.item),
        in_use_since_s=started_s,
        reports_when_idle=True,
        # History from before its last start says nothing of now, and silence since then is no late data.
        history_from_s=started_s,
        published_every_s=BASIC_PERIOD_S,
        managed_by=managed_by(thing.item),
        replaced_by=replaced_by(thing.item),
        facts={"type": instance_type, "instance_type": instance_type},
    )
    return buckets_of(resource, instance_type, related[TYPES].get(instance_type))


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

KIND = Kind(
    name="ec2_instance_ebs",
    namespace="AWS/EC2",
    dimensions=("InstanceId",),
    inventory=INSTANCES,
    tagging=TAGGING,
    lookups=(Lookup(name=TYPES, listing=INSTANCE_TYPES, find_ids=types_in("inventory")),),
    level_metrics=(IO_BALANCE, BYTE_BALANCE),
    demand_metrics=tuple(DemandMetric(name=name) for name in TRAFFIC.metrics),
    checks=CHECKS,
    describe=describe,
    spent=estimated_spent(TRAFFIC),
    console="ec2/home?region={region}#InstanceDetails:instanceId={id}",
    limits=LIMITS,
    cause=cause_of(TRAFFIC),
    fixes=fixes_of("type"),
    example=instance_example(
        TRAFFIC, lambda type_: {"InstanceId": "i-example", "InstanceType": type_}
    ),
)

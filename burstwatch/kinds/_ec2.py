"""EC2's dialect: ``Filters`` with wildcards, ``Tags``; the listings that several kinds read."""

from collections.abc import Callable, Mapping, Sequence

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.volumes import InstanceLimits
from burstwatch.fixes.fix import Command
from burstwatch.kinds._names import replacer_of
from burstwatch.kinds.base import (
    Arguments,
    Item,
    Listing,
    Scope,
    Tagging,
    identified_by,
    place_of,
)

#: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html (2026-11)
FILTER_VALUES = 200
#: AWS used to take 5 to 1,000 and returned 1,000 if more were asked for (aws-sdk-java 1.11,
#: ``DescribeVolumesRequest``). The documentation of 2026-11 states no limit.
PAGE_SIZE = 1_000
#: Seconds: an attachment older than the start by this much is of an earlier start.
FIRST_START_S = 60.0
#: The states of an instance in which it does no I/O; in one that is not known here it may.
AT_REST = frozenset({"pending", "stopped", "terminated"})
#: Where the processes are seen that read and write.
READERS_AND_WRITERS = "its processes (`pidstat -d 5 3`)"


def filtered_by(id_filter: str = "", *, parent_filter: str = "") -> Callable[[Scope], Arguments]:
    """The filters of a call. Ids end in hexadecimal digits, so a wildcard selects a shard."""

    def arguments(scope: Scope) -> Arguments:
        values_by_filter: dict[str, list[str]] = {}
        if scope.tag is not None:
            key, value = scope.tag
            values_by_filter[f"tag:{key}"] = [value]
        if scope.parents:
            values_by_filter[parent_filter] = list(scope.parents)
        if scope.ids:
            values_by_filter[id_filter] = list(scope.ids)
        elif not scope.shard.is_whole:
            values_by_filter[id_filter] = [f"*{digit}" for digit in scope.shard.digits]
        filters = [{"Name": name, "Values": values} for name, values in values_by_filter.items()]
        return {"Filters": filters} if filters else {}

    return arguments


def with_managed(arguments: Callable[[Scope], Arguments]) -> Callable[[Scope], Arguments]:
    """The arguments of a call that also lists what services of AWS manage, such as the nodes of EKS Auto Mode.

    Since 2026-04-22 AWS hides those from whoever does not ask for them, unless an account says otherwise:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GetManagedResourceVisibility.html (2026-11)
    """
    return lambda scope: {**arguments(scope), "IncludeManagedResources": True}


INSTANCES = Listing(
    service="ec2",
    operation="DescribeInstances",
    items="Reservations[].Instances[]",
    identify=identified_by("InstanceId"),
    arguments=with_managed(filtered_by("instance-id")),
    ids_per_call=FILTER_VALUES,
    page_size=PAGE_SIZE,
)
VOLUMES = Listing(
    service="ec2",
    operation="DescribeVolumes",
    items="Volumes[]",
    identify=identified_by("VolumeId"),
    arguments=with_managed(filtered_by("volume-id", parent_filter="attachment.instance-id")),
    ids_per_call=FILTER_VALUES,
    page_size=PAGE_SIZE,
)
#: With what each type promises. AWS takes at most a hundred on a page.
INSTANCE_TYPES = Listing(
    service="ec2",
    operation="DescribeInstanceTypes",
    items="InstanceTypes[]",
    identify=identified_by("InstanceType"),
    arguments=filtered_by("instance-type"),
    ids_per_call=FILTER_VALUES,
    page_size=100,
)
TAGGING = Tagging(
    service="ec2",
    put_operation="CreateTags",
    remove_operation="DeleteTags",
    arns=("ec2:*:*:instance/*", "ec2:*:*:volume/*"),
    target=lambda thing: {"Resources": [thing.id]},
    removed=lambda key: {"Tags": [{"Key": key}]},
)


def is_instance_running(instance: Item) -> bool:
    """True if an instance can do I/O now; one whose state is not known may."""
    return instance.get("State", {}).get("Name") not in AT_REST


def started_at(instance: Item) -> float | None:
    """When an instance was last started, in seconds since the epoch, where that is known."""
    return instance["LaunchTime"].timestamp() if "LaunchTime" in instance else None


def is_restarted(instance: Item) -> bool:
    """True if it ran before its last start: then something was attached to it earlier."""
    started_s = started_at(instance)
    attached = [
        interface["Attachment"]["AttachTime"].timestamp()
        for interface in instance.get("NetworkInterfaces", ())
        if "AttachTime" in interface.get("Attachment", {})
    ] + [
        mapping["Ebs"]["AttachTime"].timestamp()
        for mapping in instance.get("BlockDeviceMappings", ())
        if "AttachTime" in mapping.get("Ebs", {})
    ]
    return started_s is not None and any(at < started_s - FIRST_START_S for at in attached)


def limits_from_aws(instance_type: Item) -> InstanceLimits | None:
    """The limits of an instance of a type over all its volumes, if AWS says them."""
    info = instance_type.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    if not info:
        return None
    sustained = info.get("BaselineIops"), info.get("BaselineThroughputInMBps")
    return InstanceLimits(
        iops=float(info["MaximumIops"]),
        mib_s=info["MaximumThroughputInMBps"] * MIB_PER_MB,
        baseline_iops=None if sustained[0] is None else float(sustained[0]),
        baseline_mib_s=None if sustained[1] is None else sustained[1] * MIB_PER_MB,
    )


def replaced_by(instance: Item) -> str:
    """The template of an instance that may not be stopped, in words; empty where it may be.

    An Auto Scaling group ends an instance that stops, and starts another:
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-health-checks.html (2026-11)
    The type of a Spot instance cannot be changed:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-resize.html (2026-11)
    """
    replacer = replacer_of({tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())})
    is_spot = instance.get("InstanceLifecycle") == "spot"
    return replacer or ("the request for Spot instances" if is_spot else "")


def place_of_instance(instance: Item, unit: str) -> str:
    """The place of an instance outside of the zones of its region, or nothing."""
    zone = (instance.get("Placement") or {}).get("AvailabilityZone") or ""
    return place_of(zone, unit, outpost=instance.get("OutpostArn") or "")


def managed_by(item: Item) -> str:
    """The service that alone may change a volume or an instance, such as EKS Auto Mode; empty where anybody may."""
    operator = item.get("Operator", {})
    return operator.get("Principal", "an AWS service") if operator.get("Managed") else ""


def retyped(instance_id: str, region: str, instance_type: str) -> tuple[Command, ...]:
    """The commands that give an instance another type: it is stopped, changed and started again."""
    ids = {"InstanceIds": [instance_id]}

    def command(operation: str, parameters: Arguments, *, is_waiter: bool = False) -> Command:
        return Command(
            service="ec2",
            operation=operation,
            region=region,
            parameters=parameters,
            is_waiter=is_waiter,
        )

    change = {"InstanceId": instance_id, "InstanceType": {"Value": instance_type}}
    return (
        command("StopInstances", ids),
        command("InstanceStopped", ids, is_waiter=True),
        command("ModifyInstanceAttribute", change),
        command("StartInstances", ids),
    )


def types_in(name: str) -> Callable[[Mapping[str, Sequence[Item]]], set[str]]:
    """The instance types of the items that were found under a name."""
    return lambda lists: {item["InstanceType"] for item in lists.get(name, ())}

"""An account on an emulator: real resources of every kind that it has, and their metrics."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.client.names import (
    ALARM_PERIOD_S,
    NAMESPACE,
    SEVERITY_METRIC,
    alarm_name,
)
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.shards import Unit
from tests.kinds.playing import examples_of, level_value, to_the_limit

MINUTE_S = 60
#: How many minutes the load has lasted, and were calm before; and how many are published of what is calm.
LOADED, CALM, QUIET = 40, 10, 10
#: A volume's Name, and that of the file system that has what a snooze is tried on.
NAME = "orders-db"


def make_resources(clients: Clients, kinds: Collection[str]) -> None:
    """One of each that can be made without Docker; databases and file systems only where the emulator has such ``kinds``."""
    ec2 = clients("ec2")
    zone = f"{clients.region}a"
    image = "ami-12345678"
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": NAME}]}]
    (host,) = ec2.run_instances(ImageId=image, InstanceType="m5.8xlarge", MinCount=1, MaxCount=1)[
        "Instances"
    ]
    for instance_type in ("t3.medium", "m5.large"):
        ec2.run_instances(ImageId=image, InstanceType=instance_type, MinCount=1, MaxCount=1)
    for device, volume_type, size_gib in (("f", "gp2", 100), ("g", "st1", 500)):
        volume = ec2.create_volume(
            AvailabilityZone=zone, Size=size_gib, VolumeType=volume_type,
            **({"TagSpecifications": tags} if volume_type == "gp2" else {}),
        )["VolumeId"]  # fmt: skip
        ec2.attach_volume(VolumeId=volume, InstanceId=host["InstanceId"], Device=f"/dev/sd{device}")
    if "rds_storage" not in kinds:
        return
    clients("rds").create_db_instance(
        DBInstanceIdentifier="orders", DBInstanceClass="db.t3.medium", Engine="postgres",
        AllocatedStorage=100, StorageType="gp2", MasterUsername="owner", MasterUserPassword="not-a-secret",
    )  # fmt: skip
    clients("neptune").create_db_cluster(DBClusterIdentifier="links", Engine="neptune")
    clients("neptune").create_db_instance(
        DBInstanceIdentifier="graph", DBInstanceClass="db.t3.medium", Engine="neptune",
        DBClusterIdentifier="links",
    )  # fmt: skip
    clients("efs").create_file_system(CreationToken="home")
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    clients("fsx").create_file_system(
        FileSystemType="WINDOWS", StorageCapacity=2_000, StorageType="HDD", SubnetIds=[subnet],
        WindowsConfiguration={"ThroughputCapacity": 32},
    )  # fmt: skip


def find_resources(clients: Clients, account: str) -> list[tuple[Kind, Resource]]:
    """What burstwatch finds there, each with its kind."""
    kinds = find_kinds()
    snapshot = look(
        Unit(account=account, region=clients.region), list(kinds.values()), clients, Config(), Memory(),
        now=time.time(), deadline=Deadline(lambda: 0.0, at=3_600.0),
    )  # fmt: skip
    assert not snapshot.problems, snapshot.problems
    return [(kinds[resource.kind], resource) for resource, _ in snapshot.buckets]


class Metrics:
    """Publishes what AWS would: the level and the demand of each resource, minute by minute."""

    def __init__(self, clients: Clients, resources: Sequence[tuple[Kind, Resource]]) -> None:
        self._cloudwatch, self._resources = clients("cloudwatch"), resources
        #: Until when it was published.
        self._last = int(time.time()) // MINUTE_S * MINUTE_S

    def put_past(self, is_draining: Callable[[Resource], bool]) -> None:
        """An hour: calm, and then at the limit for what drains, down to a few minutes before the end."""
        for kind, resource in self._resources:
            drains = is_draining(resource)
            for back in range(1, (LOADED + CALM if drains else QUIET) + 1):
                at = self._last - MINUTE_S * back
                is_loaded = drains and back <= LOADED
                level = self._level(resource, back) if drains else 1.0
                self._put(kind, resource, at, level=level, is_loaded=is_loaded)

    def put_until(self, now: float, levels: Mapping[str, float], *, is_loaded: bool) -> None:
        """The minutes that have ended since. ``levels`` by resource; another is full and calm."""
        while self._last + MINUTE_S <= now:
            for kind, resource in self._resources:
                is_named = resource.key in levels
                level = levels.get(resource.key, 1.0)
                self._put(kind, resource, self._last, level=level, is_loaded=is_loaded and is_named)
            self._last += MINUTE_S

    def _level(self, resource: Resource, back: int) -> float:
        bucket = resource.bucket
        assert bucket is not None
        step = (bucket.burst - bucket.refill) * MINUTE_S / bucket.capacity
        return min(1.0, min(0.02, 5 * step) + step * min(back, LOADED))

    def _put(
        self, kind: Kind, resource: Resource, at: float, *, level: float, is_loaded: bool
    ) -> None:
        examples = examples_of(kind)
        factor = to_the_limit(kind, resource, examples) if is_loaded else 0.01
        values = {
            resource.level_metric: level_value(kind, resource, level),
            **{m.name: examples.VALUES[m.name] * factor for m in kind.demand_metrics},
        }
        dimensions = [
            {"Name": name, "Value": value} for name, value in kind.dimensions_of(resource)
        ]
        data: list[dict[str, Any]] = [
            {
                "MetricName": name,
                "Dimensions": dimensions,
                "Timestamp": datetime.fromtimestamp(at, tz=UTC),
                "Value": value,
            }
            for name, value in values.items()
        ]
        self._cloudwatch.put_metric_data(Namespace=kind.namespace, MetricData=data)


def put_alarm_of(clients: Clients, deployment: str, resource: Resource) -> None:
    """An alarm as a sweep makes it, of a resource that may be well by now."""
    dimensions = {"Deployment": deployment, "Kind": resource.kind, "ResourceId": resource.id}
    clients("cloudwatch").put_metric_alarm(
        AlarmName=alarm_name("", resource.id, "critical", deployment=deployment),
        Namespace=NAMESPACE, MetricName=SEVERITY_METRIC,
        Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
        Statistic="Maximum", Period=ALARM_PERIOD_S, EvaluationPeriods=1, Threshold=2,
        ComparisonOperator="GreaterThanOrEqualToThreshold", TreatMissingData="ignore",
    )  # fmt: skip

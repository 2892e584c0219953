"""Other things with credits than volumes, of any number, reported by rule: instances, databases, file systems, caches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.fake.herd import starts_of

#: Of twenty things that are no volumes: the services by their share, in order.
SHARES = {"ec2": 8, "rds": 4, "efs": 2, "elasticache": 6}
OF = sum(SHARES.values())
#: Of ten of a service, those that stand off full; the others are full and at rest.
OFF_FULL_OF_TEN = 2
LAUNCHED = datetime(2026, 1, 1, tzinfo=UTC)
ACCOUNT = "us-east-1:123456789012"
EFS_BYTES = 1024**4
EFS_FULL = 2_308_974_418_330.0
#: What metrics of each service are when a thing stands off full, and when it is full and at rest.
#: Sums are by the minute.
VALUES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "AWS/EC2": {
        "CPUCreditBalance": (300.0, 576.0),
        "CPUCreditUsage": (0.4, 0.02),
        "EBSIOBalance%": (99.0, 100.0),
        "EBSByteBalance%": (99.0, 100.0),
        "EBSReadOps": (3_000.0, 60.0),
        "EBSWriteOps": (3_000.0, 60.0),
        "EBSReadBytes": (3_000.0 * 16_384, 983_040.0),
        "EBSWriteBytes": (3_000.0 * 16_384, 983_040.0),
    },
    "AWS/ElastiCache": {"CPUCreditBalance": (300.0, 576.0), "CPUCreditUsage": (0.4, 0.02)},
    "AWS/RDS": {
        "CPUCreditBalance": (300.0, 576.0),
        "CPUCreditUsage": (0.4, 0.02),
        "BurstBalance": (60.0, 100.0),
        "EBSIOBalance%": (60.0, 100.0),
        "EBSByteBalance%": (100.0, 100.0),
        "ReadIOPS": (150.0, 2.0),
        "WriteIOPS": (150.0, 2.0),
        "ReadThroughput": (150.0 * 16_384, 32_768.0),
        "WriteThroughput": (150.0 * 16_384, 32_768.0),
    },
    "AWS/EFS": {
        "BurstCreditBalance": (0.6 * EFS_FULL, EFS_FULL),
        "MeteredIOBytes": (50 * 1024**2 * 60.0, 1024**2 * 60.0),
    },
}
SUMS = {
    "CPUCreditUsage",
    "MeteredIOBytes",
    "EBSReadOps",
    "EBSWriteOps",
    "EBSReadBytes",
    "EBSWriteBytes",
}


@dataclass(frozen=True)
class Mixed:
    """``count`` things that are no volumes."""

    count: int

    def items(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Each as its service lists it, with the service and the operation."""
        for number in range(self.count):
            service = service_of(number)
            yield {"ec2": _instance, "rds": _database, "efs": _file_system, "elasticache": _cache}[
                service
            ](number)
            if service == "ec2":
                yield _root_volume(number)
            if service == "elasticache":
                tagged = {"ResourceARN": _cache(number)[2]["ARN"], "Tags": []}
                yield "resourcegroupstaggingapi", "GetResources", tagged

    def has(self, namespace: str, name: str, dimensions: Mapping[str, str]) -> bool:
        """Whether there is such a metric."""
        return name in VALUES.get(namespace, {}) and _number(dimensions) is not None

    def values(
        self,
        namespace: str,
        name: str,
        dimensions: Mapping[str, str],
        start_s: float,
        end_s: float,
        period_s: int,
    ) -> tuple[Sequence[float], Sequence[float]]:
        """The starts and the values of the periods from ``start_s`` up to ``end_s``."""
        number = _number(dimensions)
        assert number is not None
        starts = starts_of(start_s, end_s, period_s)
        off_full, full = VALUES[namespace][name]
        value = off_full if number // OF % 10 < OFF_FULL_OF_TEN else full
        return starts, [value * (period_s / 60 if name in SUMS else 1)] * len(starts)


def service_of(number: int) -> str:
    """The service of one thing."""
    place = number % OF
    for service, share in SHARES.items():
        if place < share:
            return service
        place -= share
    raise AssertionError(number)


def _number(dimensions: Mapping[str, str]) -> int | None:
    for value in dimensions.values():
        if value.startswith(("i-0b", "fs-0b")):
            return int(value.rpartition("-0b")[2], 16)
        if value.startswith(("db-mixed-", "cache-mixed-")):
            return int(value.rpartition("-")[2])
    return None


def _instance(number: int) -> tuple[str, str, dict[str, Any]]:
    return (
        "ec2",
        "DescribeInstances",
        {
            "InstanceId": f"i-0b{number:015x}",
            "InstanceType": "t3.medium" if number % 2 else "m5.large",
            "State": {"Name": "running"},
            "LaunchTime": LAUNCHED,
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvda", "Ebs": {"VolumeId": f"vol-0b{number:015x}"}}
            ],
        },
    )


def _root_volume(number: int) -> tuple[str, str, dict[str, Any]]:
    """The one volume of an instance: gp3, which has no credits of its own."""
    attachment = {
        "InstanceId": f"i-0b{number:015x}",
        "Device": "/dev/xvda",
        "State": "attached",
    }
    return (
        "ec2",
        "DescribeVolumes",
        {
            "VolumeId": f"vol-0b{number:015x}",
            "VolumeType": "gp3",
            "Size": 40,
            "Iops": 3_000,
            "Throughput": 125,
            "Attachments": [attachment],
        },
    )


def _database(number: int) -> tuple[str, str, dict[str, Any]]:
    name = f"db-mixed-{number}"
    return (
        "rds",
        "DescribeDBInstances",
        {
            "DBInstanceIdentifier": name,
            "DBInstanceArn": f"arn:aws:rds:{ACCOUNT}:db:{name}",
            "DBInstanceClass": "db.t3.medium" if number % 2 else "db.m5.large",
            "DBInstanceStatus": "available",
            "Engine": "postgres",
            "StorageType": "gp2",
            "AllocatedStorage": 100,
            "InstanceCreateTime": LAUNCHED,
        },
    )


def _file_system(number: int) -> tuple[str, str, dict[str, Any]]:
    name = f"fs-0b{number:015x}"
    size = {"Value": EFS_BYTES, "ValueInStandard": EFS_BYTES, "ValueInIA": 0}
    return (
        "efs",
        "DescribeFileSystems",
        {
            "FileSystemId": name,
            "FileSystemArn": f"arn:aws:elasticfilesystem:{ACCOUNT}:file-system/{name}",
            "ThroughputMode": "bursting",
            "NumberOfMountTargets": 2,
            "SizeInBytes": size,
            "Tags": [],
        },
    )


def _cache(number: int) -> tuple[str, str, dict[str, Any]]:
    name = f"cache-mixed-{number}"
    return (
        "elasticache",
        "DescribeCacheClusters",
        {
            "CacheClusterId": name,
            "ARN": f"arn:aws:elasticache:{ACCOUNT}:cluster:{name}",
            "CacheNodeType": "cache.t3.medium",
            "CacheClusterStatus": "available",
            "CacheClusterCreateTime": LAUNCHED,
            "CacheNodes": [{"CacheNodeId": "0001"}],
        },
    )

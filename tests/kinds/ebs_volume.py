"""Worked examples of the kind ``ebs_volume``."""

from datetime import UTC, datetime
from typing import Any

METRICS_PAGE = "https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html"
METRICS_READ = "2026-11"
DOCUMENTED_DIMENSIONS = {"VolumeId", "InstanceId"}
DOCUMENTED_METRICS = {
    "BurstBalance", "VolumeReadBytes", "VolumeWriteBytes", "VolumeReadOps", "VolumeWriteOps",
    "VolumeTotalReadTime", "VolumeTotalWriteTime", "VolumeIdleTime", "VolumeQueueLength",
    "VolumeThroughputPercentage", "VolumeConsumedReadWriteOps", "VolumeStalledIOCheck",
    "VolumeAvgReadLatency", "VolumeAvgWriteLatency", "VolumeIOPSExceededCheck",
    "VolumeThroughputExceededCheck", "VolumeAvgIOPS", "VolumeAvgThroughput",
}  # fmt: skip

ITEMS: list[dict[str, Any]] = [
    {
        "VolumeId": "vol-0aaaaaaaaaaaaaaa1",
        "VolumeType": "gp2",
        "Size": 100,
        "Attachments": [
            {"InstanceId": "i-0aaaaaaaaaaaaaaa1", "Device": "/dev/sdf", "State": "attached"}
        ],
        "Tags": [{"Key": "Name", "Value": "orders-db"}],
    },
    {"VolumeId": "vol-0aaaaaaaaaaaaaaa2", "VolumeType": "st1", "Size": 500, "Attachments": []},
    {
        "VolumeId": "vol-0aaaaaaaaaaaaaaa3",
        "VolumeType": "gp3",
        "Size": 100,
        "Iops": 3_000,
        "Throughput": 125,
    },
]

BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    # While a resize from 50 to 100 GiB is not settled, the smaller refill holds.
    "vol-0aaaaaaaaaaaaaaa1/BurstBalance": (150, 3_000, 5_400_000, 1_895),
    "vol-0aaaaaaaaaaaaaaa2/BurstBalance": (19.53125, 122.0703125, 512_000, 4_993),
    "vol-0aaaaaaaaaaaaaaa3/BurstBalance": None,
}

FOUND: dict[str, dict[str, dict[str, Any]]] = {
    "instances": {
        "i-0aaaaaaaaaaaaaaa1": {"InstanceId": "i-0aaaaaaaaaaaaaaa1", "InstanceType": "m5.large"}
    },
    "instance_types": {
        "m5.large": {
            "InstanceType": "m5.large",
            "Hypervisor": "nitro",
            "EbsInfo": {
                "EbsOptimizedInfo": {"MaximumIops": 18_750, "MaximumThroughputInMBps": 593.75}
            },
        }
    },
    "modifications": {
        "vol-0aaaaaaaaaaaaaaa1": {
            "VolumeId": "vol-0aaaaaaaaaaaaaaa1",
            "ModificationState": "optimizing",
            "OriginalVolumeType": "gp2",
            "OriginalSize": 50,
            "TargetVolumeType": "gp2",
            "TargetSize": 100,
            "StartTime": datetime(2026, 9, 1, tzinfo=UTC),
        }
    },
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the credits per second that it may have cost.
VALUES = {
    "VolumeReadOps": 6_000.0,
    "VolumeWriteOps": 12_000.0,
    "VolumeReadBytes": 6_000 * 16_384.0,
    "VolumeWriteBytes": 12_000 * 16_384.0,
}
NOMINAL_PER_S = 300.0

#: By hand, with a load above what comes in.
SPEC = {"type": "gp2", "size_gib": "100"}
LOAD = {"iops": 3000}

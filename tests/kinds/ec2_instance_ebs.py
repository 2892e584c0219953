"""Worked examples of the kind ``ec2_instance_ebs``."""

from datetime import UTC, datetime
from typing import Any

METRICS_PAGE = (
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html"
)
METRICS_READ = "2026-11"
DOCUMENTED_DIMENSIONS = {"InstanceId"}
DOCUMENTED_METRICS = {
    "EBSReadOps", "EBSWriteOps", "EBSReadBytes", "EBSWriteBytes", "EBSIOBalance%",
    "EBSByteBalance%", "InstanceEBSIOPSExceededCheck", "InstanceEBSThroughputExceededCheck",
}  # fmt: skip

ITEMS: list[dict[str, Any]] = [
    {
        "InstanceId": "i-0aaaaaaaaaaaaaaa1",
        "InstanceType": "m5.large",
        "State": {"Code": 16, "Name": "running"},
        "LaunchTime": datetime(2026, 9, 1, tzinfo=UTC),
        "Tags": [{"Key": "Name", "Value": "orders-db"}],
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeId": "vol-0aaaaaaaaaaaaaae1"}}
        ],
    },
    {"InstanceId": "i-0aaaaaaaaaaaaaaa2", "InstanceType": "m5.4xlarge"},
    {"InstanceId": "i-0aaaaaaaaaaaaaaa3", "InstanceType": "c7gn.16xlarge"},
    {"InstanceId": "i-0aaaaaaaaaaaaaaa4", "InstanceType": "m3.medium"},
]


def _type(name: str, iops: tuple[int, int], mb_s: tuple[float, float]) -> dict[str, Any]:
    return {
        "InstanceType": name,
        "Hypervisor": "nitro",
        "EbsInfo": {
            "EbsOptimizedInfo": {
                "BaselineIops": iops[0],
                "MaximumIops": iops[1],
                "BaselineThroughputInMBps": mb_s[0],
                "MaximumThroughputInMBps": mb_s[1],
            }
        },
    }


#: Half an hour of the difference: AWS does not publish the size.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "i-0aaaaaaaaaaaaaaa1/EBSIOBalance%": (3_600, 18_750, 27_270_000, 1_800),
    "i-0aaaaaaaaaaaaaaa2/EBSIOBalance%": None,
    "i-0aaaaaaaaaaaaaaa3/EBSIOBalance%": None,
    "i-0aaaaaaaaaaaaaaa4/EBSIOBalance%": None,
}

#: Sizes of one family: what AWS lists for a filter ``m5.*``.
SIZES = [
    _type("m5.large", (3_600, 18_750), (81.25, 593.75)),
    _type("m5.xlarge", (6_000, 18_750), (143.75, 593.75)),
    _type("m5.2xlarge", (12_000, 18_750), (287.5, 593.75)),
    _type("m5.4xlarge", (18_750, 18_750), (593.75, 593.75)),
    {**_type("m5.metal", (80_000, 80_000), (2_375.0, 2_375.0)), "BareMetal": True},
]

FOUND: dict[str, dict[str, dict[str, Any]]] = {
    "sizes": {size["InstanceType"]: size for size in SIZES},
    "instance_types": {
        "m5.large": _type("m5.large", (3_600, 18_750), (81.25, 593.75)),
        "m5.4xlarge": _type("m5.4xlarge", (18_750, 18_750), (593.75, 593.75)),
        "c7gn.16xlarge": _type("c7gn.16xlarge", (133_333, 160_000), (4_166.0, 5_000.0)),
        "m3.medium": {"InstanceType": "m3.medium", "Hypervisor": "xen"},
    },
    "disks": {
        "vol-0aaaaaaaaaaaaaae1": {
            "VolumeId": "vol-0aaaaaaaaaaaaaae1",
            "VolumeType": "gp3",
            "Size": 40,
            "Iops": 3_000,
            "Throughput": 125,
        }
    },
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the I/O credits per second that it may have cost.
VALUES = {
    "EBSReadOps": 60_000.0,
    "EBSWriteOps": 120_000.0,
    "EBSReadBytes": 60_000 * 16_384.0,
    "EBSWriteBytes": 120_000 * 16_384.0,
}
NOMINAL_PER_S = 3_000.0

#: By hand, with a load above what comes in.
SPEC = {
    "type": "m5.large",
    "baseline_iops": "3600",
    "maximum_iops": "18750",
    "baseline_mb_s": "81.25",
    "maximum_mb_s": "593.75",
}
LOAD = {"iops": 10000}

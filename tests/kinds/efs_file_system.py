"""Worked examples of the kind ``efs_file_system``."""

from typing import Any

METRICS_PAGE = "https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"FileSystemId"}
DOCUMENTED_METRICS = {
    "BurstCreditBalance", "PermittedThroughput", "MeteredIOBytes", "TotalIOBytes", "DataReadIOBytes",
    "DataWriteIOBytes", "MetadataIOBytes", "ClientConnections", "PercentIOLimit", "StorageBytes",
}  # fmt: skip

GIB = 1024**3


def _file_system(
    name: str, size_gib: float, mode: str = "bursting", targets: int = 2
) -> dict[str, Any]:
    size = round(size_gib * GIB)
    return {
        "FileSystemId": name,
        "FileSystemArn": f"arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/{name}",
        "ThroughputMode": mode,
        "NumberOfMountTargets": targets,
        "SizeInBytes": {"Value": size, "ValueInStandard": size, "ValueInIA": 0},
        "Tags": [],
    }


#: A size that is a whole number of steps of 5 %, so that rounding down changes nothing.
SIZE_GIB = 1.05**510 / GIB
ITEMS: list[dict[str, Any]] = [
    {
        **_file_system("fs-0aaaaaaaaaaaaaaa1", SIZE_GIB),
        "Name": "orders",
        "Tags": [{"Key": "Name", "Value": "orders-db"}],
    },
    _file_system("fs-0aaaaaaaaaaaaaaa2", 100, mode="elastic"),
    _file_system("fs-0aaaaaaaaaaaaaaa3", 100, mode="provisioned"),
    _file_system("fs-0aaaaaaaaaaaaaaa4", 100, targets=0),
    _file_system("fs-0aaaaaaaaaaaaaaa5", 0),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}

FULL_MIB = 2.1 * 1024 * 1024
EARNED = SIZE_GIB * 50 / 1024
#: 50 MiB/s per TiB, 100 MiB/s and 2.1 TiB up to a TiB.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "fs-0aaaaaaaaaaaaaaa1/BurstCreditBalance": (
        EARNED,
        100,
        FULL_MIB,
        round(FULL_MIB / (100 - EARNED)),
    ),
    "fs-0aaaaaaaaaaaaaaa2/BurstCreditBalance": None,
    "fs-0aaaaaaaaaaaaaaa3/BurstCreditBalance": None,
}

#: The share of the first bucket that values of its level metric stand for; AWS rounds up.
LEVELS = {0.0: 0.0, FULL_MIB * 1024 * 1024 / 2: 0.5, 2_308_974_418_330.0: 1.0}
#: One minute of the first item, and the MiB a second that were metered.
VALUES = {"MeteredIOBytes": 60 * 40 * 1024.0 * 1024.0}
NOMINAL_PER_S = 40.0

#: By hand, with a load above what comes in.
SPEC = {"size_gib": "256"}
LOAD = {"mib_s": 100}

"""Worked examples of the kind ``fsx_hdd_volume``."""

from typing import Any

from tests.kinds._fsx import (  # noqa: F401 - read by the conformance test
    DOCUMENTED_DIMENSIONS,
    DOCUMENTED_METRICS,
    METRICS_PAGE,
    METRICS_READ,
    TAGS,
    file_system,
)

ITEMS: list[dict[str, Any]] = [
    file_system("fs-0ccccccccccccccc1", Tags=TAGS, StorageType="HDD", StorageCapacity=2_048),
    file_system("fs-0ccccccccccccccc2", StorageType="HDD", StorageCapacity=20_480),
    file_system("fs-0ccccccccccccccc3"),
    file_system(
        "fs-0ccccccccccccccc4", FileSystemType="LUSTRE", StorageType="HDD", StorageCapacity=6_000
    ),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}

#: Those of the page: 12 and 80 MiB/s and a TiB of credits per TiB, 1 GiB/s at the most.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "fs-0ccccccccccccccc1.hdd/DiskThroughputBalance": (24, 160, 2_097_152, 15_420),
    "fs-0ccccccccccccccc2.hdd/DiskThroughputBalance": (240, 1_024, 20_971_520, 26_749),
    "fs-0ccccccccccccccc3.hdd/DiskThroughputBalance": None,
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the MiB a second that it may have cost.
VALUES = {
    "DiskReadOperations": 3_600.0,
    "DiskWriteOperations": 3_600.0,
    "DiskReadBytes": 3_600 * 1_048_576.0,
    "DiskWriteBytes": 3_600 * 1_048_576.0,
}
NOMINAL_PER_S = 120.0

#: By hand, with a load above what comes in.
SPEC = {"size_gib": "2048"}
LOAD = {"mib_s": 160}

"""Worked examples of the kind ``fsx_file_server``."""

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
    file_system("fs-0bbbbbbbbbbbbbbb1", Tags=TAGS, WindowsConfiguration={"ThroughputCapacity": 64}),
    file_system("fs-0bbbbbbbbbbbbbbb2", WindowsConfiguration={"ThroughputCapacity": 256}),
    file_system("fs-0bbbbbbbbbbbbbbb3"),
    file_system("fs-0bbbbbbbbbbbbbbb4", WindowsConfiguration={"ThroughputCapacity": 16}),
    file_system("fs-0bbbbbbbbbbbbbbb5", FileSystemType="ONTAP"),
    file_system("fs-0bbbbbbbbbbbbbbb6", FileSystemType="LUSTRE"),
    file_system("fs-0bbbbbbbbbbbbbbb7", WindowsConfiguration={"ThroughputCapacity": 48}),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}

MB = 1_000_000 / (1024 * 1024)
#: Half an hour of the difference: AWS does not publish the size.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "fs-0bbbbbbbbbbbbbbb1/FileServerDiskThroughputBalance": (
        64 * MB,
        350 * MB,
        514_800 * MB,
        1_800,
    ),
    "fs-0bbbbbbbbbbbbbbb1/FileServerDiskIopsBalance": (4_000, 16_000, 21_600_000, 1_800),
    "fs-0bbbbbbbbbbbbbbb2/FileServerDiskThroughputBalance": (
        256 * MB,
        600 * MB,
        619_200 * MB,
        1_800,
    ),
    "fs-0bbbbbbbbbbbbbbb3/FileServerDiskThroughputBalance": None,
    "fs-0bbbbbbbbbbbbbbb4/FileServerDiskThroughputBalance": None,
    # What others sustain is not known here: a full bucket is taken to last half an hour, and to fill in a day.
    "fs-0bbbbbbbbbbbbbbb5/FileServerDiskThroughputBalance": (
        1 / 86_400,
        1 / 86_400 + 1 / 1_800,
        1,
        1_800,
    ),
    "fs-0bbbbbbbbbbbbbbb6/FileServerDiskThroughputBalance": None,
    "fs-0bbbbbbbbbbbbbbb7/FileServerDiskIopsBalance": (
        1 / 86_400,
        1 / 86_400 + 1 / 1_800,
        1,
        1_800,
    ),
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the MiB a second that it may have cost.
VALUES = {
    "DiskReadOperations": 60_000.0,
    "DiskWriteOperations": 60_000.0,
    "DiskReadBytes": 60_000 * 65_536.0,
    "DiskWriteBytes": 60_000 * 65_536.0,
}
NOMINAL_PER_S = 125.0

#: By hand, with a load above what comes in.
SPEC = {"throughput_capacity": "64"}
LOAD = {"mib_s": 300}

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
    *(
        file_system(
            f"fs-0ccccccccccccccc{number}",
            FileSystemType="OPENZFS",
            OpenZFSConfiguration={"DeploymentType": deployment, "ThroughputCapacity": capacity},
        )
        for number, (deployment, capacity) in enumerate(
            [
                ("SINGLE_AZ_1", 64),
                ("SINGLE_AZ_HA_2", 640),
                ("MULTI_AZ_1", 640),
                ("SINGLE_AZ_1", 1_024),
                ("SINGLE_AZ_9", 64),
            ]
        )
    ),
    *(
        file_system(
            f"fs-0ddddddddddddddd{number}",
            FileSystemType="ONTAP",
            OntapConfiguration={
                "DeploymentType": deployment,
                "ThroughputCapacityPerHAPair": capacity,
            },
        )
        for number, (deployment, capacity) in enumerate(
            [
                ("SINGLE_AZ_1", 256),
                ("MULTI_AZ_1", 512),
                ("SINGLE_AZ_2", 1_536),
                ("MULTI_AZ_2", 3_072),
                ("SINGLE_AZ_3", 384),
            ]
        )
    ),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}

MB = 1_000_000 / (1024 * 1024)
#: What it sustains is not known here: a full bucket is taken to last half an hour, and to fill in a day.
UNSIZED = (1 / 86_400, 1 / 86_400 + 1 / 1_800, 1, 1_800)
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
    "fs-0bbbbbbbbbbbbbbb5/FileServerDiskThroughputBalance": UNSIZED,
    "fs-0bbbbbbbbbbbbbbb6/FileServerDiskThroughputBalance": None,
    # The tables of OpenZFS; the fourth does not burst, and of the fifth nothing is known.
    "fs-0ccccccccccccccc0/FileServerDiskIopsBalance": (2_500, 40_000, 67_500_000, 1_800),
    "fs-0ccccccccccccccc1/FileServerDiskThroughputBalance": (
        640 * MB,
        3_125 * MB,
        4_473_000 * MB,
        1_800,
    ),
    "fs-0ccccccccccccccc2/FileServerDiskIopsBalance": (20_000, 40_000, 36_000_000, 1_800),
    "fs-0ccccccccccccccc3/FileServerDiskThroughputBalance": None,
    "fs-0ccccccccccccccc4/FileServerDiskThroughputBalance": UNSIZED,
    # ONTAP: two of the first generation, and three later ones.
    "fs-0ddddddddddddddd0/FileServerDiskThroughputBalance": UNSIZED,
    "fs-0ddddddddddddddd1/FileServerDiskThroughputBalance": None,
    "fs-0ddddddddddddddd2/FileServerDiskIopsBalance": UNSIZED,
    "fs-0ddddddddddddddd3/FileServerDiskThroughputBalance": None,
    "fs-0ddddddddddddddd4/FileServerDiskThroughputBalance": UNSIZED,
    "fs-0bbbbbbbbbbbbbbb7/FileServerDiskIopsBalance": UNSIZED,
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

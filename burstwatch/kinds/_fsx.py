"""FSx's dialect: the listing of file systems, their tags, and their reads and writes."""

from burstwatch.ebs.load import Traffic
from burstwatch.fixes.fix import Command
from burstwatch.formatting import clock_time
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Arguments, DemandMetric, Item, Listing, Tagging, identified_by
from burstwatch.shards import thing_id
from burstwatch.sources import Source

PAGE = Source(
    url="https://docs.aws.amazon.com/fsx/latest/WindowsGuide/performance.html",
    read="2023-06",
    note="the table of throughput capacities",
)
#: The file server's I/O on its disks, without reads that its memory answers.
DISK_TRAFFIC = Traffic(
    read_ops="DiskReadOperations",
    write_ops="DiskWriteOperations",
    read_bytes="DiskReadBytes",
    write_bytes="DiskWriteBytes",
)
DISK_METRICS = tuple(DemandMetric(name=name) for name in DISK_TRAFFIC.metrics)
CONSOLE = "fsx/home?region={region}#file-system-details/{id}"
#: Where the users of an SMB share are seen: the FSx for Windows User Guide, "Using the GUI to manage users and sessions" (2026-11)
OPEN_FILES = "the open files of its users (`fsmgmt.msc`, connected to it)"
WINDOWS, SSD = "WINDOWS", "SSD"
NOT_RUNNING = frozenset({"CREATING", "DELETING", "FAILED"})


FILE_SYSTEMS = Listing(
    service="fsx",
    operation="DescribeFileSystems",
    items="FileSystems[]",
    identify=identified_by("FileSystemId"),
    page_size=100,
)


def is_file_system_running(item: Item) -> bool:
    """True if a file system serves anything now."""
    return item.get("Lifecycle", "") not in NOT_RUNNING


#: States of an administrative action in which AWS takes no other of its kind.
UNSETTLED = frozenset({"PENDING", "IN_PROGRESS", "UPDATED_OPTIMIZING", "OPTIMIZING"})
#: The time after a change of the storage in which AWS takes no other.
BETWEEN_CHANGES_S = 6 * 3_600.0
CHANGES = frozenset({"FILE_SYSTEM_UPDATE", "STORAGE_OPTIMIZATION", "THROUGHPUT_OPTIMIZATION"})


def unsettled_change(item: Item, now: float) -> str:
    """The change of a file system that is not completed, in words; empty where there is none.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_AdministrativeAction.html (2026-11)
    """
    for action in item.get("AdministrativeActions", ()):
        if action.get("AdministrativeActionType") in CHANGES and action.get("Status") in UNSETTLED:
            done = action.get("ProgressPercent")
            progress = "" if done is None else f", {done}% done at {clock_time(now, now=now)}"
            return f"the last change of the file system{progress}"
    return ""


def storage_wait(item: Item, now: float) -> str:
    """Until when AWS takes no other change of a storage, in words; empty where it takes one now.

    "You can't increase the storage capacity again until 6 hours after the last increase was requested":
    https://docs.aws.amazon.com/fsx/latest/WindowsGuide/managing-storage-configuration.html (2026-11)
    """
    for action in item.get("AdministrativeActions", ()):
        requested = action.get("RequestTime")
        names_storage = "StorageCapacity" in action.get("TargetFileSystemValues", {})
        if requested is None or not names_storage or action.get("Status") == "FAILED":
            continue
        until_s = requested.timestamp() + BETWEEN_CHANGES_S
        if now < until_s:
            at = clock_time(until_s, now=now)
            return f"the end of the six hours after the last change of the storage ({at})"
    return ""


def update(resource: Resource, parameters: Arguments) -> Command:
    """The command that changes a file system."""
    return Command(
        service="fsx",
        operation="UpdateFileSystem",
        region=resource.region,
        parameters={"FileSystemId": thing_id(resource.id), **parameters},
    )


TAGGING = Tagging(
    service="fsx",
    put_operation="TagResource",
    remove_operation="UntagResource",
    arns=("fsx:*:*:file-system/*",),
    target=lambda thing: {"ResourceARN": thing.item["ResourceARN"]},
)

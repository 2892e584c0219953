"""FSx's dialect: the listing of file systems, their tags, and their reads and writes."""

from burstwatch.ebs.load import Traffic
from burstwatch.kinds.base import DemandMetric, Item, Listing, Tagging, identified_by
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
WINDOWS = "WINDOWS"
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


TAGGING = Tagging(
    service="fsx",
    put_operation="TagResource",
    remove_operation="UntagResource",
    target=lambda thing: {"ResourceARN": thing.item["ResourceARN"]},
)

"""FSx's dialect: the listing of file systems, their tags, and their reads and writes."""

from burstwatch.ebs.load import Traffic
from burstwatch.kinds.base import DemandMetric, Item, Listing, Tagging, Thing
from burstwatch.sources import Source

PAGE = Source(
    url="https://docs.aws.amazon.com/fsx/latest/WindowsGuide/performance.html",
    read="2023-06",
    note="the table of throughput capacities",
)
#: What the file server asks of its disks; a read that its memory answers is not in it.
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


def identify(item: Item) -> Thing:
    """A file system in the common shape."""
    tags = {tag["Key"]: tag["Value"] for tag in item.get("Tags", ())}
    return Thing(id=item["FileSystemId"], name=tags.get("Name", ""), tags=tags, item=item)


FILE_SYSTEMS = Listing(
    service="fsx",
    operation="DescribeFileSystems",
    items="FileSystems[]",
    identify=identify,
    page_size=100,
)


def is_running(item: Item) -> bool:
    """Whether a file system serves anything now."""
    return item.get("Lifecycle", "") not in NOT_RUNNING


TAGGING = Tagging(
    service="fsx",
    put_operation="TagResource",
    put=lambda thing, key, value: {
        "ResourceARN": thing.item["ResourceARN"],
        "Tags": [{"Key": key, "Value": value}],
    },
    remove_operation="UntagResource",
    remove=lambda thing, key: {"ResourceARN": thing.item["ResourceARN"], "TagKeys": [key]},
)

"""RDS's dialect: ``TagList``, ARNs, no filters; the listing of database instances.

DocumentDB and Neptune are listed by the same operation, told apart by their engine.
"""

from burstwatch.ebs.load import Traffic
from burstwatch.formatting import clock_time
from burstwatch.kinds.base import DemandMetric, Item, Listing, Tagging, identified_by, place_of

DOCDB, NEPTUNE = "docdb", "neptune"
#: A stopped instance reports nothing, and nothing spends its credits.
STOPPED = frozenset({"stopped", "stopping", "inaccessible-encryption-credentials"})
TRAFFIC = Traffic(
    read_ops="ReadIOPS",
    write_ops="WriteIOPS",
    read_bytes="ReadThroughput",
    write_bytes="WriteThroughput",
)
#: RDS publishes means a second.
TRAFFIC_METRICS = tuple(
    DemandMetric(name=name, statistic="Average", is_rate=True) for name in TRAFFIC.metrics
)
CONSOLE = "rds/home?region={region}#database:id={id};is-cluster=false"

#: Where the queries are seen that use a database.
QUERIES = "the running queries (Top SQL in Database Insights)"

DATABASES = Listing(
    service="rds",
    has_names=True,
    operation="DescribeDBInstances",
    items="DBInstances[]",
    identify=identified_by("DBInstanceIdentifier", tags_field="TagList"),
    page_size=100,
)


def created_s(item: Item) -> float | None:
    """When an instance was made, in seconds since the epoch, where that is known."""
    return item["InstanceCreateTime"].timestamp() if "InstanceCreateTime" in item else None


def is_database_running(item: Item) -> bool:
    """True if a database can spend anything now."""
    return item.get("DBInstanceStatus", "") not in STOPPED


#: States in which AWS refuses a change of a database, and one in which it refuses that of its storage:
#: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html (2026-11)
CHANGING = frozenset(
    {
        "modifying",
        "upgrading",
        "rebooting",
        "renaming",
        "maintenance",
        "configuring-enhanced-monitoring",
        "storage-config-upgrade",
    }
)
OPTIMIZING = "storage-optimization"
#: A storage operation after a restore; another follows a change:
#: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DBInstance.html (2026-11)
INITIALIZING = "Initializing"


def unsettled_status(item: Item, statuses: frozenset[str], now: float) -> str:
    """The end of a database's status in words, where AWS takes no change in it; empty in another."""
    status = item.get("DBInstanceStatus", "")
    done = item.get("StorageOperationPercentProgress")
    at = clock_time(now, now=now)
    progress = "" if done is None else f" ({done}% of its storage done at {at})"
    return f"the end of its status {status}{progress}" if status in statuses else ""


def storage_caveats(item: Item) -> tuple[str, ...]:
    """What makes the storage of a database slower than its type promises, whatever credits it has."""
    if item.get("StorageOperationStatus") != INITIALIZING:
        return ()
    done = item.get("StorageOperationPercentProgress")
    progress = "" if done is None else f" ({done}% done)"
    return (f"its storage is still read from a snapshot{progress}, and may be slow until then",)


def place_of_database(item: Item, unit: str) -> str:
    """The place of a database outside of the zones of its region, or nothing. Of an Outpost its subnets tell."""
    subnets = (item.get("DBSubnetGroup") or {}).get("Subnets") or ()
    outposts = ((subnet.get("SubnetOutpost") or {}).get("Arn") or "" for subnet in subnets)
    outpost = next(filter(None, outposts), "")
    return place_of(item.get("AvailabilityZone") or "", unit, outpost=outpost)


TAGGING = Tagging(
    service="rds",
    put_operation="AddTagsToResource",
    remove_operation="RemoveTagsFromResource",
    arns=("rds:*:*:db:*",),
    target=lambda thing: {"ResourceName": thing.item["DBInstanceArn"]},
)

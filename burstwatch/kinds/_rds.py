"""RDS's dialect: ``TagList``, ARNs, no filters; the listing of database instances.

DocumentDB and Neptune are listed by the same operation, told apart by their engine.
"""

from burstwatch.ebs.load import Traffic
from burstwatch.kinds.base import DemandMetric, Item, Listing, Tagging, Thing

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


def identify(item: Item) -> Thing:
    """A database instance in the common shape."""
    tags = {tag["Key"]: tag["Value"] for tag in item.get("TagList", ())}
    return Thing(id=item["DBInstanceIdentifier"], name=tags.get("Name", ""), tags=tags, item=item)


DATABASES = Listing(
    service="rds",
    operation="DescribeDBInstances",
    items="DBInstances[]",
    identify=identify,
    page_size=100,
)


def created_s(item: Item) -> float | None:
    """When an instance was made, in seconds since the epoch, where that is known."""
    return item["InstanceCreateTime"].timestamp() if "InstanceCreateTime" in item else None


def is_running(item: Item) -> bool:
    """Whether a database can spend anything now."""
    return item.get("DBInstanceStatus", "") not in STOPPED


TAGGING = Tagging(
    service="rds",
    put_operation="AddTagsToResource",
    put=lambda thing, key, value: {
        "ResourceName": thing.item["DBInstanceArn"],
        "Tags": [{"Key": key, "Value": value}],
    },
    remove_operation="RemoveTagsFromResource",
    remove=lambda thing, key: {"ResourceName": thing.item["DBInstanceArn"], "TagKeys": [key]},
)

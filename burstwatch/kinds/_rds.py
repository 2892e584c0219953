"""RDS's dialect: ``TagList``, ARNs, no filters; the listing of database instances.

DocumentDB and Neptune are listed by the same operation, told apart by their engine.
"""

from burstwatch.ebs.load import Traffic
from burstwatch.kinds.base import DemandMetric, Item, Listing, Tagging, identified_by

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


TAGGING = Tagging(
    service="rds",
    put_operation="AddTagsToResource",
    remove_operation="RemoveTagsFromResource",
    target=lambda thing: {"ResourceName": thing.item["DBInstanceArn"]},
)

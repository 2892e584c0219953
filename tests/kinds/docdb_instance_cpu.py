"""Worked examples of the kind ``docdb_instance_cpu``."""

from typing import Any

from tests.kinds._rds import instance

METRICS_PAGE = "https://docs.aws.amazon.com/documentdb/latest/developerguide/cloud_watch.html"
METRICS_READ = "2026-11"
DOCUMENTED_DIMENSIONS = {"DBInstanceIdentifier", "DBClusterIdentifier"}
DOCUMENTED_METRICS = {
    "CPUCreditUsage", "CPUCreditBalance", "CPUSurplusCreditBalance", "CPUSurplusCreditsCharged",
}  # fmt: skip


ITEMS: list[dict[str, Any]] = [
    {
        **instance("docdb-orders-db", "docdb", instance_class="db.t3.medium"),
        "TagList": [{"Key": "Name", "Value": "orders-db"}],
    },
    instance("docdb-larger", "docdb", instance_class="db.t4g.large"),
    instance("docdb-steady", "docdb", instance_class="db.r6g.large"),
    instance("docdb-database", "postgres", instance_class="db.t3.medium"),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}

#: The table of credits in the EC2 user guide; the worst case is 15 % faster than the vCPUs.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "docdb-orders-db.cpu/CPUSurplusCreditBalance": (0.4, 2.3, 34_560, 18_189),
    "docdb-larger.cpu/CPUSurplusCreditBalance": (0.6, 2.3, 51_840, 30_494),
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {576.0: 0.0, 288.0: 0.5, 0.0: 1.0}
#: One minute of the first item, and the vCPUs that were busy in it.
VALUES = {"CPUCreditUsage": 1.2}
NOMINAL_PER_S = 1.2

#: By hand, with a load above what comes in.
SPEC = {"type": "db.t3.medium"}
LOAD = {"cpu_percent": 60}

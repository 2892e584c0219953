"""Worked examples of the kind ``rds_storage``."""

from datetime import UTC, datetime
from typing import Any

METRICS_PAGE = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"DBInstanceIdentifier", "DBClusterIdentifier", "DatabaseClass"}
DOCUMENTED_METRICS = {
    "BurstBalance", "ReadIOPS", "WriteIOPS", "ReadThroughput", "WriteThroughput", "ReadLatency",
    "WriteLatency", "DiskQueueDepth", "EBSIOBalance%", "EBSByteBalance%", "CPUCreditBalance",
    "CPUCreditUsage", "CPUUtilization", "FreeStorageSpace",
}  # fmt: skip

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


def _instance(name: str, engine: str, storage_type: str, size_gib: int) -> dict[str, Any]:
    return {
        "DBInstanceIdentifier": name,
        "DBInstanceArn": f"arn:aws:rds:us-east-1:123456789012:db:{name}",
        "DBInstanceStatus": "available",
        "Engine": engine,
        "StorageType": storage_type,
        "AllocatedStorage": size_gib,
        "InstanceCreateTime": CREATED,
    }


ITEMS: list[dict[str, Any]] = [
    {
        **_instance("orders-db", "postgres", "gp2", 100),
        "TagList": [{"Key": "Name", "Value": "orders-db"}],
    },
    _instance("postgres-20", "postgres", "gp2", 20),
    _instance("mariadb-399", "mariadb", "gp2", 399),
    _instance("mysql-400", "mysql", "gp2", 400),
    _instance("db2-1000", "db2-se", "gp2", 1_000),
    _instance("postgres-2000", "postgres", "gp2", 2_000),
    _instance("postgres-3999", "postgres", "gp2", 3_999),
    _instance("postgres-4000", "postgres", "gp2", 4_000),
    _instance("oracle-200", "oracle-ee", "gp2", 200),
    _instance("sqlserver-999", "sqlserver-se", "gp2", 999),
    _instance("sqlserver-1000", "sqlserver-se", "gp2", 1_000),
    _instance("modern", "postgres", "gp3", 400),
    _instance("provisioned", "postgres", "io1", 20_000),
    _instance("magnetic", "mysql", "standard", 2_000),
    # Engines of the same listing whose storage has no volume of its own.
    _instance("aurora", "aurora-postgresql", "aurora", 1),
    _instance("graph", "neptune", "aurora", 1),
]

#: The table of gp2 storage in the RDS user guide, and its arithmetic.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "orders-db/BurstBalance": (300, 3_000, 5_400_000, 2_000),
    "postgres-20/BurstBalance": (100, 3_000, 5_400_000, 1_862),
    "mariadb-399/BurstBalance": (1_197, 3_000, 5_400_000, 2_995),
    "mysql-400/BurstBalance": (1_200, 12_000, 21_600_000, 2_000),
    "db2-1000/BurstBalance": (3_000, 12_000, 21_600_000, 2_400),
    "postgres-2000/BurstBalance": (6_000, 12_000, 21_600_000, 3_600),
    "postgres-3999/BurstBalance": (11_997, 12_000, 21_600_000, 7_200_000),
    "postgres-4000/BurstBalance": None,
    "oracle-200/BurstBalance": (600, 12_000, 21_600_000, 1_895),
    "sqlserver-999/BurstBalance": (2_997, 3_000, 5_400_000, 1_800_000),
    "sqlserver-1000/BurstBalance": None,
    "modern/BurstBalance": None,
    "provisioned/BurstBalance": None,
    "magnetic/BurstBalance": None,
}

FOUND: dict[str, dict[str, dict[str, Any]]] = {}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the credits per second that it may have cost.
VALUES = {
    "ReadIOPS": 100.0,
    "WriteIOPS": 200.0,
    "ReadThroughput": 100 * 16_384.0,
    "WriteThroughput": 200 * 16_384.0,
}
NOMINAL_PER_S = 300.0

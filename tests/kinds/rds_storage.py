"""Worked examples of the kind ``rds_storage``."""

from typing import Any

from tests.kinds._rds import instance

METRICS_PAGE = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"DBInstanceIdentifier", "DBClusterIdentifier", "DatabaseClass"}
DOCUMENTED_METRICS = {
    "BurstBalance", "ReadIOPS", "WriteIOPS", "ReadThroughput", "WriteThroughput", "ReadLatency",
    "WriteLatency", "DiskQueueDepth", "EBSIOBalance%", "EBSByteBalance%", "CPUCreditBalance",
    "CPUCreditUsage", "CPUUtilization", "FreeStorageSpace",
}  # fmt: skip


ITEMS: list[dict[str, Any]] = [
    {
        **instance("orders-db", "postgres", storage_type="gp2", size_gib=100),
        "TagList": [{"Key": "Name", "Value": "orders-db"}],
    },
    instance("postgres-20", "postgres", storage_type="gp2", size_gib=20),
    instance("mariadb-399", "mariadb", storage_type="gp2", size_gib=399),
    instance("mysql-400", "mysql", storage_type="gp2", size_gib=400),
    instance("db2-1000", "db2-se", storage_type="gp2", size_gib=1_000),
    instance("postgres-2000", "postgres", storage_type="gp2", size_gib=2_000),
    instance("postgres-3999", "postgres", storage_type="gp2", size_gib=3_999),
    instance("postgres-4000", "postgres", storage_type="gp2", size_gib=4_000),
    instance("oracle-200", "oracle-ee", storage_type="gp2", size_gib=200),
    instance("sqlserver-999", "sqlserver-se", storage_type="gp2", size_gib=999),
    instance("sqlserver-1000", "sqlserver-se", storage_type="gp2", size_gib=1_000),
    instance("modern", "postgres", storage_type="gp3", size_gib=400),
    instance("provisioned", "postgres", storage_type="io1", size_gib=20_000),
    instance("magnetic", "mysql", storage_type="standard", size_gib=2_000),
    # Engines of the same listing whose storage has no volume of its own.
    instance("aurora", "aurora-postgresql", storage_type="aurora", size_gib=1),
    instance("graph", "neptune", storage_type="aurora", size_gib=1),
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

#: By hand, with a load above what comes in.
SPEC = {"type": "gp2", "size_gib": "400"}
LOAD = {"iops": 12000}

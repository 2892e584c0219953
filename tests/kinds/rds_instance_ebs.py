"""Worked examples of the kind ``rds_instance_ebs``."""

from typing import Any

from tests.kinds._rds import instance
from tests.kinds.ec2_instance_ebs import FOUND as EC2_FOUND

METRICS_PAGE = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"DBInstanceIdentifier"}
DOCUMENTED_METRICS = {
    "EBSIOBalance%", "EBSByteBalance%", "ReadIOPS", "WriteIOPS", "ReadThroughput", "WriteThroughput",
}  # fmt: skip


ITEMS: list[dict[str, Any]] = [
    {
        **instance("rds-ebs-orders-db", "postgres", instance_class="db.m5.large"),
        "TagList": [{"Key": "Name", "Value": "orders-db"}],
    },
    instance("rds-ebs-steady", "mysql", instance_class="db.m5.4xlarge"),
    instance("rds-ebs-old", "mysql", instance_class="db.m3.medium"),
    instance("rds-ebs-serverless", "aurora-postgresql", instance_class="db.serverless"),
    instance("rds-ebs-memory", "oracle-ee", instance_class="db.r5.2xlarge.tpc2.mem8x"),
    instance("rds-ebs-documents", "docdb", instance_class="db.m5.large"),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = EC2_FOUND

#: Half an hour of the difference: AWS does not publish the size.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "rds-ebs-orders-db.ebs/EBSIOBalance%": (3_600, 18_750, 27_270_000, 1_800),
    "rds-ebs-steady.ebs/EBSIOBalance%": None,
    "rds-ebs-old.ebs/EBSIOBalance%": None,
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 50.0: 0.5, 100.0: 1.0}
#: One minute of the first item, and the I/O credits per second that it may have cost.
VALUES = {
    "ReadIOPS": 1_000.0,
    "WriteIOPS": 2_000.0,
    "ReadThroughput": 1_000 * 16_384.0,
    "WriteThroughput": 2_000 * 16_384.0,
}
NOMINAL_PER_S = 3_000.0

#: By hand, with a load above what comes in.
SPEC = {
    "type": "db.m5.large",
    "baseline_iops": "3600",
    "maximum_iops": "18750",
    "baseline_mb_s": "81.25",
    "maximum_mb_s": "593.75",
}
LOAD = {"iops": 10000}

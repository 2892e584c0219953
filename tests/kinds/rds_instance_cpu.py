"""Worked examples of the kind ``rds_instance_cpu``."""

from typing import Any

from tests.kinds._rds import instance

METRICS_PAGE = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html"
METRICS_READ = "2026-11"
DOCUMENTED_DIMENSIONS = {"DBInstanceIdentifier", "DBClusterIdentifier"}
#: The last is on no page of AWS's, and in accounts.
DOCUMENTED_METRICS = {
    "CPUCreditUsage",
    "CPUCreditBalance",
    "CPUUtilization",
    "CPUSurplusCreditBalance",
    "CPUSurplusCreditsCharged",
}


ITEMS: list[dict[str, Any]] = [
    {
        **instance("rds-cpu-orders-db", "postgres", instance_class="db.t3.medium"),
        "TagList": [{"Key": "Name", "Value": "orders-db"}],
    },
    instance("rds-cpu-larger", "postgres", instance_class="db.t4g.large"),
    instance("rds-cpu-steady", "postgres", instance_class="db.r6g.large"),
    instance("rds-cpu-old", "mysql", instance_class="db.t2.medium"),
    instance("rds-cpu-owing", "postgres", instance_class="db.t3.medium"),
    instance("rds-cpu-aurora", "aurora-postgresql", instance_class="db.serverless"),
    instance("rds-cpu-documents", "docdb", instance_class="db.t3.medium"),
]
#: CloudWatch has the surplus of two, one of which has no surplus to owe.
FOUND: dict[str, dict[str, dict[str, Any]]] = {
    "published": {
        name: {
            "Namespace": "AWS/RDS",
            "MetricName": "CPUSurplusCreditBalance",
            "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": name}],
        }
        for name in ("rds-cpu-owing", "rds-cpu-old")
    }
}

#: The table of credits in the EC2 user guide; the worst case is 15 % faster than the vCPUs.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "rds-cpu-orders-db.cpu/CPUCreditBalance": (0.4, 2.3, 34_560, 18_189),
    "rds-cpu-larger.cpu/CPUCreditBalance": (0.6, 2.3, 51_840, 30_494),
    "rds-cpu-owing.cpu/CPUSurplusCreditBalance": (0.4, 2.3, 34_560, 18_189),
    "rds-cpu-old.cpu/CPUCreditBalance": (0.4, 2.3, 34_560, 18_189),
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 288.0: 0.5, 576.0: 1.0}
#: One minute of the first item, and the vCPUs that were busy in it.
VALUES = {"CPUCreditUsage": 1.2}
NOMINAL_PER_S = 1.2

#: By hand, with a load above what comes in.
SPEC = {"type": "db.t3.medium"}
LOAD = {"cpu_percent": 60}

"""Worked examples of the kind ``elasticache_node_cpu``."""

from datetime import UTC, datetime
from typing import Any

METRICS_PAGE = "https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/CacheMetrics.HostLevel.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"CacheClusterId", "CacheNodeId"}
DOCUMENTED_METRICS = {"CPUCreditBalance", "CPUCreditUsage", "CPUUtilization"}

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


def _cluster(name: str, node_type: str, nodes: int = 1) -> dict[str, Any]:
    return {
        "CacheClusterId": name,
        "ARN": f"arn:aws:elasticache:us-east-1:123456789012:cluster:{name}",
        "CacheNodeType": node_type,
        # Only a cluster of Memcached has several nodes.
        "Engine": "memcached" if nodes > 1 else "redis",
        "CacheClusterStatus": "available",
        "CacheClusterCreateTime": CREATED,
        "CacheNodes": [{"CacheNodeId": f"{number + 1:04d}"} for number in range(nodes)],
    }


ITEMS: list[dict[str, Any]] = [
    {**_cluster("sessions-001", "cache.t3.medium"), "ReplicationGroupId": "sessions"},
    _cluster("pages", "cache.t4g.micro", nodes=3),
    _cluster("old", "cache.t2.micro"),
    _cluster("steady", "cache.r6g.large"),
]
FOUND: dict[str, dict[str, dict[str, Any]]] = {}
#: What the tagging API lists of them.
TAGGED: list[dict[str, Any]] = [
    {"ResourceARN": ITEMS[0]["ARN"], "Tags": [{"Key": "Name", "Value": "orders-db"}]},
    {"ResourceARN": ITEMS[1]["ARN"], "Tags": []},
]

#: The table of credits of nodes; the worst case is 15 % faster than the vCPUs.
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "sessions-001.0001/CPUCreditBalance": (0.4, 2.3, 34_560, 18_189),
    "pages.0001/CPUCreditBalance": (0.2, 2.3, 17_280, 8_229),
    "pages.0003/CPUCreditBalance": (0.2, 2.3, 17_280, 8_229),
    "old.0001/CPUCreditBalance": None,
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 288.0: 0.5, 576.0: 1.0}
#: One minute of the first item, and the vCPUs that were busy in it.
VALUES = {"CPUCreditUsage": 1.2}
NOMINAL_PER_S = 1.2

#: By hand, with a load above what comes in.
SPEC = {"type": "cache.t3.medium"}
LOAD = {"cpu_percent": 60}

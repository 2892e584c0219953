"""A bucket of every kind whose credits can run out, described by hand."""

from collections.abc import Iterator

from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import Kind

START = 1_790_000_100.0
#: A resource of each kind whose credits can run out.
SPECS: dict[str, dict[str, str]] = {
    "ebs_volume": {"type": "gp2", "size_gib": "100"},
    "rds_storage": {"type": "gp2", "size_gib": "600"},
    "ec2_instance_ebs": {
        "type": "m5.large", "baseline_iops": "3600", "maximum_iops": "18750",
        "baseline_mb_s": "81.25", "maximum_mb_s": "593.75",
    },
    "rds_instance_ebs": {
        "type": "db.t4g.small", "baseline_iops": "1000", "maximum_iops": "11800",
        "baseline_mb_s": "21.75", "maximum_mb_s": "260.625",
    },
    "efs_file_system": {"size_gib": "256"},
    "fsx_file_server": {"throughput_capacity": "32"},
    "fsx_hdd_volume": {"size_gib": "4000"},
    "ec2_instance_cpu": {"type": "t3.medium"},
    "elasticache_node_cpu": {"type": "cache.t3.medium"},
    "rds_instance_cpu": {"type": "db.t2.medium"},
}  # fmt: skip


def buckets() -> Iterator[tuple[Kind, Resource]]:
    """Every bucket of every kind that runs out."""
    for name, spec in SPECS.items():
        kind = find_kinds()[name]
        for resource in described_by_hand(kind, spec):
            if resource.bucket is not None:
                yield kind, resource

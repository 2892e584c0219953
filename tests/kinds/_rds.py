"""A database instance as AWS lists it, with all that any kind of database reads."""

from datetime import UTC, datetime
from typing import Any

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


def instance(
    name: str,
    engine: str,
    *,
    instance_class: str = "db.r3.large",
    storage_type: str = "gp3",
    size_gib: int = 100,
) -> dict[str, Any]:
    return {
        "DBInstanceIdentifier": name,
        "DBInstanceArn": f"arn:aws:rds:us-east-1:123456789012:db:{name}",
        "DBInstanceClass": instance_class,
        "DBInstanceStatus": "available",
        "Engine": engine,
        "StorageType": storage_type,
        "AllocatedStorage": size_gib,
        "InstanceCreateTime": CREATED,
    }

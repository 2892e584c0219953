"""An instance type of which AWS leaves a number out costs no other instance its verdict."""

import pytest

from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.kinds import find_kinds
from burstwatch.kinds._instance_ebs import NUMBERS
from tests.conftest import NOW, Cloud
from tests.kinds._rds import instance

KINDS = ("ec2_instance_ebs", "rds_instance_ebs")


def add_type(cloud: Cloud, name: str) -> None:
    """A type that bursts."""
    cloud.aws.add_instance_type(
        name, iops=18_750, mb_s=593.75, baseline_iops=3_600, baseline_mb_s=81.25
    )


def plant(cloud: Cloud, *types: str) -> None:
    """An instance and a database of each type."""
    for name in types:
        cloud.aws.add_instance(name)
        database = instance(name.replace(".", "-"), "postgres", instance_class=f"db.{name}")
        cloud.aws.add_item("rds", "DescribeDBInstances", database)


def described(cloud: Cloud) -> dict[str, list[str]]:
    """The ids of what has a bucket, by kind."""
    return {
        name: [
            resource.id
            for resource in take_inventory(
                find_kinds()[name], cloud.clients, cloud.unit, now=NOW
            ).resources
            if resource.bucket is not None
        ]
        for name in KINDS
    }


@pytest.mark.parametrize("is_used", [True, False], ids=["of another instance", "of the family"])
@pytest.mark.parametrize("missing", [key for key, _ in NUMBERS.values()])
def test_a_type_without_a_number_hides_no_other(
    cloud: Cloud, missing: str, *, is_used: bool
) -> None:
    add_type(cloud, "m5.large")
    plant(cloud, "m5.large")
    whole = described(cloud)
    assert all(whole.values())
    strange = "m9x.large" if is_used else "m5.9xlarge"
    add_type(cloud, strange)
    del cloud.aws.instance_types[strange]["EbsInfo"]["EbsOptimizedInfo"][missing]
    if is_used:
        plant(cloud, strange)
    assert described(cloud) == whole

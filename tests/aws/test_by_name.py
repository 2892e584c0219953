"""A resource is found by the name that people use, where a command takes an id."""

import pytest

from tests.aws.commands import burstwatch
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

CLAIM = {
    "kubernetes.io/created-for/pvc/namespace": "payments",
    "kubernetes.io/created-for/pvc/name": "data-postgres-0",
    "KubernetesCluster": "prod",
}


def volume(cloud: Cloud, **tags: str) -> str:
    volume_id = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    cloud.aws.regions["us-east-1"].volumes[volume_id]["Tags"] = [
        {"Key": key, "Value": value} for key, value in tags.items()
    ]
    for minute in range(120):
        values = {"BurstBalance": 90.0, "VolumeReadOps": 600.0, "VolumeWriteOps": 0.0,
                  "VolumeReadBytes": 600.0 * 4_096, "VolumeWriteBytes": 0.0}  # fmt: skip
        for name, value in values.items():
            cloud.aws.put("AWS/EBS", name, {"VolumeId": volume_id}, NOW - 60.0 * minute, value)
    return volume_id


@pytest.mark.parametrize("name", ["payments/data-postgres-0", "orders-db"])
@pytest.mark.parametrize(
    "command", [("explain",), ("export",), ("snooze", "4h", "--reason", "backup")], ids=" ".join
)
def test_a_command_finds_a_volume_by_its_claim_or_its_name(
    cloud: Cloud, command: tuple[str, ...], name: str
) -> None:
    of_claim, named = volume(cloud, **CLAIM), volume(cloud, Name="orders-db")
    code, out, err = burstwatch(cloud, command[0], name, *command[1:])
    assert (code, err) == (0, "")
    mine, other = (of_claim, named) if "/" in name else (named, of_claim)
    assert mine in out
    assert other not in out


def test_a_name_of_two_resources_is_refused_with_their_ids(cloud: Cloud) -> None:
    ids = [volume(cloud, Name="data") for _ in range(2)]
    for command in (("explain", "data"), ("snooze", "data", "4h", "--reason", "backup")):
        code, _, err = burstwatch(cloud, *command)
        assert code == 2
        assert (
            "data is the name of several resources: use one of these ids: "
            + ", ".join(f"{volume_id} (ebs_volume)" for volume_id in ids)
            in err
        )


def test_what_is_neither_an_id_nor_a_name_is_refused(cloud: Cloud) -> None:
    volume(cloud, Name="data")
    code, _, err = burstwatch(cloud, "explain", "date")
    assert (code, err.count("\n")) == (2, 1)
    assert (
        "date is no resource with credits in 123456789012/us-east-1, by its id or its name" in err
    )


def test_a_name_with_dots_is_not_the_id_before_its_first_dot(cloud: Cloud) -> None:
    """The tag of a snooze on the wrong resource would silence its alarms."""
    cloud.aws.add_item(
        "rds",
        "DescribeDBInstances",
        {
            "DBInstanceIdentifier": "db1", "DBInstanceClass": "db.t3.medium", "Engine": "postgres",
            "DBInstanceArn": "arn:aws:rds:us-east-1:123456789012:db:db1", "DBInstanceStatus": "available",
            "StorageType": "gp2", "AllocatedStorage": 100, "TagList": [],
        },
        region="us-east-1",
    )  # fmt: skip
    named = volume(cloud, Name="db1.example.com")
    code, out, _ = burstwatch(cloud, "snooze", "db1.example.com", "4h", "--reason", "backup")
    assert code == 0
    assert named in out
    code, out, _ = burstwatch(cloud, "snooze", "db1.cpu", "4h", "--reason", "backup")
    assert code == 0
    assert out.startswith("db1 is snoozed")

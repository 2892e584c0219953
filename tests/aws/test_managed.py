"""What services of AWS manage is seen, though AWS hides it from listings that do not ask for it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.aws.commands import burstwatch
from tests.aws.sweeping import CONFIG, Disk, alarms, run_sweep
from tests.conftest import NOW, Cloud

MANAGED = {"Managed": True, "Principal": "eks.amazonaws.com", "HiddenByDefault": True}


def hide(cloud: Cloud) -> None:
    """All that there is belongs to a service that AWS hides."""
    there = cloud.aws.regions["us-east-1"]
    for item in (*there.volumes.values(), *there.instances.values()):
        item["Operator"] = MANAGED


@pytest.fixture
def hidden(cloud: Cloud) -> Disk:
    """A volume of a hidden node that drains, on a burstable instance."""
    disk = Disk(cloud, percent=40.0)
    hide(cloud)
    for _ in range(5):
        disk.minute(iops=3_000)
    return disk


def listed(cloud: Cloud, *command: str) -> list[dict[str, Any]]:
    code, out, err = burstwatch(cloud, *command, "--json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_the_fake_hides_it_from_a_listing_that_does_not_ask(cloud: Cloud, hidden: Disk) -> None:
    ec2 = cloud.clients("ec2")
    assert ec2.describe_volumes()["Volumes"] == []
    assert ec2.describe_instances()["Reservations"] == []
    (volume,) = ec2.describe_volumes(IncludeManagedResources=True)["Volumes"]
    assert volume["VolumeId"] == hidden.id


def test_its_alarm_is_raised(cloud: Cloud, hidden: Disk) -> None:
    run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    assert [name for name, state in alarms(cloud).items() if state == "ALARM"]
    assert all(hidden.id in name for name in alarms(cloud))


def test_it_is_scanned_and_found_by_its_name(cloud: Cloud, hidden: Disk) -> None:
    volume = cloud.aws.regions["us-east-1"].volumes[hidden.id]
    volume["Tags"] = [{"Key": "Name", "Value": "node-disk"}]
    assert hidden.id in {record["id"] for record in listed(cloud, "scan")}
    code, out, err = burstwatch(cloud, "explain", "node-disk")
    assert (code, err) == (0, "")
    assert hidden.id in out


def test_the_doctor_tells_what_the_account_hides(cloud: Cloud) -> None:
    for visibility in ("hidden", "visible"):
        cloud.aws.managed_resources = visibility
        _, out, _ = burstwatch(cloud, "doctor", "--json")
        (finding,) = [
            record
            for record in map(json.loads, out.splitlines())
            if record["check"] == "managed resources"
        ]
        assert (finding["result"], finding["detail"].partition(" ")[0]) == ("ok", visibility)


def test_a_managed_instance_whose_credit_mode_is_not_listed_is_unknown_and_not_paged(
    cloud: Cloud,
) -> None:
    host = cloud.aws.add_instance("t3.medium")
    hide(cloud)
    for back in range(1, 40):
        cloud.aws.put("AWS/EC2", "CPUCreditBalance", {"InstanceId": host}, NOW - 300.0 * back, 0.0)
    swept = run_sweep(cloud, config=replace(CONFIG, kinds="ec2_instance_cpu"))
    ((_, assessment),) = swept.snapshot.assessments.values()
    assert assessment.verdict == "unknown"
    assert any("does not list its credit mode" in one.error for one in swept.snapshot.problems)
    assert alarms(cloud) == {}

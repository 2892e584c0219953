"""Fleets that sleep or have just been started are no alarms, and hide no others."""

from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from tests.aws.sweeping import Disk, alarms, run_sweep
from tests.conftest import Cloud


def instance_of(cloud: Cloud, disk: Disk) -> dict[str, Any]:
    region = cloud.aws.regions["us-east-1"]
    (attachment,) = region.volumes[disk.id]["Attachments"]
    found: dict[str, Any] = region.instances[attachment["InstanceId"]]
    return found


def test_a_volume_of_a_stopped_instance_is_not_in_use_and_is_not_asked_for(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=50)
    instance_of(cloud, disk)["State"] = {"Name": "stopped"}
    cloud.clock.now += 8 * 3_600
    swept = run_sweep(cloud)
    assert swept.snapshot.assessments[disk.id][1].verdict == "ok"
    numbers = fleet_metrics(swept)
    assert numbers["ResourcesUnknown"] == 0
    assert "DataAge" not in numbers
    assert "GetMetricData" not in [operation for _, operation, _ in cloud.aws.calls]


def test_a_page_ends_when_the_instance_is_stopped_and_the_volume_is_asked_for_when_it_starts(
    cloud: Cloud,
) -> None:
    disk, memory = Disk(cloud, percent=30), Memory()
    for _ in range(3):
        disk.minute(iops=3_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert {*alarms(cloud).values()} == {"ALARM"}
    instance_of(cloud, disk)["State"] = {"Name": "stopped"}
    for _ in range(5):
        cloud.clock.now += 60
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert alarms(cloud) == {}
    instance_of(cloud, disk)["State"] = {"Name": "running"}
    for _ in range(2):
        disk.minute(iops=3_000)
    assert run_sweep(cloud, memory).snapshot.assessments[disk.id][1].verdict == "critical"


def test_what_was_just_started_is_unknown_and_does_not_count_as_that_yet(cloud: Cloud) -> None:
    launched = datetime.fromtimestamp(cloud.clock.now - 300, tz=UTC)
    for _ in range(3):
        instance_id = cloud.aws.add_instance("m5.large")
        cloud.aws.regions["us-east-1"].instances[instance_id]["LaunchTime"] = launched
        cloud.aws.add_volume("gp2", 100, instance_id=instance_id)
    assert fleet_metrics(run_sweep(cloud))["ResourcesUnknown"] == 0
    cloud.clock.now += 900
    assert fleet_metrics(run_sweep(cloud))["ResourcesUnknown"] == 3


def test_a_unit_without_data_for_hours_is_asleep_and_not_late(cloud: Cloud) -> None:
    Disk(cloud, percent=50)
    memory, ages = Memory(), []
    for _ in range(9):
        cloud.clock.now += 600
        ages.append(fleet_metrics(run_sweep(cloud, memory)).get("DataAge"))
    assert ages == [600, 1_200, 1_800, 2_400, 3_000, None, None, None, None]


def silent_beside_gp3(cloud: Cloud, *, percent: float) -> tuple[Disk, str]:
    disk = Disk(cloud, percent=percent)
    root = cloud.aws.add_volume("gp3", 8, instance_id=cloud.aws.add_instance("m5.large"))
    cloud.clock.now += 1_800
    return disk, root


def test_an_idle_volume_among_busy_ones_without_a_bucket_is_idle_and_not_unknown(
    cloud: Cloud,
) -> None:
    disk, root = silent_beside_gp3(cloud, percent=100)
    assert run_sweep(cloud).snapshot.assessments[disk.id][1].verdict == "unknown"
    at = cloud.clock.now - 120
    cloud.aws.put("AWS/EBS", "VolumeReadOps", {"VolumeId": root}, at, 30.0)
    swept = run_sweep(cloud)
    assert swept.snapshot.assessments[disk.id][1].projection.state == "idle"
    assert fleet_metrics(swept)["ResourcesUnknown"] == 0


def test_a_dozen_idle_volumes_among_busy_ones_without_a_bucket_are_idle(cloud: Cloud) -> None:
    disks = [Disk(cloud, percent=100) for _ in range(11)]
    disk, root = silent_beside_gp3(cloud, percent=100)
    cloud.aws.put("AWS/EBS", "VolumeReadOps", {"VolumeId": root}, cloud.clock.now - 120, 30.0)
    found = run_sweep(cloud).snapshot.assessments
    assert {found[one.id][1].projection.state for one in [*disks, disk]} == {"idle"}


def test_a_volume_with_traffic_whose_balance_does_not_arrive_is_unknown_beside_busy_others(
    cloud: Cloud,
) -> None:
    disk, root = silent_beside_gp3(cloud, percent=95)
    for back in range(1, 10):
        at = cloud.clock.now - 60 * back
        for volume in (disk.id, root):
            for metric in (
                "VolumeReadOps",
                "VolumeWriteOps",
                "VolumeReadBytes",
                "VolumeWriteBytes",
            ):
                cloud.aws.put("AWS/EBS", metric, {"VolumeId": volume}, at, 90_000.0)
    swept = run_sweep(cloud)
    assert swept.snapshot.assessments[disk.id][1].verdict == "unknown"
    assert fleet_metrics(swept)["ResourcesUnknown"] == 1

"""AWS's own checks of limits: read only near a page, told in it, and unknown where there is no datapoint."""

import json
from typing import Any

import pytest

from tests.aws.commands import burstwatch
from tests.aws.sweeping import run_sweep
from tests.conftest import NOW, Cloud

CHECKS = {
    "VolumeIOPSExceededCheck",
    "VolumeThroughputExceededCheck",
    "InstanceEBSIOPSExceededCheck",
    "InstanceEBSThroughputExceededCheck",
}


def volume(
    cloud: Cloud, *, level: float, exceeded: dict[str, float] | None = None, **item: Any
) -> str:
    """A volume under full burst, with the checks that AWS publishes of it."""
    instance = cloud.aws.add_instance("m5.large")
    volume_id = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    cloud.aws.regions["us-east-1"].volumes[volume_id].update(item)
    for minute in range(60):
        at, falls = NOW - 60.0 * (minute + 1), level + 5 * minute if level < 60 else 100.0
        values = {"BurstBalance": min(100.0, falls), "VolumeReadOps": 180_000.0, "VolumeWriteOps": 0.0,
                  "VolumeReadBytes": 180_000.0 * 4_096, "VolumeWriteBytes": 0.0}  # fmt: skip
        for name, value in values.items():
            cloud.aws.put("AWS/EBS", name, {"VolumeId": volume_id}, at, value)
        for name, value in (exceeded or {}).items():
            dimensions = {"VolumeId": volume_id, "InstanceId": instance}
            cloud.aws.put("AWS/EBS", name, dimensions, at, value)
    return volume_id


def asked(cloud: Cloud) -> list[str]:
    return [
        query["MetricStat"]["Metric"]["MetricName"]
        for _, operation, request in cloud.aws.calls
        if operation == "GetMetricData"
        for query in request["MetricDataQueries"]
    ]


def text(cloud: Cloud) -> str:
    return "\n".join(
        alarm.get("AlarmDescription", "")
        for alarm in cloud.aws.regions["us-east-1"].alarms.values()
    )


def test_the_limit_that_aws_says_was_exceeded_stands_in_the_page(cloud: Cloud) -> None:
    volume(
        cloud,
        level=10,
        exceeded={"VolumeIOPSExceededCheck": 1.0, "VolumeThroughputExceededCheck": 0.0},
    )
    run_sweep(cloud)
    assert "Exceeded: the volume's IOPS, by AWS's own check" in text(cloud)


@pytest.mark.parametrize("exceeded", [None, {"VolumeIOPSExceededCheck": 0.0}])
def test_without_a_datapoint_or_where_nothing_was_exceeded_nothing_is_said(
    cloud: Cloud, exceeded: dict[str, float] | None
) -> None:
    volume(cloud, level=10, exceeded=exceeded)
    run_sweep(cloud)
    assert "Load: " in text(cloud)
    assert "Exceeded" not in text(cloud)


def test_a_volume_in_no_danger_and_one_that_several_instances_share_are_not_asked_for_them(
    cloud: Cloud,
) -> None:
    volume(cloud, level=100)
    run_sweep(cloud)
    assert not CHECKS & set(asked(cloud))
    volume(cloud, level=10, MultiAttachEnabled=True)
    run_sweep(cloud)
    assert not CHECKS & set(asked(cloud))


def test_explain_and_advise_say_how_long_a_limit_was_exceeded(cloud: Cloud) -> None:
    exceeded = {"VolumeIOPSExceededCheck": 1.0, "VolumeThroughputExceededCheck": 0.0}
    volume_id = volume(cloud, level=10, exceeded=exceeded)
    code, out, _ = burstwatch(cloud, "explain", volume_id, "--hours", "1")
    assert code == 0
    assert "the volume's IOPS, by AWS's own check: exceeded in 100% of the time" in out
    code, out, _ = burstwatch(cloud, "advise", "--kind", "ebs_volume", "--json")
    assert code == 0
    assert '"exceeded": {"the volume\'s IOPS": 1.0, "the volume\'s throughput": 0.0}' in out


@pytest.mark.parametrize(
    ("mode", "percent", "is_told"),
    [("generalPurpose", 99.0, True), ("generalPurpose", 60.0, False), ("maxIO", 99.0, False)],
)
def test_a_file_system_with_full_credits_that_reaches_its_iops_is_told_so(
    cloud: Cloud, mode: str, percent: float, *, is_told: bool
) -> None:
    """Bursting throughput has a limit of operations beside the credits: it is slow, and nothing runs out."""
    item = {
        "FileSystemId": "fs-1", "Name": "shared", "ThroughputMode": "bursting", "PerformanceMode": mode,
        "NumberOfMountTargets": 1, "SizeInBytes": {"Value": 2 * 1024**4},
    }  # fmt: skip
    cloud.aws.add_item("efs", "DescribeFileSystems", item)
    for minute in range(1, 8 * 1_440, 5):
        for name, value in {
            "BurstCreditBalance": 4.6e12,
            "MeteredIOBytes": 6e8,
            "PercentIOLimit": percent,
        }.items():
            cloud.aws.put("AWS/EFS", name, {"FileSystemId": "fs-1"}, NOW - 60.0 * minute, value)
    code, out, _ = burstwatch(cloud, "advise", "fs-1", "--days", "7", "--json")
    assert code == 0
    shares = json.loads(out)["exceeded"]
    assert shares == (
        {"the IOPS of its General Purpose mode": 1.0 if is_told else 0.0} if mode != "maxIO" else {}
    )

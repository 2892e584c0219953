"""A deployment that is upgraded while episodes are open: each goes on, with no message lost or doubled.

``upgrades`` has what the sweeps of each version have left behind. A new function begins with that, and
remembers nothing.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from burstwatch.aws.client.names import parse_alarm_name
from burstwatch.aws.look.memory import Memory
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud

pytestmark = pytest.mark.slow

STATES = sorted((Path(__file__).parent / "upgrades").glob("*.json"))


def upgraded(cloud: Cloud, path: Path) -> list[Disk]:
    """The account as a version has left it. Returns its disks."""
    state = json.loads(path.read_text(encoding="utf-8"))
    region = cloud.aws.regions["us-east-1"]
    cloud.clock.now = state["now"]
    cloud.aws.skip_ids(1_000)  # what comes later has ids of its own
    region.volumes, region.instances = state["volumes"], state["instances"]
    region.alarms = {name: _timed(alarm) for name, alarm in state["alarms"].items()}
    region.alarm_tags = state["alarm_tags"]
    for namespace, metric, dimensions, points in state["metrics"]:
        key = (namespace, metric, tuple(tuple(pair) for pair in dimensions))
        region.metrics[key] = dict(points)
    disks = []
    for volume_id, percent in state["disks"].items():
        disk = Disk.__new__(Disk)
        disk.cloud, disk.id, disk.percent = cloud, volume_id, percent
        disks.append(disk)
    return disks


def _timed(alarm: dict[str, Any]) -> dict[str, Any]:
    return {
        key: datetime.fromisoformat(value) if key.endswith("Timestamp") else value
        for key, value in alarm.items()
    }


def minute(cloud: Cloud, disks: list[Disk], memory: Memory, *, iops: float) -> None:
    began = cloud.clock.now
    for disk in disks:
        cloud.clock.now = began
        disk.minute(iops=iops)
    result = run_sweep(cloud, memory)
    assert result.completed
    assert [problem for problem in result.problems if "tags" not in problem.part] == []
    cloud.aws.evaluate_alarms()


def ours(cloud: Cloud) -> dict[str, str]:
    alarms = cloud.aws.regions["us-east-1"].alarms
    return {name: alarm["StateValue"] for name, alarm in alarms.items() if parse_alarm_name(name)}


def test_every_version_has_left_something_to_go_on_with() -> None:
    assert {path.stem for path in STATES} >= {"0.1.0-one", "0.1.0-many"}


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_an_open_episode_goes_on_after_an_upgrade_and_ends_once(cloud: Cloud, path: Path) -> None:
    disks = upgraded(cloud, path)
    before = ours(cloud)
    assert "ALARM" in before.values()
    made = {
        name: cloud.aws.regions["us-east-1"].alarms[name]["StateTransitionedTimestamp"]
        for name in before
    }
    memory = Memory()
    for _ in range(5):
        minute(cloud, disks, memory, iops=3_000)
    told = [(name, state) for _, name, state in cloud.aws.notifications if name in before]
    assert told == []  # nobody is paged a second time
    assert {name: ours(cloud)[name] for name in before} == before
    alarms = cloud.aws.regions["us-east-1"].alarms
    assert {name: alarms[name]["StateTransitionedTimestamp"] for name in before} == made
    for disk in disks:
        disk.percent = 100.0
    for _ in range(90):
        minute(cloud, disks, memory, iops=50)
    ended = [(name, state) for _, name, state in cloud.aws.notifications if name in before]
    assert sorted(ended) == sorted((name, "OK") for name in before if before[name] == "ALARM")
    assert ours(cloud) == {}


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_a_volume_that_comes_into_danger_after_an_upgrade_is_paged_once(
    cloud: Cloud, path: Path
) -> None:
    disks = upgraded(cloud, path)
    memory = Memory()
    for _ in range(12):  # what comes within ten minutes is part of the same
        minute(cloud, disks, memory, iops=3_000)
    before = set(ours(cloud))
    later = Disk(cloud, percent=25.0)
    for _ in range(5):
        minute(cloud, [*disks, later], memory, iops=3_000)
    assert {name for name in ours(cloud) if later.id in name} - before
    pages = [
        name
        for _, name, state in cloud.aws.notifications
        if state == "ALARM" and name not in before
    ]
    assert len(pages) == len(set(pages)) >= 1

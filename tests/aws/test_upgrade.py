"""A deployment that is upgraded while episodes are open: each goes on, with no message lost or doubled.

``upgrades`` has what the sweeps of each version have left behind. A new function begins with that, and
remembers nothing.
"""

from pathlib import Path

import pytest

from burstwatch.aws.client.names import parse_alarm_name
from burstwatch.aws.look.memory import Memory
from tests.aws.sweeping import Disk, run_sweep
from tests.aws.upgrade_state import FOLDER, burn, restored
from tests.conftest import Cloud

pytestmark = pytest.mark.slow

STATES = sorted(FOLDER.glob("*.json"))


def minute(cloud: Cloud, disks: list[Disk], memory: Memory, *, iops: float) -> None:
    burn(cloud, disks, iops=iops)
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
    disks = restored(cloud, path)
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
    disks = restored(cloud, path)
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

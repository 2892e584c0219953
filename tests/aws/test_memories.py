"""Several functions sweep one unit in turn: nobody is told twice, and nothing is over while it burns."""

import time
from dataclasses import replace

import pytest

from burstwatch.aws.alarms.api import Alarm
from burstwatch.aws.alarms.plan import plan_alarms
from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.sweep import sweep
from burstwatch.forecast.policy import SEVERITY
from burstwatch.kinds import find_kinds
from burstwatch.messages.timeline import Timeline
from tests.aws.memories import EPISODES, STEPS_S, play
from tests.aws.sweeping import CONFIG, Disk, alarms, run_sweep
from tests.conftest import Cloud


@pytest.mark.many
@pytest.mark.parametrize(
    ("seed", "memories"),
    # In seed 4 two memories differ for an hour in what the days before say of a danger that is over.
    [*((seed, memories) for seed in (0, 1) for memories in (1, 2, 3, 5)), (4, 2), (4, 5)],
)
def test_each_alarm_is_raised_once_and_over_once_whichever_memory_sweeps(
    seed: int, memories: int
) -> None:
    played = play(seed, memories)
    assert played.wrong == []
    assert played.episodes == EPISODES
    assert min(played.leads_min) >= 15


def burn(cloud: Cloud, disk: Disk, memory: Memory | None = None) -> None:
    """One minute at the limit, and a sweep by this memory or a new one."""
    disk.minute(iops=3_000)
    run_sweep(cloud, memory)
    cloud.aws.evaluate_alarms()


def test_a_memory_that_saw_no_danger_ends_no_alarm_that_another_has_raised(cloud: Cloud) -> None:
    disk, before = Disk(cloud, percent=100), Memory()
    run_sweep(cloud, before)
    while "ALARM" not in alarms(cloud).values():
        assert disk.percent > 0
        burn(cloud, disk)
    raised = alarms(cloud)
    disk.minute(iops=3_000)
    # By its own schedule it would look away for some minutes more.
    assert disk.id in run_sweep(cloud, before).snapshot.judged
    cloud.aws.evaluate_alarms()
    assert raised.items() <= alarms(cloud).items()


def test_a_memory_that_saw_danger_raises_no_alarm_that_is_over(cloud: Cloud) -> None:
    disk, before = Disk(cloud, percent=10), Memory()
    while disk.percent > 0:
        burn(cloud, disk, before)
    burn(cloud, disk, before)
    assert set(alarms(cloud).values()) == {"ALARM"}
    disk.percent = 99.0
    for memory in (None, None, before):
        heard = len(cloud.aws.notifications)
        disk.minute(iops=50)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert "ALARM" not in alarms(cloud).values()
    assert cloud.aws.notifications[heard:] == []


@pytest.mark.parametrize("step_s", STEPS_S)
def test_a_clock_that_was_ahead_for_one_sweep_delays_no_page(cloud: Cloud, step_s: float) -> None:
    disk, memory = Disk(cloud, percent=100), Memory()
    run_sweep(cloud, memory)
    at = cloud.clock.now
    cloud.clock.now = at + step_s
    run_sweep(cloud, memory)
    cloud.clock.now = at
    minutes = 0
    while not any(".critical/" in name for name in alarms(cloud)):
        burn(cloud, disk, memory)
        minutes += 1
        assert disk.percent > 0, f"out of credits after {minutes} minutes without a page"


@pytest.mark.parametrize(
    ("tags", "denied"),
    [
        ({"burstwatch:maintenance": "13:00-16:00"}, set()),
        ({"burstwatch:snooze": "2026-09-22T00:00Z disk is being replaced"}, set()),
        ({}, {"DescribeAlarms"}),
    ],
)
def test_where_no_alarm_can_be_made_or_read_an_empty_volume_is_not_asked_for_at_every_sweep(
    cloud: Cloud, tags: dict[str, str], denied: set[str]
) -> None:
    disk, memory = Disk(cloud, percent=0), Memory()
    described = cloud.aws.regions["us-east-1"].volumes[disk.id].setdefault("Tags", [])
    described += [{"Key": key, "Value": value} for key, value in tags.items()]
    cloud.aws.denied = denied
    asked = []
    for _ in range(10):
        disk.minute(iops=3_000)
        asked.append(run_sweep(cloud, memory).snapshot.metrics_requested)
    assert sum(asked[1:]) < len(asked)


def test_a_text_that_could_not_be_rewritten_is_rewritten_at_the_next_sweep(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=12), Memory()
    while disk.percent > 3:
        burn(cloud, disk, memory)
    cloud.aws.denied = {"PutMetricAlarm"}
    burn(cloud, disk, memory)
    cloud.aws.denied = set()
    burn(cloud, disk, memory)
    texts = [alarm["AlarmDescription"] for alarm in cloud.aws.regions["us-east-1"].alarms.values()]
    assert all("empty 2026" in text for text in texts), texts


def test_alarms_that_are_read_slowly_leave_time_to_look(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=30)
    kinds = find_kinds(CONFIG.kinds).values()
    with cloud.stalling("DescribeAlarms"):
        ends = Deadline(time.monotonic, at=time.monotonic() + 6.0)
        clients = cloud.clients
        swept = sweep(
            cloud.unit, kinds, clients, clients, CONFIG, Memory(), now=cloud.clock.now, deadline=ends
        )  # fmt: skip
    assert disk.id in swept.snapshot.judged


@pytest.mark.parametrize(("ago_s", "count"), [(0.0, 1), (300.0, 1), (1_200.0, 0)])
def test_a_danger_that_has_been_over_for_long_begins_no_alarm(
    cloud: Cloud, ago_s: float, count: int
) -> None:
    disk = Disk(cloud, percent=60)
    snapshot = run_sweep(cloud).snapshot
    resource, assessment = snapshot.assessments[disk.id]
    held = replace(assessment, verdict="warning", ago_s=ago_s)
    found = replace(snapshot, assessments={disk.id: (resource, held)})
    assert len(plan_alarms(found, [], CONFIG, now=cloud.clock.now).create) == count


def test_a_danger_that_has_become_less_lowers_its_alarm_however_long_ago_that_was(
    cloud: Cloud,
) -> None:
    disk = Disk(cloud, percent=60)
    snapshot = run_sweep(cloud).snapshot
    resource, assessment = snapshot.assessments[disk.id]
    held = replace(assessment, verdict="warning", ago_s=1_200.0)
    found = replace(snapshot, assessments={disk.id: (resource, held)})
    raised = Alarm(
        name=f"burstwatch.critical/{disk.id}/burstwatch", kind="ebs_volume", resource_id=disk.id,
        severity="critical", state="ALARM", state_since=cloud.clock.now - 600, is_enabled=True,
        timeline=Timeline(opened_s=cloud.clock.now - 600),
    )  # fmt: skip
    plan = plan_alarms(found, [raised], CONFIG, now=cloud.clock.now)
    assert plan.severities["ebs_volume", disk.id] == SEVERITY["warning"]

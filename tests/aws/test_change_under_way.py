"""The page was followed: while AWS makes the change it takes no other, and no alarm prints a command that it would refuse."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from burstwatch.aws.alarms.plan import plan_alarms
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.messages.timeline import Timeline
from burstwatch.shards import thing_id
from tests.aws.sweeping import EVERY_KIND, Disk, alarm_of, run_sweep
from tests.conftest import NOW, Cloud
from tests.kinds.playing import drain, examples_of, put_examples, put_levels, sweep_kinds

#: What AWS lists of a thing while a change of it goes on, by kind; and after it, where its state is another.
CHANGING: dict[str, list[dict[str, Any]]] = {
    "rds_storage": [{"DBInstanceStatus": "storage-optimization"}, {"DBInstanceStatus": "modifying"}],
    "rds_instance_ebs": [{"DBInstanceStatus": "modifying"}],
    "rds_instance_cpu": [{"DBInstanceStatus": "modifying"}],
    "efs_file_system": [{"LifeCycleState": "updating"}],
    "elasticache_node_cpu": [{"CacheClusterStatus": "modifying"}],
    "fsx_file_server": [
        {"AdministrativeActions": [{"AdministrativeActionType": kind, "Status": "IN_PROGRESS", "ProgressPercent": 7}]}
        for kind in ("FILE_SYSTEM_UPDATE", "THROUGHPUT_OPTIMIZATION")
    ],
    "fsx_hdd_volume": [
        {"AdministrativeActions": [{"AdministrativeActionType": "STORAGE_OPTIMIZATION", "Status": "PENDING"}]}
    ],
}  # fmt: skip
CASES = [
    pytest.param(name, state, id=f"{name}-{number}")
    for name, states in CHANGING.items()
    for number, state in enumerate(states)
]


def listed(cloud: Cloud, resource: Resource) -> dict[str, Any]:
    """The item of a resource in the account's list."""
    kind = find_kinds()[resource.kind]
    items = cloud.aws.regions["us-east-1"].items[kind.inventory.service, kind.inventory.operation]
    item: dict[str, Any]
    (item,) = [item for item in items if kind.inventory.identify(item).id in thing_id(resource.id)]
    return item


def texts(cloud: Cloud) -> list[str]:
    return [a["AlarmDescription"] for a in cloud.aws.regions["us-east-1"].alarms.values()]


def in_danger(cloud: Cloud, name: str, memory: Memory) -> Resource:
    """The first example of a kind that can run out, five minutes before it does, with its alarms."""
    kind = find_kinds()[name]
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    cloud.aws.regions["us-east-1"].modifications.clear()
    found = sweep_kinds(cloud, [kind], Memory()).snapshot
    buckets = [resource for resource, _ in found.buckets if resource.can_spend]
    victims = [one for one in buckets if one.terms.is_throttled and one.terms.is_sized]
    victim = victims[0]
    drain(cloud, kind, examples, [one for one in buckets if one.id == victim.id])
    sweep_kinds(cloud, [kind], memory)
    assert texts(cloud)
    return victim


@pytest.mark.parametrize(("name", "state"), CASES)
def test_while_a_change_is_under_way_no_alarm_prints_a_command(
    cloud: Cloud, name: str, state: dict[str, Any]
) -> None:
    memory = Memory()
    victim = in_danger(cloud, name, memory)
    item, before = listed(cloud, victim), texts(cloud)
    had_command = any("\nCommand: " in text for text in before)
    earlier = {key: item.get(key) for key in state}
    item.update(state)
    sweep_kinds(cloud, [find_kinds()[name]], memory)
    during = texts(cloud)
    assert len(during) == len(before)
    assert not any("\nCommand: " in text for text in during)
    assert all(": wait for the " in text for text in during)
    sweep_kinds(cloud, [find_kinds()[name]], memory)
    assert texts(cloud) == during  # and not at each sweep
    item.update({key: value for key, value in earlier.items() if value is not None})
    for key in [key for key, value in earlier.items() if value is None]:
        del item[key]
    sweep_kinds(cloud, [find_kinds()[name]], memory)
    assert any("\nCommand: " in text for text in texts(cloud)) == had_command
    assert not any(", changing 2" in text for text in texts(cloud))


def changed_volume(cloud: Cloud, memory: Memory) -> str:
    """A gp2 volume that was empty, and is listed as gp3 since somebody followed the page."""
    instance = cloud.aws.add_instance("m5.large")
    host = cloud.aws.regions["us-east-1"].instances[instance]
    host["Tags"] = [{"Key": "Name", "Value": "db-1"}]
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance, name="orders")
    for minute in range(40):
        level = max(0.0, 100.0 - 5 * (40 - minute)) if minute > 20 else 0.0
        values = {"BurstBalance": level, "VolumeReadOps": 18_000.0, "VolumeWriteOps": 0.0,
                  "VolumeReadBytes": 18_000.0 * 16_384, "VolumeWriteBytes": 0.0}  # fmt: skip
        for metric, value in values.items():
            cloud.aws.put("AWS/EBS", metric, {"VolumeId": volume}, NOW - 60.0 * (minute + 1), value)
    run_sweep(cloud, memory)
    there = cloud.aws.regions["us-east-1"]
    there.volumes[volume].update(VolumeType="gp3", Iops=3_000, Throughput=128)
    there.modifications[volume] = {
        "VolumeId": volume, "ModificationState": "optimizing", "OriginalVolumeType": "gp2", "OriginalSize": 100,
        "TargetVolumeType": "gp3", "TargetSize": 100, "StartTime": datetime.fromtimestamp(NOW, tz=UTC), "Progress": 30,
    }  # fmt: skip
    return volume


def test_a_volume_keeps_its_host_and_its_limits_while_it_is_changed(cloud: Cloud) -> None:
    memory = Memory()
    volume = changed_volume(cloud, memory)
    before = texts(cloud)
    assert all(
        "of db-1 (i-" in text and "\nCommand: aws ec2 modify-volume" in text for text in before
    )
    found = run_sweep(cloud, memory).snapshot
    resource, _ = found.assessments[volume]
    assert resource.reporting.statistic == "Minimum"
    assert resource.words.caveats == ()
    during = texts(cloud)
    assert len(during) == len(before)
    for text in during:
        assert "of db-1 (i-" in text
        assert "Do now: wait for the change to gp3 of 100 GiB, 30% done at 14:14Z" in text
        assert "Command" not in text
    host = resource.parents[0]
    cloud.aws.regions["us-east-1"].instances[host]["State"] = {"Name": "stopped"}
    resource, assessment = run_sweep(cloud, Memory()).snapshot.assessments[volume]
    assert not resource.reporting.in_use
    assert assessment.verdict == "ok"


def test_a_bucket_has_run_out_when_its_balance_says_so_and_not_when_it_was_looked_at(
    cloud: Cloud,
) -> None:
    changed_volume(cloud, Memory())
    assert all(
        "have run out (13:53Z)" in text and "empty 2026-09-21T13:53:" in text
        for text in texts(cloud)
    )


def test_a_page_that_was_answered_by_unlimited_mode_does_not_end_as_credits_that_are_back(
    cloud: Cloud,
) -> None:
    memory = Memory()
    victim = in_danger(cloud, "ec2_instance_cpu", memory)
    modes = cloud.aws.regions["us-east-1"].items["ec2", "DescribeInstanceCreditSpecifications"]
    modes.append({"InstanceId": thing_id(victim.id), "CpuCredits": "unlimited"})
    pairs = {"InstanceId": thing_id(victim.id)}
    cloud.aws.put("AWS/EC2", "CPUSurplusCreditBalance", pairs, NOW - 60.0, 0.0)
    sweep_kinds(cloud, [find_kinds()["ec2_instance_cpu"]], memory)
    over = [text for text in texts(cloud) if text.startswith("RESOLVED")]
    assert over
    assert all(": is in Unlimited mode now, and does not slow down (" in text for text in over)


def test_once_the_balance_is_known_again_the_page_says_so_and_has_its_command(
    cloud: Cloud,
) -> None:
    """Before and after a change of size nothing is known for some sweeps; the volume is empty all the time."""
    memory, disk = Memory(), Disk(cloud, percent=10.0)
    for _ in range(9):
        disk.minute(iops=3_000)
    run_sweep(cloud, memory)
    there = cloud.aws.regions["us-east-1"]
    there.volumes[disk.id].update(Size=200)
    change = {
        "VolumeId": disk.id, "ModificationState": "optimizing", "OriginalVolumeType": "gp2", "OriginalSize": 100,
        "TargetVolumeType": "gp2", "TargetSize": 200, "StartTime": datetime.fromtimestamp(NOW, tz=UTC), "Progress": 3,
    }  # fmt: skip
    there.modifications[disk.id] = change
    for minute in range(40):
        verdict = run_sweep(cloud, memory).snapshot.assessments[disk.id][1].verdict
        if minute == 15:
            ended = datetime.fromtimestamp(cloud.clock.now, tz=UTC)
            change.update(ModificationState="completed", Progress=100, EndTime=ended)
        told = texts(cloud)
        assert any("credits are unknown (" in text for text in told) == (verdict == "unknown")
        disk.minute(iops=600)
    assert verdict == "exhausted"
    assert any("have run out (" in text and "\nCommand: " in text for text in texts(cloud))


def test_a_page_does_not_end_because_aws_replaced_the_node_that_it_is_of(cloud: Cloud) -> None:
    """The new node has no credits, and the load is still there: they are not back."""
    memory, kind = Memory(), find_kinds()["elasticache_node_cpu"]
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    found = sweep_kinds(cloud, [kind], Memory()).snapshot
    victim = next(resource for resource, _ in found.buckets if resource.terms.is_throttled)
    drain(cloud, kind, examples, [victim])
    bucket = victim.bucket
    assert bucket is not None
    step = (bucket.burst - bucket.refill) * 60.0 / bucket.capacity
    put_levels(cloud, kind, victim, [0.3 + step * back for back in range(40)][::-1], until=NOW)
    sweep_kinds(cloud, [kind], memory)
    assert texts(cloud)
    for _ in range(8):
        cloud.clock.now += 120.0
        put_levels(cloud, kind, victim, [0.0, 0.0], until=cloud.clock.now)
        sweep_kinds(cloud, [kind], memory)
        assert not any(text.startswith("RESOLVED") for text in texts(cloud))


def test_unlimited_mode_ends_a_page_without_a_balance_only_at_a_look_at_the_instance(
    cloud: Cloud,
) -> None:
    memory, kind = Memory(), find_kinds()["ec2_instance_cpu"]
    victim = in_danger(cloud, kind.name, memory)
    modes = cloud.aws.regions["us-east-1"].items["ec2", "DescribeInstanceCreditSpecifications"]
    modes.append({"InstanceId": thing_id(victim.id), "CpuCredits": "unlimited"})
    seen = look(
        cloud.unit, [kind], cloud.clients, EVERY_KIND, Memory(), now=NOW, deadline=cloud.never()
    )
    assert seen.assessments[victim.id][1].verdict == "unknown"
    times = Timeline(opened_s=NOW, paged_s=NOW)
    paged = alarm_of(victim.id, "critical", times, kind=kind.name)
    for judged, count in ((seen.judged, 1), (seen.judged - {victim.id}, 0)):
        plan = plan_alarms(replace(seen, judged=judged), [paged], EVERY_KIND, now=NOW)
        assert len([times for _, times in plan.rewrite if times.over_s]) == count

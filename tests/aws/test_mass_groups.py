"""Which resources a mass alarm stands for: what rose together, what has been empty for hours, and nobody else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.alarms.api import (
    MEMBERS_PER_TAG,
    MOST_TAGS,
    id_fingerprint,
    read_members,
    tags_of,
)
from burstwatch.aws.look.memory import Memory
from tests.aws.chronic import play
from tests.aws.masses import a_minute, draining, with_mass
from tests.aws.sweeping import EFFECT, TOPIC, Disk, alarms, run_sweep
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

IDS = st.frozensets(st.text(min_size=1, max_size=8), max_size=300)


@given(members=IDS, before=IDS)
def test_tags_say_again_who_was_written_into_them_and_nothing_of_who_was_there_before(
    members: frozenset[str], before: frozenset[str]
) -> None:
    wanted, old = frozenset(map(id_fingerprint, members)), frozenset(map(id_fingerprint, before))
    kept = tags_of(old, before=())
    kept |= tags_of(wanted, before=old)
    assert read_members(kept) == wanted
    assert all(len(value) <= 256 for value in kept.values())


def test_beyond_what_tags_can_hold_members_are_left_out_and_none_is_made_up() -> None:
    many = frozenset(id_fingerprint(f"vol-{number}") for number in range(4_000))
    tags = tags_of(many, before=())
    assert len(tags) == MOST_TAGS
    assert read_members(tags) < many
    assert len(read_members(tags)) == MOST_TAGS * MEMBERS_PER_TAG


def empty_for_hours(cloud: Cloud, count: int) -> list[Disk]:
    disks = []
    for _ in range(count):
        disk = Disk(cloud, percent=0)
        for back in range(61, 300):
            disk.put(NOW - 60 * back, 0, iops=300)
        disks.append(disk)
    return disks


def sweep_minutes(
    cloud: Cloud, disks: list[Disk], minutes: int, *, mass_from: float, memory: Memory | None = None
) -> None:
    for _ in range(minutes):
        a_minute(cloud, disks, iops=3_000)
        run_sweep(cloud, memory or Memory(), config=with_mass(mass_from))
        cloud.aws.evaluate_alarms()


def test_a_volume_that_rises_ten_minutes_after_the_others_is_paged_by_its_name(
    cloud: Cloud,
) -> None:
    empty, late = draining(cloud, 6, percent=0), Disk(cloud, percent=100)
    sweep_minutes(cloud, [*empty, late], 16, mass_from=5, memory=Memory())
    pages = [name for topic, name, state in cloud.aws.notifications if topic == TOPIC]
    assert pages == [
        "burstwatch.critical/many_at_once/burstwatch",
        f"burstwatch.critical/db {EFFECT}/{late.id}/burstwatch",
    ]


def test_what_rises_within_the_same_minutes_joins_and_is_counted_in_the_text(cloud: Cloud) -> None:
    soon, later = draining(cloud, 5, percent=20), draining(cloud, 2, percent=20)
    for disk in later:
        del cloud.aws.regions["us-east-1"].volumes[disk.id]["Attachments"][:]
    run_sweep(cloud, config=with_mass(5))
    for disk in later:
        listed = cloud.aws.regions["us-east-1"].volumes[soon[0].id]["Attachments"]
        volume = cloud.aws.regions["us-east-1"].volumes[disk.id]
        volume["Attachments"] = [{**listed[0], "VolumeId": disk.id}]
    sweep_minutes(cloud, [*soon, *later], 1, mass_from=5)
    assert set(alarms(cloud)) == {"burstwatch.critical/many_at_once/burstwatch"}
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert alarm["AlarmDescription"].startswith(
        "CRITICAL 7 resources: credits run out, the first in "
    )


def test_a_second_rise_gets_a_mass_alarm_of_its_own(cloud: Cloud) -> None:
    first = draining(cloud, 6, percent=0)
    second = [Disk(cloud, percent=100) for _ in range(6)]
    sweep_minutes(cloud, [*first, *second], 17, mass_from=5, memory=Memory())
    raised = {name for name, state in alarms(cloud).items() if state == "ALARM"}
    assert raised >= {
        "burstwatch.critical/many_at_once/burstwatch",
        "burstwatch.critical/many_at_once_2/burstwatch",
    }
    assert not any("/db/" in name for name in raised if name.endswith("critical"))


def test_what_has_been_empty_for_hours_has_an_alarm_apart_and_hides_no_burn_of_today(
    cloud: Cloud,
) -> None:
    empty_for_hours(cloud, 6)
    burning = draining(cloud, 1, percent=20)[0]
    run_sweep(cloud, config=with_mass(5))
    assert set(alarms(cloud)) == {
        "burstwatch.critical/long_empty/burstwatch",
        f"burstwatch.critical/db {EFFECT}/{burning.id}/burstwatch",
    }
    text = cloud.aws.regions["us-east-1"].alarms["burstwatch.critical/long_empty/burstwatch"]
    assert text["AlarmDescription"].startswith("CRITICAL 6 resources: no credits for hours (")


def test_what_is_seen_empty_within_the_same_minutes_joins_those_that_have_been_empty_for_hours(
    cloud: Cloud,
) -> None:
    disks = empty_for_hours(cloud, 8)
    volumes = cloud.aws.regions["us-east-1"].volumes
    attachments = {disk.id: volumes[disk.id]["Attachments"] for disk in disks[:2]}
    for disk in disks[:2]:
        volumes[disk.id]["Attachments"] = []
    run_sweep(cloud, config=with_mass(5))
    for disk in disks[:2]:
        volumes[disk.id]["Attachments"] = attachments[disk.id]
    sweep_minutes(cloud, disks, 1, mass_from=5)
    assert set(alarms(cloud)) == {"burstwatch.critical/long_empty/burstwatch"}
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert alarm["AlarmDescription"].startswith("CRITICAL 8 resources: no credits for hours (")


def test_a_mass_is_not_over_because_a_sweep_that_has_just_started_cannot_list_its_volumes(
    cloud: Cloud,
) -> None:
    disks = draining(cloud, 6, percent=0)
    run_sweep(cloud, config=with_mass(5))
    cloud.aws.evaluate_alarms()
    cloud.aws.denied = {"DescribeVolumes"}
    for _ in range(5):
        a_minute(cloud, disks, iops=3_000)
        run_sweep(cloud, Memory(), config=with_mass(5))
        cloud.aws.evaluate_alarms()
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM"]
    cloud.aws.denied = set()
    run_sweep(cloud, Memory(), config=with_mass(5))
    assert alarms(cloud) == {"burstwatch.critical/many_at_once/burstwatch": "ALARM"}


def test_whoever_an_alarm_may_stand_for_is_not_paged_again_while_its_tags_cannot_be_read(
    cloud: Cloud,
) -> None:
    disks = draining(cloud, 6, percent=0)
    run_sweep(cloud, config=with_mass(5))
    cloud.aws.evaluate_alarms()
    cloud.aws.denied = {"ListTagsForResource"}
    sweep_minutes(cloud, disks, 12, mass_from=5)
    assert [name for _, name, _ in cloud.aws.notifications] == [
        "burstwatch.critical/many_at_once/burstwatch"
    ]


def test_a_volume_of_a_mass_that_recovers_and_burns_again_is_paged_by_its_name(
    cloud: Cloud,
) -> None:
    stay, back = draining(cloud, 6, percent=0), draining(cloud, 1, percent=20)[0]
    memory, config = Memory(), replace(with_mass(5), hold_s=600.0)
    for minute in range(100):
        at = cloud.clock.now
        a_minute(cloud, stay, iops=3_000)
        cloud.clock.now = at
        back.minute(iops=50 if minute < 60 else 3_000)
        run_sweep(cloud, memory, config=config)
        cloud.aws.evaluate_alarms()
    pages = [name for topic, name, state in cloud.aws.notifications if topic == TOPIC]
    assert pages == [
        "burstwatch.critical/many_at_once/burstwatch",
        f"burstwatch.critical/db {EFFECT}/{back.id}/burstwatch",
    ]
    assert {state for _, _, state in cloud.aws.notifications} == {"ALARM"}


def test_where_it_cannot_be_read_whom_a_mass_stands_for_it_is_held_and_others_are_paged(
    cloud: Cloud,
) -> None:
    disks = draining(cloud, 6, percent=20)
    warned = draining(cloud, 1, percent=70)[0]
    sweep_minutes(cloud, disks, 1, mass_from=5)
    cloud.aws.denied = {"ListTagsForResource"}
    for _ in range(14):
        cloud.clock.now += 60
        swept = run_sweep(cloud, config=with_mass(5))
        cloud.aws.evaluate_alarms()
        assert not swept.completed  # who knows whom it stands for?
    assert {name: state for name, state in alarms(cloud).items() if warned.id not in name} == {
        "burstwatch.critical/many_at_once/burstwatch": "ALARM"
    }


def test_where_it_cannot_be_written_whom_a_mass_stands_for_it_neither_ends_nor_begins_again(
    cloud: Cloud,
) -> None:
    disks, memory = draining(cloud, 6, percent=0), Memory()
    cloud.aws.denied = {"TagResource"}
    for _ in range(30):
        a_minute(cloud, disks, iops=3_000)
        assert not run_sweep(cloud, memory, config=with_mass(5)).completed
        cloud.aws.evaluate_alarms()
    assert cloud.aws.notifications == [
        (TOPIC, "burstwatch.critical/many_at_once/burstwatch", "ALARM")
    ]


@pytest.mark.parametrize("operation", ["DescribeInstanceCreditSpecifications", "GetMetricData"])
def test_a_mass_is_held_where_a_function_that_has_just_started_cannot_describe_its_members(
    cloud: Cloud, operation: str
) -> None:
    hosts = [cloud.aws.add_instance("t3.nano") for _ in range(6)]
    for host in hosts:
        for back in range(100, 0, -1):
            at = NOW - 300 * back
            cloud.aws.put("AWS/EC2", "CPUCreditBalance", {"InstanceId": host}, at, 0.0)
    config = replace(with_mass(5), kinds="ec2_instance_cpu")
    run_sweep(cloud, config=config)
    cloud.aws.evaluate_alarms()
    cloud.aws.denied = {operation}
    for _ in range(4):
        cloud.clock.now += 60
        run_sweep(cloud, config=config)
        cloud.aws.evaluate_alarms()
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM"]


def test_what_was_silent_for_hours_is_paged_by_its_name_beside_a_fleet_that_stays_empty(
    cloud: Cloud,
) -> None:
    empty_for_hours(cloud, 6)
    run_sweep(cloud, config=with_mass(5))
    cloud.aws.evaluate_alarms()
    assert set(alarms(cloud)) == {"burstwatch.critical/long_empty/burstwatch"}
    cloud.clock.now += 900
    (silent,) = empty_for_hours(cloud, 1)  # as one whose snooze has ended
    for back in range(16):
        silent.put(cloud.clock.now - 60 * back, 0, iops=300)
    run_sweep(cloud, config=with_mass(5))
    assert f"burstwatch.critical/db {EFFECT}/{silent.id}/burstwatch" in alarms(cloud)


@pytest.mark.many
def test_every_burn_beside_a_fleet_that_stays_empty_is_paged_by_name_in_time() -> None:
    assert play(4).wrong == []  # nineteen that stay empty, in four shards

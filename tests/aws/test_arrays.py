"""An array of equal volumes on one host: one alarm of its name for them all, and no page lost for what only looks like one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstwatch.aws.look.memory import Memory
from burstwatch.messages.episode import Episode
from tests.aws.masses import PREFIX, a_minute
from tests.aws.sweeping import NOTICE, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud, fake_cloud

pytestmark = pytest.mark.slow

DEVICES = "fghijklm"


def array_of(cloud: Cloud, percents: list[float], *, host_name: str = "mongo-1") -> list[Disk]:
    """Volumes of one host, each with so much left."""
    host = cloud.aws.add_instance("m5.large")
    region = cloud.aws.regions["us-east-1"]
    region.instances[host]["Tags"] = [{"Key": "Name", "Value": host_name}]
    disks = [Disk(cloud, percent=percent, host=host) for percent in percents]
    for disk, letter in zip(disks, DEVICES, strict=False):
        volume = region.volumes[disk.id]
        volume["Tags"] = []
        volume["Attachments"][0]["Device"] = f"/dev/sd{letter}"
    return disks


def sweep_minutes(
    cloud: Cloud, disks: list[Disk], minutes: int, memory: Memory, *, iops: float
) -> list[Episode]:
    closed = list[Episode]()
    for _ in range(minutes):
        a_minute(cloud, disks, iops=iops)
        closed += run_sweep(cloud, memory).closed
        cloud.aws.evaluate_alarms()
    return closed


def pages(cloud: Cloud, topic: str = TOPIC) -> list[str]:
    return [
        name
        for sent_to, name, state in cloud.aws.notifications
        if sent_to == topic and state == "ALARM"
    ]


def subjects(cloud: Cloud) -> list[str]:
    return [event["Subject"] for event in cloud.aws.published]


@pytest.mark.parametrize("count", [2, 4, 8])
def test_the_volumes_of_an_array_are_one_page_which_names_it_and_them_all(
    cloud: Cloud, count: int
) -> None:
    disks, memory = array_of(cloud, [60.0] * count), Memory()
    sweep_minutes(cloud, disks, 10, memory, iops=3_000)
    (page,), (notice,) = pages(cloud), pages(cloud, NOTICE)
    assert page.startswith(f"{PREFIX}/mongo-1-array/array_i-")
    assert notice.rpartition("/")[0] == page.rpartition("/")[0]
    text = cloud.aws.regions["us-east-1"].alarms[page]["AlarmDescription"]
    assert text.splitlines()[0].startswith("CRITICAL mong")
    assert "array: credits out in" in text.splitlines()[0]
    for disk, letter in zip(disks, DEVICES, strict=False):
        assert disk.id in text
        assert f"/dev/sd{letter}" in text
    assert f"change all {count} volumes; cost and command are for one" in text
    assert len(text) <= 1024


def test_an_array_runs_out_and_recovers_once_and_its_episode_says_so(cloud: Cloud) -> None:
    disks, memory = array_of(cloud, [60.0] * 4), Memory()
    sweep_minutes(cloud, disks, 20, memory, iops=3_000)
    empty = [subject for subject in subjects(cloud) if "have run out" in subject]
    assert len(empty) == 1
    assert empty[0].startswith("CRITICAL mongo-1 array: ")
    closed = sweep_minutes(cloud, disks, 100, memory, iops=0)
    assert alarms(cloud) == {}
    over = [subject for subject in subjects(cloud) if subject.startswith("RESOLVED")]
    assert len(over) == 1
    assert over[0].startswith("RESOLVED mongo-1 array: ")
    (episode,) = closed
    assert episode.kind == "ebs_volume"
    assert episode.lowest_ratio == 0
    assert episode.at_zero_s is not None


def test_an_alarm_of_an_array_that_comes_into_danger_while_it_is_over_is_raised_again(
    cloud: Cloud,
) -> None:
    disks, memory = array_of(cloud, [60.0] * 3), Memory()
    sweep_minutes(cloud, disks, 20, memory, iops=3_000)
    for _ in range(100):
        sweep_minutes(cloud, disks, 1, memory, iops=0)
        if set(alarms(cloud).values()) == {"OK"}:
            break
    else:
        pytest.fail("never over")
    sweep_minutes(cloud, disks, 30, memory, iops=3_000)
    assert all("/array_i-" in name for name in alarms(cloud))
    assert "ALARM" in alarms(cloud).values()


def test_a_volume_beside_the_array_with_other_credits_left_is_paged_by_its_own_name(
    cloud: Cloud,
) -> None:
    *pair, alone = array_of(cloud, [20.0, 20.0, 100.0])
    memory = Memory()
    sweep_minutes(cloud, [*pair, alone], 5, memory, iops=3_000)
    assert len(pages(cloud)) == 1
    assert alone.id not in next(
        iter(
            alarm["AlarmDescription"]
            for name, alarm in cloud.aws.regions["us-east-1"].alarms.items()
            if name == pages(cloud)[0]
        )
    )
    sweep_minutes(cloud, [*pair, alone], 15, memory, iops=3_000)
    assert [name for name in pages(cloud) if alone.id in name]


def test_an_alarm_that_a_volume_had_by_itself_stays_when_it_is_seen_to_be_of_an_array(
    cloud: Cloud,
) -> None:
    disks, memory = array_of(cloud, [20.0, 90.0]), Memory()
    sweep_minutes(cloud, disks, 2, memory, iops=3_000)
    assert [name for name in alarms(cloud) if disks[0].id in name]
    sweep_minutes(cloud, disks, 25, memory, iops=3_000)  # both are empty now
    raised = [name for name, state in alarms(cloud).items() if state == "ALARM"]
    assert [name for name in raised if disks[0].id in name]
    assert [name for name in raised if disks[1].id in name]


def test_members_of_an_array_that_cannot_be_read_end_no_alarm(cloud: Cloud) -> None:
    disks, memory = array_of(cloud, [20.0] * 4), Memory()
    sweep_minutes(cloud, disks, 3, memory, iops=3_000)
    cloud.aws.denied.add("ListTagsForResource")
    sweep_minutes(cloud, disks, 3, memory, iops=3_000)
    assert len(pages(cloud)) == 1
    assert "OK" not in alarms(cloud).values()


def test_a_volume_in_maintenance_has_no_part_in_an_array(cloud: Cloud) -> None:
    disks, memory = array_of(cloud, [20.0] * 2), Memory()
    cloud.aws.regions["us-east-1"].volumes[disks[1].id]["Tags"] = [
        {"Key": "burstwatch:snooze", "Value": "2100-01-01T00:00Z"}
    ]
    sweep_minutes(cloud, disks, 3, memory, iops=3_000)
    assert [disks[0].id in name for name in pages(cloud)] == [True]


def test_forty_volumes_of_ten_arrays_that_rise_at_once_are_one_mass(cloud: Cloud) -> None:
    disks = [disk for _ in range(10) for disk in array_of(cloud, [20.0] * 4)]
    sweep_minutes(cloud, disks, 3, Memory(), iops=3_000)
    assert pages(cloud) == [f"{PREFIX}/many_at_once/critical"]


@settings(max_examples=8)
@given(percents=st.lists(st.sampled_from([8.0, 10.0, 30.0, 60.0, 62.0]), min_size=1, max_size=5))
def test_whatever_is_on_one_host_each_volume_that_empties_was_paged_before(
    percents: list[float],
) -> None:
    """By its own name, or in the text or the tags of a page of many; and of one host there are never more pages than volumes."""
    with fake_cloud() as cloud:
        disks, memory = array_of(cloud, percents), Memory()
        told: dict[str, float] = {}
        empty: dict[str, float] = {}
        for _ in range(25):
            sweep_minutes(cloud, disks, 1, memory, iops=3_000)
            region = cloud.aws.regions["us-east-1"]
            for name in pages(cloud):
                text = region.alarms[name]["AlarmDescription"] + name
                for disk in disks:
                    if disk.id in text:
                        told.setdefault(disk.id, cloud.clock.now)
            for disk in disks:
                if disk.percent == 0:
                    empty.setdefault(disk.id, cloud.clock.now)
        assert empty.keys() == {disk.id for disk in disks}
        for volume_id, at in empty.items():
            assert told[volume_id] < at
        assert len(pages(cloud)) <= len(disks)

"""An array of equal volumes on one host: one alarm of its name for them all, and no page lost for what only looks like one."""

import json
import string
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstwatch.aws.alarms.api import read_alarms
from burstwatch.aws.alarms.episodes import open_episodes
from burstwatch.aws.look.memory import Memory
from burstwatch.messages.episode import Episode
from burstwatch.messages.message import MOST_IDS
from tests.aws.sweeping import CONFIG, NOTICE, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud, fake_cloud

pytestmark = pytest.mark.slow

DEVICES = string.ascii_lowercase[1:]


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
    cloud: Cloud,
    disks: list[Disk],
    minutes: int,
    memory: Memory,
    *,
    iops: float | Sequence[float],
    mass_from: float = 20,
) -> list[Episode]:
    """Sweep each minute, with one load or one for each disk. Returns the episodes that were closed."""
    loads = [iops] * len(disks) if isinstance(iops, float | int) else iops
    closed = list[Episode]()
    for _ in range(minutes):
        now = cloud.clock.now
        for disk, load in zip(disks, loads, strict=True):
            cloud.clock.now = now
            disk.minute(iops=load)
        cloud.clock.now = now + 60
        result = run_sweep(cloud, memory, config=replace(CONFIG, mass_from=mass_from))
        # Only who wrote the tags can miss them.
        assert [problem for problem in result.problems if "tags of" not in problem.part] == []
        closed += result.closed
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


@pytest.mark.parametrize("count", [2, 4, 24])
def test_the_volumes_of_an_array_are_one_page_which_names_it_and_them_all(
    cloud: Cloud, count: int
) -> None:
    disks, memory = array_of(cloud, [60.0] * count), Memory()
    sweep_minutes(cloud, disks, 10, memory, iops=3_000, mass_from=50)
    (page,), (notice,) = pages(cloud), pages(cloud, NOTICE)
    assert page.startswith("burstwatch.critical/mongo-1-array/array_i-")
    assert notice == page.replace("critical", "warning", 1)
    text = cloud.aws.regions["us-east-1"].alarms[page]["AlarmDescription"]
    assert text.splitlines()[0].startswith("CRITICAL ")
    assert "left (" in text.splitlines()[0]
    assert "): mongo-1 array burst credits, then " in text.splitlines()[0]
    named = sorted(disk.id for disk in disks)
    assert all(volume_id in text for volume_id in named[:MOST_IDS])
    assert ("and 18 more" in text) == (count == 24)
    assert "of mongo-1 (i-" in text
    assert f"change all {count} volumes; cost and command are for one" in text
    assert "Do now: " in text
    assert "Command: aws ec2 modify-volume " in text
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


def test_a_volume_without_a_name_is_paged_by_that_of_its_host(cloud: Cloud) -> None:
    disks = array_of(cloud, [20.0])
    sweep_minutes(cloud, disks, 3, Memory(), iops=3_000)
    (page,) = pages(cloud)
    assert page.startswith(
        f"burstwatch.critical/mongo-1-sdb runs out, then 300 of 3,000 IOPS/{disks[0].id}/"
    )


def test_an_array_that_is_open_is_one_of_the_episodes(cloud: Cloud) -> None:
    disks, memory = array_of(cloud, [20.0] * 2), Memory()
    sweep_minutes(cloud, disks, 3, memory, iops=3_000)
    (episode,) = open_episodes(read_alarms(cloud.clients, "burstwatch."))
    assert episode.name == "mongo-1-array"
    assert episode.resource_id.startswith("array_i-")
    assert episode.severity == "critical"


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
    assert pages(cloud) == ["burstwatch.critical/many_at_once/burstwatch"]


# What breaks arrays apart


def test_a_volume_that_comes_into_danger_beside_an_open_alarm_is_paged_by_its_own_name(
    cloud: Cloud,
) -> None:
    """The page of the array was sent before, and did not name it."""
    disks, memory = array_of(cloud, [16.0, 16.0, 19.0]), Memory()
    sweep_minutes(cloud, disks, 1, memory, iops=[3_000, 3_000, 300])
    sweep_minutes(cloud, disks, 2, memory, iops=[1_200, 1_200, 300])
    sweep_minutes(cloud, disks, 12, memory, iops=[1_200, 1_200, 3_000])
    assert disks[2].percent == 0
    assert [name for name in pages(cloud) if disks[2].id in name]


@pytest.mark.parametrize("missing", [1, 2])
@pytest.mark.parametrize("is_cold", [True, False])
def test_one_listing_that_lacks_volumes_of_an_array_ends_no_alarm_and_pages_nobody_again(
    cloud: Cloud, missing: int, *, is_cold: bool
) -> None:
    disks, memory = array_of(cloud, [20.0] * 2), Memory()
    sweep_minutes(cloud, disks, 15, memory, iops=3_000)
    before, volumes = len(cloud.aws.notifications), cloud.aws.regions["us-east-1"].volumes
    lacking = {disk.id: volumes.pop(disk.id) for disk in disks[:missing]}
    sweep_minutes(cloud, disks, 1, Memory() if is_cold else memory, iops=3_000)
    volumes.update(lacking)
    for _ in range(3):
        sweep_minutes(cloud, disks, 1, Memory() if is_cold else memory, iops=3_000)
    assert cloud.aws.notifications[before:] == []
    assert set(alarms(cloud).values()) == {"ALARM"}


def test_what_is_left_of_an_array_keeps_its_alarm_and_no_end_repeats_the_danger(
    cloud: Cloud,
) -> None:
    disks, memory = array_of(cloud, [96.0, 96.0, 100.0]), Memory()
    sweep_minutes(cloud, disks, 2, memory, iops=2_900)
    sweep_minutes(cloud, disks, 22, memory, iops=[2_900, 2_900, 3_000])
    region = cloud.aws.regions["us-east-1"]
    for _ in range(110):
        states = dict(alarms(cloud))
        sweep_minutes(cloud, disks, 1, memory, iops=[0, 0, 3_000])
        for name, state in alarms(cloud).items():
            if state == "OK" and states.get(name) == "ALARM":
                assert region.alarms[name]["AlarmDescription"].startswith("RESOLVED")
    critical = [name for name, state in alarms(cloud).items() if state == "ALARM"]
    assert [name for name in critical if ".critical/" in name]


def changed_to_gp3(cloud: Cloud, disks: list[Disk]) -> None:
    for disk in disks:
        cloud.aws.regions["us-east-1"].volumes[disk.id].update(
            VolumeType="gp3", Iops=3_000, Throughput=128
        )


def detached(cloud: Cloud, disks: list[Disk]) -> None:
    for disk in disks:
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Attachments"] = []


def deleted(cloud: Cloud, disks: list[Disk]) -> None:
    for disk in disks:
        del cloud.aws.regions["us-east-1"].volumes[disk.id]


@pytest.mark.parametrize("happens", [changed_to_gp3, detached, deleted])
def test_an_array_that_is_repaired_or_gone_is_an_episode_that_is_over_and_told_once(
    cloud: Cloud, happens: Callable[[Cloud, list[Disk]], None]
) -> None:
    disks, memory = array_of(cloud, [30.0] * 3), Memory()
    sweep_minutes(cloud, disks, 5, memory, iops=3_000)
    happens(cloud, disks)
    closed = sweep_minutes(cloud, disks, 30, memory, iops=0)
    assert alarms(cloud) == {}
    assert len(closed) == 1
    over = [subject for subject in subjects(cloud) if subject.startswith("RESOLVED")]
    assert len(over) == 1
    assert "array" in over[0]
    assert "#" not in over[0]


def test_when_one_volume_is_changed_the_others_keep_the_alarm_and_the_command_is_for_one_of_them(
    cloud: Cloud,
) -> None:
    disks, memory = array_of(cloud, [30.0] * 3), Memory()
    sweep_minutes(cloud, disks, 5, memory, iops=3_000)
    changed_to_gp3(cloud, disks[:1])
    sweep_minutes(cloud, disks[1:], 5, memory, iops=3_000)
    assert len(pages(cloud)) == 1
    (text,) = (
        alarm["AlarmDescription"]
        for name, alarm in cloud.aws.regions["us-east-1"].alarms.items()
        if ".critical/" in name
    )
    assert f"--volume-id {disks[0].id}" not in text
    assert set(alarms(cloud).values()) == {"ALARM"}


@pytest.mark.parametrize("count", [1, 2])
def test_a_bucket_that_is_seen_empty_only_after_a_gap_is_told_once(
    cloud: Cloud, count: int
) -> None:
    disks, memory = array_of(cloud, [60.0] * count), Memory()
    for _ in range(40):
        sweep_minutes(cloud, disks, 1, memory, iops=3_000)
        if alarms(cloud):
            break
    while disks[0].percent > 0:
        now = cloud.clock.now
        for disk in disks:
            cloud.clock.now = now
            disk.minute(iops=3_000)
    sweep_minutes(cloud, disks, 3, memory, iops=3_000)
    assert len([subject for subject in subjects(cloud) if "have run out" in subject]) == 1


def test_every_message_of_an_array_has_the_same_id_and_thread(cloud: Cloud) -> None:
    disks, memory = array_of(cloud, [60.0, 60.2, 59.8]), Memory()
    sweep_minutes(cloud, disks, 20, memory, iops=3_000)
    sweep_minutes(cloud, disks, 100, memory, iops=0)
    ids = {event["MessageAttributes"]["resourceId"]["StringValue"] for event in cloud.aws.published}
    threads = {
        json.loads(event["Message"])["metadata"]["threadId"] for event in cloud.aws.published
    }
    assert len(ids) == len(threads) == 1
    assert subjects(cloud)[-1].startswith("RESOLVED")


@pytest.mark.parametrize("count", [1, 2])
def test_an_array_that_is_snoozed_after_its_page_is_silent(cloud: Cloud, count: int) -> None:
    disks, memory = array_of(cloud, [40.0] * count), Memory()
    sweep_minutes(cloud, disks, 5, memory, iops=3_000)
    for disk in disks:
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"] = [
            {"Key": "burstwatch:snooze", "Value": "2100-01-01T00:00Z"}
        ]
    sent = len(cloud.aws.published)
    sweep_minutes(cloud, disks, 20, memory, iops=3_000)
    assert cloud.aws.published[sent:] == []


def test_while_the_tags_cannot_be_read_volumes_that_drift_apart_are_not_paged_again(
    cloud: Cloud,
) -> None:
    disks, memory = array_of(cloud, [30.0] * 4), Memory()
    sweep_minutes(cloud, disks, 5, memory, iops=3_000)
    sweep_minutes(cloud, disks, 4, memory, iops=[3_000, 3_000, 1_200, 1_200])
    sent = len(pages(cloud))
    cloud.aws.denied.add("ListTagsForResource")
    sweep_minutes(cloud, disks, 2, memory, iops=[3_000, 3_000, 1_200, 1_200])
    cloud.aws.denied.clear()
    sweep_minutes(cloud, disks, 2, memory, iops=[3_000, 3_000, 1_200, 1_200])
    assert len(pages(cloud)) == sent


@settings(max_examples=8)
@given(
    percents=st.lists(st.sampled_from([8.0, 10.0, 14.0, 30.0, 60.0, 62.0]), min_size=1, max_size=5),
    data=st.data(),
)
def test_whatever_is_on_one_host_each_volume_that_empties_was_paged_before(
    percents: list[float], data: st.DataObject
) -> None:
    """In the name or the words of a page when it was sent; and there are never more pages than volumes, if none recovers."""
    with fake_cloud() as cloud:
        disks, memory = array_of(cloud, percents), Memory()
        told: dict[str, float] = {}
        empty: dict[str, float] = {}
        heard = 0
        for _ in range(8):
            loads = [data.draw(st.sampled_from([300, 1_200, 3_000])) for _ in disks]
            for _ in range(5):
                sweep_minutes(cloud, disks, 1, memory, iops=loads)
                for name in pages(cloud)[heard:]:
                    words = cloud.aws.regions["us-east-1"].alarms[name]["AlarmDescription"] + name
                    for disk in disks:
                        if disk.id in words:
                            told.setdefault(disk.id, cloud.clock.now)
                heard = len(pages(cloud))
                for disk in disks:
                    if disk.percent == 0:
                        empty.setdefault(disk.id, cloud.clock.now)
        for volume_id, at in empty.items():
            assert told[volume_id] < at
        assert len(pages(cloud)) <= len(disks)

"""A full bucket of a size that AWS does not publish is asked for as seldom as its disks allow, and pages in time."""

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.config import Config
from burstwatch.forecast.policy import PAGED
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind, Thing
from burstwatch.polling.queries import Allowance
from burstwatch.polling.sampling import Task
from burstwatch.polling.schedule import Schedule
from tests.conftest import Clock
from tests.fake.quick import QuickCloudWatch
from tests.kinds import ec2_instance_ebs, rds_instance_ebs

START = 1_790_000_100.0  # a mark of five minutes
HOURS, DELAY_S = 8, 180.0
GP3 = {"VolumeType": "gp3", "Size": 40, "Iops": 3_000, "Throughput": 125}
LARGE = {"VolumeType": "gp3", "Size": 400, "Iops": 12_000, "Throughput": 500}


def instance(disks: list[dict[str, Any]]) -> list[Resource]:
    """The buckets of an m5.large with such volumes."""
    names = [f"vol-{number}" for number in range(len(disks))]
    item = ec2_instance_ebs.ITEMS[0] | {
        "BlockDeviceMappings": [{"Ebs": {"VolumeId": name}} for name in names]
    }
    related = ec2_instance_ebs.FOUND | {"disks": dict(zip(names, disks, strict=True))}
    return described(find_kinds()["ec2_instance_ebs"], item, related)


def database(**facts: Any) -> list[Resource]:
    """The buckets of a db.m5.large with such storage."""
    item = rds_instance_ebs.ITEMS[0] | facts
    return described(find_kinds()["rds_instance_ebs"], item, rds_instance_ebs.FOUND)


def described(kind: Kind, item: dict[str, Any], related: dict[str, Any]) -> list[Resource]:
    thing = kind.inventory.identify(item)
    thing = Thing(id=thing.id, name=thing.name, tags={}, item=item, unit="123/eu-west-1")
    return list(kind.describe(thing, related, START))


@pytest.mark.parametrize(
    ("buckets", "reaches"),
    [
        # Each I/O is taken to count once for each 16 KiB that it begins.
        (instance([GP3]), [3_000 + 125 * 64, 125]),
        (instance([GP3, LARGE]), [15_000 + 625 * 64, 625]),
        (instance([GP3 | {"VolumeType": "gp2", "Size": 100}]), [3_000 + 128 * 64, 128]),
        (instance([{"VolumeType": "standard", "Size": 100}]), [None, None]),
        (instance([GP3, {"VolumeType": "gp9", "Size": 100}]), [None, None]),
        (instance([]), [None, None]),
        # With what the volume of the operating system may reach, of which AWS says nothing.
        (
            database(StorageType="gp3", AllocatedStorage=100, Iops=3_000, StorageThroughput=125),
            [6_000 + 375 * 64, 375],
        ),
        (
            database(StorageType="gp2", AllocatedStorage=500),
            [15_000 + (4 * 128 + 250) * 64, 4 * 128 + 250],
        ),
        (database(StorageType="io1", AllocatedStorage=500, Iops=9_000), [None, None]),
        (
            database(StorageType="gp2", AllocatedStorage=500, DBInstanceStatus="modifying"),
            [None, None],
        ),
        (
            database(StorageType="gp2", AllocatedStorage=500, DedicatedLogVolume=True),
            [None, None],
        ),
    ],
)
def test_what_disks_reach_is_the_sum_of_what_each_can_do_where_all_are_known(
    buckets: list[Resource], reaches: list[float | None]
) -> None:
    assert [bucket.terms.reach for bucket in buckets] == reaches


@dataclass(frozen=True)
class Watched:
    """One bucket of an instance, its load by minutes, and how much larger it is than AWS says at the least."""

    metric: int
    loads: tuple[tuple[int, float], ...]  # minutes, share of what the disks reach
    larger: float
    lead_s: float


watched = st.builds(
    Watched,
    metric=st.sampled_from([0, 1]),
    loads=st.lists(
        st.tuples(st.integers(1, 240), st.sampled_from([0.0, 0.0, 0.3, 0.8, 1.0, 1.0])),
        min_size=1,
        max_size=8,
    ).map(tuple),
    larger=st.sampled_from([1.0, 1.0, 1.3, 3.0]),
    lead_s=st.sampled_from([300.0, 600.0, 900.0]),
)


@pytest.mark.slow
@given(watched)
@example(Watched(metric=1, loads=((1, 1.0),), larger=1.0, lead_s=900.0))
def test_with_what_the_disks_reach_a_page_is_in_time_or_as_soon_as_every_five_minutes(
    case: Watched,
) -> None:
    by_reach = watch(case, knows_reach=True)
    every_five_minutes = [watch(case, knows_reach=False, begins=minute) for minute in range(5)]
    latest_s = max(seen.paged_s for seen in every_five_minutes)
    assert by_reach.paged_s <= max(latest_s, by_reach.in_time_s)
    assert by_reach.looks <= max(seen.looks for seen in every_five_minutes)


def test_a_full_bucket_is_asked_for_once_an_hour_where_its_disks_reach_little() -> None:
    idle = Watched(metric=1, loads=((60, 0.0),), larger=1.0, lead_s=900.0)
    assert watch(idle, knows_reach=True).looks <= HOURS + 1
    assert watch(idle, knows_reach=False).looks == pytest.approx(HOURS * 12, abs=2)
    operations = replace(idle, metric=0)
    assert watch(operations, knows_reach=True).looks <= HOURS * 6


@dataclass(frozen=True)
class Seen:
    """When the page came, the last instant at which the lead was left, and how often the bucket was asked for."""

    paged_s: float
    in_time_s: float
    looks: int


def watch(case: Watched, *, knows_reach: bool, begins: int = 0) -> Seen:
    """Hours of one bucket that begins full, in five-minute means that are three minutes late, from so many minutes on."""
    resource = instance([GP3])[case.metric]
    bucket, reach = resource.bucket, resource.terms.reach
    assert bucket is not None
    assert reach is not None
    reach = min(reach, bucket.burst)
    capacity = bucket.capacity * case.larger
    shares = [share for minutes, share in case.loads for _ in range(minutes)]
    shares = (shares * (1 + HOURS * 60 // len(shares)))[: HOURS * 60]
    levels, level = [], capacity
    for share in shares:
        level = max(0.0, min(capacity, level - 60 * (share * reach - bucket.refill)))
        levels.append(level)
    clock = Clock(START)
    cloudwatch = QuickCloudWatch(clock, period_s=300.0, delay_s=DELAY_S)
    before = [(START - 300.0 * back, 100.0) for back in range(12, 0, -1)]
    means = [
        (START + 60.0 * minute, 100.0 * fmean(levels[minute : minute + 5]) / capacity)
        for minute in range(0, len(levels), 5)
    ]
    points = [*before, *means]
    cloudwatch.series[resource.id, resource.level_metric] = (
        [at for at, _ in points],
        [value for _, value in points],
    )
    config = Config(page_on="worst", lead_s=case.lead_s, max_data_age_s=200.0)
    if not knows_reach:
        resource = replace(resource, terms=replace(resource.terms, reach=None))
    paged_s, looks, schedule = math.inf, 0, Schedule()
    for minute in range(begins, HOURS * 60):
        now = clock.now = START + 60.0 * (minute + 1)
        if not schedule.is_due(resource, now):
            continue
        looks += 1
        if look_at(resource, cloudwatch, schedule, config, now) and paged_s > now:
            paged_s = now
    needed = (config.lead_s + config.alarm_path_s) * (reach - bucket.refill)
    minutes_in_time = next((n for n, level in enumerate(levels) if level < needed), math.inf)
    return Seen(paged_s=paged_s, in_time_s=START + 60.0 * minutes_in_time, looks=looks)


def look_at(
    resource: Resource, cloudwatch: QuickCloudWatch, schedule: Schedule, config: Config, now: float
) -> bool:
    """One look. Returns whether it pages."""
    kind = find_kinds()["ec2_instance_ebs"]
    task = Task(kind=kind, config=config, schedule=schedule, now=now)
    reader = Reader(
        clients=cloudwatch, now=now, allowance=Allowance(),  # type: ignore[arg-type]
        deadline=Deadline(lambda: 0.0, at=3_600.0),
    )  # fmt: skip
    (judgement,) = ask(task, reader, [resource], list).judgements
    schedule.note(judgement, config, now)
    return judgement.assessment.verdict in PAGED

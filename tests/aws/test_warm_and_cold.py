"""A look that knows the last one has the verdict of one that knows nothing, whatever the load, the data and the looks are like.

Both have read the days before.
"""

from dataclasses import dataclass, replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.policy import Assessment
from burstwatch.history.observations import BucketTerms, Reporting, Resource
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Allowance
from burstwatch.polling.sampling import Task
from burstwatch.polling.schedule import DaysBefore, Schedule, fingerprint
from tests.conftest import Clock
from tests.fake.quick import QuickCloudWatch

pytestmark = pytest.mark.slow

START = 1_790_000_100.0  # a mark of five minutes
KIND = find_kinds()["ebs_volume"]
HOURS = 4


@dataclass(frozen=True)
class Watched:
    """A volume, its load by minutes, when it is looked at, and how late its datapoints come."""

    size_gib: int
    loads: tuple[tuple[int, float], ...]  # minutes, share of the burst
    start_ratio: float
    every_minutes: int
    delays_s: tuple[float, ...]
    #: Of so many datapoints one comes ten minutes after the others; none of 0.
    late_one_in: int
    is_new: bool
    page_on: Literal["balanced", "worst"]


watched = st.builds(
    Watched,
    size_gib=st.sampled_from([20, 100, 300, 700]),
    loads=st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from([0.0, 0.03, 0.1, 0.2, 0.5, 1.0])),
        min_size=2,
        max_size=20,
    ).map(tuple),
    start_ratio=st.floats(0.2, 0.9),
    every_minutes=st.sampled_from([1, 1, 3, 5]),
    delays_s=st.lists(st.floats(0, 200), min_size=1, max_size=7).map(tuple),
    late_one_in=st.sampled_from([0, 0, 7, 23]),
    is_new=st.booleans(),
    page_on=st.sampled_from(["balanced", "balanced", "worst"]),
)


def look_at(
    resource: Resource, cloudwatch: QuickCloudWatch, schedule: Schedule, config: Config, now: float
) -> Assessment:
    """One look at it, due or not. Returns what it found."""
    witness = replace(resource, id="vol-witness", terms=replace(resource.terms, starts_empty=False))
    task = Task(kind=KIND, config=config, schedule=schedule, now=now)
    reader = Reader(
        clients=cloudwatch, now=now, allowance=Allowance(),  # type: ignore[arg-type]
        deadline=Deadline(lambda: 0.0, at=3_600.0),
    )  # fmt: skip
    (judgement,) = [
        judgement
        for judgement in ask(task, reader, [resource, witness], list).judgements
        if judgement.resource.id == resource.id
    ]
    schedule.note(judgement, config, now)
    return judgement.assessment


@given(watched)
def test_a_warm_look_has_the_verdict_of_a_cold_one(case: Watched) -> None:
    """Look on through the hours."""
    spec = volume_spec("gp2", case.size_gib)
    assert spec.bucket is not None
    shares = [share for minutes, share in case.loads for _ in range(minutes)]
    shares = (shares * (1 + HOURS * 60 // len(shares)))[: HOURS * 60]
    loads = [Phase(seconds=60, read_iops=share * spec.burst, write_iops=0) for share in shares]
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=60.0)
    points = list(simulation.play(loads, ratio=case.start_ratio, start_s=START))
    # A minute without I/O has its balance all the same, as that of an instance has.
    lateness = [
        600.0
        if case.late_one_in and index % case.late_one_in == 1
        else case.delays_s[index % len(case.delays_s)]
        for index in range(len(points))
    ]
    published = [
        (point.start_s + 60.0 + late_s, point.start_s, 100 * point.balance_minimum)
        for point, late_s in zip(points, lateness, strict=True)
    ]
    disk = replace(
        volume("gp2", case.size_gib),
        id="vol-1",
        terms=BucketTerms(starts_empty=case.is_new),
        reporting=Reporting(in_use_since_s=START - 60.0 if case.is_new else None),
    )
    clock = Clock(START)
    cloudwatch = QuickCloudWatch(clock)
    cloudwatch.series["vol-witness", "BurstBalance"] = (
        [START + 60.0 * minute for minute in range(-60, HOURS * 60)],
        [99.0] * (HOURS * 60 + 60),
    )
    config = Config(page_on=case.page_on, lead_s=600.0, max_data_age_s=200.0)
    warm = Schedule()
    for minute in range(15, HOURS * 60, case.every_minutes):
        now = clock.now = START + 60.0 * minute
        there = [(at, level) for from_s, at, level in published if from_s <= now]
        cloudwatch.series[disk.id, "BurstBalance"] = (
            [at for at, _ in there],
            [level for _, level in there],
        )
        # Nothing is known of the days before.
        warm.days_before[disk.key] = DaysBefore(past=None, at=now, of=fingerprint(disk))
        cold = Schedule(
            days_before=dict(warm.days_before), newest_s=dict(warm.newest_s), fine=set(warm.fine)
        )
        expected = look_at(disk, cloudwatch, cold, config, now)
        assessment = look_at(disk, cloudwatch, warm, config, now)
        assert assessment.verdict == expected.verdict, (minute, assessment, expected)

"""No bucket comes within its lead unannounced, whatever a workload does between two looks."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.margins import margins_of
from burstwatch.forecast.policy import PAGED
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Allowance
from burstwatch.polling.sampling import Task
from burstwatch.polling.schedule import Schedule
from tests.conftest import Clock
from tests.fake.quick import QuickCloudWatch

#: Whole sweeps of large fleets, or of days: not for the inner loop.
pytestmark = pytest.mark.slow

START = 1_790_000_100.0  # a mark of five minutes
HOURS = 6
KIND = find_kinds()["ebs_volume"]


@dataclass(frozen=True)
class Hostile:
    """A volume, what is asked of it, and how it is reported."""

    size_gib: int
    loads: tuple[tuple[int, float], ...]  # minutes, share of the burst
    start_ratio: float
    cadence_s: float
    delay_s: float
    lead_s: float
    early_s: float  # by so much every other sweep comes early
    other_cadence_s: float = 60.0  # of the other volume of the unit


hostile = st.builds(
    Hostile,
    size_gib=st.sampled_from([1, 20, 33, 34, 50, 100, 300, 500, 900, 999]),
    loads=st.lists(
        st.tuples(st.integers(1, 90), st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0])),
        min_size=1,
        max_size=20,
    ).map(tuple),
    start_ratio=st.sampled_from([1.0, 1.0, 0.97, 0.9, 0.7]),
    cadence_s=st.sampled_from([60.0, 60.0, 300.0]),
    delay_s=st.sampled_from([0.0, 60.0, 180.0]),
    lead_s=st.sampled_from([300.0, 600.0]),
    early_s=st.sampled_from([0.0, 5.0]),
    other_cadence_s=st.sampled_from([60.0, 300.0]),
)


@given(hostile)
@example(  # silent, then at full burst, of which the first datapoint is eight minutes late
    Hostile(
        size_gib=300,
        loads=((90, 0.0), (4, 0.0), (90, 1.0), (90, 1.0)),
        start_ratio=1.0,
        cadence_s=300,
        delay_s=180,
        lead_s=600,
        early_s=0,
    )
)
@example(  # datapoints of five minutes beside a volume with some every minute
    Hostile(
        size_gib=33,
        loads=((90, 0.0), (120, 1.0)),
        start_ratio=1.0,
        cadence_s=300,
        delay_s=180,
        lead_s=600,
        early_s=0,
    )
)
def test_a_hostile_workload_never_comes_within_its_lead_unannounced(case: Hostile) -> None:
    spec = volume_spec("gp2", case.size_gib)
    assert spec.bucket is not None
    bucket = spec.bucket
    minutes = [share for count, share in case.loads for _ in range(count)]
    minutes = (minutes * (1 + HOURS * 60 // len(minutes)))[: HOURS * 60]
    loads = [Phase(seconds=60, read_iops=share * bucket.burst, write_iops=0) for share in minutes]
    truth = list(
        Simulation(spec=spec, bucket=bucket, period_s=60.0).play(
            loads, ratio=case.start_ratio, start_s=START
        )
    )
    config = Config(
        page_on="worst",
        lead_s=case.lead_s,
        max_data_age_s=max(60.0, case.delay_s),
        alarm_path_s=120,
    )
    clock = Clock(START)
    cloudwatch = QuickCloudWatch(clock, period_s=case.cadence_s, delay_s=case.delay_s)
    disk = replace(volume("gp2", case.size_gib), id="vol-hostile")
    other = replace(volume("gp2", 100), id="vol-other")
    needed_s = margins_of(disk, config).page_s - config.sweep_period_s
    reported = [(START - 60.0 * back, 100 * case.start_ratio) for back in range(60, 0, -1)]
    reported += [
        (point.start_s, 100 * point.balance_minimum)
        for point in truth
        if point.read_ops > 0  # CloudWatch has no datapoint of a minute without I/O
    ]
    by_period: dict[float, float] = {}
    for at, value in reported:
        mark = at - at % case.cadence_s
        by_period[mark] = min(value, by_period.get(mark, 100.0))
    cloudwatch.series[disk.id, "BurstBalance"] = (list(by_period), list(by_period.values()))
    every_s = cloudwatch.periods_s[other.id] = case.other_cadence_s
    marks = [START - 3_600 + n * every_s for n in range(round(3_600 * 8 / every_s))]
    cloudwatch.series[other.id, "BurstBalance"] = (marks, [99.0] * len(marks))

    schedule, announced = Schedule(), False
    looks = 0
    for minute in range(HOURS * 60):
        now = START + 60 * (minute + 1) - (case.early_s if minute % 2 else 0.0)
        clock.now = now
        looks += look_once([disk, other], cloudwatch, config, schedule, now).count(disk.id)
        announced = schedule.looks[disk.key].judgement.assessment.verdict in PAGED
        if minute < 1:
            continue  # a volume that is found with little left was never in time
        # An alarm that is made now has told somebody after its path.
        level = truth[minute].level_ratio * bucket.capacity
        left_s = level / (bucket.burst - bucket.refill)
        assert announced or left_s >= needed_s, (minute, left_s)
    assert looks <= HOURS * 60


@pytest.mark.parametrize(
    ("page_on", "size_gib"),
    [
        ("balanced", 300),
        pytest.param("worst", 50, marks=pytest.mark.slow),
        pytest.param("balanced", 50, marks=pytest.mark.many),
        pytest.param("worst", 300, marks=pytest.mark.many),
    ],
)
def test_waiting_announces_within_a_minute_of_looking_every_minute(
    page_on: str, size_gib: int
) -> None:
    config = Config(page_on=page_on, lead_s=600.0)
    base = volume_spec("gp2", size_gib).baseline
    # A calm day with a job that goes on too long, and the evening after it.
    loads = [(600, 0.5 * base), (20, 2_000.0), (120, 0.4 * base), (45, 2_500.0), (700, 0.4 * base)]
    waiting = announcements(loads, size_gib, config, every_minute=False)
    always = announcements(loads, size_gib, config, every_minute=True)
    assert [kind for kind, _ in waiting] == [kind for kind, _ in always]
    assert len(waiting) >= 2
    for (kind, at), (_, soonest) in zip(waiting, always, strict=True):
        # What is over is seen over by the look after, which may be five minutes later.
        assert 0 <= at - soonest <= (0 if kind == "announced" else 5), (waiting, always)


def announcements(
    loads: list[tuple[int, float]], size_gib: int, config: Config, *, every_minute: bool
) -> list[tuple[str, int]]:
    """When a page began and ended, in minutes."""
    spec = volume_spec("gp2", size_gib)
    assert spec.bucket is not None
    asked = [Phase(seconds=60 * count, read_iops=iops, write_iops=0) for count, iops in loads]
    points = list(
        Simulation(spec=spec, bucket=spec.bucket, period_s=60.0).play(asked, start_s=START)
    )
    clock = Clock(START)
    cloudwatch = QuickCloudWatch(clock, delay_s=120.0)
    disk = replace(volume("gp2", size_gib), id="vol-0")
    starts = [point.start_s for point in points]
    for metric, values in {
        "BurstBalance": [100 * point.balance_minimum for point in points],
        "VolumeReadOps": [point.read_ops for point in points],
        "VolumeWriteOps": [point.write_ops for point in points],
        "VolumeReadBytes": [point.read_bytes for point in points],
        "VolumeWriteBytes": [point.write_bytes for point in points],
    }.items():
        cloudwatch.series[disk.id, metric] = (starts, values)
    schedule, found, on = Schedule(), list[tuple[str, int]](), False
    for minute in range(5, len(points)):
        clock.now = START + 60 * minute
        if every_minute:
            schedule.looks.clear()
        look_once([disk], cloudwatch, config, schedule, clock.now)
        is_on = schedule.looks[disk.key].judgement.assessment.verdict in PAGED
        if is_on != on:
            found.append(("announced" if is_on else "over", minute))
            on = is_on
    return found


def look_once(
    disks: list[Resource],
    cloudwatch: QuickCloudWatch,
    config: Config,
    schedule: Schedule,
    now: float,
) -> list[str]:
    """One look at what is due, noted in the schedule. Returns the ids that were asked."""
    due = [one for one in disks if schedule.is_due(one, now)]
    others = [one for one in disks if one not in due]
    task = Task(kind=KIND, config=config, schedule=schedule, now=now)
    reader = Reader(
        clients=cloudwatch, now=now, allowance=Allowance(),  # type: ignore[arg-type]
        deadline=Deadline(lambda: 0.0, at=3_600.0),
    )  # fmt: skip
    judged = ask(task, reader, due, lambda: others).judgements
    for one in judged:
        schedule.note(one, config, now)
    return [one.resource.id for one in judged]

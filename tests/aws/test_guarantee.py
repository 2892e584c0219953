"""No bucket comes within its lead unannounced, whatever a workload does between two looks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burstwatch.aws.batches import Round
from burstwatch.aws.session import Deadline
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from burstwatch.replay import volume
from burstwatch.schedule import Schedule
from burstwatch.simulate import Load, Simulation
from burstwatch.volumes import profile
from tests.conftest import Clock
from tests.fake.quick import QuickCloudWatch

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
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile)
def test_a_hostile_workload_never_comes_within_its_lead_unannounced(case: Hostile) -> None:
    promise = profile("gp2", case.size_gib)
    assert promise.bucket is not None
    bucket = promise.bucket
    minutes = [share for count, share in case.loads for _ in range(count)]
    minutes = (minutes * (1 + HOURS * 60 // len(minutes)))[: HOURS * 60]
    loads = [Load(seconds=60, read_iops=share * bucket.burst, write_iops=0) for share in minutes]
    truth = list(
        Simulation(promise=promise, bucket=bucket, period_s=60.0).play(
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
    marks = [START - 3_600 + n * case.cadence_s for n in range(round(3_600 * 8 / case.cadence_s))]
    cloudwatch.series[other.id, "BurstBalance"] = (marks, [99.0] * len(marks))

    schedule, announced = Schedule(), False
    looks = 0
    for minute in range(HOURS * 60):
        now = START + 60 * (minute + 1) - (case.early_s if minute % 2 else 0.0)
        clock.now = now
        round_ = Round(
            kind=KIND, clients=cloudwatch, config=config, schedule=schedule, now=now,  # type: ignore[arg-type]
            deadline=Deadline(lambda: 0.0, at=3_600.0),
        )  # fmt: skip
        due = [one for one in (disk, other) if schedule.is_due(one, now)]
        for judged in round_.ask(due, lambda: [other]).judged:
            schedule.note(
                judged.resource,
                judged.assessment,
                config,
                now,
                near=judged.is_near,
                seen=judged.seen,
            )
            looks += judged.resource is disk
        announced = schedule.known[disk.id + "/BurstBalance"].assessment.verdict in {
            "critical", "exhausted",
        }  # fmt: skip
        if minute < 1:
            continue  # a volume that is found with little left was never in time
        # An alarm that is made now has told somebody after its path.
        level = truth[minute].level_ratio * bucket.capacity
        left_s = level / (bucket.burst - bucket.refill)
        assert announced or left_s >= config.lead_s + config.alarm_path_s, (minute, left_s)
    assert looks <= HOURS * 60

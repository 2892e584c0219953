"""Whose turn it is where time or budget are short, and what of the looks before outlives a failure."""

import time
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.sweep import Sweep, sweep
from burstwatch.backtest.replay import volume
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.observations import Resource, Verdict
from burstwatch.kinds import find_kinds
from burstwatch.polling import order, sampling
from burstwatch.polling.order import QUESTIONS, in_batches
from burstwatch.polling.queries import Allowance, Query
from burstwatch.polling.schedule import Judgement, Schedule, SeenLevel, fingerprint
from tests.aws.sweeping import CONFIG, EVERY_KIND, Disk, alarms, run_sweep
from tests.conftest import NOW, Cloud
from tests.fake.wire import WireError

VOLUMES = replace(CONFIG, kinds="ebs_volume")
KIND = find_kinds()["ebs_volume"]


def disk(name: str) -> Resource:
    return replace(volume("gp2", 100), id=name)


def note(
    schedule: Schedule,
    resource: Resource,
    now: float,
    *,
    worst_s: float | None,
    is_near: bool = False,
) -> None:
    """A look that left so much, or that failed."""
    verdict: Verdict = "unknown" if worst_s is None else "ok"
    projection = Projection(
        state="unknown" if worst_s is None else "finite", reason="", at=now, worst_s=worst_s
    )
    judged = Judgement(
        resource=resource,
        assessment=Assessment(verdict=verdict, reason="", projection=projection),
        failure="unanswered" if worst_s is None else None,
        is_near=is_near,
        level_seen=None if worst_s is None else SeenLevel(newest=None, since_s=now, until_s=now),
    )
    schedule.note(judged, CONFIG, now)


def turns(
    schedule: Schedule, due: list[Resource], allowance: Allowance, *, near_to_come: int = 0
) -> tuple[list[str], list[str]]:
    """The ids that are asked, in order, and those that are not."""
    asked, refused = in_batches(
        due, schedule, CONFIG, 9_000.0, allowance=allowance, near_to_come=near_to_come
    )
    return [r.id for batch in asked for r in batch], [r.id for r in refused]


def test_what_could_be_late_soonest_comes_first_and_a_refusal_does_not_make_it_sooner() -> None:
    schedule = Schedule()
    safe, tight, hot, hotter, new = map(disk, ("safe", "tight", "hot", "hotter", "new"))
    note(schedule, safe, 0.0, worst_s=36_000)
    note(schedule, safe, 3_600.0, worst_s=None)  # refused once
    note(schedule, tight, 3_600.0, worst_s=CONFIG.margin_s + 120)
    note(schedule, hot, 8_000.0, worst_s=1_500, is_near=True)
    note(schedule, hotter, 8_900.0, worst_s=300, is_near=True)
    due = [safe, tight, hot, hotter, new]
    order = ["hotter", "hot", "new", "tight", "safe"]
    assert turns(schedule, due, Allowance()) == (order, [])
    for enough in range(6):
        allowance = Allowance(QUESTIONS * enough + 1)
        assert turns(schedule, due, allowance) == (order[:enough], order[enough:])


def test_what_is_near_of_another_kind_comes_before_what_is_not_near_of_this() -> None:
    schedule = Schedule()
    hot, well, new = map(disk, ("hot", "well", "new"))
    note(schedule, hot, 8_900.0, worst_s=300, is_near=True)
    note(schedule, well, 3_600.0, worst_s=36_000)
    for to_come, asked in ((0, ["hot", "new", "well"]), (1, ["hot", "new"]), (9, ["hot"])):
        allowance = Allowance(3 * QUESTIONS)
        assert turns(schedule, [well, new, hot], allowance, near_to_come=to_come)[0] == asked


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["", "50"])
def test_a_call_that_stalls_costs_its_own_batch_alone(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    Disk(cloud, percent=60)
    for _ in range(20):
        Disk(cloud, percent=100)
    config = replace(VOLUMES, budget_usd_per_month=budget)
    memory = Memory()
    began = time.monotonic()
    run_sweep(cloud, memory, config=config)
    takes_s = time.monotonic() - began
    memory.looks = {key: replace(known, due_at=0.0) for key, known in memory.looks.items()}
    cloud.clock.now += 60
    monkeypatch.setattr(order, "BATCH", 1)
    with cloud.stalling("GetMetricData"):
        # More calls than before, on a machine that may have less time than before.
        result = sweep_within(cloud, memory, 1 + 5 * takes_s, config)
    assert fleet_metrics(result)["ResourcesUnknown"] == 1


def sweep_within(cloud: Cloud, memory: Memory, seconds: float, config: Config = CONFIG) -> Sweep:
    return sweep(
        cloud.unit, find_kinds(config.kinds).values(), cloud.clients, cloud.clients, config, memory,
        now=cloud.clock.now, deadline=Deadline(time.monotonic, at=time.monotonic() + seconds),
    )  # fmt: skip


@pytest.mark.slow
def test_what_there_was_no_time_for_is_unknown_also_of_the_kind_that_comes_last(
    cloud: Cloud,
) -> None:
    cloud.aws.add_instance_type(
        "m5.xlarge", iops=18_750, mb_s=593.75, baseline_iops=6_000, baseline_mb_s=143.75
    )
    instance = cloud.aws.add_instance("m5.xlarge")
    cloud.aws.regions["us-east-1"].instances[instance]["State"] = {"Name": "running"}
    for _ in range(5):
        cloud.aws.add_volume("gp2", 100, instance_id=instance)
    memory = Memory()
    for _ in range(2):  # each kind is once the first
        with cloud.stalling("GetMetricData"):
            result = sweep_within(cloud, memory, 0.8, EVERY_KIND)
        numbers = fleet_metrics(result)
        assert (numbers["ResourcesSeen"], numbers["ResourcesUnknown"]) == (6, 6)
        assert not result.completed
        memory.looks.clear()
        cloud.clock.now += 60


@pytest.mark.slow
def test_a_lookup_that_is_late_forgets_nothing_of_what_is_known(cloud: Cloud) -> None:
    for percent in [60] * 3 + [100] * 10:
        Disk(cloud, percent=percent)
    memory = Memory()
    began = time.monotonic()
    run_sweep(cloud, memory, config=VOLUMES)
    takes_s = time.monotonic() - began
    before = {key: fingerprint(known.judgement.resource) for key, known in memory.looks.items()}
    cloud.clock.now += 60
    with cloud.stalling("DescribeInstances"):
        result = sweep_within(cloud, memory, 0.5 + takes_s, VOLUMES)
    assert [problem.part for problem in result.problems][:1] == ["DescribeInstances"]
    assert fleet_metrics(result)["ResourcesUnknown"] == 3  # the near ones, that were due
    assert {
        key: fingerprint(known.judgement.resource) for key, known in memory.looks.items()
    } == before
    assert sum(known.judgement.is_near for known in memory.looks.values()) == 3
    # The last whole lookup is judged on for as long as no other is answered.
    cloud.aws.denied = {"DescribeInstances"}
    cloud.clock.now += 600
    run_sweep(cloud, memory, config=VOLUMES)
    assert {
        key: fingerprint(known.judgement.resource) for key, known in memory.looks.items()
    } == before


def test_a_page_that_is_refused_hides_none_that_was_listed_before(cloud: Cloud) -> None:
    for _ in range(3):
        Disk(cloud, percent=100)
    memory = Memory()
    run_sweep(cloud, memory, config=VOLUMES)
    cloud.aws.denied = {"DescribeVolumes"}
    cloud.clock.now += 60
    result = run_sweep(cloud, memory, config=VOLUMES)
    assert fleet_metrics(result)["ResourcesSeen"] == 3
    assert result.snapshot.incomplete == {"ebs_volume"}
    assert not result.completed
    cloud.clock.now += 6 * 3_600
    assert fleet_metrics(run_sweep(cloud, memory, config=VOLUMES))["ResourcesSeen"] == 3


@pytest.mark.slow
def test_hours_that_were_not_answered_are_asked_for_again_and_the_alarm_stays(
    cloud: Cloud,
) -> None:
    dry = Disk(cloud, percent=100)
    for back in range(360, 0, -1):  # it ran out an hour ago, and is back at 6 %
        percent = 100.0 if back > 120 else max(0.0, 3.0 * back - 260, 0.1 * (60 - back))
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": dry.id}, NOW - 60 * back, percent)
    run_sweep(cloud, config=VOLUMES)
    assert len(alarms(cloud)) == 1

    def throttle(params: dict[str, Any]) -> None:
        start = params["StartTime"]
        start_s = start.timestamp() if isinstance(start, datetime) else float(start)
        if cloud.clock.now - start_s > 3 * 3_600:
            raise WireError("Throttling", "Rate exceeded")

    memory = Memory()
    verdicts = []
    cloud.aws.before["GetMetricData"] = throttle
    for _ in range(4):
        found = run_sweep(cloud, memory, config=VOLUMES).snapshot
        cloud.aws.before.clear()
        verdicts.append(found.assessments[dry.id][1].verdict)
        cloud.aws.evaluate_alarms()
        assert len(alarms(cloud)) == 1
        cloud.clock.now += 60
    assert verdicts == ["unknown", "critical", "critical", "critical"]


def test_a_witness_that_was_asked_has_been_looked_at_and_one_that_cannot_be_judged_hurts_nobody(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    witness = Disk(cloud, percent=100)
    memory = Memory()
    run_sweep(cloud, memory, config=VOLUMES)
    memory.newest_s.clear()
    silent = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    (key,) = memory.looks
    cloud.clock.now += 120
    result = run_sweep(cloud, memory, config=VOLUMES)
    assert result.snapshot.assessments[silent][1].verdict == "ok"
    assert memory.looks[key].judgement.assessment.projection.at == cloud.clock.now

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    memory = Memory()
    run_sweep(cloud, memory, config=VOLUMES)
    del memory.looks[f"{silent}/BurstBalance"]
    memory.newest_s.clear()
    monkeypatch.setattr(sampling, "is_near", broken)
    cloud.clock.now += 60
    result = run_sweep(cloud, memory, config=VOLUMES)
    assert result.snapshot.assessments[silent][1].verdict == "unknown"
    assert result.snapshot.assessments[witness.id][1].verdict == "ok"


def test_of_an_allowance_is_taken_what_is_asked_for_and_nothing_else(cloud: Cloud) -> None:
    queries = [
        Query(
            namespace="AWS/EBS", metric="BurstBalance", dimensions=(("VolumeId", f"vol-{number}"),),
            resource_id=f"vol-{number}", statistic="Minimum",
        )
        for number in range(5)
    ]  # fmt: skip
    for clock_s, left, taken, refused in ((9.0, 100, 0, 0), (0.0, 100, 5, 0), (0.0, 3, 3, 2)):
        allowance = Allowance(left)
        read_metrics(
            cloud.clients, queries, start_s=NOW - 600, end_s=NOW, period_s=60,
            deadline=Deadline(lambda at=clock_s: at, at=5.0), allowance=allowance,  # type: ignore[misc]
        )  # fmt: skip
        assert (allowance.taken, allowance.refused) == (taken, refused)
        assert allowance.left == left - taken

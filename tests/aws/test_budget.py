"""What asking may cost is a limit that is kept, told, and survives the function."""

from dataclasses import replace

import pytest

from burstwatch.aws.client.names import NAMESPACE, unit_dimensions
from burstwatch.aws.look.budget import SAVED_S, SPENT_METRIC, open_budget
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.config import Config
from burstwatch.shards import WHOLE
from tests.aws.looking import FULL_BURST, drain
from tests.aws.sweeping import CONFIG, Disk, run_sweep
from tests.conftest import NOW, Cloud

#: Fifty metrics an hour.
SMALL = replace(CONFIG, kinds="ebs_volume", budget_usd_per_month="0.36")
PER_HOUR = 50


def test_a_budget_is_metrics_a_second_by_the_list_price() -> None:
    assert SMALL.budget_metrics_per_s * 3_600 == pytest.approx(PER_HOUR)
    assert Config().budget_metrics_per_s == float("inf")


def test_beyond_the_budget_the_rest_is_unknown_and_counted_and_those_near_are_asked(
    cloud: Cloud,
) -> None:
    hot = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, hot, to_percent=30, **FULL_BURST)
    memory = Memory()
    assert run_sweep(cloud, memory, config=SMALL).snapshot.assessments[hot][1].verdict == "critical"
    for _ in range(400):
        Disk(cloud, percent=100)
    cloud.clock.now += 120
    drain(cloud, hot, to_percent=24, **FULL_BURST, until=cloud.clock.now)
    result = run_sweep(cloud, memory, config=SMALL)
    numbers = fleet_metrics(result)
    assert result.snapshot.assessments[hot][1].verdict == "critical"
    assert numbers["MetricsRefused"] > 0
    assert numbers["ResourcesUnknown"] == numbers["MetricsRefused"]
    assert numbers["MetricsRequested"] + numbers["MetricsRefused"] >= 400
    assert any("budget" in problem.error for problem in result.problems)
    reasons = {a.reason for _, a in result.snapshot.assessments.values() if a.verdict == "unknown"}
    assert reasons == {"the budget for metric requests is used up"}


@pytest.mark.slow
def test_in_a_day_no_more_is_asked_for_than_comes_in(cloud: Cloud) -> None:
    for _ in range(40):
        Disk(cloud, percent=60)  # all near: each is asked at every sweep, if it may be
    memory, asked = Memory(), 0
    for _ in range(60):
        asked += run_sweep(cloud, memory, config=SMALL).snapshot.metrics_requested
        cloud.clock.now += 300
    hours = 60 * 300 / 3_600
    assert asked <= PER_HOUR * (hours + SAVED_S / 3_600) + 1
    assert asked >= PER_HOUR * hours


@pytest.mark.slow
def test_a_function_that_starts_anew_does_not_start_rich(cloud: Cloud) -> None:
    for _ in range(40):
        Disk(cloud, percent=60)
    memory = Memory()
    for _ in range(12):
        run_sweep(cloud, memory, config=SMALL)
        cloud.clock.now += 60
    assert memory.budget is not None
    anew, problems = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=cloud.clock.now)
    assert problems == []
    assert anew.available == pytest.approx(memory.budget.refill(cloud.clock.now), abs=PER_HOUR)
    assert anew.available < PER_HOUR


def test_where_the_past_cannot_be_read_only_little_is_asked_for(cloud: Cloud) -> None:
    cloud.aws.denied = {"GetMetricData"}
    budget, problems = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    assert [problem.part for problem in problems] == ["what was spent before"]
    assert budget.available == pytest.approx(SMALL.budget_metrics_per_s * 60)


def test_without_a_budget_nothing_is_refused_or_kept(cloud: Cloud) -> None:
    Disk(cloud, percent=100)
    memory = Memory()
    result = run_sweep(cloud, memory)
    assert (memory.budget, result.snapshot.metrics_refused) == (None, 0)
    names = [
        datum["MetricName"]
        for _, operation, request in cloud.aws.calls
        if operation == "PutMetricData"
        for datum in request["MetricData"]
    ]
    assert "MetricsRequested" not in names


@pytest.mark.slow
def test_several_that_know_nothing_of_one_another_keep_to_it_within_an_hour(cloud: Cloud) -> None:
    for _ in range(40):
        Disk(cloud, percent=60)
    memories, asked, hours = [Memory() for _ in range(4)], 0, 10
    for sweep in range(hours * 12):
        result = run_sweep(cloud, memories[sweep % len(memories)], config=SMALL)
        asked += result.snapshot.metrics_requested
        cloud.clock.now += 300
    saved, unseen = PER_HOUR * SAVED_S / 3_600, len(memories) * PER_HOUR
    assert asked <= PER_HOUR * hours + saved + unseen
    assert asked >= PER_HOUR * hours


def test_a_budget_that_cannot_be_looked_up_again_goes_on_as_it_was(cloud: Cloud) -> None:
    Disk(cloud, percent=60)
    memory = Memory()
    run_sweep(cloud, memory, config=SMALL)
    before = memory.budget
    cloud.clock.now += 3_600
    cloud.aws.denied = {"GetMetricData"}
    result = run_sweep(cloud, memory, config=SMALL)
    assert memory.budget is before
    assert "what was spent before" in {problem.part for problem in result.problems}


def report(cloud: Cloud, disk: Disk) -> None:
    """The balance of its last minute, as it was."""
    at = cloud.clock.now - 60
    cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": disk.id}, at, disk.percent)


def asked(cloud: Cloud) -> set[str]:
    """The resources of which something was asked since the last time."""
    found = {
        query["MetricStat"]["Metric"]["Dimensions"][0]["Value"]
        for _, operation, request in cloud.aws.calls
        if operation == "GetMetricData"
        for query in request["MetricDataQueries"]
    }
    cloud.aws.calls.clear()
    return found


@pytest.mark.slow
def test_of_those_near_the_one_that_could_be_empty_soonest_is_asked_first(cloud: Cloud) -> None:
    memory = Memory()
    disks = [Disk(cloud, percent=60) for _ in range(40)]
    lowest = Disk(cloud, percent=30)
    run_sweep(cloud, memory, config=SMALL)
    assert memory.budget is not None
    for _ in range(20):
        cloud.clock.now += 60
        memory.budget.available, memory.budget.at = 10, cloud.clock.now
        for disk in (*disks, lowest):
            report(cloud, disk)
        asked(cloud)
        found = run_sweep(cloud, memory, config=SMALL).snapshot
        assert lowest.id in asked(cloud)
        assert found.assessments[lowest.id][1].verdict != "unknown"


@pytest.mark.slow
def test_one_that_a_glance_shows_near_danger_is_the_first_to_be_judged_at_the_next_sweep(
    cloud: Cloud,
) -> None:
    hot, *others = (Disk(cloud, percent=percent) for percent in (10, *[100] * 200))
    memory = Memory()
    run_sweep(cloud, memory, config=SMALL)  # the budget is opened
    memory.looks.clear()
    assert memory.budget is not None
    seen_at = None
    for sweep in range(120):
        cloud.clock.now += 60
        for disk in (hot, *others):
            report(cloud, disk)
        memory.budget.available, memory.budget.at = 10, cloud.clock.now
        asked(cloud)
        verdict = run_sweep(cloud, memory, config=SMALL).snapshot.assessments[hot.id][1].verdict
        if seen_at is None and hot.id in asked(cloud):
            seen_at = sweep
        if seen_at is not None and sweep > seen_at:
            assert verdict != "unknown"
            return
    pytest.fail("it was never judged")


@pytest.mark.slow
def test_what_the_budget_refused_is_counted_at_every_sweep_until_it_is_asked(cloud: Cloud) -> None:
    disks = [Disk(cloud, percent=100) for _ in range(90)]
    memory, refused = Memory(), []
    for _ in range(40):
        result = run_sweep(cloud, memory, config=replace(SMALL, budget_usd_per_month="0.05"))
        numbers = fleet_metrics(result)
        refused.append(numbers["MetricsRefused"])
        assert numbers["MetricsRefused"] >= numbers["ResourcesUnknown"]
        assert numbers["Problems"] > 0, result
        cloud.clock.now += 60
        for disk in disks:
            report(cloud, disk)
    assert min(refused) >= 40


def test_no_kind_starves_another(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.xlarge")
    cloud.aws.regions["us-east-1"].instances[instance]["State"] = {"Name": "running"}
    cloud.aws.add_instance_type(
        "m5.xlarge", iops=18_750, mb_s=593.75, baseline_iops=6_000, baseline_mb_s=143.75
    )
    for _ in range(30):
        cloud.aws.add_volume("gp2", 100, instance_id=instance)
    memory, kinds = Memory(), set()
    for _ in range(2):
        run_sweep(cloud, memory, config=SMALL)
        assert memory.budget is not None
        memory.budget.available, memory.budget.at = 5, cloud.clock.now + 60
        memory.looks.clear()
        cloud.clock.now += 60
        asked(cloud)
        run_sweep(cloud, memory, config=replace(SMALL, kinds=""))
        kinds |= {one.split("-")[0] for one in asked(cloud)}
    assert kinds == {"vol", "i"}


@pytest.mark.parametrize("code", ["InternalError", "Forbidden", "PartialData"])
def test_a_past_that_is_not_answered_in_full_is_not_nothing_spent(cloud: Cloud, code: str) -> None:
    cloud.aws.failing_metrics = {"MetricsRequested": code}
    budget, problems = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    assert [problem.error for problem in problems] == [f"GetMetricData: {code}"]
    assert budget.available == pytest.approx(SMALL.budget_metrics_per_s * 60)


def test_what_was_spent_is_read_from_all_pages(cloud: Cloud) -> None:
    pairs = {one["Name"]: one["Value"] for one in unit_dimensions(cloud.unit, WHOLE, SMALL)}
    for hour in range(1, 7):
        cloud.aws.put(NAMESPACE, SPENT_METRIC, pairs, NOW - 3_600.0 * hour, PER_HOUR / 2)
    whole, _ = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    cloud.aws.partial_after = 1
    paged, problems = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    assert problems == []
    assert paged.available == whole.available
    cloud.aws.partial_after = None
    cloud.aws.regions[cloud.unit.region].metrics.clear()
    unspent, _ = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    assert paged.available < unspent.available


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({"Id": "q0", "Timestamps": [], "Values": []}, "without a status"),
        ({"Id": "other", "StatusCode": "Complete", "Timestamps": [], "Values": []}, "missing"),
    ],
)
def test_an_answer_without_a_status_or_to_another_question_is_not_nothing_spent(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, result: dict[str, object], problem: str
) -> None:
    client = cloud.clients("cloudwatch")
    monkeypatch.setattr(client, "get_metric_data", lambda **_: {"MetricDataResults": [result]})
    budget, problems = open_budget(cloud.clients, cloud.unit, WHOLE, SMALL, now=NOW)
    assert [problem in one.error for one in problems] == [True]
    assert budget.available == pytest.approx(SMALL.budget_metrics_per_s * 60)

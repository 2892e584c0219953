"""Instances beside their volumes: two buckets, one resource, and which runs out first."""

from datetime import UTC, datetime

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot, look
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.observations import Limit, Resource, Verdict
from burstwatch.kinds import find_kinds
from burstwatch.polling.ranking import worst_of_each
from tests.aws.looking import FULL_BURST, drain
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

CAPACITY = {"EBSIOBalance%": (18_750 - 3_600) * 1_800, "EBSByteBalance%": (593.75 - 81.25) * 1_800}


@pytest.fixture(autouse=True)
def _bursting(cloud: Cloud) -> None:
    cloud.aws.add_instance_type(
        "m5.large", iops=18_750, mb_s=593.75, baseline_iops=3_600, baseline_mb_s=81.25
    )


def take_look(cloud: Cloud, schedule: Memory | None = None) -> UnitSnapshot:
    return look(
        cloud.unit, find_kinds().values(), cloud.clients, Config(), schedule or Memory(),
        now=cloud.clock.now, deadline=cloud.never(),
    )  # fmt: skip


def balances(
    cloud: Cloud, instance: str, *, io: float, io_per_5min: float = 0.0, byte: float = 99.0,
    byte_per_5min: float = 0.0, iops: float = 1_000.0, io_bytes: float = 4_096,
) -> None:  # fmt: skip
    """Two hours of five-minute datapoints, the newest of which has just ended."""
    now = cloud.clock.now
    for back in range(24):
        at = now - now % 300 - 300 * (back + 1)
        for name, value in {
            "EBSIOBalance%": min(100.0, io + io_per_5min * back),
            "EBSByteBalance%": min(100.0, byte + byte_per_5min * back),
            "EBSReadOps": iops * 150,
            "EBSWriteOps": iops * 150,
            "EBSReadBytes": iops * 150 * io_bytes,
            "EBSWriteBytes": iops * 150 * io_bytes,
        }.items():
            cloud.aws.put("AWS/EC2", name, {"InstanceId": instance}, at, value)


def test_an_instance_that_spends_its_balance_is_projected_and_called_an_estimate(
    cloud: Cloud,
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    # 15,150 of 18,750 credits a second are over the baseline: a sixth of the bucket in five minutes.
    balances(cloud, instance, io=20, io_per_5min=100 / 6, iops=18_750)
    resource, assessment = take_look(cloud).assessments[instance]
    assert resource.level_metric == "EBSIOBalance%"
    assert "estimate" in " ".join(resource.words.caveats)
    assert assessment.verdict in {"critical", "exhausted"}
    assert assessment.projection.binding == "instance_iops"


@pytest.mark.parametrize("offset_s", [0, 60, 120, 240])
def test_datapoints_of_five_minutes_are_so_long_wherever_they_begin(
    cloud: Cloud, offset_s: int
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    balances(cloud, instance, io=20, io_per_5min=100 / 6, iops=18_750)
    for points in cloud.aws.regions["us-east-1"].metrics.values():
        moved = {at + offset_s: value for at, value in points.items()}
        points.clear()
        points.update(moved)
    cloud.clock.now += offset_s + 299 - cloud.clock.now % 300  # the newest ended 299 s ago
    _, assessment = take_look(cloud).assessments[instance]
    assert assessment.verdict in {"critical", "exhausted"}
    assert assessment.projection.demand is not None
    assert assessment.projection.demand.likely == pytest.approx(18_750, rel=0.01)


def test_a_volume_in_watch_with_io_at_every_fifth_minute_only_is_asked_at_each_sweep(
    cloud: Cloud,
) -> None:
    """AWS publishes its metrics each minute: a burst may begin in any of them."""
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("c5.xlarge"))
    memory, asked, verdicts = Memory(), [], set()

    def put(at: float) -> None:
        values = {"BurstBalance": 20.0, "VolumeReadOps": 300.0, "VolumeWriteOps": 0.0}
        values |= {"VolumeReadBytes": 300 * 4_096.0, "VolumeWriteBytes": 0.0}
        for name, value in values.items():
            cloud.aws.put("AWS/EBS", name, {"VolumeId": volume}, at, value)

    mark = NOW - NOW % 300
    for back in range(1, 25):
        put(mark - 300 * back)
    for _ in range(10):
        if mark + 60 <= cloud.clock.now:
            put(mark)
            mark += 300
        found = take_look(cloud, memory)
        verdicts.add(found.assessments[volume][1].verdict)
        asked.append(found.metrics_requested)
        cloud.clock.now += 60
    assert verdicts == {"watch"}
    assert all(asked), asked


def test_the_worse_of_the_two_buckets_is_the_instances(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    balances(cloud, instance, io=90, byte=0.0)
    resource, assessment = take_look(cloud).assessments[instance]
    assert resource.level_metric == "EBSByteBalance%"
    assert resource.limit.binding == "instance_throughput"
    assert assessment.projection.level is not None
    assert assessment.projection.level.likely < 0.2


def test_a_volume_names_the_instance_that_runs_dry_before_it(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, volume, to_percent=80, **FULL_BURST)
    balances(cloud, instance, io=45, io_per_5min=100 / 6, iops=18_750)
    found = take_look(cloud).assessments
    projection = found[volume][1].projection
    assert f"its parent {instance} runs out first" in found[volume][1].reason
    assert projection.binding == "volume_iops"  # for now
    assert projection.time_to_empty_s == pytest.approx(0.80 * 2_000, rel=0.05)  # its own


def test_a_volume_whose_instance_is_empty_is_held_back_by_it(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, volume, to_percent=80, **FULL_BURST)
    balances(cloud, instance, io=0, iops=3_600)
    _, assessment = take_look(cloud).assessments[volume]
    assert f"its parent {instance} has no credits left" in assessment.reason
    assert assessment.projection.binding == "instance_iops"


def test_a_bucket_that_is_not_seen_is_not_told_by_a_warning_of_the_other() -> None:
    pairs: list[tuple[Verdict, Verdict]] = [
        ("unknown", "warning"), ("unknown", "critical"), ("unknown", "ok"), ("watch", "ok"),
    ]  # fmt: skip
    found = {
        (first, second): worst_of_each([_bucket("io", first), _bucket("byte", second)])["i-1"][1]
        for first, second in pairs
    }
    assert [assessment.verdict for assessment in found.values()] == [
        "unknown",
        "critical",
        "unknown",
        "watch",
    ]


def _bucket(metric: str, verdict: Verdict) -> tuple[Resource, Assessment]:
    resource = Resource(
        kind="k", id="i-1", level_metric=metric, name="", unit="u", bucket=None,
        limit=Limit(rate=1.0, binding="none"),
    )  # fmt: skip
    projection = Projection(state="unknown", reason="", at=NOW)
    return resource, Assessment(verdict=verdict, reason="", projection=projection)


def test_an_instance_that_has_just_started_is_unknown_and_no_late_data(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    for back in range(24):  # of before it was stopped
        at = NOW - 7_200 - NOW % 300 - 300 * back
        for name in ("EBSIOBalance%", "EBSByteBalance%"):
            cloud.aws.put("AWS/EC2", name, {"InstanceId": instance}, at, 50.0)
    about = cloud.aws.regions["us-east-1"].instances[instance]
    about["LaunchTime"] = datetime.fromtimestamp(NOW - 240, tz=UTC)
    _, assessment = take_look(cloud).assessments[instance]
    assert assessment.verdict == "unknown"
    assert assessment.reason.startswith("started 4 min ago, and no EBS")
    assert assessment.projection.data_age_s is None


def test_an_instance_without_a_balance_is_asked_as_seldom_as_one_that_is_well(
    cloud: Cloud,
) -> None:
    cloud.aws.add_instance("m5.large")
    schedule, asked = Memory(), []
    for _ in range(6):
        asked.append(take_look(cloud, schedule).metrics_requested)
        cloud.clock.now += 60
    assert asked == [2, 0, 0, 0, 0, 2]


def test_the_traffic_of_an_instance_is_asked_once_for_both_buckets(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    balances(cloud, instance, io=10, byte=50, io_per_5min=8.0)
    take_look(cloud)
    queries = [
        query["MetricStat"]["Metric"]["MetricName"]
        for _, operation, request in cloud.aws.calls
        if operation == "GetMetricData" and float(request["StartTime"]) > NOW - 86_400
        for query in request["MetricDataQueries"]
    ]
    assert sorted(queries) == [
        # each balance at a glance, and then its hours
        "EBSByteBalance%", "EBSByteBalance%", "EBSIOBalance%", "EBSIOBalance%",
        "EBSReadBytes", "EBSReadOps", "EBSWriteBytes", "EBSWriteOps",
        "InstanceEBSIOPSExceededCheck", "InstanceEBSThroughputExceededCheck",
    ]  # fmt: skip


def test_denied_metrics_make_volumes_and_instances_unknown(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    cloud.aws.denied = {"GetMetricData"}
    found = take_look(cloud).assessments
    assert {found[one][1].verdict for one in (instance, volume)} == {"unknown"}


def test_a_volume_that_runs_dry_first_says_nothing_of_its_instance(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, volume, to_percent=20, **FULL_BURST)
    balances(cloud, instance, io=99)
    _, assessment = take_look(cloud).assessments[volume]
    assert instance not in assessment.reason
    assert assessment.projection.binding == "volume_iops"


def test_a_running_instance_without_a_balance_is_unknown_and_never_idle(cloud: Cloud) -> None:
    silent, fresh = (cloud.aws.add_instance("m5.large") for _ in range(2))
    balances(cloud, fresh, io=99)
    found = take_look(cloud).assessments
    assert found[fresh][1].verdict == "ok"
    assert found[silent][1].verdict == "unknown"
    assert "AWS publishes none for it" in found[silent][1].reason


def test_a_stopped_instance_is_idle(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    cloud.aws.regions["us-east-1"].instances[instance]["State"] = {"Name": "stopped", "Code": 80}
    assert take_look(cloud).assessments[instance][1].projection.state == "idle"


def test_an_instance_of_a_type_that_nobody_describes_is_unknown_and_named_once(
    cloud: Cloud,
) -> None:
    ids = [cloud.aws.add_instance("x99.huge") for _ in range(3)]
    found = take_look(cloud)
    assert {found.assessments[one][1].verdict for one in ids} == {"unknown"}
    (problem,) = found.problems
    assert "x99.huge" in problem.error
    assert "and 2 more" in problem.part


def test_an_instance_is_looked_at_every_five_minutes_whatever_its_estimate_says(
    cloud: Cloud,
) -> None:
    instance, schedule = cloud.aws.add_instance("m5.large"), Memory()
    balances(cloud, instance, io=99)
    asked = []
    for _ in range(6):
        asked.append(take_look(cloud, schedule).metrics_requested)
        cloud.clock.now += 60
    assert [bool(count) for count in asked] == [True, False, False, False, False, True]


def test_the_demand_that_one_bucket_is_asked_for_is_the_cause_of_both(cloud: Cloud) -> None:
    instance, memory = cloud.aws.add_instance("m5.large"), Memory()
    large = {"byte_per_5min": 14.0, "io_bytes": 32_768.0}
    balances(cloud, instance, io=85, io_per_5min=0.1, byte=60, iops=18_000, **large)
    take_look(cloud, memory)
    cloud.clock.now += 600
    balances(cloud, instance, io=20, io_per_5min=10, byte=45, iops=17_000, **large)
    found = [one for one, _ in take_look(cloud, memory).buckets if one.id == instance]
    reads = {
        one.level_metric: background.rates["EBSReadOps"]
        for one in found
        if (background := memory.background_of(one)) is not None
    }
    # Only the balance of operations is news, and so only its demand is asked for.
    assert reads == {"EBSIOBalance%": 8_500, "EBSByteBalance%": 8_500}

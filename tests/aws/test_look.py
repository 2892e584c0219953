"""Looking at a unit through the strict fake: paging, limits, gaps and faults."""

import itertools
import math
import time
from datetime import UTC, datetime

import pytest

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.forecast.policy import Assessment
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Scope
from tests.aws.looking import FULL_BURST, drain, take_look
from tests.conftest import NOW, Cloud


def only(found: UnitSnapshot) -> tuple[Resource, Assessment]:
    (entry,) = found.assessments.values()
    return entry


def test_a_draining_volume_is_found_and_its_time_left_is_right(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    resource, assessment = only(take_look(cloud))
    assert resource.id == volume
    assert assessment.verdict == "critical"
    assert assessment.projection.time_to_empty_s == pytest.approx(0.30 * 2_000, rel=0.02)
    assert assessment.projection.worst_s == pytest.approx(0.30 * 2_000)


def test_volumes_without_tags_and_of_every_type_are_seen(cloud: Cloud) -> None:
    for volume_type in ("gp2", "gp3", "io1", "io2", "standard"):
        cloud.aws.add_volume(volume_type, 100)
    cloud.aws.add_volume("st1", 500)
    cloud.aws.add_volume("sc1", 500)
    assert len(take_look(cloud).assessments) == 7


def test_a_tag_filter_means_the_same_where_the_api_has_none(cloud: Cloud) -> None:
    for name in ("a*", "ab", "a"):
        item = {
            "DBInstanceIdentifier": f"db-{len(name)}{name[-1:].strip('*')}",
            "Engine": "postgres", "StorageType": "gp2", "AllocatedStorage": 100,
            "TagList": [{"Key": "Name", "Value": name}],
        }  # fmt: skip
        cloud.aws.add_item("rds", "DescribeDBInstances", item)

    def names(tag_filter: str) -> set[str]:
        found = take_look(cloud, tag_filter=tag_filter, kinds="rds_storage")
        return {resource.name for resource, _ in found.assessments.values()}

    assert names("Name=a*") == {"a*", "ab", "a"}
    assert names("Name=a?") == {"a*", "ab"}
    assert names(r"Name=a\*") == {"a*"}


def test_a_volume_of_several_instances_is_found_by_each(cloud: Cloud) -> None:
    one, other = (cloud.aws.add_instance("m5.large") for _ in range(2))
    shared = cloud.aws.add_volume("io2", 100, instance_id=one)
    cloud.aws.regions["us-east-1"].volumes[shared]["Attachments"].append(
        {"InstanceId": other, "Device": "/dev/sdf", "State": "attached"}
    )
    cloud.aws.add_volume("gp2", 100, instance_id=one)
    (kind,) = find_kinds("ebs_volume").values()
    inventory = take_inventory(
        kind, cloud.clients, cloud.unit, now=NOW, scope=Scope(parents=(other,))
    )
    assert [resource.id for resource in inventory.resources] == [shared]


def test_1200_volumes_are_asked_for_in_as_few_calls_as_the_limits_allow(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    for number in range(1_200):
        volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
        level = 100 if number < 800 else 50
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, NOW - 120, level)
    found = take_look(cloud)
    sizes = [
        len(p["MetricDataQueries"])
        for _, op, p in cloud.aws.calls
        if op == "GetMetricData" and p["MetricDataQueries"][0]["MetricStat"]["Period"] == 60
    ]
    # All are glanced at; of those half empty the last six hours are asked for, of which a
    # call returns 100,800 datapoints.
    assert sum(sizes) == 1_200 + 400
    assert max(sizes) == 500
    assert len(sizes) <= 6
    assert (
        sorted(a.verdict for _, a in found.assessments.values()) == ["ok"] * 800 + ["watch"] * 400
    )


def test_volumes_without_a_bucket_are_never_queried(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    for volume_type, size in (("gp3", 100), ("io1", 100), ("gp2", 1_000), ("st1", 16_384)):
        cloud.aws.add_volume(volume_type, size, instance_id=instance)
    found = take_look(cloud)
    assert not [op for _, op, _ in cloud.aws.calls if op == "GetMetricData"]
    assert {a.projection.state for _, a in found.assessments.values()} == {"not_applicable"}


def test_pages_of_partial_data_are_put_together(cloud: Cloud) -> None:
    cloud.aws.partial_after = 4
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    _, assessment = only(take_look(cloud))
    assert assessment.projection.level is not None
    assert assessment.projection.level.likely == pytest.approx(0.30)


@pytest.mark.slow
def test_a_throttled_call_is_tried_again(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    cloud.aws.throttled = {"GetMetricData": 1, "DescribeVolumes": 1}
    found = take_look(cloud)
    assert found.problems == ()
    assert only(found)[1].verdict == "critical"


def test_a_series_that_fails_makes_its_volume_unknown_and_no_other(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    good, bad = (cloud.aws.add_volume("gp2", 100, instance_id=instance) for _ in range(2))
    drain(cloud, good, to_percent=30, **FULL_BURST)
    drain(cloud, bad, to_percent=30, **FULL_BURST)
    cloud.aws.failing_series[bad] = "InternalError"
    found = take_look(cloud)
    assert found.assessments[good][1].verdict == "critical"
    assert found.assessments[bad][1].verdict == "unknown"
    assert "InternalError" in found.assessments[bad][1].reason
    assert found.problems


def test_denied_metrics_make_everything_unknown_never_healthy(cloud: Cloud) -> None:
    cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    cloud.aws.denied = {"GetMetricData"}
    _, assessment = only(take_look(cloud))
    assert assessment.verdict == "unknown"
    assert "AccessDenied" in assessment.reason


def test_a_denied_inventory_is_incomplete_and_says_why(cloud: Cloud) -> None:
    cloud.aws.denied = {"DescribeVolumes"}
    found = take_look(cloud)
    assert found.incomplete == frozenset(found.kinds)
    assert [problem.part for problem in found.problems] == ["DescribeVolumes"]


def test_denied_instance_limits_do_not_hide_the_volumes(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    cloud.aws.denied = {"DescribeInstances", "DescribeInstanceTypes"}
    found = take_look(cloud)
    resource, assessment = only(found)
    assert assessment.verdict == "critical"
    assert resource.words.caveats
    assert found.problems


def several_looks_s(cloud: Cloud) -> float:
    """As long as ten looks take on this machine now."""
    began = time.monotonic()
    take_look(cloud)
    return max(0.5, 10 * (time.monotonic() - began))


def test_when_time_is_up_the_rest_is_unknown_and_counted(cloud: Cloud) -> None:
    cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    enough_s = several_looks_s(cloud)
    with cloud.stalling("GetMetricData"):
        found = take_look(cloud, deadline=Deadline(time.monotonic, at=time.monotonic() + enough_s))
    assert only(found)[1].verdict == "unknown"
    assert "time was up" in only(found)[1].reason


@pytest.mark.parametrize("operation", ["DescribeVolumes", "DescribeInstances"])
def test_an_inventory_that_hangs_is_not_waited_for_and_not_taken_for_whole(
    cloud: Cloud, operation: str
) -> None:
    cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    enough_s = several_looks_s(cloud)
    with cloud.stalling(operation):  # until it has returned: nobody waits for it
        found = take_look(cloud, deadline=Deadline(time.monotonic, at=time.monotonic() + enough_s))
    late = {problem.part for problem in found.problems if "time was up" in problem.error}
    assert operation in late
    assert ("ebs_volume" in found.incomplete) == (operation == "DescribeVolumes")
    assert all(a.verdict == "unknown" for _, a in found.assessments.values())


def test_a_volume_of_a_type_that_is_not_known_is_unknown_and_hides_no_other(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    new = cloud.aws.add_volume("gp9", 100, instance_id=instance)
    huge = cloud.aws.add_volume("gp2", 20_000, instance_id=instance)
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    found = take_look(cloud)
    assert found.assessments[volume][1].verdict == "critical"
    for refused in (new, huge):
        assert found.assessments[refused][1].verdict == "unknown"
    assert "'gp9'" in found.assessments[new][1].reason


def test_half_of_the_io_is_not_taken_for_all_of_it(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=20, **FULL_BURST)
    cloud.aws.failing_metrics["VolumeWriteOps"] = "InternalError"
    found = take_look(cloud)
    assert found.problems
    projection = only(found)[1].projection
    assert projection.time_to_empty_s == pytest.approx(0.20 * 2_000, rel=0.05)


def test_io_that_is_older_than_the_falling_balance_does_not_outvote_it(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=100, per_minute=0.0, iops=100, until=NOW - 2_400)
    for back in range(20):
        at = NOW - 60 * (back + 1)
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, at, 20 + 3 * back)
    assert only(take_look(cloud))[1].verdict == "critical"


def test_sparse_datapoints_are_not_taken_for_five_minute_ones(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    for back in range(8):
        at = NOW - 300 - 600 * back
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, at, 50)
    assert only(take_look(cloud))[1].projection.worst_s == pytest.approx(1_000 - 240)


def test_five_minute_datapoints_are_known_by_their_timestamps(cloud: Cloud) -> None:
    cloud.clock.now = NOW - NOW % 300
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    for back in range(12):
        at = cloud.clock.now - 300 * (back + 1)
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, at, 50)
    projection = only(take_look(cloud))[1].projection
    assert projection.data_age_s == 0
    assert projection.worst_s == pytest.approx(1_000)


def test_a_volume_that_was_resized_long_ago_and_is_silent_is_idle(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    busy = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, busy, to_percent=90, per_minute=0.0, iops=100)
    modify(cloud, volume, "completed", ("gp2", 50), ("gp2", 100))
    cloud.aws.regions["us-east-1"].modifications[volume]["EndTime"] = datetime.fromtimestamp(
        NOW - 10 * 86_400, tz=UTC
    )
    assert take_look(cloud).assessments[volume][1].projection.state == "idle"


def test_where_the_hypervisor_is_not_known_the_average_is_asked(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    cloud.aws.denied = {"DescribeInstances"}
    assert only(take_look(cloud))[0].reporting.statistic == "Average"


def test_silence_of_one_volume_is_idle_and_of_all_is_unknown(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    silent = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    assert take_look(cloud).assessments[silent][1].verdict == "unknown"
    busy = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, busy, to_percent=30, **FULL_BURST)
    projection = take_look(cloud).assessments[silent][1].projection
    assert projection.state == "idle"
    # Nothing was found as far back as an empty bucket takes to fill: it is full.
    assert projection.level is not None
    assert projection.level.low == 1.0
    # But what was done in the last five minutes, and the five of a period, may be reported yet.
    assert projection.worst_s == pytest.approx(2_000 - 600)


@pytest.mark.parametrize(
    ("every_s", "offset_s", "unseen_s"),
    [(60, 0, 300 + 60), (300, 0, 300 + 300), (300, 120, 300 + 300)],
)
def test_silence_is_believed_sooner_where_another_volume_shows_data_of_one_minute(
    cloud: Cloud, every_s: int, offset_s: int, unseen_s: float
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    silent, busy = (cloud.aws.add_volume("gp2", 100, instance_id=instance) for _ in range(2))
    schedule, mark = Memory(), NOW - NOW % 300
    for now in (mark, mark + 1_500):
        cloud.clock.now = now
        for at in range(int(now) - 3_600 + offset_s, int(now), every_s):
            cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": busy}, at, 99)
        projection = take_look(cloud, schedule).assessments[silent][1].projection
    assert projection.state == "idle"
    assert projection.worst_s == pytest.approx(2_000 - unseen_s)


def test_an_exhausted_volume_that_falls_silent_recovers_at_its_refill_rate(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    silent, busy = (cloud.aws.add_volume("gp2", 100, instance_id=instance) for _ in range(2))
    drain(cloud, busy, to_percent=90, per_minute=0.0, iops=300)
    drain(cloud, silent, to_percent=0, per_minute=0.0, iops=300, until=NOW - 1_800)
    projection = take_look(cloud).assessments[silent][1].projection
    assert projection.state == "idle"
    assert projection.level is not None
    assert projection.level.likely == pytest.approx((1_800 + 60) * 300 / 5_400_000)


def test_silent_volumes_are_looked_for_further_back_in_one_call(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    busy = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, busy, to_percent=90, per_minute=0.0, iops=300)
    silent = [cloud.aws.add_volume("gp2", 33, instance_id=instance) for _ in range(50)]
    for volume in silent:  # eight hours ago each stood at 10 %
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, NOW - 8 * 3_600, 10)
    found = take_look(cloud)
    metrics = [
        {query["MetricStat"]["Metric"]["MetricName"] for query in p["MetricDataQueries"]}
        for _, op, p in cloud.aws.calls
        if op == "GetMetricData"
    ]
    # A glance, and for all that it left open one more; the hours of those that are near.
    assert metrics.count({"BurstBalance"}) == 3
    for volume in silent:
        projection = found.assessments[volume][1].projection
        assert projection.state == "idle"
        assert projection.level is not None
        # Eight hours at 100 a second; the coarse datapoint is good to five minutes.
        assert projection.level.likely == pytest.approx(0.10 + 0.533, abs=0.02)
        # Nothing is known of the last ten minutes, in which it may have gone at full burst.
        assert projection.worst_s == pytest.approx(0.623 * 5_400_000 / 2_900 - 600, abs=20)


def test_a_silent_volume_is_searched_for_once_and_remembered(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    silent, busy = (cloud.aws.add_volume("gp2", 33, instance_id=instance) for _ in range(2))
    drain(cloud, silent, to_percent=10, per_minute=0.0, iops=300, until=NOW - 8 * 3_600)
    schedule, ratios = Memory(), []
    for minutes in (0, 40, 80, 120):
        cloud.clock.now = NOW + 60 * minutes
        drain(cloud, busy, to_percent=100, per_minute=0.0, iops=100, until=cloud.clock.now)
        before = len(cloud.aws.calls)
        projection = take_look(cloud, schedule).assessments[silent][1].projection
        assert projection.state == "idle"
        assert projection.level is not None
        ratios.append(projection.level.likely)
        searches = [
            query["MetricStat"]["Period"]
            for _, operation, request in cloud.aws.calls[before:]
            if operation == "GetMetricData"
            for query in request["MetricDataQueries"]
            if query["MetricStat"]["Metric"]["MetricName"] == "BurstBalance"
        ].count(300)
        assert searches == (1 if minutes == 0 else 0)
    # At 100 a second, from the ten per cent that were left.
    gained = [after - before for before, after in itertools.pairwise(ratios)]
    assert gained == pytest.approx([40 * 60 * 100 / 5_400_000] * 3)


def test_after_a_pause_that_is_too_long_a_silent_volume_is_searched_for_anew(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    silent, busy = (cloud.aws.add_volume("gp2", 33, instance_id=instance) for _ in range(2))
    drain(cloud, busy, to_percent=100, per_minute=0.0, iops=100)
    schedule = Memory()
    take_look(cloud, schedule)
    # While nobody looked, for seven hours, it was nearly emptied.
    drain(cloud, silent, to_percent=10, **FULL_BURST, until=NOW + 1_800)
    cloud.clock.now = NOW + 7 * 3_600
    drain(cloud, busy, to_percent=100, per_minute=0.0, iops=100, until=cloud.clock.now)
    projection = take_look(cloud, schedule).assessments[silent][1].projection
    assert projection.level is not None
    assert projection.level.likely == pytest.approx(0.10 + 6.5 * 3_600 * 100 / 5_400_000, abs=0.01)


def test_late_data_is_rolled_forward_to_now(cloud: Cloud) -> None:
    cloud.aws.delay_s = 240
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    projection = only(take_look(cloud))[1].projection
    assert projection.data_age_s == 240
    # Four minutes ago it stood at 42 %, and it went on falling by 3 % a minute.
    assert projection.time_to_empty_s == pytest.approx(0.30 * 2_000, rel=0.03)


def test_a_xen_instance_gives_the_average_and_its_iops_bound_the_drain(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m3.medium"))
    cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, NOW - 60, 50)
    resource, assessment = only(take_look(cloud))
    assert resource.limit.binding == "instance_iops"
    # 2,000 operations and 50 MB in all cost at most so many credits.
    most = 2_000 + 50e6 / (256 * 1024)
    # Half a bucket, less a period at full spending, for an average may be from its start.
    expected = (0.5 * 5_400_000) / (most - 300) - 60
    assert assessment.projection.worst_s == pytest.approx(expected)
    stats = {
        q["MetricStat"]["Stat"]
        for _, op, p in cloud.aws.calls
        if op == "GetMetricData"
        for q in p["MetricDataQueries"]
        if q["MetricStat"]["Metric"]["MetricName"] == "BurstBalance"
    }
    assert stats == {"Average"}


def test_the_instance_bounds_a_large_st1_volume_and_is_named(cloud: Cloud) -> None:
    cloud.aws.add_volume("st1", 2_048, instance_id=cloud.aws.add_instance("t3.nano"))
    resource, _ = only(take_look(cloud))
    assert resource.limit.binding == "instance_throughput"
    assert resource.limit.rate == pytest.approx(260.625e6 / 2**20)


def modify(
    cloud: Cloud, volume: str, state: str, before: tuple[str, int], after: tuple[str, int]
) -> None:
    cloud.aws.regions["us-east-1"].modifications[volume] = {
        "VolumeId": volume, "ModificationState": state,
        "OriginalVolumeType": before[0], "OriginalSize": before[1],
        "TargetVolumeType": after[0], "TargetSize": after[1],
        "StartTime": datetime.fromtimestamp(NOW - 600, tz=UTC),
        "EndTime": datetime.fromtimestamp(NOW - 300, tz=UTC) if state == "completed" else None,
    }  # fmt: skip


def test_during_a_resize_the_smaller_refill_holds(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 500, instance_id=cloud.aws.add_instance("m5.large"))
    modify(cloud, volume, "optimizing", ("gp2", 100), ("gp2", 500))
    resource, _ = only(take_look(cloud))
    assert resource.bucket is not None
    assert resource.bucket.refill == 300


def test_after_gp3_became_gp2_the_level_is_unknown_until_the_first_datapoint(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    other = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, other, to_percent=90, per_minute=0.0, iops=100)
    modify(cloud, volume, "completed", ("gp3", 100), ("gp2", 100))
    assert take_look(cloud).assessments[volume][1].verdict == "unknown"
    cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume}, NOW - 60, 100)
    assert take_look(cloud).assessments[volume][1].verdict == "ok"


def test_a_full_volume_is_asked_again_only_when_it_could_matter(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 500, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=100, per_minute=0.0, iops=100)
    schedule = Memory()
    assert take_look(cloud, schedule).evaluated == 1
    cloud.clock.now += 60
    second = take_look(cloud, schedule)
    assert second.evaluated == 0
    assert second.metrics_requested == 0
    assert second.assessments[volume][1].verdict == "ok"
    # A full bucket of 500 GiB lasts an hour at worst; 15 + 3 + 1 minutes of margin are kept.
    last = NOW + 3_600 - (900 + 180 + 60)
    cloud.clock.now = last - 60
    assert take_look(cloud, schedule).evaluated == 0
    cloud.clock.now = last
    drain(cloud, volume, to_percent=100, per_minute=0.0, iops=100, until=cloud.clock.now)
    assert take_look(cloud, schedule).evaluated == 1


def test_a_hot_volume_is_asked_at_every_sweep(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=30, **FULL_BURST)
    schedule = Memory()
    take_look(cloud, schedule)
    cloud.clock.now += 59.9  # rules fire a little early at times
    assert take_look(cloud, schedule).evaluated == 1


def test_a_resized_volume_is_due_at_once(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 500, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=100, per_minute=0.0, iops=100)
    schedule = Memory()
    take_look(cloud, schedule)
    cloud.aws.regions["us-east-1"].volumes[volume]["Size"] = 100
    cloud.clock.now += 60
    assert take_look(cloud, schedule).evaluated == 1


def listings(cloud: Cloud) -> int:
    return [operation for _, operation, _ in cloud.aws.calls].count("DescribeVolumes")


def test_an_inventory_of_many_pages_is_read_every_five_minutes_and_what_is_new_is_due_at_once(
    cloud: Cloud,
) -> None:
    cloud.aws.page_size = 7
    instance = cloud.aws.add_instance("m5.large")
    for _ in range(80):
        cloud.aws.add_volume("gp3", 100, instance_id=instance)
    memory = Memory()
    take_look(cloud, memory)
    pages = listings(cloud)
    new = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    drain(cloud, new, to_percent=30, **FULL_BURST)
    seen = []
    for minute in range(1, 6):
        cloud.clock.now = NOW + 60 * minute
        drain(cloud, new, to_percent=30, **FULL_BURST, until=cloud.clock.now)
        seen.append(new in take_look(cloud, memory).assessments)
    assert seen == [False] * 4 + [True]
    assert listings(cloud) == 2 * pages
    assert memory.looks[f"{new}/BurstBalance"].judgement.assessment.verdict == "critical"


def test_infinite_times_are_never_numbers_that_look_finite(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=90, per_minute=0.0, iops=100)
    projection = take_look(cloud).assessments[volume][1].projection
    assert projection.time_to_empty_s == math.inf


def test_what_was_looked_at_in_the_future_is_due_now(cloud: Cloud) -> None:
    volume = cloud.aws.add_volume("gp2", 500, instance_id=cloud.aws.add_instance("m5.large"))
    drain(cloud, volume, to_percent=100, per_minute=0.0, iops=100)
    schedule = Memory()
    cloud.clock.now += 3_600
    assert take_look(cloud, schedule).assessments[volume][1].verdict == "unknown"
    cloud.clock.now -= 3_600
    assert take_look(cloud, schedule).assessments[volume][1].verdict == "ok"

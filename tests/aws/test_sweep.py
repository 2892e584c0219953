"""An episode's whole life, sweep by sweep, against the strict fake."""

import json
import re
from dataclasses import replace

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics, other_counts
from burstwatch.messages.message import NO_ACTION
from burstwatch.polling.bill import FLEET_METRICS
from tests.aws.sweeping import (
    CONFIG,
    EFFECT,
    EVERY_KIND,
    NOTICE,
    TOPIC,
    Disk,
    alarms,
    operations,
    run_sweep,
)
from tests.conftest import NOW, Cloud


@pytest.mark.slow
def test_one_incident_is_one_page_that_resolves_once_and_leaves_nothing(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=90)
    schedule = Memory()
    deepest = 100.0
    for minute in range(140):
        disk.minute(iops=3_000 if minute < 25 else 50)
        deepest = min(deepest, disk.percent)
        run_sweep(cloud, schedule)
        cloud.aws.evaluate_alarms()
        if minute == 24:
            assert list(alarms(cloud).values()) == ["ALARM"]
    assert deepest < 20
    name = f"burstwatch.critical/db {EFFECT}/{disk.id}/burstwatch"
    paged = [change for change in cloud.aws.notifications if change[0] == TOPIC]
    noticed = [change for change in cloud.aws.notifications if change[0] == NOTICE]
    assert paged == [(TOPIC, name, state) for state in ("ALARM", "OK")]
    assert (
        noticed == []
    )  # it was not looked at while it was only a warning, and none follows a page
    assert alarms(cloud) == {}
    assert operations(cloud).count("PutMetricAlarm") == 2  # when it begins, and when it is over
    danger, over = cloud.aws.descriptions
    assert re.match(r"CRITICAL \d+ min left \(\d\d:\d\dZ\): db burst credits, then ", danger)
    assert over.startswith("RESOLVED db: burst credits back at ")
    assert NO_ACTION.line in over


def test_between_two_looks_the_time_left_goes_on_falling(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=95), Memory()
    while run_sweep(cloud, memory).snapshot.assessments[disk.id][1].verdict != "critical":
        disk.minute(iops=2_500)
    left = run_sweep(cloud, memory).snapshot.assessments[disk.id][1].projection.time_to_empty_s
    assert left is not None
    cloud.clock.now += 60
    after = run_sweep(cloud, memory)
    assert after.snapshot.evaluated == 0
    published = [
        datum["StatisticValues"]["Sum"] / datum["StatisticValues"]["SampleCount"]
        for _, operation, request in cloud.aws.calls
        if operation == "PutMetricData"
        for datum in request["MetricData"]
        if datum["MetricName"] == "TimeToExhaustion"
    ]
    assert published[-1] == pytest.approx(left - 60)
    assert fleet_metrics(after)["MinTimeToExhaustion"] == pytest.approx(left - 60)


def test_a_jump_straight_to_critical_is_a_page_and_no_warning_before_it(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    assert run_sweep(cloud).created == ((disk.id, "critical"),)
    cloud.aws.evaluate_alarms()
    assert [change[0] for change in cloud.aws.notifications] == [TOPIC]


def test_an_alarm_of_a_volume_that_was_watched_before_begins_with_no_ok(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=42)
    verdicts = []
    for _ in range(8):
        disk.minute(iops=3_000)
        verdicts.append(run_sweep(cloud).snapshot.assessments[disk.id][1].verdict)
    assert "watch" in verdicts[: verdicts.index("critical")]
    put = [
        (datum["Timestamp"], datum["Value"])
        for _, operation, request in cloud.aws.calls
        if operation == "PutMetricData"
        for datum in request["MetricData"]
        if datum["MetricName"] == "Severity" and datum["Value"] >= 3
    ]
    (first, _), (second, _) = put[:2]
    assert second - first == -60


def test_a_sweep_that_died_between_the_two_severities_is_made_good_by_the_next(
    cloud: Cloud,
) -> None:
    disk = Disk(cloud, percent=90)
    while not any(".critical/" in name for name in alarms(cloud)):
        disk.minute(iops=3_000)
        run_sweep(cloud)
    both = set(alarms(cloud))
    assert {name.split("/")[0] for name in both} == {"burstwatch.critical", "burstwatch.warning"}
    page = next(name for name in both if ".critical/" in name)
    del cloud.aws.regions["us-east-1"].alarms[page]
    run_sweep(cloud)
    assert set(alarms(cloud)) == both


def test_an_alarm_under_our_prefix_that_we_would_not_name_so_is_left_alone(cloud: Cloud) -> None:
    name = "burstwatch.of-somebody/db/vol-1/burstwatch"
    cloud.clients("cloudwatch").put_metric_alarm(
        AlarmName=name, Namespace="Burstwatch", MetricName="Severity", Statistic="Maximum",
        Period=60, EvaluationPeriods=1, Threshold=1.0, AlarmActions=[], OKActions=[],
        ComparisonOperator="GreaterThanThreshold", TreatMissingData="ignore",
        Dimensions=[{"Name": "Kind", "Value": "ebs_volume"}, {"Name": "ResourceId", "Value": "vol-1"}],
    )  # fmt: skip
    run_sweep(cloud)
    assert name in alarms(cloud)


def test_the_page_comes_before_the_bucket_is_empty_with_the_lead_to_spare(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=90)
    while not cloud.aws.notifications:
        disk.minute(iops=3_000)
        run_sweep(cloud)
        cloud.aws.evaluate_alarms()
    assert disk.percent / 3 * 60 >= CONFIG.lead_s


def test_the_alarm_says_what_when_and_what_to_do_in_its_first_words(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=50)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    beginning = alarm["AlarmDescription"][:220]
    assert beginning.startswith(
        f"CRITICAL 11 min left (14:30Z): db burst credits, then 300 of 3,000 IOPS\nWhere: {disk.id} (gp2 100 GiB), /dev/sdf of i-"
    )
    assert "\nDo now: reduce the load" in beginning
    assert (
        "\nDo next: change to gp3 with 3,000 IOPS and 128 MiB/s (1.88 USD a month less, takes minutes to hours)"
        in alarm["AlarmDescription"]
    )
    assert (
        f"\nCommand: aws ec2 modify-volume --region us-east-1 --volume-id {disk.id} "
        "--volume-type gp3 --iops 3000 --throughput 128\n" in alarm["AlarmDescription"]
    )
    assert (
        "Load: reads and writes, 3,000 IOPS of 16 KiB, 46.9 MiB/s, at the limit of the volume"
        in alarm["AlarmDescription"]
    )
    assert alarm["TreatMissingData"] == "ignore"
    assert alarm["AlarmActions"] == alarm["OKActions"] == [TOPIC]


def test_the_metric_is_there_before_its_alarm(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    done = operations(cloud)
    assert done.index("PutMetricData") < done.index("PutMetricAlarm")
    assert done[-1] == "PutMetricData"  # the heartbeat, last


def test_no_alarm_is_made_while_its_metric_cannot_be_published(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    cloud.aws.denied = {"PutMetricData"}
    result = run_sweep(cloud)
    assert alarms(cloud) == {}
    assert not result.completed
    assert fleet_metrics(result)["UnitsFailed"] == 1


def test_a_repeated_or_overlapping_sweep_changes_nothing(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    for _ in range(3):
        run_sweep(cloud)
    assert operations(cloud).count("PutMetricAlarm") == 1
    assert len(cloud.aws.published) == 1


def test_the_alarm_of_a_deleted_volume_ends_cleanly(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=40), Memory()
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud, memory)
    cloud.aws.evaluate_alarms()
    del cloud.aws.regions["us-east-1"].volumes[disk.id]
    for _ in range(7):
        cloud.clock.now += 60
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM", "OK"]
    assert alarms(cloud) == {}


def test_the_alarm_of_a_kind_that_is_no_longer_watched_ends_cleanly(cloud: Cloud) -> None:
    disk, schedule = Disk(cloud, percent=40), Memory()
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud, schedule)
    cloud.aws.evaluate_alarms()
    assert len(alarms(cloud)) == 1
    for _ in range(4):
        cloud.clock.now += 60
        run_sweep(cloud, schedule, config=replace(CONFIG, kinds="ec2_instance_ebs"))
        cloud.aws.evaluate_alarms()
    assert alarms(cloud) == {}
    assert cloud.aws.notifications[-1][2] == "OK"


def test_an_unknown_volume_keeps_its_alarm_as_it_is(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    cloud.aws.failing_series[disk.id] = "InternalError"
    for _ in range(10):
        cloud.clock.now += 60
        result = run_sweep(cloud)
        cloud.aws.evaluate_alarms()
    assert list(alarms(cloud).values()) == ["ALARM"]
    assert fleet_metrics(result)["ResourcesUnknown"] == 1


def test_when_the_alarms_cannot_be_read_none_is_made_or_deleted(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    cloud.aws.denied = {"DescribeAlarms"}
    result = run_sweep(cloud)
    assert "PutMetricAlarm" not in operations(cloud)
    assert not result.completed


def test_alarms_of_others_are_never_touched(cloud: Cloud) -> None:
    Disk(cloud, percent=90)
    foreign = {
        "AlarmName": "burstwatch.critical/123456789012/us-east-1/ebs_volume/vol-1/other",
        "Namespace": "Burstwatch", "MetricName": "Severity", "Period": 60, "Threshold": 3.0,
        "Dimensions": [{"Name": "Kind", "Value": "ebs_volume"}, {"Name": "ResourceId", "Value": "vol-1"}],
        "AlarmActions": [], "OKActions": [],
    }  # fmt: skip
    cloud.clients("cloudwatch").put_metric_alarm(
        **foreign, EvaluationPeriods=1, Statistic="Maximum",
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )  # fmt: skip
    name = "burstwatch.critical/123456789012/us-east-1/ebs_volume/vol-1/other"
    cloud.aws.regions["us-east-1"].alarms[name]["StateValue"] = "OK"
    for _ in range(5):
        cloud.clock.now += 60
        run_sweep(cloud)
    assert list(alarms(cloud)) == [name]
    published = {key for key in cloud.aws.regions["us-east-1"].metrics if key[1] == "Severity"}
    assert not published


def test_a_volume_that_cannot_be_understood_any_more_keeps_its_alarm(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    cloud.aws.regions["us-east-1"].volumes[disk.id]["VolumeType"] = "gp9"
    for _ in range(10):
        cloud.clock.now += 60
        run_sweep(cloud)
        cloud.aws.evaluate_alarms()
    assert list(alarms(cloud).values()) == ["ALARM"]


def test_a_page_of_the_inventory_that_fails_ends_no_alarm(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(20):
        cloud.aws.add_volume("gp3", 100)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    volumes = cloud.aws.regions["us-east-1"].volumes
    volumes[disk.id] = volumes.pop(disk.id)  # it is on the last page now
    cloud.aws.page_size = 10
    for _ in range(10):
        cloud.clock.now += 60
        cloud.aws.failing_pages = {"DescribeVolumes": 2}
        result = run_sweep(cloud)
        cloud.aws.evaluate_alarms()
    assert list(alarms(cloud).values()) == ["ALARM"]
    assert not result.completed


def test_a_sweep_that_cannot_make_its_alarms_has_no_heartbeat(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    cloud.aws.denied = {"PutMetricAlarm"}
    assert not run_sweep(cloud).completed


@pytest.mark.parametrize("has_looked_again", [False, True])
def test_an_alarm_that_could_not_be_made_at_first_is_made_with_its_cause(
    cloud: Cloud, *, has_looked_again: bool
) -> None:
    disk, memory = Disk(cloud, percent=60), Memory()
    for _ in range(5):
        disk.minute(iops=3_000)
    cloud.aws.denied = {"PutMetricAlarm"}
    run_sweep(cloud, memory)
    for _ in range(6 if has_looked_again else 1):
        disk.minute(iops=3_000)
        cloud.aws.denied = {"PutMetricAlarm"}
        run_sweep(cloud, memory)
    cloud.aws.denied = set()
    run_sweep(cloud, memory)
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert "Load: reads and writes, 3,000 IOPS of 16 KiB" in alarm["AlarmDescription"]
    assert re.search(
        r"\nCredits: \d+% left, down from \d+% at \d\d:\d\dZ", alarm["AlarmDescription"]
    )


def test_a_blind_sweep_has_no_heartbeat(cloud: Cloud) -> None:
    Disk(cloud, percent=90)
    cloud.aws.denied = {"DescribeVolumes"}
    result = run_sweep(cloud)
    assert not result.completed
    assert fleet_metrics(result)["UnitsFailed"] == 1


def test_a_mean_that_equals_the_refill_by_rounding_still_gets_its_page(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=50)
    for minute in range(60):
        at = NOW - 60 * (60 - minute)
        iops, percent = (3_000, 50 - 3 * (minute - 53)) if minute >= 54 else (0, 50)
        disk.put(at, percent, iops=iops)
    assert run_sweep(cloud).created == ((disk.id, "critical"),)


def test_the_event_is_one_that_chat_clients_take_and_programs_can_read(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"] = [
        {"Key": "Name", "Value": 'we"ird\n\u202e' + "x" * 300}
    ]
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    (event,) = cloud.aws.published
    message = json.loads(event["Message"])
    assert (message["version"], message["source"]) == ("1.0", "custom")
    assert len(message["content"]["title"]) <= 250
    assert len(message["content"]["description"]) <= 8_000
    context = message["metadata"]["additionalContext"]
    assert float(context["time_to_empty_s"]) == pytest.approx(disk.percent / 3 * 60, rel=0.1)
    assert event["MessageAttributes"]["severity"]["StringValue"] == "critical"


def test_the_fleet_in_numbers_is_always_finite(cloud: Cloud) -> None:
    Disk(cloud, percent=100)
    swept = run_sweep(cloud, config=EVERY_KIND)
    numbers = fleet_metrics(swept)
    assert (
        numbers["ResourcesSeen"] == other_counts(swept.snapshot)["asked"] == 2
    )  # and its instance
    assert "MinTimeToExhaustion" not in numbers
    json.dumps(dict(numbers), allow_nan=False)


def test_the_catalog_names_every_fleet_metric_and_no_other(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    numbers = fleet_metrics(run_sweep(cloud))
    assert numbers.keys() == set(FLEET_METRICS)


def test_calls_that_were_throttled_and_then_answered_are_counted(cloud: Cloud) -> None:
    Disk(cloud, percent=100)
    cloud.aws.throttled = {"DescribeVolumes": 1, "GetMetricData": 1}
    swept = run_sweep(cloud)
    assert swept.completed
    assert fleet_metrics(swept)["CallsThrottled"] == 2
    assert fleet_metrics(run_sweep(cloud))["CallsThrottled"] == 0

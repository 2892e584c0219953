"""Whatever a sweep does that AWS charges for has a line in the bill."""

from dataclasses import replace

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.ebs.watching_prices import PRICES
from burstwatch.kinds import find_kinds
from burstwatch.polling.cost import MOST_ALARMS, RESOURCE_METRICS
from tests.aws.sweeping import CONFIG, Disk, alarms, run_sweep
from tests.conftest import Cloud

#: By what it is charged as; an empty name is free of charge.
CHARGED_AS = {
    **{listing.operation: "" for kind in find_kinds().values() for listing in kind.listings},
    "GetMetricData": "metric_request",
    # Each sweep makes these two; those below are a few for each episode.
    "PutMetricData": "metrics_call",
    "DescribeAlarms": "metrics_call",
    "PutMetricAlarm": "alarm_metric",
    "DeleteAlarms": "metrics_call",
    # Once an hour, and when an alarm is made.
    "ListAlarmMuteRules": "metrics_call",
    # Of mass alarms, and when a function starts.
    "ListTagsForResource": "metrics_call",
    "TagResource": "metrics_call",
    "ListSubscriptionsByTopic": "",  # a million requests to SNS a month are free
    "Publish": "",
}


def an_episode(cloud: Cloud) -> tuple[Disk, int]:
    """A volume that drains and recovers; the most alarms that it had."""
    disk, memory, most = Disk(cloud, percent=40), Memory(), 0
    for minute in range(35):
        disk.minute(iops=3_000 if minute < 6 else 50)
        run_sweep(cloud, memory, config=replace(CONFIG, hold_s=600.0))
        cloud.aws.evaluate_alarms()
        most = max(most, len(alarms(cloud)))
    return disk, most


@pytest.mark.slow
def test_every_call_of_an_episode_is_charged_as_the_bill_says(cloud: Cloud) -> None:
    disk, most = an_episode(cloud)
    assert alarms(cloud) == {}
    assert {operation for _, operation, _ in cloud.aws.calls} <= CHARGED_AS.keys()
    assert {name for name in CHARGED_AS.values() if name} <= PRICES.keys()
    published = {
        name
        for namespace, name, dimensions in cloud.aws.regions["us-east-1"].metrics
        if namespace == "Burstwatch" and ("ResourceId", disk.id) in dimensions
    }
    assert published == {*RESOURCE_METRICS}
    assert 1 <= most <= MOST_ALARMS


def test_a_volume_that_is_only_watched_costs_no_metric(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=40), Memory()
    for _ in range(10):
        disk.minute(iops=100)
        assert run_sweep(cloud, memory).snapshot.assessments[disk.id][1].verdict == "watch"
    assert not [
        key for key in cloud.aws.regions["us-east-1"].metrics if ("ResourceId", disk.id) in key[2]
    ]


def test_alarms_are_read_a_hundred_at_a_time(cloud: Cloud) -> None:
    Disk(cloud, percent=50)
    run_sweep(cloud)
    asked = [call for _, name, call in cloud.aws.calls if name == "DescribeAlarms"]
    assert {call["MaxRecords"] for call in asked} == {100}

"""Many in danger at once: one alarm for all, none taken away, and each its own when few are left."""

import json
from dataclasses import replace

import pytest

from burstwatch.aws.alarms.api import read_alarms
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics, other_counts
from tests.aws.masses import a_minute, draining, with_mass
from tests.aws.sweeping import (
    CONFIG,
    EFFECT,
    EVENTS,
    NOTICE,
    TOPIC,
    Disk,
    alarms,
    operations,
    run_sweep,
)
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

CHANGING = {"PutMetricAlarm", "DeleteAlarms", "Publish"}


def test_from_twenty_at_once_there_is_one_page_with_the_worst_ten_and_no_page_each(
    cloud: Cloud,
) -> None:
    worst = draining(cloud, 1, percent=10)[0]
    draining(cloud, 24, percent=20)
    made = run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    assert made.created == (("123456789012/us-east-1#many_at_once.critical", "critical"),)
    assert alarms(cloud) == {"burstwatch.critical/many_at_once/burstwatch": "ALARM"}
    assert cloud.aws.notifications == [
        (TOPIC, "burstwatch.critical/many_at_once/burstwatch", "ALARM")
    ]
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert alarm["AlarmDescription"].startswith(
        "CRITICAL 25 resources: credits run out, the first in "
    )
    assert worst.id in alarm["AlarmDescription"]
    (event,) = (json.loads(event["Message"]) for event in cloud.aws.published)
    assert event["metadata"]["relatedResources"][0] == worst.id
    assert len(event["metadata"]["relatedResources"]) == 10


def test_nobody_loses_an_alarm_when_the_mass_begins(cloud: Cloud) -> None:
    draining(cloud, 3, percent=20)
    run_sweep(cloud, config=with_mass(5))
    before = set(alarms(cloud))
    draining(cloud, 5, percent=20)
    run_sweep(cloud, config=with_mass(5))
    assert set(alarms(cloud)) == before | {"burstwatch.critical/many_at_once/burstwatch"}
    assert "DeleteAlarms" not in operations(cloud)


def test_when_few_are_left_the_mass_ends_and_those_get_their_own(cloud: Cloud) -> None:
    config, schedule = replace(with_mass(5), hold_s=600.0), Memory()
    calm, hot = draining(cloud, 5, percent=30), draining(cloud, 1, percent=20)
    run_sweep(cloud, schedule, config=config)
    cloud.aws.evaluate_alarms()
    assert set(alarms(cloud)) == {"burstwatch.critical/many_at_once/burstwatch"}
    for _ in range(40):
        now = cloud.clock.now
        a_minute(cloud, calm, iops=0)
        cloud.clock.now = now
        a_minute(cloud, hot, iops=1_000)
        run_sweep(cloud, schedule, config=config)
        cloud.aws.evaluate_alarms()
    assert set(alarms(cloud)) == {f"burstwatch.critical/db {EFFECT}/{hot[0].id}/burstwatch"}
    mass = [change[2] for change in cloud.aws.notifications if "/many_at_once/" in change[1]]
    assert mass == ["ALARM", "OK"]


def test_a_mass_is_held_where_only_the_hot_ones_of_a_calm_fleet_cannot_be_judged(
    cloud: Cloud,
) -> None:
    config, schedule = with_mass(5), Memory()
    for _ in range(40):
        Disk(cloud, percent=100)
    draining(cloud, 6, percent=20)
    run_sweep(cloud, schedule, config=config)
    cloud.aws.evaluate_alarms()
    cloud.aws.denied = {"GetMetricData"}
    for _ in range(4):
        cloud.clock.now += 60
        found = run_sweep(cloud, schedule, config=config).snapshot
        cloud.aws.evaluate_alarms()
    verdicts = [assessment.verdict for _, assessment in found.assessments.values()]
    assert verdicts.count("unknown") < len(verdicts) / 4  # the calm ones are not asked again yet
    assert alarms(cloud) == {"burstwatch.critical/many_at_once/burstwatch": "ALARM"}


def test_while_a_mass_is_held_nobody_gets_one_of_their_own_and_no_warning_ends_it(
    cloud: Cloud,
) -> None:
    config = with_mass(5)
    hot = draining(cloud, 8, percent=20)
    run_sweep(cloud, config=config)
    cloud.aws.evaluate_alarms()
    draining(cloud, 6, percent=70)
    for disk in hot[:6]:
        cloud.aws.failing_series[disk.id] = "InternalError"
    for _ in range(3):
        run_sweep(cloud, config=config)
        cloud.aws.evaluate_alarms()
    assert alarms(cloud) == {
        "burstwatch.critical/many_at_once/burstwatch": "ALARM",
        "burstwatch.warning/many_at_once/burstwatch": "ALARM",
    }


def test_some_that_can_never_be_judged_do_not_hold_a_mass_for_ever(cloud: Cloud) -> None:
    config, schedule = replace(with_mass(5), hold_s=600.0), Memory()
    cloud.aws.add_instance_type(
        "m7i-flex.large", iops=40_000, mb_s=1_250, baseline_iops=2_500, baseline_mb_s=39
    )
    silent = [cloud.aws.add_instance("m7i-flex.large") for _ in range(4)]
    hot = draining(cloud, 6, percent=30)
    run_sweep(cloud, schedule, config=config)
    cloud.aws.evaluate_alarms()
    assert set(alarms(cloud)) == {"burstwatch.critical/many_at_once/burstwatch"}
    for _ in range(30):
        a_minute(cloud, hot, iops=0)
        swept = run_sweep(cloud, schedule, config=config)
        cloud.aws.evaluate_alarms()
    assert {swept.snapshot.assessments[one][1].verdict for one in silent} == {"unknown"}
    numbers = fleet_metrics(swept)
    assert (other_counts(swept.snapshot)["unpublished"], numbers["ResourcesUnknown"]) == (4, 0)
    assert alarms(cloud) == {}


def test_a_maintenance_window_that_opens_ends_no_mass(cloud: Cloud) -> None:
    draining(cloud, 6, percent=20)
    run_sweep(cloud, config=with_mass(5))
    cloud.aws.evaluate_alarms()
    config = replace(with_mass(5), maintenance="00:00-00:00")
    for _ in range(5):
        cloud.clock.now += 60
        run_sweep(cloud, config=config)
        cloud.aws.evaluate_alarms()
    assert alarms(cloud) == {"burstwatch.critical/many_at_once/burstwatch": "ALARM"}


def test_many_warnings_are_one_notice(cloud: Cloud) -> None:
    draining(cloud, 6, percent=70)
    run_sweep(cloud, config=with_mass(5))
    cloud.aws.evaluate_alarms()
    assert cloud.aws.notifications == [
        (NOTICE, "burstwatch.warning/many_at_once/burstwatch", "ALARM")
    ]


def test_no_sweep_makes_more_than_fifty_alarms_and_the_next_makes_the_rest(cloud: Cloud) -> None:
    draining(cloud, 30, percent=20)
    draining(cloud, 30, percent=70)
    first = run_sweep(cloud, config=with_mass(50))
    assert len(first.created) == 50
    assert {severity for _, severity in first.created[:30]} == {"critical"}
    assert any(problem.part == "alarms" for problem in first.problems)
    cloud.clock.now += 60
    assert len(run_sweep(cloud, config=with_mass(50)).created) == 10


def test_of_ten_thousand_volumes_forty_at_risk_cost_the_designed_calls_and_then_none(
    cloud: Cloud,
) -> None:
    host = cloud.aws.add_instance("m5.large")
    for _ in range(9_960):
        calm = cloud.aws.add_volume("gp2", 900, instance_id=host)
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": calm}, NOW - 60, 100.0)
    for disk in draining(cloud, 40, percent=20):
        assert disk.id
    cloud.clock.now = NOW
    for mass_from, alarms_made, events in ((50, 40, 40), (20, 1, 1)):
        cloud.aws.regions["us-east-1"].alarms.clear()
        schedule = Memory()
        counts: list[list[str]] = []
        for minute in range(2):
            cloud.clock.now = NOW + 60 * minute
            cloud.aws.calls.clear()
            swept = run_sweep(cloud, schedule, config=with_mass(mass_from))
            assert swept.completed
            assert swept.snapshot.metrics_requested >= (10_000 if not counts else 40)
            assert len(swept.snapshot.assessments) == 10_000 + 41  # and their instances
            cloud.aws.evaluate_alarms()
            counts.append([operation for operation in operations(cloud) if operation in CHANGING])
        first, second = counts
        assert first.count("PutMetricAlarm") == alarms_made
        assert first.count("Publish") == events
        assert "DeleteAlarms" not in first
        assert second == []


def test_every_notification_on_page_and_notice_is_an_alarm_by_one_name(cloud: Cloud) -> None:
    config, schedule = CONFIG, Memory()
    disk = Disk(cloud, percent=90)
    draining(cloud, 1, percent=70)  # warned of at first; then its data ends, late or for good
    for minute in range(140):
        disk.minute(iops=3_000 if minute < 25 else 50)
        run_sweep(cloud, schedule, config=config)
        names = {alarm.name for alarm in read_alarms(cloud.clients, "burstwatch.")}
        assert names == set(alarms(cloud))
        cloud.aws.evaluate_alarms()
    told: dict[tuple[str, str], list[str]] = {}
    for topic, name, state in cloud.aws.notifications:
        told.setdefault((topic, name), []).append(state)
    assert {topic for topic, _ in told} == {TOPIC, NOTICE}
    assert all(states == ["ALARM", "OK"] for states in told.values())
    published = [json.loads(event["Message"]) for event in cloud.aws.published]
    kinds = [event["metadata"]["eventType"] for event in published]
    told_of = [one.removeprefix("burstwatch.") for one in kinds]
    assert sorted(told_of) == ["escalated", "opened", "opened", "recovered", "recovered"]
    assert {event["TopicArn"] for event in cloud.aws.published} == {EVENTS}
    titles = [event["content"]["title"] for event in published]
    assert sum(title.startswith("RESOLVED db: burst credits back at ") for title in titles) == 2


def test_alarms_that_are_throttled_longer_than_a_client_tries_are_made_at_the_same_sweep(
    cloud: Cloud,
) -> None:
    draining(cloud, 2, percent=20)
    cloud.aws.throttled["PutMetricAlarm"] = 7  # a client tries three times
    swept = run_sweep(cloud)
    assert swept.completed
    assert not swept.problems
    assert len(swept.created) == len(alarms(cloud)) == 2


def test_the_page_of_many_names_the_tag_that_they_share(cloud: Cloud) -> None:
    draining(cloud, 25, percent=20)
    for volume in cloud.aws.regions["us-east-1"].volumes.values():
        volume["Tags"].append({"Key": "team", "Value": "payments"})
    run_sweep(cloud)
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert "\nLook at: what they have in common: " in alarm["AlarmDescription"]
    assert "the tag team=payments" in alarm["AlarmDescription"]


@pytest.mark.parametrize(("chat", "link"), [("slack", "|Runbook>"), ("teams", "[Runbook](")])
def test_a_sweep_writes_links_as_the_chat_of_the_deployment_does(
    cloud: Cloud, chat: str, link: str
) -> None:
    draining(cloud, 1, percent=10)
    run_sweep(cloud, config=replace(CONFIG, chat=chat))
    (event,) = (json.loads(event["Message"]) for event in cloud.aws.published)
    assert link in event["content"]["description"]

"""What goes wrong in an account: each has a result that can be seen, and costs no other its page."""

import json
from datetime import UTC, datetime

import pytest

from burstwatch.aws.memory import Memory
from tests.aws.test_sweep import EVENTS, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud

EVIL = [
    "quotes \" and ' and \\ backslash",
    "two\nlines\r\nand\ttabs",
    "\u202egnp.evil \u2066 isolate",
    "מסד נתונים ראשי",
    "x" * 256,
    "*bold* _it_ ~no~ `code` [link](http://evil) | <!channel> <@U1> &amp;",
    "<b>html</b><script>alert(1)</script>",
    "<!channel> <@U1> <https://evil|ok>",
    "   ",
]


def hot(cloud: Cloud, *, name: str | None = None) -> Disk:
    disk = Disk(cloud, percent=40)
    if name is not None:
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"] = [{"Key": "Name", "Value": name}]
    for _ in range(5):
        disk.minute(iops=3_000)
    return disk


@pytest.mark.parametrize("name", EVIL)
def test_a_tag_breaks_no_message(cloud: Cloud, name: str) -> None:
    disk = hot(cloud, name=name)
    run_sweep(cloud)
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    text = alarm["AlarmDescription"]
    assert len(text) <= 1_024
    assert disk.id in text
    assert "Now: " in text[:100]
    printable = text.replace("\n", " ")
    assert printable.isprintable() or set(text) & {"\u2068", "\u2069"}
    assert "\u202e" not in text
    assert "/monitoring/runbooks/resource-critical.md" in text
    (event,) = cloud.aws.published
    content = json.loads(event["Message"])["content"]
    metadata = json.loads(event["Message"])["metadata"]
    for shown in (content["title"], content["description"], metadata["summary"]):
        assert not {"<", ">"} & set(shown)
    assert not {"`", "*", "~"} & set(
        content["title"] + content["description"].partition("Graph")[0]
    )
    assert event["Subject"].isascii()
    assert len(event["Subject"]) < 100
    assert alarm["AlarmName"].isascii()
    assert len(content["title"]) <= 250
    assert "\n" not in content["title"]


def test_a_deleted_topic_is_named_when_an_alarm_is_made_for_it(cloud: Cloud) -> None:
    cloud.aws.deleted_topics = {TOPIC, EVENTS}
    disk = hot(cloud)
    swept = run_sweep(cloud)
    assert len(alarms(cloud)) == 1
    parts = {problem.part: problem.error for problem in swept.problems}
    assert parts.keys() == {"topic page", f"event opened of {disk.id}"}
    assert all("NotFound" in error for error in parts.values())


def test_a_denied_key_costs_the_event_and_not_the_page(cloud: Cloud) -> None:
    cloud.aws.denied_keys = True
    disk = hot(cloud)
    swept = run_sweep(cloud)
    assert len(alarms(cloud)) == 1
    (problem,) = swept.problems
    assert problem.part == f"event opened of {disk.id}"
    assert "KMSAccessDenied" in problem.error


def test_at_the_quota_of_alarms_the_rest_is_named_and_the_heartbeat_stops(cloud: Cloud) -> None:
    cloud.aws.most_alarms = 1
    first, second = hot(cloud), Disk(cloud, percent=40)
    cloud.clock.now -= 300
    for _ in range(5):
        second.minute(iops=3_000)
    swept = run_sweep(cloud)
    assert len(alarms(cloud)) == 1
    assert not swept.completed
    (problem,) = swept.problems
    assert "LimitExceeded" in problem.error
    assert problem.part in {f"critical alarm of {disk.id}" for disk in (first, second)}
    cloud.aws.most_alarms = None
    cloud.clock.now += 60
    assert run_sweep(cloud).completed
    assert len(alarms(cloud)) == 2


def test_a_volume_deleted_between_two_calls_is_no_failure_and_its_alarm_ends(cloud: Cloud) -> None:
    disk, schedule = hot(cloud), Memory()
    run_sweep(cloud, schedule)
    cloud.aws.evaluate_alarms()
    del cloud.aws.regions["us-east-1"].volumes[disk.id]
    for _ in range(6):
        cloud.clock.now += 60
        swept = run_sweep(cloud, schedule)
        cloud.aws.evaluate_alarms()
        assert not swept.problems
    assert alarms(cloud) == {}
    gone = json.loads(cloud.aws.published[-1]["Message"])
    assert gone["content"]["title"] == f"{disk.id}: deleted or no longer watched (14:24Z)"


@pytest.mark.parametrize("skew_s", [-600.0, 600.0])
def test_a_clock_that_is_wrong_by_ten_minutes_never_makes_a_volume_healthy(
    cloud: Cloud, skew_s: float
) -> None:
    disk = hot(cloud)
    cloud.clock.now += skew_s
    _, assessment = run_sweep(cloud).found.assessments[disk.id]
    if skew_s > 0:  # everything looks late: nothing can be said
        assert assessment.verdict == "unknown"
    else:  # what is still to come is not looked at; what was seen then holds
        assert assessment.projection.data_age_s == pytest.approx(0, abs=60)


def test_a_volume_in_the_middle_of_a_change_says_so_by_its_smaller_refill(cloud: Cloud) -> None:
    disk = hot(cloud)
    cloud.aws.regions["us-east-1"].modifications[disk.id] = {
        "VolumeId": disk.id,
        "ModificationState": "optimizing",
        "OriginalVolumeType": "gp2",
        "OriginalSize": 100,
        "TargetVolumeType": "gp2",
        "TargetSize": 500,
        "StartTime": datetime.fromtimestamp(cloud.clock.now - 3_600, tz=UTC),
    }
    resource, assessment = run_sweep(cloud).found.assessments[disk.id]
    assert resource.bucket is not None
    assert resource.bucket.refill == 300
    assert assessment.verdict == "critical"

"""What goes wrong in an account: each has a result that can be seen, and costs no other its page."""

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from burstwatch.aws.alarms.api import Alarm
from burstwatch.aws.alarms.plan import plan_alarms
from burstwatch.aws.client.names import STANDBY_METRICS
from burstwatch.aws.client.session import describe_error
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.forecast.policy import SEVERITY
from burstwatch.kinds import find_kinds
from burstwatch.messages.timeline import Timeline
from burstwatch.polling.sampling import PASTS_PER_LOOK
from tests.aws.looking import drain, take_look
from tests.aws.standby import deploy_standby
from tests.aws.sweeping import CONFIG, EFFECT, EVENTS, TOPIC, Disk, alarms, run_sweep
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize("after", [2, 6])
def test_a_volume_that_is_changed_while_it_drains_is_not_called_recovered(
    cloud: Cloud, after: int
) -> None:
    """A runbook advises the change. It empties no danger until its datapoints have shown that."""
    disk, memory, states = hot(cloud), Memory(), set()
    for minute in range(20):
        if minute == after:
            cloud.aws.regions["us-east-1"].modifications[disk.id] = {
                "VolumeId": disk.id, "ModificationState": "optimizing",
                "OriginalVolumeType": "gp2", "OriginalSize": 100,
                "TargetVolumeType": "gp3", "TargetSize": 100,
                "StartTime": datetime.fromtimestamp(cloud.clock.now, tz=UTC),
            }  # fmt: skip
            cloud.aws.regions["us-east-1"].volumes[disk.id]["VolumeType"] = "gp3"
        disk.minute(iops=2_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        states |= set(alarms(cloud).values()) if minute else set()
    assert alarms(cloud)
    assert states == {"ALARM"}


def test_what_is_judged_before_its_past_was_read_ends_no_alarm(cloud: Cloud) -> None:
    """A function that begins anew reads the days before of ten volumes a look."""
    for number in range(12):
        drain(cloud, hot(cloud, name=f"db-{number}").id, to_percent=11, per_minute=0, iops=300)
    memory = Memory()
    first = take_look(cloud, schedule=memory)
    cloud.clock.now += 300
    second = take_look(cloud, schedule=memory)
    assert len(first.guessed) == 12 - PASTS_PER_LOOK
    assert second.guessed == set()
    (guess, *_) = first.guessed
    resource, assessment = first.assessments[guess]
    well = replace(assessment, verdict="ok")
    there = [
        Alarm(
            name=f"burstwatch.critical/{guess}/burstwatch", kind="ebs_volume", resource_id=guess,
            severity="critical", state="ALARM", state_since=NOW - 600, is_enabled=True,
            timeline=Timeline(opened_s=NOW - 600),
        )
    ]  # fmt: skip
    for guessed, severity in ((first.guessed, SEVERITY["critical"]), (frozenset[str](), 0)):
        found = replace(first, assessments={guess: (resource, well)}, guessed=guessed)
        plan = plan_alarms(found, there, CONFIG, now=cloud.clock.now)
        assert plan.severities["ebs_volume", guess] == severity
    kinds = find_kinds("ebs_volume").values()
    everything = look(
        cloud.unit, kinds, cloud.clients, CONFIG, Memory(), now=cloud.clock.now, deadline=cloud.never(),
        demand_horizon_s=math.inf,
    )  # fmt: skip
    assert everything.guessed == set()


@pytest.mark.parametrize("name", EVIL)
def test_a_tag_breaks_no_message(cloud: Cloud, name: str) -> None:
    disk = hot(cloud, name=name)
    run_sweep(cloud)
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    text = alarm["AlarmDescription"]
    assert len(text) <= 1_024
    assert disk.id in text
    assert text.index("Do now: ") < 220
    printable = text.replace("\n", " ")
    assert printable.isprintable() or set(text) & {"\u2068", "\u2069"}
    assert "\u202e" not in text
    assert "/monitoring/runbooks/resource-critical.md" in text
    (event,) = cloud.aws.published
    content = json.loads(event["Message"])["content"]
    metadata = json.loads(event["Message"])["metadata"]
    # The last line has our own links, whose names and addresses nobody else chooses.
    lines, _, links = content["description"].rpartition("\n")
    assert re.fullmatch(r"<https://[^|<>]+\|\w+>( · <https://[^|<>]+\|\w+>)*", links)
    for shown in (content["title"], lines, metadata["summary"]):
        assert not {"<", ">", "`", "*", "~"} & set(shown)
    assert event["Subject"].isascii()
    assert len(event["Subject"]) < 100
    assert alarm["AlarmName"].isprintable()
    assert len(content["title"]) <= 250
    assert "\n" not in content["title"]


def test_a_deleted_topic_is_named_when_an_alarm_is_made_for_it(cloud: Cloud) -> None:
    deploy_standby(cloud)
    cloud.aws.deleted_topics = {TOPIC, EVENTS}
    disk = hot(cloud)
    swept = run_sweep(cloud)
    assert f"burstwatch.critical/db {EFFECT}/{disk.id}/burstwatch" in alarms(cloud)
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
    deploy_standby(cloud)
    cloud.aws.most_alarms = len(alarms(cloud)) + 1
    first, second = hot(cloud), Disk(cloud, percent=40)
    cloud.clock.now -= 300
    for _ in range(5):
        second.minute(iops=3_000)
    swept = run_sweep(cloud)
    assert len(alarms(cloud)) == cloud.aws.most_alarms
    assert not swept.completed
    (problem,) = swept.problems
    assert "LimitExceeded" in problem.error
    assert problem.part in {f"critical alarm of {disk.id}" for disk in (first, second)}
    cloud.aws.most_alarms = None
    cloud.clock.now += 60
    assert run_sweep(cloud).completed
    assert len(alarms(cloud)) == 2 + len(STANDBY_METRICS)


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
    assert gone["content"]["title"] == f"RESOLVED {disk.id}: deleted or no longer watched (14:24Z)"


@pytest.mark.parametrize("skew_s", [-600.0, 600.0])
def test_a_clock_that_is_wrong_by_ten_minutes_never_makes_a_volume_healthy(
    cloud: Cloud, skew_s: float
) -> None:
    disk = hot(cloud)
    cloud.clock.now += skew_s
    _, assessment = run_sweep(cloud).snapshot.assessments[disk.id]
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
    resource, assessment = run_sweep(cloud).snapshot.assessments[disk.id]
    assert resource.bucket is not None
    assert resource.bucket.refill == 300
    assert assessment.verdict == "critical"


@pytest.mark.parametrize("message", ["no\nsuch  thing", "", None])
def test_an_error_of_aws_is_told_in_one_line_whatever_its_message(message: str | None) -> None:
    error = ClientError({"Error": {"Code": "Oops", "Message": message}}, "DescribeAlarms")
    words = "no such thing" if message else ""
    assert describe_error(error) == f"DescribeAlarms: Oops: {words}"

"""The doctor on the strict fake: a healthy deployment, and one with each thing wrong."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from burstwatch.aws.client.names import standby_name
from burstwatch.aws.doctor.checks import CHECKS, Finding, Patient
from burstwatch.cli.commands.doctor import STATES
from burstwatch.formatting import folded
from tests.aws.commands import burstwatch
from tests.aws.deployed import deploy as deploy_function
from tests.aws.deployed import sleeper
from tests.aws.doctored import (
    FUNCTION,
    GOLDEN,
    KEY,
    RULE,
    deploy,
    measure,
    policy,
    put,
)
from tests.aws.standby import watch_heartbeat
from tests.aws.sweeping import NOTICE, TOPIC
from tests.conftest import Cloud, fake_cloud, iam_action

pytestmark = pytest.mark.slow


@pytest.fixture
def deployed(cloud: Cloud) -> Cloud:
    """See ``deploy``."""
    deploy(cloud)
    return cloud


def states(cloud: Cloud) -> dict[str, str]:
    _, out, _ = burstwatch(cloud, "doctor", "--json")
    return {one["check"]: one["result"] for one in map(json.loads, out.splitlines())}


@pytest.fixture(scope="module")
def healthy() -> dict[str, str]:
    """What the doctor finds where nothing is wrong."""
    with fake_cloud() as cloud:
        deploy(cloud)
        return states(cloud)


def test_a_healthy_deployment_has_nothing_to_do(deployed: Cloud) -> None:
    code, out, err = burstwatch(deployed, "doctor")
    assert (code, err) == (0, "")
    assert GOLDEN.read_text(encoding="utf-8") == out, "run 'make gen'"
    assert len(folded(out, 80).splitlines()) <= 10


def test_the_json_has_no_account_ids(deployed: Cloud) -> None:
    _, out, _ = burstwatch(deployed, "doctor", "--json")
    assert "123456789012" not in out
    assert "<account>" in out


def alarm_of(cloud: Cloud, name: str) -> dict[str, Any]:
    return cloud.aws.regions["us-east-1"].alarms[standby_name("burstwatch", name)]


def _quiet(cloud: Cloud) -> None:
    cloud.clock.now += 10 * 60


BREAKS: dict[str, tuple[Callable[[Cloud], Any], str]] = {
    "ebs_volume ec2:DescribeVolumes": (
        lambda c: c.aws.denied.add("DescribeVolumes"), "failed"
    ),
    "ebs_volume cloudwatch:GetMetricData": (
        lambda c: c.aws.denied.add("GetMetricData"), "failed"
    ),
    "stack": (lambda c: c.aws.outputs.clear(), "failed"),
    "function 1": (lambda c: setattr(c.aws, "function_state", "Failed"), "failed"),
    "lambda concurrency": (lambda c: setattr(c.aws, "concurrency", 1), "failed"),
    "rule 1": (lambda c: c.aws.rules.update({RULE: "DISABLED"}), "failed"),
    "heartbeat <account>/us-east-1": (_quiet, "failed"),
    "UnitsFailed in the last hour": (lambda c: measure(c, "UnitsFailed", 1.0), "warning"),
    "Problems in the last hour": (lambda c: measure(c, "Problems", 3.0), "warning"),
    "CallsThrottled in the last hour": (lambda c: measure(c, "CallsThrottled", 3.0), "warning"),
    "MetricsRefused in the last hour": (lambda c: measure(c, "MetricsRefused", 3.0), "warning"),
    "errors of function 1 in the last day": (
        lambda c: put(c, "AWS/Lambda", "Errors", {"FunctionName": FUNCTION}, 2.0), "warning"
    ),
    "dead letters": (lambda c: c.aws.queues["dead-letters"].append("{}"), "warning"),
    "topic page": (lambda c: c.aws.subscriptions[TOPIC].clear(), "failed"),
    "topic notice": (
        lambda c: c.aws.subscribe(NOTICE, "b@example.org", is_confirmed=False), "warning"
    ),
    "alarms with disabled actions": (
        lambda c: alarm_of(c, "not-heard").update(ActionsEnabled=False), "failed"
    ),
    "alarms that a mute rule mutes": (
        lambda c: c.aws.mutes.update(friday=["burstwatch-burstwatch-not-paged"]), "warning"
    ),
    "not-paged": (lambda c: alarm_of(c, "not-paged").update(StateValue="ALARM"), "failed"),
    "not-heard": (
        lambda c: c.aws.regions["us-east-1"].alarms.pop(standby_name("burstwatch", "not-heard")),
        "failed",
    ),
    "link to the runbooks": (lambda c: setattr(c.aws, "has_runbooks", False), "failed"),
    "key of page": (
        lambda c: c.aws.key_policies.update({KEY: policy("kms:Decrypt")}), "failed"
    ),
    "metric requests this month": (
        lambda c: c.aws.regions["us-east-1"].metrics.pop(
            ("Burstwatch", "MetricsRequested", (("Deployment", "burstwatch"),))
        ),
        "unknown",
    ),
}  # fmt: skip


@pytest.mark.parametrize("check", BREAKS)
def test_each_thing_that_is_wrong_is_found_and_hides_no_other(
    deployed: Cloud, healthy: dict[str, str], check: str
) -> None:
    before = healthy
    assert before[check] == "ok"
    break_it, state = BREAKS[check]
    break_it(deployed)
    after = states(deployed)
    assert after[check] == state
    if check == "stack":
        return  # what it made cannot be found without it
    others = {one for one in before if one != check and not (one[:3] == check[:3] == "key")}
    # A denied read of metrics hides what is read from metrics.
    hidden = {one for one in others if before[one] != after.get(one)}
    assert not hidden or "GetMetricData" in check or "DescribeVolumes" in check, hidden


def test_what_the_doctor_may_not_look_at_is_unknown_and_the_rest_goes_on(deployed: Cloud) -> None:
    deployed.aws.denied = {"GetKeyPolicy", "GetAccountSettings"}
    code, out, _ = burstwatch(deployed, "doctor", "--json")
    found = {one["check"]: one for one in map(json.loads, out.splitlines())}
    assert code == 0
    assert found["keys"]["result"] == found["lambda concurrency"]["result"] == "unknown"
    assert "AccessDenied" in found["keys"]["detail"]
    assert found["keys"]["todo"] == "allow this call to whoever runs the doctor"
    assert found["topic page"]["result"] == "ok"


def test_what_aws_does_not_have_is_not_called_a_missing_permission(
    deployed: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Patient) -> Iterator[Finding]:
        error = {"Error": {"Code": "NotFoundException", "Message": "No such policy exists"}}
        raise ClientError(error, "GetKeyPolicy")

    monkeypatch.setitem(CHECKS, "keys", look)
    _, out, _ = burstwatch(deployed, "doctor", "--json")
    found = {one["check"]: one for one in map(json.loads, out.splitlines())}
    assert "NotFoundException" in found["keys"]["detail"]
    assert "allow" not in found["keys"]["todo"]


def test_a_cancelled_subscription_reaches_nobody(deployed: Cloud) -> None:
    # SNS lists it for some days in place of its ARN.
    deployed.aws.subscriptions[TOPIC] = {"Deleted": "oncall@example.org"}
    assert states(deployed)["topic page"] == "failed"


def test_a_heartbeat_that_cannot_be_read_is_unknown_and_not_missing(deployed: Cloud) -> None:
    deployed.aws.failing_metrics = {"SweepCompleted": "InternalError"}
    found = states(deployed)
    assert found["heartbeats"] == "unknown"
    assert "failed" not in found.values()


def test_without_a_deployment_it_says_what_it_can_and_fails(cloud: Cloud) -> None:
    code, out, err = burstwatch(cloud, "doctor", "--deployment", "blue")
    assert code == 1
    assert err == "burstwatch: failed: stack\n"
    assert "stack 'Burstwatch-blue' in us-east-1 was not found" in out


@pytest.mark.parametrize(
    ("statement", "state"),
    [
        ({"Effect": "Allow", "Principal": "*", "Action": "*"}, "ok"),
        ({"Effect": "Allow", "Principal": {"Service": "cloudwatch.amazonaws.com"}, "Action": "kms:*"}, "ok"),
        ({"Effect": "Allow", "Principal": {"AWS": "*"}, "NotAction": "kms:Delete*"}, "failed"),
        ({"Effect": "Deny", "Principal": "*", "Action": "kms:*"}, "failed"),
    ],
)  # fmt: skip
def test_a_key_policy_of_any_shape_is_read(
    deployed: Cloud, statement: dict[str, Any], state: str
) -> None:
    deployed.aws.key_policies[KEY] = {"Statement": statement}
    assert states(deployed)["key of page"] == state


def test_awss_own_key_is_one_that_cloudwatch_may_not_use(deployed: Cloud) -> None:
    deployed.aws.topic_keys[TOPIC] = "alias/aws/sns"
    assert states(deployed)["key of page"] == "failed"


def test_the_heartbeat_of_a_deployment_whose_name_begins_alike_is_not_its_own(
    deployed: Cloud,
) -> None:
    watch_heartbeat(deployed, "burstwatch-two", "123456789012/eu-west-1")
    assert "heartbeat <account>/eu-west-1" not in states(deployed)


def test_a_deployment_of_another_version_is_named_and_the_rest_goes_on(deployed: Cloud) -> None:
    deployed.aws.environments[FUNCTION]["BURSTWATCH_NEW_SETTING"] = "1"
    found = states(deployed)
    assert found["function 1"] == "failed"
    assert found["topic page"] == "ok"


def test_nothing_that_is_denied_tells_who_asked(deployed: Cloud) -> None:
    deployed.aws.denied = {"DescribeVolumes"}
    deployed.aws.denied_words = (
        "User: arn:aws:sts::123456789012:assumed-role/Ops/jane@example.org is not authorized. "
        "Encoded authorization failure message: AbCdEf"
    )
    deployed.clock.now += 600
    code, out, err = burstwatch(deployed, "doctor", "--json")
    assert code == 1
    for private in ("123456789012", "jane", "Ops", "AbCdEf"):
        assert private not in out + err


@pytest.mark.parametrize(
    "line",
    [
        ("doctor",), ("drill",), ("episodes", "--json"), ("episodes", "--digest"), ("audit-alarms",), ("scan", "--all-regions"),
        ("cleanup",), ("cleanup", "--yes"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_needs_only_the_permissions_of_its_policy(
    deployed: Cloud, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    deploy_function(deployed)
    monkeypatch.setattr(time, "sleep", sleeper(deployed))
    deployed.aws.outputs["Burstwatch"]["LogGroupName"] = "sweeps"
    deployed.aws.logs["sweeps"] = []
    deployed.clients("cloudwatch").put_metric_alarm(
        AlarmName="burstwatch.critical/vol-1/burstwatch", Namespace="Burstwatch", MetricName="Severity",
        Dimensions=[{"Name": "ResourceId", "Value": "vol-1"}], Statistic="Maximum", Period=60, EvaluationPeriods=1,
        Threshold=2, ComparisonOperator="GreaterThanOrEqualToThreshold",
    )  # fmt: skip
    deployed.aws.calls.clear()
    burstwatch(deployed, *line)
    # What the function does on behalf of a drill it does with its own rights.
    by_function = (
        {"PutMetricData", "PutMetricAlarm", "DeleteAlarms", "Publish", "ListTagsForResource"}
        if line == ("drill",)
        else set()
    )
    names = {"Invoke": "InvokeFunction"}
    called = {
        iam_action(service, names.get(name, name))
        for service, name, _ in deployed.aws.calls
        if name not in by_function
    }
    _, text, _ = burstwatch(deployed, "policy", line[0])
    statements = json.loads(text)["Statement"]
    allowed = {action for statement in statements for action in statement["Action"]}
    assert called - {"sts:GetCallerIdentity"}
    assert called - {"sts:GetCallerIdentity"} <= allowed


def test_a_stack_with_a_name_of_its_own_is_named(deployed: Cloud) -> None:
    deployed.aws.outputs["Monitoring"] = deployed.aws.outputs.pop("Burstwatch")
    assert states(deployed)["stack"] == "failed"
    _, out, _ = burstwatch(deployed, "doctor", "--stack", "Monitoring", "--json")
    found = {one["check"]: one["result"] for one in map(json.loads, out.splitlines())}
    assert found["stack"] == "ok"


def test_people_see_what_failed_first_and_how_many_checks_there_were(deployed: Cloud) -> None:
    deployed.aws.denied = {"DescribeVolumes", "GetAccountSettings"}
    code, out, _ = burstwatch(deployed, "doctor", "--all")
    assert code == 1
    *rows, count = out.splitlines()
    found = [row.split()[0] for row in rows for _ in row.partition(": ")[0].split(", ")]
    assert found == sorted(found, key=STATES.index)
    assert {"failed", "unknown", "ok"} <= set(found)
    counted = ", ".join(f"{found.count(state)} {state}" for state in STATES if state in found)
    assert count == f"{len(found)} checks: {counted}"
    short = burstwatch(deployed, "doctor")[1].splitlines()
    assert short[:-1] == [row for row in rows if not row.startswith("ok ")]
    assert short[-1] == f"{count}; --all prints what each found"


def test_without_credentials_nothing_else_is_checked(deployed: Cloud) -> None:
    deployed.aws.denied = {"GetCallerIdentity"}
    assert states(deployed) == {"credentials": "failed"}

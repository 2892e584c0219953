"""What is left of a deployment, after it was removed and before."""

import json
import re
from pathlib import Path

import pytest

from tests.aws.commands import burstwatch
from tests.aws.doctored import deploy
from tests.aws.invoking import put_alarm
from tests.conftest import Cloud

HEALTH_ALARMS = Path(__file__).parents[2] / "cdk/lib/health-alarms.ts"


def test_every_alarm_of_a_stack_is_one_that_can_be_left(cloud: Cloud) -> None:
    names = re.findall(
        r"\badd\(\s*['`]([a-z$][^'`]*)['`]", HEALTH_ALARMS.read_text(encoding="utf-8")
    )
    parts = {name.replace("${name}", "page") for name in names if "deployment" not in name}
    assert len(parts) > 10
    alarms = {
        f"burstwatch-burstwatch-{part}" for part in parts | {"not-paged", "not-heard", "floor"}
    }
    for name in alarms:
        put_alarm(cloud, name)
    _, out, _ = burstwatch(cloud, "leftovers", "--json")
    assert alarms == {json.loads(line)["name"] for line in out.splitlines()}


def test_where_nothing_is_left_that_is_said(cloud: Cloud) -> None:
    code, out, err = burstwatch(cloud, "leftovers")
    assert (code, err) == (0, "")
    assert out == "nothing of burstwatch is left in 123456789012/us-east-1\n"


def test_each_thing_that_is_left_is_named_with_the_command_that_removes_it(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.aws.outputs["burstwatch-member"] = {}
    cloud.aws.logs["Burstwatch-BurstWatchSweepFunctionLogs-x"] = []
    put_alarm(cloud, "burstwatch/burstwatch/db/vol-1/critical")
    put_alarm(cloud, "burstwatch-burstwatch-stale-data")
    put_alarm(cloud, "burstwatch/other/db/vol-1/critical")
    volume = cloud.aws.add_volume("gp2", 100)
    cloud.aws.regions["us-east-1"].volumes[volume]["Tags"] = [
        {"Key": "burstwatch:snooze", "Value": "x"}
    ]
    queue = cloud.clients("sqs").create_queue(QueueName="burstwatch-drill-1")["QueueUrl"]
    code, out, err = burstwatch(cloud, "leftovers", "--json")
    assert (code, err) == (1, "")
    removed = {one["name"]: one["remove_with"] for one in map(json.loads, out.splitlines())}
    assert removed["Burstwatch (CREATE_COMPLETE)"] == (
        "aws cloudformation delete-stack --stack-name Burstwatch"
    )
    assert "burstwatch-member (CREATE_COMPLETE)" in removed
    assert removed["burstwatch/burstwatch/db/vol-1/critical"] == (
        "burstwatch delete-alarms --deployment burstwatch --yes"
    )
    assert "aws cloudwatch delete-alarms" in removed["burstwatch-burstwatch-stale-data"]
    assert "Burstwatch-BurstWatchSweepFunctionLogs-x" in removed
    assert queue in removed
    (tagged,) = [name for name in removed if name.startswith("burstwatch:snooze on ")]
    assert volume in tagged
    assert not [name for name in removed if "/other/" in name]
    code, out, _ = burstwatch(cloud, "leftovers")
    assert code == 1
    assert "remove it with" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        ("ListStacks", "stacks"),
        ("DescribeAlarms", "alarms"),
        ("DescribeLogGroups", "log groups"),
        ("ListQueues", "queues of drills"),
        ("GetResources", "tags"),
    ],
)
def test_what_may_not_be_looked_for_is_said_and_hides_nothing(
    cloud: Cloud, operation: str, part: str
) -> None:
    deploy(cloud)
    put_alarm(cloud, "burstwatch/burstwatch/db/vol-1/critical")
    cloud.aws.denied.add(operation)
    code, out, err = burstwatch(cloud, "leftovers")
    assert code == 1
    assert f"burstwatch: {part}: {operation}: AccessDenied" in err
    assert ("burstwatch/burstwatch/db/vol-1/critical" in out) == (operation != "DescribeAlarms")


def test_what_another_deployment_has_is_not_offered(cloud: Cloud) -> None:
    cloud.aws.outputs["Burstwatch-eu"] = {}
    cloud.aws.outputs["burstwatch-member"] = {}
    put_alarm(cloud, "burstwatch-burstwatch-eu-not-paged")
    put_alarm(cloud, "burstwatch/burstwatch-eu/db/vol-1/critical")
    code, out, _ = burstwatch(cloud, "leftovers")
    assert (code, out) == (0, "nothing of burstwatch is left in 123456789012/us-east-1\n")
    code, out, _ = burstwatch(
        cloud, "leftovers", "--deployment", "burstwatch-eu", "--stack", "Burstwatch-eu", "--json"
    )
    assert code == 1
    assert "burstwatch-burstwatch-eu-not-paged" in out


def test_it_changes_nothing(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.aws.calls.clear()
    burstwatch(cloud, "leftovers")
    verbs = {name for _, name, _ in cloud.aws.calls}
    assert verbs
    assert all(name.startswith(("Describe", "Get", "List")) for name in verbs)

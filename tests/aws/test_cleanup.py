"""What is left of a deployment, after it was removed and before; and its alarms, which are deleted where somebody wants that."""

import json
import re
from pathlib import Path

import pytest

from tests.aws.commands import burstwatch
from tests.aws.doctored import deploy
from tests.aws.invoking import put_alarm
from tests.aws.standby import watch_heartbeat
from tests.aws.sweeping import run_sweep
from tests.conftest import Cloud

pytestmark = pytest.mark.slow

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
    _, out, _ = burstwatch(cloud, "cleanup", "--json")
    assert alarms == {json.loads(line)["name"] for line in out.splitlines()}


def test_where_nothing_is_left_that_is_said(cloud: Cloud) -> None:
    code, out, err = burstwatch(cloud, "cleanup")
    assert (code, err) == (0, "")
    assert out == "nothing of burstwatch is left in 123456789012/us-east-1\n"


def test_each_thing_that_is_left_is_named_with_the_command_that_removes_it(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.aws.outputs["burstwatch-member"] = {}
    cloud.aws.logs["Burstwatch-BurstWatchSweepFunctionLogs-x"] = []
    put_alarm(cloud, "burstwatch.critical/db/vol-1/burstwatch")
    put_alarm(cloud, "burstwatch-burstwatch-stale-data")
    put_alarm(cloud, "burstwatch.critical/db/vol-1/other")
    volume = cloud.aws.add_volume("gp2", 100)
    cloud.aws.regions["us-east-1"].volumes[volume]["Tags"] = [
        {"Key": "burstwatch:snooze", "Value": "x"}
    ]
    queue = cloud.clients("sqs").create_queue(QueueName="burstwatch-drill-1")["QueueUrl"]
    code, out, err = burstwatch(cloud, "cleanup", "--json")
    assert (code, err) == (1, "")
    removed = {one["name"]: one["remove_with"] for one in map(json.loads, out.splitlines())}
    assert removed["Burstwatch (CREATE_COMPLETE)"] == (
        "aws cloudformation delete-stack --stack-name Burstwatch"
    )
    assert "burstwatch-member (CREATE_COMPLETE)" in removed
    assert removed["burstwatch.critical/db/vol-1/burstwatch"] == (
        "burstwatch cleanup --deployment burstwatch --yes"
    )
    assert "aws cloudwatch delete-alarms" in removed["burstwatch-burstwatch-stale-data"]
    assert "Burstwatch-BurstWatchSweepFunctionLogs-x" in removed
    assert queue in removed
    (tagged,) = [name for name in removed if name.startswith("burstwatch:snooze on ")]
    assert volume in tagged
    assert not [name for name in removed if "/other/" in name]
    code, out, _ = burstwatch(cloud, "cleanup")
    assert code == 1
    names, _, commands = out.partition("\n\nWhat removes them:\n")
    assert names.splitlines()[0].split() == ["what", "name"]
    assert set(commands.splitlines()) == set(removed.values())


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        ("ListStacks", "stacks"),
        ("DescribeAlarms", "alarms of sweeps"),
        ("DescribeLogGroups", "log groups"),
        ("ListQueues", "queues of drills"),
        ("GetResources", "tags"),
    ],
)
def test_what_may_not_be_looked_for_is_said_and_hides_nothing(
    cloud: Cloud, operation: str, part: str
) -> None:
    deploy(cloud)
    put_alarm(cloud, "burstwatch.critical/db/vol-1/burstwatch")
    cloud.aws.denied.add(operation)
    code, out, err = burstwatch(cloud, "cleanup")
    assert code == 1
    assert f"burstwatch: {part}: {operation}: AccessDenied" in err
    assert ("burstwatch.critical/db/vol-1/burstwatch" in out) == (operation != "DescribeAlarms")


def test_what_another_deployment_has_is_not_offered(cloud: Cloud) -> None:
    cloud.aws.outputs["Burstwatch-eu"] = {}
    cloud.aws.outputs["burstwatch-member"] = {}
    put_alarm(cloud, "burstwatch-burstwatch-eu-not-paged")
    put_alarm(cloud, "burstwatch.critical/db/vol-1/burstwatch-eu")
    code, out, _ = burstwatch(cloud, "cleanup")
    assert (code, out) == (0, "nothing of burstwatch is left in 123456789012/us-east-1\n")
    code, out, _ = burstwatch(
        cloud, "cleanup", "--deployment", "burstwatch-eu", "--stack", "Burstwatch-eu", "--json"
    )
    assert code == 1
    assert "burstwatch-burstwatch-eu-not-paged" in out


def test_alarms_are_listed_and_deleted_only_where_somebody_says_yes(cloud: Cloud) -> None:
    names = [f"burstwatch.critical/a/r/ebs_volume/vol-{n}/burstwatch" for n in range(120)]
    for name in names:
        put_alarm(cloud, name)
    put_alarm(cloud, "burstwatch.critical/a/r/ebs_volume/vol-1/other")
    for flags in (["--json"], []):
        code, listed, _ = burstwatch(cloud, "cleanup", *flags)
        assert code == 1
        assert all(name in listed for name in names)
        assert len(cloud.aws.regions["us-east-1"].alarms) == 121
    code, listed, err = burstwatch(cloud, "cleanup", "--yes")
    assert (code, err) == (0, "burstwatch: deleted 120 alarms\n")
    assert all(name in listed for name in names)
    assert len(cloud.aws.regions["us-east-1"].alarms) == 1


@pytest.mark.parametrize(
    ("answer", "left"), [("", 1), ("n", 1), ("what?", 1), ("y", 0), ("YES", 0)]
)
def test_on_a_terminal_it_asks_before_it_deletes(cloud: Cloud, answer: str, left: int) -> None:
    put_alarm(cloud, "burstwatch.critical/vol-1/burstwatch")
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    assert burstwatch(cloud, "cleanup", ask=ask)[0] == left
    assert asked == ["Delete 1 alarm? The pager gets no OK for them. [y/N] "]
    assert len(cloud.aws.regions["us-east-1"].alarms) == left


@pytest.mark.parametrize("flags", [[], ["--unit", "123456789012/us-east-1"]])
def test_alarms_of_a_unit_that_is_still_swept_are_not_deleted(
    cloud: Cloud, flags: list[str]
) -> None:
    watch_heartbeat(cloud, "burstwatch", str(cloud.unit))
    run_sweep(cloud)
    put_alarm(cloud, "burstwatch.critical/vol-1/burstwatch")
    cloud.clock.now += 60
    code, out, err = burstwatch(cloud, "cleanup", *flags, ask=lambda _: "y")
    assert code == 1
    assert "burstwatch.critical/vol-1/burstwatch" in out
    assert "a sweep of 123456789012/us-east-1 completed 1 min ago, so nothing is deleted" in err
    assert "burstwatch.critical/vol-1/burstwatch" in cloud.aws.regions["us-east-1"].alarms
    # Its sweeps have ended, or somebody knows what they do.
    cloud.clock.now += 600
    burstwatch(cloud, "cleanup", *flags, ask=lambda _: "y")
    assert "burstwatch.critical/vol-1/burstwatch" not in cloud.aws.regions["us-east-1"].alarms


def test_where_heartbeats_cannot_be_read_nothing_is_deleted(cloud: Cloud) -> None:
    watch_heartbeat(cloud, "burstwatch", str(cloud.unit))
    put_alarm(cloud, "burstwatch.critical/vol-1/burstwatch")
    cloud.aws.denied = {"GetMetricData"}
    code, _, err = burstwatch(cloud, "cleanup", ask=lambda _: "y")
    assert code == 1
    assert "whether sweeps go on cannot be read" in err
    assert "burstwatch.critical/vol-1/burstwatch" in cloud.aws.regions["us-east-1"].alarms


def test_alarms_that_may_not_be_deleted_are_not_counted_and_each_is_named(cloud: Cloud) -> None:
    names = [f"burstwatch.critical/vol-{number}/burstwatch" for number in range(3)]
    for name in names:
        put_alarm(cloud, name)
    cloud.aws.denied = {"DeleteAlarms"}
    code, _, err = burstwatch(cloud, "cleanup", "--yes")
    said, *problems = err.splitlines()
    assert (code, said) == (1, "burstwatch: deleted 0 alarms")
    assert [problem.split(":")[1].strip() for problem in problems] == [
        f"delete {name}" for name in names
    ]


def test_of_one_unit_only_its_alarms_are_listed(cloud: Cloud) -> None:
    deploy(cloud)
    volume_alarm = "burstwatch.critical/db/vol-1/burstwatch"
    put_alarm(cloud, volume_alarm)
    whole = burstwatch(cloud, "cleanup", "--json")[1].splitlines()
    code, out, _ = burstwatch(cloud, "cleanup", "--json", "--unit", str(cloud.unit))
    assert code == 1
    assert [json.loads(line)["name"] for line in out.splitlines()] == [volume_alarm]
    assert len(whole) > 1


def test_deleting_the_alarms_of_one_unit_leaves_the_others(cloud: Cloud) -> None:
    gone, kept = (
        f"burstwatch@{unit}.critical/vol-1/burstwatch"
        for unit in ("222222222222.us-east-1", "222222222222.eu-west-1")
    )
    put_alarm(cloud, gone)
    put_alarm(cloud, kept)
    code, out, _ = burstwatch(cloud, "cleanup", "--yes", "--unit", "222222222222/us-east-1")
    assert code == 0
    assert gone in out
    assert kept not in out
    assert list(cloud.aws.regions["us-east-1"].alarms) == [kept]
    code, _, err = burstwatch(cloud, "cleanup", "--unit", "everywhere")
    assert (code, err) == (2, "burstwatch: --unit is 'everywhere'; allowed: account/region\n")

"""The fire drill on the strict fake: each hop told, a failing one named, and nothing left."""

import io
import json
import os
import signal
import time
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.aws.drill.drill import Drill, Hop
from burstwatch.aws.drill.queue import clear_leftovers, has_received, open_queue
from burstwatch.aws.drill.steps import take_step
from burstwatch.cli.main import run
from tests.aws.commands import burstwatch
from tests.aws.deployed import FUNCTION, deploy, sleeper
from tests.aws.sweeping import CONFIG, NOTICE, TOPIC, alarms, run_sweep
from tests.conftest import Cloud

# Each drill waits for every hop of its alarm.
pytestmark = pytest.mark.slow

HOPS = [
    "function", "queue", "subscribers", "metric", "alarm", "event", "raised", "delivered",
    "metric ends", "resolved", "recovery delivered", "removed", "queue removed",
]  # fmt: skip


def drill(cloud: Cloud, *, severity: Any = "critical", with_queue: bool = True) -> list[Hop]:
    deploy(cloud)
    made = Drill(
        clients=cloud.clients,
        function=FUNCTION,
        severity=severity,
        drill_id="drill-1",
        clock=cloud.clock,
        sleep=sleeper(cloud),
        with_queue=with_queue,
    )
    return list(made.run())


def deploy_stack(cloud: Cloud) -> None:
    """The function, with a stack that names it, and a pager that listens."""
    cloud.aws.outputs["Burstwatch"] = {"BurstWatchSweepFunctionName1234": FUNCTION}
    deploy(cloud)
    cloud.aws.subscribe(TOPIC, "https://pager.example")


def failed(hops: list[Hop]) -> list[str]:
    return [hop.name for hop in hops if hop.ok is False]


def nothing_is_left(cloud: Cloud) -> bool:
    drills = [e for s in cloud.aws.subscriptions.values() for e in s.values() if "drill" in e]
    return not alarms(cloud) and not cloud.aws.queues and not drills


@pytest.mark.parametrize(("severity", "topic"), [("critical", TOPIC), ("warning", NOTICE)])
def test_a_drill_tells_the_delay_of_every_hop_and_leaves_nothing(
    cloud: Cloud, severity: str, topic: str
) -> None:
    cloud.aws.subscribe(topic, "https://pager.example")
    hops = drill(cloud, severity=severity)
    assert [hop.name for hop in hops] == HOPS
    assert not failed(hops)
    assert all(hop.seconds is not None for hop in hops)
    raised = next(hop for hop in hops if hop.name == "raised")
    assert 0 < (raised.seconds or 0) <= 60
    name = f"burstwatch.{severity}/drill-1/burstwatch"
    assert cloud.aws.notifications == [(topic, name, "ALARM"), (topic, name, "OK")]
    assert nothing_is_left(cloud)


@pytest.mark.parametrize("waits_for", ["raised", "resolved"])
def test_a_drill_whose_alarm_somebody_deletes_ends_at_its_next_polls_and_says_so(
    cloud: Cloud, waits_for: str
) -> None:
    deploy(cloud)
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    sleep, begun = sleeper(cloud), list[str]()

    def sleep_and_delete(seconds: float) -> None:
        sleep(seconds)
        if begun[-1] == waits_for:
            cloud.aws.regions["us-east-1"].alarms.clear()

    made = Drill(
        clients=cloud.clients, function=FUNCTION, severity="critical", drill_id="drill-1",
        clock=cloud.clock, sleep=sleep_and_delete, begun=begun.append,
    )  # fmt: skip
    began = cloud.clock.now
    hops = {hop.name: hop for hop in made.run()}
    assert hops[waits_for].ok is False
    assert "is gone: somebody deleted it" in hops[waits_for].detail
    assert cloud.clock.now - began < 300
    assert nothing_is_left(cloud)


def test_everything_that_is_seen_of_it_says_that_it_is_a_drill(cloud: Cloud) -> None:
    drill(cloud)
    begun, *over = (p for _, operation, p in cloud.aws.calls if operation == "PutMetricAlarm")
    assert begun["AlarmDescription"].startswith("DRILL drill-1: nothing is wrong")
    assert over
    for request in over:
        assert request["AlarmDescription"].startswith("DRILL over drill-1: the page and its end")
    assert {"/drill-1/" in request["AlarmName"] for request in (begun, *over)} == {True}
    data = [
        datum for _, operation, p in cloud.aws.calls if operation == "PutMetricData"
        for datum in p["MetricData"]
    ]  # fmt: skip
    assert {d["Value"] for datum in data for d in datum["Dimensions"] if d["Name"] == "Kind"} == {
        "drill"
    }


def test_a_topic_without_a_subscriber_is_the_hop_that_failed_and_the_rest_is_still_told(
    cloud: Cloud,
) -> None:
    cloud.aws.subscribe(TOPIC, "oncall@example.org", is_confirmed=False)
    hops = drill(cloud)
    assert failed(hops) == ["subscribers"]
    (hop,) = (hop for hop in hops if hop.ok is False)
    assert hop.detail == f"nobody is subscribed to {TOPIC}, 1 not confirmed"
    assert next(hop for hop in hops if hop.name == "delivered").ok


def test_a_key_that_does_not_let_cloudwatch_in_is_seen_at_the_delivery(cloud: Cloud) -> None:
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    cloud.aws.denied_keys = True
    hops = drill(cloud)
    assert failed(hops) == ["event", "delivered", "recovery delivered"]
    assert next(hop for hop in hops if hop.name == "resolved").ok
    assert nothing_is_left(cloud)


@pytest.mark.parametrize(
    ("denied", "hop"),
    [
        ("PutMetricData", "metric"),
        ("PutMetricAlarm", "alarm"),
        ("DescribeAlarms", "raised"),
        ("ListSubscriptionsByTopic", "subscribers"),
        ("Publish", "event"),
        ("DeleteAlarms", "removed"),
        ("Invoke", "function"),
        ("CreateQueue", "queue"),
        ("Subscribe", "queue"),
        ("Unsubscribe", "queue removed"),
        ("DeleteQueue", "queue removed"),
    ],
)
def test_a_denied_call_is_the_hop_that_failed_and_what_hangs_on_it_is_not_tried(
    cloud: Cloud, denied: str, hop: str
) -> None:
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    cloud.aws.denied = {denied}
    hops = drill(cloud)
    assert hop in failed(hops)
    told = next(one for one in hops if one.name == hop)
    assert "AccessDenied" in told.detail
    if hop in {"function", "metric", "alarm", "raised"}:
        names = [one.name for one in hops]
        after = hops[names.index(hop) + 1 : names.index("removed")]
        assert {one.ok for one in after} == {None}
    assert bool(cloud.aws.queues) == (hop == "queue removed")


def test_without_a_queue_the_delivery_is_not_claimed(cloud: Cloud) -> None:
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    hops = drill(cloud, with_queue=False)
    assert not failed(hops)
    assert [hop.name for hop in hops if hop.ok is None] == ["delivered", "recovery delivered"]
    assert "CreateQueue" not in {operation for _, operation, _ in cloud.aws.calls}


def test_what_a_killed_drill_left_is_taken_away_by_the_next_and_by_the_sweep(cloud: Cloud) -> None:
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    cloud.clients("sqs").create_queue(QueueName="burstwatch-drill-0")
    cloud.aws.subscribe(TOPIC, "arn:aws:sqs:us-east-1:123456789012:burstwatch-drill-0")
    for step in ("begin", "alarm"):
        asked = {"id": "drill-0", "severity": "critical", "step": step}
        take_step(asked, cloud.clients, CONFIG, now=cloud.clock.now)
    cloud.aws.evaluate_alarms()
    cloud.clock.now += 600
    run_sweep(cloud)
    assert alarms(cloud)  # it may still be under way
    cloud.aws.evaluate_alarms()
    assert "ALARM" in alarms(cloud).values()
    cloud.clock.now += 3_600
    for _ in range(4):
        run_sweep(cloud)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    assert not alarms(cloud)
    assert cloud.aws.notifications[-1][2] == "OK"  # whoever was told hears that it is over
    assert not cloud.aws.published
    drill(cloud)
    assert nothing_is_left(cloud)


def test_a_subscription_of_a_queue_that_is_gone_is_taken_away_and_counts_for_nobody(
    cloud: Cloud,
) -> None:
    cloud.aws.subscribe(TOPIC, "arn:aws:sqs:us-east-1:123456789012:burstwatch-drill-0")
    assert failed(drill(cloud)) == ["subscribers"]
    assert nothing_is_left(cloud)


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_queue_that_cannot_be_read_keeps_its_subscription_unless_it_is_gone(
    cloud: Cloud, *, is_gone: bool
) -> None:
    deploy(cloud)
    cloud.clients("sqs").create_queue(QueueName="burstwatch-drill-0")
    queue_arn = "arn:aws:sqs:us-east-1:123456789012:burstwatch-drill-0"
    cloud.aws.subscribe(TOPIC, queue_arn)
    if is_gone:
        cloud.aws.before["GetQueueAttributes"] = lambda _: cloud.aws.queues.clear()
    else:
        cloud.aws.denied.add("GetQueueAttributes")
    clear_leftovers(cloud.clients, TOPIC, cloud.clock.now)
    assert (queue_arn in cloud.aws.subscriptions[TOPIC].values()) == (not is_gone)


def test_a_drill_that_is_interrupted_leaves_its_alarm_to_the_sweeps_which_resolve_it(
    cloud: Cloud,
) -> None:
    cloud.aws.subscribe(TOPIC, "https://pager.example")
    deploy(cloud)
    made = Drill(
        clients=cloud.clients, function=FUNCTION, severity="critical", drill_id="drill-1",
        clock=cloud.clock, sleep=sleeper(cloud),
    )  # fmt: skip
    hops = made.run()
    while next(hops).name != "raised":
        pass
    hops.close()  # as an interrupt does
    assert not cloud.aws.queues
    for _ in range(5):
        run_sweep(cloud)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM", "OK"]
    assert alarms(cloud) == {}


def test_the_command_finds_the_topic_of_the_stack_and_prints_each_hop(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_stack(cloud)
    monkeypatch.setattr(time, "sleep", sleeper(cloud))
    code, out, err = burstwatch(cloud, "drill", "--json")
    assert (code, err.count("\n")) == (0, 2)
    assert err.startswith("burstwatch: raised: waiting for CloudWatch to see the metric")
    assert [json.loads(line)["step"] for line in out.splitlines()] == HOPS
    cloud.aws.subscriptions[TOPIC].clear()
    code, out, err = burstwatch(cloud, "drill")
    assert code == 1
    assert err.splitlines() == [
        "burstwatch: raised: waiting for CloudWatch to see the metric, about a minute",
        "burstwatch: resolved: waiting for CloudWatch to see the end, up to five minutes",
        "burstwatch: the drill failed at: subscribers",
    ]
    assert "FAILED" in out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_that_is_ended_takes_its_queue_away(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_stack(cloud)
    before = signal.getsignal(signal.SIGTERM)

    def end(_: float) -> None:
        assert cloud.aws.queues
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(time, "sleep", end)
    with pytest.raises(KeyboardInterrupt):
        burstwatch(cloud, "drill")
    assert not cloud.aws.queues
    assert signal.getsignal(signal.SIGTERM) == before


def test_on_a_terminal_the_command_names_the_hop_that_it_waits_for(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_stack(cloud)
    monkeypatch.setattr(time, "sleep", sleeper(cloud))
    out, err = io.StringIO(), Terminal()
    run(["drill"], stdout=out, stderr=err, env=dict(os.environ), clock=cloud.clock)
    shown = err.getvalue()
    steps = [line.partition(" ...")[0] for line in shown.split("\r") if "..." in line]
    assert [step.partition(":")[0] for step in steps] == HOPS
    assert "resolved: waiting for CloudWatch to see the end, up to five minutes" in steps
    assert shown.endswith("\033[K")
    assert "..." not in out.getvalue()


def test_a_stack_that_cannot_be_read_is_not_called_missing(cloud: Cloud) -> None:
    cloud.aws.denied.add("DescribeStacks")
    code, _, err = burstwatch(cloud, "drill")
    assert code == 2
    assert "stack 'Burstwatch' in us-east-1 could not be read: DescribeStacks: " in err
    assert "--stack" not in err


def test_without_a_stack_the_command_says_which_it_looked_for(cloud: Cloud) -> None:
    code, out, err = burstwatch(cloud, "drill", "--deployment", "blue")
    assert (code, out) == (2, "")
    assert "stack 'Burstwatch-blue' in us-east-1 was not found" in err


def test_the_notice_topic_is_drilled_as_a_warning(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.aws.outputs["Burstwatch-blue"] = {"BurstWatchSweepFunctionName1": FUNCTION}
    deploy(cloud, replace(CONFIG, deployment="blue"))
    cloud.aws.subscribe(NOTICE, "https://pager.example")
    monkeypatch.setattr(time, "sleep", sleeper(cloud))
    code, out, _ = burstwatch(cloud, "drill", "--deployment", "blue", "--topic", "notice")
    assert code == 0
    assert out.splitlines()[-1].startswith("from the metric to the subscriber: ")
    assert {topic for topic, _, _ in cloud.aws.notifications} == {NOTICE}
    assert all(name.endswith("/blue") for _, name, _ in cloud.aws.notifications)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("now", "drill is 'now'; allowed: an object with id, severity and step"),
        ({"id": "vol-1", "severity": "ok", "step": "stop"}, "drill.severity is 'ok'; allowed: critical, warning"),
    ],
)  # fmt: skip
def test_a_step_that_is_none_is_refused_and_changes_nothing(
    cloud: Cloud, asked: Any, says: str
) -> None:
    with pytest.raises(ValueError, match="allowed: ") as refused:
        take_step(asked, cloud.clients, CONFIG, now=cloud.clock.now)
    assert says in str(refused.value)
    assert not cloud.aws.calls


def test_a_function_that_knows_no_drills_says_to_deploy_it_again(cloud: Cloud) -> None:
    made = Drill(
        clients=cloud.clients, function=FUNCTION, severity="critical", drill_id="drill-1",
        clock=cloud.clock, sleep=sleeper(cloud),
    )  # fmt: skip
    cloud.aws.functions[FUNCTION] = lambda _event: {"completed": True}
    function, *others = made.run()
    assert (function.ok, {hop.ok for hop in others}) == (False, {None})
    assert (
        function.detail
        == f"{FUNCTION}: this version of the function has no drill, deploy burstwatch again"
    )
    assert nothing_is_left(cloud)


def test_only_the_message_of_its_own_alarm_and_state_counts_as_delivered(cloud: Cloud) -> None:
    url = open_queue(cloud.clients, TOPIC, "burstwatch-drill-1", [])
    notification = json.dumps({"AlarmName": "burstwatch/drill", "NewStateValue": "ALARM"})
    cloud.aws.queues["burstwatch-drill-1"] += ["no JSON", json.dumps({"Message": notification})]
    asked = (
        ("burstwatch/drill", "ALARM"),
        ("burstwatch/other", "ALARM"),
        ("burstwatch/drill", "OK"),
    )
    assert [has_received(cloud.clients, url, *one) for one in asked] == [True, False, False]

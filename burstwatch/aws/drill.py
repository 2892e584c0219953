"""A fire drill: one episode of nothing, through the real metric, alarm and topic, hop by hop.

Everything of it is called a drill: the dimension, the alarm's name and its description. It
touches no resource and no other alarm, and takes away what it made whatever happens. Of what a
killed one leaves behind, a sweep ends the alarm and another drill takes the queue, an hour later.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.alarms import alarm_request, delete_alarms
from burstwatch.aws.names import (
    ALARM_PERIOD_S,
    DRILL,
    NAMESPACE,
    SEVERITY_METRIC,
    alarm_name,
    resource_dimensions,
)
from burstwatch.aws.session import AWS_ERRORS, Clients, describe_error
from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.polling.unit import Unit

#: CloudWatch looks at an alarm once a minute, and may take one more to see a new datapoint.
WAIT_S = 10.0 * ALARM_PERIOD_S
POLL_S = 2.0
#: Every drill's id begins so, and with it its queue's name.
ID_PREFIX = "drill-"
QUEUE_PREFIX = f"burstwatch-{ID_PREFIX}"
#: Its own messages are all that the queue may hold, and not for long.
QUEUE_KEEPS_S = 3_600


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One step of the way. ``seconds`` is its delay, None where it has none or did not end.

    ``ok`` is None for a hop that was not tried, because one before it failed.
    """

    name: str
    ok: bool | None
    seconds: float | None = None
    detail: str = ""


class HopError(Exception):
    """A hop that failed; the message says how."""


@dataclass(frozen=True, kw_only=True)
class Drill:
    """One fire drill: where, which severity's way, its own id, and its clock.

    ``clock`` returns seconds since the epoch, ``sleep`` waits for some.
    """

    clients: Clients
    unit: Unit
    config: Config
    severity: Verdict
    drill_id: str
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    with_queue: bool = True

    @property
    def subject(self) -> tuple[str, str]:
        """The kind and id that it has for a resource."""
        return DRILL, self.drill_id

    @property
    def alarm(self) -> str:
        """The name of its alarm."""
        return alarm_name(self.config, self.unit, self.subject, self.severity)

    @property
    def topic(self) -> str:
        """The topic that a real alarm of this severity would go to."""
        return str(
            self.config.page_topic_arn
            if self.severity == "critical"
            else self.config.notice_topic_arn
        )

    def run(self) -> Iterator[Hop]:
        """Each hop when it is known how it went. What was made is gone when this ends."""
        with ExitStack() as ending:
            ending.callback(delete_alarms, self.clients, [self.alarm])
            queue = None
            if self.with_queue:
                hop, queue = self._listen(ending)
                yield hop
            yield self._try("subscribers", self._subscribers)
            steps: list[tuple[str, Callable[[], str]]] = [
                ("metric", lambda: self._publish(SEVERITY["exhausted"])),
                ("alarm", self._make_alarm),
                ("raised", lambda: self._await_state("ALARM")),
                ("delivered", lambda: self._await_message(queue, "ALARM")),
                ("metric ends", lambda: self._publish(SEVERITY["ok"])),
                ("resolved", lambda: self._await_state("OK")),
                ("recovery delivered", lambda: self._await_message(queue, "OK")),
                ("removed", self._remove),
            ]
            failed = ""
            for name, step in steps:
                if "delivered" in name and queue is None:
                    yield Hop(name=name, ok=None, detail="no queue of its own to see it arrive")
                elif failed and name != "removed":
                    yield Hop(name=name, ok=None, detail=f"not tried after {failed}")
                else:
                    hop = self._try(name, step)
                    yield hop
                    # A message that did not arrive says nothing of the alarm itself.
                    if not hop.ok and "delivered" not in name:
                        failed = name

    def _try(self, name: str, step: Callable[[], str]) -> Hop:
        began = self.clock()
        try:
            detail = step()
        except HopError as error:
            return Hop(name=name, ok=False, detail=str(error))
        except AWS_ERRORS as error:
            return Hop(name=name, ok=False, detail=describe_error(error))
        return Hop(name=name, ok=True, seconds=self.clock() - began, detail=detail)

    def _until(self, check: Callable[[], str], what: str) -> str:
        """Return what ``check`` finds, as soon as it finds something."""
        deadline = self.clock() + WAIT_S
        while not (found := check()):
            if self.clock() >= deadline:
                msg = f"{what} within {WAIT_S:.0f} s"
                raise HopError(msg)
            self.sleep(POLL_S)
        return found

    def _publish(self, severity: int) -> str:
        """Put it for this minute, and when it begins for the one before, as a sweep does."""
        now = self.clock()
        stamps = [now, now - ALARM_PERIOD_S] if severity else [now]
        self.clients("cloudwatch").put_metric_data(
            Namespace=NAMESPACE,
            MetricData=[
                {
                    "MetricName": SEVERITY_METRIC,
                    "Dimensions": resource_dimensions(self.config, *self.subject),
                    "Timestamp": datetime.fromtimestamp(at, tz=UTC),
                    "Value": float(severity),
                }
                for at in stamps
            ],
        )
        return f"{SEVERITY_METRIC} {severity} of {self.drill_id}"

    def _make_alarm(self) -> str:
        text = (
            f"DRILL {self.drill_id}: nothing is wrong and nothing is to be done. It shows that an alarm of "
            f"burstwatch {self.config.deployment} reaches you, and resolves by itself in a few minutes."
        )
        request = alarm_request(self.unit, self.subject, text, self.severity, self.config)
        self.clients("cloudwatch").put_metric_alarm(**request)
        return self.alarm

    def _await_state(self, state: str) -> str:
        reported = self.clock()

        def check() -> str:
            nonlocal reported
            if self.clock() - reported >= ALARM_PERIOD_S:
                reported = self.clock()  # a datapoint a minute, as from a sweep
                self._publish(SEVERITY["ok" if state == "OK" else "exhausted"])
            found = self.clients("cloudwatch").describe_alarms(AlarmNames=[self.alarm])
            (alarm,) = found["MetricAlarms"] or [{"StateValue": "gone"}]
            return f"the alarm is {state}" if alarm["StateValue"] == state else ""

        return self._until(check, f"the alarm was not {state}")

    def _subscribers(self) -> str:
        """Check who would hear it. An alarm without a subscriber is no alarm."""
        pages = self.clients("sns").get_paginator("list_subscriptions_by_topic")
        all_of_them = [
            entry
            for page in pages.paginate(TopicArn=self.topic)
            for entry in page["Subscriptions"]
            if QUEUE_PREFIX not in entry["Endpoint"]
        ]
        pending = sum(entry["SubscriptionArn"] == "PendingConfirmation" for entry in all_of_them)
        count = len(all_of_them) - pending
        waiting = f", {pending} not confirmed" if pending else ""
        if count == 0:
            msg = f"nobody is subscribed to {self.topic}{waiting}"
            raise HopError(msg)
        return f"{count} confirmed{waiting}"

    def _listen(self, ending: ExitStack) -> tuple[Hop, str | None]:
        """A queue of the drill's own at the topic, to see with its own eyes what is delivered."""
        urls: list[str] = []

        def listen() -> str:
            sqs, sns = self.clients("sqs"), self.clients("sns")
            self._clear_leftovers()
            name = f"burstwatch-{self.drill_id}"
            url = sqs.create_queue(
                QueueName=name, Attributes={"MessageRetentionPeriod": str(QUEUE_KEEPS_S)}
            )["QueueUrl"]
            ending.callback(_quietly, lambda: sqs.delete_queue(QueueUrl=url))
            arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
            arn = arn["Attributes"]["QueueArn"]
            policy = _let_topic_in(self.topic, arn)
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
            subscription = sns.subscribe(
                TopicArn=self.topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True
            )["SubscriptionArn"]
            ending.callback(_quietly, lambda: sns.unsubscribe(SubscriptionArn=subscription))
            urls.append(url)
            return name

        hop = self._try("queue", listen)
        return hop, urls[0] if urls else None

    def _clear_leftovers(self) -> None:
        """The queues of drills that were killed, and what subscribes them."""
        sqs, sns = self.clients("sqs"), self.clients("sns")
        old = set()
        for url in sqs.list_queues(QueueNamePrefix=QUEUE_PREFIX).get("QueueUrls", ()):
            about = sqs.get_queue_attributes(
                QueueUrl=url, AttributeNames=["CreatedTimestamp", "QueueArn"]
            )["Attributes"]
            if self.clock() - float(about["CreatedTimestamp"]) > QUEUE_KEEPS_S:
                sqs.delete_queue(QueueUrl=url)
                old.add(about["QueueArn"])
        pages = sns.get_paginator("list_subscriptions_by_topic")
        for page in pages.paginate(TopicArn=self.topic):
            for entry in page["Subscriptions"]:
                if entry["Endpoint"] in old:
                    sns.unsubscribe(SubscriptionArn=entry["SubscriptionArn"])

    def _await_message(self, queue: str | None, state: str) -> str:
        """CloudWatch's own notification, by the alarm's name and its new state."""

        def check() -> str:
            reply = self.clients("sqs").receive_message(
                QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1
            )
            for message in reply.get("Messages", ()):
                if _is_notification(message["Body"], self.alarm, state):
                    return f"the topic delivered {state}"
            return ""

        return self._until(check, f"{self.topic} did not deliver {state}")

    def _remove(self) -> str:
        problems = delete_alarms(self.clients, [self.alarm])
        if problems:
            raise HopError(problems[0].error)
        return "the alarm is deleted"


def _is_notification(body: str, alarm: str, state: str) -> bool:
    try:
        inner: dict[str, Any] = json.loads(json.loads(body)["Message"])
    except (ValueError, KeyError, TypeError):
        return False
    return inner.get("AlarmName") == alarm and inner.get("NewStateValue") == state


def _let_topic_in(topic: str, queue: str) -> dict[str, Any]:
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "sns.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": queue,
                "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
            }
        ],
    }


def _quietly(step: Callable[[], object]) -> None:
    """On the way out nothing may hide how the drill went."""
    try:
        step()
    except AWS_ERRORS:
        return

"""Metrics and messages out: PutMetricData and SNS, each acknowledged or a problem."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.alarms.plan import AlarmPlan
from burstwatch.aws.client.names import (
    ALARM_PERIOD_S,
    LONGEST_S,
    NAMESPACE,
    SEVERITY_METRIC,
    TIME_METRIC,
    resource_dimensions,
    unit_dimensions,
)
from burstwatch.aws.client.session import AWS_ERRORS, Clients, describe_error
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.messages.message import Message
from burstwatch.messages.text import chat_message, email, subject
from burstwatch.shards import Problem, Unit

#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html (2026-11)
DATA_PER_CALL = 1000


def publish_severities(
    clients: Clients, snapshot: UnitSnapshot, plan: AlarmPlan, config: Config
) -> list[Problem]:
    """Publish the metrics of each resource that an alarm is about, as of the sweep's start. Returns what failed.

    Each is billed by the hour in which it is published, so of the others there is none.

    A severity that gets its alarm now is published for the minute before as well: the
    datapoints behind it are older than that, and an alarm looks at whole minutes. One that
    found the lesser severity of that minute would begin with an OK to the pager.
    """
    new = {resource_id for resource_id, _ in plan.create} | plan.new_groups.keys()
    severities: list[dict[str, Any]] = []
    ranges: list[dict[str, Any]] = []
    for (kind, resource_id), severity in plan.severities.items():
        dimensions = resource_dimensions(config, kind, resource_id, foreign=snapshot.foreign)
        times = [snapshot.at, snapshot.at - ALARM_PERIOD_S] if resource_id in new else [snapshot.at]
        severities += [
            datum(SEVERITY_METRIC, dimensions, at, float(severity), "None") for at in times
        ]
        entry = snapshot.assessments.get(resource_id)
        time_bounds = None if entry is None else time_left(entry[1], snapshot.at)
        if time_bounds is not None:
            ranges.append(_range_datum(dimensions, snapshot.at, *time_bounds))
    # Apart, and after what the alarms need.
    return _put(clients, severities) + _put(clients, ranges)


def publish_of_unit(
    clients: Clients, snapshot: UnitSnapshot, config: Config, metric: str, value: float
) -> list[Problem]:
    """Publish a metric of the unit itself, such as its heartbeat. Returns what failed."""
    of_unit = unit_dimensions(snapshot.unit, snapshot.shard, config)
    return _put(clients, [datum(metric, of_unit, snapshot.at, value)])


def publish_events(
    clients: Clients,
    snapshot: UnitSnapshot,
    messages: Iterable[tuple[str, Callable[[], Message]]],
    config: Config,
) -> list[Problem]:
    """Write and send each message, with the severity that subscribers filter by."""
    if not config.events_topic_arn:
        return []
    problems = []
    for severity, write in messages:
        part = f"event {severity}"
        try:
            message = write()
            part = f"event {message.event} of {_subject_of(message)}"
            topic = config.events_topic_arn
            send(clients, message, config, topic=topic, severity=severity, unit=snapshot.unit)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others theirs
            problems.append(Problem(part=part, error=describe_error(error)))
    return problems


def send(
    clients: Clients, message: Message, config: Config, *, topic: str, severity: str, unit: Unit
) -> None:
    """Send a message to a topic: plain text to a mailbox, the chat schema to everything else.

    Raises:
        one of AWS_ERRORS: if it cannot be sent.
    """
    values = {
        "event": message.event,
        "severity": severity,
        "resourceId": _subject_of(message),
        "unit": str(unit),
    }
    clients("sns").publish(
        TopicArn=topic,
        Subject=subject(message),
        MessageStructure="json",
        Message=json.dumps(
            {"default": chat_message(message, config.chat), "email": email(message)}
        ),
        MessageAttributes={
            name: {"DataType": "String", "StringValue": value} for name, value in values.items()
        },
    )


def _subject_of(message: Message) -> str:
    return message.event if message.event in {"mass", "digest"} else message.resources[0]


def time_left(assessment: Assessment, now: float) -> tuple[float, float, float] | None:
    """The least, likely and most seconds that are left; None where nothing says that there is an end.

    CloudWatch has no word for never: a day stands for a day or more. A likely time that is not
    known is taken for the least.
    """
    projection = assessment.projection
    low, likely, high = (
        projection.left_s(seconds, now)
        for seconds in (projection.low_s, projection.time_to_empty_s, projection.high_s)
    )
    bounds = [seconds for seconds in (low, likely, high) if seconds is not None]
    least = min(bounds, default=math.inf)
    if math.isinf(least):
        return None
    middle = least if likely is None else likely
    return (
        min(least, LONGEST_S),
        min(middle, LONGEST_S),
        min(max(bounds) if high is not None else math.inf, LONGEST_S),
    )


def datum(
    name: str, dimensions: Sequence[dict[str, str]], at: float, value: float, unit: str = "Count"
) -> dict[str, Any]:
    """One value of one metric, as PutMetricData takes it."""
    return _entry(name, dimensions, at, unit) | {"Value": value}


def _range_datum(
    dimensions: Sequence[dict[str, str]], at: float, low: float, middle: float, high: float
) -> dict[str, Any]:
    """A range of seconds in one metric, which is billed once: its statistics Minimum, Average and Maximum.

    AWS documents no rule for them. Two samples can have a least and a most that differ; one cannot.
    """
    return _entry(TIME_METRIC, dimensions, at, "Seconds") | {
        "StatisticValues": {"SampleCount": 2.0, "Sum": 2 * middle, "Minimum": low, "Maximum": high}
    }


def _entry(name: str, dimensions: Sequence[dict[str, str]], at: float, unit: str) -> dict[str, Any]:
    return {
        "MetricName": name,
        "Dimensions": dimensions,
        "Timestamp": datetime.fromtimestamp(at, tz=UTC),
        "Unit": unit,
    }


def _put(clients: Clients, data: Sequence[dict[str, Any]]) -> list[Problem]:
    """Write datapoints to CloudWatch, as many a call as it allows; a call that fails is a problem, and the next goes on."""
    problems = []
    for start in range(0, len(data), DATA_PER_CALL):
        try:
            clients("cloudwatch").put_metric_data(
                Namespace=NAMESPACE, MetricData=data[start : start + DATA_PER_CALL]
            )
        except AWS_ERRORS as error:
            problems.append(Problem(part="PutMetricData", error=describe_error(error)))
    return problems

"""Does the steps of a fire drill in the deployed function, with the function's own rights.

Each step is one event ``{"drill": {"id": "drill-1a2b", "severity": "critical", "step": "alarm"}}``
and can be repeated. Everything that it makes is called a drill. It touches no resource and no
other alarm.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from burstwatch.aws.alarms.api import alarm_request, delete_alarms, read_alarms
from burstwatch.aws.alarms.publish import datum, send
from burstwatch.aws.alarms.stack_tags import put_tagged, read_stack_tags
from burstwatch.aws.client.names import (
    ALARM_PERIOD_S,
    ALARMED,
    DRILL,
    NAMESPACE,
    SEVERITY_METRIC,
    alarm_name,
    resource_dimensions,
)
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error
from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.messages.message import Message, drill_message
from burstwatch.messages.text import description
from burstwatch.messages.timeline import Timeline
from burstwatch.shards import Unit

#: Every drill's id begins so.
ID_PREFIX = "drill-"
_ID = re.compile(rf"{ID_PREFIX}[0-9a-f]{{1,32}}")

FunctionReply: TypeAlias = dict[str, str]


def take_step(request: object, home: Clients, config: Config, *, now: float) -> FunctionReply:
    """Do one step. The answer names the alarm and its topic, or has the ``error`` of AWS.

    Raises:
        ValueError: if the step, the id or the severity is none.
    """
    if not isinstance(request, Mapping):
        msg = f"drill is {request!r}; allowed: an object with id, severity and step"
        raise ValueError(msg)  # noqa: TRY004 - a wrong event, as what follows
    fields = {name: str(request.get(name, "")) for name in ("id", "severity", "step")}
    allowed = {
        "id": f"{ID_PREFIX} and hexadecimal digits",
        "severity": ", ".join(ALARMED),
        "step": ", ".join(STEPS),
    }
    is_known = {
        "id": _ID.fullmatch(fields["id"]) is not None,
        "severity": fields["severity"] in ALARMED,
        "step": fields["step"] in STEPS,
    }
    wrong = [name for name, is_ok in is_known.items() if not is_ok]
    if wrong:
        msg = "; ".join(
            f"drill.{name} is {fields[name]!r}; allowed: {allowed[name]}" for name in wrong
        )
        raise ValueError(msg)
    severity: Verdict = "critical" if fields["severity"] == "critical" else "warning"
    topic = config.page_topic_arn if severity == "critical" else config.notice_topic_arn
    try:
        step = _Step(
            clients=home,
            unit=home.unit(),
            config=config,
            severity=severity,
            drill_id=fields["id"],
            now=now,
        )
        detail = STEPS[fields["step"]](step)
    except AwsError as error:
        return {"error": str(error)}
    except AWS_ERRORS as error:
        return {"error": describe_error(error)}
    return {"alarm": step.alarm, "topic": topic, "detail": detail}


@dataclass(frozen=True, kw_only=True)
class _Step:
    """One step, and what it acts on."""

    clients: Clients
    unit: Unit
    config: Config
    severity: Verdict
    drill_id: str
    now: float

    @property
    def subject(self) -> tuple[str, str]:
        """The kind and id that it has for a resource."""
        return DRILL, self.drill_id

    @property
    def alarm(self) -> str:
        """The name of its alarm."""
        return alarm_name("", self.drill_id, self.severity, deployment=self.config.deployment)

    def ready(self) -> str:
        """Say that the function answers, and change nothing."""
        return f"the function of deployment {self.config.deployment} answers"

    def begin(self) -> str:
        """Publish a severity for this minute and for the one before, as a sweep does."""
        return self._publish(SEVERITY["exhausted"], self.now, self.now - ALARM_PERIOD_S)

    def end(self) -> str:
        """Say in the alarm that it is over, and publish that. Sweeps then delete what is left of it."""
        for alarm in read_alarms(self.clients, self.alarm):
            opened_s = alarm.timeline.opened_s
            text = self._message(Timeline(opened_s=opened_s, over_s=self.now))
            self.clients("cloudwatch").put_metric_alarm(**self._request(text))
        return self._publish(SEVERITY["ok"], self.now)

    def make_alarm(self) -> str:
        """Make the alarm on that metric."""
        request = self._request(self._message(Timeline(opened_s=self.now)))
        tags, _ = read_stack_tags(self.clients, self.config)
        put_tagged(self.clients, request, tags)
        return self.alarm

    def _message(self, timeline: Timeline) -> Message:
        return drill_message(self.drill_id, str(self.unit), timeline, self.config.links)

    def _request(self, message: Message) -> dict[str, Any]:
        text = description(message)
        return alarm_request(self.alarm, self.subject, text, self.severity, self.config)

    def send_event(self) -> str:
        """Send a readable message, as beside a real alarm."""
        if not self.config.events_topic_arn:
            return "no events topic is configured"
        topic = self.config.events_topic_arn
        message = self._message(Timeline(opened_s=self.now))
        send(self.clients, message, self.config, topic=topic, severity=DRILL, unit=self.unit)
        return "a readable message was sent"

    def remove(self) -> str:
        """Delete the alarm, if it is there.

        Raises:
            AwsError: if it may not.
        """
        problems = delete_alarms(self.clients, [self.alarm])
        if problems:
            raise AwsError(problems[0].error)
        return "the alarm is deleted"

    def _publish(self, severity: int, *stamps: float) -> str:
        dimensions = resource_dimensions(self.config, *self.subject, foreign="")
        self.clients("cloudwatch").put_metric_data(
            Namespace=NAMESPACE,
            MetricData=[datum(SEVERITY_METRIC, dimensions, at, float(severity)) for at in stamps],
        )
        return f"{SEVERITY_METRIC} {severity} of {self.drill_id}"


#: The steps that the function can be asked for, by name.
STEPS: Mapping[str, Callable[[_Step], str]] = {
    "ready": _Step.ready,
    "begin": _Step.begin,
    "alarm": _Step.make_alarm,
    "event": _Step.send_event,
    "end": _Step.end,
    "remove": _Step.remove,
}

"""Each permission of the sweep's role taken away in turn, and what the monitor then says, and on which topic."""

import json
import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstwatch.aws.client.names import ALARM_PERIOD_S, alarm_name, is_of, parse_alarm_name
from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud
from tests.clouds.account import NAME, Metrics, find_resources, make_resources, put_alarm_of
from tests.clouds.emulators import KINDS, LOCALEMU
from tests.clouds.rights import NOT_CALLED_HERE, Policy, permissions, policy_of_role, without
from tests.clouds.stacks import DEPLOYMENT, deploy_plain
from tests.clouds.waiting import invoke, silence, start_anew, until

DELETES = "cloudwatch:DeleteAlarms"
#: How long an alarm must have been OK before a sweep deletes it.
OVER_S = 2.0 * ALARM_PERIOD_S + 5.0
#: What is in danger is drained to this share, and stays there.
LEFT = 0.01
#: Where ids are in the names of failed parts.
IDS = re.compile(r"\b(?:vol|i|fs|orders|graph)\b[\w.-]*(?: and \d+ more)?")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a sweep says under some rights.

    ``parts`` are the parts that its log says failed. ``told`` are the alarms that it made, and those of the
    stack that its numbers raise if they last, with their topics. ``victim`` is what becomes of the volume in
    danger: *paged*, *critical* where that is its verdict and its own alarm could not be made, *unknown* or
    *not listed*.
    """

    parts: tuple[str, ...]
    told: tuple[str, ...]
    victim: str


class Denials:
    """One deployment of the plain template, whose function is asked to sweep again and again."""

    def __init__(self, cloud: LocalCloud, clients: Clients) -> None:
        self._clients, self._account = clients, cloud.account
        self._function, self._role, self._policy_name = "", "", ""
        self._health: list[dict[str, Any]] = []
        self._sweeps = 0
        self._read: set[str] = set()

    def play(self, release: Path) -> dict[str, Said]:
        """By permission, under the empty name with every one, and by what is wrong with a policy."""
        make_resources(self._clients, KINDS[LOCALEMU.name])
        resources = find_resources(self._clients, self._account)
        volumes = [r for kind, r in resources if kind.name == "ebs_volume"]
        (self._victim,) = (volume for volume in volumes if volume.name == NAME)
        self._calm = next(volume for volume in volumes if volume.name != NAME)
        self._metrics = Metrics(self._clients, resources)
        self._metrics.put_past(lambda resource: resource.id == self._victim.id)
        outputs = deploy_plain(self._clients, release)
        self._function = _named(outputs, "SweepFunctionName")
        silence(self._clients, _named(outputs, "RuleName"))
        functions = self._clients("lambda")
        arn = functions.get_function_configuration(FunctionName=self._function)["Role"]
        self._role = arn.rpartition("/")[2]
        ((self._policy_name, policy),) = policy_of_role(self._clients, self._role).items()
        self._health = self._clients("cloudwatch").describe_alarms()["MetricAlarms"]
        said = {"": self._sweep(policy)}
        for action, _ in permissions(policy):
            if action in NOT_CALLED_HERE:
                continue
            if action == DELETES:
                # Any other sweep deletes an alarm that is over as soon as it may.
                put_alarm_of(self._clients, DEPLOYMENT, self._calm)
                self._sweep(policy)
                until("the alarm of what is well is over", lambda: self._over_for_s() > OVER_S)
            said[action] = self._sweep(without(policy, action))
        return said | {fault: self._sweep(wrong) for fault, wrong in planted(policy)}

    def _sweep(self, policy: Policy) -> Said:
        """One sweep by a function that starts anew, beside an alarm that is over and none of what is in danger."""
        self._metrics.put_until(time.time(), {self._victim.key: LEFT}, is_loaded=True)
        self._set_the_scene()
        self._clients("iam").put_role_policy(
            RoleName=self._role, PolicyName=self._policy_name, PolicyDocument=json.dumps(policy)
        )
        start_anew(self._clients, self._function)
        self._sweeps += 1
        answer: dict[str, Any] = invoke(self._clients, self._function, {})
        lines = self._read_log(problems=round(answer["Problems"]))
        parts = [line["part"] for line in lines if line.get("message") == "part failed"]
        # A kind that could never be listed is no failure of the sweep: it has an alarm of its own.
        parts += [f"list of {kind}" for line in lines for kind in line.get("not_listed", ())]
        told = [*self._made_alarms(), *self._raised(answer)]
        return Said(
            parts=tuple(sorted({_in_general(part) for part in parts})),
            told=tuple(sorted(told)),
            victim=self._became(answer),
        )

    def _set_the_scene(self) -> None:
        """No alarm of what is in danger, and no tag on the alarm of the heartbeat."""
        cloudwatch = self._clients("cloudwatch")
        alarms = [name for name in self._own_alarms() if self._calm.id not in name]
        if alarms:
            cloudwatch.delete_alarms(AlarmNames=alarms)
        for alarm in self._health:
            arn = alarm["AlarmArn"]
            tags = cloudwatch.list_tags_for_resource(ResourceARN=arn)["Tags"]
            if tags:
                keys = [tag["Key"] for tag in tags]
                cloudwatch.untag_resource(ResourceARN=arn, TagKeys=keys)

    def _read_log(self, *, problems: int) -> list[dict[str, Any]]:
        """What the last invocation has logged: every line that is new, once all have arrived.

        Lines of one millisecond come in any order, and not all at once.
        """
        group = f"/aws/lambda/{self._function}"
        logs = self._clients("logs")

        def new() -> dict[str, str]:
            try:
                pages = logs.get_paginator("filter_log_events")
                events = [e for page in pages.paginate(logGroupName=group) for e in page["events"]]
            except logs.exceptions.ResourceNotFoundException:
                events = []
            return {
                event["eventId"]: event["message"]
                for event in events
                if event["eventId"] not in self._read
            }

        lines = until(
            f"the log of sweep {self._sweeps}",
            lambda: whole_log(new().values(), problems=problems),
            progress=lambda: len(new()),
        )
        self._read |= new().keys()
        return lines or []

    def _over_for_s(self) -> float:
        """How long the alarm of what is well has been OK."""
        (alarm,) = self._clients("cloudwatch").describe_alarms(
            AlarmNames=[alarm_name("", self._calm.id, "critical", deployment=DEPLOYMENT)]
        )["MetricAlarms"]
        since = alarm["StateTransitionedTimestamp"].timestamp()
        return time.time() - since if alarm["StateValue"] == "OK" else 0.0

    def _own_alarms(self) -> list[str]:
        alarms = self._clients("cloudwatch").describe_alarms()["MetricAlarms"]
        names = [alarm["AlarmName"] for alarm in alarms]
        return [name for name in names if is_of(name, DEPLOYMENT)]

    def _made_alarms(self) -> Iterator[str]:
        """The alarms that the sweep made, the volume's among them, each with its topic."""
        for name in self._own_alarms():
            if self._calm.id not in name:
                parts = parse_alarm_name(name)
                own_id = name.split("/")[-2]
                subject = "the volume" if self._victim.id in name else IDS.sub("ID", own_id)
                is_page = parts is not None and parts.severity == "critical"
                yield f"{subject} ({'page' if is_page else 'notice'})"

    def _raised(self, answer: dict[str, Any]) -> Iterator[str]:
        """The stack's own alarms that these numbers raise, if five periods are the same."""
        values = {**answer, "SweepCompleted": float(answer["completed"])}
        for alarm in self._health:
            value = values.get(alarm.get("MetricName", ""))
            if value is None or alarm["Namespace"] != "Burstwatch":
                continue
            is_less = alarm["ComparisonOperator"].startswith("LessThan")
            if value < alarm["Threshold"] if is_less else value >= alarm["Threshold"]:
                topic = self._topic_of(alarm["AlarmActions"][0])
                yield f"{alarm['AlarmName'].removeprefix(f'burstwatch-{DEPLOYMENT}-')} ({topic})"

    def _became(self, answer: dict[str, Any]) -> str:
        if any(self._victim.id in name for name in self._own_alarms()):
            return "paged"
        in_danger = answer["ResourcesCritical"] + answer["ResourcesExhausted"]
        return (
            "critical" if in_danger else "unknown" if answer["ResourcesUnknown"] else "not listed"
        )

    def _topic_of(self, arn: str) -> str:
        attributes = self._clients("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
        return "page" if "critical" in attributes["DisplayName"] else "notice"


def whole_log(texts: Collection[str], *, problems: int) -> list[dict[str, Any]] | None:
    """The lines of one sweep; None until its end, its summary and a line for each problem have all arrived."""
    lines = [json.loads(text) for text in texts if text.startswith("{")]
    messages = [line.get("message") for line in lines]
    is_over = any(text.startswith("REPORT ") for text in texts)
    is_whole = is_over and "swept" in messages and messages.count("part failed") == problems
    return lines if is_whole else None


def planted(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Policies that are wrong as a mistake in the template would make them, beside those in which an action is missing."""
    text = json.dumps(policy)
    pattern, namespace = ":alarm:burstwatch.*/", '"cloudwatch:namespace": "Burstwatch"'
    yield "a prefix is too narrow", json.loads(text.replace(pattern, ":alarm:burstwatch.db-*/"))
    yield "a condition is too tight", json.loads(text.replace(namespace, namespace.lower()))


def _in_general(part: str) -> str:
    """A part without what differs from run to run: ids, and how far the volume is by now."""
    return re.sub(r"^event \w+", "event", IDS.sub("ID", part))


def _named(outputs: dict[str, str], name: str) -> str:
    (value,) = (value for key, value in outputs.items() if name in key)
    return value

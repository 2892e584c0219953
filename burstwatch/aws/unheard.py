"""Tells of what nobody would hear: a page that could not be made, a silenced alarm, a topic without subscribers.

Two alarms exist for that since the deployment, so a full quota of alarms cannot keep them away:
``not-paged`` sends to the topic ``page``, ``not-heard`` to ``notice``. A sweep writes into their
text who is concerned, then publishes their metric. While one of them is in alarm, CloudWatch sends nothing
about a further name. So the metric pauses until the alarm is OK, and the alarm then begins anew
with all names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.alarms import Alarm, fingerprint, read_tagged, write_members
from burstwatch.aws.deployment import count_subscribers
from burstwatch.aws.names import NAMESPACE, alarm_prefixes, deployment_dimensions
from burstwatch.aws.publish import datum
from burstwatch.aws.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.config import Config
from burstwatch.formatting import cut
from burstwatch.history.observations import Verdict
from burstwatch.messages.text import DESCRIPTION_LENGTH
from burstwatch.polling.unit import Problem

#: Topics and mute rules are asked about so often, and whenever an alarm is made.
HEARING_S = 3_600.0
NOT_PAGED, NOT_HEARD = "not-paged", "not-heard"
#: What each of the two alarms watches.
METRICS = {NOT_PAGED: "NotPaged", NOT_HEARD: "NotHeard"}
#: Which topic each of them sends to: what is wrong with one topic is told on the other.
TOLD_BY = {"page": NOT_HEARD, "notice": NOT_PAGED}
#: What PutMetricAlarm takes of what DescribeAlarms says.
KEPT = (
    "AlarmName",
    "ActionsEnabled",
    "OKActions",
    "AlarmActions",
    "MetricName",
    "Namespace",
    "Statistic",
    "Dimensions",
    "Period",
    "EvaluationPeriods",
    "DatapointsToAlarm",
    "Threshold",
    "ComparisonOperator",
    "TreatMissingData",
)


@dataclass(kw_only=True)
class Unheard:
    """What nobody would hear: a line of text by what it is about, for each of the two alarms.

    ``problems`` are for the log: what is not said there already.
    """

    lines: dict[str, dict[str, str]] = field(default_factory=lambda: {NOT_PAGED: {}, NOT_HEARD: {}})

    problems: list[Problem] = field(default_factory=list)
    #: Whether a topic or a mute rule is among them.
    is_deaf: bool = False

    def add_unmade(self, key: str, severity: Verdict, line: str) -> None:
        """Add a resource or a group whose alarm could not be made."""
        self.lines[NOT_PAGED if severity == "critical" else NOT_HEARD][key] = line

    def add(self, told_by: str, key: str, line: str) -> None:
        """Add what silences an alarm, which is a problem for the log too."""
        self.lines[told_by][key] = line
        self.problems.append(Problem(part=key, error=line))


def standby_name(deployment: str, name: str) -> str:
    """The name of an alarm that exists since the deployment."""
    return f"burstwatch-{deployment}-{name}"


def find_unheard(
    clients: Clients,
    alarms: Iterable[Alarm],
    unmade: Mapping[tuple[str, Verdict], str],
    config: Config,
    *,
    asks_topics: bool,
) -> Unheard:
    """Collect what nobody would hear. ``unmade`` has a line for each alarm that could not be made."""
    unheard = Unheard()
    for (resource_id, severity), line in unmade.items():
        unheard.add_unmade(resource_id, severity, line)
    _add_silenced(unheard, alarms)
    if asks_topics:
        _add_topics(unheard, clients, config)
        unheard.problems += _add_mutes(unheard, clients, alarm_prefixes(config.deployment))
    return unheard


def _add_silenced(unheard: Unheard, alarms: Iterable[Alarm]) -> None:
    """Add the alarms whose actions somebody has disabled."""
    for alarm in alarms:
        if not alarm.is_enabled:
            line = f"{alarm.name}: its actions are disabled, so it tells nobody"
            unheard.add(NOT_HEARD, alarm.name, line)


def _add_topics(unheard: Unheard, clients: Clients, config: Config) -> None:
    """Add the topics that are not there, or to which nobody has subscribed."""
    for topic, told_by in TOLD_BY.items():
        arn = getattr(config, f"{topic}_topic_arn")
        if not arn:
            continue
        try:
            confirmed, _ = count_subscribers(clients, arn)
            why = "" if confirmed else "it has no confirmed subscription"
        except AWS_ERRORS as error:
            why = describe_error(error)
        if why:
            line = f"topic {topic}: {why}, so its alarms reach nobody"
            unheard.add(told_by, f"topic {topic}", line)
            unheard.is_deaf = True


def _add_mutes(unheard: Unheard, clients: Clients, prefixes: Sequence[str]) -> list[Problem]:
    """Add the alarms with these prefixes that a mute rule mutes now. Returns what could not be read."""
    try:
        for rule, names in read_mutes(clients):
            for name in names:
                if name.startswith(tuple(prefixes)):
                    line = f"{name}: the mute rule {rule} mutes it"
                    unheard.add(NOT_HEARD, f"{rule} {name}", line)
                    unheard.is_deaf = True
    except (*AWS_ERRORS, KeyError) as error:
        return [Problem(part="mute rules", error=describe_error(error))]
    return []


def read_mutes(clients: Clients) -> list[tuple[str, list[str]]]:
    """The mute rules that are active now, with the names of the alarms that each mutes.

    Raises:
        one of AWS_ERRORS.
    """
    client = clients("cloudwatch")
    rules: list[tuple[str, list[str]]] = []
    request: dict[str, Any] = {"Statuses": ["ACTIVE"]}
    while True:
        page = client.list_alarm_mute_rules(**request)
        for summary in page.get("AlarmMuteRuleSummaries", ()):
            name = summary["AlarmMuteRuleArn"].rpartition(":")[2]
            rule = client.get_alarm_mute_rule(AlarmMuteRuleName=name)
            rules.append((name, rule.get("MuteTargets", {}).get("AlarmNames", [])))
        if not page.get("NextToken") or page["NextToken"] == request.get("NextToken"):
            return rules
        request["NextToken"] = page["NextToken"]


def tell_unheard(
    clients: Clients, unheard: Unheard, config: Config, *, now: float
) -> list[Problem]:
    """Write who is concerned into the two alarms, and raise them. Returns what failed."""
    problems = []
    for name, lines in unheard.lines.items():
        if lines:
            try:
                problems += _tell(clients, name, lines, config, now=now)
            except (*AWS_ERRORS, CutError, KeyError) as error:
                part = f"alarm {standby_name(config.deployment, name)}"
                problems.append(Problem(part=part, error=describe_error(error)))
    return problems


def _tell(
    clients: Clients, name: str, lines: Mapping[str, str], config: Config, *, now: float
) -> list[Problem]:
    full_name = standby_name(config.deployment, name)
    answer = clients("cloudwatch").describe_alarms(AlarmNames=[full_name])
    if not answer.get("MetricAlarms"):
        return [Problem(part=f"alarm {full_name}", error="it is not there: deploy the stack again")]
    item = answer["MetricAlarms"][0]
    known = read_tagged(clients, item["AlarmArn"])
    is_new = any(fingerprint(key) not in known for key in lines)
    problems: list[Problem] = []
    if item["StateValue"] == "ALARM" and is_new:
        return []  # it becomes OK, and is raised with all names then
    if is_new or item["StateValue"] != "ALARM":
        request = {key: item[key] for key in KEPT if key in item}
        request["AlarmDescription"] = _text(lines, item.get("AlarmDescription", ""))
        clients("cloudwatch").put_metric_alarm(**request)
        members = [fingerprint(key) for key in lines]
        problems += write_members(clients, full_name, item["AlarmArn"], members, before=known)
    value = datum(METRICS[name], deployment_dimensions(config.deployment), now, 1.0)
    clients("cloudwatch").put_metric_data(Namespace=NAMESPACE, MetricData=[value])
    return problems


def _text(lines: Mapping[str, str], before: str) -> str:
    """The lines, the first of them first; and what the alarm says whatever its cause, from the line ``ALARM:`` on."""
    always = before[before.find("ALARM: ") :] if "ALARM: " in before else before
    room = DESCRIPTION_LENGTH - len(always) - len(f"\nand {len(lines)} more\n")
    kept: list[str] = []
    for line in lines.values():
        short = cut(" ".join(line.split()), max(1, min(room - 1, DESCRIPTION_LENGTH // 3)))
        if len(short) + 1 > room or room < len(line) // 2:
            break
        kept.append(short)
        room -= len(short) + 1
    more = [f"and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more, always])[:DESCRIPTION_LENGTH]

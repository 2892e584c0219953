"""Tells of what nobody would hear: a page that could not be made, a silenced alarm, a topic without subscribers.

Two alarms exist for that since the deployment, so a full quota of alarms cannot keep them away:
``not-paged`` sends to the topic ``page``, ``not-heard`` to ``notice``. A sweep writes into their
text who is concerned, then publishes their metric. While one of them is in alarm, CloudWatch sends nothing
about a further name. So the metric pauses until the alarm is OK, and the alarm then begins anew
with all names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.alarms.api import (
    Alarm,
    id_fingerprint,
    read_members,
    read_tags,
    tags_of,
    write_tags,
)
from burstwatch.aws.alarms.publish import datum
from burstwatch.aws.client.deployment import count_subscribers
from burstwatch.aws.client.names import (
    NAMESPACE,
    NOT_HEARD,
    NOT_PAGED,
    STANDBY_METRICS,
    deployment_dimensions,
    is_of,
    standby_name,
)
from burstwatch.aws.client.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.config import Config
from burstwatch.formatting import cut
from burstwatch.history.observations import Verdict
from burstwatch.messages.text import DESCRIPTION_LENGTH
from burstwatch.shards import Problem

#: Topics and mute rules are asked about so often, and whenever an alarm is made.
HEARING_S = 3_600.0
#: AWS's errors for an operation that does not exist.
NO_OPERATION = ("InvalidAction", "UnknownOperation", "unknown operation")
#: SNS's error for a topic that does not exist.
NO_TOPIC = "NotFound"
#: The alarm that tells what is wrong with a topic: it sends to the other topic.
TOLD_BY = {"page": NOT_HEARD, "notice": NOT_PAGED}
#: When a further name has asked the alarm to end for a moment, in unix seconds; no unit raises it for so long.
PAUSE_TAG, PAUSE_S = "burstwatch:pauses-since", 600.0
#: When its text was last written; for so long what other units and shards have written is current.
WRITTEN_TAG, CURRENT_S = "burstwatch:written-at", 180.0
#: Text of an OK that does not mean that all is well.
MORE = "This is no end: a further name follows, so the alarm ends for some minutes and begins anew."
#: Begins the part of the alarm's text that is the same whatever its cause; the names stand before it, and no line of them begins so.
ALWAYS = "ALARM: "
#: So long may a line be, and so long where there are more than a few: what it is of stands at its beginning.
LONGEST_LINE, LONGEST_OF_MANY, FEW = 240, 100, 3
_COUNT = re.compile(r"and \d+ more")
#: Fields of DescribeAlarms that PutMetricAlarm takes.
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
    """Lines of text for the two alarms on what nobody would hear, each by its subject.

    ``problems`` are for the log: what is not said there already.
    """

    lines: dict[str, dict[str, str]] = field(default_factory=lambda: {NOT_PAGED: {}, NOT_HEARD: {}})

    problems: list[Problem] = field(default_factory=list)
    #: True if a topic or a mute rule is among them.
    is_deaf: bool = False

    def add_unmade(self, key: str, severity: Verdict, line: str) -> None:
        """Add a resource or a group whose alarm could not be made."""
        self.lines[NOT_PAGED if severity == "critical" else NOT_HEARD][key] = line

    def add(self, told_by: str, key: str, line: str) -> None:
        """Add what silences an alarm, which is a problem for the log too."""
        self.lines[told_by][key] = line
        self.problems.append(Problem(part=key, error=line))


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
        unheard.problems += _add_mutes(unheard, clients, config.deployment)
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
        except (*AWS_ERRORS, KeyError) as error:
            why = describe_error(error)
            if NO_TOPIC not in why:  # it could not be asked: that says nothing of who hears it
                unheard.problems.append(Problem(part=f"topic {topic}", error=why))
                unheard.is_deaf = True
                continue
        if why:
            line = f"topic {topic}: {why}, so its alarms reach nobody"
            unheard.add(told_by, f"topic {topic}", line)
            unheard.is_deaf = True


def _add_mutes(unheard: Unheard, clients: Clients, deployment: str) -> list[Problem]:
    """Add the alarms of this deployment's sweeps that a mute rule mutes now. Returns what could not be read."""
    try:
        for rule, names in read_mutes(clients):
            for name in names:
                if is_of(name, deployment):
                    line = f"{name}: the mute rule {rule} mutes it"
                    unheard.add(NOT_HEARD, f"{rule} {name}", line)
                    unheard.is_deaf = True
    except (*AWS_ERRORS, KeyError) as error:
        if any(words in describe_error(error) for words in NO_OPERATION):
            return []  # a region whose CloudWatch has no mute rules
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
    """Write the lines of this sweep into one of the two alarms, beside those of other units and shards, and raise it."""
    full_name = standby_name(config.deployment, name)
    answer = clients("cloudwatch").describe_alarms(AlarmNames=[full_name])
    if not answer.get("MetricAlarms"):
        return [Problem(part=f"alarm {full_name}", error="it is not there: deploy the stack again")]
    item = answer["MetricAlarms"][0]
    tags = read_tags(clients, item["AlarmArn"])
    known_members, is_raised = read_members(tags), item["StateValue"] == "ALARM"
    is_new = any(id_fingerprint(key) not in known_members for key in lines)
    asked_s = float(tags.get(PAUSE_TAG) or "-inf")
    since = item.get("StateTransitionedTimestamp") or item["StateUpdatedTimestamp"]
    is_pausing = is_raised and since.timestamp() <= asked_s and now - asked_s <= PAUSE_S
    before = item.get("AlarmDescription", "")
    # Others may be concerned too: what they have written just now, or before the alarm was raised, stays.
    is_current = is_raised or now - float(tags.get(WRITTEN_TAG) or "-inf") <= CURRENT_S
    other_lines = _lines_of(before) if is_current else []
    members = {id_fingerprint(key) for key in lines} | (
        known_members if other_lines else frozenset()
    )
    # A line about the same subject is of an earlier sweep.
    subjects = {_subject_of(line) for line in lines.values()}
    told_before = [_subject_of(line) for line in _lines_of(before)]

    def place_of(key: str) -> int:
        """Where a line stands: those of whom nobody has been told yet come first, as there is not room for all."""
        if id_fingerprint(key) not in known_members:
            return -1
        subject = _subject_of(lines[key])
        return told_before.index(subject) if subject in told_before else len(told_before)

    lines_told = [
        *(lines[key] for key in sorted(lines, key=place_of)),
        *(line for line in other_lines if _subject_of(line) not in subjects),
    ]
    problems: list[Problem] = []
    if is_new or not is_raised:
        request = {key: item[key] for key in KEPT if key in item}
        note = [MORE] if is_raised else []
        request["AlarmDescription"] = _text([*note, *lines_told], before)
        clients("cloudwatch").put_metric_alarm(**request)
        stamps = {WRITTEN_TAG: f"{now:.0f}"} | ({PAUSE_TAG: f"{now:.0f}"} if is_raised else {})
        kept = {**tags_of(members, before=known_members), **stamps}
        problems = write_tags(clients, full_name, item["AlarmArn"], kept)
        is_pausing = is_raised and not problems
    if is_pausing:
        return problems  # it becomes OK, and is raised with all names then
    value = datum(STANDBY_METRICS[name], deployment_dimensions(config.deployment), now, 1.0)
    clients("cloudwatch").put_metric_data(Namespace=NAMESPACE, MetricData=[value])
    return problems


def _subject_of(line: str) -> str:
    """Return the subject of a line: the text before its colon."""
    return line.partition(": ")[0]


def _lines_of(text: str) -> list[str]:
    """The lines of an alarm's text about who is concerned."""
    head = text.removesuffix(_always(text))
    return [
        line for line in head.splitlines() if line and line != MORE and not _COUNT.fullmatch(line)
    ]


def _always(text: str) -> str:
    """The part of an alarm's text that is the same whatever its cause: from the last line on that begins like it."""
    at = f"\n{text}".rfind(f"\n{ALWAYS}")
    return text if at < 0 else text[at:]


def _text(lines: Sequence[str], before: str) -> str:
    """The lines, the first of them first; and what the alarm says whatever its cause, from ``ALARM:`` on."""
    always = _always(before)
    room = DESCRIPTION_LENGTH - len(always) - len(f"\nand {len(lines)} more\n")
    longest = LONGEST_LINE if len(lines) <= FEW else LONGEST_OF_MANY
    kept: list[str] = []
    for line in lines:
        short = cut(" ".join(line.split()), longest)
        if len(short) + 1 > room:
            break
        kept.append(short)
        room -= len(short) + 1
    more = [f"and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more, always])[:DESCRIPTION_LENGTH]

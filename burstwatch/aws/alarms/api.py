"""Per-resource alarms: made when needed, ended cleanly, reconciled with what is there.

An alarm watches ``Severity{Deployment,Kind,ResourceId}``, which the sweep itself publishes, so
that alarm and policy cannot disagree. The order matters: first the metric, then the
alarm, of the severity reached: *warning* to the topic ``notice``, *critical* to ``page``.
What is wanted of the alarms is decided in ``plan.py``; here it is asked and carried out.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from burstwatch.aws.client.names import (
    ALARM_PERIOD_S,
    ARRAY,
    NAMESPACE,
    SEVERITY_METRIC,
    AlarmName,
    group_of,
    parse_alarm_name,
    parts_of,
    resource_dimensions,
)
from burstwatch.aws.client.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.messages.timeline import Timeline, read_timeline
from burstwatch.shards import Problem

DELETE_BATCH = 100
#: As many as a page may have. All functions together may ask for nine pages a second.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html (2026-11)
ALARMS_PER_PAGE = 100
#: CloudWatch's error for an alarm that is to be deleted and does not exist.
GONE = "ResourceNotFound"
#: A resource's fingerprint in a tag: 30 bits of a hash of its id.
FINGERPRINT_LENGTH = 5
#: A tag's value has at most 256 characters, and an alarm at most 50 tags, of which others may need some.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Tag.html (2026-11)
MEMBERS_PER_TAG = 256 // FINGERPRINT_LENGTH
MOST_TAGS = 40
TAG = "burstwatch:stands-for-"


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """An alarm of ours as CloudWatch has it now. ``is_enabled`` is whether it tells anybody.

    ``members`` are the fingerprints of the resources that a mass alarm stands for, None where they could not be read.
    """

    name: str
    kind: str
    resource_id: str
    severity: Verdict
    state: str
    state_since: float
    is_enabled: bool
    timeline: Timeline
    arn: str = ""
    members: frozenset[str] | None = frozenset()

    @property
    def parts(self) -> AlarmName:
        """What its name says; raises ValueError for a name that sweeps do not give."""
        return parts_of(self.name)

    @property
    def is_array(self) -> bool:
        """True if it stands for the volumes of an array."""
        return group_of(self.resource_id).startswith(ARRAY)


def read_alarms(clients: Clients, *prefixes: str, deployment: str = "") -> list[Alarm]:
    """The alarms of a deployment, or of every one, whose names begin with one of these prefixes.

    Raises:
        one of AWS_ERRORS: the caller must not go on as if there were none.
    """
    paginator = clients("cloudwatch").get_paginator("describe_alarms")
    alarms = []
    for prefix in prefixes:
        pages = paginator.paginate(
            AlarmNamePrefix=prefix,
            AlarmTypes=["MetricAlarm"],
            PaginationConfig={"PageSize": ALARMS_PER_PAGE},
        )
        for page in pages:
            if "MetricAlarms" not in page:
                raise CutError(operation="DescribeAlarms")
            for item in page["MetricAlarms"]:
                name = parse_alarm_name(item["AlarmName"])
                # Other deployments have names of the same beginning, and people give names too.
                if name is not None and deployment in {"", name.deployment}:
                    alarms.append(_read_alarm(item, name))
    return alarms


def _read_alarm(item: Mapping[str, Any], name: AlarmName) -> Alarm:
    """One alarm of ``DescribeAlarms``."""
    dimensions = {d["Name"]: d["Value"] for d in item.get("Dimensions", ())}
    since = item.get("StateTransitionedTimestamp") or item["StateUpdatedTimestamp"]
    return Alarm(
        name=item["AlarmName"],
        kind=dimensions.get("Kind", ""),
        resource_id=dimensions.get("ResourceId", "").removeprefix(f"{name.foreign}/"),
        severity=name.severity,
        state=item["StateValue"],
        state_since=since.timestamp(),
        is_enabled=item.get("ActionsEnabled", True),
        timeline=read_timeline(
            item.get("AlarmDescription", ""),
            made_at=item["AlarmConfigurationUpdatedTimestamp"].timestamp(),
        ),
        arn=item.get("AlarmArn", ""),
    )


def read_tagged(clients: Clients, arn: str) -> frozenset[str]:
    """Ask for the fingerprints in the tags of an alarm.

    Raises:
        one of AWS_ERRORS.
    """
    return read_members(read_tags(clients, arn))


def read_tags(clients: Clients, arn: str) -> dict[str, str]:
    """Ask for the tags of an alarm.

    Raises:
        one of AWS_ERRORS.
    """
    answer = clients("cloudwatch").list_tags_for_resource(ResourceARN=arn)
    if "Tags" not in answer:
        raise CutError(operation="ListTagsForResource")
    return {tag["Key"]: tag["Value"] for tag in answer["Tags"]}


def write_members(
    clients: Clients, name: str, arn: str, members: Iterable[str], *, before: Iterable[str]
) -> list[Problem]:
    """Keep fingerprints in the tags of an alarm, in place of those ``before``. Returns what failed."""
    return write_tags(clients, name, arn, tags_of(members, before=before))


def write_tags(clients: Clients, name: str, arn: str, tags: Mapping[str, str]) -> list[Problem]:
    """Put tags on an alarm. Returns what failed."""
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    try:
        clients("cloudwatch").tag_resource(ResourceARN=arn, Tags=pairs)
    except AWS_ERRORS as error:
        return [Problem(part=f"tags of {name}", error=describe_error(error))]
    return []


def id_fingerprint(resource_id: str) -> str:
    """Thirty bits that stand for an id in a tag."""
    digest = sha256(resource_id.encode()).digest()
    return urlsafe_b64encode(digest).decode()[:FINGERPRINT_LENGTH]


def tags_of(members: Iterable[str], *, before: Iterable[str]) -> dict[str, str]:
    """The tags that keep these members; ``before`` were kept before. Beyond two thousand, the others have none."""
    fingerprints = sorted(members)[: MOST_TAGS * MEMBERS_PER_TAG]
    count = max(len(fingerprints), len(frozenset(before)))
    starts = range(0, max(1, count), MEMBERS_PER_TAG)
    return {
        f"{TAG}{number:02}": "".join(fingerprints[start : start + MEMBERS_PER_TAG])
        for number, start in enumerate(starts[:MOST_TAGS], start=1)
    }


def read_members(tags: Mapping[str, str]) -> frozenset[str]:
    """The members in the tags of a mass alarm."""
    values = [value for key, value in tags.items() if key.startswith(TAG)]
    return frozenset(
        value[start : start + FINGERPRINT_LENGTH]
        for value in values
        for start in range(0, len(value), FINGERPRINT_LENGTH)
    )


def alarm_request(
    name: str, subject: tuple[str, str], text: str, severity: Verdict, config: Config
) -> dict[str, Any]:
    """The whole PutMetricAlarm request. ``subject`` is a kind and a resource's id."""
    foreign = parts_of(name).foreign
    topic = config.page_topic_arn if severity == "critical" else config.notice_topic_arn
    actions = [topic] if topic else []
    return {
        "AlarmName": name,
        "AlarmDescription": text,
        "ActionsEnabled": True,
        "AlarmActions": actions,
        "OKActions": actions,
        "Namespace": NAMESPACE,
        "MetricName": SEVERITY_METRIC,
        "Dimensions": resource_dimensions(config, *subject, foreign=foreign),
        "Statistic": "Maximum",
        "Period": ALARM_PERIOD_S,
        "EvaluationPeriods": 1,
        "DatapointsToAlarm": 1,
        "Threshold": float(SEVERITY[severity]),
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        # A gap in our own metric says nothing about the disk: hold the state.
        "TreatMissingData": "ignore",
    }


def delete_alarms(clients: Clients, names: Iterable[str]) -> list[Problem]:
    """Delete by name; when a batch is refused, one by one. Returns a problem for each that is still there."""
    names = list(names)
    problems = []
    for start in range(0, len(names), DELETE_BATCH):
        batch = names[start : start + DELETE_BATCH]
        try:
            clients("cloudwatch").delete_alarms(AlarmNames=batch)
        except AWS_ERRORS:
            for name in batch:
                try:
                    clients("cloudwatch").delete_alarms(AlarmNames=[name])
                except AWS_ERRORS as error:
                    if GONE in describe_error(error):
                        continue  # another sweep has deleted it in the meantime
                    problems.append(Problem(part=f"delete {name}", error=describe_error(error)))
    return problems

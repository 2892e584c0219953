"""Per-resource alarms: made when needed, ended cleanly, reconciled with what is there.

An alarm watches ``Severity{Deployment,Kind,ResourceId}``, which the sweep itself publishes, so
that alarm and policy cannot disagree. The order matters: first the metric, then the
alarm, of the severity reached: *warning* to the topic ``notice``, *critical* to ``page``.
What is wanted of the alarms is decided in ``plan.py``; here it is asked and carried out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from burstwatch.aws.names import (
    ALARM_PERIOD_S,
    ALARMED,
    NAMESPACE,
    SEVERITY_METRIC,
    foreign_of,
    resource_dimensions,
)
from burstwatch.aws.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.config import Config
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.messages.timeline import Timeline, read_timeline
from burstwatch.polling.unit import Problem

DELETE_BATCH = 100
#: As many as a page may have. All functions together may ask for nine pages a second.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html (2026-11)
ALARMS_PER_PAGE = 100
#: What CloudWatch says of the alarm that is to be deleted and is not there.
GONE = "ResourceNotFound"


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """An alarm of ours as CloudWatch has it now. ``is_enabled`` is whether it tells anybody."""

    name: str
    kind: str
    resource_id: str
    severity: Verdict
    state: str
    state_since: float
    is_enabled: bool
    timeline: Timeline


def read_alarms(clients: Clients, prefix: str) -> list[Alarm]:
    """Our alarms, by prefix.

    Raises:
        one of AWS_ERRORS: the caller must not go on as if there were none.
    """
    paginator = clients("cloudwatch").get_paginator("describe_alarms")
    alarms = []
    pages = paginator.paginate(
        AlarmNamePrefix=prefix,
        AlarmTypes=["MetricAlarm"],
        PaginationConfig={"PageSize": ALARMS_PER_PAGE},
    )
    for page in pages:
        if "MetricAlarms" not in page:
            raise CutError(operation="DescribeAlarms")
        for item in page["MetricAlarms"]:
            severity = next((s for s in ALARMED if item["AlarmName"].endswith(f"/{s}")), None)
            if severity is None:
                continue  # no name that we give
            dimensions = {d["Name"]: d["Value"] for d in item.get("Dimensions", ())}
            resource_id = dimensions.get("ResourceId", "")
            since = item.get("StateTransitionedTimestamp") or item["StateUpdatedTimestamp"]
            alarms.append(
                Alarm(
                    name=item["AlarmName"],
                    kind=dimensions.get("Kind", ""),
                    resource_id=resource_id.removeprefix(f"{foreign_of(item['AlarmName'])}/"),
                    severity=severity,
                    state=item["StateValue"],
                    state_since=since.timestamp(),
                    is_enabled=item.get("ActionsEnabled", True),
                    timeline=read_timeline(
                        item.get("AlarmDescription", ""),
                        made_at=item["AlarmConfigurationUpdatedTimestamp"].timestamp(),
                    ),
                )
            )
    return alarms


def alarm_request(
    name: str, subject: tuple[str, str], text: str, severity: Verdict, config: Config
) -> dict[str, Any]:
    """The whole PutMetricAlarm request. ``subject`` is a kind and a resource's id."""
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
        "Dimensions": resource_dimensions(config, *subject, foreign=foreign_of(name)),
        "Statistic": "Maximum",
        "Period": ALARM_PERIOD_S,
        "EvaluationPeriods": 1,
        "DatapointsToAlarm": 1,
        "Threshold": float(SEVERITY[severity]),
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        # A gap in our own metric says nothing about the disk: hold the state.
        "TreatMissingData": "ignore",
    }


def check_topics(clients: Clients, config: Config) -> list[Problem]:
    """The topics that alarms go to and that are not there: CloudWatch itself says nothing of it."""
    problems = []
    for name in ("page", "notice"):
        arn = getattr(config, f"{name}_topic_arn")
        if not arn:
            continue
        try:
            clients("sns").get_topic_attributes(TopicArn=arn)
        except AWS_ERRORS as error:
            problems.append(Problem(part=f"topic {name}", error=describe_error(error)))
    return problems


def delete_alarms(clients: Clients, names: Iterable[str]) -> list[Problem]:
    """Delete by name; when a batch is refused, one by one. Returns what failed."""
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
                        continue  # as was wanted: another sweep was quicker
                    problems.append(Problem(part=f"delete {name}", error=describe_error(error)))
    return problems

"""Per-resource alarms: made when needed, ended cleanly, reconciled with what is there.

An alarm watches ``Severity{Kind,ResourceId}``, which the sweep itself publishes, so
that alarm and policy cannot disagree. The order matters: first the metric, then the
alarm, of the severity reached: *warning* to the topic ``notice``, *critical* to ``page``.
At the end what is less is published until the alarm has been OK for two minutes, so
that a pager sees the recovery, and only then is it deleted. Nothing is remembered
between sweeps: what alarms there are is asked, not assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstwatch.aws.session import AWS_ERRORS, Problem, describe_error
from burstwatch.messages import alarm_description
from burstwatch.policy import SEVERITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstwatch.aws.look import Look
    from burstwatch.aws.session import Clients, Unit
    from burstwatch.config import Config
    from burstwatch.observe import Resource
    from burstwatch.policy import Assessment, Verdict

NAMESPACE = "Burstwatch"
SEVERITY_METRIC = "Severity"
#: The severities that have an alarm of their own, most urgent first.
ALARMED: tuple[Verdict, ...] = ("critical", "warning")
#: An alarm looks at one whole minute.
ALARM_PERIOD_S = 60
#: How long an alarm must have been OK before it is deleted.
QUIET_S = 2.0 * ALARM_PERIOD_S
#: PutMetricAlarm is limited to 3 calls a second and account; a sweep takes this many at most.
MOST_NEW_ALARMS = 50
DELETE_BATCH = 100


def alarm_prefix(deployment: str) -> str:
    """What the names of all alarms that sweeps of this deployment make begin with."""
    return f"burstwatch/{deployment}/"


def alarm_name(config: Config, unit: Unit, resource: Resource, severity: Verdict) -> str:
    """``burstwatch/<deployment>/<account>/<region>/<kind>/<resource-id>/<severity>``."""
    return f"{alarm_prefix(config.deployment)}{unit}/{resource.kind}/{resource.id}/{severity}"


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """An alarm of ours as CloudWatch has it now."""

    name: str
    kind: str
    resource_id: str
    severity: Verdict
    state: str
    state_since: float


def read_alarms(clients: Clients, prefix: str) -> list[Alarm]:
    """Our alarms, by prefix.

    Raises:
        one of AWS_ERRORS: the caller must not go on as if there were none.
    """
    paginator = clients("cloudwatch").get_paginator("describe_alarms")
    alarms = []
    for page in paginator.paginate(AlarmNamePrefix=prefix, AlarmTypes=["MetricAlarm"]):
        for item in page["MetricAlarms"]:
            severity = next((s for s in ALARMED if item["AlarmName"].endswith(f"/{s}")), None)
            if severity is None:
                continue  # no name that we give
            dimensions = {d["Name"]: d["Value"] for d in item.get("Dimensions", ())}
            since = item.get("StateTransitionedTimestamp") or item["StateUpdatedTimestamp"]
            alarms.append(
                Alarm(
                    name=item["AlarmName"],
                    kind=dimensions.get("Kind", ""),
                    resource_id=dimensions.get("ResourceId", ""),
                    severity=severity,
                    state=item["StateValue"],
                    state_since=since.timestamp(),
                )
            )
    return alarms


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep wants of the alarms. Pure: made by ``plan_alarms`` and then carried out.

    ``severities`` are to be published by (kind, resource id), before ``create``, which
    are resource ids with the severity that each has reached.
    """

    severities: dict[tuple[str, str], int]
    create: tuple[tuple[str, Verdict], ...]
    delete: tuple[str, ...]
    postponed: int


def plan_alarms(found: Look, alarms: Iterable[Alarm], *, now: float) -> Plan:
    """Compare what should be with what is.

    An *unknown* resource is left exactly as it is: nothing published, nothing
    deleted. A resource that is gone ends its alarm only if the inventory is whole.
    """
    by_resource: dict[str, list[Alarm]] = {}
    for alarm in alarms:
        by_resource.setdefault(alarm.resource_id, []).append(alarm)
    severities: dict[tuple[str, str], int] = {}
    create: list[tuple[str, Verdict]] = []
    delete: list[str] = []
    for resource_id, (resource, assessment) in found.assessments.items():
        there = by_resource.pop(resource_id, [])
        if assessment.verdict == "unknown":
            continue
        severity = SEVERITY[assessment.verdict]
        if severity > 0 or there:
            severities[resource.kind, resource_id] = severity
        reached = next((one for one in ALARMED if severity >= SEVERITY[one]), None)
        if reached is not None and reached not in {alarm.severity for alarm in there}:
            create.append((resource_id, reached))
        over = [alarm for alarm in there if severity < SEVERITY[alarm.severity]]
        delete += [alarm.name for alarm in over if _is_over(alarm, now)]
    for alarm in (one for some in by_resource.values() for one in some):
        if alarm.kind in found.complete:
            severities[alarm.kind, alarm.resource_id] = 0
            if _is_over(alarm, now):
                delete.append(alarm.name)
    # Most urgent first, should there be more than may be made at once.
    create.sort(key=lambda one: (ALARMED.index(one[1]), _urgency(found.assessments[one[0]][1])))
    return Plan(
        severities=severities,
        create=tuple(create[:MOST_NEW_ALARMS]),
        delete=tuple(delete),
        postponed=max(0, len(create) - MOST_NEW_ALARMS),
    )


def create_alarms(
    clients: Clients, found: Look, plan: Plan, config: Config
) -> tuple[list[tuple[str, Verdict]], list[Problem]]:
    """Make the planned alarms. Returns those that were made, and what failed."""
    made, problems = [], []
    for resource_id, severity in plan.create:
        resource, assessment = found.assessments[resource_id]
        try:
            request = alarm_request(found.unit, resource, assessment, severity, config)
            clients("cloudwatch").put_metric_alarm(**request)
            made.append((resource_id, severity))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others their page
            problems.append(
                Problem(part=f"{severity} alarm of {resource_id}", error=describe_error(error))
            )
    return made, problems


def alarm_request(
    unit: Unit, resource: Resource, assessment: Assessment, severity: Verdict, config: Config
) -> dict[str, Any]:
    """The whole PutMetricAlarm request."""
    topic = config.page_topic_arn if severity == "critical" else config.notice_topic_arn
    actions = [topic] if topic else []
    return {
        "AlarmName": alarm_name(config, unit, resource, severity),
        "AlarmDescription": alarm_description(resource, assessment),
        "ActionsEnabled": True,
        "AlarmActions": actions,
        "OKActions": actions,
        "Namespace": NAMESPACE,
        "MetricName": SEVERITY_METRIC,
        "Dimensions": resource_dimensions(resource.kind, resource.id),
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
                    problems.append(Problem(part=f"delete {name}", error=describe_error(error)))
    return problems


def resource_dimensions(kind: str, resource_id: str) -> list[dict[str, str]]:
    """The dimensions of everything published about one resource."""
    return [{"Name": "Kind", "Value": kind}, {"Name": "ResourceId", "Value": resource_id}]


def _is_over(alarm: Alarm, now: float) -> bool:
    return alarm.state == "OK" and now - alarm.state_since >= QUIET_S


def _urgency(assessment: Assessment) -> float:
    worst = assessment.projection.worst_s
    return worst if worst is not None else 0.0

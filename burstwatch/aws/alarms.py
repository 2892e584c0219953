"""Per-resource alarms: made when needed, ended cleanly, reconciled with what is there.

An alarm watches ``Severity{Kind,ResourceId}``, which the sweep itself publishes, so
that alarm and policy cannot disagree. The order matters: first the metric, then the
alarm, of the severity reached: *warning* to the topic ``notice``, *critical* to ``page``.
What is wanted of the alarms is decided in ``plan.py``; here it is asked and carried out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstwatch.aws.session import AWS_ERRORS, Problem, describe_error
from burstwatch.messages import alarm_description, mass_description
from burstwatch.policy import SEVERITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstwatch.aws.look import Look
    from burstwatch.aws.plan import Plan
    from burstwatch.aws.session import Clients, Unit
    from burstwatch.config import Config
    from burstwatch.policy import Verdict
    from burstwatch.shard import Shard

NAMESPACE = "Burstwatch"
SEVERITY_METRIC = "Severity"
#: The severities that have an alarm of their own, most urgent first.
ALARMED: tuple[Verdict, ...] = ("critical", "warning")
#: An alarm looks at one whole minute.
ALARM_PERIOD_S = 60
#: The kind of the alarm that stands for many resources, and its dimension with that name.
MASS = "mass"
#: The kind of the alarm of a fire drill.
DRILL = "drill"
DELETE_BATCH = 100
#: What CloudWatch says of the alarm that is to be deleted and is not there.
GONE = "ResourceNotFound"


#: What the names of all alarms of all deployments begin with.
EVERY_ALARM = "burstwatch/"


def alarm_prefix(deployment: str) -> str:
    """What the names of all alarms that sweeps of this deployment make begin with."""
    return f"{EVERY_ALARM}{deployment}/"


def alarm_name(config: Config, unit: Unit, subject: tuple[str, str], severity: Verdict) -> str:
    """``burstwatch/<deployment>/<account>/<region>/<kind>/<resource-id>/<severity>``.

    The mass alarm of a unit has no resource in its name, but its shard if it has any.
    """
    kind, resource_id = subject
    what = (
        f"{MASS}{resource_id.removeprefix(str(unit))}" if kind == MASS else f"{kind}/{resource_id}"
    )
    return f"{alarm_prefix(config.deployment)}{unit}/{what}/{severity}"


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """An alarm of ours as CloudWatch has it now."""

    name: str
    kind: str
    resource_id: str
    severity: Verdict
    state: str
    state_since: float
    made_at: float


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
                    made_at=item["AlarmConfigurationUpdatedTimestamp"].timestamp(),
                )
            )
    return alarms


def create_alarms(
    clients: Clients, found: Look, plan: Plan, config: Config
) -> tuple[list[tuple[str, Verdict]], list[Problem]]:
    """Make the planned alarms, those of many first. Returns those made by id, and what failed."""
    made, problems = [], []
    for resource_id, severity in (*((MASS, one) for one in plan.mass), *plan.create):
        try:
            request = _request_for(found, plan, resource_id, severity, config)
            clients("cloudwatch").put_metric_alarm(**request)
            made.append((resource_id, severity))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others their page
            problems.append(
                Problem(part=f"{severity} alarm of {resource_id}", error=describe_error(error))
            )
    return made, problems


def _request_for(
    found: Look, plan: Plan, resource_id: str, severity: Verdict, config: Config
) -> dict[str, Any]:
    if resource_id == MASS:
        subject = (MASS, part_name(found.unit, found.shard))
        briefs = [found.brief(one) for one in plan.named(severity)]
        text = mass_description(
            briefs, len(plan.crowd[severity]), where(found), severity, config.links
        )
    else:
        subject = (found.assessments[resource_id][0].kind, resource_id)
        text = alarm_description(found.brief(resource_id), config.links)
    return alarm_request(found.unit, subject, text, severity, config)


def alarm_request(
    unit: Unit, subject: tuple[str, str], text: str, severity: Verdict, config: Config
) -> dict[str, Any]:
    """The whole PutMetricAlarm request. ``subject`` is a kind and a resource's id."""
    topic = config.page_topic_arn if severity == "critical" else config.notice_topic_arn
    actions = [topic] if topic else []
    return {
        "AlarmName": alarm_name(config, unit, subject, severity),
        "AlarmDescription": text,
        "ActionsEnabled": True,
        "AlarmActions": actions,
        "OKActions": actions,
        "Namespace": NAMESPACE,
        "MetricName": SEVERITY_METRIC,
        "Dimensions": resource_dimensions(*subject),
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


def resource_dimensions(kind: str, resource_id: str) -> list[dict[str, str]]:
    """The dimensions of everything published about one resource."""
    return [{"Name": "Kind", "Value": kind}, {"Name": "ResourceId", "Value": resource_id}]


def unit_dimensions(unit: Unit, shard: Shard, config: Config) -> list[dict[str, str]]:
    """The dimensions of what is published about one unit, or about one shard of it."""
    return [
        {"Name": "Deployment", "Value": config.deployment},
        {"Name": "Unit", "Value": part_name(unit, shard)},
    ]


def where(found: Look) -> str:
    """What a look was at, for people."""
    unit, shard = found.unit, found.shard
    return str(unit) if shard.is_whole else f"{unit} (shard {shard} of it)"


def part_name(unit: Unit, shard: Shard) -> str:
    """``<account>/<region>``, and ``/<number>/<count>`` of a unit in shards."""
    return str(unit) if shard.is_whole else f"{unit}/{shard}"

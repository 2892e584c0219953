"""Audits the account's own static alarms on credits: which can never fire, which fire too late, which say nothing new.

Nothing is changed. What the alarm is judged by is its own definition, the resource that it watches, and the lowest
level of the last days.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from burstwatch.aws.alarms.api import ALARMS_PER_PAGE
from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    NEVER,
    AwsError,
    Clients,
    CutError,
    describe_error,
)
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.aws.inventory.listings import ItemListing
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.bucket import DAY_S, worst_time_to_empty
from burstwatch.config import Config
from burstwatch.forecast.margins import margins_of
from burstwatch.formatting import number, span
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from burstwatch.owner_tags import read_owner_tags
from burstwatch.polling.queries import Query
from burstwatch.shards import Problem

#: The result for one alarm, what is to be mended first at the front.
AuditResult: TypeAlias = Literal[
    "cannot fire",
    "tells nobody",
    "too late",
    "only money",
    "never near",
    "doubled",
    "useful",
    "not judged",
]
MEND_FIRST: tuple[AuditResult, ...] = get_args(AuditResult)
#: Names of alarms that burstwatch makes.
OWN_PREFIX = "burstwatch/"
#: Days whose lowest level is looked at; a level that stayed above this share was never near any alarm.
LOOK_BACK_DAYS, NEVER_NEAR = 14, 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditedAlarm:
    """One static alarm with its result and the reason in words.

    ``left_s`` is what a full burst leaves from the moment it fires until the bucket is empty, None where that is not
    known; less than 0 where the bucket is empty before.
    """

    name: str
    resource_id: str
    watches: str
    result: AuditResult
    why: str
    left_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticAlarm:
    """An alarm of the account on a metric of credits, as CloudWatch describes it."""

    kind: Kind
    definition: Mapping[str, Any]
    metric: str
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        """The alarm's name."""
        return str(self.definition["AlarmName"])

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the metric that it watches."""
        return f"{self.kind.namespace} {' '.join(self.values)}", self.metric

    @property
    def threshold(self) -> float:
        """The value that it compares the level with."""
        return float(self.definition["Threshold"])

    @property
    def fires_below(self) -> bool:
        """True if it fires when the level falls."""
        return str(self.definition["ComparisonOperator"]).startswith("LessThan")

    @property
    def delay_s(self) -> float:
        """The seconds of datapoints that it needs before it fires."""
        needed = self.definition.get("DatapointsToAlarm", self.definition["EvaluationPeriods"])
        return float(self.definition["Period"]) * float(needed)

    @property
    def watches(self) -> str:
        """The condition in words, such as ``BurstBalance < 20``."""
        signs = {
            "LessThanThreshold": "<",
            "LessThanOrEqualToThreshold": "<=",
            "GreaterThanThreshold": ">",
            "GreaterThanOrEqualToThreshold": ">=",
        }
        sign = signs.get(self.definition["ComparisonOperator"], "beyond")
        return f"{self.metric} {sign} {number(self.threshold)}"


def read_static_alarms(clients: Clients, kinds: Sequence[Kind]) -> tuple[list[StaticAlarm], bool]:
    """The account's alarms on one metric of credits each; and if burstwatch has alarms here.

    Raises:
        AwsError: if they cannot be listed.
    """
    alarms: list[StaticAlarm] = []
    has_own = False
    try:
        paginator = clients("cloudwatch").get_paginator("describe_alarms")
        pages = paginator.paginate(
            AlarmTypes=["MetricAlarm"], PaginationConfig={"PageSize": ALARMS_PER_PAGE}
        )
        for page in pages:
            if "MetricAlarms" not in page:
                raise CutError(operation="DescribeAlarms")
            for definition in page["MetricAlarms"]:
                if definition["AlarmName"].startswith(OWN_PREFIX):
                    has_own = True
                    continue
                alarm = _static_alarm(definition, kinds)
                alarms += [alarm] if alarm else []
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    return alarms, has_own


def _static_alarm(definition: Mapping[str, Any], kinds: Sequence[Kind]) -> StaticAlarm | None:
    """The alarm if it watches one level of one resource; None for any other, such as one on a query."""
    metric, dimensions = definition.get("MetricName"), definition.get("Dimensions", ())
    value_by_name = {dimension["Name"]: dimension["Value"] for dimension in dimensions}
    for kind in kinds:
        is_of_kind = definition.get("Namespace") == kind.namespace and metric in kind.level_metrics
        if is_of_kind and value_by_name.keys() == set(kind.dimensions):
            values = tuple(value_by_name[name] for name in kind.dimensions)
            return StaticAlarm(kind=kind, definition=definition, metric=metric or "", values=values)
    return None


def audit_alarms(
    clients: Clients, kinds: Sequence[Kind], *, now: float
) -> tuple[list[AuditedAlarm], list[Problem]]:
    """Audit every static alarm on credits, with what could not be read.

    Raises:
        AwsError: if the alarms cannot be listed.
    """
    alarms, has_own = read_static_alarms(clients, kinds)
    kinds_used = [kind for kind in kinds if any(alarm.kind is kind for alarm in alarms)]
    listed: ItemListing = {}
    problems: list[Problem] = []
    by_values: dict[tuple[str, tuple[str, ...]], list[Resource]] = {}
    whole: set[str] = set()
    for kind in kinds_used:
        inventory = take_inventory(kind, clients, clients.unit(), now=now, listed=listed)
        problems += inventory.problems
        whole |= {kind.name} if inventory.complete and not inventory.refused else set()
        for resource in inventory.resources:
            values = tuple(value for _, value in kind.dimensions_of(resource))
            by_values.setdefault((kind.name, values), []).append(resource)
    lowest, failed = _lowest_levels(clients, alarms, now=now)
    problems += failed
    audited = [
        judge_alarm(
            alarm,
            by_values.get((alarm.kind.name, alarm.values), []),
            lowest=lowest.get(alarm.key),
            is_listed_whole=alarm.kind.name in whole,
            has_own=has_own,
        )
        for alarm in alarms
    ]
    return sorted(audited, key=lambda entry: (MEND_FIRST.index(entry.result), entry.name)), problems


def _lowest_levels(
    clients: Clients, alarms: Sequence[StaticAlarm], *, now: float
) -> tuple[dict[tuple[str, str], float], list[Problem]]:
    """The lowest value of each alarm's metric in the last days, absent where there is none; and what failed."""
    queries = [
        Query(
            namespace=alarm.kind.namespace,
            metric=alarm.metric,
            dimensions=tuple(zip(alarm.kind.dimensions, alarm.values, strict=True)),
            resource_id=alarm.key[0],
            statistic="Minimum",
        )
        for alarm in alarms
    ]
    answers = read_metrics(
        clients,
        list(dict.fromkeys(queries)),
        start_s=now - LOOK_BACK_DAYS * DAY_S,
        end_s=now,
        period_s=int(DAY_S),
        deadline=NEVER,
        pace=Pace(),
    )
    lowest = {
        key: min(value for _, value in series) for key, series in answers.series.items() if series
    }
    return lowest, answers.problems


#: A result, its reason, and what a full burst leaves.
AuditJudgement: TypeAlias = tuple[AuditResult, str, float | None]


def judge_alarm(
    alarm: StaticAlarm,
    resources: Sequence[Resource],
    *,
    lowest: float | None,
    is_listed_whole: bool,
    has_own: bool,
) -> AuditedAlarm:
    """Judge one alarm by the buckets of the resource that it names.

    ``lowest`` is the lowest value of the last days, ``has_own`` if burstwatch has alarms in the account.
    """
    resource = next((r for r in resources if r.level_metric == alarm.metric), None)
    resource = resource or next(iter(resources), None)
    judgement: AuditJudgement
    if resource is None and not is_listed_whole:
        judgement = "not judged", "what it watches could not be listed", None
    elif resource is None and lowest is not None:
        why = f"AWS does not list what it watches, and published its level in the last {LOOK_BACK_DAYS} days"
        judgement = "not judged", why, None
    else:
        judgement = (
            _cannot_fire(alarm, resource)
            or _says_little(alarm, resource)
            or _by_time(alarm, resource, lowest=lowest, has_own=has_own)
        )
    result, why, left_s = judgement
    return AuditedAlarm(
        name=alarm.name,
        resource_id=alarm.values[0],
        watches=alarm.watches,
        result=result,
        why=why,
        left_s=left_s,
    )


def _cannot_fire(alarm: StaticAlarm, resource: Resource | None) -> AuditJudgement | None:
    """Tell why an alarm can never fire, if it cannot."""
    if resource is None:
        return "cannot fire", "what it watches is gone, or has no credits", None
    if resource.terms.not_watched:
        return "not judged", resource.terms.not_watched, None
    if resource.bucket is None:
        return "cannot fire", resource.terms.no_bucket_reason, None
    least = 0.0 if alarm.definition["ComparisonOperator"] == "LessThanThreshold" else -1e-9
    if alarm.fires_below and alarm.threshold <= least:
        return "cannot fire", "the level is never under 0", None
    return None


def _says_little(alarm: StaticAlarm, resource: Resource | None) -> AuditJudgement | None:
    """Tell why an alarm that fires helps nobody, or cannot be judged, if so."""
    definition = alarm.definition
    if not definition.get("ActionsEnabled", True) or not definition.get("AlarmActions"):
        return "tells nobody", "it has no action, or its actions are switched off", None
    if not alarm.fires_below:
        return "not judged", "it fires when the level rises", None
    if resource is not None and not resource.terms.is_throttled:
        return "only money", "at zero nothing slows down, and AWS charges for the surplus", None
    if resource is not None and not resource.terms.is_sized:
        return "not judged", "how fast the bucket empties is not known here", None
    return None


def _by_time(
    alarm: StaticAlarm, resource: Resource | None, *, lowest: float | None, has_own: bool
) -> AuditJudgement:
    """Judge an alarm that can fire by what a full burst leaves from then on."""
    if resource is None or resource.bucket is None:
        return "not judged", "its bucket is not known", None
    ratio = min(1.0, alarm.kind.to_ratio(resource, alarm.threshold))
    left_s = worst_time_to_empty(resource.bucket, level=ratio * resource.bucket.capacity)
    left_s -= alarm.delay_s
    margin_s = margins_of(resource, Config()).page_s
    if left_s < margin_s:
        when = f"{span(left_s)} before" if left_s > 0 else f"{span(-left_s)} after"
        why = f"at full burst it fires {when} the bucket is empty; {span(margin_s)} are needed"
        return "too late", why, left_s
    lowest_ratio = None if lowest is None else min(1.0, alarm.kind.to_ratio(resource, lowest))
    if lowest_ratio is not None and lowest_ratio >= NEVER_NEAR > ratio:
        why = f"never under {lowest_ratio:.0%} in {LOOK_BACK_DAYS} days"
        return "never near", why, left_s
    if has_own and read_owner_tags(resource.tags).watch:
        return "doubled", "burstwatch watches it too, and says how long is left", left_s
    return "useful", f"at full burst it fires {span(left_s)} before the bucket is empty", left_s

"""Reads the account's own alarms, and finds those that are about credits: on one metric, on an expression, in a composite."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from burstwatch.aws.alarms.api import ALARMS_PER_PAGE
from burstwatch.aws.client.names import parse_alarm_name
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, CutError, describe_error
from burstwatch.formatting import number
from burstwatch.kinds.base import Kind
from burstwatch.polling.queries import Query

#: An alarm as CloudWatch describes it.
Definition: TypeAlias = Mapping[str, Any]
#: How the namespaces of AWS's own metrics begin.
OF_AWS = "AWS/"
#: A metric that is meant to be of credits, also where it is misspelt.
OF_CREDITS = re.compile(r"burst|credit|(io|byte|iops|throughput)balance", re.IGNORECASE)
SIGNS = {
    "LessThanThreshold": "<",
    "LessThanOrEqualToThreshold": "<=",
    "GreaterThanThreshold": ">",
    "GreaterThanOrEqualToThreshold": ">=",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Definitions:
    """The metric alarms and the composite alarms of an account, without those of burstwatch; and if it has any here."""

    metric: tuple[Definition, ...]
    composite: tuple[Definition, ...]
    has_own: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """The one metric that an alarm watches, its dimensions, and how it is summed up."""

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str
    period_s: float

    @property
    def place(self) -> str:
        """The values of its dimensions, as they name what it watches."""
        return ", ".join(value for _, value in self.dimensions) or "no dimension"

    @property
    def query(self) -> Query:
        """The query for its lowest values."""
        return Query(
            namespace=self.namespace,
            metric=self.metric,
            dimensions=self.dimensions,
            resource_id=f"{self.namespace} {self.dimensions}",
            statistic="Minimum",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditAlarm:
    """An alarm that is about credits.

    ``watched`` is None where it watches more than one metric. ``kind`` is the one whose level it watches, of one
    resource; None for any other metric, of which ``meant`` may be the name that AWS has. ``is_charge`` is for the
    metric of what AWS charges for.
    """

    definition: Definition
    watched: Watched | None
    kind: Kind | None
    meant: str = ""
    is_charge: bool = False

    @property
    def name(self) -> str:
        """The alarm's name."""
        return str(self.definition["AlarmName"])

    @property
    def threshold(self) -> float | None:
        """The value that it compares with; None for a band."""
        threshold = self.definition.get("Threshold")
        return None if threshold is None else float(threshold)

    @property
    def fires_below(self) -> bool:
        """True if it fires when the level falls."""
        return str(self.definition["ComparisonOperator"]).startswith("LessThan")

    @property
    def delay_s(self) -> float:
        """The seconds of datapoints that it needs before it fires."""
        needed = self.definition.get("DatapointsToAlarm", self.definition["EvaluationPeriods"])
        return (self.watched.period_s if self.watched else 0.0) * float(needed)

    @property
    def watches(self) -> str:
        """The condition in words, such as ``BurstBalance < 20``."""
        subject = self.watched.metric if self.watched else "an expression"
        if self.threshold is None:
            return f"{subject} outside of a band"
        sign = SIGNS.get(self.definition["ComparisonOperator"], "beyond")
        return f"{subject} {sign} {number(self.threshold)}"

    def crosses(self, value: float) -> bool:
        """True if a value is beyond the threshold."""
        if self.threshold is None:
            return False
        is_equal = "OrEqualTo" in self.definition["ComparisonOperator"] and value == self.threshold
        is_beyond = value < self.threshold if self.fires_below else value > self.threshold
        return is_beyond or is_equal


def read_definitions(clients: Clients) -> Definitions:
    """The alarms of the account.

    Raises:
        AwsError: if they cannot be listed.
    """
    metric: list[Definition] = []
    composite: list[Definition] = []
    try:
        paginator = clients("cloudwatch").get_paginator("describe_alarms")
        pages = paginator.paginate(
            AlarmTypes=["MetricAlarm", "CompositeAlarm"],
            PaginationConfig={"PageSize": ALARMS_PER_PAGE},
        )
        for page in pages:
            if "MetricAlarms" not in page:
                raise CutError(operation="DescribeAlarms")
            metric += page["MetricAlarms"]
            composite += page.get("CompositeAlarms", ())
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    others = [alarm for alarm in metric if parse_alarm_name(alarm["AlarmName"]) is None]
    return Definitions(
        metric=tuple(others), composite=tuple(composite), has_own=len(others) < len(metric)
    )


def credit_alarm(definition: Definition, kinds: Sequence[Kind]) -> CreditAlarm | None:
    """The alarm if it is about credits; None for any other."""
    watched = _watched(definition)
    if watched is None:
        is_of_credits = any(OF_CREDITS.search(text) for text in _texts(definition))
        return (
            CreditAlarm(definition=definition, watched=None, kind=None) if is_of_credits else None
        )
    of_namespace = [kind for kind in kinds if kind.namespace == watched.namespace]
    names = {name for name, _ in watched.dimensions}
    for kind in of_namespace:
        if watched.metric in kind.level_metrics and names == set(kind.dimensions):
            return CreditAlarm(definition=definition, watched=watched, kind=kind)
    levels = {metric for kind in of_namespace for metric in kind.level_metrics}
    charges = {kind.charge_metric for kind in of_namespace if kind.charge_metric}
    loads = {metric for kind in of_namespace for metric in kind.metrics} - levels
    is_of_aws = watched.namespace.upper().startswith(OF_AWS)
    if not is_of_aws or not OF_CREDITS.search(watched.metric) or watched.metric in loads:
        return None
    known = levels | charges | loads
    close = get_close_matches(watched.metric, sorted(known), n=1)
    return CreditAlarm(
        definition=definition,
        watched=watched,
        kind=None,
        meant=close[0] if close and watched.metric not in known else "",
        is_charge=watched.metric in charges,
    )


def _watched(definition: Definition) -> Watched | None:
    """The one metric of an alarm, also where it stands in a list of one.

    None for an expression, a band, and a metric of another account.
    """
    if "MetricName" in definition:
        return Watched(
            namespace=definition.get("Namespace", ""),
            metric=definition["MetricName"],
            dimensions=_pairs(definition),
            statistic=definition.get("Statistic") or definition.get("ExtendedStatistic", ""),
            period_s=float(definition["Period"]),
        )
    queries = definition.get("Metrics", ())
    if len(queries) != 1 or "MetricStat" not in queries[0] or "AccountId" in queries[0]:
        return None
    stat = queries[0]["MetricStat"]
    return Watched(
        namespace=stat["Metric"].get("Namespace", ""),
        metric=stat["Metric"].get("MetricName", ""),
        dimensions=_pairs(stat["Metric"]),
        statistic=stat["Stat"],
        period_s=float(stat["Period"]),
    )


def _pairs(metric: Definition) -> tuple[tuple[str, str], ...]:
    """The dimensions of a metric as pairs, in the order of their names."""
    return tuple(sorted((each["Name"], each["Value"]) for each in metric.get("Dimensions", ())))


def _texts(definition: Definition) -> Iterator[str]:
    """The metrics and the expressions that an alarm on several of them is made of."""
    for query in definition.get("Metrics", ()):
        yield query.get("Expression", "")
        metric = query.get("MetricStat", {}).get("Metric", {})
        if metric.get("Namespace", "").upper().startswith(OF_AWS):
            yield metric.get("MetricName", "")

"""Questions about metrics and their answers, as plain data."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal, TypeAlias

from burstwatch.fixes.surplus import Charge
from burstwatch.history.observations import Resource
from burstwatch.history.points import Series
from burstwatch.kinds.base import DemandMetric, Kind
from burstwatch.shards import Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """One series of one resource. ``statistic`` is Minimum, Average or Sum."""

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]
    resource_id: str
    statistic: str

    @property
    def key(self) -> tuple[str, str]:
        """The key of its answer."""
        return self.resource_id, self.metric


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Queries to answer together: from ``back_s`` seconds ago until now, by ``period_s``."""

    queries: tuple[Query, ...]
    back_s: float
    period_s: int


#: Why nothing was answered: the budget was used up, a policy of the organisation forbids it, or anything else.
Failure: TypeAlias = Literal["unpaid", "forbidden", "unanswered"]


@dataclass(kw_only=True)
class Answers:
    """Series by (resource id, metric).

    A key that is missing was not answered, for the reason in ``failed``, which is of the sort in ``failures`` if it
    is a known one. An empty series is CloudWatch's own word that there is nothing.
    """

    series: dict[tuple[str, str], Series] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def level_query(kind: Kind, resource: Resource) -> Query:
    """The query for how much is left."""
    return _query(kind, resource, resource.level_metric, resource.reporting.statistic)


def demand_queries(kind: Kind, resource: Resource) -> list[Query]:
    """The queries for what is spent."""
    return [demand_query(kind, resource, metric) for metric in kind.demand_metrics]


def demand_query(kind: Kind, resource: Resource, metric: DemandMetric) -> Query:
    """The query for one metric of what is spent."""
    return _query(kind, resource, metric.name, metric.statistic)


def check_queries(kind: Kind, resource: Resource) -> list[Query]:
    """The queries for which limit is exceeded; none of a resource without such metrics."""
    return [
        Query(
            namespace=kind.namespace,
            metric=check.metric,
            dimensions=check.dimensions(resource),
            resource_id=resource.id,
            statistic="Average",
        )
        for check in kind.checks
        if check.dimensions(resource)
    ]


def charge_since(
    kind: Kind, resource: Resource, answers: "Answers", period_s: float
) -> Charge | None:
    """What AWS has charged for since the last start or change of a resource: before, it was for another load, or for the stop."""
    since_s = resource.reporting.history_from_s or 0.0
    return charge_of(kind, resource, answers, period_s, since_s=since_s)


def charge_queries(kind: Kind, resource: Resource) -> list[Query]:
    """The query for what AWS has charged for; none of a resource that is never charged for."""
    if not kind.may_be_charged(resource):
        return []
    return [_query(kind, resource, kind.charge_metric, "Sum")]


def charge_of(
    kind: Kind, resource: Resource, answers: "Answers", period_s: float, *, since_s: float = 0.0
) -> Charge | None:
    """What AWS has charged for in the time of the answer's datapoints, one each ``period_s``; None without any after ``since_s``."""
    points = answers.series.get((resource.id, kind.charge_metric), ())
    series = [(start, value) for start, value in points if start >= since_s]
    if not series:
        return None
    credits_charged = math.fsum(value for _, value in series)
    usd_credit = kind.usd_credit(resource)
    return Charge(
        credits=credits_charged,
        usd=None if usd_credit is None else credits_charged * usd_credit,
        lasts_s=series[-1][0] + period_s - series[0][0],
    )


def exceeded_shares(
    kind: Kind, resource: Resource, answers: "Answers", *, since_s: float = 0.0
) -> dict[str, float]:
    """The share of the time in which each limit was exceeded, by the limit in words; absent without a datapoint."""
    shares: dict[str, float] = {}
    for check in kind.checks:
        series = answers.series.get((resource.id, check.metric), ())
        values = [value for start, value in series if start >= since_s]
        if values:
            shares[check.limit] = check.exceeded_share(values)
    return shares


def _query(kind: Kind, resource: Resource, metric: str, statistic: str) -> Query:
    return Query(
        namespace=kind.namespace,
        metric=metric,
        dimensions=kind.dimensions_of(resource),
        resource_id=resource.id,
        statistic=statistic,
    )


def make_request(queries: Iterable[Query], *, back_s: float, period_s: int) -> Request:
    """A request without repetitions: two buckets of one resource share their demand."""
    return Request(queries=tuple(dict.fromkeys(queries)), back_s=back_s, period_s=period_s)


class Allowance:
    """A number of metrics to share. First come, first served."""

    def __init__(self, available: float = math.inf) -> None:
        """Less than nothing counts as nothing."""
        self._left, self._lock = max(0.0, available), Lock()
        self.is_limited = available < math.inf
        #: Metrics that were granted, and that were refused.
        self.taken = self.refused = 0

    @property
    def left(self) -> float:
        """The number that can still be taken, which may be infinite."""
        return self._left

    def refuse(self, count: int) -> None:
        """Count what is not even asked for, as there would not be enough."""
        with self._lock:
            self.refused += count

    def take(self, count: int) -> int:
        """As many of ``count`` as are left, which are now taken."""
        with self._lock:
            granted = int(min(count, self._left))
            self._left -= granted
            self.taken += granted
            self.refused += count - granted
        return granted

    def give_back(self, count: int) -> None:
        """Return what was taken and then not needed."""
        with self._lock:
            self._left += count
            self.taken -= count

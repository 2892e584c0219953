"""The questions of one look at one kind: levels first, I/O only where it matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from burstwatch.aws.metrics import Answers, Query, read_metrics
from burstwatch.cadence import cadence_s
from burstwatch.history import LOOK_BACK_S
from burstwatch.load import recent_load
from burstwatch.observe import Missing, Observation, observe
from burstwatch.past import PAST_PERIOD_S, to_past, with_recent
from burstwatch.points import LevelPoint
from burstwatch.policy import BACK_RATIO, WARNING_MARGINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.aws.session import Clients, Deadline
    from burstwatch.config import Config
    from burstwatch.kind import Kind
    from burstwatch.load import Load
    from burstwatch.observe import Resource
    from burstwatch.past import Past
    from burstwatch.points import DemandPoint
    from burstwatch.schedule import Schedule

PERIOD_S = 60
#: The period at which a silent resource's longer past is asked for.
COARSE_S = int(PAST_PERIOD_S)
#: How far back the past is asked for: the days that the risk is compared with, and one more.
PAST_S = 8 * 86_400.0
#: So many resources are asked for theirs at one look: what one call answers, as it is an extra.
PASTS_PER_LOOK = 10
#: So many resources that are not due are asked too when nothing due has fresh data.
WITNESSES = 10


class Asking:
    """The questions of one look at one kind: levels first, I/O only where it matters."""

    def __init__(
        self,
        kind: Kind,
        clients: Clients,
        config: Config,
        schedule: Schedule,
        *,
        now: float,
        deadline: Deadline,
    ) -> None:
        self.kind, self.clients, self.config = kind, clients, config
        self.schedule, self.now, self.deadline = schedule, now, deadline
        self.answers = Answers()
        self._looked_back_s: dict[str, float] = {}

    def observe(
        self, due: Sequence[Resource], witnesses: Sequence[Resource], *, demand_horizon_s: float
    ) -> list[Observation]:
        """Each of ``due`` with what CloudWatch has of it; ``witnesses`` tell silent from blind."""
        with_bucket = [r for r in due if r.bucket is not None and r.in_use]
        self._ask([self._level_query(r) for r in with_bucket])
        fresh = any(self._is_fresh(r) for r in with_bucket)
        if with_bucket and not fresh:
            asked = {r.key for r in with_bucket}
            others = [r for r in witnesses if r.bucket and r.in_use and r.key not in asked]
            self._ask([self._level_query(r) for r in others[:WITNESSES]])
            fresh = any(self._is_fresh(r) for r in others[:WITNESSES])
        if fresh:
            self._ask_further_back(with_bucket)
        glances = {r.key: self._observation(r, unit_is_fresh=fresh, newest_only=True) for r in due}
        worst = {key: self._worst_s(o) for key, o in glances.items()}
        wide_s = {r.key: WARNING_MARGINS * self.config.with_lead(r.lead_s).margin_s for r in due}
        full = {key for key, glance in glances.items() if self._is_full(glance)}
        # Where the worst case is but an estimate it is always near, and a full bucket safe.
        calm = set() if self.kind.capacity_documented else full
        near = [
            r
            for r in due
            if worst[r.key] < max(demand_horizon_s, wide_s[r.key]) and r.key not in calm
        ]
        self._ask([q for r in near for q in self._demand_queries(r)])
        # A full bucket has nothing to fear that the days before could tell of.
        drained = [r for r in near if worst[r.key] < wide_s[r.key] and r.key not in full]
        pasts, demands = self._pasts(drained), {r.key: self._demand(r) for r in near}
        return [
            self._observation(
                resource,
                unit_is_fresh=fresh,
                demand=demands.get(resource.key, ()),
                past=with_recent(pasts[resource.key], demands[resource.key])
                if resource.key in pasts
                else None,
            )
            for resource in due
        ]

    def _ask(
        self, queries: Sequence[Query], *, back_s: float = LOOK_BACK_S, period_s: int = PERIOD_S
    ) -> None:
        if not queries:
            return
        got = read_metrics(
            self.clients,
            list(dict.fromkeys(queries)),  # two buckets of one resource share their traffic
            start_s=self.now - back_s,
            end_s=self.now,
            period_s=period_s,
            deadline=self.deadline,
        )
        self.answers.series |= got.series
        self.answers.failed |= got.failed
        self.answers.problems += got.problems
        self.answers.requested += got.requested

    def _ask_further_back(self, resources: Sequence[Resource]) -> None:
        """A silent resource's last level decides how full it is by now, so look for it.

        As far back as an empty bucket takes to fill: before that, nothing matters.
        """
        silent = {
            resource.key: resource.bucket.capacity / resource.bucket.refill
            for resource in resources
            if resource.bucket is not None
            and not resource.reports_when_idle
            and self.answers.series.get(_level_key(resource)) == []
        }
        back_s = max(silent.values(), default=0.0)
        if back_s <= LOOK_BACK_S:
            return
        queries = [self._level_query(resource) for resource in resources if resource.key in silent]
        self._ask(queries, back_s=back_s, period_s=COARSE_S)
        answered = {r.key for r in resources if _level_key(r) in self.answers.series}
        self._looked_back_s = dict.fromkeys(silent.keys() & answered, back_s)

    def _query(self, resource: Resource, metric: str, statistic: str) -> Query:
        return Query(
            namespace=self.kind.namespace,
            metric=metric,
            dimension=self.kind.dimension,
            resource_id=resource.id,
            statistic=statistic,
        )

    def _level_query(self, resource: Resource) -> Query:
        return self._query(resource, resource.level_metric, resource.statistic)

    def _demand_queries(self, resource: Resource) -> list[Query]:
        return [self._query(resource, metric, "Sum") for metric in self.kind.traffic.metrics]

    def _is_fresh(self, resource: Resource) -> bool:
        series = self.answers.series.get(_level_key(resource), [])
        period_s = cadence_s([start for start, _ in series])
        oldest = self.now - self.config.max_data_age_s - 2 * period_s
        return bool(series) and series[-1][0] >= oldest

    def _observation(
        self,
        resource: Resource,
        *,
        unit_is_fresh: bool,
        demand: Sequence[DemandPoint] = (),
        past: Past | None = None,
        newest_only: bool = False,
    ) -> Observation:
        key = _level_key(resource)
        failure = self.answers.failed.get(key)
        if failure is not None:
            return Observation(resource=resource, at=self.now, missing=Missing(reason=failure))
        series = self.answers.series.get(key, [])
        further_back = resource.key in self._looked_back_s
        period_s = float(COARSE_S) if further_back else cadence_s([start for start, _ in series])
        levels = [
            LevelPoint(
                start_s=start,
                period_s=period_s,
                ratio=min(1.0, max(0.0, percent / 100)),
                statistic=resource.statistic,
            )
            for start, percent in (series[-1:] if newest_only else series)
        ]
        return observe(
            resource,
            self.now,
            levels,
            demand,
            past=past,
            unit_is_fresh=unit_is_fresh,
            looked_back_s=self._looked_back_s.get(resource.key, LOOK_BACK_S),
        )

    def _worst_s(self, observation: Observation) -> float:
        """The worst case by the newest level alone: what is further off needs no more questions."""
        history = observation.history
        if history is None or history.newest_level() < 0:
            return math.inf
        return history.worst_s() - history.level_age_s(observation.at)

    def _is_full(self, observation: Observation) -> bool:
        history = observation.history
        newest = -1 if history is None else history.newest_level()
        return history is not None and newest >= 0 and history.levels[newest] >= BACK_RATIO

    def _pasts(self, near: Sequence[Resource]) -> dict[str, Past]:
        """The I/O of the days before, of those near: asked for once an hour, kept in between."""
        stale = [r for r in near if self.schedule.past_is_stale(r, self.now)]
        stale = stale[:PASTS_PER_LOOK]
        asked = read_metrics(
            self.clients,
            list(dict.fromkeys(q for resource in stale for q in self._demand_queries(resource))),
            start_s=self.now - PAST_S,
            end_s=self.now,
            period_s=COARSE_S,
            deadline=self.deadline,
        )
        self.answers.problems += asked.problems
        self.answers.requested += asked.requested
        for resource in stale:
            if not self._keys(resource) & asked.failed.keys():
                past = to_past(self._points(resource, asked, float(COARSE_S)))
                self.schedule.keep_past(resource, past, self.now)
        found = {r.key: self.schedule.past_of(r) for r in near}
        return {key: past for key, past in found.items() if past is not None}

    def load(self, resource: Resource) -> Load | None:
        """The reads and writes of its last minutes, as far as they were asked for."""
        sums = self._sums(resource, self.answers)
        return recent_load(self.kind.traffic, sums, cadence_s(sorted(sums)))

    def _demand(self, resource: Resource) -> list[DemandPoint]:
        if self._keys(resource) & self.answers.failed.keys():
            return []  # half of the I/O would pass for all of it; the balance says enough
        return self._points(resource, self.answers, None)

    def _keys(self, resource: Resource) -> set[tuple[str, str]]:
        return {(resource.id, metric) for metric in self.kind.traffic.metrics}

    def _sums(self, resource: Resource, answers: Answers) -> dict[float, dict[str, float]]:
        sums: dict[float, dict[str, float]] = {}
        for metric in self.kind.traffic.metrics:
            for start, value in answers.series.get((resource.id, metric), []):
                sums.setdefault(start, {})[metric] = value
        return sums

    def _points(
        self, resource: Resource, answers: Answers, period_s: float | None
    ) -> list[DemandPoint]:
        sums = self._sums(resource, answers)
        period_s = period_s or cadence_s(sorted(sums))
        points = (self.kind.spent(resource, sums[start], start, period_s) for start in sorted(sums))
        return [point for point in points if point is not None]


def _level_key(resource: Resource) -> tuple[str, str]:
    """What the answer to its level's question is found under."""
    return resource.id, resource.level_metric

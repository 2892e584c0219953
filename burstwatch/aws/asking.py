"""The questions about some resources of one kind at one look: levels first, more where it matters.

What is asked for is billed by metric and not by datapoint, but datapoints have a quota and
cost time to read. So a balance is glanced at; where it is near, its last hours are asked
for, and the operations of the days before; and where somebody is about to be told, the
operations of those hours. What the last look saw is remembered, so that a silent resource
is not searched for anew.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from burstwatch.aws.metrics import Answers, Query, read_metrics
from burstwatch.ebs.load import recent_load
from burstwatch.forecast.policy import BACK_RATIO, SEVERITY, assess
from burstwatch.history.cadence import cadence_s
from burstwatch.history.history import LOOK_BACK_S
from burstwatch.history.levels import Levels, keep_levels
from burstwatch.history.observations import Missing, Observation, observe
from burstwatch.history.past import PAST_PERIOD_S, to_past, with_recent
from burstwatch.history.points import LevelPoint
from burstwatch.polling.depth import is_full, is_near, worst_now_s
from burstwatch.polling.schedule import LATEST_S, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from burstwatch.aws.round import Round
    from burstwatch.ebs.load import Load
    from burstwatch.forecast.policy import Assessment, Verdict
    from burstwatch.history.observations import Resource
    from burstwatch.history.past import Past
    from burstwatch.history.points import DemandPoint

PERIOD_S = 60
#: The period at which a silent resource's longer past is asked for.
COARSE_S = int(PAST_PERIOD_S)
#: Five datapoints of the slowest cadence: what tells it, and how late the newest is.
GLANCE_S = 5.0 * COARSE_S
#: How far back the past is asked for: the days that the risk is compared with, and one more.
PAST_S = 8 * 86_400.0
#: So many are asked for their I/O at once: what one call answers of four metrics and six hours.
PIECE = 69
#: So many datapoints of a full bucket tell what it spends at most.
FULL_POINTS = 6
PERCENT = 100.0


class Asking:
    """The questions about some resources of one kind, and what was answered."""

    def __init__(self, round_: Round, resources: Sequence[Resource]) -> None:
        self.round, self.resources = round_, resources
        self.kind, self.config, self.now = round_.kind, round_.config, round_.now
        self.schedule = round_.schedule
        self.answers = Answers()
        #: Those of which a glance said that their hours matter, by their keys.
        self.near: set[str] = set()
        self._horizon_s = round_.demand_horizon_s
        #: From when on each resource's level was asked for, by its key.
        self._from_s: dict[str, float] = {}
        #: What is known from before that, of those silent since.
        self._before: dict[str, Seen] = {}
        self._assessed: dict[str, Assessment] = {}

    def ask_levels(self) -> bool:
        """Ask for every balance. Returns whether any is fresh, which tells idle from blind."""
        depths: dict[float, list[Resource]] = {}
        for resource in self.resources:
            depths.setdefault(self._depth_s(resource), []).append(resource)
        for back_s, some in depths.items():
            self._ask_levels(some, back_s)
        for resource in self.resources:
            self._recall(resource)
        return any(self._is_fresh(resource) for resource in self.resources)

    def observe(self, *, unit_is_fresh: bool) -> Iterator[Observation]:
        """Each of the resources with what CloudWatch has of it, asked for as deep as it matters.

        What was asked of the I/O is kept only until the next few are asked for theirs.
        """
        if unit_is_fresh:
            self._ask_further_back()
        near: list[Resource] = []
        for resource in self.resources:
            newest = self._observation(resource, unit_is_fresh=unit_is_fresh, newest_only=True)
            if self._matters(newest):
                near.append(resource)
            else:
                yield self._observation(resource, unit_is_fresh=unit_is_fresh)
        self.near = {resource.key for resource in near}
        self._ask_levels([r for r in near if not self._is_deep(r)], LOOK_BACK_S)
        for first in range(0, len(near), PIECE):
            yield from self._observe_near(near[first : first + PIECE], unit_is_fresh=unit_is_fresh)

    def _observe_near(
        self, near: Sequence[Resource], *, unit_is_fresh: bool
    ) -> Iterator[Observation]:
        seen = {r.key: self._observation(r, unit_is_fresh=unit_is_fresh) for r in near}
        # A full bucket has nothing to fear that the days before could tell of.
        pasts = self._pasts([seen[r.key] for r in near if not is_full(seen[r.key])])
        seen |= {key: _with_past(seen[key], past) for key, past in pasts.items()}
        busy = [resource for resource in near if self._wants_io(seen[resource.key])]
        self._ask([query for resource in busy for query in self._demand_queries(resource)])
        for resource in busy:
            demand, past = self._demand(resource), pasts.get(resource.key)
            seen[resource.key] = self._observation(
                resource,
                unit_is_fresh=unit_is_fresh,
                demand=demand,
                past=None if past is None else with_recent(past, demand),
            )
        for resource in near:
            yield seen.pop(resource.key)
        for resource in busy:
            for key in self._keys(resource):
                self.answers.series.pop(key, None)

    def _wants_io(self, seen: Observation) -> bool:
        """Whether its I/O is worth its price: for what somebody is about to be told.

        A balance that falls tells what is spent as well as the I/O does. What that is made of,
        who is told of it must know.
        """
        if worst_now_s(seen) < self._horizon_s:
            return True
        key, assessment = seen.resource.key, assess(seen, self.config)
        known = self.schedule.last_look(seen.resource)
        severity = _alarmed(assessment.verdict)
        if severity and (known is None or severity != _alarmed(known.assessment.verdict)):
            return True
        self._assessed[key] = assessment
        return False

    def assess(self, seen: Observation) -> Assessment:
        """What to make of one that was observed, if that is not known already."""
        return self._assessed.pop(seen.resource.key, None) or assess(seen, self.config)

    def load(self, resource: Resource) -> Load | None:
        """The reads and writes of its last minutes, as far as they were asked for."""
        sums = self._sums(resource, self.answers)
        return recent_load(self.kind.traffic, sums, cadence_s(sorted(sums)))

    def seen(self, resource: Resource, *, unit_is_fresh: bool) -> Seen | None:
        """What the next look need not ask for again."""
        series = self._series(resource)
        if series:
            newest = self._level(resource, series[-1], cadence_s([start for start, _ in series]))
            return Seen(newest=newest, since_s=newest.end_s, until_s=self.now)
        before = self._before.get(resource.key)
        if series is not None and unit_is_fresh and before is not None:
            return Seen(newest=before.newest, since_s=before.since_s, until_s=self.now)
        return before

    def levels(self, resource: Resource) -> Levels | None:
        """The hours that the next look need not ask for again, of one that is near."""
        series = self._series(resource)
        if series is None or not self._is_deep(resource):
            return None
        since_s = self.now - LOOK_BACK_S
        return keep_levels(series, since_s=since_s, until_s=self.now)

    # How deep

    def _depth_s(self, resource: Resource) -> float:
        """How far back to ask for its level: on to what the last look saw, or a glance."""
        glance_s = GLANCE_S + self.config.max_data_age_s
        known = self.schedule.last_look(resource)
        if self._horizon_s == math.inf:
            return LOOK_BACK_S
        if known is None or known.seen is None:
            return glance_s
        if known.near:
            # What can still change is asked for again; the hours before it are kept.
            kept = self.schedule.levels_of(resource)
            is_whole = kept is not None and kept.until_s >= self.now - GLANCE_S + COARSE_S
            return glance_s if is_whole else LOOK_BACK_S
        needed_s = self.now - known.seen.until_s + self.config.max_data_age_s + COARSE_S
        depths = (glance_s, glance_s + LATEST_S, LOOK_BACK_S)
        # What lies further back than any of these is searched for as if it were not known.
        return next((back_s for back_s in depths if needed_s <= back_s), glance_s)

    def _is_deep(self, resource: Resource) -> bool:
        # Kept levels begin at a whole minute.
        back_s = self.now - self._from_s.get(resource.key, self.now)
        return back_s > LOOK_BACK_S - 2 * PERIOD_S

    def _matters(self, glance: Observation) -> bool:
        """Whether more than its newest level decides what to make of it."""
        return is_near(glance, self.config) or worst_now_s(glance) < self._horizon_s

    # Asking

    def _ask_levels(self, resources: Sequence[Resource], back_s: float) -> None:
        self._ask([self._level_query(resource) for resource in resources], back_s=back_s)
        for resource in resources:
            self._from_s[resource.key] = self.now - back_s
            known, kept = self.schedule.last_look(resource), self.schedule.levels_of(resource)
            if back_s < LOOK_BACK_S and known is not None and known.near and kept is not None:
                self._prepend(resource, kept)

    def _prepend(self, resource: Resource, kept: Levels) -> None:
        """The hours that were asked for before, in front of the last minutes."""
        series = self._series(resource)
        if series is not None:
            older = kept.before(self._from_s[resource.key] // PERIOD_S * PERIOD_S)
            first_s = self.now - LOOK_BACK_S
            self.answers.series[_level_key(resource)] = [
                *(point for point in older if point[0] >= first_s),
                *series,
            ]
            self._from_s[resource.key] = max(first_s, kept.start_s)

    def _ask(
        self, queries: Iterable[Query], *, back_s: float = LOOK_BACK_S, period_s: int = PERIOD_S
    ) -> None:
        self.answers.add(self._read(queries, back_s=back_s, period_s=period_s))

    def _read(self, queries: Iterable[Query], *, back_s: float, period_s: int) -> Answers:
        return read_metrics(
            self.round.clients,
            list(dict.fromkeys(queries)),  # two buckets of one resource share their traffic
            start_s=self.now - back_s,
            end_s=self.now,
            period_s=period_s,
            deadline=self.round.deadline,
            pace=self.round.pace,
            allowance=self.round.allowance,
        )

    def _recall(self, resource: Resource) -> None:
        """Of a silent resource, what the look before knew: if nothing can have come in between."""
        known = self.schedule.last_look(resource)
        if known is None or known.seen is None or self._series(resource):
            return
        late_s = self.config.max_data_age_s + COARSE_S
        if self._from_s[resource.key] <= known.seen.until_s - late_s:
            self._before[resource.key] = known.seen

    def _ask_further_back(self) -> None:
        """A silent resource's last level decides how full it is by now, so look for it.

        As far back as an empty bucket takes to fill, before the time that may be late: before
        that, nothing matters.
        """
        fill_s = {
            resource.key: resource.bucket.capacity / resource.bucket.refill
            for resource in self.resources
            if resource.bucket is not None
            and not resource.reports_when_idle
            and self._series(resource) == []
            and resource.key not in self._before
        }
        silent = [resource for resource in self.resources if resource.key in fill_s]
        if not silent:
            return
        back_s = max(fill_s.values()) + self.config.max_data_age_s + COARSE_S
        found = self._read([self._level_query(r) for r in silent], back_s=back_s, period_s=COARSE_S)
        for resource in silent:
            series = found.series.pop(_level_key(resource), None)
            if series is None:
                continue
            last = self._level(resource, series[-1], COARSE_S) if series else None
            since_s = self.now - back_s if last is None else last.end_s
            self._before[resource.key] = Seen(newest=last, since_s=since_s, until_s=self.now)
        self.answers.add(found)

    def _pasts(self, near: Sequence[Observation]) -> dict[str, Past]:
        """The I/O of the days before, of those near: asked for now and then, kept in between."""
        resources = [one.resource for one in near]
        stale = [r for r in resources if self.schedule.past_is_stale(r, self.now)]
        stale = stale[: self.round.pasts.take(len(stale))]
        asked = self._read(
            (query for resource in stale for query in self._demand_queries(resource)),
            back_s=PAST_S,
            period_s=COARSE_S,
        )
        self.answers.problems += asked.problems
        for resource in stale:
            if not self._keys(resource) & asked.failed.keys():
                past = to_past(self._points(resource, asked, float(COARSE_S)))
                self.schedule.keep_past(resource, past, self.now)
        found = {r.key: self.schedule.past_of(r) for r in resources}
        return {key: past for key, past in found.items() if past is not None}

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

    # What was answered

    def _series(self, resource: Resource) -> list[tuple[float, float]] | None:
        """Its balances in percent by time, or None where nothing was asked or answered."""
        return self.answers.series.get(_level_key(resource))

    def _is_fresh(self, resource: Resource) -> bool:
        series = self._series(resource)
        if not series:
            return False
        period_s = cadence_s([start for start, _ in series])
        return series[-1][0] >= self.now - self.config.max_data_age_s - 2 * period_s

    def _level(self, resource: Resource, point: tuple[float, float], period_s: float) -> LevelPoint:
        return LevelPoint(
            start_s=point[0],
            period_s=period_s,
            ratio=min(1.0, max(0.0, point[1] / PERCENT)),
            statistic=resource.statistic,
        )

    def _observation(
        self,
        resource: Resource,
        *,
        unit_is_fresh: bool,
        demand: Sequence[DemandPoint] = (),
        past: Past | None = None,
        newest_only: bool = False,
    ) -> Observation:
        failure = self.answers.failed.get(_level_key(resource))
        if failure is not None:
            return Observation(resource=resource, at=self.now, missing=Missing(reason=failure))
        series: Sequence[tuple[float, float]] = self._series(resource) or []
        period_s = cadence_s([start for start, _ in series])
        if newest_only:
            series = series[-1:]
        elif series and series[-1][1] >= BACK_RATIO * PERCENT:
            series = series[-FULL_POINTS:]  # nothing that was before matters any more
        levels = [self._level(resource, point, period_s) for point in series]
        from_s = self._from_s.get(resource.key, self.now)
        before = self._before.get(resource.key)
        if before is not None:
            levels = levels or [before.newest] if before.newest is not None else levels
            from_s = min(from_s, before.since_s)
        return observe(
            resource,
            self.now,
            levels,
            demand,
            past=past,
            unit_is_fresh=unit_is_fresh,
            looked_back_s=self.now - from_s,
        )

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


def _with_past(seen: Observation, past: Past) -> Observation:
    """An observation with the days before."""
    history = seen.history
    return seen if history is None else replace(seen, history=history.with_past(past))


def _alarmed(verdict: Verdict) -> int:
    """The severity of the alarm that a verdict gets, or none."""
    severity = SEVERITY.get(verdict, 0)
    return min(severity, SEVERITY["critical"]) if severity >= SEVERITY["warning"] else 0


def _level_key(resource: Resource) -> tuple[str, str]:
    """What the answer to its level's question is found under."""
    return resource.id, resource.level_metric

"""Keeps what was asked and answered about one resource, and derives what follows from it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.formatting import clock_time
from burstwatch.history.background import recent_rates
from burstwatch.history.observations import Observation, Resource, observe
from burstwatch.history.past import Past
from burstwatch.history.points import (
    COARSE_S,
    FINE_S,
    DemandPoint,
    LevelPoint,
    LevelSeries,
    Series,
    cadence_s,
    shown_cadence_s,
)
from burstwatch.history.track import look_back_s
from burstwatch.kinds.base import Kind
from burstwatch.polling.queries import Answers, Failure
from burstwatch.polling.schedule import LATEST_S, Schedule, SeenLevel

#: Five datapoints of the slowest cadence: what tells it, and how late the newest is.
GLANCE_S = 5.0 * COARSE_S
#: A full bucket may be said to hold this share of its size: AWS rounds.
HIGHEST_RATIO = 1.01
#: Number of datapoints of a full bucket that bound its spending.
FULL_POINTS = 6


class LevelSample:
    """One bucket at one look: its level as far as it was answered."""

    def __init__(
        self, resource: Resource, kind: Kind, schedule: Schedule, config: Config, now: float
    ) -> None:
        """Nothing has been asked yet."""
        self.resource, self.kind, self.config, self.now = resource, kind, config, now
        last_look = schedule.last_look(resource)
        #: What the last look knew; of its level, None where it knew none.
        self.known = None if last_look is None else last_look.judgement
        self.seen_before = None if self.known is None else self.known.level_seen
        self.look_back_s = look_back_s(resource.bucket)
        self._unit_period_s = schedule.period_s(kind.name)
        #: Its levels, or None where nothing was asked or answered; why not.
        self.series: Series | None = None
        self.failure = ""
        #: The sort of that, where there is one.
        self.failure_kind: Failure = "unanswered"
        #: From when on its level was asked for.
        self.from_s = now
        #: The last level before the look-back, of a resource that is silent since.
        self.before: SeenLevel | None = None

    @property
    def level_key(self) -> tuple[str, str]:
        """The key of its level in answers."""
        return self.resource.id, self.resource.level_metric

    @property
    def is_silent(self) -> bool:
        """True if CloudWatch said that there is no datapoint."""
        return self.series is not None and not self.series

    @property
    def is_deep(self) -> bool:
        """True if its level was asked for all through the look-back."""
        return self.now - self.from_s > self.look_back_s - FINE_S

    @property
    def is_fresh(self) -> bool:
        """True if its newest datapoint is as new as datapoints can be."""
        if not self.series:
            return False
        age_s = self.now - self.series.starts[-1]
        return age_s <= self.config.max_data_age_s + 2 * cadence_s(self.series.starts)

    @property
    def fill_s(self) -> float:
        """The time that an empty bucket takes to fill."""
        bucket = self.resource.bucket
        return bucket.capacity / bucket.refill if bucket and bucket.refill else math.inf

    def depth_s(self, *, wants_all: bool) -> float:
        """The depth to ask for its level at first: on to what the last look saw, or a glance."""
        glance_s = GLANCE_S + self.config.max_data_age_s
        if wants_all:
            return self.look_back_s
        if self.known is None or self.seen_before is None:
            return glance_s
        if self.known.is_near:
            return self.look_back_s
        needed_s = self.now - self.seen_before.until_s + self.config.max_data_age_s + COARSE_S
        depths = (glance_s, glance_s + LATEST_S, self.look_back_s)
        # A level further back than all of these is searched for as if it were unknown.
        return next((back_s for back_s in depths if needed_s <= back_s), glance_s)

    def take_levels(self, answers: Answers, back_s: float) -> None:
        """Take its level as answered for the last ``back_s`` seconds."""
        if self.level_key in answers.failed:
            self.failure = answers.failed[self.level_key]
            self.failure_kind = answers.failures.get(self.level_key, "unanswered")
        self.series = answers.series.get(self.level_key, self.series)
        self.from_s = self.now - back_s
        self.failure = self.failure or self._doubt()

    def _doubt(self) -> str:
        """Why an answer cannot be believed: CloudWatch takes no datapoint away, and no bucket overflows."""
        if self.series is None:
            return ""
        newest = self.series.values[-FULL_POINTS:]
        wrong = next((value for value in newest if self._ratio(value) > HIGHEST_RATIO), None)
        if wrong is not None:
            return f"{self.resource.level_metric} is {wrong:g}, more than the bucket holds"
        newest_before = None if self.seen_before is None else self.seen_before.newest
        newest_s = self.series.starts[-1] if self.series else -math.inf
        if (
            newest_before is not None
            and self.from_s <= newest_before.start_s
            and newest_s < newest_before.start_s
        ):
            return f"the datapoint of {clock_time(newest_before.start_s, now=self.now)} that was there before is gone"
        return ""

    def _ratio(self, value: float) -> float:
        return self.kind.to_ratio(self.resource, value)

    def recall(self) -> None:
        """Recall what the last look knew, if it is silent and nothing can have come in between."""
        if self.seen_before is None or self.series:
            return
        if self.from_s <= self.seen_before.until_s - self.config.max_data_age_s - COARSE_S:
            self.before = self.seen_before

    def take_last_level(self, answers: Answers, back_s: float) -> None:
        """Take the last level of a silent one, as found further back."""
        series = answers.series.get(self.level_key)
        if series is None:
            self.failure = answers.failed.get(self.level_key, self.failure)
            self.failure_kind = answers.failures.get(self.level_key, "unanswered")
            return
        last = self._level(series[-1], COARSE_S) if series else None
        since_s = self.now - back_s if last is None else last.end_s
        self.before = SeenLevel(
            newest=last, since_s=since_s, until_s=self.now, cadence_s=self._cadence_s()
        )

    def observation(
        self,
        *,
        unit_is_fresh: bool,
        demand: Sequence[DemandPoint] = (),
        past: Past | None = None,
        newest_only: bool = False,
    ) -> Observation:
        """The resource with what is known of it by now."""
        if self.failure:
            return Observation(resource=self.resource, at=self.now, missing=self.failure)
        series = self.series or Series([], [])
        period_s = _period_s(self.resource, series.starts)
        if newest_only:
            series = series[-1:]
        elif series and self._ratio(series.values[-1]) >= BACK_RATIO:
            series = series[-FULL_POINTS:]  # nothing that was before matters any more
        levels: Sequence[LevelPoint] = LevelSeries(
            series.starts, self._ratios(series.values), period_s, self.resource.reporting.statistic
        )
        from_s = self.from_s
        if self.before is not None:
            if not levels and self.before.newest is not None:
                levels = [self.before.newest]
            from_s = min(from_s, self.before.since_s)
        return observe(
            self.resource,
            self.now,
            levels,
            demand,
            past=past,
            unit_is_fresh=unit_is_fresh,
            unit_period_s=self._cadence_s() or self._unit_period_s,
            looked_back_s=self.now - from_s,
            levels_from_s=self.from_s if self.is_deep and not newest_only else None,
        )

    def seen(self, *, unit_is_fresh: bool) -> SeenLevel | None:
        """The part that the next look need not ask for again."""
        if self.failure:
            return None  # what an earlier look has seen is still true
        if self.series:
            period_s = _period_s(self.resource, self.series.starts)
            newest = self._level(self.series[-1], period_s)
            return SeenLevel(
                newest=newest,
                since_s=newest.end_s,
                until_s=self.now,
                cadence_s=self._cadence_s(),
            )
        if self.series is not None and unit_is_fresh and self.before is not None:
            before = self.before
            return replace(before, until_s=self.now)
        return self.before

    def _cadence_s(self) -> float | None:
        """How far apart its own datapoints have been shown to be, now or before."""
        shown = shown_cadence_s(self.series.starts if self.series else ())
        cadence_before = None if self.seen_before is None else self.seen_before.cadence_s
        return shown or cadence_before

    def _ratios(self, values: Sequence[float]) -> list[float]:
        """Shares of the bucket, 0 to 1. A level that stays is worked out once."""
        by_value = {value: min(1.0, max(0.0, self._ratio(value))) for value in set(values)}
        return [by_value[value] for value in values]

    def _level(self, point: tuple[float, float], period_s: float) -> LevelPoint:
        return LevelPoint(
            start_s=point[0],
            period_s=period_s,
            ratio=min(1.0, max(0.0, self._ratio(point[1]))),
            statistic=self.resource.reporting.statistic,
        )


def _period_s(resource: Resource, starts: Sequence[float]) -> float:
    """The period of datapoints: what AWS documents, unless their times show another.

    A metric of five minutes has an offset of its own, so its datapoints need not be on marks.
    """
    documented_s = resource.reporting.published_every_s
    if documented_s > FINE_S and all(b - a >= documented_s for a, b in pairwise(starts)):
        return documented_s
    return cadence_s(starts)


class Demand:
    """The answers about the demand of one resource."""

    def __init__(
        self, kind: Kind, resource: Resource, answers: Answers, period_s: float | None = None
    ) -> None:
        """``period_s`` is that of the datapoints, inferred from their times where it is not given."""
        self._kind, self._resource = kind, resource
        names = [metric.name for metric in kind.demand_metrics]
        series = {name: answers.series.get((resource.id, name), ()) for name in names}
        self.is_whole = not any((resource.id, name) in answers.failed for name in names)
        starts = sorted({start for points in series.values() for start, _ in points})
        self.period_s = period_s or _period_s(resource, starts)
        #: Amounts by metric, by the start of their period.
        self.totals: dict[float, dict[str, float]] = {start: {} for start in starts}
        for metric in kind.demand_metrics:
            for start, value in series[metric.name]:
                self.totals[start][metric.name] = metric.total(value, self.period_s)

    def points(self) -> list[DemandPoint]:
        """Credits a second by period; an empty list where a part failed, which would pass for the whole."""
        if not self.is_whole:
            return []
        spent = (
            self._kind.spent(self._resource, totals, start, self.period_s)
            for start, totals in self.totals.items()
        )
        return [point for point in spent if point is not None]

    def rates(self) -> dict[str, float]:
        """Mean amounts a second by metric of the last minutes; empty where not known."""
        names = [metric.name for metric in self._kind.demand_metrics]
        return recent_rates(names, self.totals, self.period_s)

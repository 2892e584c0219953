"""Observations into an ``Assessment``: ok, watch, warning, critical, exhausted, unknown.

A pure function of (resource, history, now): hysteresis and episodes are computed from
the history at each call, and nothing has to be remembered between two of them.

The rule: somebody is woken when the bucket can be empty within the margin *and* the hazard of
that is high enough. For a bucket that empties in hours, the mean demand of the last two hours
decides instead: no hazard is high that early. What was so bad within the last ``hold_s`` still counts. A bucket that ran
dry is an incident until it is back at 20 % (or six hours have passed, which is as far as a look
goes back). The incident goes on for up to ``lead_s`` after that, while a full burst would empty
the bucket within the margin: what emptied it often comes back.
"""

import math
from dataclasses import dataclass, replace

from burstwatch.bucket import time_to_empty
from burstwatch.config import Config
from burstwatch.forecast.hazard import MODEL, Model, hazard, threshold_for
from burstwatch.forecast.own_past import look_at_past
from burstwatch.forecast.projection import Projection, project
from burstwatch.formatting import span
from burstwatch.history.history import History
from burstwatch.history.observations import Observation, Verdict
from burstwatch.history.track import starting_s

#: Published as the metric ``Severity``. Unknown is never published: it has no number.
SEVERITY: dict[Verdict, int] = {"ok": 0, "watch": 1, "warning": 2, "critical": 3, "exhausted": 4}
#: The verdicts for which somebody is woken.
PAGED: frozenset[Verdict] = frozenset({"critical", "exhausted"})
#: With so much in the bucket there is no danger, and none is held.
BACK_RATIO = 0.95
#: A bucket that empties in hours is paged for where the mean demand of so long would empty it within
#: so many horizons. Chosen on recorded CPU load (docs/backtest.md).
SLOW_WINDOW_S, SLOW_HORIZONS = 7_200.0, 3.0
#: The hold time is searched for pages and for warnings at these marks of the clock.
PAGE_STEP_S, WARNING_STEP_S = 60.0, 300.0
#: A warning is what would be critical with so many times the margin.
WARNING_MARGINS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """A verdict with its reason in one sentence, and the projection behind it."""

    verdict: Verdict
    reason: str
    projection: Projection


def not_known(reason: str, now: float) -> Assessment:
    """The assessment of a resource that could not be asked about."""
    projection = Projection(state="unknown", reason=reason, at=now)
    return Assessment(verdict="unknown", reason=reason, projection=projection)


@dataclass(frozen=True, kw_only=True, slots=True)
class Danger:
    """The severity that one instant of a history deserves, and why."""

    verdict: Verdict
    why: str = ""


SAFE = Danger(verdict="ok")


def assess(observation: Observation, config: Config, model: Model = MODEL) -> Assessment:
    """Assess one observation."""
    found = _assess(observation, config, model)
    resource = observation.resource
    if resource.starts_empty and SEVERITY.get(found.verdict, 0) > SEVERITY["watch"]:
        found = _unless_new(found, observation)
    if resource.highest_verdict == "exhausted":
        return found
    return replace(found, verdict=_at_most(found.verdict, resource.highest_verdict))


def _unless_new(found: Assessment, observation: Observation) -> Assessment:
    """The same, or a watch while what began empty has not had the time to gather credits."""
    resource, history = observation.resource, observation.history
    started_s, bucket = resource.in_use_since_s, resource.bucket
    if started_s is None or bucket is None or history is None or not history.size:
        return found
    age_s = observation.at - started_s
    if age_s >= starting_s(bucket) or history.track.last_recovered[history.size - 1] >= 0:
        return found
    why = (
        f"started {span(age_s)} ago without credits, and still earns its first ones; {found.reason}"
    )
    return replace(found, verdict="watch", reason=why)


def _assess(observation: Observation, config: Config, model: Model) -> Assessment:
    projection = project(observation, max_data_age_s=config.max_data_age_s)
    if projection.state in {"unknown", "exhausted"}:
        verdict: Verdict = "unknown" if projection.state == "unknown" else "exhausted"
        return Assessment(verdict=verdict, reason=projection.reason, projection=projection)
    history = observation.history
    if history is None or history.newest_level() < 0:
        return Assessment(verdict="ok", reason=projection.reason, projection=projection)
    own = config.with_lead(*observation.resource.leads)
    danger = _danger(history, projection, own, model)
    reason = _reason(projection)
    if danger.why:
        reason = f"{reason}; {danger.why}"
    return Assessment(verdict=danger.verdict, reason=reason, projection=projection)


def _at_most(verdict: Verdict, highest: Verdict) -> Verdict:
    """The verdict, no higher than a resource may have; what is not known stays so."""
    return verdict if verdict == "unknown" or SEVERITY[verdict] <= SEVERITY[highest] else highest


def _danger(history: History, projection: Projection, config: Config, model: Model) -> Danger:
    """The worst of now, of what is held from before, and of an incident that is not over."""
    if not history.bucket.can_drain:
        return SAFE
    if config.page_on == "worst" and _is_worst_near(projection, config):
        return Danger(verdict="critical", why=_worst_is_near(config))
    silent_s = history.level_age_s(projection.at)
    empty_for = history.since_empty()
    # Where there are no more datapoints it has refilled as far as the projection says.
    refilled = projection.level.likely if projection.state == "idle" and projection.level else 0.0
    back_at = history.track.recovered_ratio
    if empty_for is not None and refilled < back_at:
        ago = span(empty_for * history.period_s + silent_s)
        why = f"ran dry {ago} ago and is not yet back at {back_at:.0%}"
        return Danger(verdict="critical", why=why)
    # Longer silence than late data can make is an end of I/O, and no lag of the past.
    lag_s = min(silent_s, config.max_data_age_s + history.period_s)
    threshold = threshold_for(config.needless_per_week)
    judge = Judge(history=history, config=config, model=model, lag_s=lag_s, threshold=threshold)
    now = SAFE if projection.state == "idle" else judge.at(history.size)
    if now.verdict == "critical":
        return now
    ended_s = silent_s - lag_s
    return judge.relapse(ended_s) or judge.held(now, ended_s=ended_s)


def is_far(history: History, now: float, config: Config) -> bool:
    """Whether the bucket was so full all through the hold time that nothing can be wrong."""
    if history.newest_level() < 0:
        return False
    bucket = history.bucket
    reach_s = WARNING_MARGINS * config.margin_s + history.level_age_s(now) + history.period_s
    drain = bucket.burst - bucket.refill
    lowest = min(history.levels[max(0, history.size - history.slots(config.hold_s)) : history.size])
    level_s = (lowest if history.statistic == "Minimum" else 0.0) * bucket.capacity / (drain or 1.0)
    return level_s >= reach_s and history.since_empty() is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """Judges the instants of one history, each as if it were now: seen ``lag_s`` after its end.

    ``threshold`` is the hazard from which somebody is told.
    """

    history: History
    config: Config
    model: Model
    lag_s: float
    threshold: float

    @property
    def near_s(self) -> float:
        """The worst case at or under which a level is near."""
        return self.config.margin_s + self.lag_s

    @property
    def wide_s(self) -> float:
        """The same for a warning."""
        return WARNING_MARGINS * self.config.margin_s + self.lag_s

    def at(self, size: int) -> Danger:
        """The danger at the end of the first ``size`` slots."""
        worst_s = self.worst_s(size)
        if worst_s >= self.wide_s:
            return SAFE
        is_near = worst_s < self.near_s
        if is_near and self.acts(size, self.near_s):
            return Danger(verdict="critical", why=self.why(size, self.near_s))
        if self.acts(size, self.wide_s):
            return Danger(verdict="warning", why=self.why(size, self.wide_s))
        return Danger(verdict="watch", why=self.why(size, self.near_s)) if is_near else SAFE

    def relapse(self, ended_s: float) -> Danger | None:
        """The danger of an incident that ended within the lead, where a page for the next would be late."""
        history, lead_s = self.history, self.config.lead_s
        # Without the data's age, which goes up and down between two datapoints.
        if self.worst_s(history.size) >= self.config.margin_s:
            return None
        known_from = history.first_slot(history.track.look_back_s)
        for back in range(1, history.size):
            since_s = ended_s + back * history.period_s
            if since_s >= lead_s:
                return None
            if history.cut(history.size - back).is_recovering(known_from):
                back_at = history.track.recovered_ratio
                why = f"ran dry, and has been back at {back_at:.0%} for only {span(since_s)}"
                return Danger(verdict="critical", why=why)
        return None

    def held(self, now: Danger, *, ended_s: float) -> Danger:
        """The severity that the hold time adds to ``now``; the newest slot would have been seen ``ended_s`` ago.

        Each past instant sees only what it could have seen then. Instants are the marks of
        the clock, some minutes apart: what was wrong for less than that is not held. Data
        is taken to have been as late then as it is now.
        """
        history, period_s = self.history, self.history.period_s
        slots = min(history.size, math.ceil((self.config.hold_s - ended_s) / period_s))
        # Back this far up, whatever was is over.
        is_back = history.levels[history.newest_level()] >= BACK_RATIO
        if slots <= 0 or is_back or self.worst_s(history.size) >= self.wide_s:
            return now
        warned_at: int | None = None
        known_from = history.first_slot(history.track.look_back_s)
        marks = self._known_marks()
        had_incident = history.track.last_empty[history.size - 1] >= known_from
        for back in range(1 if ended_s == 0 else 0, history.size):
            if back >= slots + (warned_at if warned_at is not None else 0):
                break
            size = history.size - back
            if had_incident and history.cut(size).is_recovering(known_from):
                break  # what was before the end of an incident ended with it
            key = size if warned_at is None else -size
            found = marks.get(key)
            if found is None:
                found = marks[key] = self._at_mark(size, is_warned=warned_at is not None)
            if found == "critical":
                # Before the hold time it only tells that the warning was part of a page, and ended with it.
                return (
                    now
                    if back >= slots
                    else _was("critical", ended_s + back * period_s + self.lag_s)
                )
            if found == "warning":
                warned_at = back
        if warned_at is None or now.verdict == "warning":
            return now
        return _was("warning", ended_s + warned_at * period_s + self.lag_s)

    def _known_marks(self) -> dict[int, Verdict]:
        """What is known of past instants, by size, negative once a warning is found.

        A replay comes back to each at every moment of the hold time.
        """
        key = ("marks", self.near_s, self.threshold, self.config.page_on, id(self.model))
        known = self.history.track.memory.setdefault(key, {})
        if not isinstance(known, dict):
            raise TypeError(key)
        return known

    def _at_mark(self, size: int, *, is_warned: bool) -> Verdict:
        """The severity at the end of the first ``size`` slots, if that is a mark that is looked at."""
        history = self.history
        period_s, end_s = history.period_s, history.start_s + size * history.period_s
        is_page_mark = end_s % PAGE_STEP_S < period_s
        is_warning_mark = end_s % WARNING_STEP_S < period_s and not is_warned
        if history.levels[size - 1] == math.inf or not (is_page_mark or is_warning_mark):
            return "ok"
        worst_s = self.worst_s(size)
        if is_page_mark and worst_s < self.near_s and self.acts(size, self.near_s):
            return "critical"
        is_warned_of = is_warning_mark and worst_s < self.wide_s and self.acts(size, self.wide_s)
        return "warning" if is_warned_of else "ok"

    def worst_s(self, size: int) -> float:
        """Seconds from the level at the end of the first ``size`` slots to empty at full burst."""
        return self.history.cut(size).worst_s()

    def acts(self, size: int, horizon_s: float) -> bool:
        """Whether the bucket is likely enough to be empty within ``horizon_s``."""
        history = self.history.cut(size)
        if history.levels[history.newest_level()] >= BACK_RATIO:
            return False  # a full bucket outlasts what anybody can foresee
        if self.config.page_on == "worst" and horizon_s <= self.near_s:
            return True
        if history.track.is_slow:
            return _slow_s(history) < SLOW_HORIZONS * horizon_s
        return self._hazard(history, horizon_s) >= self.threshold

    def why(self, size: int, horizon_s: float) -> str:
        """Say how likely the end is, and what the week before has to do with it."""
        if self.config.page_on == "worst" and horizon_s <= self.near_s:
            return _worst_is_near(self.config)
        history = self.history.cut(size)
        if history.track.is_slow:
            return f"empty within {span(_slow_s(history))} at the mean of the last {span(SLOW_WINDOW_S)}"
        found = self._hazard(history, horizon_s)
        why = f"{found:.1%} likely to be empty within {span(horizon_s)}, the limit for that is {self.threshold:.1%}"
        past = look_at_past(history, horizon_s)
        if not past.moments:
            return why
        return f"{why}; after {past.spent} of {past.moments} similar moments of the last week, the load would have spent what is left"

    def _hazard(self, history: History, horizon_s: float) -> float:
        memory, key = history.track.memory, (history.size, horizon_s, id(self.model))
        known = memory.get(key)
        if not isinstance(known, float):
            known = memory[key] = hazard(history, horizon_s, self.model)
        return known


def _slow_s(history: History) -> float:
    """Seconds until empty at the mean demand of the last hours, or since the first datapoint."""
    bucket = history.bucket
    mean = history.likely.mean(history.size, history.slots(SLOW_WINDOW_S))
    return time_to_empty(bucket, level=history.level_floor(), demand=min(bucket.burst, mean))


def _was(verdict: Verdict, ago_s: float) -> Danger:
    return Danger(verdict=verdict, why=f"was {verdict} {span(ago_s)} ago")


def _is_worst_near(projection: Projection, config: Config) -> bool:
    """Whether the margin is reached, by a bucket that can be fuller: else a page would never end."""
    worst_s, level = projection.worst_s, projection.level
    if worst_s is None or level is None:
        return False
    return worst_s < config.margin_s and level.likely < BACK_RATIO


def _worst_is_near(config: Config) -> str:
    return f"a full burst would empty it within {span(config.margin_s)}"


def _reason(projection: Projection) -> str:
    if projection.state not in {"finite", "infinite"}:
        return projection.reason
    likely = projection.time_to_empty_s
    outlook = "not draining" if likely == math.inf else f"dry in {span(likely)}"
    return (
        f"{projection.reason}; {outlook} (range {span(projection.low_s)} to "
        f"{span(projection.high_s)}, worst case {span(projection.worst_s)})"
    )

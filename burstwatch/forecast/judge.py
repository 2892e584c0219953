"""Judges the instants of one history: the danger now, what is held from before, and a relapse."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.bucket import time_to_empty
from burstwatch.config import Config
from burstwatch.forecast.hazard import Model, hazard
from burstwatch.forecast.own_past import look_at_past
from burstwatch.formatting import span
from burstwatch.history.history import History
from burstwatch.history.observations import Verdict
from burstwatch.history.past import Past

#: With so much in the bucket there is no danger, and none is held.
BACK_RATIO = 0.95
#: A bucket that empties in hours is paged for where the mean demand of so long would empty it within
#: so many horizons. Chosen on recorded CPU load (docs/backtest.md).
SLOW_MEAN_S, SLOW_HORIZONS = 7_200.0, 3.0
#: The hold time is searched for pages and for warnings at these marks of the clock.
PAGE_STEP_S, WARNING_STEP_S = 60.0, 300.0
#: An incident goes on for so long after its end, or for the lead if that is longer. What emptied a bucket often
#: comes back within the hour.
RELAPSE_S = 1_800.0
#: A warning is what would be critical with so many times the margin.
WARNING_MARGINS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Danger:
    """The severity that one instant of a history deserves, and why."""

    verdict: Verdict
    why: str = ""


SAFE = Danger(verdict="ok")
#: Keys of the memory of a track: the verdicts of past instants, and those that an earlier look has kept.
MARKS, KEPT = "marks", "kept marks"


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
        """Seconds of worst case below which a level is near."""
        return self.config.margin_s + self.lag_s

    @property
    def wide_s(self) -> float:
        """Seconds of worst case below which a warning may begin."""
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
        """The danger of an incident that has just ended, where a page for the next would be late."""
        history, lasts_s = self.history, max(RELAPSE_S, self.config.lead_s)
        # Without the data's age, which goes up and down between two datapoints.
        if self.worst_s(history.size) >= self.config.margin_s:
            return None
        known_from = history.first_slot(history.track.look_back_s)
        for back in range(1, history.size):
            since_s = ended_s + back * history.period_s
            if since_s >= lasts_s:
                return None
            if history.cut(history.size - back).is_recovering(known_from):
                back_at = history.track.recovered_ratio
                why = f"ran out, and has been back at {back_at:.0%} for only {span(since_s)}"
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
        is_back = history.levels[history.newest_slot()] >= BACK_RATIO
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
            is_warned = warned_at is not None
            key = -size if is_warned else size
            marked = marks.get(key)
            if marked is None:
                marked = self._kept_mark(size, is_warned=is_warned)
            if marked is None:
                marked = self._at_mark(size, is_warned=is_warned)
            marks[key] = marked
            if marked == "critical":
                # Before the hold time it only tells that the warning was part of a page, and ended with it.
                return (
                    now
                    if back >= slots
                    else _was("critical", ended_s + back * period_s + self.lag_s)
                )
            if marked == "warning":
                warned_at = back
        if warned_at is None or now.verdict == "warning":
            return now
        return _was("warning", ended_s + warned_at * period_s + self.lag_s)

    def _known_marks(self) -> dict[int, Verdict]:
        """Verdicts of past instants by size of the history, negative once a warning is found.

        A replay comes back to each at every moment of the hold time.
        """
        marks = self.history.track.memory.setdefault(self._terms, {})
        if not isinstance(marks, dict):
            raise TypeError(self._terms)
        return marks

    @property
    def _terms(self) -> tuple[object, ...]:
        """All that the verdict of an instant depends on, beside the history."""
        return MARKS, self.near_s, self.threshold, self.config.page_on, id(self.model)

    def _kept_mark(self, size: int, *, is_warned: bool) -> Verdict | None:
        """The verdict of an earlier look about an instant, where that saw all that could be known of it."""
        kept = self.history.track.memory.get(KEPT)
        if not isinstance(kept, KeptMarks) or kept.terms != self._terms:
            return None
        return kept.verdicts.get((self.history.start_s + size * self.history.period_s, is_warned))

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
        """True if the bucket is likely enough to be empty within ``horizon_s``."""
        history = self.history.cut(size)
        if history.levels[history.newest_slot()] >= BACK_RATIO:
            return False  # a full bucket outlasts what anybody can foresee
        if self.config.page_on == "worst" and horizon_s <= self.near_s:
            return True
        if history.track.is_slow:
            return _slow_s(history) < SLOW_HORIZONS * horizon_s
        return self._hazard(history, horizon_s) >= self.threshold

    def why(self, size: int, horizon_s: float) -> str:
        """Say how likely the end is, and what the week before has to do with it."""
        if self.config.page_on == "worst" and horizon_s <= self.near_s:
            return why_worst(self.config)
        history = self.history.cut(size)
        if history.track.is_slow:
            return (
                f"empty within {span(_slow_s(history))} at the mean of the last {span(SLOW_MEAN_S)}"
            )
        probability = self._hazard(history, horizon_s)
        why = f"the probability to be empty within {span(horizon_s)} is {probability:.1%}; alarms begin at {self.threshold:.1%}"
        past = look_at_past(history, horizon_s)
        if not past.moments:
            return why
        return f"{why}; after {past.spent} of {past.moments} similar moments of the last week, the load would have spent what is left"

    def _hazard(self, history: History, horizon_s: float) -> float:
        memory, key = history.track.memory, (history.size, horizon_s, id(self.model))
        cached = memory.get(key)
        if not isinstance(cached, float):
            cached = memory[key] = hazard(history, horizon_s, self.model)
        return cached


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptMarks:
    """Verdicts of past instants, as a look saw them, for the next look at the same resource.

    By the end of the instant and whether a warning had been found. They hold for the same ``terms`` of the judge, and
    with the same days before.
    """

    terms: object
    past: Past | None
    verdicts: Mapping[tuple[float, bool], Verdict]


def recall_marks(history: History, kept: KeptMarks | None) -> None:
    """Let the judge of a history find what an earlier look has kept."""
    if kept is not None and kept.past is history.track.past:
        history.track.memory[KEPT] = kept


def marks_to_keep(history: History, *, until_s: float) -> KeptMarks | None:
    """The verdicts of instants before ``until_s``, of which all that could be known is known. None if there are none."""
    for terms, marks in history.track.memory.items():
        if isinstance(terms, tuple) and terms[0] == MARKS and isinstance(marks, dict):
            ends = {key: history.start_s + abs(key) * history.period_s for key in marks}
            verdicts = {
                (end_s, key < 0): marks[key] for key, end_s in ends.items() if end_s <= until_s
            }
            return KeptMarks(terms=terms, past=history.track.past, verdicts=verdicts)
    return None


def _slow_s(history: History) -> float:
    """Seconds until empty at the mean demand of the last hours, or since the first datapoint."""
    bucket = history.bucket
    mean = history.likely.mean(history.size, history.slots(SLOW_MEAN_S))
    return time_to_empty(bucket, level=history.level_floor(), demand=min(bucket.burst, mean))


def _was(verdict: Verdict, ago_s: float) -> Danger:
    return Danger(verdict=verdict, why=f"was {verdict} {span(ago_s)} ago")


def why_worst(config: Config) -> str:
    """The reason to page for the worst case alone."""
    return f"a full burst would empty it within {span(config.margin_s)}"

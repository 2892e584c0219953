"""Judges the instants of one history: the danger now, what is held from before, and a relapse."""

import math
from dataclasses import dataclass
from functools import cached_property

from burstwatch.bucket import time_to_empty
from burstwatch.config import Config
from burstwatch.forecast.chance import (
    FORESIGHT,
    FORESIGHT_S,
    PAGED_FROM,
    WARNED_FROM,
    Model,
    chance,
)
from burstwatch.forecast.margins import WARNING_MARGINS, Margins
from burstwatch.forecast.own_past import days_alike, look_at_past
from burstwatch.formatting import percent, span
from burstwatch.history.history import History
from burstwatch.history.observations import DISK_LEAD_S, Verdict

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Danger:
    """The severity that one instant of a history deserves, and why; of a danger that is only held, how long ago it was."""

    verdict: Verdict
    why: str = ""
    ago_s: float = 0.0


SAFE = Danger(verdict="ok")


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Judges the instants of one history, each as if it were now: seen ``lag_s`` after its end.

    ``margins`` are those of its resource. ``no_chance`` is for what credits no chance was ever measured, or nothing where it was.
    """

    history: History
    config: Config
    margins: Margins
    model: Model
    lag_s: float
    no_chance: str = ""

    @property
    def is_worst(self) -> bool:
        """True if a page is due by the worst case alone."""
        return self.config.page_on == "worst"

    @property
    def paged_from(self) -> float:
        """The chance from which a page is due."""
        return PAGED_FROM[self.config.page_on]

    @cached_property
    def page_s(self) -> float:
        """Seconds of worst case at the newest level below which a page may begin."""
        return self.margins.page_s + self.lag_s

    @cached_property
    def warning_s(self) -> float:
        """Seconds of worst case at the newest level below which a warning may begin."""
        return self.margins.warning_s + self.lag_s

    @cached_property
    def measured_s(self) -> float:
        """The horizon of a page with the lead for which the chance was measured, whatever this resource's lead is."""
        return self.page_s - self.margins.lead_s + DISK_LEAD_S

    def at(self, size: int) -> Danger:
        """The danger at the end of the first ``size`` slots."""
        worst_s = self.worst_s(size)
        if worst_s >= self.warning_s:
            return SAFE
        is_near = worst_s < self.page_s
        if is_near and self.is_page_due(size):
            return Danger(verdict="critical", why=self.why(size))
        if self.is_warning_due(size):
            return Danger(verdict="warning", why=self.why(size))
        return Danger(verdict="watch", why=self.why(size)) if is_near else SAFE

    def relapse(self, ended_s: float) -> Danger | None:
        """The danger of an incident that has just ended, where a page for the next would be late."""
        history, lasts_s = self.history, max(RELAPSE_S, self.margins.lead_s)
        # Without the data's age, which goes up and down between two datapoints.
        if self.worst_s(history.size) >= self.margins.page_s:
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
        if slots <= 0 or _is_back(history) or self.worst_s(history.size) >= self.warning_s:
            return now
        return self._worst_of_past(now, slots, ended_s=ended_s)

    def _worst_of_past(self, now: Danger, slots: int, *, ended_s: float) -> Danger:
        """Go back over the last ``slots``, and on from a warning that is found, until a page is or an incident ends."""
        history, period_s = self.history, self.history.period_s
        warned_at: int | None = None
        known_from = history.first_slot(history.track.look_back_s)
        had_incident = history.track.last_empty[history.size - 1] >= known_from
        for back in range(1 if ended_s == 0 else 0, history.size):
            if back >= slots + (warned_at if warned_at is not None else 0):
                break
            size = history.size - back
            if had_incident and history.cut(size).is_recovering(known_from):
                break  # what was before the end of an incident ended with it
            verdict = self._mark(size, is_warned=warned_at is not None)
            if verdict == "critical":
                # Before the hold time it only tells that the warning was part of a page, and ended with it.
                return (
                    now
                    if back >= slots
                    else _was("critical", ended_s + back * period_s + self.lag_s)
                )
            if verdict == "warning":
                warned_at = back
        if warned_at is None or now.verdict == "warning":
            return now
        return _was("warning", ended_s + warned_at * period_s + self.lag_s)

    def _mark(self, size: int, *, is_warned: bool) -> Verdict:
        """The verdict of the instant at the end of the first ``size`` slots: no warning once one was found."""
        terms = self.page_s, self.warning_s, self.config.page_on, id(self.model)
        return self.history.track.memo.once(
            ("mark", size, is_warned, *terms), lambda: self._at_mark(size, is_warned=is_warned)
        )

    def _at_mark(self, size: int, *, is_warned: bool) -> Verdict:
        """The severity at the end of the first ``size`` slots, if that is a mark that is looked at."""
        history = self.history
        end_s = history.start_s + size * history.period_s
        is_page_mark = end_s % PAGE_STEP_S < history.period_s
        is_warning_mark = end_s % WARNING_STEP_S < history.period_s and not is_warned
        if history.levels[size - 1] == math.inf or not (is_page_mark or is_warning_mark):
            return "ok"
        worst_s = self.worst_s(size)
        if is_page_mark and worst_s < self.page_s and self.is_page_due(size):
            return "critical"
        is_warned_of = is_warning_mark and worst_s < self.warning_s and self.is_warning_due(size)
        return "warning" if is_warned_of else "ok"

    def worst_s(self, size: int) -> float:
        """Seconds from the level at the end of the first ``size`` slots to empty at full burst."""
        return self.history.cut(size).worst_s()

    def is_page_due(self, size: int) -> bool:
        """True if the bucket is likely enough to run out, where its worst case is within the margin."""
        if self.is_worst:
            return not _is_back(self.history.cut(size))
        return self._is_due(size, self.page_s, self.paged_from)

    def is_warning_due(self, size: int) -> bool:
        """True if the default's page would be due with twice the margin, whatever ``page_on`` is."""
        return self._is_due(size, self.warning_s, WARNED_FROM)

    def _is_due(self, size: int, horizon_s: float, told_from: float) -> bool:
        history = self.history.cut(size)
        if _is_back(history):
            return False
        if history.track.is_slow:
            return _slow_s(history) < SLOW_HORIZONS * horizon_s
        return self._chance(history, horizon_s) >= told_from

    def chance_now(self) -> float | None:
        """The chance that the bucket runs out within two hours; None where it is far from that, or no model was measured."""
        history = self.history
        is_far = self.worst_s(history.size) >= WARNING_MARGINS * self.measured_s
        if self.no_chance or is_far or _is_back(history):
            return None
        return self._chance(history, self.measured_s)

    def why(self, size: int) -> str:
        """Say how likely the end is, and what the week before has to do with it."""
        if self.is_worst and self.worst_s(size) < self.page_s:
            return why_worst(self.margins)
        history = self.history.cut(size)
        if history.track.is_slow:
            return f"runs out within {span(_slow_s(history))} at the mean of the last {span(SLOW_MEAN_S)}"
        return "; ".join(filter(None, [self._how_likely(history), _of_own_past(history)]))

    def _how_likely(self, history: History) -> str:
        """The chance in words, and from which one pages begin where that is the same measure."""
        if self.no_chance:
            return f"how likely that is was never measured for {self.no_chance}"
        likely = (
            f"{percent(self._chance(history, self.measured_s))} chance of running out {FORESIGHT}"
        )
        if self.is_worst or self.measured_s != self.page_s:
            return likely
        return f"{likely} (pages begin at {percent(self.paged_from)})"

    def _chance(self, history: History, horizon_s: float) -> float:
        return history.track.memo.once(
            ("chance", history.size, horizon_s, id(self.model)),
            lambda: chance(history, horizon_s, self.model),
        )


def _of_own_past(history: History) -> str:
    """What the week before says: how often two hours of its load would have used up what is left."""
    past = look_at_past(history, FORESIGHT_S)
    days_spent, days = days_alike(history, FORESIGHT_S)
    similar = f"after {past.spent} of {past.moments} similar moments" if past.moments else ""
    hours = f"at this hour on {days_spent} of {days} days" if days_spent else ""
    times = " and ".join(filter(None, [similar, hours]))
    if not times:
        return ""
    return f"{times} of the last week, the load of two hours would have used up what is left"


def _is_back(history: History) -> bool:
    """True if the bucket is so full that it outlasts what anybody can foresee, and whatever was is over."""
    return history.levels[history.newest_slot()] >= BACK_RATIO


def _slow_s(history: History) -> float:
    """Seconds until empty at the mean demand of the last hours, or since the first datapoint."""
    bucket = history.bucket
    mean = history.likely.mean(history.size, history.slots(SLOW_MEAN_S))
    return time_to_empty(bucket, level=history.level_floor(), demand=min(bucket.burst, mean))


def _was(verdict: Verdict, ago_s: float) -> Danger:
    return Danger(verdict=verdict, why=f"was {verdict} {span(ago_s)} ago", ago_s=ago_s)


def why_worst(margins: Margins) -> str:
    """The reason to page for the worst case alone."""
    return f"a full burst would empty it within {span(margins.page_s)}"

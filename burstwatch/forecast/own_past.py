"""Looks in the week before for what this volume did, and whether that would empty it now.

A disk that goes to its limit for five minutes every other hour looks, each time, as if it
would never stop. Its own week knows better. So does that of a disk that rests at a low level
for hours and then jumps.
"""

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, floor, log

from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.history.history import History
from burstwatch.history.past import PAST_PERIOD_S, Past, drawn
from burstwatch.history.spending import Sums, summed

HOUR_SLOTS, DAY_SLOTS = round(HOUR_S / PAST_PERIOD_S), round(DAY_S / PAST_PERIOD_S)
WEEK_SLOTS = 7 * DAY_SLOTS
#: Every so many slots a moment is compared: often enough, and at all places of an hour and a day in turn.
EVERY = 5
#: Windows by whose demand moments are compared (five minutes, an hour), and the step of the logarithm.
WINDOWS, STEP = (1, HOUR_SLOTS), 0.4
# Added to every rate, as a share of the refill: what is far below that is all the same.
FLOOR = 0.05
#: The prior: this many moments, of which this share went on to empty.
ASSUMED, ASSUMED_SHARE = 3, 0.01
DAYS_BACK = 7
#: Slots of the past beyond the horizon that are looked at too: jobs are not punctual.
SLACK_SLOTS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnPast:
    """Comparison of now with similar moments of the week before.

    ``alike`` is the share of the moments with as much demand that went on to spend what is left,
    ``spent`` of ``moments``; ``same_hours`` the share of the days before on which these hours did.
    ``highest_of_day`` is the highest quarter of an hour of the day before, in credits a second.
    """

    alike: float = ASSUMED_SHARE
    moments: int = 0
    spent: int = 0
    same_hours: float = 0.1
    highest_of_day: float = 0.0


UNKNOWN = OwnPast()


def look_at_past(history: History, horizon_s: float) -> OwnPast:
    """Compare now with the week before; nothing that a cut does not see counts."""
    past = history.track.past
    if past is None:
        return UNKNOWN
    until = floor((history.end_s - past.start_s) / past.period_s + 1e-6)
    until = max(0, min(len(past.rates), until))
    credits_left, slots = history.level_floor(), ceil(horizon_s / past.period_s)
    share, moments, spent = _alike(history, past, until, slots, credits_left)
    return OwnPast(
        alike=share,
        moments=moments,
        spent=spent,
        same_hours=_same_hours(history, past, horizon_s, credits_left),
        highest_of_day=_highest_of_day(past, until),
    )


def _highest_of_day(past: Past, until: int) -> float:
    key = ("highest", until)
    cached = past.memory.get(key)
    if not isinstance(cached, float):
        cached = max(past.means[max(0, until - DAY_SLOTS) : until], default=0.0)
        past.memory[key] = cached
    return cached


class _Moments:
    """Cache of a past: the demand of each slot, and the credits spent after it."""

    def __init__(self, past: Past, refill: float) -> None:
        self._past, self._refill, self._sums = past, refill, summed(past.rates).sums
        self._steps: dict[int, int] = {}
        self._spent: dict[tuple[int, int], float] = {}

    def step(self, slot: int) -> int:
        """The demand up to a slot, in steps."""
        if slot not in self._steps:
            self._steps[slot] = _step(self._sums, slot + 1, WINDOWS, self._refill)
        return self._steps[slot]

    def spent(self, begin: int, slots: int) -> float:
        """The most credits that any run within the ``slots`` from ``begin`` on took beyond the refill."""
        key = begin, slots
        if key not in self._spent:
            rates = self._past.rates[begin : begin + slots]
            self._spent[key] = drawn(rates, self._refill) * self._past.period_s
        return self._spent[key]


def _moments_of(past: Past, refill: float) -> _Moments:
    cached = past.memory.get(refill)
    if not isinstance(cached, _Moments):
        cached = past.memory[refill] = _Moments(past, refill)
    return cached


@dataclass(frozen=True, kw_only=True, slots=True)
class _Week:
    """Credits spent after the moments of a week, sorted, by the demand of each."""

    until: int
    by_step: dict[int, list[float]]


def _alike(
    history: History, past: Past, until: int, slots: int, credits_left: float
) -> tuple[float, int, int]:
    """The share of the moments with at least as much demand that spent what is left, and its counts.

    Or of those with less, if that is more: more demand is never a better sign.
    """
    refill = history.bucket.refill
    windows = [history.slots(window * past.period_s) for window in WINDOWS]
    now = _step(history.likely.sums, history.size, windows, refill)
    # By whole hours of the clock, so that a look back over the hold time sorts the week only twice.
    until -= round(past.start_s / past.period_s + until) % HOUR_SLOTS
    week, moments, spent = _week(past, refill, until, slots), 0, 0
    shares = []
    for step in sorted({*week, now}, reverse=True):
        spendings = week.get(step, [])
        moments += len(spendings)
        spent += len(spendings) - bisect_left(spendings, credits_left)
        if step <= now:
            share = (spent + ASSUMED * ASSUMED_SHARE) / (moments + ASSUMED)
            shares.append((share, moments, spent))
    return max(shares)


def _week(past: Past, refill: float, until: int, slots: int) -> dict[int, list[float]]:
    """The week up to ``until``. Of a long recording a few hours are kept at a time."""
    key = ("week", refill, until % (4 * HOUR_SLOTS), slots)
    cached = past.memory.get(key)
    if isinstance(cached, _Week) and cached.until == until:
        return cached.by_step
    moments = _moments_of(past, refill)
    by_step: dict[int, list[float]] = {}
    begin = max(0, until - WEEK_SLOTS)
    begin += -round(past.start_s / past.period_s + begin) % EVERY
    for slot in range(begin, until, EVERY):
        # Of the newest, what is known by then: a longer horizon must not leave them out.
        spent = moments.spent(slot + 1, min(slots, until - slot - 1))
        by_step.setdefault(moments.step(slot), []).append(spent)
    for spendings in by_step.values():
        spendings.sort()
    past.memory[key] = _Week(until=until, by_step=by_step)
    return by_step


def _step(sums: Sums, end: int, windows: tuple[int, ...] | list[int], refill: float) -> int:
    """The demand up to ``end``, in steps; before the first slot was no I/O."""
    logs = (log(sums.over(end, slots) / slots / refill + FLOOR) for slots in windows)
    return floor(sum(logs) / len(windows) / STEP)


def _same_hours(history: History, past: Past, horizon_s: float, credits_left: float) -> float:
    """The share of the last days on which this time of day would have emptied what is left."""
    length = int(horizon_s / past.period_s) + SLACK_SLOTS
    level_end_s = history.start_s + (history.newest_slot() + 1) * history.period_s
    slot = floor((level_end_s - past.start_s) / past.period_s + 1e-6)
    # A horizon of a day would reach into what is still to come.
    if slot - DAY_SLOTS + length > (history.end_s - past.start_s) / past.period_s:
        return UNKNOWN.same_hours
    moments = _moments_of(past, history.bucket.refill)
    firsts = [slot - day * DAY_SLOTS for day in range(1, DAYS_BACK + 1)]
    days = [moments.spent(begin, length) >= credits_left for begin in firsts if begin >= 0]
    return (sum(days) + 0.1) / (len(days) + 1)

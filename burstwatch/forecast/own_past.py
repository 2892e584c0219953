"""Looks in the week before for what this volume did, and whether that would empty it now.

A disk that goes to its limit for five minutes every other hour looks, each time, as if it
would never stop. Its own week knows better. So does that of a disk that rests at a low level
for hours and then jumps.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log

from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.history.history import History
from burstwatch.history.past import PAST_PERIOD_S, Past, drawn
from burstwatch.history.spending import summed

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
#: And before it, where a person is told: a job that came earlier then has spent by this time what it spends after it now.
TOLD_SLACK_SLOTS = 6


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
    if past is None or history.is_contradicted():  # the past is one of I/O
        return UNKNOWN
    until, slots = _until(past, history.end_s), ceil(horizon_s / past.period_s)
    credits_left, refill = history.level_floor(), history.bucket.refill
    windows = _windows(history, past)
    sums = [history.likely.sums.over(history.size, window) for window in windows]
    step = _step(sums, windows, refill)
    share, moments, spent = _alike(
        past, refill, _whole_hour(past, until), slots, credits_left, step
    )
    return OwnPast(
        alike=share,
        moments=moments,
        spent=spent,
        same_hours=_share_of(_same_hours(history, past, horizon_s)),
        highest_of_day=_highest_of_day(past, until),
    )


def days_alike(history: History, horizon_s: float) -> tuple[int, int]:
    """On how many of how many days before this time of day, or half an hour earlier, would have spent what is left."""
    past = history.track.past
    if past is None or history.is_contradicted():
        return 0, 0
    days = _same_hours(history, past, horizon_s, slack_slots=TOLD_SLACK_SLOTS) or []
    return sum(days), len(days)


def _until(past: Past, end_s: float) -> int:
    """The number of slots of the past that had ended by then."""
    return max(0, min(len(past.rates), floor((end_s - past.start_s) / past.period_s + 1e-6)))


def _whole_hour(past: Past, until: int) -> int:
    """Up to a whole hour of the clock, so that a look back over the hold time sorts the week only twice."""
    return until - round(past.start_s / past.period_s + until) % HOUR_SLOTS


def _windows(history: History, past: Past) -> list[int]:
    """The windows by which moments are compared, in slots of the history."""
    return [history.slots(window * past.period_s) for window in WINDOWS]


def _highest_of_day(past: Past, until: int) -> float:
    day = slice(max(0, until - DAY_SLOTS), until)
    return past.memo.once(("highest", until), lambda: max(past.means[day], default=0.0))


class _Moments:
    """Cache of a past: the demand of each slot, and the credits spent after it."""

    def __init__(self, past: Past, refill: float) -> None:
        self._rates, self._period_s = past.rates, past.period_s
        self._refill, self._sums = refill, summed(past.rates).sums
        self._steps: dict[int, int] = {}
        self._spent: dict[tuple[int, int], float] = {}

    def step(self, slot: int) -> int:
        """The demand up to a slot, in steps."""
        if slot not in self._steps:
            sums = [self._sums.over(slot + 1, window) for window in WINDOWS]
            self._steps[slot] = _step(sums, WINDOWS, self._refill)
        return self._steps[slot]

    def spent(self, begin: int, slots: int) -> float:
        """The most credits that any run within the ``slots`` from ``begin`` on took beyond the refill."""
        key = begin, slots
        if key not in self._spent:
            rates = self._rates[begin : begin + slots]
            self._spent[key] = drawn(rates, self._refill) * self._period_s
        return self._spent[key]


def _moments_of(past: Past, refill: float) -> _Moments:
    return past.memo.once(("moments", refill), lambda: _Moments(past, refill))


def _alike(
    past: Past, refill: float, until: int, slots: int, credits_left: float, now: int
) -> tuple[float, int, int]:
    """The share of the moments with at least as much demand as ``now`` that spent what is left, and its counts.

    Or of those with less, if that is more: more demand is never a better sign.
    """
    # Of a long recording the weeks of a few hours are kept.
    week = past.memo.newest(
        ("week", refill, until % (4 * HOUR_SLOTS), slots),
        until,
        lambda: _week(past, refill, until, slots),
    )
    moments = spent = 0
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
    """The credits spent after the moments of the week up to ``until``, sorted, by the demand of each."""
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
    return by_step


def _step(sums: Sequence[float], windows: Sequence[int], refill: float) -> int:
    """The demand of some windows by its sum in each, in steps; before the first slot was no I/O."""
    logs = [log(total / slots / refill + FLOOR) for total, slots in zip(sums, windows, strict=True)]
    return floor(sum(logs) / len(logs) / STEP)


def _same_hours(
    history: History, past: Past, horizon_s: float, *, slack_slots: int = 0
) -> list[bool] | None:
    """Whether this time of day would have spent what is left, on each of the last days; None where nobody can know."""
    length = int(horizon_s / past.period_s) + SLACK_SLOTS
    level_end_s = history.start_s + (history.newest_slot() + 1) * history.period_s
    slot = floor((level_end_s - past.start_s) / past.period_s + 1e-6)
    # A horizon of a day would reach into what is still to come.
    if slot - DAY_SLOTS + length > (history.end_s - past.start_s) / past.period_s:
        return None
    moments, credits_left = _moments_of(past, history.bucket.refill), history.level_floor()
    firsts = [slot - day * DAY_SLOTS - slack_slots for day in range(1, DAYS_BACK + 1)]
    return [
        moments.spent(begin, length + slack_slots) >= credits_left for begin in firsts if begin >= 0
    ]


def _share_of(days: Sequence[bool] | None) -> float:
    """The share of the days; a tenth of a day is assumed."""
    return UNKNOWN.same_hours if days is None else (sum(days) + 0.1) / (len(days) + 1)

"""Looks in the week before for demand like the present one, and whether it went on.

A disk that goes to its limit for five minutes every other hour looks, each time, as if it
would never stop. Its own week knows better: the demand of the last 5, 15 and 60 minutes is
compared with that of every five minutes of the week before, and where enough moments were
like this one, and not one of them went on to spend what is left now, nobody is woken.
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import product
from math import ceil, floor, log
from typing import TypeAlias

from burstwatch.history.history import History
from burstwatch.history.past import PAST_PERIOD_S, Past, drawn
from burstwatch.history.spending import Sums, summed

Cell: TypeAlias = tuple[int, ...]

WEEK_SLOTS = round(7 * 86_400 / PAST_PERIOD_S)
#: The means that are compared, in slots of the past: 5, 15 and 60 minutes.
MEANS = (1, 3, 12)
#: Logarithms of rates are taken in steps of this; moments are alike at most one step apart.
STEP = 0.4
NEIGHBOURS = tuple(product((-1, 0, 1), repeat=len(MEANS)))
# Added to every rate, as a share of the refill: what is far below that is all the same.
FLOOR = 0.05
#: So many moments must have been alike for the week to have a say.
ALIKE = 10


def harmless_before(history: History, horizon_s: float) -> int:
    """Count the moments of the week before that were like now, if none went on to spend what is left.

    0 where one did so within ``horizon_s``, or where fewer than ``ALIKE`` were alike.
    """
    past, refill = history.track.past, history.bucket.refill
    if past is None:
        return 0
    week = past.memory.get(refill)
    if not isinstance(week, _Week):
        week = past.memory[refill] = _week_of(past, refill)
    slots = ceil(horizon_s / past.period_s)
    spent_after, left = week.spent_after(slots), history.level_floor()
    # Of a moment whose hours after are not all known nobody can say that it was harmless.
    until = min(len(past.rates), floor((history.end_s - past.start_s) / past.period_s + 1e-6))
    now = _cell(
        history.likely.sums, history.size, [history.slots(n * past.period_s) for n in MEANS], refill
    )
    alike = 0
    for steps in NEIGHBOURS:
        there = week.cells.get(tuple(map(sum, zip(now, steps, strict=True))), [])
        first, last = bisect_left(there, until - WEEK_SLOTS), bisect_left(there, until - slots)
        if any(spent_after[slot] >= left for slot in there[first:last]):
            return 0
        alike += max(0, last - first)
    return alike if alike >= ALIKE else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Week:
    """The slots of a past by their demand, and what was spent after each, by how many slots."""

    past: Past
    refill: float
    cells: dict[Cell, list[int]]
    known: dict[int, list[float]] = field(default_factory=dict)

    def spent_after(self, slots: int) -> list[float]:
        """The most credits that the ``slots`` after each slot took beyond the refill."""
        if slots not in self.known:
            rates, period_s = self.past.rates, self.past.period_s
            self.known[slots] = [
                drawn(rates[slot + 1 : slot + 1 + slots], self.refill) * period_s
                for slot in range(len(rates))
            ]
        return self.known[slots]


def _week_of(past: Past, refill: float) -> _Week:
    sums = summed(past.rates).sums
    cells: dict[Cell, list[int]] = {}
    for slot in range(len(past.rates)):
        cells.setdefault(_cell(sums, slot + 1, MEANS, refill), []).append(slot)
    return _Week(past=past, refill=refill, cells=cells)


def _cell(sums: Sums, end: int, windows: list[int] | tuple[int, ...], refill: float) -> Cell:
    """The logarithms of the means up to ``end``, in steps; before the first slot was no I/O."""
    means = (sums.over(end, slots) / slots for slots in windows)
    return tuple(round(log(mean / refill + FLOOR) / STEP) for mean in means)

"""Levels and demand of one resource on an even grid, with running sums.

Built once, cut at any instant: every mean, fit and extreme that the model asks for is
then a difference of two sums. A cut never sees what came after it, and nothing that the
model asks for reaches further back than ``LOOK_BACK_S``: so a whole recording that is
built once gives at each instant what a sweep of that instant builds.

What an I/O costs is not published, only what it moved. The balance itself is the truth:
between two datapoints it lost ``spent - refill``. So the *charge ratio*, credits really
spent per nominal credit of the I/O reported, is fitted from the balance's slope where
both are known, and the documented least and most bound it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from burstwatch.points import DemandPoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.bucket import Bucket
    from burstwatch.points import LevelPoint, Statistic
    from burstwatch.volumes import Binding

#: How far back a look asks at the finest period: three hours for the slowest window, one and
#: a half for the longest hold time, one for the fit of the charge ratio at the oldest instant
#: of that, and half an hour for late data.
LOOK_BACK_S = 6 * 3600.0
#: The period at which the days before are asked for.
PAST_PERIOD_S = 300.0
#: The charge ratio at an instant comes from the hour before it.
FIT_S = 3600.0
# Outside these the bucket clips (empty, full), and the slope says nothing of spending.
INSIDE = (0.001, 0.999)
#: Half of the smallest step that the console shows of a balance (0.1 %).
EMPTY_RATIO = 0.0005
# A datapoint's balance is taken to be good to 0.1 %, the step that the console shows.
BALANCE_STEP = 0.001
#: An incident lasts from empty until the level is back here.
RECOVERED_RATIO = 0.2
# Rates and levels may be this much off before they contradict one another.
TOLERANCE = 1.05
# What is too fast for the bucket must also be more than noise: a share of the capacity.
JUMP_RATIO = 0.005

JUMPED_UP = "the balance rose faster than it can: resized, retyped or another volume"
FELL_TOO_FAST = "the balance fell faster than it can: another size or type than stated"
SERVED_TOO_MUCH = "more I/O than this type and size serve: another one than stated"
DISAGREES = "balance and I/O disagree: another size or type than stated, or resized"


@dataclass(frozen=True, slots=True)
class Sums:
    """Running sums over slots: ``of[i]`` is the sum of all before slot ``i``."""

    of: list[float]

    def over(self, end: int, slots: int) -> float:
        """The sum of the ``slots`` before ``end``; what was before the first is 0."""
        return self.of[end] - self.of[max(0, end - slots)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """One bound of the credits per second spent, by slot."""

    by_slot: list[float]
    sums: Sums

    def mean(self, end: int, slots: int) -> float:
        """The mean of the ``slots`` before ``end``, or of as many as there are."""
        return self.sums.over(end, slots) / min(slots, end)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """What the balance says of the I/O's cost, where both are known: running sums in credits."""

    spent: Sums
    least: Sums
    nominal: Sums
    most: Sums
    slots: Sums


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """Credits per second at a coarse period, days back, from the first datapoint there is.

    ``means`` are those of three slots up to each, a quarter of an hour.
    """

    start_s: float
    period_s: float
    rates: list[float]
    means: list[float]


class Track:
    """Everything that is known of one resource, by slot. What is derived is made when asked for.

    ``levels`` are shares of the bucket, infinite where there is no datapoint; ``known`` is
    the I/O, None where there is none. ``means`` and ``memory`` keep what was computed.
    """

    def __init__(
        self,
        bucket: Bucket,
        levels: Sequence[LevelPoint],
        demand: Sequence[DemandPoint],
        past: Past | None,
    ) -> None:
        self.bucket, self.past = bucket, past
        self.statistic: Statistic = levels[-1].statistic if levels else "Minimum"
        # The balance sets the grid: I/O that comes more often is taken together.
        self.period_s = period_s = (levels or demand)[-1].period_s if levels or demand else 60.0
        starts = [points[0].start_s for points in (levels, demand) if points]
        self.start_s = min(starts, default=0.0)
        placed = [(self._slot(point.end_s), point.ratio) for point in levels]
        demand = _at_least(demand, period_s)
        ends = [slot for slot, _ in placed[-1:]] + [self._slot(one.end_s) for one in demand[-1:]]
        self.size = size = 1 + max(ends, default=-1)
        self.levels = [math.inf] * size
        for slot, ratio in placed:
            self.levels[slot] = min(ratio, self.levels[slot])
        self.known: list[DemandPoint | None] = [None] * size
        for one in demand:
            last = self._slot(one.end_s) + 1
            first = max(0, last - max(1, round(one.period_s / period_s)))
            self.known[first:last] = [one] * (last - first)
        self.has_demand = bool(demand)
        self.means: dict[float, list[float]] = {}
        self.memory: dict[object, object] = {}

    def _slot(self, end_s: float) -> int:
        """The slot in which a period ends: what ends within it is not known before its end."""
        return math.ceil((end_s - self.start_s) / self.period_s - 1e-6) - 1

    @cached_property
    def last_level(self) -> list[int]:
        """For each slot the newest one up to it with a level, or -1."""
        return _newest([ratio < math.inf for ratio in self.levels])

    @cached_property
    def last_demand(self) -> list[int]:
        """For each slot the newest one up to it with known I/O, or -1."""
        return _newest([point is not None for point in self.known])

    @cached_property
    def last_empty(self) -> list[int]:
        """For each slot the newest one up to it that was empty, or -1."""
        return _newest([ratio <= EMPTY_RATIO for ratio in self.levels])

    @cached_property
    def last_recovered(self) -> list[int]:
        """For each slot the newest one up to it that was back from empty, or -1."""
        return _newest([RECOVERED_RATIO <= ratio < math.inf for ratio in self.levels])

    @cached_property
    def fit(self) -> Fit:
        """What the balance says of the I/O's cost."""
        return _fit(self.bucket, self.levels, self.known, self.period_s)

    @cached_property
    def rates(self) -> tuple[Rates, Rates, Rates]:
        """Least, likely and most credits per second spent."""
        least, likely, most = _rates(self)
        return _summed(least), _summed(likely), _summed(most)

    @cached_property
    def served_too_much(self) -> list[int]:
        """Slots with more I/O than the bucket lets through."""
        most = TOLERANCE * self.bucket.burst
        if not self.has_demand:
            return []
        return [
            slot
            for slot, point in enumerate(self.known)
            if point is not None and point.least > most
        ]


@dataclass(frozen=True, slots=True)
class History:
    """The first ``size`` slots of a track: nothing here looks further than that."""

    track: Track
    size: int

    @property
    def bucket(self) -> Bucket:
        """The bucket that all this is about."""
        return self.track.bucket

    @property
    def start_s(self) -> float:
        """The start of the first slot."""
        return self.track.start_s

    @property
    def period_s(self) -> float:
        """The length of a slot."""
        return self.track.period_s

    @property
    def statistic(self) -> Statistic:
        """What the levels are of their periods."""
        return self.track.statistic

    @property
    def levels(self) -> list[float]:
        """Shares of the bucket by slot, infinite where there is no datapoint; may be longer."""
        return self.track.levels

    @property
    def end_s(self) -> float:
        """The end of the newest slot."""
        return self.start_s + self.size * self.period_s

    @property
    def least(self) -> Rates:
        """The least that was spent."""
        return self.track.rates[0]

    @property
    def likely(self) -> Rates:
        """What was spent, as far as is known."""
        return self.track.rates[1]

    @property
    def most(self) -> Rates:
        """The most that was spent."""
        return self.track.rates[2]

    def slots(self, seconds: float) -> int:
        """How many slots ``seconds`` are, at least one."""
        return max(1, round(seconds / self.track.period_s))

    def until(self, end_s: float) -> History:
        """Only what had ended by ``end_s``, up to the newest datapoint: a history ends with one."""
        track = self.track
        size = min(self.size, math.floor((end_s - track.start_s) / track.period_s + 1e-6))
        if size > 0 and track.levels[size - 1] == math.inf and track.known[size - 1] is None:
            size = 1 + max(track.last_level[size - 1], track.last_demand[size - 1])
        return self.cut(max(0, size))

    def cut(self, size: int) -> History:
        """Only the first ``size`` slots."""
        return self if size == self.size else History(self.track, size)

    def newest_level(self) -> int:
        """The slot of the newest level, or -1."""
        newest = self.size - 1
        if newest < 0 or self.track.levels[newest] < math.inf:
            return newest
        return self.track.last_level[newest]

    def has_demand(self) -> bool:
        """Whether any I/O is known."""
        return (
            self.size > 0 and self.track.has_demand and self.track.last_demand[self.size - 1] >= 0
        )

    def newest_binding(self) -> Binding:
        """What held the newest known I/O back."""
        if not self.has_demand():
            return "none"
        point = self.track.known[self.track.last_demand[self.size - 1]]
        return point.binding if point is not None else "none"

    def charge_ratio(self) -> float | None:
        """Credits spent per nominal credit over the last hour, or None where nothing shows it."""
        return _ratio(self.track.fit, self.size, self.slots(FIT_S))

    def since_empty(self) -> int | None:
        """Slots since the bucket was last empty, while it is not yet back from that."""
        if not self.size or min(self.levels[self._first(LOOK_BACK_S) : self.size]) > EMPTY_RATIO:
            return None
        empty = self.track.last_empty[self.size - 1]
        return self.size - 1 - empty if empty > self.track.last_recovered[self.size - 1] else None

    def oddity(self) -> str:
        """What within the last hour contradicts the bucket as it was stated, or nothing."""
        first, track = self._first(FIT_S), self.track
        bucket, seconds = self.bucket, self.period_s
        noise = JUMP_RATIO * bucket.capacity
        steps = list(pairwise(track.levels[max(0, first - 1) : self.size]))
        changes = [after - before for before, after in steps if before < math.inf > after]
        # A Minimum may lie anywhere in its period, so the two may be a period further apart.
        if (
            max(changes, default=0.0) * bucket.capacity
            > 2 * TOLERANCE * bucket.refill * seconds + noise
        ):
            return JUMPED_UP
        fastest = TOLERANCE * (bucket.burst - bucket.refill) * 2 * seconds + noise
        if -min(changes, default=0.0) * bucket.capacity > fastest:
            return FELL_TOO_FAST
        much = track.served_too_much
        found = bisect_right(much, self.size - 1)
        if found and much[found - 1] >= first:
            return SERVED_TOO_MUCH
        if not track.has_demand:
            return ""
        return DISAGREES if _disagree(track.fit, self.size, self.slots(FIT_S), bucket) else ""

    def _first(self, seconds: float) -> int:
        return max(0, self.size - self.slots(seconds))


def build_history(
    bucket: Bucket,
    levels: Sequence[LevelPoint],
    demand: Sequence[DemandPoint],
    *,
    past: Past | None = None,
) -> History:
    """A history of points in time order.

    A slot's spending comes from its I/O; where that is not known, from what the
    balance lost; where neither is, nothing was done in it, for CloudWatch has no
    datapoint for a period without I/O.
    """
    track = Track(bucket, levels, demand, past)
    return History(track, track.size)


def _at_least(demand: Sequence[DemandPoint], period_s: float) -> Sequence[DemandPoint]:
    """Demand with periods no shorter than that: shorter ones are taken together by the clock."""
    if not demand or demand[-1].period_s >= period_s:
        return demand
    groups: dict[float, list[DemandPoint]] = {}
    for point in demand:
        groups.setdefault(point.start_s // period_s * period_s, []).append(point)
    return [_together(start_s, some, period_s) for start_s, some in groups.items()]


def _together(start_s: float, some: Sequence[DemandPoint], period_s: float) -> DemandPoint:
    share = some[0].period_s / period_s
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=share * sum(point.least for point in some),
        nominal=share * sum(point.nominal for point in some),
        most=share * sum(point.most for point in some),
        binding=some[-1].binding,
    )


def to_past(demand: Sequence[DemandPoint]) -> Past | None:
    """Demand as CloudWatch sums it up over five minutes, from the first datapoint on."""
    if not demand:
        return None
    start_s = demand[0].start_s // PAST_PERIOD_S * PAST_PERIOD_S
    slots = max(1, round(demand[-1].period_s / PAST_PERIOD_S))  # that one point covers
    rates = [0.0] * (int((demand[-1].start_s - start_s) // PAST_PERIOD_S) + slots)
    share = min(1.0, demand[-1].period_s / PAST_PERIOD_S)
    for point in demand:
        first = int((point.start_s - start_s) // PAST_PERIOD_S)
        for slot in range(first, first + slots):
            rates[slot] += point.nominal * share
    three = zip([0.0, 0.0, *rates], [0.0, *rates], rates, strict=False)
    means = [sum(some) / 3 for some in three]
    return Past(start_s=start_s, period_s=PAST_PERIOD_S, rates=rates, means=means)


def _newest(flags: Sequence[bool]) -> list[int]:
    """For each slot the newest one up to it whose flag is set, or -1."""
    return list(
        accumulate((slot if flag else -1 for slot, flag in enumerate(flags)), max),
    )


def _summed(by_slot: list[float]) -> Rates:
    return Rates(by_slot=by_slot, sums=_sums(by_slot))


def _sums(values: Sequence[float]) -> Sums:
    return Sums(list(accumulate(values, initial=0.0)))


def _fit(
    bucket: Bucket,
    ratios: Sequence[float],
    known: Sequence[DemandPoint | None],
    period_s: float,
) -> Fit:
    """Spending that the balance shows, beside what the I/O says, where both are known.

    Only falling slots that follow a falling one are used: there both Minimums are
    levels at their slots' ends, and so their difference is what the later slot lost.
    """
    size = len(ratios)
    spent, least, nominal, most, slots = ([0.0] * size for _ in range(5))
    refilled = bucket.refill * period_s
    low, high = INSIDE
    was_falling = False
    for slot in range(1, size):
        before, after, point = ratios[slot - 1], ratios[slot], known[slot]
        falling = low < after < before < high
        if falling and was_falling and point is not None and point.nominal > 0:
            spent[slot] = (before - after) * bucket.capacity + refilled
            least[slot] = point.least * period_s
            nominal[slot] = point.nominal * period_s
            most[slot] = point.most * period_s
            slots[slot] = 1.0
        was_falling = falling
    return Fit(
        spent=_sums(spent),
        least=_sums(least),
        nominal=_sums(nominal),
        most=_sums(most),
        slots=_sums(slots),
    )


def _ratio(fit: Fit, end: int, slots: int) -> float | None:
    if not fit.slots.over(end, slots):
        return None
    return fit.spent.over(end, slots) / fit.nominal.over(end, slots)


def _disagree(fit: Fit, end: int, slots: int, bucket: Bucket) -> bool:
    spent, error = fit.spent.over(end, slots), BALANCE_STEP * bucket.capacity
    least, most = fit.least.over(end, slots), fit.most.over(end, slots)
    return spent > TOLERANCE * most + error or TOLERANCE * spent + error < least


def _rates(track: Track) -> tuple[list[float], list[float], list[float]]:
    """Least, likely and most credits per second spent, by slot."""
    size = track.size
    least, likely, most = [0.0] * size, [0.0] * size, [0.0] * size
    if track.has_demand:
        _rates_of_demand(track, least, likely, most)
    bucket, levels, known, period_s = track.bucket, track.levels, track.known, track.period_s
    error = BALANCE_STEP * bucket.capacity / period_s
    scale, refill, burst, full = bucket.capacity / period_s, bucket.refill, bucket.burst, INSIDE[1]
    for slot in range(1, size):
        after = levels[slot]
        if after == math.inf:
            continue
        before = levels[slot - 1]
        if before < math.inf:
            if known[slot] is None:  # the usual case of what ``_from_balance`` does
                rate = refill + (before - after) * scale
                likely[slot] = min(burst, max(0.0, rate))
                most[slot] = min(burst, max(0.0, rate + error))
                least[slot] = 0.0 if after >= full else min(burst, max(0.0, rate - error))
            continue
        _fill_gap(track, slot, least, likely, most)
    return least, likely, most


def _rates_of_demand(
    track: Track, least: list[float], likely: list[float], most: list[float]
) -> None:
    """The rates of the slots whose I/O is known, charged as the hour before shows."""
    spent, nominal, fitted = track.fit.spent.of, track.fit.nominal.of, track.fit.slots.of
    slots = max(1, round(FIT_S / track.period_s))
    step = BALANCE_STEP * track.bucket.capacity
    for slot, point in enumerate(track.known):
        if point is None:
            continue
        end = slot + 1
        first = max(0, end - slots)
        seen = nominal[end] - nominal[first]
        if fitted[end] == fitted[first]:
            least[slot], likely[slot], most[slot] = point.least, point.nominal, point.most
            continue
        ratio, error = (spent[end] - spent[first]) / seen, step / seen
        rate = min(point.most, max(point.least, point.nominal * ratio))
        likely[slot] = rate
        least[slot] = min(rate, max(point.least, point.nominal * max(0.0, ratio - error)))
        most[slot] = max(rate, min(point.most, point.nominal * (ratio + error)))


def _fill_gap(
    track: Track, slot: int, least: list[float], likely: list[float], most: list[float]
) -> None:
    """Slots without any datapoint, between two balances: what these lost is spread over them.

    Only where not even I/O is known in between: no cut can end there, and so none can
    see a rate that a later balance has told.
    """
    before = track.last_level[slot - 1]
    gap = range(before + 1, slot + 1)
    if before < 0 or any(track.known[one] is not None for one in gap):
        return
    bounds = _from_balance(
        track.bucket,
        (track.levels[before], track.levels[slot]),
        seconds=len(gap) * track.period_s,
    )
    for one in gap:
        least[one], likely[one], most[one] = bounds


def _from_balance(
    bucket: Bucket, ratios: tuple[float, float], *, seconds: float
) -> tuple[float, float, float]:
    """The rate at which the balance went from one to the other."""
    before, after = ratios
    error = BALANCE_STEP * bucket.capacity / seconds
    clipped = after >= INSIDE[1]  # full: what came in may all have been spent, or none

    def bounded(rate: float) -> float:
        return min(bucket.burst, max(0.0, rate))

    rate = (before - after) * bucket.capacity / seconds + bucket.refill
    return 0.0 if clipped else bounded(rate - error), bounded(rate), bounded(rate + error)

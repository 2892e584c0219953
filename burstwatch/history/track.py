"""Levels and demand of one resource on an even grid, with what is derived from them."""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from operator import sub

from burstwatch.bucket import DAY_S, Bucket
from burstwatch.history.memo import Memo
from burstwatch.history.past import Past
from burstwatch.history.points import (
    FINE_S,
    DemandPoint,
    LevelPoint,
    LevelSeries,
    Statistic,
    even_starts,
)
from burstwatch.history.spending import (
    TOLERANCE,
    Balance,
    Fit,
    Rates,
    Witness,
    balance_of,
    fit_cost,
    is_apart,
    rates_of,
    summed,
    witnesses_of,
)

NO_LEVELS = LevelSeries([], [], FINE_S, "Minimum")
#: Half of the smallest step that the console shows of a balance (0.1 %).
EMPTY_RATIO = 0.0005
#: An incident lasts from empty until the level is back here.
RECOVERED_RATIO = 0.2
#: Share of the capacity: a fall that is too fast for the bucket must also be larger than this noise.
JUMP_RATIO = 0.005
#: How far back a look asks at the finest period: three hours for the slowest window, one and
#: a half for the longest hold time, one for the fit of the charge ratio at the oldest instant
#: of that, and half an hour for late data.
LOOK_BACK_S = 6 * 3600.0
#: A slow bucket is looked at for as long as its recovery takes, up to this long; the rest of a
#: look-back is for the demand before.
LONGEST_LOOK_BACK_S = 3 * DAY_S
BEFORE_S = 3600.0


def look_back_s(bucket: Bucket | None) -> float:
    """The look-back: six hours, or what an idle bucket needs to recover from empty."""
    if bucket is None or bucket.refill <= 0:
        return LOOK_BACK_S
    recovery_s = RECOVERED_RATIO * bucket.capacity / bucket.refill
    return min(LONGEST_LOOK_BACK_S, max(LOOK_BACK_S, recovery_s + BEFORE_S))


def recovered_ratio(bucket: Bucket) -> float:
    """The level that ends an incident: 20%, or what comes in during the longest look-back."""
    most = bucket.refill * (look_back_s(bucket) - BEFORE_S) / bucket.capacity
    return max(2 * EMPTY_RATIO, min(RECOVERED_RATIO, most))


def starting_s(bucket: Bucket) -> float:
    """How long a bucket that starts empty takes to be as full as one that has recovered."""
    return recovered_ratio(bucket) * bucket.capacity / bucket.refill if bucket.refill else math.inf


class Track:
    """Everything that is known of one resource, by slot. What is derived is made when asked for.

    ``levels`` are shares of the bucket, infinite where there is no datapoint; ``points`` are
    the I/O, None where there is none. ``is_slow`` is for a bucket that empties in hours, and is judged by
    the mean of hours. ``memo`` keeps what was computed.
    """

    def __init__(
        self,
        bucket: Bucket,
        levels: Sequence[LevelPoint],
        demand: Sequence[DemandPoint],
        past: Past | None,
        *,
        is_slow: bool = False,
    ) -> None:
        self.bucket, self.past, self.is_slow = bucket, past, is_slow
        self.look_back_s, self.recovered_ratio = look_back_s(bucket), recovered_ratio(bucket)
        self.statistic: Statistic = levels[-1].statistic if levels else "Minimum"
        # The balance sets the grid: I/O that comes more often is taken together.
        self.period_s = period_s = (levels or demand)[-1].period_s if levels or demand else 60.0
        starts = [points[0].start_s for points in (levels, demand) if points]
        self.start_s = min(starts, default=0.0)
        demand = _at_least(demand, period_s)
        series = LevelSeries.of(levels) if levels else NO_LEVELS
        level_slots, demand_slots = self._level_slots(series), self._slots_of(demand)
        self.size = size = 1 + max([*level_slots[-1:], *demand_slots[-1:]], default=-1)
        self.levels = _by_slot(level_slots, series.ratios, size)
        self.points: list[DemandPoint | None] = [None] * size
        for slot, point in zip(demand_slots, demand, strict=True):
            self.points[slot] = point
            for before in range(max(0, slot + 1 - round(point.period_s / period_s)), slot):
                self.points[before] = point
        self.has_demand = bool(demand)
        self.memo = Memo()

    def with_past(self, past: Past) -> "Track":
        """Return a copy with other days before, of which nothing is computed yet."""
        clone = copy(self)
        clone.past, clone.memo = past, Memo()
        return clone

    def _level_slots(self, series: LevelSeries) -> Sequence[int]:
        """The slot of each level; of levels without a gap that is one after the other."""
        starts, size = series.starts, len(series)
        if not starts or starts != even_starts(starts[0], self.period_s, size):
            return self._slots_of(series)
        (begin,) = self._slots_of(series[:1])
        return range(begin, begin + size)

    def _slots_of(self, points: Sequence[LevelPoint] | Sequence[DemandPoint]) -> list[int]:
        """The slot in which each period ends: what ends within it is not known before its end."""
        start_s, period_s, ceil = self.start_s, self.period_s, math.ceil
        return [
            ceil((point.start_s + point.period_s - start_s) / period_s - 1e-6) - 1
            for point in points
        ]

    @cached_property
    def last_level(self) -> list[int]:
        """For each slot the newest one up to it with a level, or -1."""
        return _last_true_by_slot([ratio < math.inf for ratio in self.levels])

    @cached_property
    def last_demand(self) -> list[int]:
        """For each slot the newest one up to it with known I/O, or -1."""
        return _last_true_by_slot([point is not None for point in self.points])

    @cached_property
    def last_empty(self) -> list[int]:
        """For each slot the newest one up to it that was empty, or -1."""
        if min(self.levels, default=math.inf) > EMPTY_RATIO:
            return [-1] * self.size
        return _last_true_by_slot([ratio <= EMPTY_RATIO for ratio in self.levels])

    @cached_property
    def last_recovered(self) -> list[int]:
        """For each slot the newest one up to it that was back from empty, or -1."""
        return _last_true_by_slot(
            [self.recovered_ratio <= ratio < math.inf for ratio in self.levels]
        )

    @cached_property
    def fit(self) -> Fit:
        """The I/O's cost as the balance shows it."""
        return fit_cost(self.bucket, self.levels, self.points, self.period_s)

    @cached_property
    def balance(self) -> Balance:
        """What the balance lost, beside the I/O."""
        return balance_of(self.bucket, self.levels, self.points, self.period_s)

    @cached_property
    def contradicted(self) -> list[bool]:
        """For each slot whether the balance of the hour before contradicts the I/O."""
        if not self.has_demand:
            return [False] * self.size
        return [
            any(is_apart(*witness.at(end)) for witness in self.witnesses)
            for end in range(1, self.size + 1)
        ]

    @cached_property
    def witnesses(self) -> tuple[Witness, ...]:
        """What the balance lost, beside the I/O, over some times."""
        return witnesses_of(self.fit, self.balance, self.bucket, self.period_s)

    @cached_property
    def rates(self) -> tuple[Rates, Rates, Rates]:
        """Least, likely and most credits per second spent."""
        least, likely, most = rates_of(self, self.fit)
        return summed(least), summed(likely), summed(most)

    @cached_property
    def jumped_up(self) -> list[int]:
        """Slots with a higher level than what comes in explains."""
        # A Minimum may lie anywhere in its period, so two may be a period further apart.
        most = 2 * TOLERANCE * self.bucket.refill * self.period_s / self.bucket.capacity
        if self._changes.highest <= most + JUMP_RATIO:
            return []
        return [slot for slot, change in self._changes.by_slot() if change > most + JUMP_RATIO]

    @cached_property
    def fell_too_fast(self) -> list[int]:
        """Slots with a lower level than a full burst explains."""
        net = self.bucket.burst - self.bucket.refill
        most = 2 * TOLERANCE * net * self.period_s / self.bucket.capacity
        if -self._changes.lowest <= most + JUMP_RATIO:
            return []
        return [slot for slot, change in self._changes.by_slot() if -change > most + JUMP_RATIO]

    @cached_property
    def _changes(self) -> "_Changes":
        return _Changes(self.levels)

    @cached_property
    def served_too_much(self) -> list[int]:
        """Slots whose rate of I/O was above the bucket's burst rate, by more than is measured wrong."""
        most = TOLERANCE * self.bucket.burst
        if not self.has_demand:
            return []
        return [
            slot
            for slot, point in enumerate(self.points)
            if point is not None and point.least > most
        ]


class _Changes:
    """The differences of levels from one slot to the next, where both have one."""

    def __init__(self, levels: Sequence[float]) -> None:
        # Without a level in one slot the difference is infinite, without one in both it is no number.
        self._every = [*map(sub, levels[1:], levels)]
        changes = self._every
        if max(levels, default=0.0) == math.inf:
            changes = [change for change in changes if math.isfinite(change)]
        self.highest, self.lowest = max(changes, default=0.0), min(changes, default=0.0)

    def by_slot(self) -> Iterator[tuple[int, float]]:
        """The later slot of each, and the difference."""
        steps = enumerate(self._every, start=1)
        return ((slot, change) for slot, change in steps if math.isfinite(change))


def _by_slot(slots: Sequence[int], ratios: Sequence[float], size: int) -> list[float]:
    """The lowest ratio of each of ``size`` slots, infinite where there is none."""
    if isinstance(slots, range):
        return [*[math.inf] * slots.start, *ratios, *[math.inf] * (size - slots.stop)]
    lowest = [math.inf] * size
    for slot, ratio in zip(slots, ratios, strict=True):
        lowest[slot] = min(lowest[slot], ratio)
    return lowest


def _at_least(demand: Sequence[DemandPoint], period_s: float) -> Sequence[DemandPoint]:
    """Demand with periods no shorter than that: shorter ones are taken together by the clock."""
    if not demand or demand[-1].period_s >= period_s:
        return demand
    groups: dict[float, list[DemandPoint]] = {}
    for point in demand:
        groups.setdefault(point.start_s // period_s * period_s, []).append(point)
    return [_together(start_s, points, period_s) for start_s, points in groups.items()]


def _together(start_s: float, points: Sequence[DemandPoint], period_s: float) -> DemandPoint:
    """Join short points of demand into one of the balance's period."""
    share = points[0].period_s / period_s
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=share * sum(point.least for point in points),
        nominal=share * sum(point.nominal for point in points),
        most=share * sum(point.most for point in points),
        binding=points[-1].binding,
    )


def _last_true_by_slot(flags: Sequence[bool]) -> list[int]:
    """For each slot the newest one up to it whose flag is true, or -1."""
    newest, newest_by_slot = -1, []
    for slot, flag in enumerate(flags):
        if flag:
            newest = slot
        newest_by_slot.append(newest)
    return newest_by_slot

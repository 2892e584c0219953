"""Levels and demand of one resource on an even grid, with running sums.

Built once, cut at any instant: every mean, fit and extreme that the model asks for is
then a difference of two sums. A cut never sees what came after it, and nothing that the
model asks for reaches further back than ``LOOK_BACK_S``: so a whole recording that is
built once gives at each instant what a sweep of that instant builds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from burstwatch.points import DemandPoint
from burstwatch.spending import (
    FIT_S,
    TOLERANCE,
    Fit,
    Rates,
    Slots,
    charge_ratio,
    disagree,
    fit_cost,
    rates_of,
    summed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.bucket import Bucket
    from burstwatch.past import Past
    from burstwatch.points import LevelPoint, Statistic
    from burstwatch.volumes import Binding

#: How far back a look asks at the finest period: three hours for the slowest window, one and
#: a half for the longest hold time, one for the fit of the charge ratio at the oldest instant
#: of that, and half an hour for late data.
LOOK_BACK_S = 6 * 3600.0
#: Half of the smallest step that the console shows of a balance (0.1 %).
EMPTY_RATIO = 0.0005
#: An incident lasts from empty until the level is back here.
RECOVERED_RATIO = 0.2
# What is too fast for the bucket must also be more than noise: a share of the capacity.
JUMP_RATIO = 0.005

JUMPED_UP = "the balance rose faster than it can: resized, retyped or another volume"
FELL_TOO_FAST = "the balance fell faster than it can: another size or type than stated"
SERVED_TOO_MUCH = "more I/O than this type and size serve: another one than stated"
DISAGREES = "balance and I/O disagree: another size or type than stated, or resized"


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
        return fit_cost(self.bucket, self.levels, self.known, self.period_s)

    @cached_property
    def rates(self) -> tuple[Rates, Rates, Rates]:
        """Least, likely and most credits per second spent."""
        slots = Slots(
            bucket=self.bucket,
            period_s=self.period_s,
            levels=self.levels,
            known=self.known,
            last_level=self.last_level,
        )
        least, likely, most = rates_of(slots, self.fit)
        return summed(least), summed(likely), summed(most)

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
        return charge_ratio(self.track.fit, self.size, self.slots(FIT_S))

    def since_empty(self) -> int | None:
        """Slots since the bucket was last empty, while it is not yet back from that."""
        if not self.size or min(self.levels[self._first(LOOK_BACK_S) : self.size]) > EMPTY_RATIO:
            return None
        return (
            self.size - 1 - self.track.last_empty[self.size - 1] if self.is_recovering() else None
        )

    def is_recovering(self) -> bool:
        """Whether the bucket was empty and is not yet back from that."""
        return self.track.last_empty[self.size - 1] > self.track.last_recovered[self.size - 1]

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
        return DISAGREES if disagree(track.fit, self.size, self.slots(FIT_S), bucket) else ""

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


def _newest(flags: Sequence[bool]) -> list[int]:
    """For each slot the newest one up to it whose flag is set, or -1."""
    return list(
        accumulate((slot if flag else -1 for slot, flag in enumerate(flags)), max),
    )

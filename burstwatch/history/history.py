"""Cuts one resource's track at one instant, to what had been seen by then.

A track is built once and cut at any instant: every mean, fit and extreme that the model
asks for is then a difference of two sums. A cut never sees what came after it, and nothing
that the model asks for reaches further back than ``look_back_s``: so a whole recording
that is built once gives at each instant what a sweep of that instant builds.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burstwatch.bucket import Bucket
from burstwatch.history.past import Past
from burstwatch.history.points import NO_LIMIT, DemandPoint, LevelPoint, Statistic
from burstwatch.history.spending import FIT_S, Rates, is_apart
from burstwatch.history.track import EMPTY_RATIO, Track

#: A balance that rose by less than this share of the bucket was not filling.
NOISE_RATIO = 0.01
#: What was asked for before a bucket was empty is the mean of the last so many seconds.
ASKED_S = 900.0

JUMPED_UP = "the balance rose faster than it can: resized, retyped or another volume"
FELL_TOO_FAST = "the balance fell faster than it can: the stated type or size is wrong"
BALANCE_DECIDES = "; the balance decides"
COSTS_MORE = f": I/O that is not published, or another type or size{BALANCE_DECIDES}"
COSTS_LESS = f": merged I/O, or another type or size{BALANCE_DECIDES}"
SERVED_TOO_MUCH = (
    "more I/O than a resource of this type and size serves: the stated type or size is wrong"
)


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
        """The statistic of the levels."""
        return self.track.statistic

    @property
    def levels(self) -> list[float]:
        """Shares of the bucket by slot, the oldest first; infinite where there is no datapoint.

        The list goes on after ``size``, with what nobody has seen yet: read up to ``newest_slot()``, which may be -1.
        """
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
        """The likely spending."""
        return self.track.rates[1]

    @property
    def most(self) -> Rates:
        """The most that was spent."""
        return self.track.rates[2]

    def slots(self, seconds: float) -> int:
        """The number of slots in ``seconds``, at least one."""
        return max(1, round(seconds / self.track.period_s))

    def until(self, end_s: float) -> "History":
        """Only what had ended by ``end_s``, up to the newest datapoint: a history ends with one."""
        track = self.track
        size = min(self.size, math.floor((end_s - track.start_s) / track.period_s + 1e-6))
        if size > 0 and track.levels[size - 1] == math.inf and track.points[size - 1] is None:
            size = 1 + max(track.last_level[size - 1], track.last_demand[size - 1])
        return self.cut(max(0, size))

    def cut(self, size: int) -> "History":
        """Only the first ``size`` slots."""
        return self if size == self.size else History(self.track, size)

    def newest_slot(self) -> int:
        """The slot of the newest level, or -1."""
        newest = self.size - 1
        if newest < 0 or self.track.levels[newest] < math.inf:
            return newest
        return self.track.last_level[newest]

    def levels_since(self, at: float, *, every_s: float) -> Iterator[tuple[float, float]]:
        """The lowest share of the bucket of each ``every_s`` after ``at`` in which one is known, with its end."""
        first = max(0, math.floor((at - self.start_s) / self.period_s))
        for begin in range(first, self.newest_slot() + 1, self.slots(every_s)):
            end = min(begin + self.slots(every_s), self.newest_slot() + 1)
            lowest = min(self.levels[begin:end])
            if lowest < math.inf:
                yield self.start_s + end * self.period_s, lowest

    def first_level(self) -> float:
        """The oldest known share of the bucket; infinite where none is known."""
        known_levels = (level for level in self.levels[: self.size] if level < math.inf)
        return next(known_levels, math.inf)

    def level_age_s(self, now: float) -> float:
        """Seconds from the end of the newest level's slot to ``now``; there must be a level."""
        return max(0.0, now - self.start_s - (self.newest_slot() + 1) * self.period_s)

    def level_floor(self) -> float:
        """Credits at the end of the newest level's slot, at the least; there must be a level."""
        return self.credits_of(self.levels[self.newest_slot()])

    def credits_of(self, level: float) -> float:
        """Credits at the end of a slot with this level, at the least."""
        bucket = self.bucket
        credits_then = level * bucket.capacity
        if self.statistic == "Average":
            credits_then -= (bucket.burst - bucket.refill) * self.period_s
        return max(0.0, credits_then)

    def worst_s(self) -> float:
        """Seconds from the end of the newest level's slot to empty, at full burst.

        ``inf`` where nothing can drain the bucket, or no level is known.
        """
        bucket = self.bucket
        if not bucket.can_drain or self.newest_slot() < 0:
            return math.inf
        return self.level_floor() / (bucket.burst - bucket.refill)

    def has_demand(self) -> bool:
        """True if any I/O is known."""
        return (
            self.size > 0 and self.track.has_demand and self.track.last_demand[self.size - 1] >= 0
        )

    def newest_binding(self) -> str:
        """The limit that held the newest known I/O back."""
        if not self.has_demand():
            return NO_LIMIT
        point = self.track.points[self.track.last_demand[self.size - 1]]
        return point.binding if point is not None else NO_LIMIT

    def with_past(self, past: Past) -> "History":
        """Return a copy with the days before; values computed from the hours are kept."""
        return History(self.track.with_past(past), self.size)

    def drain_began(self) -> tuple[float, float]:
        """When the current drain began, and how full the bucket was then (0 to 1).

        The last instant before which it was filling, by more than noise, or the fullest of
        the look-back. In seconds since the epoch; there must be a level.
        """
        slot = top = self.newest_slot()
        while slot >= self.first_slot(self.track.look_back_s):
            level = self.levels[slot]
            if level < math.inf and level > self.levels[top]:
                top = slot
            elif level < self.levels[top] - NOISE_RATIO:
                break
            slot -= 1
        return self.start_s + (top + 1) * self.period_s, self.levels[top]

    def empty_since(self) -> float | None:
        """When the newest datapoints without credits began, in seconds since the epoch.

        None where the newest level is not empty. What is older than the history is not known, so it may be longer.
        """
        begin = None
        for slot in range(self.newest_slot(), -1, -1):
            if EMPTY_RATIO < self.levels[slot] < math.inf:
                break
            begin = slot if self.levels[slot] < math.inf else begin
        return None if begin is None else self.start_s + begin * self.period_s

    def asked_before_empty(self) -> float | None:
        """Credits a second that were asked for just before the bucket was first empty; None where it is not, or nobody knows.

        What an empty bucket serves is less than that, also after it held some credits for a moment.
        """
        if self.empty_since() is None:
            return None
        recovered = self.track.last_recovered[self.size - 1]
        levels = self.levels
        slot = next(n for n in range(recovered + 1, self.size) if levels[n] <= EMPTY_RATIO)
        asked = self.likely.mean(slot, self.slots(ASKED_S)) if slot > 0 else 0.0
        return asked if asked > self.bucket.refill else None

    def since_empty(self) -> int | None:
        """Slots since the bucket was last empty, while it is not yet back from that.

        An incident that began before the look-back is not known any more.
        """
        if not self.size or not self.is_recovering(self.first_slot(self.track.look_back_s)):
            return None
        return self.size - 1 - self.track.last_empty[self.size - 1]

    def is_recovering(self, since: int) -> bool:
        """True if the bucket was empty in slot ``since`` or later, and is not yet back."""
        empty = self.track.last_empty[self.size - 1]
        return empty >= since and empty > self.track.last_recovered[self.size - 1]

    def oddity(self) -> str:
        """Name what contradicts the stated bucket within the last hour, or nothing."""
        since, track = self.first_slot(FIT_S), self.track
        for slots, oddity in (
            (track.jumped_up, JUMPED_UP),
            (track.fell_too_fast, FELL_TOO_FAST),
            (track.served_too_much, SERVED_TOO_MUCH),
        ):
            count = bisect_right(slots, self.size - 1)
            if count and slots[count - 1] >= since:
                return oddity
        return self.contradiction()

    def contradiction(self) -> str:
        """How the balance contradicts the published I/O, and by which factor; nothing where it does not."""
        if not self.is_contradicted():
            return ""
        readings = (witness.at(self.size) for witness in self.track.witnesses)
        spent, least, most, error = next(reading for reading in readings if is_apart(*reading))
        if spent <= most:
            factor = least / max(spent, error)
            return (
                f"the published I/O would cost {factor:.1f} times what the balance lost{COSTS_LESS}"
            )
        if not most:
            return f"the balance falls without any published I/O{BALANCE_DECIDES}"
        return (
            f"the balance lost {spent / most:.1f} times what the published I/O can cost{COSTS_MORE}"
        )

    def is_contradicted(self) -> bool:
        """True if the balance of the last hour contradicts the I/O."""
        return self.size > 0 and self.track.contradicted[self.size - 1]

    def first_slot(self, seconds: float) -> int:
        """The first slot of the last ``seconds``."""
        return max(0, self.size - self.slots(seconds))


def build_history(
    bucket: Bucket,
    levels: Sequence[LevelPoint],
    demand: Sequence[DemandPoint],
    *,
    past: Past | None = None,
    is_slow: bool = False,
) -> History:
    """A history of points in time order. ``is_slow`` is for one that empties in hours.

    A slot's spending comes from its I/O; where that is not known, from what the
    balance lost; where neither is, nothing was done in it, for CloudWatch has no
    datapoint for a period without I/O.
    """
    track = Track(bucket, levels, demand, past, is_slow=is_slow)
    return History(track, track.size)

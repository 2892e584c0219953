"""Finds what a volume spends beside the I/O that its host counts, from the balances that CloudWatch publishes.

Backups, another host of a shared volume, a type that is not as stated: the balance shows them, and no counter does.
Two balances are compared at the instants at which they must have been so if the counters told everything. What the
balance lost in between beyond all that the counted I/O can have cost is then spent by somebody else.
"""

from collections import deque
from dataclasses import dataclass, replace

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import BALANCE_STEP, INSIDE, TOLERANCE, is_apart
from burstwatch.history.track import EMPTY_RATIO
from burstwatch_exporter.credits.trail import KEPT_S, STEP_S, Trail

#: Two balances are compared that are at least so far apart, the nearest first.
SPANS_S = (240.0, 900.0, 2_700.0)
#: For so long without a newer balance the last one tells what is spent.
GOOD_FOR_S = 1_800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What a balance lost in some seconds beside what was counted, in credits. It is good to ``error``."""

    seconds: float
    spent: float
    counted: Charge
    error: float

    @property
    def rate(self) -> float:
        """Credits a second spent beside what was counted; 0 where the two agree."""
        if not is_apart(self.spent, self.counted.least, self.counted.most, self.error):
            return 0.0
        return (self.spent - self.counted.nominal) / self.seconds

    def excludes(self, rate: float) -> bool:
        """True if the two agree, and would not if so much were spent beside the counted I/O."""
        return not self.rate and abs(rate) * self.seconds > self.error


class Unexplained:
    """The balances of the last hour, and what the newest of them show."""

    def __init__(self) -> None:
        """No balance has come yet."""
        self._points: deque[LevelPoint] = deque()
        self._rate = 0.0

    def note(self, point: LevelPoint, trail: Trail, bucket: Bucket) -> None:
        """Compare a balance with those before it, and both with what was counted in between.

        Where they cannot be compared, what was known stays.
        """
        points = self._points
        if points and point.start_s < points[-1].start_s:
            return
        if not points or point.start_s > points[-1].start_s:
            points.append(point)
        while points[0].start_s < point.start_s - KEPT_S:
            points.popleft()
        compared = [
            comparison
            for span_s in SPANS_S
            if (comparison := self._over(span_s, trail, bucket)) is not None
        ]
        if compared:
            self._rate = min(_rate_of(compared), TOLERANCE * bucket.burst)

    def _over(self, span_s: float, trail: Trail, bucket: Bucket) -> Comparison | None:
        """The newest balance beside one that is older by ``span_s`` or more; None without one, or where nobody counted."""
        after = self._points[-1]
        before = next(
            (one for one in reversed(self._points) if one.start_s <= after.start_s - span_s), None
        )
        if before is None or before.period_s != after.period_s:
            return None
        begin_s, end_s = (trail.instant_of(one, bucket) for one in (before, after))
        # The end of one period and the beginning of the next may be the same instant.
        if begin_s is None or end_s is None or end_s - begin_s < span_s / 2:
            return None
        slack_s = STEP_S if after.statistic == "Minimum" else after.period_s / 2
        longest = trail.between(begin_s - slack_s, end_s + slack_s)
        counted = trail.between(begin_s, end_s)
        shortest = trail.between(begin_s + slack_s, end_s - slack_s)
        if longest is None or counted is None or shortest is None:
            return None
        seconds, lost = end_s - begin_s, (before.ratio - after.ratio) * bucket.capacity
        error = BALANCE_STEP * bucket.capacity + bucket.refill * 2 * slack_s
        between = [one for one in self._points if one.start_s >= before.start_s]
        was_full = any(one.ratio >= INSIDE[1] for one in between)
        if was_full or trail.may_be_full(bucket, begin_s, end_s):
            # What comes in while the bucket is full is lost: how much, nobody knows. So it shows only what is more.
            return Comparison(
                seconds=seconds,
                spent=max(0.0, lost),
                counted=replace(counted, least=0.0, most=longest.most),
                error=error,
            )
        return Comparison(
            seconds=seconds,
            spent=lost + bucket.refill * seconds,
            counted=replace(counted, least=shortest.least, most=longest.most),
            error=error,
        )

    @property
    def is_open(self) -> bool:
        """True if more was spent than was counted when a balance last came, however long ago: only a newer one ends it."""
        return self._rate > 0

    def forget_times(self) -> None:
        """The clock was set: no balance so far can be compared with a later one, nor tell what is spent now."""
        self._points.clear()

    def rate_at(self, wall_s: float) -> float:
        """Credits a second spent beside what is counted; below 0 where I/O costs less than its least."""
        return self._rate if self._is_new(wall_s) else 0.0

    def is_empty_at(self, wall_s: float) -> bool:
        """True if no credits were published twice in a row, and lately: what came in did not stay."""
        newest = [*self._points][-2:]
        is_empty = len(newest) > 1 and all(point.ratio <= EMPTY_RATIO for point in newest)
        return is_empty and self._is_new(wall_s)

    def _is_new(self, wall_s: float) -> bool:
        return bool(self._points) and wall_s - self._points[-1].end_s <= GOOD_FOR_S


def _rate_of(compared: list[Comparison]) -> float:
    """The rate over the nearest span that shows one, if no nearer one shows that it is over."""
    for number, comparison in enumerate(compared):
        if comparison.rate:
            is_over = any(nearer.excludes(comparison.rate) for nearer in compared[:number])
            return 0.0 if is_over else comparison.rate
    return 0.0

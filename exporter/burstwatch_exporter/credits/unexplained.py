"""Finds what a volume spends beside the I/O that its host counts, from the balances that CloudWatch publishes.

Backups, another host of a shared volume, a type that is not as stated: the balance shows them, and no counter does.
"""

from collections import deque
from collections.abc import Sequence

from burstwatch.bucket import Bucket
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import BALANCE_STEP, INSIDE, is_apart
from burstwatch.history.track import EMPTY_RATIO
from burstwatch_exporter.credits.trail import KEPT_S, Trail

#: Two balances are compared that are at least so far apart, the nearest first.
SPANS_S = (240.0, 900.0, 2_700.0)
#: For so long without a newer balance the last one tells what is spent.
GOOD_FOR_S = 1_800.0


class Unexplained:
    """The balances of the last hour, and what the newest of them show."""

    def __init__(self) -> None:
        """No balance has come yet."""
        self._points: deque[LevelPoint] = deque()
        self._rate = 0.0

    @property
    def is_empty(self) -> bool:
        """True if no credits were published twice: what came in did not stay."""
        newest = [*self._points][-2:]
        return len(newest) > 1 and all(point.ratio <= EMPTY_RATIO for point in newest)

    def note(self, point: LevelPoint, trail: Trail, bucket: Bucket) -> None:
        """Compare a balance with those before it, and both with what was counted in between."""
        points = self._points
        if points and point.start_s < points[-1].start_s:
            return
        if not points or point.start_s > points[-1].start_s:
            points.append(point)
        while points[0].start_s < point.start_s - KEPT_S:
            points.popleft()
        rates = (self._rate_over(span_s, trail, bucket) for span_s in SPANS_S)
        self._rate = next((rate for rate in rates if rate), 0.0)

    def _rate_over(self, span_s: float, trail: Trail, bucket: Bucket) -> float:
        """What the balance lost beyond what was counted, in credits a second; 0 where the two agree or nobody counted."""
        points = [*self._points]
        after = points[-1]
        far = [at for at, point in enumerate(points) if after.start_s - point.start_s >= span_s]
        if not far:
            return 0.0
        before = points[far[-1]]
        # Of a balance that falls a Minimum is the level at the end of its period; else it may be of any time in it.
        is_falling = _has_fallen(points[: far[-1] + 1]) and _has_fallen(points)
        slack_s = 0.0 if is_falling else after.period_s
        longest = trail.between(before.end_s - slack_s, after.end_s)
        counted = trail.between(before.end_s, after.end_s)
        shortest = trail.between(before.end_s, after.end_s - slack_s)
        if longest is None or counted is None or shortest is None:
            return 0.0
        seconds = after.start_s - before.start_s
        is_inside = before.ratio < INSIDE[1] and after.ratio < INSIDE[1]
        # What comes in while the bucket is full is lost, and not spent.
        came_in = bucket.refill * seconds if is_inside else 0.0
        spent = (before.ratio - after.ratio) * bucket.capacity + came_in
        error = BALANCE_STEP * bucket.capacity + bucket.refill * slack_s
        if not is_apart(spent, shortest.least if is_inside else 0.0, longest.most, error):
            return 0.0
        return (spent - counted.nominal) / seconds

    def rate_at(self, wall_s: float) -> float:
        """Credits a second spent beside what is counted; below 0 where I/O costs less than its least."""
        if not self._points or wall_s - self._points[-1].end_s > GOOD_FOR_S:
            return 0.0
        return self._rate


def _has_fallen(points: Sequence[LevelPoint]) -> bool:
    """True if the newest of them is lower than the one before."""
    return len(points) > 1 and points[-1].ratio < points[-2].ratio

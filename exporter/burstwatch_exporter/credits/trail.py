"""Keeps a volume's recent intervals, to compare with CloudWatch's late datapoints.

A datapoint speaks of a period that is over. What was spent since is known between bounds, as
all I/O is; so a balance of ten minutes ago narrows the interval of now, and the interval of
then tells how far the host's count and AWS's are apart.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import BALANCE_STEP
from burstwatch_exporter.credits.interval import Interval

#: A datapoint that is older has nothing to say any more.
KEPT_S = 3600.0
#: One step for each of so many seconds is enough: datapoints have minutes.
STEP_S = 10.0


@dataclass(frozen=True, slots=True)
class TrailStep:
    """An instant by the wall clock: what had been charged until then, and the interval."""

    wall_s: float
    charged: Charge
    in_flight: float
    low: float
    high: float


class Trail:
    """The steps of the last hour, in order."""

    def __init__(self) -> None:
        """Nothing is known before the first step."""
        self._steps: deque[TrailStep] = deque()

    def note(self, wall_s: float, *, charged: Charge, in_flight: float, interval: Interval) -> None:
        """One step more, if the last is old enough; a clock that was set back begins anew."""
        steps = self._steps
        if steps and wall_s < steps[-1].wall_s:
            steps.clear()
        if steps and wall_s - steps[-1].wall_s < STEP_S:
            return
        steps.append(TrailStep(wall_s, charged, in_flight, interval.low, interval.high))
        while steps[0].wall_s < wall_s - KEPT_S:
            steps.popleft()

    def has_seen(self, point: LevelPoint) -> bool:
        """True if there are steps during a datapoint's period, and one on either side of it."""
        return any(self._around(point))

    def drift(self, bucket: Bucket, point: LevelPoint) -> float | None:
        """The distance of the published balance from the interval of its time, as a share.

        0 inside, above 0 if more is published than the host thought possible. None where the
        host did not look then.
        """
        around = list(self._around(point))
        if not around:
            return None
        error = BALANCE_STEP * bucket.capacity
        level = point.ratio * bucket.capacity
        low, high = min(step.low for step in around), max(step.high for step in around)
        if level > high + error:
            return (level - high) / bucket.capacity
        return (level - low) / bucket.capacity if level < low - error else 0.0

    def now(
        self, bucket: Bucket, point: LevelPoint, *, wall_s: float, charged: Charge
    ) -> tuple[float, float] | None:
        """Between what credits the balance lies now, by a datapoint and what was done since.

        None where what was done since is not known.
        """
        before, after = self._until(point.start_s), self._from(point.end_s)
        if before is None or after is None:
            return None
        error = BALANCE_STEP * bucket.capacity
        level = point.ratio * bucket.capacity
        # It was so at some instant of the period, and a Minimum at none lower: what came in
        # since its start is known then, and since its end else.
        since_s = point.start_s if point.statistic == "Minimum" else point.end_s
        came_in = bucket.refill * max(0.0, wall_s - since_s)
        low = min(bucket.capacity, level - error + came_in) - (charged.most - before.charged.most)
        high = level + error + bucket.refill * max(0.0, wall_s - point.start_s)
        high -= max(0.0, charged.least - after.charged.least - after.in_flight)
        return max(0.0, low), min(bucket.capacity, max(0.0, high))

    def instant_of(self, point: LevelPoint, bucket: Bucket) -> float | None:
        """When a balance was as it is published, if the counters tell everything; None where the host did not look then.

        A Minimum is of the instant at which the least was left, and an Average of the middle of its period.
        """
        around = list(self._around(point))
        if not around:
            return None
        if point.statistic != "Minimum":
            return point.start_s + point.period_s / 2
        inside = [step for step in around if point.start_s <= step.wall_s <= point.end_s]
        lowest = min(
            inside or around, key=lambda step: bucket.refill * step.wall_s - step.charged.nominal
        )
        return lowest.wall_s

    def may_be_full(self, bucket: Bucket, begin_s: float, end_s: float) -> bool:
        """True if the bucket may have been full at some step between two instants."""
        return any(
            step.high >= bucket.capacity for step in self._steps if begin_s <= step.wall_s <= end_s
        )

    def between(self, begin_s: float, end_s: float) -> Charge | None:
        """What was counted from one instant to another, up to a step; None where the host did not look all the time."""
        before, begin = self._until(begin_s), self._from(begin_s)
        end, after = self._until(end_s), self._from(end_s)
        if before is None or begin is None or end is None or after is None:
            return None
        return Charge(
            least=max(0.0, end.charged.least - begin.charged.least - begin.in_flight),
            nominal=max(0.0, end.charged.nominal - before.charged.nominal),
            most=after.charged.most - before.charged.most + after.in_flight,
        )

    def _until(self, wall_s: float) -> TrailStep | None:
        """The last step up to then."""
        return next((step for step in reversed(self._steps) if step.wall_s <= wall_s), None)

    def _from(self, wall_s: float) -> TrailStep | None:
        """The first step from then on."""
        return next((step for step in self._steps if step.wall_s >= wall_s), None)

    def _around(self, point: LevelPoint) -> Iterator[TrailStep]:
        """The steps of a datapoint's period, if there is one on either side of it too."""
        steps = self._steps
        if not steps or steps[0].wall_s > point.start_s or steps[-1].wall_s < point.end_s:
            return
        margin = STEP_S
        for step in steps:
            if point.start_s - margin <= step.wall_s <= point.end_s + margin:
                yield step

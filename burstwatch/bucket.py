"""Token-bucket arithmetic. Knows no AWS word.

A bucket holds up to ``capacity`` credits, gains ``refill`` credits a second and
loses what the workload spends. While credits are left the workload may spend up
to ``burst`` a second; with none left it gets what comes in, ``refill``::

    d(level)/dt = refill - spend,   0 <= level <= capacity
    spend <= burst while level > 0, spend <= refill at level 0

With a constant demand this has closed forms, and so each function here is a
formula rather than a loop. "Never" is ``math.inf``; it becomes null or a word
only where something is printed.
"""

import math
from dataclasses import dataclass

from burstwatch.formatting import InputError

#: Rates this close together, relative to their size, differ by rounding alone.
ROUNDING = 1e-9
MINUTE_S, HOUR_S, DAY_S = 60.0, 3_600.0, 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """One kind of credit of one resource.

    ``capacity`` is in credits, ``refill`` and ``burst`` in credits per second.

    Raises:
        ValueError: if a number is not finite, ``capacity`` is not positive,
            ``refill`` is negative, or ``burst`` is below ``refill``.
    """

    capacity: float
    refill: float
    burst: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) for value in (self.capacity, self.refill, self.burst)):
            msg = f"a bucket needs finite numbers, got {self}"
            raise ValueError(msg)
        if self.capacity <= 0:
            msg = f"must be above 0, got {self.capacity}"
            raise InputError(msg, name="capacity")
        if self.refill < 0:
            msg = f"must be 0 or more, got {self.refill}"
            raise InputError(msg, name="refill")
        if self.burst < self.refill:
            msg = f"must be at least refill ({self.refill}), got {self.burst}"
            raise InputError(msg, name="burst")

    @property
    def can_drain(self) -> bool:
        """True if any demand at all can empty this bucket."""
        return self.burst > self.refill


def unsized_bucket(lasts_s: float, *, capacity: float = 1.0) -> Bucket:
    """A bucket of which only the level is known: ``lasts_s`` is the least time that a full one is taken to last.

    What comes in is taken to fill it in a day. A capacity of 1 is for a level that is a share.
    """
    refill = capacity / DAY_S
    return Bucket(capacity=capacity, refill=refill, burst=refill + capacity / lasts_s)


def clamp_level(bucket: Bucket, level: float) -> float:
    """The nearest level that the bucket can have."""
    return min(bucket.capacity, max(0.0, level))


def spend_rate(bucket: Bucket, *, level: float, demand: float) -> float:
    """Credits per second that are really spent when ``demand`` is asked for."""
    _check_demand(demand)
    return min(demand, bucket.burst if level > 0 else bucket.refill)


def time_to_empty(bucket: Bucket, *, level: float, demand: float) -> float:
    """Seconds until the level is 0 at a constant demand; ``inf`` if it never is.

    An empty bucket gives 0, or ``inf`` where the demand is no more than what comes in.
    """
    net = spend_rate(bucket, level=bucket.capacity, demand=demand) - bucket.refill
    if net <= ROUNDING * max(1.0, bucket.refill):
        return math.inf
    return clamp_level(bucket, level) / net


def worst_time_to_empty(bucket: Bucket, *, level: float) -> float:
    """Seconds until empty at the fastest spending there is. Nothing can be sooner."""
    return time_to_empty(bucket, level=level, demand=bucket.burst)


def time_to_full(bucket: Bucket, *, level: float, demand: float) -> float:
    """Seconds until the level is ``capacity`` at a constant demand; ``inf`` if never."""
    _check_demand(demand)
    missing = bucket.capacity - clamp_level(bucket, level)
    if missing == 0:
        return 0.0
    net = bucket.refill - demand
    return missing / net if net > 0 else math.inf


def level_after(bucket: Bucket, *, level: float, demand: float, seconds: float) -> float:
    """The level after ``seconds`` of a constant demand, exactly.

    The net flow of a constant demand never changes its sign, so clamping the end
    point is the whole solution.
    """
    if seconds < 0:
        msg = f"must be 0 or more, got {seconds}"
        raise InputError(msg, name="seconds")
    net = bucket.refill - spend_rate(bucket, level=bucket.capacity, demand=demand)
    return clamp_level(bucket, level + net * seconds)


def _check_demand(demand: float) -> None:
    if not demand >= 0:  # also refuses NaN
        msg = f"must be 0 or more credits per second, got {demand}"
        raise InputError(msg, name="demand")

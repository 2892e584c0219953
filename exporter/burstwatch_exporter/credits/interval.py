"""Computes the bounds of a balance: the least and the most that can be left.

A host sees neither its credits nor what an I/O costs of them, only what it has done. So
one bucket is charged the most that the counters allow and one the least, and the truth
lies between them, whatever EBS merges and splits. A third is charged what is likely.

With counters that were read at some instant within ``slack_s`` after the time noted, and
with I/O that is charged before it is counted, each bound holds up to what is in flight and
what comes in within the slack. Neither adds up over many readings, so both are allowed for
where the interval is looked at (``seen_at``), and never in the interval itself.
"""

from dataclasses import dataclass, replace

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import BALANCE_STEP, TOLERANCE

#: A correction that moves no bound by more than this share of the bucket leaves the likely balance as it is.
CORRECTED = 0.01
#: Up to this width, as a share of the bucket, the middle is a fair guess; beyond it nothing is likely.
NARROW = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Credits: at least ``low``, at most ``high``, and what is likely, if that can be said.

    ``high`` may exceed the capacity by what is in flight: that is charged already, and
    will be counted as if it were still to be charged.
    """

    low: float
    high: float
    likely: float | None = None


def unknown(bucket: Bucket) -> Interval:
    """Anything from empty to full."""
    return Interval(low=0.0, high=bucket.capacity)


def full(bucket: Bucket) -> Interval:
    """The interval of a new volume, which is full."""
    return Interval(low=bucket.capacity, high=bucket.capacity, likely=bucket.capacity)


def after_seen(
    bucket: Bucket, interval: Interval, *, seconds: float, charge: Charge, in_flight: float = 0.0
) -> Interval:
    """After ``seconds`` in which I/O was done that cost from ``charge.least`` to ``.most``.

    The least is left when all credits come in first, where a full bucket wastes them, and
    all I/O comes last. ``in_flight`` is the most that I/O now on its way can cost.
    """
    gained = bucket.refill * seconds
    low = max(0.0, min(bucket.capacity, interval.low + gained) - charge.most)
    high = max(0.0, interval.high + gained - charge.least)
    high = min(bucket.capacity + in_flight, max(high, low))
    likely = interval.likely
    if likely is not None:
        likely = min(high, max(low, min(bucket.capacity, likely + gained - charge.nominal)))
    return _guessed(bucket, low, high, likely)


def after_unseen(
    bucket: Bucket,
    interval: Interval,
    *,
    seconds: float,
    uncounted: float = 0.0,
    in_flight: float = 0.0,
) -> Interval:
    """After ``seconds`` in which anything may have been done, by this host or another.

    ``uncounted`` is the most that was in flight when it was last looked at: it may have
    been charged before, and will never be counted. ``in_flight`` is as in ``after_seen``.
    """
    spent = TOLERANCE * bucket.burst * seconds + uncounted
    gained = bucket.refill * seconds
    low = max(0.0, min(bucket.capacity, interval.low + gained) - spent)
    high = min(bucket.capacity, interval.high + gained) + in_flight
    likely = interval.likely
    if high - low > NARROW * bucket.capacity:
        likely = None  # what was likely says nothing any more
    return _guessed(bucket, low, high, likely)


def after_correction(bucket: Bucket, interval: Interval, *, step_s: float) -> Interval:
    """After a wall clock that dated the interval was set forward by ``step_s``: so much more time was not seen.

    Set back, it was less time than allowed for, and the interval holds.
    """
    if step_s <= 0:
        return interval
    unseen = after_unseen(bucket, interval, seconds=step_s)
    # What is in flight stays allowed for, and what was likely is as likely after a small step.
    high = max(interval.high, unseen.high)
    is_small = bucket.burst * step_s <= CORRECTED * bucket.capacity
    return replace(unseen, high=high, likely=interval.likely if is_small else unseen.likely)


def after_standstill(bucket: Bucket, interval: Interval, *, step_s: float) -> Interval:
    """After a wall clock was set forward by ``step_s`` that did not date the interval.

    It was wrong before, or the host stood still for so long, and its credits came in: nobody can tell.
    """
    gained = bucket.refill * max(0.0, step_s)
    return replace(interval, high=max(interval.high, min(bucket.capacity, interval.high + gained)))


def begun(interval: Interval, *, in_flight: float) -> Interval:
    """As it is kept, of a balance that is known at an instant (see the top of this page)."""
    return replace(interval, high=interval.high + in_flight)


def narrowed(
    bucket: Bucket, interval: Interval, *, low: float, high: float, in_flight: float = 0.0
) -> Interval:
    """With what AWS knows of the balance; where the two exclude each other, AWS is right."""
    at_least, at_most = max(interval.low, low), min(interval.high, high + in_flight)
    if at_least > at_most:
        return _guessed(bucket, low, high + in_flight, None)
    likely = interval.likely
    if likely is None:
        likely = (at_least + at_most) / 2
    likely = min(at_most, max(at_least, likely))
    return Interval(low=at_least, high=at_most, likely=likely)


def seen_at(bucket: Bucket, interval: Interval, *, in_flight: float, slack_s: float) -> Interval:
    """The interval with what cannot be known at any one instant (see above)."""
    slack = bucket.refill * slack_s
    return Interval(
        low=max(0.0, interval.low - in_flight - slack),
        high=min(bucket.capacity, interval.high + slack),
        likely=None if interval.likely is None else min(bucket.capacity, interval.likely),
    )


def since_datapoint(
    bucket: Bucket, point: LevelPoint, *, wall_s: float
) -> tuple[float, float] | None:
    """Bounds of the balance now from one datapoint alone; None if that lies in the future."""
    seconds = wall_s - point.start_s
    if seconds < 0:
        return None
    level, error = point.ratio * bucket.capacity, BALANCE_STEP * bucket.capacity
    reported = Interval(low=max(0.0, level - error), high=min(bucket.capacity, level + error))
    now = after_unseen(bucket, reported, seconds=seconds)
    return now.low, now.high


def _guessed(bucket: Bucket, low: float, high: float, likely: float | None) -> Interval:
    if likely is None and high - low <= NARROW * bucket.capacity:
        likely = (low + high) / 2
    if likely is not None:
        likely = min(high, max(low, likely))
    return Interval(low=low, high=high, likely=likely)

"""Finds where a volume falls from its burst to its baseline, and derives its bucket. Pure.

Of a run that asks for all it can have, from some level until it is held at its baseline: what
was served beyond the baseline up to the knee is what was in the bucket at the start.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from burstwatch_exporter.credits.interval import Interval

#: A baseline above this share of the burst cannot be told from it.
TOO_NEAR = 0.92
#: Seconds that the rate must stay down before the fall is believed.
SURE_S = 10.0
#: How full it was is known if it is so to this share of the bucket.
KNOWN = 0.05
#: The beginning of a run is not yet its rate, and neither is the sample that the knee is in.
SETTLING_S = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedSample:
    """The devices' work in the ``seconds`` that ended ``at`` seconds after the step began.

    ``rate`` is in credits a second: the likely rate of the volume that was charged the most.
    """

    at: float
    seconds: float
    rate: float
    iops: float = 0.0
    mib_s: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Knee:
    """The time of the fall, and the rates on either side."""

    at: float
    burst: float
    baseline: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The bucket as a drain shows it. ``capacity`` rests on how full it was at the start."""

    knee: Knee
    drained: float
    capacity: float | None


def find_knee(samples: Sequence[ServedSample]) -> Knee | None:
    """The knee, if there is one: the split into two levels that fits best.

    The instant is finer than a sample: the one that the knee lies in was partly served at
    either rate.
    """
    if not samples:
        return None
    begun = samples[0].at - samples[0].seconds
    usable = [sample for sample in samples if sample.at - sample.seconds >= begun + SETTLING_S]
    split = _best_split([sample.rate for sample in usable])
    if split == 0:
        return None
    before, after = usable[:split], usable[split:]
    burst, baseline = (median(sample.rate for sample in part) for part in (before, after))
    if baseline >= TOO_NEAR * burst or sum(sample.seconds for sample in after) < SURE_S / 2:
        return None
    # Credits served above the baseline around the split, as time at the burst.
    around = [*before[-2:], *after[:2]]
    above = math.fsum(max(0.0, sample.rate - baseline) * sample.seconds for sample in around)
    at = around[0].at - around[0].seconds + above / (burst - baseline)
    return Knee(at=at, burst=burst, baseline=baseline)


def has_fallen(samples: Sequence[ServedSample], *, below: float) -> bool:
    """True if it has been served less than ``below`` for long enough. Cheap, for each sample."""
    if not samples or samples[-1].at < SURE_S + SETTLING_S:
        return False
    return all(sample.rate < below for sample in samples if sample.at > samples[-1].at - SURE_S)


def estimate(
    samples: Sequence[ServedSample], *, interval: Interval, capacity: float
) -> Estimate | None:
    """The bucket of a run that began with ``interval`` credits of the ``capacity`` that is promised.

    The capacity is what was drained, divided by the share that was there: known only if that is.
    """
    knee = find_knee(samples)
    if knee is None:
        return None
    # The sample that the knee lies in was above the baseline only before it.
    drained = math.fsum(
        (sample.rate - knee.baseline) * sample.seconds
        for sample in samples
        if sample.at - sample.seconds < knee.at
    )
    share = (interval.low + interval.high) / 2 / capacity
    is_known = share > 0 and interval.high - interval.low <= KNOWN * capacity
    return Estimate(knee=knee, drained=drained, capacity=drained / share if is_known else None)


def refill_while_resting(
    samples: Sequence[ServedSample], knee: Knee, *, rested_s: float
) -> float | None:
    """Credits per second that an empty bucket earned while it rested, from a second burst after the rest.

    ``samples`` are of the second burst. All that it is served beyond the baseline was earned in the rest or while the
    tool started. So samples below the baseline are subtracted: they take out what came in during the start, and the I/O
    that a busy machine served a second later. None if there was no rest or no burst.
    """
    if rested_s <= 0 or not samples:
        return None
    beyond = math.fsum((sample.rate - knee.baseline) * sample.seconds for sample in samples)
    return beyond / rested_s


def _best_split(rates: Sequence[float]) -> int:
    """The place where two means, one for each side, leave the least squares; 0 for too few."""
    totals = [0.0, *accumulate(rates)]
    squares = [0.0, *accumulate(rate * rate for rate in rates)]

    def spread(start: int, end: int) -> float:
        total = totals[end] - totals[start]
        return squares[end] - squares[start] - total * total / (end - start)

    whole = len(rates)
    splits = range(2, whole - 1)
    return min(splits, key=lambda i: spread(0, i) + spread(i, whole), default=0)

"""Finds in a balance when the machine behind a name was replaced: a node, a failover, a start of the day.

The credits belong to the machine. A database or a node keeps its id while AWS gives it another one, and no member of
AWS's answers says when.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from burstwatch.bucket import HOUR_S, MINUTE_S, Bucket
from burstwatch.history.points import LevelPoint, LevelSeries
from burstwatch.history.track import EMPTY_RATIO, JUMP_RATIO, recovered_ratio

#: A balance that is published without load too is missing this long only where the machine was stopped.
STOPPED_S = HOUR_S
#: A balance that has not risen for so long since then does not refill: whatever was before, that is a danger.
REFILLS_WITHIN_S = 15 * MINUTE_S


def machine_since(
    levels: Sequence[LevelPoint],
    bucket: Bucket,
    *,
    from_s: float | None,
    reports_when_idle: bool,
) -> float | None:
    """When the newest machine began, if it began with less than was there before and refills since; None where nothing shows it.

    ``from_s`` is since when every level is known, None where that is not so.
    """
    if not levels or levels[-1].ratio >= recovered_ratio(bucket):
        return None
    series = LevelSeries.of(levels)
    begin = _last_change(series, bucket, reports_when_idle=reports_when_idle)
    if begin is None:
        is_late = from_s is not None and series.starts[0] - from_s >= STOPPED_S
        if not is_late or not reports_when_idle or series.ratios[0] > EMPTY_RATIO:
            return None
        begin = 0
    since_s = series.starts[begin]
    late = bisect_left(series.starts, since_s + REFILLS_WITHIN_S)
    is_young = late == len(series.starts)
    # A bucket that is held at zero shows a little now and then.
    refills = series.ratios[-1] > max(EMPTY_RATIO, series.ratios[begin])
    stayed_empty = any(ratio <= EMPTY_RATIO for ratio in series.ratios[late:])
    return since_s if is_young or (refills and not stayed_empty) else None


def _last_change(series: LevelSeries, bucket: Bucket, *, reports_when_idle: bool) -> int | None:
    """The index of the first level of the newest machine: it is lower than any load explains, or the first after a stop and zero.

    A balance that goes on falling so fast is no machine: it is a bucket of another size than is stated.
    """
    most_a_s = (bucket.burst - bucket.refill) / bucket.capacity
    changes: list[int] = []
    points = zip(series.starts, series.ratios, strict=True)
    for index, ((before_s, before), (after_s, after)) in enumerate(pairwise(points), start=1):
        if after >= before:
            continue
        apart_s = after_s - before_s
        is_stop = reports_when_idle and apart_s - series.period_s >= STOPPED_S
        # A value may be of any instant of its period.
        explained = most_a_s * (apart_s + series.period_s) + JUMP_RATIO
        if before - after > explained or (is_stop and after <= EMPTY_RATIO):
            changes.append(index)
    if not changes:
        return None
    starts = series.starts
    falls_on = len(changes) > 1 and starts[changes[-1]] - starts[changes[-2]] < STOPPED_S
    return None if falls_on else changes[-1]

"""Names what a recording contradicts: its own values, or the type that it is said to be of."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from burstwatch.bucket import Bucket
from burstwatch.formatting import LEAST_WHOLE, number, recorded_time, span
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.history.track import Track
from burstwatch.kinds.base import Kind
from burstwatch.recordings.samples import Points, Sample

#: CloudWatch rounds a balance, so a step of this much more is no contradiction.
ROUNDING = 0.011
#: How much more than allowed is a contradiction, and no slip of a clock.
SLACK = 1.1
#: A burst that must have moved the balance by this much shows whether it moves at all.
MUST_MOVE = 0.25
#: Number of repeated sums that is no coincidence. A period of five minutes has thirty steps of ten seconds.
MUST_REPEAT, MOST_COPIES = 3, 30
#: Far above what any limit lets through in a single period.
ABSURD = 3.0
SHARE = 1.0
#: A level that is far below every bucket's size, from which the value of a full one is worked out.
TINY = 1e-6
#: A t2.nano starts with launch credits of 42 percent on top of a full bucket.
MOST_ABOVE = 1.5
#: What a fall took and what the load cost are the same within this factor, once the falls are this share of the bucket.
MATCHES, MUST_FALL = 1.2, 0.05
MINUTE_S, THOUSAND = 60.0, 1_000.0
#: A bucket that is emptier than this all the time is less likely than a wrong unit.
LOWEST_HIGH = 1e-4


def doubts(
    samples: Sequence[Sample], points: Points, resource: Resource, kind: Kind
) -> Iterator[str]:
    """A line for each contradiction, with its first time and how often it occurs."""
    bucket = resource.bucket
    is_percent = kind.is_percent
    levels, demand = points
    values = [
        sample.values[resource.level_metric]
        for sample in samples
        if resource.level_metric in sample.values
    ]
    if bucket is None:
        if values and min(values) < max(values):
            reason = resource.terms.no_bucket_reason or "its credits are not known"
            yield f"{reason}, but {resource.level_metric} moves between {number(min(values))} and {number(max(values))}: check the type and size"
        return
    yield from _scale_doubts(values, resource, kind)
    if is_percent and values and 0 < max(values) <= SHARE:
        yield f"no {resource.level_metric} is above 1: it is read in percent, and not as a share of 1"
    absurd = [point for point in demand if point.nominal > ABSURD * resource.limit.rate > 0]
    if absurd:
        most = max(point.nominal for point in absurd)
        yield f"{number(most)} {resource.words.rate_unit}{_at([point.start_s for point in absurd])}, and at most {number(resource.limit.rate)} are served"
    for metric in kind.demand_metrics:
        if not metric.is_rate:
            yield from _repeated(
                [sample.values[metric.name] for sample in samples if metric.name in sample.values],
                metric.name,
            )
    if resource.terms.is_documented:
        yield from _too_fast(levels, bucket)
        yield from _unexplained(levels, demand, bucket)
        yield from _unmoved(levels, demand, bucket, is_percent=is_percent)


def _scale_doubts(values: Sequence[float], resource: Resource, kind: Kind) -> Iterator[str]:
    """Levels far above a full bucket of this size, or always far below it; only of levels that are counted credits."""
    ratio = kind.to_ratio(resource, TINY)
    is_counted = not kind.is_percent and kind.to_ratio(resource, 0.0) == 0.0
    if not (values and is_counted and ratio > 0):
        return
    full, highest = TINY / ratio, max(values)
    if highest > MOST_ABOVE * full:
        yield f"{resource.level_metric} is {number(highest)}, and a full bucket has {number(full)}: check the type and size"
    if 0 < highest < LOWEST_HIGH * full:
        yield f"no {resource.level_metric} is above {number(highest)}, and a full bucket has {number(full)}: is it in another unit?"


def _too_fast(levels: Sequence[LevelPoint], bucket: Bucket) -> Iterator[str]:
    """Falls and rises that the bucket of this type cannot have."""
    falls, rises = [], []
    for before, after in pairwise(levels):
        seconds = after.start_s - before.start_s
        change = after.ratio - before.ratio
        if -change > SLACK * (bucket.burst - bucket.refill) * seconds / bucket.capacity + ROUNDING:
            falls.append(after.start_s)
        if change > SLACK * bucket.refill * seconds / bucket.capacity + ROUNDING:
            rises.append(after.start_s)
    falls = falls or _runs_too_fast(levels, bucket.burst - bucket.refill, bucket, sign=-1.0)
    rises = rises or _runs_too_fast(levels, bucket.refill, bucket, sign=1.0)
    if falls:
        yield f"the balance falls faster than this type can spend{_at(falls)}: check the type and size"
    if rises:
        yield f"the balance rises faster than this type earns{_at(rises)}: a restart, a resize, or another size?"


def _runs_too_fast(
    levels: Sequence[LevelPoint], rate: float, bucket: Bucket, *, sign: float
) -> list[float]:
    """The starts of runs in one direction that are too fast as a whole, where each step may be due to rounding."""
    starts, begin = list[float](), levels[0] if levels else None
    for before, after in pairwise(levels):
        if begin is None or sign * (after.ratio - before.ratio) <= 0:
            begin = after
            continue
        change = sign * (after.ratio - begin.ratio)
        seconds = after.start_s - begin.start_s
        if change > SLACK * rate * seconds / bucket.capacity + 2 * ROUNDING:
            starts.append(begin.start_s)
            begin = None
    return starts


def _repeated(values: Sequence[float], metric: str) -> Iterator[str]:
    """Sums that stay the same for several rows: something copies each of them, and they count several times."""
    runs = [len(list(run)) for value, run in groupby(values) if value][1:-1]
    if len(runs) < MUST_REPEAT:
        return
    least, most = min(runs), max(runs)
    if 1 < least <= MOST_COPIES and most <= 2 * least:
        yield f"each value of {metric} comes {least} times or more: are the rows closer than the periods of CloudWatch? Query with a step as long as the exporter's period"


def _unexplained(
    levels: Sequence[LevelPoint], demand: Sequence[DemandPoint], bucket: Bucket
) -> Iterator[str]:
    """Falls that took more or less than the load of their time can have cost, with how many times as much."""
    if not levels or not demand:
        return
    fit = Track(bucket, levels, demand, None).fit
    spent, nominal, most = (sums.of[-1] for sums in (fit.spent, fit.nominal, fit.most))
    if spent < MUST_FALL * bucket.capacity:
        return
    if nominal == 0:
        yield "the balance falls, and the load is 0: is a part of the I/O missing, or are the type and size wrong?"
    elif spent > MATCHES * most:
        cause = _cause(spent / nominal, demand[-1].period_s)
        yield f"the balance falls {_times(spent / nominal)} what the load explains: {cause}"
    elif MATCHES * spent < nominal:
        yield f"the load explains {_times(nominal / spent)} the fall of the balance: does AWS merge I/O in sequence, is it counted twice, or are the type and size wrong?"


def _times(factor: float) -> str:
    return f"{number(factor)} times" if factor >= LEAST_WHOLE else f"{factor:.3g} times"


def _cause(factor: float, period_s: float) -> str:
    """What a load that is too small by a factor may be."""
    causes = (
        (period_s, "is the load per second, and not a Sum of the period?"),
        (period_s / MINUTE_S, "is the load an Average of minutes, and not a Sum?"),
        (THOUSAND, "is the load in thousands?"),
    )
    return next(
        (
            text
            for usual, text in causes
            if usual > MATCHES and usual / MATCHES < factor < usual * MATCHES
        ),
        "is the load an Average and not a Sum, of a part of the I/O, or are the type and size wrong?",
    )


def _unmoved(
    levels: Sequence[LevelPoint], demand: Sequence[DemandPoint], bucket: Bucket, *, is_percent: bool
) -> Iterator[str]:
    """Demand that is charged by the documented rules, while the balance stays where it is.

    Credits can lie above a bucket that is counted in credits: such a level stays at 1.
    """
    ratio_at = {level.start_s: level.ratio for level in levels if is_percent or level.ratio < 1}
    owed, since = 0.0, None
    for point in demand:
        net = min(point.nominal, bucket.burst) - bucket.refill
        if net <= 0 or point.start_s not in ratio_at:
            owed, since = 0.0, None
            continue
        since = point.start_s if since is None else since
        owed += net * point.period_s / bucket.capacity
        if owed >= MUST_MOVE and abs(ratio_at[point.start_s] - ratio_at[since]) < ROUNDING:
            lasted = span(point.start_s + point.period_s - since)
            yield f"{lasted} of load above the baseline{_at([since])}, and the balance does not move"
            return


def _at(times: Sequence[float]) -> str:
    more = f" and {len(times) - 1} times more" if len(times) > 1 else ""
    return f" at {recorded_time(times[0])}{more}"

"""Puts the series of a file on one even grid: the period is inferred, jitter is snapped.

Times are sorted and duplicates merged. A value that contradicts its duplicate yields to the
worse one.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import sub

from burstwatch.bucket import HOUR_S, MINUTE_S
from burstwatch.formatting import recorded_time
from burstwatch.history.observations import Resource
from burstwatch.history.points import COARSE_S
from burstwatch.kinds.base import PERCENT, Kind
from burstwatch.recordings.matching import Matched
from burstwatch.recordings.samples import Contents, Sample, at_period

LONGEST_PERIOD_S = HOUR_S
#: A longer hole in which nothing has a row is unknown. In a shorter one nothing was counted: no I/O.
LONGEST_SILENCE_S = HOUR_S
#: Some tools round a balance to whole percents.
ROUNDED = 0.01
#: A metric that is absent for most of the time says nothing of the period that it is in.
MOSTLY = 0.5
#: Ten years of minutes.
MOST_SAMPLES = 5_256_000
#: A time that is off its place by less is exact.
EXACT_S = 0.5
#: A sum of floats is off by so much at the most.
NOISE = 1e-6
#: The shortest gap is the period if it is this share of them, and no other is longer by more than this.
OFTEN, LONGEST_STEPS = 0.1, 3
#: Gaps of which so many are the same are exact, and not rounded to minutes.
REGULAR = 0.8
#: An exact gap is a multiple of this. Late rows are at any distance.
EXACT_GAP_S = 5

TimedValues = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Samples in time order, ``period_s`` apart or with gaps, what was done for that, and what was contradictory."""

    samples: list[Sample]
    period_s: float
    notes: tuple[str, ...]
    contradictions: tuple[str, ...]


def to_grid(
    matched: Matched, kind: Kind, contents: Contents, *, period_s: float | None, name: str
) -> Grid:
    """The samples of one bucket.

    Raises:
        ValueError: if there is no value at all, a period that no metric has, or a level above 100 percent.
    """
    points: dict[str, TimedValues] = {
        metric: series for metric, series in matched.points.items() if series
    }
    if not points:
        msg = f"{name} has no value at all, so nothing can be said"
        raise ValueError(msg)
    _check_percent(matched, kind, name)
    all_times = sorted(
        {*contents.row_times, *(at for series in points.values() for at, _ in series)}
    )
    steps = _steps(matched, contents, all_times, period_s, name=name)
    step_s, widest_s = min(steps), max(steps)
    points |= _sums_of_rates(matched, points, steps)
    if widest_s % step_s:
        msg = f"{name} has a series with a row each {step_s:g} s and one with a row each {widest_s:g} s; allowed: a multiple of the shorter one"
        raise ValueError(msg)
    places = _places(all_times, step_s)
    notes = _notes(matched.points, places, contents.row_times)
    count = (all_times[-1] - all_times[0]) / step_s
    if count > MOST_SAMPLES:
        msg = f"{name}: the rows span {count:.0f} periods of {step_s:g} s, at most {MOST_SAMPLES} are played"
        raise ValueError(msg)
    rows, contradictions = _rows(points, places, matched, kind)
    if contents.about.gaps_are_silence:
        silent, spent = _silent(rows, step_s, matched.resource, kind)
        rows |= {at: {} for at in silent}
        if silent:
            notes.append(f"{len(silent)} periods without a row are taken as no I/O")
        if spent:
            contradictions.append(
                f"the balance falls over {spent} periods without a row, which is not possible without I/O; they are taken as unknown"
            )
    samples = [Sample(t_s=at, values=values) for at, values in sorted(rows.items())]
    wide, widest_s = at_period(
        samples, step_s, widest_s, kind=kind, level_statistic=matched.resource.reporting.statistic
    )
    unseen = _unseen(wide, widest_s, matched.resource, kind)
    if unseen:
        contradictions.append(
            f"over {len(unseen)} periods without a balance it falls, or there is I/O, so it was not idle; they are taken as unknown"
        )
    return Grid(
        samples=[sample for sample in wide if sample.t_s not in unseen],
        period_s=widest_s,
        notes=tuple(notes),
        contradictions=tuple(contradictions),
    )


def _sums_of_rates(
    matched: Matched, points: Mapping[str, TimedValues], steps: Sequence[float]
) -> dict[str, list[tuple[float, float]]]:
    """The metrics that the file has per second, summed over their periods as CloudWatch has them."""
    every = dict.fromkeys(matched.points, steps[0])
    if len(steps) > 1:
        every = dict(zip(matched.points, steps, strict=True))
    return {
        metric: [(at, value * every[metric]) for at, value in points[metric]]
        for metric in matched.rates & points.keys()
    }


def _rows(
    points: Mapping[str, TimedValues], places: Mapping[float, float], matched: Matched, kind: Kind
) -> tuple[dict[float, dict[str, float]], list[str]]:
    """The values by place and metric, and what was contradictory."""
    rows: dict[float, dict[str, float]] = {at: {} for at in places.values()}
    contradicted: dict[str, int] = Counter()
    for metric, series in points.items():
        worse = _worse(metric, matched, kind)
        for at, value in series:
            row = rows[places[at]]
            if metric in row:
                contradicted[metric] += row[metric] != value
                value = worse(row[metric], value)  # noqa: PLW2901 - of two, it is the worse one
            row[metric] = value
    contradictions = [
        f"{metric} has two values for the same time in {count} places, and the worse one is used: two resources in one file?"
        for metric, count in contradicted.items()
        if count
    ]
    return rows, contradictions


def _silent(
    rows: Mapping[float, Mapping[str, float]], step_s: float, resource: Resource, kind: Kind
) -> tuple[list[float], int]:
    """The periods between the rows in which CloudWatch had no datapoint, for so long at most.

    Without I/O a balance does not fall. The second value counts the periods of gaps over which it fell
    by more than the rows beside them can spend.
    """
    silent, spent, bucket = list[float](), 0, resource.bucket
    beside = 0.0 if bucket is None else 2 * step_s * (bucket.burst - bucket.refill)
    most = ROUNDED + (beside / bucket.capacity if bucket else 0.0)
    for before, after in pairwise(sorted(rows)):
        missed = round((after - before) / step_s) - 1
        if not 0 < missed * step_s <= LONGEST_SILENCE_S:
            continue
        levels = [rows[at].get(resource.level_metric) for at in (before, after)]
        ratios = [kind.to_ratio(resource, level) for level in levels if level is not None]
        if len(ratios) == len(levels) and ratios[0] - ratios[1] > most:
            spent += missed
        else:
            silent += [before + (n + 1) * step_s for n in range(missed)]
    return silent, spent


def _unseen(
    samples: Sequence[Sample], step_s: float, resource: Resource, kind: Kind
) -> frozenset[float]:
    """The periods with a row and without a balance that were no silence.

    The balance fell over them, by more than the rows beside them can spend; or they have a load of
    their own, and nothing says what that did to the balance.
    """
    bucket, metric = resource.bucket, resource.level_metric
    if (
        bucket is None
        or not bucket.can_drain
        or not any(metric in sample.values for sample in samples)
    ):
        return frozenset()
    most = ROUNDED + 2 * step_s * (bucket.burst - bucket.refill) / bucket.capacity
    unseen, run, before = set[float](), list[Sample](), None
    for sample in [*samples, None]:
        value = None if sample is None else sample.values.get(metric)
        if sample is not None and value is None:
            run.append(sample)
            continue
        ratio = None if value is None else kind.to_ratio(resource, value)
        has_fallen = before is not None and ratio is not None and before - ratio > most
        if has_fallen or any(_has_load(sample, kind) for sample in run):
            unseen |= {sample.t_s for sample in run}
        run, before = [], ratio
    return frozenset(unseen)


def _has_load(sample: Sample, kind: Kind) -> bool:
    """True if a row has any I/O. CloudWatch has a balance of each period that has."""
    return any(sample.values.get(metric.name, 0.0) > 0 for metric in kind.demand_metrics)


def _worse(metric: str, matched: Matched, kind: Kind) -> Callable[[float, float], float]:
    """Which of two values of one time to believe: the lower level, or the higher demand."""
    resource = matched.resource
    if metric != resource.level_metric:
        return max
    return lambda a, b: min(a, b, key=lambda value: kind.to_ratio(resource, value))


def _check_percent(matched: Matched, kind: Kind, name: str) -> None:
    if not kind.is_percent:
        return
    metric = matched.resource.level_metric
    for at, value in matched.points.get(metric, ()):
        if value > PERCENT + NOISE:
            msg = f"{name}: {metric} is {value:g} at {recorded_time(at)}; allowed: a number from 0 to 100"
            raise ValueError(msg)


def _steps(
    matched: Matched,
    contents: Contents,
    all_times: Sequence[float],
    stated_s: float | None,
    *,
    name: str,
) -> list[float]:
    """The period of each series: what is stated, by the arguments or by the file, or how far apart its times are.

    A series that is mostly absent has the period of the rows: a disk may have I/O once in an hour.
    In our own columns every demand has.
    """
    if stated_s is not None:
        gaps = [after - before for before, after in pairwise(all_times)]
        commonest = _step(all_times) or stated_s
        if commonest != stated_s and not any(abs(gap - stated_s) <= EXACT_S for gap in gaps):
            msg = f"{name}: the rows are {commonest:g} s apart, and not {stated_s:g}: leave out --period-s"
            raise ValueError(msg)
        return [stated_s]
    of_rows = _step(sorted(set(contents.row_times)) or all_times) or _step(all_times) or MINUTE_S
    level = matched.resource.level_metric
    periods = _stated_periods(matched)
    steps = []
    for metric, series in matched.points.items():
        step = periods.get(metric)
        if step is None and metric == level:
            step = _step(sorted({at for at, _ in series}))
        elif step is None and not contents.about.is_own:
            step = _step(sorted({at for at, _ in series}), least_share=MOSTLY)
            step = step if step is None or step <= LONGEST_PERIOD_S else None
        steps.append(of_rows if step is None else step)
    if max(steps) > LONGEST_PERIOD_S:
        msg = f"{name}: the rows are {max(steps):g} s apart, at most {LONGEST_PERIOD_S:g} can be judged: ask for a shorter period"
        raise ValueError(msg)
    return steps


def _stated_periods(matched: Matched) -> Mapping[str, float]:
    """The periods that the file states, but for one that is finer than the metric.

    The console shows a metric of five minutes at a period of one, with a row every five: what lies
    between is not silence.
    """
    level = matched.resource.level_metric
    real_s = _step(sorted({at for at, _ in matched.points.get(level, ())}), least_share=MOSTLY)
    if real_s != COARSE_S or real_s <= matched.periods.get(level, real_s):
        return matched.periods
    as_coarse = {
        metric
        for metric, series in matched.points.items()
        if _step(sorted({at for at, _ in series}), least_share=MOSTLY) == real_s
    }
    return {
        metric: real_s if metric in as_coarse else stated_s
        for metric, stated_s in matched.periods.items()
    }


def _step(times: Sequence[float], *, least_share: float = 0.0) -> float | None:
    """The commonest gap between times in ascending order, as a period in seconds; the shorter one of two.

    None if there is no gap, or if fewer than ``least_share`` of the gaps are like it.
    """
    by_gap = Counter(map(sub, times[1:], times))  # few gaps are different, and each is rounded once
    exact, gaps = Counter[float](), Counter[float]()
    for gap, count in by_gap.items():
        exact[float(max(1, round(gap)))] += count
        gaps[_whole_period(gap)] += count
    if not gaps:
        return None
    ((usual_s, usual_count),) = exact.most_common(1)
    if usual_count >= REGULAR * exact.total() and usual_s % EXACT_GAP_S == 0:
        return usual_s
    step_s, count = max(gaps.items(), key=lambda pair: (pair[1], -pair[0]))
    shortest_s = min(gaps)
    is_even = all(gap % shortest_s == 0 for gap in exact)
    if (
        is_even
        and gaps[shortest_s] >= OFTEN * gaps.total()
        and step_s <= LONGEST_STEPS * shortest_s
    ):
        step_s = shortest_s  # most rows are missing
    return step_s if count >= least_share * gaps.total() else None


def _whole_period(gap_s: float) -> float:
    """The gap in whole minutes, or in whole seconds if it is under three quarters of a minute."""
    if gap_s >= 0.75 * MINUTE_S:
        return round(gap_s / MINUTE_S) * MINUTE_S
    return max(1.0, round(gap_s))


def _places(times: Sequence[float], step_s: float) -> dict[float, float]:
    """The place of each time on a grid: at the commonest offset, or at the mean one if fewer times collide there."""
    offsets = Counter(round(at % step_s, 3) for at in times)
    ((commonest, _),) = offsets.most_common(1)
    # The middle of all, on the circle that the offsets are on.
    turn = 2 * math.pi / step_s
    sine = math.fsum(math.sin(turn * offset) * n for offset, n in offsets.items())
    cosine = math.fsum(math.cos(turn * offset) * n for offset, n in offsets.items())
    middle = round(math.atan2(sine, cosine) / turn) % step_s
    on_either = (_snapped(times, step_s, offset) for offset in (commonest, middle))
    return max(on_either, key=lambda places: len(set(places.values())))


def _snapped(times: Sequence[float], step_s: float, offset: float) -> dict[float, float]:
    begin = times[0] - (times[0] - offset) % step_s
    return {at: begin + round((at - begin) / step_s) * step_s for at in times}


def _notes(
    points: Mapping[str, TimedValues],
    places: Mapping[float, float],
    row_times: Sequence[float],
) -> list[str]:
    """Say what was done: times sorted, duplicate values merged, times moved."""
    notes = []
    series = [[at for at, _ in of_metric] for of_metric in points.values()]
    is_unsorted = _is_unsorted(row_times) or any(map(_is_unsorted, series))
    if is_unsorted:
        notes.append("times are sorted")
    merged = sum(len(times) - len({places[at] for at in times}) for times in series)
    if merged:
        notes.append(f"{merged} duplicate values are merged")
    snapped = sum(abs(place - at) > EXACT_S for at, place in places.items())
    if snapped:
        notes.append(f"{snapped} times are moved to the nearest period")
    return notes


def _is_unsorted(times: Sequence[float]) -> bool:
    return any(after < before for before, after in pairwise(times))

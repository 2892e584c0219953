"""Finds the metrics of a kind among the series of a file, by the names that programs give them.

CloudWatch's ``BurstBalance`` is ``vol-0abc BurstBalance`` in a label and
``aws_ebs_burst_balance_minimum`` in Prometheus.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from burstwatch.history.observations import Resource
from burstwatch.history.points import Statistic
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from burstwatch.recordings.samples import (
    VOLUME_COLUMNS,
    Contents,
    RecordedSeries,
    Sample,
    lowest_bucket,
)

STATISTIC = re.compile(r"(minimum|average|maximum|sum|samplecount|sample_count)\W*$")
RESOURCE_ID = re.compile(r"\b(?:vol|i|fs)-[0-9a-f]{8,}\b")
#: Such as CPUUtilization: no person names a column like this.
CLOUDWATCH_NAME = re.compile(r"[A-Z]+[a-z]*[A-Z]+[a-z]+[A-Za-z]*")
MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Matched:
    """The series of one bucket by CloudWatch's metric, and what was assumed for that.

    ``periods`` are those that the file states.
    """

    resource: Resource
    points: Mapping[str, list[tuple[float, float]]]
    periods: Mapping[str, float]
    notes: tuple[str, ...]


def match_metrics(
    contents: Contents, kind: Kind, buckets: Sequence[Resource], *, only: str, name: str
) -> Matched:
    """The level and the demand of one of ``buckets``.

    ``only`` keeps the series whose label has this text.

    Raises:
        ValueError: if no series is a metric of the kind, or several are the same one.
    """
    chosen = [series for series in contents.series if only.lower() in series.label.lower()]
    if not contents.series:
        msg = f"{name} has no datapoint at all, so nothing can be said"
        raise ValueError(msg)
    if not chosen:
        msg = f"{name} has no series with {only!r}, only {_labels(contents.series)}"
        raise ValueError(msg)
    if not any(series.points for series in chosen):
        msg = f"{name} has no value at all, so nothing can be said"
        raise ValueError(msg)
    by_metric, notes = _by_metric(chosen, kind, buckets, name, is_own=contents.is_own)
    _check_one_resource(by_metric, name)
    resource, level_notes = _bucket_of(kind, buckets, by_metric, contents, name)
    chosen_by_metric = {}
    if resource.level_metric in by_metric:
        levels = _preferred(by_metric[resource.level_metric], resource.statistic)
        chosen_by_metric[resource.level_metric] = levels
    notes += level_notes
    assumed: dict[str, list[str]] = {}
    for metric in kind.demand_metrics:
        amounts = _preferred(by_metric.get(metric.name, []), metric.statistic)
        stated = {_statistic_of(series) for series in amounts} - {""}
        if stated - {metric.statistic}:
            difference = f"{_a(min(stated))} and not {_a(metric.statistic)}"
            notes.append(f"left out {metric.name}, which is {difference}")
        elif amounts:
            chosen_by_metric[metric.name] = amounts
            if not stated and not contents.is_own:
                assumed.setdefault(metric.statistic, []).append(metric.name)
    notes += [
        f"{', '.join(names)} are taken as {statistic}s" for statistic, names in assumed.items()
    ]
    return Matched(
        resource=resource,
        points={metric: _joined(parts, metric, name) for metric, parts in chosen_by_metric.items()},
        periods={
            metric: parts[0].period_s
            for metric, parts in chosen_by_metric.items()
            if parts[0].period_s is not None
        },
        notes=tuple(notes),
    )


def _by_metric(
    chosen: Sequence[RecordedSeries],
    kind: Kind,
    buckets: Sequence[Resource],
    name: str,
    *,
    is_own: bool,
) -> tuple[dict[str, list[RecordedSeries]], list[str]]:
    """The series by metric. A lone one with an unknown name is taken as the level, but not in our own columns."""
    by_metric: dict[str, list[RecordedSeries]] = {}
    unknown: list[RecordedSeries] = []
    for series in chosen:
        metric = _metric_of(series, kind)
        if metric:
            by_metric.setdefault(metric, []).append(series)
        else:
            unknown.append(series)
    levels = list(dict.fromkeys(bucket.level_metric for bucket in buckets))
    if by_metric:
        return by_metric, [f"left out {_labels(unknown)}"] if unknown else []
    is_alone = len(unknown) == len(levels) == 1 and not is_own
    if is_alone and not _is_other_metric(unknown[0], levels[0]):
        note = f"its only series, {unknown[0].label!r}, is taken as {levels[0]}"
        return {levels[0]: unknown}, [note]
    allowed = ", ".join(_allowed(kind))
    msg = f"{name} has no metric of {kind.name}: found {_labels(unknown)}, allowed are {allowed}"
    raise ValueError(msg)


def _bucket_of(
    kind: Kind,
    buckets: Sequence[Resource],
    by_metric: Mapping[str, Sequence[RecordedSeries]],
    contents: Contents,
    name: str,
) -> tuple[Resource, list[str]]:
    """The bucket whose level the file has, with the statistic that it has it in."""
    have = [bucket for bucket in buckets if bucket.level_metric in by_metric]
    if not have and any(bucket.bucket is not None for bucket in buckets):
        levels = " or ".join(dict.fromkeys(bucket.level_metric for bucket in buckets))
        msg = f"{name} has no {levels}, so nothing can be said: found {', '.join(by_metric)}"
        raise ValueError(msg)
    if not have:
        return buckets[0], []
    notes = []
    values = [
        Sample(t_s=at, values={metric: value})
        for metric in {bucket.level_metric: None for bucket in have}
        for at, value in chain.from_iterable(series.points for series in by_metric[metric])
    ]
    lowest = lowest_bucket(kind, have, values)
    if len(have) > 1:
        notes.append(
            f"{lowest.level_metric} is the lowest of the balances in the file, and is used"
        )
    stated = {_statistic_of(series) for series in by_metric[lowest.level_metric]} - {""}
    if contents.is_own and not stated:
        own_statistic: Statistic = (
            "Average" if contents.level_statistic == "Average" else lowest.statistic
        )
        return replace(lowest, statistic=own_statistic), notes
    if stated and not stated & {"Minimum", "Average"}:
        msg = f"{name} has {lowest.level_metric} as {', '.join(sorted(stated))} only, which hides how low it was: ask for Minimum or Average"
        raise ValueError(msg)
    statistic: Statistic = "Minimum" if "Minimum" in stated else "Average"
    if statistic == "Average":
        taken = "is an Average" if stated else "is taken as an Average"
        notes.append(
            f"{lowest.level_metric} {taken}, and can be lower within a period: a file with the Minimum gives a narrower range"
        )
    return replace(lowest, statistic=statistic), notes


def _metric_of(series: RecordedSeries, kind: Kind) -> str:
    """The metric that a series is, or nothing."""
    short = VOLUME_COLUMNS if kind is EBS_VOLUME else {}
    metrics = sorted(kind.metrics, key=len, reverse=True)
    for name in series.names:
        if name in short:
            return short[name]
        plain = _plain(name)
        for metric in metrics:
            if _plain(metric) in plain:
                return metric
    return ""


@cache
def is_metric_name(name: str) -> bool:
    """True if a column has the name of a metric of any kind, or of our own columns."""
    metrics = {metric for kind in find_kinds().values() for metric in kind.metrics}
    plain = _plain(name)
    return name in VOLUME_COLUMNS or any(_plain(metric) in plain for metric in metrics)


def _a(statistic: str) -> str:
    return f"an {statistic}" if statistic[0] in "AEIOU" else f"a {statistic}"


def _is_other_metric(series: RecordedSeries, level: str) -> bool:
    """True if a series has the name of another metric of CloudWatch, which is no level of this kind."""
    metrics = {metric for kind in find_kinds().values() for metric in kind.metrics} - {level}
    return any(
        word in metrics or (CLOUDWATCH_NAME.fullmatch(word) and "Balance" not in word)
        for name in series.names
        for word in name.split()
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _allowed(kind: Kind) -> list[str]:
    short = VOLUME_COLUMNS if kind is EBS_VOLUME else {}
    return [*kind.metrics, *short]


def _statistic_of(series: RecordedSeries) -> str:
    """CloudWatch's statistic, as the file or the end of a name says it."""
    if series.statistic:
        return series.statistic
    for name in series.names:
        match = STATISTIC.search(name.lower())
        if match:
            return match[1].replace("_", "").capitalize()
    return ""


def _preferred(series: Sequence[RecordedSeries], statistic: str) -> Sequence[RecordedSeries]:
    """Return the series in this statistic, or all if none is."""
    return [part for part in series if _statistic_of(part) == statistic] or series


def _joined(series: Sequence[RecordedSeries], metric: str, name: str) -> list[tuple[float, float]]:
    """The points of all parts of one series; raises ValueError if they are several series."""
    if len({(part.names, _statistic_of(part)) for part in series}) > 1:
        msg = f"{name} has several series of {metric}: {_labels(series)}: choose one by --only TEXT"
        raise ValueError(msg)
    return [point for part in series for point in part.points]


def _check_one_resource(by_metric: Mapping[str, Sequence[RecordedSeries]], name: str) -> None:
    """Raise ValueError if the series are of several resources; an instance beside its volume is no second one."""
    ids = set[str]()
    for series in chain.from_iterable(by_metric.values()):
        ids.update(RESOURCE_ID.findall(series.label))
    if len({resource_id for resource_id in ids if not resource_id.startswith("i-")} or ids) > 1:
        msg = (
            f"{name} has series of {', '.join(sorted(ids)[:MOST_NAMED])}: choose one by --only TEXT"
        )
        raise ValueError(msg)


def _labels(series: Sequence[RecordedSeries]) -> str:
    every = list(dict.fromkeys(part.label[:80] for part in series))
    labels = every[:MOST_NAMED]
    more = len(every) - len(labels)
    return ", ".join(labels) + (f" and {more} more" if more else "")

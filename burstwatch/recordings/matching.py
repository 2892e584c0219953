"""Finds the metrics of a kind among the series of a file, by the names that programs give them.

CloudWatch's ``BurstBalance`` is ``vol-0abc BurstBalance`` in a label and
``aws_ebs_burst_balance_minimum`` in Prometheus.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, groupby

from burstwatch.formatting import command_line
from burstwatch.history.observations import Resource
from burstwatch.history.points import Statistic
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import PERCENT, Kind
from burstwatch.recordings.cells import PER_MINUTE
from burstwatch.recordings.samples import (
    VOLUME_COLUMNS,
    Contents,
    Measure,
    RecordedSeries,
    Sample,
    lowest_bucket,
)

#: The names of CloudWatch's statistics in the languages of its console, and as programs shorten them.
STATISTICS: Mapping[str, re.Pattern[str]] = {
    "Minimum": re.compile(r"minimum|minimal\w*|m[ií]nimo|min|lowest|最小值?|최소값?"),
    "Maximum": re.compile(
        r"maximum|maximal\w*|m[aá]ximo|max|highest|upper|h[oö]chstwert|最大值?|최대값?|p9\d(?:\.\d+)?"
    ),
    "Sum": re.compile(r"sum|suma|summe|somme|soma|som|somma|合[计計]|总和|합계"),
    "Average": re.compile(
        r"average|avg|av|mean|durchschnitt|moyenne|promedio|media|média|gemiddelde|mittelwert|平均值?|평균값?|tm\d\d"
    ),
    "Samplecount": re.compile(r"samplecount|count"),
}
AT_END = re.compile(r"(minimum|average|maximum|sum|samplecount)\W*$")
#: A function around or before a name, such as avg:aws.ebs.burst_balance and min(BurstBalance).
AT_START = re.compile(
    r"\s*(minimum|average|maximum|min|max|avg|mean|sum)(?:[:(]|_over_time\(|\s+(?:of\s)?)"
)
#: A statistic that a label states: {stat="max"}.
STATED = re.compile(r"\bstat(?:istic)?s?[\"']?\s*[=:]\s*[\"']?([a-z]+)")
RESOURCE_ID = re.compile(r"\b(?:vol|i|fs)-[0-9a-f]{8,}\b")
#: What programs and people call a value of which they say nothing, and a balance by its own words.
ANY_VALUE = frozenset(
    {"value", "values", "val", "data", "datapoint", "datapoints", "metric", "series", "sample", "result", "volumeid", "instanceid", "filesystemid", "percent", "pct", "balance", "burst", "credit", "credits", "remaining", "left"}
)  # fmt: skip
#: Of a query or an expression: m1, e1, q12, A.
QUERY_ID = re.compile(r"[a-z]\d{0,3}|\d+")
#: How names of metrics begin in Prometheus, Elasticsearch, Datadog and Graphite.
POLLED = re.compile(r"\baws[._]")
UNITS_OF: Mapping[Measure, str] = {
    "percent": "in percent",
    "bytes": "in bytes",
    "time": "in a unit of time",
    "": "without a unit",
}
#: The metrics of a load that are in bytes; the others count operations or credits.
SIZES = re.compile("Bytes|Throughput")
MOST_NAMED = 5
#: So much of a label is shown: it may be a whole query.
LABEL_LENGTH = 80
#: A later answer may correct this share of the values of an earlier one.
MOST_CORRECTED = 0.05
#: Rows at 1 in a run that show a full balance, written as a share.
FULL_ROWS = 3
#: A share has been so low, or has more decimals than a program shows of a percentage.
DRAINED = 0.6


@dataclass(frozen=True, kw_only=True, slots=True)
class Matched:
    """The series of one bucket by CloudWatch's metric, and what was assumed for that.

    ``periods`` are those that the file states. ``rates`` are the metrics whose values are per second, where CloudWatch has sums.
    """

    resource: Resource
    points: Mapping[str, list[tuple[float, float]]]
    periods: Mapping[str, float]
    notes: tuple[str, ...]
    rates: frozenset[str] = frozenset()


def name_series(contents: Contents, kind: Kind, *, metric: str, statistic: str) -> Contents:
    """The series with the metric and the statistic that a person states, where the file does not say them.

    Raises:
        ValueError: for a metric that the kind has not.
    """
    if metric and metric not in kind.metrics:
        msg = f"--metric is {metric!r}, allowed for {kind.name} are {', '.join(kind.metrics)}"
        raise ValueError(msg)
    named = []
    for series in contents.series:
        if metric and series.points and not _metric_of(series, kind):
            series = replace(series, names=(metric, *series.names))  # noqa: PLW2901 - the same series
        is_level = _metric_of(series, kind) in {"", *kind.level_metrics}
        if statistic and is_level and not _statistic_of(series):
            series = replace(series, statistic=statistic)  # noqa: PLW2901
        named.append(series)
    return replace(contents, series=named)


def match_metrics(
    contents: Contents, kind: Kind, buckets: Sequence[Resource], *, only: str, name: str
) -> Matched:
    """The level and the demand of one of ``buckets``.

    ``only`` keeps the series of this name, or else those whose label has this text.

    Raises:
        ValueError: if no series is a metric of the kind, or several are the same one.
    """
    chosen = _chosen(contents.series, only)
    if not contents.series:
        msg = f"{name} has no series with a time and a value, so nothing can be said"
        raise ValueError(msg)
    if not chosen:
        msg = f"{name} has no series with {only!r}, only {_labels(contents.series)}"
        raise ValueError(msg)
    if not any(series.points for series in chosen):
        msg = f"{name} has no value at all, so nothing can be said"
        raise ValueError(msg)
    by_metric, notes = _by_metric(chosen, kind, buckets, name, is_own=contents.about.is_own)
    _check_one_resource(by_metric, name)
    resource, level_notes = _bucket_of(kind, buckets, by_metric, contents, name)
    chosen_by_metric = {}
    if resource.level_metric in by_metric:
        levels = _preferred(by_metric[resource.level_metric], resource.reporting.statistic)
        chosen_by_metric[resource.level_metric] = levels
    notes += level_notes
    demand = _demand(by_metric, kind, notes, is_own=contents.about.is_own)
    chosen_by_metric |= demand
    for metric, parts in chosen_by_metric.items():
        _check_unit(metric, parts, kind, name)
    # What CloudWatch itself has per second stays so.
    published_rates = {metric.name for metric in kind.demand_metrics if metric.is_rate}
    rates = frozenset(
        metric
        for metric, parts in chosen_by_metric.items()
        if any(part.is_rate for part in parts) and metric not in published_rates
    )
    if resource.level_metric in rates:
        msg = f"{name} has {resource.level_metric} per second, and a balance is no rate"
        raise ValueError(msg)
    points = {metric: _joined(parts, metric, name) for metric, parts in chosen_by_metric.items()}
    levels = chosen_by_metric.get(resource.level_metric, ())
    is_percent = kind.is_percent and not contents.about.is_own
    if is_percent and _are_shares(levels, points.get(resource.level_metric, ())):
        points[resource.level_metric] = [
            (at, round(PERCENT * value, 10)) for at, value in points[resource.level_metric]
        ]
        notes.append(f"{resource.level_metric} is a share of 1, as it stays at 1 and never above")
    return Matched(
        resource=resource,
        rates=rates,
        points=points,
        periods={
            metric: parts[0].period_s
            for metric, parts in chosen_by_metric.items()
            if parts[0].period_s is not None
        },
        notes=tuple(notes),
    )


def _chosen(series: Sequence[RecordedSeries], only: str) -> list[RecordedSeries]:
    """The series with a name that is this text, also as the id of a resource in it; or else those that have it anywhere."""
    text = only.lower()
    if not text:
        return [*series]
    names_of = [(part, [name.lower() for name in (*part.names, part.label)]) for part in series]
    whole = [part for part, names in names_of if text in names]
    words = [
        part
        for part, names in names_of
        if any(text in re.split(r"[^\w-]+", name) for name in names)
    ]
    return whole or words or [part for part in series if text in part.label.lower()]


def _check_unit(metric: str, parts: Sequence[RecordedSeries], kind: Kind, name: str) -> None:
    """Refuse a metric in a unit that CloudWatch does not have it in; raises ValueError."""
    measure = _measure_of(metric, kind)
    for part in parts:
        if part.measure not in {"", measure}:
            msg = f"{name} has {metric} {UNITS_OF[part.measure]}, and CloudWatch has it {UNITS_OF[measure]}: give the metric as CloudWatch has it"
            raise ValueError(msg)


def _measure_of(metric: str, kind: Kind) -> Measure:
    """What CloudWatch has a metric in."""
    if metric in kind.level_metrics and kind.is_percent:
        return "percent"
    is_size = kind.example.unit == "MiB" if metric in kind.level_metrics else SIZES.search(metric)
    return "bytes" if is_size else ""


def _demand(
    by_metric: Mapping[str, Sequence[RecordedSeries]],
    kind: Kind,
    notes: list[str],
    *,
    is_own: bool,
) -> dict[str, Sequence[RecordedSeries]]:
    """The series of the load by metric, each in the statistic that is summed; ``notes`` gets what was assumed."""
    demand: dict[str, Sequence[RecordedSeries]] = {}
    assumed: dict[str, list[str]] = {}
    for metric in kind.demand_metrics:
        amounts = _preferred(by_metric.get(metric.name, []), metric.statistic)
        is_rate = any(series.is_rate for series in amounts)
        stated = {_statistic_of(series) for series in amounts} - {""}
        if is_rate:
            stated -= {"Average"}  # per second, so the sum is known
        if stated - {metric.statistic}:
            difference = f"{_a(min(stated))} and not {_a(metric.statistic)}"
            notes.append(f"left out {metric.name}, which is {difference}")
        elif amounts:
            demand[metric.name] = amounts
            if not stated and not is_own and not is_rate:
                assumed.setdefault(metric.statistic, []).append(metric.name)
    notes += [
        f"{', '.join(names)} are taken as {statistic}s" for statistic, names in assumed.items()
    ]
    return demand


def _are_shares(parts: Sequence[RecordedSeries], points: Sequence[tuple[float, float]]) -> bool:
    """True if a balance is from 0 to 1, and full for some rows: one that is nearly empty does not stay at 1 percent."""
    values = [value for _, value in sorted(points)]
    if not values or max(values) != 1 or any(part.measure == "percent" for part in parts):
        return False
    longest = max(len(list(run)) for value, run in groupby(values) if value == 1)
    has_drained = min(values) < DRAINED or any(len(f"{value}") > len("0.123") for value in values)
    return longest >= FULL_ROWS and has_drained


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
        if metric in kind.level_metrics and not series.points and not is_own:
            continue  # a balance without a value is none
        if metric:
            by_metric.setdefault(metric, []).append(series)
        else:
            unknown.append(series)
    levels = list(dict.fromkeys(bucket.level_metric for bucket in buckets))
    if by_metric:
        return by_metric, [_left_out(unknown, kind)] if unknown else []
    lone = _of_one_metric([series for series in unknown if series.points])
    if lone and len(levels) == 1 and not is_own:
        label = _preferred(lone, "Minimum")[0].label
        if not all(says_nothing(series.names) for series in lone):
            msg = f"{name} has one series, {label[:LABEL_LENGTH]!r}, whose name is not that of {levels[0]}: if it is the balance, say --metric {levels[0]}"
            raise ValueError(msg)
        return {levels[0]: lone}, [f"its only series, {label!r}, is taken as {levels[0]}"]
    allowed = ", ".join(_allowed(kind))
    nameless = [series for series in unknown if series.points and says_nothing(series.names)]
    if len(nameless) > 1 and len(levels) == 1:
        example = command_line("--only", nameless[0].label[:LABEL_LENGTH])
        msg = f"{name} has several series, none with the name of a metric: {_labels(nameless)}: if each is a balance, choose one, such as {example}"
        raise ValueError(msg)
    msg = f"{name} has no metric of {kind.name}: found {_labels(unknown)}; allowed: {allowed}"
    raise ValueError(msg)


def _left_out(unknown: Sequence[RecordedSeries], kind: Kind) -> str:
    """A note for series that are no metrics of a kind, with the kind whose load they are."""
    loads = {
        other.name: {metric.name for metric in other.demand_metrics}
        for other in find_kinds().values()
        if {*other.level_metrics} & {*kind.level_metrics}
    }
    names = {_metric_of(series, find_kinds()[other]) for series in unknown for other in loads}
    whose = [other for other, metrics in loads.items() if len(metrics & names) > 1]
    hint = f", the load of {whose[0]}: --kind {whose[0]} reads it" if whose else ""
    return f"left out {_labels(unknown)}{hint}"


def _of_one_metric(unknown: Sequence[RecordedSeries]) -> list[RecordedSeries]:
    """The series if there is one, or if they differ in the statistic only: the columns of one metric. Nothing else."""
    if len(unknown) < 2:  # noqa: PLR2004 - several
        return list(unknown)
    forms = {(series.names, _statistic_of(series)) for series in unknown}
    keys = {names[:-1] for names, _ in forms}
    statistics = [statistic for _, statistic in forms]
    is_one = len(forms) == 1 or (
        len(keys) == 1 and all(statistics) and len(set(statistics)) == len(statistics)
    )
    return list(unknown) if is_one else []


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
    if contents.about.is_own and not stated:
        own_statistic: Statistic = (
            "Average" if contents.about.level_statistic == "Average" else lowest.reporting.statistic
        )
        return replace(lowest, reporting=replace(lowest.reporting, statistic=own_statistic)), notes
    if stated and not stated & {"Minimum", "Average"}:
        msg = f"{name} has {lowest.level_metric} as {', '.join(sorted(stated))} only, which hides how low it was: ask for Minimum or Average"
        raise ValueError(msg)
    statistic: Statistic = "Minimum" if "Minimum" in stated else "Average"
    if statistic == "Average":
        taken = "is an Average" if stated else "is taken as an Average"
        notes.append(
            f"{lowest.level_metric} {taken}, and can be lower within a period: a file with the Minimum gives a narrower range"
        )
    return replace(lowest, reporting=replace(lowest.reporting, statistic=statistic)), notes


def _metric_of(series: RecordedSeries, kind: Kind) -> str:
    """The metric that a series is, or nothing."""
    metrics = sorted(kind.metrics, key=len, reverse=True)
    for name in series.names:
        if name in kind.columns:
            return kind.columns[name]
        plain = _plain(name)
        for metric in metrics:
            if _plain(metric) in plain:
                return metric
    return ""


@cache
def is_metric_name(name: str) -> bool:
    """True if a column has the name of a metric of any kind, or of our own columns."""
    plain = _plain(name)
    return name in VOLUME_COLUMNS or any(metric in plain for metric in _plain_metrics())


@cache
def _plain_metrics() -> frozenset[str]:
    """The metrics of all kinds; a table may have thousands of headings to compare with them."""
    kinds = find_kinds().values()
    return frozenset(_plain(metric) for kind in kinds for metric in kind.metrics)


@cache
def is_of_a_poller(name: str) -> bool:
    """True if a metric has the name that a program gives it which asks CloudWatch by itself and keeps the answers.

    Such as ``aws_ebs_burst_balance_minimum`` and ``aws.ebs.metrics.BurstBalance.avg``. CloudWatch writes BurstBalance.
    """
    if not is_metric_name(name) or name in VOLUME_COLUMNS:
        return False
    metrics = {metric for kind in find_kinds().values() for metric in kind.metrics}
    return POLLED.search(name) is not None or not any(metric in name for metric in metrics)


def _a(statistic: str) -> str:
    return f"an {statistic}" if statistic[0] in "AEIOU" else f"a {statistic}"


def says_nothing(names: Sequence[str]) -> bool:
    """True if no name of a series says what it is: there are ids, statistics and words that programs call any value by.

    Any other word may be the name of another metric: a size, a latency, a share of a disk.
    """
    words = {
        word
        for name in names
        for word in re.split(r"[\W_]+", RESOURCE_ID.sub(" ", name.lower()))
        if word
    }
    return all(
        word in ANY_VALUE or QUERY_ID.fullmatch(word) or statistic_of_word(word) for word in words
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _allowed(kind: Kind) -> list[str]:
    return [*kind.metrics, *kind.columns]


@cache
def statistic_of_word(word: str) -> str:
    """CloudWatch's statistic that a word is the name of, or nothing: ``Mínimo``, ``value.min`` or ``Sample count``."""
    plain = re.sub(r"sample[ _]count", "samplecount", word.strip().lower())
    last = re.split(r"[._:]", plain)[-1]
    for statistic, names in STATISTICS.items():
        if names.fullmatch(plain) or names.fullmatch(last):
            return statistic
    return ""


@cache
def _statistic_of_name(name: str) -> str:
    plain = re.sub(r"sample_count", "samplecount", name.lower())
    match = AT_END.search(plain) or AT_START.match(plain) or STATED.search(plain)
    if match is not None:
        return statistic_of_word(match[1])
    words = PER_MINUTE.sub(" ", plain).split()
    at_end = statistic_of_word(words[-1]) if words else ""
    return at_end or _statistic_beside_metric(name)


def _statistic_beside_metric(name: str) -> str:
    """The statistic whose name stands right before or behind that of a metric, or begins the whole name, or nothing.

    ``Count`` is left out: it is the unit of most loads.
    """
    metric = _metric_pattern().search(name)
    if metric is None:
        return ""
    before, after = (
        PER_MINUTE.sub(" ", re.sub(r"sample[\W_]?count", "samplecount", part.lower()))
        for part in (name[: metric.start()], name[metric.end() :])
    )
    words_before, words_after = (
        [word for word in re.split(r"[\W_]+", part) if word] for part in (before, after)
    )
    beside = (*words_after[:1], *words_before[-1:], *words_before[:1])
    return next(filter(None, (statistic_of_word(word) for word in beside if word != "count")), "")


@cache
def _metric_pattern() -> re.Pattern[str]:
    """The name of any metric, however its words are separated: ``BurstBalance``, ``burst_balance``, ``burst balance``."""
    metrics = {metric for kind in find_kinds().values() for metric in kind.metrics}
    names = sorted(metrics, key=len, reverse=True)
    spelled = (
        r"[\W_]?".join(re.escape(letter) for letter in metric if letter.isalnum())
        for metric in names
    )
    return re.compile("|".join(spelled), re.IGNORECASE)


def _statistic_of(series: RecordedSeries) -> str:
    """CloudWatch's statistic, as the file or a name says it."""
    if series.statistic:
        return series.statistic
    return next(filter(None, map(_statistic_of_name, series.names)), "")


def _preferred(series: Sequence[RecordedSeries], statistic: str) -> Sequence[RecordedSeries]:
    """Return the series in this statistic, or all if none is."""
    return [part for part in series if _statistic_of(part) == statistic] or series


def _joined(series: Sequence[RecordedSeries], metric: str, name: str) -> list[tuple[float, float]]:
    """The points of all parts of one series; raises ValueError if they are several series."""
    if len({(part.names, _statistic_of(part)) for part in series}) > 1:
        msg = f"{name} has several series of {metric}: {_labels(series)}: choose one by --only TEXT"
        raise ValueError(msg)
    points: list[tuple[float, float]] = []
    values: dict[float, float] = {}
    for part in series:
        shared = [(at, value) for at, value in part.points if at in values]
        differing = sum(values[at] != value for at, value in shared)
        if differing > max(1, MOST_CORRECTED * len(shared)):
            msg = f"{name} has {metric} twice with other values for the same times, as of two resources: give one file for each, or --only TEXT"
            raise ValueError(msg)
        points += part.points
        values.update(part.points)
    return points


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
    """The labels of some series, for a message: the beginning of each, and how many more there are."""
    distinct = list(dict.fromkeys(one_series.label[:LABEL_LENGTH] for one_series in series))
    named = ", ".join(distinct[:MOST_NAMED])
    more = len(distinct) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named

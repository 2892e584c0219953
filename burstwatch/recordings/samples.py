"""Defines the series of a file and the samples that a replay plays, and writes samples.

A sample is one period: its start, and the values of a kind's metrics as CloudWatch has them. A
metric without a value is absent, never 0.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint, LevelPoint, Statistic
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND

#: Our own short names of a volume's metrics.
VOLUME_COLUMNS = KIND.columns
COLUMNS = ("t_s", *VOLUME_COLUMNS)

#: What values are written in, if a unit stands beside them; nothing for a count.
Measure: TypeAlias = Literal["", "percent", "bytes", "time"]
#: Levels and demand in time order.
Points: TypeAlias = tuple[list[LevelPoint], list[DemandPoint]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One period of ``values`` by CloudWatch's metric. Totals are sums over the period."""

    t_s: float
    values: Mapping[str, float]


def volume_sample(t_s: float, **cells: float | None) -> Sample:
    """A sample of a volume by the short names. None is "CloudWatch has none"."""
    values = {VOLUME_COLUMNS[name]: value for name, value in cells.items() if value is not None}
    return Sample(t_s=t_s, values=values)


def columns_of(kind: Kind) -> Mapping[str, str]:
    """The metrics of a file of ours by column: some have short names."""
    return kind.columns or {name: name for name in kind.metrics}


def write_samples(
    samples: Iterable[Sample], columns: Mapping[str, str] = VOLUME_COLUMNS
) -> list[str]:
    """Lines with line ends, in our own columns."""
    lines = [",".join(("t_s", *columns)) + "\n"]
    for sample in samples:
        cells = (sample.values.get(metric) for metric in columns.values())
        texts = ("" if value is None else f"{value!r}" for value in cells)
        lines.append(",".join((f"{sample.t_s:.0f}", *texts)) + "\n")
    return lines


def at_period(
    samples: Sequence[Sample],
    step_s: float,
    period_s: float,
    *,
    kind: Kind = KIND,
    level_statistic: Statistic = "Minimum",
    end_s: float | None = None,
) -> tuple[Sequence[Sample], float]:
    """Samples over ``period_s``, or as they are where they are that coarse already.

    As CloudWatch does it: a period has a datapoint if any part of it has. The last one is
    left out where the recording ends within it: at ``end_s``, or a step after its last row.

    Raises:
        ValueError: if the one period is no multiple of the other.
    """
    if step_s >= period_s:
        return samples, step_s
    if period_s % step_s:
        msg = f"a row each {step_s:g} s does not fit into periods of {period_s:g} s; allowed: a divisor"
        raise ValueError(msg)
    merge: dict[str, Callable[[Sequence[float]], float]] = {
        metric.name: _mean if metric.is_rate else math.fsum for metric in kind.demand_metrics
    }
    merge |= dict.fromkeys(kind.level_metrics, min if level_statistic == "Minimum" else _mean)
    wide: dict[float, dict[str, list[float]]] = {}
    for sample in samples:
        values = wide.setdefault(sample.t_s // period_s * period_s, {})
        for name, value in sample.values.items():
            values.setdefault(name, []).append(value)
    end_s = samples[-1].t_s + step_s if end_s is None else end_s
    return [
        Sample(t_s=start, values={name: merge[name](amounts) for name, amounts in values.items()})
        for start, values in wide.items()
        if start + period_s <= end_s
    ], period_s


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def lowest_bucket(kind: Kind, buckets: Sequence[Resource], samples: Iterable[Sample]) -> Resource:
    """The bucket whose level was lowest; the first one where no level is known."""
    lowest = dict.fromkeys((bucket.level_metric for bucket in buckets), math.inf)
    by_metric = {bucket.level_metric: bucket for bucket in buckets}
    for sample in samples:
        for metric in lowest.keys() & sample.values.keys():
            ratio = kind.to_ratio(by_metric[metric], sample.values[metric])
            lowest[metric] = min(lowest[metric], ratio)
    return by_metric[min(lowest, key=lambda metric: lowest[metric])]


def rates_by_period(
    samples: Iterable[Sample], kind: Kind, period_s: float
) -> list[dict[str, float]]:
    """The mean rates of each sample by metric of the load; a metric that it lacks is absent."""
    return [
        {
            metric.name: metric.total(sample.values[metric.name], period_s) / period_s
            for metric in kind.demand_metrics
            if metric.name in sample.values
        }
        for sample in samples
    ]


def to_points(
    samples: Iterable[Sample], resource: Resource, period_s: float, kind: Kind = KIND
) -> Points:
    """The samples as levels and demand, each where CloudWatch had it."""
    levels, demand = [], []
    level_metric, statistic = resource.level_metric, resource.reporting.statistic
    totals_of = [(metric.name, metric.total) for metric in kind.demand_metrics]
    for sample in samples:
        values = sample.values
        if level_metric in values:
            ratio = min(1.0, max(0.0, kind.to_ratio(resource, values[level_metric])))
            levels.append(LevelPoint(sample.t_s, period_s, ratio, statistic))
        totals = {
            name: total(values[name], period_s) for name, total in totals_of if name in values
        }
        point = kind.spent(resource, totals, sample.t_s, period_s)
        if point is not None:
            demand.append(point)
    return levels, demand


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedSeries:
    """One series of a file, in the file's order.

    ``names`` are what the file calls it, the most telling one first; a metric is looked for in all of them. ``statistic`` is CloudWatch's,
    or empty where the file does not say; ``period_s`` is None there. ``points`` are pairs of a
    time in seconds and a value. ``is_rate`` says that the values are per second, such as IOPS,
    and ``measure`` what they are written in, where the file says it.
    """

    names: tuple[str, ...]
    statistic: str = ""
    period_s: float | None = None
    points: list[tuple[float, float]]
    is_rate: bool = False
    measure: Measure = ""

    @property
    def label(self) -> str:
        """All its names, for people."""
        return " ".join(dict.fromkeys(name for name in self.names if name)) or "(no name)"


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What a file says of itself and of its resource.

    ``is_own`` is true for one that burstwatch wrote. ``gaps_are_silence`` says that CloudWatch had no datapoint where
    a time is missing. ``kind``, ``region``, ``spec`` and ``level_statistic`` are how the file describes its resource.
    ``notes`` say what was assumed.
    """

    format: str
    is_own: bool = False
    gaps_are_silence: bool
    kind: str = ""
    region: str = ""
    spec: Mapping[str, str] = field(default_factory=dict)
    level_statistic: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The series of a file, whose kind is not known yet. ``row_times`` are the times of its rows, with a value or not."""

    about: About
    series: list[RecordedSeries]
    row_times: tuple[float, ...] = ()

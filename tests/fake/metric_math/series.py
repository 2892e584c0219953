"""Models CloudWatch's queries: metrics, their series, and where they come from.

LocalStack refuses expressions, and the strict fake should not: both answer with this
(``expressions``, ``searching``, ``insights``). Of AWS's language it has what is listed there
and refuses the rest by name. Read by LocalStack's interpreter too, so it needs nothing but
the standard library.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/graph-dynamic-labels.html
_DYNAMIC = re.compile(r"\$\{(?:PROP\('([^']+)'\)|(LABEL))\}")


class QueryError(ValueError):
    """A query that CloudWatch would refuse, or that is not known here; the message says which."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric's name: namespace, name, and dimensions in the order of their names."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Series:
    """Values by the start of their period, in seconds since the epoch."""

    label: str
    period_s: int
    points: Mapping[int, float]
    metric: Metric | None = None
    statistic: str = ""
    groups: tuple[tuple[str, str], ...] = field(default=())

    def labelled(self, template: str) -> "Series":
        """With the label that a query asks for; nothing asked for leaves it."""
        if not template:
            return self
        known = {
            "Namespace": self.metric.namespace if self.metric else "",
            "MetricName": self.metric.name if self.metric else "",
            "Stat": self.statistic,
            "Period": str(self.period_s),
        }
        dimensions = (*(self.metric.dimensions if self.metric else ()), *self.groups)
        known |= {f"Dim.{name}": value for name, value in dimensions}

        def filled(match: re.Match[str]) -> str:
            return self.label if match[2] else known.get(match[1], "")

        label = _DYNAMIC.sub(filled, template)
        return replace(self, label=label)


class Store(Protocol):
    """A store of metrics."""

    def metrics(self, namespace: str | None) -> Iterable[Metric]:
        """Every metric of a namespace, or of all."""

    def read(
        self, metric: Metric, statistic: str, *, start_s: int, end_s: int, period_s: int
    ) -> Mapping[int, float]:
        """The statistic of each period that has data, by the period's start."""

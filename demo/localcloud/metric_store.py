"""Adds what LocalStack's metric store lacks: several statistics in one query, and expressions.

LocalStack 4.13.1 asks its store once for each period, and so takes most of a second for
a series of some hours; a sweep asks for sixty of them and would run out of its time. And
GetMetricData fails there with the first SEARCH, Metrics Insights query or metric math.
This runs in LocalStack's own process, and imports nothing of it.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from monitoring.metric_math.expressions import answer
from monitoring.metric_math.series import Metric

#: How a period's statistic is made, and the column of a statistic set that it is made of.
STATISTICS = {
    "Sum": ("SUM(value)", "sum"),
    "Average": ("1.0 * SUM(value) / SUM(count)", "sum"),
    "Minimum": ("MIN(value)", "min"),
    "Maximum": ("MAX(value)", "max"),
    "SampleCount": ("SUM(count)", "sum"),
}


def read_statistic(
    self: Any,  # noqa: ANN401 - LocalStack's CloudwatchDatabase
    account_id: str,
    region: str,
    query: dict[str, Any],
    start_time: datetime,
    end_time: datetime,
    scan_by: str | None,
) -> dict[str, list[float]]:
    """Stands in for ``CloudwatchDatabase.get_metric_data_stat``.

    Periods are counted from ``start_time`` and left out when they have no value; newest
    first unless asked otherwise, as CloudWatch does.
    """
    asked, metric = query["MetricStat"], query["MetricStat"]["Metric"]
    dimensions = self._get_ordered_dimensions_with_separator(metric.get("Dimensions"))
    series = (account_id, region, metric["Namespace"], metric["MetricName"], dimensions)
    with (
        self.DATABASE_LOCK,
        contextlib.closing(sqlite3.connect(self.METRICS_DB_READ_ONLY, uri=True)) as store,
    ):
        found = read_periods(
            store,
            series,
            statistic=asked["Stat"],
            unit=asked.get("Unit"),
            start_s=int(start_time.timestamp()),
            end_s=int(end_time.timestamp()),
            period_s=asked["Period"],
        )
    if scan_by != "TimestampAscending":
        found.reverse()
    return {"timestamps": [at for at, _ in found], "values": [value for _, value in found]}


def read_periods(
    store: sqlite3.Connection,
    series: tuple[str, str, str, str, str | None],
    *,
    statistic: str,
    unit: str | None,
    start_s: int,
    end_s: int,
    period_s: int,
) -> list[tuple[int, float]]:
    """(start, value) of each period that has data, in time order.

    ``series`` is account, region, namespace, name, and dimensions as they are stored.
    """
    made_of, column = STATISTICS[statistic]
    # LocalStack's word for "those without a unit" is NULL_VALUE.
    units = [] if unit is None else [None if unit == "NULL_VALUE" else unit]
    unit_filter = "AND unit IS ?9" if units else ""
    where = f"""
        WHERE account_id = ?1 AND region = ?2 AND namespace = ?3 AND metric_name = ?4
        AND dimensions IS ?5 AND timestamp >= ?6 AND timestamp < ?7 {unit_filter}
    """
    rows = store.execute(
        f"""
        SELECT ?6 + (timestamp - ?6) / ?8 * ?8 AS start, {made_of} FROM (
            SELECT timestamp, value, 1 AS count FROM SINGLE_METRICS {where}
            UNION ALL
            SELECT timestamp, {column}, sample_count FROM AGGREGATED_METRICS {where}
        ) GROUP BY start ORDER BY start
        """,  # noqa: S608 - put together from constants
        [*series, start_s, end_s, period_s, *units],
    )
    return [(int(start), float(value)) for start, value in rows]


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """One account's metrics in one region, for expressions."""

    database: Any  # LocalStack's CloudwatchDatabase
    account_id: str
    region: str

    def metrics(self, namespace: str | None) -> list[Metric]:
        """Every metric of the namespace."""
        found = self.database.list_metrics(
            self.account_id, self.region, namespace or "", "", dimensions=[]
        )
        return [
            Metric(
                namespace=one["namespace"],
                name=one["metric_name"],
                dimensions=tuple(sorted((d["Name"], d["Value"]) for d in one["dimensions"] or ())),
            )
            for one in found["metrics"]
        ]

    def read(
        self, metric: Metric, statistic: str, *, start_s: int, end_s: int, period_s: int
    ) -> dict[int, float]:
        """The statistic of each period that has data, periods counted as CloudWatch counts them."""
        dimensions = [{"Name": name, "Value": value} for name, value in metric.dimensions]
        asked = {
            "MetricStat": {
                "Metric": {
                    "Namespace": metric.namespace,
                    "MetricName": metric.name,
                    "Dimensions": dimensions,
                },
                "Stat": statistic,
                "Period": period_s,
            }
        }
        begin = datetime.fromtimestamp(start_s - start_s % period_s, tz=UTC)
        end = datetime.fromtimestamp(end_s, tz=UTC)
        found = self.database.get_metric_data_stat(
            self.account_id, self.region, asked, begin, end, "TimestampAscending"
        )
        return dict(zip(found["timestamps"], found["values"], strict=True))


def with_expressions(get_metric_data: Callable[..., Any]) -> Callable[..., Any]:
    """Stands in for ``CloudwatchProvider.get_metric_data``, and lets it do what it can."""

    def answered(
        self: Any,  # noqa: ANN401 - LocalStack's provider
        context: Any,  # noqa: ANN401 - LocalStack's
        metric_data_queries: Sequence[dict[str, Any]],
        start_time: datetime,
        end_time: datetime,
        **others: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if not any("Expression" in query for query in metric_data_queries):
            return get_metric_data(
                self, context, metric_data_queries, start_time, end_time, **others
            )
        store = Metrics(
            database=self.cloudwatch_database, account_id=context.account_id, region=context.region
        )
        answers = answer(
            metric_data_queries,
            store,
            start_s=int(start_time.timestamp()),
            end_s=int(end_time.timestamp()),
        )
        ascending = others.get("scan_by") == "TimestampAscending"
        return {
            "MetricDataResults": [
                {
                    "Id": one.id,
                    "Label": series.label,
                    "StatusCode": "Complete",
                    "Timestamps": [datetime.fromtimestamp(at, tz=UTC) for at, _ in points],
                    "Values": [value for _, value in points],
                }
                for one in answers
                for series in one.series
                for points in [sorted(series.points.items(), reverse=not ascending)]
            ],
            "Messages": [],
        }

    return answered

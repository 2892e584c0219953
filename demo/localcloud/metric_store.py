"""Adds what LocalStack's metric store lacks: several periods of a statistic in one query.

LocalStack 4.13.1 asks its store once for each period, and so takes most of a second for
a series of some hours; a sweep asks for sixty of them and would run out of its time.
This runs in LocalStack's own process, and imports nothing of it.
"""

import contextlib
import sqlite3
from datetime import datetime
from typing import Any

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
    names = ("account", "region", "namespace", "name", "dimensions")
    values: dict[str, str | int | None] = dict(zip(names, series, strict=True))
    values |= {"start": start_s, "end": end_s, "period": period_s}
    unit_filter = ""
    if unit is not None:
        unit_filter = "AND unit IS :unit"
        # LocalStack's word for "those without a unit" is NULL_VALUE.
        values["unit"] = None if unit == "NULL_VALUE" else unit
    where = f"""
        WHERE account_id = :account AND region = :region AND namespace = :namespace AND metric_name = :name
        AND dimensions IS :dimensions AND timestamp >= :start AND timestamp < :end {unit_filter}
    """
    rows = store.execute(
        f"""
        SELECT :start + (timestamp - :start) / :period * :period AS start, {made_of} FROM (
            SELECT timestamp, value, 1 AS count FROM SINGLE_METRICS {where}
            UNION ALL
            SELECT timestamp, {column}, sample_count FROM AGGREGATED_METRICS {where}
        ) GROUP BY start ORDER BY start
        """,  # noqa: S608 - put together from constants
        values,
    )
    return [(int(start), float(value)) for start, value in rows]

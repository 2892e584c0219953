"""Embedded metric format: log lines into PutMetricData, as CloudWatch Logs does it."""

import json
from datetime import UTC, datetime
from typing import Any, NoReturn


def metric_data(line: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """(namespace, MetricData) of each directive in the line; nothing for other lines.

    Strict, as CloudWatch is: a line with ``NaN`` or ``Infinity`` is not JSON, and
    none of its metrics are found.
    """
    try:
        blob = json.loads(line, parse_constant=_refuse)
    except ValueError:
        return []
    if not isinstance(blob, dict) or "_aws" not in blob:
        return []
    at = datetime.fromtimestamp(blob["_aws"]["Timestamp"] / 1000, tz=UTC)
    return [
        (directive["Namespace"], _data(blob, directive, at))
        for directive in blob["_aws"]["CloudWatchMetrics"]
    ]


def _data(blob: dict[str, Any], directive: dict[str, Any], at: datetime) -> list[dict[str, Any]]:
    data = []
    for names in directive["Dimensions"]:
        dimensions = [{"Name": name, "Value": str(blob[name])} for name in names]
        for metric in directive["Metrics"]:
            found = blob[metric["Name"]]
            data.append(
                {
                    "MetricName": metric["Name"],
                    "Dimensions": dimensions,
                    "Timestamp": at,
                    "Unit": metric.get("Unit", "None"),
                    "Values": [float(v) for v in (found if isinstance(found, list) else [found])],
                }
            )
    return data


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)

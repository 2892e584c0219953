"""The real data sources: what Grafana would ask them, and what they answer."""

import json
import math
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from tests.look.frames import Field, Frame, LookError, Span, series

#: A line has so many points at the most, whatever its panel's width.
POINTS = 240
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
_LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
_QUERY_RESULT = re.compile(r"query_result\((.+)\)")


class Source(Protocol):
    """A source of a panel's data."""

    def query(
        self, targets: Sequence[Mapping[str, Any]], variables: Mapping[str, str], span: Span
    ) -> list[Frame]:
        """The frames of all targets that are not hidden, as Grafana's data source would give them."""

    def values(
        self, query: Mapping[str, Any], variables: Mapping[str, str], span: Span
    ) -> list[str]:
        """The values that a variable's query finds."""


def filled(text: str, variables: Mapping[str, str]) -> str:
    """With its variables in; what is none of them stays, for CloudWatch has dynamic labels."""
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), text)


@dataclass(frozen=True, kw_only=True)
class Prometheus:
    """A Prometheus server. ``scrape_s`` is how often it scrapes."""

    url: str
    scrape_s: float = 15.0

    def query(
        self, targets: Sequence[Mapping[str, Any]], variables: Mapping[str, str], span: Span
    ) -> list[Frame]:
        """A frame a series, or one table of a target that asks for one. A target without a series gives an empty frame."""
        step_s = max(self.scrape_s, math.ceil(span.seconds / POINTS))
        rate_s = max(step_s + self.scrape_s, 4 * self.scrape_s)
        known = {**variables, "__rate_interval": f"{rate_s:g}s"}
        tables = sum(target.get("format") == "table" for target in targets)
        found: list[Frame] = []
        for target in targets:
            expression = filled(target["expr"], known)
            if target.get("instant"):
                asked = {"query": expression, "time": f"{span.end_s:.3f}"}
                result = self._ask("query", asked)["result"]
                if target.get("format") == "table":
                    found.append(_table(target["refId"], result, is_alone=tables == 1))
                    continue
                result = [{**one, "values": [one["value"]]} for one in result]
            else:
                asked = {
                    "query": expression,
                    "start": f"{span.start_s:.3f}",
                    "end": f"{span.end_s:.3f}",
                    "step": f"{step_s:g}",
                }
                result = self._ask("query_range", asked)["result"]
            found += [_line(target, one) for one in result] or [Frame(query=target["refId"])]
        return found

    def values(
        self, query: Mapping[str, Any], variables: Mapping[str, str], span: Span
    ) -> list[str]:
        """Of ``label_values(metric{...}, label)``, or each series of ``query_result(expression)`` as text."""
        results = _QUERY_RESULT.fullmatch(str(query["query"]))
        if results is not None:
            known = {**variables, "__range": f"{span.seconds:.0f}s"}
            expression = filled(results[1], known)
            vector = self._ask("query", {"query": expression, "time": f"{span.end_s:.3f}"})
            return [_as_text(sample) for sample in vector["result"]]
        match = _LABEL_VALUES.fullmatch(str(query["query"]))
        if match is None:
            msg = f"only label_values and query_result are known here, not {query['query']!r}"
            raise LookError(msg)
        series = self._ask("series", {"match[]": filled(match[1], variables)})
        return sorted({one[match[2]] for one in series if match[2] in one})

    def _ask(self, path: str, asked: Mapping[str, str]) -> Any:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]
        except (OSError, ValueError, KeyError) as error:
            said = (
                error.read().decode() if isinstance(error, urllib.error.HTTPError) else str(error)
            )
            msg = f"Prometheus: {asked}: {said}"
            raise LookError(msg) from error


@dataclass(frozen=True, kw_only=True)
class CloudWatch:
    """A client of boto3 in one region."""

    client: Any
    region: str

    def query(
        self, targets: Sequence[Mapping[str, Any]], variables: Mapping[str, str], span: Span
    ) -> list[Frame]:
        """All targets in one request, as Grafana does, for they name one another; all pages of it."""
        asked = {
            "MetricDataQueries": [_metric_query(target, variables) for target in targets],
            "StartTime": datetime.fromtimestamp(span.start_s, tz=UTC),
            "EndTime": datetime.fromtimestamp(span.end_s, tz=UTC),
            "ScanBy": "TimestampAscending",
        }
        points: dict[tuple[str, str], list[tuple[float, float]]] = {}
        try:
            for page in self.client.get_paginator("get_metric_data").paginate(**asked):
                for one in page["MetricDataResults"]:
                    times = [at.timestamp() for at in one.get("Timestamps", ())]
                    line = points.setdefault((one["Id"], one["Label"]), [])
                    line += zip(times, one.get("Values", ()), strict=True)
        except Exception as error:  # whatever it is, the panel shows it
            msg = f"CloudWatch: {type(error).__name__}: {error}"
            raise LookError(msg) from error
        names = {target["id"]: target["refId"] for target in targets}
        return [series(names[one], label, line) for (one, label), line in points.items()]

    def values(
        self, query: Mapping[str, Any], variables: Mapping[str, str], span: Span
    ) -> list[str]:
        """Regions, or the values of a dimension."""
        del span  # CloudWatch lists what it has of the last two weeks
        if query["queryType"] == "regions":
            return [self.region]
        if filled(query["region"], variables) != self.region:
            msg = f"a variable asks in {query['region']}, and here is {self.region}"
            raise LookError(msg)
        others = [
            {"Name": name, "Value": filled(value, variables)}
            for name, value in query["dimensionFilters"].items()
        ]
        asked = {
            "Namespace": query["namespace"],
            "MetricName": query["metricName"],
            "Dimensions": others,
        }
        pages = self.client.get_paginator("list_metrics").paginate(**asked)
        return sorted(
            {
                pair["Value"]
                for page in pages
                for metric in page["Metrics"]
                for pair in metric["Dimensions"]
                if pair["Name"] == query["dimensionKey"]
            }
        )


def _metric_query(target: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """A MetricDataQuery, as Grafana's plugin makes it of a target."""
    period_s = int(target["period"])
    query: dict[str, Any] = {"Id": target["id"], "ReturnData": not target.get("hide", False)}
    label = filled(target.get("label", ""), variables)
    if label:
        query["Label"] = label
    if target.get("sqlExpression"):
        return {
            **query,
            "Expression": filled(target["sqlExpression"], variables),
            "Period": period_s,
        }
    if target.get("expression"):
        return {**query, "Expression": filled(target["expression"], variables), "Period": period_s}
    dimensions = [
        {"Name": name, "Value": filled(value, variables)}
        for name, value in sorted(target["dimensions"].items())
    ]
    metric = {
        "Namespace": target["namespace"],
        "MetricName": target["metricName"],
        "Dimensions": dimensions,
    }
    return {
        **query,
        "MetricStat": {"Metric": metric, "Stat": target["statistic"], "Period": period_s},
    }


def _as_text(sample: Mapping[str, Any]) -> str:
    """As Grafana writes a sample for the regex of a variable: its labels, the value and the time."""
    labels = ",".join(f'{name}="{value}"' for name, value in sample["metric"].items())
    at_s, value = sample["value"]
    return f"{{{labels}}} {value} {1000 * float(at_s):.0f}"


def _line(target: Mapping[str, Any], result: Mapping[str, Any]) -> Frame:
    labels = result["metric"]
    legend = re.sub(
        r"\{\{\s*(\w+)\s*\}\}",
        lambda match: labels.get(match[1], ""),
        target.get("legendFormat", ""),
    )
    points = [(float(at), float(value)) for at, value in result["values"]]
    return series(target["refId"], legend.strip() or str(labels), points, labels)


def _table(name: str, result: Sequence[Mapping[str, Any]], *, is_alone: bool) -> Frame:
    """One row for each series: time, labels, value, as Grafana's table format has it."""
    if is_alone and not result:
        return Frame(query=name)
    labels = sorted({key for one in result for key in one["metric"]})
    times, values = (
        [float(one["value"][0]) for one in result],
        [float(one["value"][1]) for one in result],
    )
    columns = [
        Field(name=label, type="string", values=[one["metric"].get(label, "") for one in result])
        for label in labels
    ]
    return Frame(
        query=name,
        fields=[
            Field(name="Time", type="time", values=times),
            *columns,
            Field(name="Value" if is_alone else f"Value #{name}", type="number", values=values),
        ],
    )

"""A CloudWatch client that answers SEARCH, Metrics Insights and metric math itself, as an emulator cannot."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.fake.metric_math.expressions import answer
from tests.fake.metric_math.series import Metric


@dataclass(frozen=True)
class Answering:
    """Wraps a client of boto3: a query with an expression is worked out here from plain ones."""

    client: Any

    def get_paginator(self, operation: str) -> Any:
        """The client's own, but for GetMetricData."""
        return self if operation == "get_metric_data" else self.client.get_paginator(operation)

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:
        """One page with all of it."""
        yield self.get_metric_data(**asked)

    def get_metric_data(self, **asked: Any) -> dict[str, Any]:
        """As CloudWatch answers it."""
        answers = answer(
            asked["MetricDataQueries"],
            self,
            start_s=int(asked["StartTime"].timestamp()),
            end_s=int(asked["EndTime"].timestamp()),
        )
        return {
            "MetricDataResults": [
                {
                    "Id": one.id,
                    "Label": series.label,
                    "Timestamps": [
                        datetime.fromtimestamp(at, tz=UTC) for at in sorted(series.points)
                    ],
                    "Values": [series.points[at] for at in sorted(series.points)],
                }
                for one in answers
                for series in one.series
            ]
        }

    def metrics(self, namespace: str | None) -> list[Metric]:
        """Every metric of the namespace."""
        named = {} if namespace is None else {"Namespace": namespace}
        pages = self.client.get_paginator("list_metrics").paginate(**named)
        return [
            Metric(
                namespace=one["Namespace"],
                name=one["MetricName"],
                dimensions=tuple(
                    sorted((pair["Name"], pair["Value"]) for pair in one["Dimensions"])
                ),
            )
            for page in pages
            for one in page["Metrics"]
        ]

    def read(
        self, metric: Metric, statistic: str, *, start_s: int, end_s: int, period_s: int
    ) -> dict[int, float]:
        """The statistic of each period that has data, periods counted as CloudWatch counts them."""
        dimensions = [{"Name": name, "Value": value} for name, value in metric.dimensions]
        stat = {
            "Metric": {
                "Namespace": metric.namespace,
                "MetricName": metric.name,
                "Dimensions": dimensions,
            },
            "Stat": statistic,
            "Period": period_s,
        }
        pages = self.client.get_paginator("get_metric_data").paginate(
            MetricDataQueries=[{"Id": "m", "MetricStat": stat}],
            StartTime=datetime.fromtimestamp(start_s - start_s % period_s, tz=UTC),
            EndTime=datetime.fromtimestamp(end_s, tz=UTC),
        )
        return {
            int(at.timestamp()): value
            for page in pages
            for result in page["MetricDataResults"]
            for at, value in zip(result["Timestamps"], result["Values"], strict=True)
        }

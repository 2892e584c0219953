"""CloudWatch's GetMetricData without the wire, for what needs a month of looks in seconds."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

#: A metric's datapoints: the starts of their periods, in order, and their values.
Points = tuple[Sequence[float], Sequence[float]]
COMBINE: dict[str, Callable[[Sequence[float]], float]] = {
    "Minimum": min,
    "Maximum": max,
    "Sum": sum,
    "Average": lambda values: sum(values) / len(values),
}


@dataclass
class QuickCloudWatch:
    """Stands where ``Clients`` does. ``series`` are by resource id and metric.

    A datapoint of ``period_s``, or of its resource's own of ``periods_s``, is visible ``delay_s``
    after its end. ``clock`` is the time, ``requested`` counts the metrics asked for by resource.
    """

    clock: Callable[[], float]
    series: dict[tuple[str, str], Points] = field(default_factory=dict)
    period_s: float = 60.0
    periods_s: dict[str, float] = field(default_factory=dict)
    delay_s: float = 0.0
    requested: Counter[str] = field(default_factory=Counter)
    throttled: int = 0

    def __call__(self, service: str) -> "QuickCloudWatch":
        assert service == "cloudwatch"
        return self

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        queries = request["MetricDataQueries"]
        assert len(queries) <= 500
        start_s, end_s = request["StartTime"].timestamp(), request["EndTime"].timestamp()
        return {"MetricDataResults": [self._answer(query, start_s, end_s) for query in queries]}

    def _answer(self, query: dict[str, Any], start_s: float, end_s: float) -> dict[str, Any]:
        stat = query["MetricStat"]
        metric = stat["Metric"]
        key = (metric["Dimensions"][0]["Value"], metric["MetricName"])
        self.requested[key[0]] += 1
        period_s = self.periods_s.get(key[0], self.period_s)
        end_s = min(end_s, self.clock() - self.delay_s - period_s + 1e-6)
        starts, values = self.series.get(key, ((), ()))
        first, last = bisect_left(starts, start_s), bisect_right(starts, end_s)
        times, found = starts[first:last], values[first:last]
        if stat["Period"] > period_s:
            groups: dict[float, list[float]] = {}
            for at, value in zip(times, found, strict=True):
                groups.setdefault(at - at % stat["Period"], []).append(value)
            times = list(groups)
            found = [COMBINE[stat["Stat"]](group) for group in groups.values()]
        return {
            "Id": query["Id"],
            "StatusCode": "Complete",
            "Timestamps": [datetime.fromtimestamp(at, tz=UTC) for at in times],
            "Values": list(found),
        }

"""What asking may still cost: credits that come in with the month and are spent by the metric.

The amount of a month comes in evenly, and six hours of it can be saved. What earlier
functions spent is in our own metric, so that one that starts anew does not start rich.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from burstwatch.aws.alarms import NAMESPACE, unit_dimensions
from burstwatch.aws.session import AWS_ERRORS, Problem, describe_error
from burstwatch.bucket import Bucket, clamp_level, level_after

if TYPE_CHECKING:
    from burstwatch.aws.session import Clients, Unit
    from burstwatch.config import Config
    from burstwatch.shard import Shard

SPENT_METRIC = "MetricsRequested"
HOUR_S = 3600.0
SAVED_S = 6 * HOUR_S
#: So far back what was spent is looked at: what was saved before that has come in since.
BACK_HOURS = 24


@dataclass(kw_only=True)
class Budget:
    """A bucket of metrics like those that are watched here: ``left`` are in it as of ``at``."""

    bucket: Bucket
    left: float
    at: float

    def refill(self, now: float) -> float:
        """What may be asked for now."""
        seconds = max(0.0, now - self.at)
        self.left = level_after(self.bucket, level=self.left, demand=0.0, seconds=seconds)
        self.at = now
        return self.left

    def spend(self, metrics: int) -> None:
        """Take off what was asked for."""
        self.left = clamp_level(self.bucket, self.left - metrics)


def open_budget(
    home: Clients, unit: Unit, shard: Shard, config: Config, *, now: float
) -> tuple[Budget, list[Problem]]:
    """The budget of a unit, or a shard's share of it, as earlier functions have left it.

    Where that cannot be read there is as much as comes in from one sweep to the next.
    """
    rate = config.budget_metrics_per_s / shard.count
    bucket = Bucket(capacity=rate * SAVED_S, refill=rate, burst=rate)
    start = now - now % HOUR_S - BACK_HOURS * HOUR_S
    metric = {
        "Namespace": NAMESPACE,
        "MetricName": SPENT_METRIC,
        "Dimensions": unit_dimensions(unit, shard, config),
    }
    stat = {"Metric": metric, "Period": int(HOUR_S), "Stat": "Sum"}
    try:
        answer = home("cloudwatch").get_metric_data(
            MetricDataQueries=[{"Id": "spent", "MetricStat": stat}],
            StartTime=datetime.fromtimestamp(start, tz=UTC),
            EndTime=datetime.fromtimestamp(now, tz=UTC),
        )
        (result,) = answer["MetricDataResults"]
    except (*AWS_ERRORS, KeyError, ValueError) as error:
        problem = Problem(part="what was spent before", error=describe_error(error))
        return Budget(bucket=bucket, left=rate * config.sweep_period_s, at=now), [problem]
    times = [time.timestamp() for time in result["Timestamps"]]
    spent = dict(zip(times, result["Values"], strict=True))
    budget = Budget(bucket=bucket, left=bucket.capacity, at=start)
    for hour in range(BACK_HOURS + 1):
        begins = start + hour * HOUR_S
        budget.refill(min(now, begins + HOUR_S))
        budget.spend(int(spent.get(begins, 0)))
    return budget, []

"""Keeps metric requests within a monthly budget: credits come in with time, requests spend them.

The amount of a month comes in evenly, and six hours of it can be saved. What other and
earlier functions spent is in our own metric, which is looked up at the start and every hour.
"""

from dataclasses import dataclass

from burstwatch.aws.client.names import NAMESPACE, unit_dimensions
from burstwatch.aws.client.pace import TokenBucket
from burstwatch.aws.client.session import NEVER, Clients
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.bucket import HOUR_S
from burstwatch.config import Config
from burstwatch.polling.queries import Query
from burstwatch.shards import Problem, Shard, Unit

SPENT_METRIC = "MetricsRequested"
SAVED_S = 6 * HOUR_S
#: Hours that spending is read back: savings are capped, so older spending cannot matter.
BACK_HOURS = 24


@dataclass(kw_only=True)
class Budget(TokenBucket):
    """Metrics that may be asked for, read at ``opened_at``. It is overdrawn where others have spent more."""

    opened_at: float

    def is_stale(self, now: float) -> bool:
        """True if others may have spent so much since that it must be looked up anew."""
        return not 0.0 <= now - self.opened_at < HOUR_S

    def spend(self, metrics: int) -> None:
        """Take off what was asked for."""
        self.available -= metrics


def new_budget(config: Config, shard: Shard, *, now: float) -> Budget:
    """The budget of a unit, or a shard's share of it, where nothing is known of what was spent before: nothing is saved."""
    rate = config.budget_metrics_per_s / shard.count
    return Budget(
        rate=rate,
        most=rate * SAVED_S,
        available=rate * config.sweep_period_s,
        at=now,
        opened_at=now,
    )


def open_budget(
    home: Clients, unit: Unit, shard: Shard, config: Config, *, now: float
) -> tuple[Budget, list[Problem]]:
    """The budget of a unit, or a shard's share of it, as earlier functions have left it.

    Where that cannot be read there is as much as comes in from one sweep to the next.
    """
    rate = config.budget_metrics_per_s / shard.count
    start = now - now % HOUR_S - BACK_HOURS * HOUR_S
    query = Query(
        namespace=NAMESPACE,
        metric=SPENT_METRIC,
        dimensions=tuple(
            (dimension["Name"], dimension["Value"])
            for dimension in unit_dimensions(unit, shard, config)
        ),
        resource_id=str(unit),
        statistic="Sum",
    )
    answers = read_metrics(
        home, [query], start_s=start, end_s=now, period_s=int(HOUR_S), deadline=NEVER
    )
    if query.key in answers.failed:
        problem = Problem(part="what was spent before", error=answers.failed[query.key])
        return new_budget(config, shard, now=now), [problem]
    spent = dict(answers.series[query.key])
    saved = rate * SAVED_S
    budget = Budget(rate=rate, most=saved, available=saved, at=start, opened_at=now)
    for hour in range(BACK_HOURS + 1):
        begins = start + hour * HOUR_S
        budget.refill(min(now, begins + HOUR_S))
        budget.spend(int(spent.get(begins, 0)))
    return budget, []

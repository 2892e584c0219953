"""The monthly bill of a deployment, whatever its fleet: one line for each thing that AWS charges for.

`cdk synth` computes the same lines from its template; a test compares the two.
"""

import math
from dataclasses import dataclass

from burstwatch.config import Config
from burstwatch.ebs.watching_prices import MONTH_S, usd_of

#: Metrics that each sweep publishes about the whole deployment.
FLEET_METRICS = (
    "ResourcesSeen",
    "ResourcesUnknown",
    "ResourcesWarning",
    "ResourcesCritical",
    "ResourcesExhausted",
    "ResourcesDryWithin1h",
    "ResourcesDryWithin6h",
    "UnitsFailed",
    "DataAge",
    "MetricsRequested",
    "MetricsRefused",
    "MinTimeToExhaustion",
    "CallsThrottled",
    "Problems",
)
#: Metrics that it publishes only where there is a value: each is paid by the hour.
RARE_METRICS = ("ResourcesNotWatched",)
#: Alarms and keys of a deployment with one function, and the cost of its sweep.
ALARM_METRICS, KEYS = 17, 1
SWEEP_S, LOG_KIB = 2.0, 4.0
MEMORY_GIB = 0.5
KIB_PER_GIB = 1_024.0**2


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: how much of what, its list price a month, and what is left of that after the free tier."""

    name: str
    quantity: float
    usd: float
    paid_usd: float


def deployment_lines(config: Config) -> list[Line]:
    """The monthly bill of a deployment with one function, whatever its fleet.

    The function has a heartbeat, and with a budget a metric of what it has spent.
    """
    sweeps = MONTH_S / config.sweep_period_s
    own_metrics = 1 if math.isinf(config.budget_metrics_per_s) else 2
    seconds = sweeps * SWEEP_S * MEMORY_GIB
    lambda_usd, lambda_paid_usd = (
        usd_of("lambda_request", sweeps, with_free_tier=free)
        + usd_of("lambda_gigabyte_second", seconds, with_free_tier=free)
        for free in (False, True)
    )
    return [
        _line("alarms", ALARM_METRICS, "alarm_metric"),
        _line("fleet metrics", len(FLEET_METRICS) + own_metrics, "custom_metric"),
        _line("keys", KEYS, "key"),
        Line(name="sweeps", quantity=sweeps, usd=lambda_usd, paid_usd=lambda_paid_usd),
        # Its heartbeat, what it has spent, and which alarms there are.
        _line("calls", sweeps * (own_metrics + 1), "metrics_call"),
        _line("GB of logs", sweeps * LOG_KIB / KIB_PER_GIB, "log_gigabyte"),
    ]


def _line(name: str, quantity: float, price: str) -> Line:
    return Line(
        name=name,
        quantity=quantity,
        usd=usd_of(price, quantity),
        paid_usd=usd_of(price, quantity, with_free_tier=True),
    )

"""The monthly bill of a deployment, whatever its fleet: one line for each thing that AWS charges for.

`cdk synth` computes the same lines from its template; a test compares the two.
"""

import math
from dataclasses import dataclass

from burstwatch.bucket import MINUTE_S
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import MONTH_S, usd_of

#: Metrics that each sweep publishes about the whole deployment.
FLEET_METRICS = (
    "ResourcesSeen",
    "ResourcesUnknown",
    "ResourcesWarning",
    "ResourcesCritical",
    "ResourcesExhausted",
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
#: Alarms of each further function; and where units are found the metrics that tell of them, and those of the alarms on them
#: and on the function that finds them.
FUNCTION_ALARMS, FOUND_METRICS, FOUND_ALARM_METRICS = 3, 2, 5
SWEEP_S, LOG_KIB = 2.0, 4.0
MEMORY_GIB = 0.5
#: Units that are found get their sweeps by a queue. A message is sent, received and deleted; and Lambda's five pollers each ask
#: every 20 seconds.
REQUESTS_PER_MESSAGE, POLLS_PER_MINUTE = 3, 5 * 3
KIB_PER_GIB = 1_024.0**2


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: how much of what, its list price a month, and what is left of that after the free tier."""

    name: str
    quantity: float
    usd: float
    paid_usd: float


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How many accounts and regions a deployment sweeps by a schedule of their own, and how many it finds. ``functions`` sweep them."""

    units: int = 1
    found_units: int = 0
    functions: int = 1


ONE_UNIT = Extent()


def deployment_lines(config: Config, extent: Extent = ONE_UNIT) -> list[Line]:
    """The monthly bill of a deployment, whatever its fleet.

    Each unit has a heartbeat, and with a budget a metric of what it has spent; those that are found have one alarm
    together.
    """
    periods = MONTH_S / config.sweep_period_s
    sweeps = periods * (extent.units + extent.found_units)
    own_metrics = 1 if math.isinf(config.budget_metrics_per_s) else 2
    metrics = (
        len(FLEET_METRICS)
        + extent.units * own_metrics
        + (FOUND_METRICS if extent.found_units else 0)
    )
    alarms = ALARM_METRICS + (extent.units - 1) + FUNCTION_ALARMS * (extent.functions - 1)
    alarms += FOUND_ALARM_METRICS if extent.found_units else 0
    # To find the accounts is a run of its own each time.
    runs = sweeps + (periods if extent.found_units else 0)
    seconds = runs * SWEEP_S * MEMORY_GIB
    lambda_usd, lambda_paid_usd = (
        usd_of("lambda_request", runs, with_free_tier=free)
        + usd_of("lambda_gigabyte_second", seconds, with_free_tier=free)
        for free in (False, True)
    )
    # Its heartbeat, what it has spent, and which alarms there are. A unit that is found has no heartbeat of its own.
    calls = periods * (extent.units * (own_metrics + 1) + extent.found_units * own_metrics)
    lines = [
        _line("alarms", alarms, "alarm_metric"),
        _line("fleet metrics", metrics, "custom_metric"),
        _line("keys", KEYS, "key"),
        Line(name="sweeps", quantity=sweeps, usd=lambda_usd, paid_usd=lambda_paid_usd),
        _line("calls", calls, "metrics_call"),
        _line("GB of logs", runs * LOG_KIB / KIB_PER_GIB, "log_gigabyte"),
    ]
    if extent.found_units:
        requests = sweeps * REQUESTS_PER_MESSAGE + MONTH_S / MINUTE_S * POLLS_PER_MINUTE
        lines.append(_line("queue", requests, "queue_request"))
    return lines


def _line(name: str, quantity: float, price: str) -> Line:
    return Line(
        name=name,
        quantity=quantity,
        usd=usd_of(price, quantity),
        paid_usd=usd_of(price, quantity, with_free_tier=True),
    )

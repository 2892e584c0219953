"""Estimates the monthly cost of asking for a resource, from its size and how full it is.

A look asks for one metric as long as nothing is near, and how long the next one can wait
follows from the worst case. Two figures: with every bucket full and silent, and as they
are now. What a load does in between is not known beforehand.
"""

import math
from dataclasses import dataclass

from burstwatch.bucket import DAY_S, HOUR_S, worst_time_to_empty
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import MONTH_S, PRICES
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.forecast.margins import margins_of
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.observations import Resource
from burstwatch.history.points import COARSE_S
from burstwatch.kinds.base import Kind
from burstwatch.polling.schedule import surely_far_s, wait_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Metrics a month of one bucket, and whether its lead can be kept at all.

    ``out_of_reach`` is where even a bucket that is nearly full would be empty within the margin.
    """

    full: float
    now: float
    out_of_reach: bool = False


NOTHING = Cost(full=0.0, now=0.0)
#: Metrics published of a resource, and its alarms, from a warning on.
RESOURCE_METRICS = ("Severity", "TimeToExhaustion")
MOST_ALARMS = 2


def usd_an_hour_warned_of() -> float:
    """The most that one resource costs beside being asked for, in each hour with a warning or worse."""
    metrics = len(RESOURCE_METRICS) * PRICES["custom_metric"].value
    return (metrics + MOST_ALARMS * PRICES["alarm_metric"].value) * HOUR_S / MONTH_S


def watching_cost(kind: Kind, resource: Resource, assessment: Assessment, config: Config) -> Cost:
    """The cost of asking for one bucket; of what AWS may charge for also once a day how much that was."""
    bucket = resource.bucket
    if bucket is None or not resource.reporting.in_use:
        return NOTHING
    # A full bucket may be a silent one: what it spends shows after as long (``project``).
    age_s = config.max_data_age_s + COARSE_S
    worst_s = worst_time_to_empty(bucket, level=bucket.capacity) - age_s
    full = Assessment(
        verdict="ok",
        reason="",
        projection=Projection(state="infinite", reason="", at=0.0, worst_s=worst_s),
    )
    nearly_full_s = worst_time_to_empty(bucket, level=BACK_RATIO * bucket.capacity)
    is_full = (assessment.projection.worst_s or 0.0) >= worst_s
    charges = MONTH_S / DAY_S if kind.may_be_charged(resource) else 0.0
    return Cost(
        full=_looks(resource, full, config) + charges,
        now=_looks(resource, assessment, config, is_full=is_full) + charges,
        out_of_reach=nearly_full_s - age_s <= margins_of(resource, config).page_s,
    )


def _looks(
    resource: Resource, assessment: Assessment, config: Config, *, is_full: bool = True
) -> float:
    """Looks a month: the first sweep after each wait."""
    unseen_s = config.max_data_age_s + COARSE_S
    safe_s = surely_far_s(resource, config, ratio=1.0, unseen_s=unseen_s) if is_full else 0.0
    wait = wait_s(resource, assessment, config, far_s=safe_s)
    sweeps = max(1, math.ceil(wait / config.sweep_period_s))
    return MONTH_S / (sweeps * config.sweep_period_s)

"""The weights of the risk score: data, written by `make fit`, never by hand.

Fitted on the server recordings in demo/workloads/smd (9 machines, sizes 100, 200 and
500 GiB, mean load 0.5, 0.8 and 0.95 of the baseline; moments: 177,380 (fresh) and 70,125 (stale)). The
levels are what the weights did on machines that they were not fitted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Weights for datapoints of one period, in the order of ``risk.FEATURES``."""

    period_s: float
    intercept: float
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """What paging from one risk on costs and brings, with data of the last minute.

    ``needless_per_week`` are pages of one busy volume with no exhaustion within two
    hours, ``recall`` the share of exhaustions announced 15 minutes before.
    """

    threshold: float
    needless_per_week: float
    recall: float


MODELS = (
    Model(
        period_s=60.0,
        intercept=-0.5462,
        weights=(
            0.6344,  # mean_1
            0.8900,  # mean_3
            1.0031,  # mean_5
            1.3611,  # mean_15
            0.0000,  # mean_30
            0.1288,  # mean_60
            0.8705,  # mean_180
            0.3604,  # quantile_90_of_hour
            0.0000,  # median_of_hour
            0.3920,  # highest_5_of_hour
            0.4599,  # highest_15_of_day
            0.0000,  # at_limit_5
            0.0000,  # at_limit_15
            -1.9071,  # refill_of_burst
            0.0000,  # near
            0.0000,  # fallen_30
            2.5374,  # repeats
        ),
    ),
    Model(
        period_s=300.0,
        intercept=-0.4209,
        weights=(
            0.9901,  # mean_1
            0.9901,  # mean_3
            0.9901,  # mean_5
            1.1587,  # mean_15
            -1.1244,  # mean_30
            -1.5982,  # mean_60
            1.6384,  # mean_180
            0.6515,  # quantile_90_of_hour
            0.0330,  # median_of_hour
            0.8928,  # highest_5_of_hour
            1.1348,  # highest_15_of_day
            1.7678,  # at_limit_5
            -2.4286,  # at_limit_15
            -1.8607,  # refill_of_burst
            -0.4748,  # near
            1.1099,  # fallen_30
            4.0410,  # repeats
        ),
    ),
)

#: By rising threshold.
LEVELS = (
    Level(threshold=0.0, needless_per_week=0.714, recall=0.997),
    Level(threshold=0.02, needless_per_week=0.379, recall=0.99),
    Level(threshold=0.03, needless_per_week=0.349, recall=0.987),
    Level(threshold=0.045, needless_per_week=0.329, recall=0.987),
    Level(threshold=0.06, needless_per_week=0.295, recall=0.981),
    Level(threshold=0.08, needless_per_week=0.274, recall=0.981),
    Level(threshold=0.1, needless_per_week=0.254, recall=0.977),
    Level(threshold=0.115, needless_per_week=0.237, recall=0.971),
    Level(threshold=0.13, needless_per_week=0.222, recall=0.968),
    Level(threshold=0.145, needless_per_week=0.21, recall=0.958),
    Level(threshold=0.16, needless_per_week=0.205, recall=0.932),
    Level(threshold=0.2, needless_per_week=0.194, recall=0.871),
    Level(threshold=0.25, needless_per_week=0.177, recall=0.774),
    Level(threshold=0.32, needless_per_week=0.142, recall=0.639),
)


def threshold_for(needless_per_week: float) -> float:
    """The risk to page from, for what somebody puts up with; linear between the levels."""
    if needless_per_week >= LEVELS[0].needless_per_week:
        return LEVELS[0].threshold
    for low, high in pairwise(LEVELS):
        if high.needless_per_week <= needless_per_week:
            span = low.needless_per_week - high.needless_per_week
            share = (low.needless_per_week - needless_per_week) / span
            return low.threshold + share * (high.threshold - low.threshold)
    return LEVELS[-1].threshold

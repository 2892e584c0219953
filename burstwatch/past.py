"""The days before: demand at a coarse period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.points import DemandPoint

#: The period at which the days before are asked for.
PAST_PERIOD_S = 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """Credits per second at a coarse period, days back, from the first datapoint there is.

    ``means`` are those of three slots up to each, a quarter of an hour.
    """

    start_s: float
    period_s: float
    rates: list[float]
    means: list[float]


def to_past(demand: Sequence[DemandPoint]) -> Past | None:
    """Demand as CloudWatch sums it up over five minutes, from the first datapoint on."""
    if not demand:
        return None
    start_s = demand[0].start_s // PAST_PERIOD_S * PAST_PERIOD_S
    slots = max(1, round(demand[-1].period_s / PAST_PERIOD_S))  # that one point covers
    rates = [0.0] * (int((demand[-1].start_s - start_s) // PAST_PERIOD_S) + slots)
    share = min(1.0, demand[-1].period_s / PAST_PERIOD_S)
    for point in demand:
        first = int((point.start_s - start_s) // PAST_PERIOD_S)
        for slot in range(first, first + slots):
            rates[slot] += point.nominal * share
    three = zip([0.0, 0.0, *rates], [0.0, *rates], rates, strict=False)
    means = [sum(some) / 3 for some in three]
    return Past(start_s=start_s, period_s=PAST_PERIOD_S, rates=rates, means=means)

"""Datapoints as every source yields them: a level or a demand, each with its period.

Times are seconds since the epoch, UTC. What CloudWatch does not have is no point at
all; no number stands for "absent".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from burstwatch.ebs.volumes import Binding

Statistic = Literal["Minimum", "Average"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A likely value between a low and a high one."""

    low: float
    likely: float
    high: float


# Looks make these by the hundred thousand, and a named tuple is made three times as fast.
class LevelPoint(NamedTuple):
    """The share of the bucket (0 to 1) that one datapoint reports for its period."""

    start_s: float
    period_s: float
    ratio: float
    statistic: Statistic = "Minimum"

    @property
    def end_s(self) -> float:
        """The end of the period."""
        return self.start_s + self.period_s


class DemandPoint(NamedTuple):
    """Credits per second that one period's I/O cost: least, nominal, most.

    ``binding`` names the limit that held the I/O back in this period, if one did.
    """

    start_s: float
    period_s: float
    least: float
    nominal: float
    most: float
    binding: Binding = "none"

    @property
    def end_s(self) -> float:
        """The end of the period."""
        return self.start_s + self.period_s

"""Datapoints of a level and of demand, their cadence, and the levels of the last hours kept small."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from burstwatch.sources import Figure, Source

Statistic = Literal["Minimum", "Average"]
#: The binding of what nothing holds back.
NO_LIMIT = "none"
#: Served this close to a limit, a demand is taken as held back by it.
AT_LIMIT = 0.97


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
    """Credits per second that one period cost: least, nominal, most.

    ``binding`` names the limit that held it back in this period, if one did.
    """

    start_s: float
    period_s: float
    least: float
    nominal: float
    most: float
    binding: str = NO_LIMIT

    @property
    def end_s(self) -> float:
        """The end of the period."""
        return self.start_s + self.period_s


FINE_S, COARSE_S = 60.0, 300.0
RETENTION_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html",
    read="2026-11",
)
#: How long CloudWatch keeps datapoints of a minute, and those of five.
MINUTES_KEPT = Figure(value=15, unit="days", source=RETENTION_PAGE)
FIVE_MINUTES_KEPT = Figure(value=63, unit="days", source=RETENTION_PAGE)


def shown_cadence_s(starts: Sequence[float]) -> float | None:
    """Return the cadence that timestamps prove: 60 by two that are nearer than five minutes, 300 as ``cadence_s``; else None."""
    if any(after - before < COARSE_S for before, after in pairwise(starts)):
        return FINE_S
    return COARSE_S if cadence_s(starts) == COARSE_S else None


def is_fine(start_s: float) -> bool:
    """True if a datapoint shows that it is of one minute: those of five begin at every fifth."""
    return start_s % COARSE_S != 0


def cadence_s(starts: Sequence[float]) -> float:
    """Seconds between datapoints: 60, or 300 where their times show it.

    AWS documents one minute for EBS; older volumes and guides still show five. A
    volume with little I/O leaves out minutes, which is not five-minute data: for that
    every point must be on a five-minute mark and most must follow one another.
    """
    gaps = [after - before for before, after in pairwise(starts)]
    on_marks = not any(map(is_fine, starts))
    regular = 2 * gaps.count(COARSE_S) >= len(gaps) > 1
    return COARSE_S if on_marks and regular else FINE_S


Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Levels:
    """One value a minute from ``start_s`` on, not a number where CloudWatch had none.

    ``until_s`` is when they were last asked for: all that could be known then is in them.
    """

    start_s: float
    values: "array[float]"  # not subscriptable at run time before Python 3.12
    until_s: float

    def before(self, end_s: float) -> list[Point]:
        """The datapoints that begin before ``end_s``, in time order."""
        slots = max(0, math.ceil((end_s - self.start_s) / FINE_S))
        return [
            (self.start_s + slot * FINE_S, value)
            for slot, value in enumerate(self.values[:slots])
            if value == value  # noqa: PLR0124 - all but not a number equal themselves
        ]


def keep_levels(points: Sequence[Point], *, since_s: float, until_s: float) -> Levels:
    """The datapoints from ``since_s`` on; all begin at a whole minute."""
    start_s = math.ceil(since_s / FINE_S) * FINE_S
    kept = [(start, value) for start, value in points if start >= start_s]
    size = 0 if not kept else int((kept[-1][0] - start_s) // FINE_S) + 1
    values = array("d", [math.nan]) * size
    for start, value in kept:
        values[int((start - start_s) // FINE_S)] = value
    return Levels(start_s=start_s, values=values, until_s=until_s)

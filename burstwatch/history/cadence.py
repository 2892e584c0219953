"""Infers how often a metric comes from its timestamps."""

from collections.abc import Sequence
from itertools import pairwise

from burstwatch.sources import Figure, Source

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
    """Seconds between datapoints: 60, or 300 where all points show it.

    AWS documents one minute for EBS; older volumes and guides still show five. A
    volume with little I/O leaves out minutes, which is not five-minute data: for that
    every point must be on a five-minute mark and most must follow one another.
    """
    gaps = [after - before for before, after in pairwise(starts)]
    on_marks = not any(map(is_fine, starts))
    regular = 2 * gaps.count(COARSE_S) >= len(gaps) > 1
    return COARSE_S if on_marks and regular else FINE_S

"""The balances of the last hours, kept small: so that a look asks only for the last minutes."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from burstwatch.history.cadence import FINE_S

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

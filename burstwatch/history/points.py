"""Datapoints of a level and of demand, and their cadence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import le
from typing import Literal, NamedTuple, overload

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


class LevelSeries(Sequence[LevelPoint]):
    """The levels of one resource in time order, as columns: a point is made only where one is asked for.

    ``starts`` are seconds, ``ratios`` shares of the bucket. All have one period and one statistic.
    """

    __slots__ = ("period_s", "ratios", "starts", "statistic")

    def __init__(
        self,
        starts: Sequence[float],
        ratios: Sequence[float],
        period_s: float,
        statistic: Statistic,
    ) -> None:
        """Both sequences are of one length."""
        self.starts, self.ratios = starts, ratios
        self.period_s, self.statistic = period_s, statistic

    @classmethod
    def of(cls, points: Sequence[LevelPoint]) -> "LevelSeries":
        """Return points of one period as columns; there must be one. What is columns already is returned as it is."""
        if isinstance(points, cls):
            return points
        starts, ratios = [point.start_s for point in points], [point.ratio for point in points]
        return cls(starts, ratios, points[-1].period_s, points[-1].statistic)

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> LevelPoint: ...

    @overload
    def __getitem__(self, index: slice) -> "LevelSeries": ...

    def __getitem__(self, index: int | slice) -> "LevelPoint | LevelSeries":
        starts, ratios = self.starts[index], self.ratios[index]
        if isinstance(index, slice):
            return LevelSeries(starts, ratios, self.period_s, self.statistic)  # type: ignore[arg-type]
        return LevelPoint(starts, self.period_s, ratios, self.statistic)  # type: ignore[arg-type]


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
    every point must be on a five-minute mark, and at least half of two gaps or more be five minutes long.
    """
    if any(map(is_fine, starts)):  # usually the first or the second is
        return FINE_S
    gaps = [after - before for before, after in pairwise(starts)]
    are_enough = len(gaps) > 1
    is_regular = 2 * gaps.count(COARSE_S) >= len(gaps)
    return COARSE_S if are_enough and is_regular else FINE_S


Point = tuple[float, float]


class Series(Sequence[Point]):
    """One series of CloudWatch as columns: ``starts`` of periods in rising order, and ``values``.

    Looks read millions of datapoints and use few of them one by one.
    """

    __slots__ = ("starts", "values")

    def __init__(self, starts: list[float], values: list[float]) -> None:
        """Both lists are of one length."""
        self.starts, self.values = starts, values

    @classmethod
    def of(cls, points: Iterable[Point]) -> "Series":
        """Sort points by their start. Of several with one start the last counts."""
        by_start = dict(points)
        starts = sorted(by_start)
        return cls(starts, [by_start[start] for start in starts])

    @classmethod
    def of_columns(cls, starts: list[float], values: list[float]) -> "Series":
        """Return the columns as a series; they are sorted where they have to be."""
        if any(map(le, starts[1:], starts)):
            return cls.of(zip(starts, values, strict=True))
        return cls(starts, values)

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Point]:
        return zip(self.starts, self.values, strict=True)

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> "Series": ...

    def __getitem__(self, index: int | slice) -> "Point | Series":
        if isinstance(index, slice):
            return Series(self.starts[index], self.values[index])
        return self.starts[index], self.values[index]


@lru_cache(maxsize=16)  # those of a look, and no heap of recordings
def even_starts(start_s: float, period_s: float, size: int) -> list[float]:
    """The starts of so many periods without a gap. Resources that are asked together share them."""
    return [start_s + period_s * slot for slot in range(size)]

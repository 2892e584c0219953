"""Shapes what a query gives and a panel shows: lines over time, and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Cell = float | str | None


class LookError(ValueError):
    """A dashboard that uses what is not known here, or a source that does not answer."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One series: seconds since the epoch and finite values, in order of time."""

    name: str
    query: str
    points: Sequence[tuple[float, float]]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns by name, and rows of as many cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def column(self, name: str) -> int | None:
        """The place of a column."""
        return list(self.columns).index(name) if name in self.columns else None


#: What one query gives.
Frames = Sequence[Line] | Table


@dataclass(frozen=True, kw_only=True)
class Span:
    """The range that is looked at, in seconds since the epoch."""

    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end_s - self.start_s

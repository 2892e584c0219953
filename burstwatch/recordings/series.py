"""Defines what a file holds: series by the names that the file gives them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """One series of a file, in the file's order.

    ``names`` are what the file calls it, the most telling one first. ``statistic`` is CloudWatch's,
    or empty where the file does not say; ``period_s`` is None there. ``points`` are pairs of a
    time in seconds and a value.
    """

    names: tuple[str, ...]
    statistic: str = ""
    period_s: float | None = None
    points: list[tuple[float, float]]

    @property
    def label(self) -> str:
        """All its names, for people."""
        return " ".join(dict.fromkeys(name for name in self.names if name)) or "(no name)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The series of a file, whose kind is not known yet.

    ``row_times`` are the times of its rows, whether they have a value or not. ``gaps_are_silence``
    says that CloudWatch had no datapoint where a time is missing. ``kind``, ``spec`` and ``level_statistic`` are how
    the file itself describes its resource. ``notes`` say what was assumed.
    """

    format: str
    series: list[Series]
    row_times: tuple[float, ...] = ()
    is_own: bool = False
    gaps_are_silence: bool = True
    kind: str = ""
    spec: Mapping[str, str]
    level_statistic: str = ""
    notes: tuple[str, ...] = ()

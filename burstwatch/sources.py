"""Names the source and the date of a number. Every number of AWS has one."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A page, when it was read, and what it leaves open."""

    url: str
    read: str
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A number with its unit and its source."""

    value: float
    unit: str
    source: Source

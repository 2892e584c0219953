"""A unit, the scope of one sweep, and what of it failed."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One account and region: the unit of failure."""

    account: str
    region: str

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A part that failed, which the rest goes on without."""

    part: str
    error: str

"""What a run said of itself, whichever program it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class OutputError(ValueError):
    """Output that is not what the program prints when all is well, and what is wrong with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """What was done in one direction; latencies are in seconds, percentiles by percent."""

    ops: float
    iops: float
    mib_s: float
    mean_s: float | None = None
    percentiles_s: Mapping[float, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a program measured. ``latencies`` are seconds from its start with the mean latency then.

    ``files_mib_s`` is what a file system was given, which is not what its disk did.
    """

    version: str
    read: Way | None
    write: Way | None
    latencies: Sequence[tuple[float, float]] = ()
    files_mib_s: float | None = None
    raw: object = None

    @property
    def iops(self) -> float:
        """Both directions."""
        return sum(way.iops for way in (self.read, self.write) if way is not None)

    @property
    def mib_s(self) -> float:
        """Both directions."""
        return sum(way.mib_s for way in (self.read, self.write) if way is not None)

    @property
    def mean_s(self) -> float | None:
        """The mean latency of an operation of either direction, where both say theirs."""
        ways = [way for way in (self.read, self.write) if way is not None]
        known = [(way.mean_s, way.ops) for way in ways if way.mean_s is not None]
        ops = sum(count for _, count in known)
        if len(known) < len(ways) or ops <= 0:
            return None
        return sum(mean * count for mean, count in known) / ops

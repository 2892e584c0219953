"""What a resource was asked for lately, in the words of its own metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstwatch.ebs.volumes import KIB_PER_MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB = 1024 * 1024
#: AWS gives an instance's limits in MB, of a million bytes.
MIB_PER_MB = 1_000_000 / MIB
#: The cause of an alarm is what was done in the last so many seconds.
RECENT_S = 300.0
#: Served this close to a limit, I/O is taken as held back by it.
AT_LIMIT = 0.97
#: From this share on, one direction is the cause and the other is not.
MOSTLY = 0.65


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """The names of a kind's metrics of reads and writes, each a sum over its period."""

    read_ops: str
    write_ops: str
    read_bytes: str
    write_bytes: str

    @property
    def metrics(self) -> tuple[str, ...]:
        """All four."""
        return self.read_ops, self.write_ops, self.read_bytes, self.write_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Mean rates: operations and MiB per second, by direction."""

    read_iops: float
    write_iops: float
    read_mib_s: float
    write_mib_s: float

    @property
    def iops(self) -> float:
        """Both directions."""
        return self.read_iops + self.write_iops

    @property
    def mib_s(self) -> float:
        """Both directions."""
        return self.read_mib_s + self.write_mib_s

    @property
    def io_kib(self) -> float:
        """The mean size of an operation."""
        return self.mib_s * KIB_PER_MIB / self.iops if self.iops else 0.0

    @property
    def direction(self) -> str:
        """Which of the two it mostly is: ``reads``, ``writes``, or both."""
        share = self.read_iops / self.iops if self.iops else 0.5
        if share >= MOSTLY:
            return "reads"
        return "writes" if share <= 1 - MOSTLY else "reads and writes"


def recent_load(
    traffic: Traffic, sums: Mapping[float, Mapping[str, float]], period_s: float
) -> Load | None:
    """The mean of the last minutes of ``sums`` by period's start, or None without any.

    A period in which a metric is missing counts only where it is known in full: half of
    the traffic is not the traffic.
    """
    known = sorted(start for start, found in sums.items() if found.keys() >= set(traffic.metrics))
    recent = [start for start in known if start > known[-1] - RECENT_S]
    if not recent:
        return None
    seconds = len(recent) * period_s

    def rate(metric: str) -> float:
        return sum(sums[start][metric] for start in recent) / seconds

    return Load(
        read_iops=rate(traffic.read_ops),
        write_iops=rate(traffic.write_ops),
        read_mib_s=rate(traffic.read_bytes) / MIB,
        write_mib_s=rate(traffic.write_bytes) / MIB,
    )

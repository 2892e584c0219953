"""Reads and writes: the names of their metrics, and mean rates of both."""

from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.ebs.volumes import KIB_PER_MIB

MIB = 1024 * 1024
#: AWS gives an instance's limits in MB, of a million bytes.
MIB_PER_MB = 1_000_000 / MIB
#: From this share on, one direction is the cause and the other is not.
MOSTLY = 0.65


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """The names of the metrics of reads and writes."""

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


def io_load(traffic: Traffic, rates: Mapping[str, float]) -> Load | None:
    """The load of mean rates by metric, or None where one of the four is not known."""
    try:
        return Load(
            read_iops=rates[traffic.read_ops],
            write_iops=rates[traffic.write_ops],
            read_mib_s=rates[traffic.read_bytes] / MIB,
            write_mib_s=rates[traffic.write_bytes] / MIB,
        )
    except KeyError:
        return None

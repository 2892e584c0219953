"""What EC2 says of every instance type, for hosts that may not ask it.

The table beside this module is a recording of DescribeInstanceTypes; its first line says of when, and
``python -m tools.instance_types`` writes it anew. An owner can say any type's limits, and EC2 itself knows the newest types.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.volumes import InstanceLimits

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = (
    "type",
    "ebs_max_mbps",
    "ebs_max_iops",
    "network_baseline_mbps",
    "network_peak_mbps",
)
BITS_PER_BYTE = 8
BITS_PER_MEGABIT = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Bandwidth:
    """What the network of an instance moves in each direction, in bytes a second: for ever, and for a while."""

    baseline: float
    peak: float

    @property
    def can_burst(self) -> bool:
        """True if there are credits of the network at all."""
        return self.peak > self.baseline


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """A type with the most that it moves to its volumes, None where AWS does not say it, and what its network moves."""

    name: str
    limits: InstanceLimits | None
    bandwidth: Bandwidth


def instance_types() -> Iterator[InstanceType]:
    """Every type of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        next(file)  # where the table is from
        yield from map(_type_of, csv.DictReader(file))


def find_type(name: str) -> InstanceType | None:
    """A type by its name, or None where it is not in the table."""
    return next((known for known in instance_types() if known.name == name), None)


def bandwidth_in_mbps(baseline: float, peak: float) -> Bandwidth:
    """Bandwidths in AWS's unit."""
    byte_s = BITS_PER_MEGABIT / BITS_PER_BYTE
    return Bandwidth(baseline=baseline * byte_s, peak=peak * byte_s)


def _type_of(row: Mapping[str, str]) -> InstanceType:
    limits = None
    if row["ebs_max_iops"]:
        mib_s = float(row["ebs_max_mbps"]) / BITS_PER_BYTE * MIB_PER_MB
        limits = InstanceLimits(iops=float(row["ebs_max_iops"]), mib_s=mib_s)
    mbps = float(row["network_baseline_mbps"]), float(row["network_peak_mbps"])
    return InstanceType(name=row["type"], limits=limits, bandwidth=bandwidth_in_mbps(*mbps))

"""Disks that are no EBS volumes and have no credits: what they promise, by direction.

The same form as in ``volume_types.py``: each number once, with its unit and its source.
A limit that nobody publishes is ``inf``, and what compares with it says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.sources import Figure, Source

PD_PAGE = Source(
    url="https://cloud.google.com/compute/docs/disks/performance",
    read="2017-04",
    note="as astamuse Lab printed it; later machine series have other caps by vCPU. "
    "Of bandwidth the caps under 32 vCPU were not printed",
)
INSTANCE_STORE_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-volumes.html",
    read="2026-11",
    note="published by instance type and for random 4 KiB only, so no figure is kept here",
)


class Ways(NamedTuple):
    """The most by direction: operations and MiB a second; ``inf`` where it is not known."""

    read_iops: float = math.inf
    write_iops: float = math.inf
    read_mib_s: float = math.inf
    write_mib_s: float = math.inf

    def times(self, count: float) -> "Ways":
        """The limits of ``count`` such disks."""
        return Ways(*(value * count for value in self))

    def within(self, cap: "Ways") -> "Ways":
        """The smaller of each."""
        return Ways(*map(min, self, cap))


UNLIMITED = Ways()


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherDisk:
    """One type: what each disk gives, what it gives by size, and what an instance gets in all.

    ``caps`` are by vCPU count, the fewest first: each holds from its count on.
    """

    name: str
    source: Source
    per_disk: Ways = UNLIMITED
    iops_per_gb: Figure | None = None
    mb_s_per_gb: Figure | None = None
    caps: Sequence[tuple[int, Ways]] = ()

    def of_size(self, size_gib: float) -> Ways:
        """The promise of one disk of that size, whatever it is attached to."""
        iops = self.iops_per_gb.value * size_gib if self.iops_per_gb else math.inf
        mib_s = self.mb_s_per_gb.value * MIB_PER_MB * size_gib if self.mb_s_per_gb else math.inf
        by_size = Ways(read_iops=iops, write_iops=iops, read_mib_s=mib_s, write_mib_s=mib_s)
        return self.per_disk.within(by_size)

    def cap(self, vcpus: int) -> Ways:
        """The limits of an instance with so many vCPUs over all its disks of this type."""
        held = UNLIMITED
        for least, ways in self.caps:
            if vcpus >= least:
                held = ways
        return held


def _by_vcpu(
    read_iops: int, write_iops: int, read_mb_s: float = math.inf, write_mb_s: float = math.inf
) -> Ways:
    return Ways(read_iops, write_iops, read_mb_s * MIB_PER_MB, write_mb_s * MIB_PER_MB)


OTHER_DISKS: Mapping[str, OtherDisk] = MappingProxyType(
    {
        disk.name: disk
        for disk in (
            OtherDisk(name="instance-store", source=INSTANCE_STORE_PAGE),
            OtherDisk(
                name="pd-ssd",
                source=PD_PAGE,
                iops_per_gb=Figure(value=30, unit="IOPS per GB", source=PD_PAGE),
                mb_s_per_gb=Figure(value=0.48, unit="MB/s per GB", source=PD_PAGE),
                caps=(
                    (0, _by_vcpu(15_000, 15_000)),
                    (16, _by_vcpu(25_000, 25_000)),
                    (32, _by_vcpu(40_000, 30_000, 800, 400)),
                ),
            ),
            OtherDisk(
                name="local-ssd",
                source=PD_PAGE,
                per_disk=Ways(read_iops=170_000, write_iops=90_000),
                caps=((0, _by_vcpu(680_000, 360_000)),),
            ),
        )
    }
)

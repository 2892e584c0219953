"""Predicts operations, bytes and latency of a run, with credits and without.

With n operations in flight and a rate of r a second each takes n / r seconds on average
(Little's law), whatever the disk: a limit on the rate is a floor under the latency.
"""

import math
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from burstwatch.ebs.other_disks import Ways
from burstwatch.ebs.volumes import KIB_PER_MIB, InstanceLimits, VolumeSpec, served_load

Holds = Literal[
    "volume_iops",
    "volume_throughput",
    "instance_iops",
    "instance_throughput",
    "asked",
    "nothing known",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class IoPattern:
    """A run's demand on a disk.

    ``depth`` is what each of ``jobs`` keeps in flight, ``read_share`` from 0 to 1 the share of
    reads, ``rate_iops`` the most that all jobs ask for, if that is limited.
    """

    block_kib: float
    depth: int
    read_share: float
    is_random: bool
    jobs: int = 1
    rate_iops: float | None = None

    @property
    def in_flight(self) -> int:
        """The number of operations asked for at a time, by all jobs."""
        return self.jobs * self.depth


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskLimits:
    """A disk's limits: the volume's promise, or the limits by direction of what is none.

    ``members`` is over how many alike a stripe goes, ``cap`` what all together get.
    ``largest_kib`` is the most that one request carries: what is larger is split by the kernel.
    ``is_known`` is False where it is several volumes of which nobody knows how they share the work.
    """

    volume_spec: VolumeSpec | None = None
    ways: Ways | None = None
    cap: Ways | None = None
    instance: InstanceLimits | None = None
    members: int = 1
    largest_kib: float = math.inf
    is_known: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedRates:
    """A promise: both directions together; ``latency_s`` is None where no rate is promised."""

    iops: float
    mib_s: float
    credits_per_s: float
    latency_s: float | None
    holds: Holds


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """The promise with credits left (or of a disk that has none), and the one without them."""

    best: ExpectedRates
    empty: ExpectedRates | None


def expect(pattern: IoPattern, disk: DiskLimits, *, merged: bool = False) -> Expectation:
    """The promise for a run; ``merged`` is as if all of it in sequence were.

    On SSD each operation counts: direct I/O that is small and sequential is not merged, as
    the published runs show (3,064 IOPS of 4 KiB, and not sixteen times as many). AWS's own
    words would allow it; more than is said here is therefore possible for sequential I/O.
    """
    best = _rates(pattern, disk, has_credits=True, merged=merged)
    has_bucket = disk.volume_spec is not None and disk.volume_spec.bucket is not None
    return Expectation(
        best=best,
        empty=_rates(pattern, disk, has_credits=False, merged=merged) if has_bucket else None,
    )


def _rates(
    pattern: IoPattern, disk: DiskLimits, *, has_credits: bool, merged: bool
) -> ExpectedRates:
    """Find the tightest limit of a pattern, and the rates, credits and latency that it allows."""
    ops_per_mib = KIB_PER_MIB / pattern.block_kib
    limits: list[tuple[float, Holds]] = [(math.inf, "nothing known")]
    credits_per_op = 0.0
    if pattern.rate_iops is not None:
        limits.append((pattern.rate_iops, "asked"))
    if disk.volume_spec is not None:
        # One each on SSD; by the MiB on HDD, where AWS says that all in sequence is merged.
        by_bytes = not pattern.is_random and (merged or disk.volume_spec.unit == "MiB")
        served = served_load(
            disk.volume_spec,
            iops=math.inf,
            io_kib=pattern.block_kib,
            access="sequential" if by_bytes else "random",
            has_credits=has_credits,
        )
        credits_per_op = served.credits_per_s / served.iops
        holds: Holds = "volume_iops" if served.binding == "volume_iops" else "volume_throughput"
        limits.append((served.iops * disk.members, holds))
    for ways, of_volume in ((disk.ways, True), (disk.cap, False)):
        if ways is not None:
            limits += _by_way(
                pattern,
                ways.times(disk.members) if of_volume else ways,
                ops_per_mib,
                of_volume=of_volume,
            )
    if disk.instance is not None:
        limits.append((disk.instance.iops, "instance_iops"))
        limits.append((disk.instance.mib_s * ops_per_mib, "instance_throughput"))
    iops, holds = min(limits, key=itemgetter(0))
    return ExpectedRates(
        iops=iops,
        mib_s=iops / ops_per_mib,
        credits_per_s=0.0 if credits_per_op == 0 else iops * credits_per_op,
        latency_s=pattern.in_flight / iops if math.isfinite(iops) and holds != "asked" else None,
        holds=holds,
    )


def _by_way(
    pattern: IoPattern, ways: Ways, ops_per_mib: float, *, of_volume: bool
) -> list[tuple[float, Holds]]:
    """The limits of reads and of writes, each as one of both together."""
    limits: list[tuple[float, Holds]] = []
    for share, iops, mib_s in (
        (pattern.read_share, ways.read_iops, ways.read_mib_s),
        (1 - pattern.read_share, ways.write_iops, ways.write_mib_s),
    ):
        if share > 0:
            limits.append((iops / share, "volume_iops" if of_volume else "instance_iops"))
            limits.append(
                (
                    mib_s * ops_per_mib / share,
                    "volume_throughput" if of_volume else "instance_throughput",
                )
            )
    return limits

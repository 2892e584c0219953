"""Models one EBS volume by type and size: its limits, and the cost of an I/O stream.

One credit is one I/O of up to 256 KiB (SSD) or one MiB (HDD). The numbers are in
``volume_types.py``.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from burstwatch.bucket import Bucket
from burstwatch.ebs.volume_types import (
    GIB_PER_TIB,
    GP3_FREE_IOPS,
    GP3_FREE_MIB_S,
    CreditUnit,
    HddCredits,
    SsdCredits,
    VolumeType,
    check_size,
    find_type,
)

Access = Literal["random", "sequential"]
Binding = Literal[
    "volume_iops", "volume_throughput", "instance_iops", "instance_throughput", "none"
]
KIB_PER_MIB = 1024
#: No I/O is split into more pieces than this; it stands for "of any size".
LARGEST_PIECES = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeSpec:
    """The promise of one volume.

    ``bucket`` is None where the volume has no credits to run out of, and
    ``no_bucket_reason`` says why. ``baseline`` and ``burst`` are in ``unit`` per
    second: IOPS for ``io``, MiB/s for ``MiB``. The throughput limits are MiB/s.
    """

    volume_type: str
    size_gib: float
    unit: CreditUnit
    io_kib: float
    baseline: float
    burst: float
    bucket: Bucket | None
    no_bucket_reason: str
    limit_iops: float
    limit_mib_s: float
    limit_mib_s_when_empty: float


@lru_cache(maxsize=4_096)  # a fleet has many volumes and few sizes
def volume_spec(
    volume_type: str,
    size_gib: float,
    *,
    iops: float | None = None,
    mib_s: float | None = None,
) -> VolumeSpec:
    """The promise of a volume of this type and size.

    ``iops`` and ``mib_s`` are the provisioned rates of gp3, io1 and io2 and are
    ignored elsewhere; where AWS did not say, the type's maximum stands in (gp3:
    what every volume has for free).
    """
    kind = find_type(volume_type)
    check_size(kind, size_gib)
    if isinstance(kind.credits, SsdCredits):
        return _ssd_profile(kind, kind.credits, size_gib)
    if isinstance(kind.credits, HddCredits):
        return _hdd_profile(kind, kind.credits, size_gib)
    return _fixed_profile(kind, size_gib, iops=iops, mib_s=mib_s)


def _ssd_profile(kind: VolumeType, credit: SsdCredits, size_gib: float) -> VolumeSpec:
    """The promise of a volume of an SSD type with I/O credits: it has a bucket while its baseline is below its burst."""
    baseline = credit.baseline(size_gib)
    throughput = credit.throughput_limit(size_gib)
    bursts = baseline < credit.burst.value
    burst = credit.burst.value if bursts else baseline
    return VolumeSpec(
        volume_type=kind.name,
        size_gib=size_gib,
        unit=kind.unit,
        io_kib=kind.io_kib.value,
        baseline=baseline,
        burst=burst,
        bucket=Bucket(capacity=credit.capacity.value, refill=baseline, burst=burst)
        if bursts
        else None,
        no_bucket_reason=""
        if bursts
        else f"{kind.name} of {size_gib:g} GiB has a baseline of {baseline:g} IOPS, at or above its burst",
        limit_iops=burst,
        limit_mib_s=throughput,
        # An empty bucket serves the baseline, in I/O of at most 256 KiB.
        limit_mib_s_when_empty=min(throughput, baseline * kind.io_kib.value / KIB_PER_MIB),
    )


def _hdd_profile(kind: VolumeType, credit: HddCredits, size_gib: float) -> VolumeSpec:
    """The promise of a volume of an HDD type with throughput credits: it has a bucket while its baseline is below its burst."""
    baseline = credit.baseline.at(size_gib)
    burst = max(baseline, credit.burst.at(size_gib))
    bursts = baseline < burst
    capacity = credit.capacity_per_tib.value * size_gib / GIB_PER_TIB
    return VolumeSpec(
        volume_type=kind.name,
        size_gib=size_gib,
        unit=kind.unit,
        io_kib=kind.io_kib.value,
        baseline=baseline,
        burst=burst,
        bucket=Bucket(capacity=capacity, refill=baseline, burst=burst) if bursts else None,
        no_bucket_reason=""
        if bursts
        else f"{kind.name} of {size_gib:g} GiB has a baseline of {baseline:g} MiB/s, its burst",
        limit_iops=kind.max_iops.value,
        limit_mib_s=burst,
        limit_mib_s_when_empty=baseline,
    )


def _fixed_profile(
    kind: VolumeType, size_gib: float, *, iops: float | None, mib_s: float | None
) -> VolumeSpec:
    """The promise of a volume of a type without credits: what is provisioned, or the most or the free rates."""
    if kind.name == "gp3":
        iops = GP3_FREE_IOPS.value if iops is None else iops
        mib_s = GP3_FREE_MIB_S.value if mib_s is None else mib_s
    most = kind.provisioned.most_iops(kind, size_gib) if kind.provisioned else kind.max_iops.value
    limit_iops = most if iops is None else iops
    limit_mib_s = kind.max_mib_s.value if mib_s is None else mib_s
    return VolumeSpec(
        volume_type=kind.name,
        size_gib=size_gib,
        unit=kind.unit,
        io_kib=kind.io_kib.value,
        baseline=limit_iops,
        burst=limit_iops,
        bucket=None,
        no_bucket_reason=f"{kind.name} has no burst credits",
        limit_iops=limit_iops,
        limit_mib_s=limit_mib_s,
        limit_mib_s_when_empty=limit_mib_s,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """Credits that some I/O may have cost: the documented rules leave a range.

    ``least`` is with all I/O sequential and merged, ``most`` with none merged and
    every large one split at its worst. ``nominal`` is what to assume until the
    balance itself has shown better: all of one size, random on SSD, sequential on HDD.
    """

    least: float
    nominal: float
    most: float

    def __add__(self, added: "Charge") -> "Charge":
        """Both together."""
        return Charge(
            least=self.least + added.least,
            nominal=self.nominal + added.nominal,
            most=self.most + added.most,
        )


def charge(
    volume_spec: VolumeSpec, *, ops: float, mib: float, largest_kib: float = math.inf
) -> Charge:
    """Credits for ``ops`` operations that moved ``mib`` MiB in all.

    From the documented counting: an I/O above the unit (256 KiB on SSD, 1,024 KiB
    on HDD) is split into several, sequential ones below it are merged, random
    ones count one each. On HDD a credit is one MiB, and a small random I/O costs
    a whole one. Of the I/O only the number and the bytes are known: n of them with
    b bytes in all make at most n + b/unit pieces, and at least b/unit. Where none can be
    larger than ``largest_kib``, each makes at most so many pieces as that does.
    """
    units = mib * KIB_PER_MIB / volume_spec.io_kib
    pieces_each = ops * max(1, math.ceil(min(largest_kib / volume_spec.io_kib, LARGEST_PIECES)))
    if volume_spec.unit == "MiB":
        return Charge(least=units, nominal=units, most=max(units, min(ops + units, pieces_each)))
    pieces = ops * max(1, math.ceil(units / ops)) if ops > 0 else units
    most = max(pieces, min(ops + units, pieces_each))
    return Charge(least=min(units, pieces), nominal=pieces, most=most)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLimits:
    """The most that an instance moves to all its volumes: IOPS and MiB/s.

    The ``baseline_`` rates are what it sustains; None where that is not known.
    """

    iops: float
    mib_s: float
    baseline_iops: float | None = None
    baseline_mib_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A volume's answer to a demand: rates, their credits, and what held it back."""

    iops: float
    mib_s: float
    credits_per_s: float
    binding: Binding


def credits_per_op(volume_spec: VolumeSpec, *, io_kib: float, access: Access) -> float:
    """Credits for one I/O of ``io_kib`` KiB, by the documented counting."""
    units = io_kib / volume_spec.io_kib
    if access == "sequential":  # merged up to the unit; a larger one is split without loss
        return units
    return float(max(1, math.ceil(units)))


def served_load(
    volume_spec: VolumeSpec,
    *,
    iops: float,
    io_kib: float,
    access: Access,
    has_credits: bool = True,
    instance: InstanceLimits | None = None,
) -> Served:
    """The rate that a demand of ``iops`` operations of ``io_kib`` KiB each really gets.

    The smallest limit holds. ``binding`` names it when the demand reaches it, and
    is ``none`` while the demand stays below them all.
    """
    cost = credits_per_op(volume_spec, io_kib=io_kib, access=access)
    ops_per_mib = KIB_PER_MIB / io_kib
    credit_rate = volume_spec.burst if has_credits else volume_spec.baseline
    throughput = volume_spec.limit_mib_s if has_credits else volume_spec.limit_mib_s_when_empty
    limits: list[tuple[float, Binding]] = [
        (credit_rate / cost, "volume_iops" if volume_spec.unit == "io" else "volume_throughput"),
        (throughput * ops_per_mib, "volume_throughput"),
    ]
    if instance is not None:
        limits += [
            (instance.iops, "instance_iops"),
            (instance.mib_s * ops_per_mib, "instance_throughput"),
        ]
    limit, name = min(limits, key=lambda pair: pair[0])
    served = min(iops, limit)
    return Served(
        iops=served,
        mib_s=served / ops_per_mib,
        credits_per_s=served * cost,
        binding=name if iops >= limit else "none",
    )

"""What each EBS volume type gives, by size.

The numbers stand once, in ``CATALOGUE`` below, each with its unit and its
source; the functions under it are the rules that AWS states in words.
Sizes are in GiB, rates in IOPS or MiB/s, and one credit is one I/O of up to
256 KiB (SSD) or one MiB (HDD).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from burstwatch.bucket import Bucket
from burstwatch.sources import Figure, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

Unit = Literal["io", "MiB"]
Access = Literal["random", "sequential"]
Binding = Literal[
    "volume_iops", "volume_throughput", "instance_iops", "instance_throughput", "none"
]
KIB_PER_MIB = 1024
GIB_PER_TIB = 1024
MIB_PER_TIB = 1024 * 1024

GP2_PAGE = Source(
    url="https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html",
    read="2026-11",
    note="the newer wording 'earned at 3 per GiB per second' is read net of use, as the page until 2022 says",
)
HDD_PAGE = Source(
    url="https://docs.aws.amazon.com/ebs/latest/userguide/hdd-vols.html", read="2026-11"
)
IO_PAGE = Source(
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-io-characteristics.html",
    read="2026-11",
    note="whether credits are charged before or after merging is not stated",
)
TYPES_PAGE = Source(
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html", read="2026-11"
)
PREVIOUS_GENERATION_PAGE = Source(
    url="https://aws.amazon.com/ebs/previous-generation/",
    read="2026-11",
    note="AWS gives about 100 IOPS on average and 40 to 200; bandwidth 40 to 90 MiB/s",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ByTib:
    """A rate in proportion to size, with a cap: the way AWS describes HDD volumes."""

    per_tib: Figure
    cap: Figure

    def at(self, size_gib: float) -> float:
        """The rate of a volume of ``size_gib``."""
        return min(self.cap.value, self.per_tib.value * size_gib / GIB_PER_TIB)


@dataclass(frozen=True, kw_only=True, slots=True)
class SsdCredits:
    """I/O credits: a bucket of one size for all, refilled in proportion to size."""

    iops_per_gib: Figure
    baseline_floor: Figure
    baseline_cap: Figure
    burst: Figure
    capacity: Figure
    small_throughput: Figure
    small_up_to_gib: Figure
    full_throughput: Figure

    def baseline(self, size_gib: float) -> float:
        """Baseline IOPS: in proportion to size, with a floor and a cap."""
        linear = self.iops_per_gib.value * size_gib
        return min(self.baseline_cap.value, max(self.baseline_floor.value, linear))

    def throughput_limit(self, size_gib: float) -> float:
        """MiB/s with credits left."""
        small = size_gib <= self.small_up_to_gib.value
        return (self.small_throughput if small else self.full_throughput).value


@dataclass(frozen=True, kw_only=True, slots=True)
class HddCredits:
    """Throughput credits: bucket, refill and burst all grow with size."""

    baseline: ByTib
    burst: ByTib
    capacity_per_tib: Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeType:
    """A type of the catalogue. ``credits`` is None for types without a bucket."""

    name: str
    unit: Unit
    min_size_gib: Figure
    max_size_gib: Figure
    max_iops: Figure
    max_mib_s: Figure
    io_kib: Figure
    credits: SsdCredits | HddCredits | None = None


def _ssd_io() -> Figure:
    return Figure(value=256, unit="KiB", source=IO_PAGE)


def _hdd_io() -> Figure:
    return Figure(value=1024, unit="KiB", source=IO_PAGE)


def _hdd(
    name: str, *, baseline: tuple[int, int], burst: tuple[int, int], max_iops: int
) -> VolumeType:
    def rate(per_tib: int, cap: int) -> ByTib:
        return ByTib(
            per_tib=Figure(value=per_tib, unit="MiB/s per TiB", source=HDD_PAGE),
            cap=Figure(value=cap, unit="MiB/s", source=HDD_PAGE),
        )

    return VolumeType(
        name=name,
        unit="MiB",
        min_size_gib=Figure(value=125, unit="GiB", source=HDD_PAGE),
        max_size_gib=Figure(value=16_384, unit="GiB", source=HDD_PAGE),
        max_iops=Figure(value=max_iops, unit="IOPS", source=HDD_PAGE),
        max_mib_s=Figure(value=burst[1], unit="MiB/s", source=HDD_PAGE),
        io_kib=_hdd_io(),
        credits=HddCredits(
            baseline=rate(*baseline),
            burst=rate(*burst),
            capacity_per_tib=Figure(value=MIB_PER_TIB, unit="MiB per TiB", source=HDD_PAGE),
        ),
    )


def _provisioned(
    name: str,
    *,
    sizes: tuple[int, int],
    max_iops: int,
    max_mib_s: int,
    io_kib: Figure,
    source: Source,
) -> VolumeType:
    return VolumeType(
        name=name,
        unit="io",
        min_size_gib=Figure(value=sizes[0], unit="GiB", source=source),
        max_size_gib=Figure(value=sizes[1], unit="GiB", source=source),
        max_iops=Figure(value=max_iops, unit="IOPS", source=source),
        max_mib_s=Figure(value=max_mib_s, unit="MiB/s", source=source),
        io_kib=io_kib,
    )


GP2 = VolumeType(
    name="gp2",
    unit="io",
    min_size_gib=Figure(value=1, unit="GiB", source=GP2_PAGE),
    max_size_gib=Figure(value=16_384, unit="GiB", source=GP2_PAGE),
    max_iops=Figure(value=16_000, unit="IOPS", source=GP2_PAGE),
    max_mib_s=Figure(value=250, unit="MiB/s", source=GP2_PAGE),
    io_kib=_ssd_io(),
    credits=SsdCredits(
        iops_per_gib=Figure(value=3, unit="IOPS per GiB", source=GP2_PAGE),
        baseline_floor=Figure(value=100, unit="IOPS", source=GP2_PAGE),
        baseline_cap=Figure(value=16_000, unit="IOPS", source=GP2_PAGE),
        burst=Figure(value=3_000, unit="IOPS", source=GP2_PAGE),
        capacity=Figure(value=5_400_000, unit="I/O credits", source=GP2_PAGE),
        small_throughput=Figure(value=128, unit="MiB/s", source=GP2_PAGE),
        small_up_to_gib=Figure(value=170, unit="GiB", source=GP2_PAGE),
        full_throughput=Figure(value=250, unit="MiB/s", source=GP2_PAGE),
    ),
)

CATALOGUE: Mapping[str, VolumeType] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            GP2,
            _hdd("st1", baseline=(40, 500), burst=(250, 500), max_iops=500),
            _hdd("sc1", baseline=(12, 192), burst=(80, 250), max_iops=250),
            _provisioned(
                "gp3",
                sizes=(1, 65_536),
                max_iops=80_000,
                max_mib_s=2_000,
                io_kib=_ssd_io(),
                source=GP2_PAGE,
            ),
            _provisioned(
                "io1",
                sizes=(4, 16_384),
                max_iops=64_000,
                max_mib_s=1_000,
                io_kib=_ssd_io(),
                source=TYPES_PAGE,
            ),
            _provisioned(
                "io2",
                sizes=(4, 65_536),
                max_iops=256_000,
                max_mib_s=4_000,
                io_kib=_ssd_io(),
                source=TYPES_PAGE,
            ),
            _provisioned(
                "standard",
                sizes=(1, 1_024),
                max_iops=200,
                max_mib_s=90,
                io_kib=_hdd_io(),
                source=PREVIOUS_GENERATION_PAGE,
            ),
        )
    }
)

GP3_FREE_IOPS = Figure(value=3_000, unit="IOPS", source=GP2_PAGE)
GP3_FREE_MIB_S = Figure(value=125, unit="MiB/s", source=GP2_PAGE)


class UnknownVolumeTypeError(ValueError):
    """A type that the catalogue does not have."""


class SizeOutOfRangeError(ValueError):
    """A size that the type cannot have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What one volume promises.

    ``bucket`` is None where the volume has no credits to run out of, and
    ``no_bucket_reason`` says why. ``baseline`` and ``burst`` are in ``unit`` per
    second: IOPS for ``io``, MiB/s for ``MiB``. The throughput limits are MiB/s.
    """

    volume_type: str
    size_gib: float
    unit: Unit
    io_kib: float
    baseline: float
    burst: float
    bucket: Bucket | None
    no_bucket_reason: str
    limit_iops: float
    limit_mib_s: float
    limit_mib_s_when_empty: float


def find_type(name: str) -> VolumeType:
    """The catalogue's entry for ``name``.

    Raises:
        UnknownVolumeTypeError: naming the type and the ones there are.
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        msg = f"unknown volume type {name!r}, allowed are {', '.join(CATALOGUE)}"
        raise UnknownVolumeTypeError(msg) from None


def check_size(kind: VolumeType, size_gib: float) -> None:
    """Refuse a size that AWS would not create.

    Raises:
        SizeOutOfRangeError: naming the type, the size and the range.
    """
    low, high = kind.min_size_gib.value, kind.max_size_gib.value
    if not low <= size_gib <= high:
        msg = f"{kind.name} size {size_gib:g} GiB is out of range, allowed are {low:g} to {high:g} GiB"
        raise SizeOutOfRangeError(msg)


def profile(
    volume_type: str,
    size_gib: float,
    *,
    iops: float | None = None,
    mib_s: float | None = None,
) -> Profile:
    """What a volume of this type and size promises.

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


def _ssd_profile(kind: VolumeType, credit: SsdCredits, size_gib: float) -> Profile:
    baseline = credit.baseline(size_gib)
    throughput = credit.throughput_limit(size_gib)
    bursts = baseline < credit.burst.value
    burst = credit.burst.value if bursts else baseline
    return Profile(
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


def _hdd_profile(kind: VolumeType, credit: HddCredits, size_gib: float) -> Profile:
    baseline = credit.baseline.at(size_gib)
    burst = max(baseline, credit.burst.at(size_gib))
    bursts = baseline < burst
    capacity = credit.capacity_per_tib.value * size_gib / GIB_PER_TIB
    return Profile(
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
) -> Profile:
    if kind.name == "gp3":
        iops = GP3_FREE_IOPS.value if iops is None else iops
        mib_s = GP3_FREE_MIB_S.value if mib_s is None else mib_s
    limit_iops = kind.max_iops.value if iops is None else iops
    limit_mib_s = kind.max_mib_s.value if mib_s is None else mib_s
    return Profile(
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


def charge(profile: Profile, *, ops: float, mib: float) -> Charge:
    """Credits for ``ops`` operations that moved ``mib`` MiB in all.

    From the documented counting: an I/O above the unit (256 KiB on SSD, 1,024 KiB
    on HDD) is split into several, sequential ones below it are merged, random
    ones count one each. On HDD a credit is one MiB, and a small random I/O costs
    a whole one. Of the I/O only the number and the bytes are known: n of them with
    b bytes in all make at most n + b/unit pieces, and at least b/unit.
    """
    units = mib * KIB_PER_MIB / profile.io_kib
    if profile.unit == "MiB":
        return Charge(least=units, nominal=units, most=ops + units)
    pieces = ops * max(1, math.ceil(units / ops)) if ops > 0 else units
    return Charge(least=min(units, pieces), nominal=pieces, most=max(pieces, ops + units))


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLimits:
    """The most that an instance moves to all its volumes: IOPS and MiB/s."""

    iops: float
    mib_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What a volume makes of a demand: rates, their credits, and what held it back."""

    iops: float
    mib_s: float
    credits_per_s: float
    binding: Binding


def credits_per_op(profile: Profile, *, io_kib: float, access: Access) -> float:
    """Credits for one I/O of ``io_kib`` KiB, by the documented counting."""
    units = io_kib / profile.io_kib
    if access == "sequential":  # merged up to the unit; a larger one is split without loss
        return units
    return float(max(1, math.ceil(units)))


def serve(
    profile: Profile,
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
    cost = credits_per_op(profile, io_kib=io_kib, access=access)
    kib_s = KIB_PER_MIB / io_kib
    credit_rate = profile.burst if has_credits else profile.baseline
    throughput = profile.limit_mib_s if has_credits else profile.limit_mib_s_when_empty
    limits: list[tuple[float, Binding]] = [
        (credit_rate / cost, "volume_iops" if profile.unit == "io" else "volume_throughput"),
        (throughput * kib_s, "volume_throughput"),
    ]
    if instance is not None:
        limits += [
            (instance.iops, "instance_iops"),
            (instance.mib_s * kib_s, "instance_throughput"),
        ]
    limit, name = min(limits, key=lambda pair: pair[0])
    served = min(iops, limit)
    return Served(
        iops=served,
        mib_s=served / kib_s,
        credits_per_s=served * cost,
        binding=name if iops >= limit else "none",
    )

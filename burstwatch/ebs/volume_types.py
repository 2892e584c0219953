"""The EBS volume types as data: each number once, with its unit and its source.

The classes are the rules that AWS states in words, ``CATALOGUE`` the numbers.
Sizes are in GiB, rates in IOPS or MiB/s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from burstwatch.sources import Figure, Source

CreditUnit = Literal["io", "MiB"]
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
class Provisioned:
    """The rates that an owner chooses: ``iops`` at the least, and up to ``iops_per_gib`` for each GiB.

    ``mib_s_per_iops`` is None where the throughput is not chosen.
    """

    iops: Figure
    iops_per_gib: Figure
    mib_s: Figure | None = None
    mib_s_per_iops: Figure | None = None

    def most_iops(self, kind: "VolumeType", size_gib: float) -> float:
        """The most IOPS that AWS provisions for a volume of ``size_gib``."""
        return min(kind.max_iops.value, max(self.iops.value, self.iops_per_gib.value * size_gib))

    def most_mib_s(self, kind: "VolumeType", iops: float) -> float:
        """The most MiB/s that AWS provisions beside ``iops``."""
        if self.mib_s is None or self.mib_s_per_iops is None:
            return kind.max_mib_s.value
        return min(kind.max_mib_s.value, max(self.mib_s.value, self.mib_s_per_iops.value * iops))


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeType:
    """A type of the catalogue. ``credits`` is None for types without a bucket."""

    name: str
    unit: CreditUnit
    min_size_gib: Figure
    max_size_gib: Figure
    max_iops: Figure
    max_mib_s: Figure
    io_kib: Figure
    credits: SsdCredits | HddCredits | None = None
    provisioned: Provisioned | None = None


def _type(
    name: str,
    unit: CreditUnit,
    sizes: tuple[int, int],
    *,
    most: tuple[int, int],
    io_kib: int,
    source: Source,
    credit: SsdCredits | HddCredits | None = None,
    provisioned: Provisioned | None = None,
) -> VolumeType:
    """``sizes`` are GiB; ``most`` are IOPS and MiB/s."""
    return VolumeType(
        name=name,
        unit=unit,
        min_size_gib=Figure(value=sizes[0], unit="GiB", source=source),
        max_size_gib=Figure(value=sizes[1], unit="GiB", source=source),
        max_iops=Figure(value=most[0], unit="IOPS", source=source),
        max_mib_s=Figure(value=most[1], unit="MiB/s", source=source),
        io_kib=Figure(value=io_kib, unit="KiB", source=IO_PAGE),
        credits=credit,
        provisioned=provisioned,
    )


def _hdd_credits(*, baseline: tuple[int, int], burst: tuple[int, int]) -> HddCredits:
    """HDD credits of two rates, each a pair: MiB/s per TiB, and the cap in MiB/s."""

    def rate(per_tib: int, cap: int) -> ByTib:
        return ByTib(
            per_tib=Figure(value=per_tib, unit="MiB/s per TiB", source=HDD_PAGE),
            cap=Figure(value=cap, unit="MiB/s", source=HDD_PAGE),
        )

    return HddCredits(
        baseline=rate(*baseline),
        burst=rate(*burst),
        capacity_per_tib=Figure(value=MIB_PER_TIB, unit="MiB per TiB", source=HDD_PAGE),
    )


GP2_CREDITS = SsdCredits(
    iops_per_gib=Figure(value=3, unit="IOPS per GiB", source=GP2_PAGE),
    baseline_floor=Figure(value=100, unit="IOPS", source=GP2_PAGE),
    baseline_cap=Figure(value=16_000, unit="IOPS", source=GP2_PAGE),
    burst=Figure(value=3_000, unit="IOPS", source=GP2_PAGE),
    capacity=Figure(value=5_400_000, unit="I/O credits", source=GP2_PAGE),
    small_throughput=Figure(value=128, unit="MiB/s", source=GP2_PAGE),
    small_up_to_gib=Figure(value=170, unit="GiB", source=GP2_PAGE),
    full_throughput=Figure(value=250, unit="MiB/s", source=GP2_PAGE),
)
ST1_CREDITS = _hdd_credits(baseline=(40, 500), burst=(250, 500))
SC1_CREDITS = _hdd_credits(baseline=(12, 192), burst=(80, 250))
GP3_FREE_IOPS = Figure(value=3_000, unit="IOPS", source=GP2_PAGE)
GP3_FREE_MIB_S = Figure(value=125, unit="MiB/s", source=GP2_PAGE)
GP3_MIB_S_PER_IOPS = Figure(value=0.25, unit="MiB/s per IOPS", source=GP2_PAGE)
GP3_PROVISIONED = Provisioned(
    iops=GP3_FREE_IOPS,
    iops_per_gib=Figure(value=500, unit="IOPS per GiB", source=GP2_PAGE),
    mib_s=GP3_FREE_MIB_S,
    mib_s_per_iops=GP3_MIB_S_PER_IOPS,
)
IO1_PROVISIONED = Provisioned(
    iops=Figure(value=100, unit="IOPS", source=TYPES_PAGE),
    iops_per_gib=Figure(value=50, unit="IOPS per GiB", source=TYPES_PAGE),
)
IO2_PROVISIONED = Provisioned(
    iops=Figure(value=100, unit="IOPS", source=TYPES_PAGE),
    iops_per_gib=Figure(value=1_000, unit="IOPS per GiB", source=TYPES_PAGE),
)
_TYPES = (
    _type("gp2", "io", (1, 16_384), most=(16_000, 250), io_kib=256, source=GP2_PAGE, credit=GP2_CREDITS),
    _type("st1", "MiB", (125, 16_384), most=(500, 500), io_kib=1_024, source=HDD_PAGE, credit=ST1_CREDITS),
    _type("sc1", "MiB", (125, 16_384), most=(250, 250), io_kib=1_024, source=HDD_PAGE, credit=SC1_CREDITS),
    _type("gp3", "io", (1, 65_536), most=(80_000, 2_000), io_kib=256, source=GP2_PAGE, provisioned=GP3_PROVISIONED),
    _type("io1", "io", (4, 16_384), most=(64_000, 1_000), io_kib=256, source=TYPES_PAGE, provisioned=IO1_PROVISIONED),
    _type("io2", "io", (4, 65_536), most=(256_000, 4_000), io_kib=256, source=TYPES_PAGE, provisioned=IO2_PROVISIONED),
    _type("standard", "io", (1, 1_024), most=(200, 90), io_kib=1_024, source=PREVIOUS_GENERATION_PAGE),
)  # fmt: skip
CATALOGUE: Mapping[str, VolumeType] = MappingProxyType(
    {volume_type.name: volume_type for volume_type in _TYPES}
)


def find_type(name: str) -> VolumeType:
    """The catalogue's entry for ``name``.

    Raises:
        ValueError: naming the type and the ones there are.
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        msg = f"unknown volume type {name!r}; allowed: {', '.join(CATALOGUE)}"
        raise ValueError(msg) from None


def check_size(kind: VolumeType, size_gib: float) -> None:
    """Refuse a size that AWS would not create.

    Raises:
        ValueError: naming the type, the size and the range.
    """
    low, high = kind.min_size_gib.value, kind.max_size_gib.value
    if not low <= size_gib <= high:
        msg = f"{kind.name} size {size_gib:g} GiB is out of range; allowed: {low:g} to {high:g} GiB"
        raise ValueError(msg)

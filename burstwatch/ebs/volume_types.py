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
GP3_MIB_S_PER_IOPS = Figure(value=0.25, unit="MiB/s per IOPS", source=GP2_PAGE)


def find_type(name: str) -> VolumeType:
    """The catalogue's entry for ``name``.

    Raises:
        ValueError: naming the type and the ones there are.
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        msg = f"unknown volume type {name!r}, allowed are {', '.join(CATALOGUE)}"
        raise ValueError(msg) from None


def check_size(kind: VolumeType, size_gib: float) -> None:
    """Refuse a size that AWS would not create.

    Raises:
        ValueError: naming the type, the size and the range.
    """
    low, high = kind.min_size_gib.value, kind.max_size_gib.value
    if not low <= size_gib <= high:
        msg = f"{kind.name} size {size_gib:g} GiB is out of range, allowed are {low:g} to {high:g} GiB"
        raise ValueError(msg)

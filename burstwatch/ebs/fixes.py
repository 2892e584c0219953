"""Suggests volumes that would not run dry, with their price a month."""

import math
from bisect import bisect_left
from collections.abc import Iterator

from burstwatch.ebs.load import Load
from burstwatch.ebs.prices import EbsPrices, monthly_usd
from burstwatch.ebs.volume_types import CATALOGUE, GP3_FREE_IOPS, GP3_FREE_MIB_S, GP3_MIB_S_PER_IOPS
from burstwatch.ebs.volumes import KIB_PER_MIB, VolumeSpec, volume_spec
from burstwatch.fixes import Fix
from burstwatch.formatting import number

#: AWS takes any whole number; these read better.
IOPS_STEP, MIB_S_STEP = 100, 5


def volume_fixes(
    volume: VolumeSpec, *, demand: float, load: Load | None, prices: EbsPrices | None
) -> Iterator[Fix]:
    """Changes to a volume that would serve ``demand`` without running dry.

    Demand at the limit may be larger than it looks: the fix matches the burst and promises no more.
    """
    needed_rate = min(demand, volume.burst)
    now = monthly_usd(prices, volume.volume_type, volume.size_gib)

    def fix(action: str, effect: str, new_usd: float | None) -> Fix:
        usd = None if now is None or new_usd is None else new_usd - now
        return Fix(action=action, effect=effect, takes="takes minutes to hours", usd_month=usd)

    iops, mib_s = _gp3_rates(volume, needed_rate, load)
    gp3 = CATALOGUE["gp3"]
    if iops <= gp3.max_iops.value and mib_s <= gp3.max_mib_s.value:
        new_usd = monthly_usd(
            prices,
            "gp3",
            volume.size_gib,
            paid_iops=iops - GP3_FREE_IOPS.value,
            paid_mib_s=mib_s - GP3_FREE_MIB_S.value,
        )
        action = f"change to gp3 with {number(iops)} IOPS and {number(mib_s)} MiB/s"
        yield fix(action, "uses no credits", new_usd)
    for volume_type in _larger_types(volume.volume_type):
        size = _smallest_size(volume_type, volume, needed_rate)
        if size is not None:
            new_usd = monthly_usd(prices, volume_type, size)
            yield fix(
                f"change to {volume_type} of {number(size)} GiB",
                "never runs dry at the current load",
                new_usd,
            )


def _larger_types(volume_type: str) -> tuple[str, ...]:
    """Return the type itself, to be made larger, and for sc1 the next better disk."""
    return ("sc1", "st1") if volume_type == "sc1" else (volume_type,)


def _smallest_size(volume_type: str, volume: VolumeSpec, needed_rate: float) -> float | None:
    """The smallest size of a type, from the present one up, whose baseline is ``needed_rate``."""
    largest = CATALOGUE[volume_type].max_size_gib.value
    smallest = math.ceil(max(volume.size_gib, CATALOGUE[volume_type].min_size_gib.value))
    sizes = range(smallest, math.floor(largest) + 1)
    index = bisect_left(
        sizes, needed_rate, key=lambda size: volume_spec(volume_type, size).baseline
    )
    if index == len(sizes) or (index == 0 and volume_type == volume.volume_type):
        return None
    return sizes[index]


def _gp3_rates(volume: VolumeSpec, needed_rate: float, load: Load | None) -> tuple[float, float]:
    """IOPS and MiB/s of a gp3 that serves ``needed_rate`` in I/O of the present size.

    Where the load is not known, an SSD's MiB/s are all that the volume gives, and an HDD's IOPS the fewest.
    """
    io_kib = load.io_kib if load else 0.0
    if volume.unit == "io":
        iops = needed_rate
        mib_s = needed_rate * io_kib / KIB_PER_MIB if io_kib else volume.limit_mib_s
    else:
        iops = needed_rate * KIB_PER_MIB / io_kib if io_kib else 0.0
        mib_s = needed_rate
    mib_s = math.ceil(min(mib_s, volume.limit_mib_s) / MIB_S_STEP) * MIB_S_STEP
    mib_s = max(GP3_FREE_MIB_S.value, mib_s)
    iops = min(iops, volume.limit_iops)
    iops = math.ceil(max(iops, mib_s / GP3_MIB_S_PER_IOPS.value) / IOPS_STEP) * IOPS_STEP
    return max(GP3_FREE_IOPS.value, iops), mib_s

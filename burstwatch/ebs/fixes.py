"""Suggests volumes that would not run dry, with their commands and their price a month."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from burstwatch.ebs.prices import monthly_usd
from burstwatch.ebs.volume_types import CATALOGUE, GP3_FREE_IOPS, GP3_FREE_MIB_S
from burstwatch.ebs.volumes import InstanceLimits, VolumeSpec, volume_spec
from burstwatch.fixes.fix import Command, Fix
from burstwatch.formatting import number


@dataclass(frozen=True, kw_only=True, slots=True)
class Attached:
    """A volume where it is: its id and region, and the instance whose limits hold for it, where they are known."""

    volume_id: str
    region: str
    instance_type: str = ""
    instance: InstanceLimits | None = None


def volume_fixes(volume: VolumeSpec, where: Attached, *, demand: float) -> Iterator[Fix]:
    """Changes to a volume that serve ``demand`` without running dry, and are in no respect slower than it is.

    Demand at the limit may be larger than it looks: the fix matches the burst and promises no more.
    """
    needed_rate = min(demand, volume.burst)
    next_limit = _binds_next(volume, where, needed_rate)
    iops, mib_s = _gp3_rates(volume)
    yield _fix(
        volume,
        where,
        f"change to gp3 with {number(iops)} IOPS and {number(mib_s)} MiB/s",
        f"uses no credits{next_limit}",
        new_type="gp3",
        rates=(iops, mib_s),
    )
    for volume_type in _larger_types(volume.volume_type):
        size = _smallest_size(volume_type, volume, needed_rate)
        if size is not None:
            yield _fix(
                volume,
                where,
                f"change to {volume_type} of {number(size)} GiB",
                f"never runs dry at the current load{next_limit}",
                new_type=volume_type,
                size=size,
            )


def _fix(
    volume: VolumeSpec,
    where: Attached,
    action: str,
    effect: str,
    *,
    new_type: str,
    size: int | None = None,
    rates: tuple[int, int] | None = None,
) -> Fix:
    """The fix that changes a volume's type, size or rates (IOPS and MiB/s)."""
    iops, mib_s = rates or (None, None)
    changes = {"VolumeType": new_type, "Size": size, "Iops": iops, "Throughput": mib_s}
    if new_type == volume.volume_type:
        del changes["VolumeType"]
    parameters = {name: value for name, value in changes.items() if value is not None}
    before = monthly_usd(where.region, volume.volume_type, volume.size_gib)
    after = monthly_usd(where.region, new_type, size or volume.size_gib, iops=iops, mib_s=mib_s)
    return Fix(
        action=action,
        effect=effect,
        takes="takes minutes to hours",
        usd_month=None if before is None or after is None else after - before,
        commands=(
            Command(
                service="ec2",
                operation="ModifyVolume",
                region=where.region,
                parameters={"VolumeId": where.volume_id, **parameters},
            ),
        ),
    )


def _binds_next(volume: VolumeSpec, where: Attached, needed_rate: float) -> str:
    """Say what the instance sustains, where that is less than the load; its own credits run out then."""
    if where.instance is None:
        return ""
    is_ssd = volume.unit == "io"
    sustained = where.instance.baseline_iops if is_ssd else where.instance.baseline_mib_s
    if sustained is None or needed_rate <= sustained:
        return ""
    rate = f"{number(sustained)} {'IOPS' if is_ssd else 'MiB/s'}"
    return f"; then its {where.instance_type} is the limit, which sustains {rate}"


def _larger_types(volume_type: str) -> tuple[str, ...]:
    """Return the type itself, to be made larger, and for sc1 the next better disk."""
    return ("sc1", "st1") if volume_type == "sc1" else (volume_type,)


def _smallest_size(volume_type: str, volume: VolumeSpec, needed_rate: float) -> int | None:
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


def _gp3_rates(volume: VolumeSpec) -> tuple[int, int]:
    """IOPS and MiB/s of a gp3 that is never slower than the volume with credits.

    A load of the last minutes says nothing of tonight's backup, so the rates are not cut down to it.
    """
    iops = volume.limit_iops if volume.unit == "io" else GP3_FREE_IOPS.value
    mib_s = max(GP3_FREE_MIB_S.value, volume.limit_mib_s)
    return math.ceil(max(GP3_FREE_IOPS.value, iops)), math.ceil(mib_s)

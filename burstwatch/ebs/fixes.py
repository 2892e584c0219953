"""Suggests volumes that would not run out, with their commands and their price a month."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from burstwatch.ebs.prices import monthly_usd
from burstwatch.ebs.volume_types import (
    CATALOGUE,
    GP3_FREE_IOPS,
    GP3_FREE_MIB_S,
    GP3_MIB_S_PER_IOPS,
    GP3_PROVISIONED,
    IO1_PROVISIONED,
)
from burstwatch.ebs.volumes import KIB_PER_MIB, InstanceLimits, VolumeSpec, volume_spec
from burstwatch.fixes.fix import Afterwards, Command, Fix
from burstwatch.formatting import number

#: A mean of five minutes hides what is asked for in one of them.
HEADROOM = 1.2
#: AWS takes any whole number of IOPS; these read better.
IOPS_STEP = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Attached:
    """A volume where it is: its id and region, and the instance whose limits hold for it, where they are known.

    ``is_shared`` where several instances may use it at once, which gp3 does not offer.
    """

    volume_id: str
    region: str
    instance_type: str = ""
    instance: InstanceLimits | None = None
    is_shared: bool = False


def volume_fixes(
    volume: VolumeSpec, where: Attached, *, demand: float, io_kib: float = 0.0
) -> Iterator[Fix]:
    """Changes to a volume that serve ``demand`` without running out, and are in no respect slower than it is.

    Demand at the limit may be larger than it looks: the fix matches the burst and promises no more. ``io_kib`` is
    the mean size of an operation, 0 where it is not known.
    """
    needed_rate = min(demand, volume.burst)
    next_limit = _binds_next(volume, where, needed_rate, io_kib)
    yield _gp3_fix(volume, where, next_limit)
    for volume_type in _larger_types(volume.volume_type):
        size = _smallest_size(volume_type, volume, needed_rate)
        if size is not None:
            yield _fix(
                volume,
                where,
                f"change to {volume_type} of {number(size)} GiB",
                f"never runs out at the current load{next_limit}",
                new_type=volume_type,
                size=size,
            )


def _gp3_fix(volume: VolumeSpec, where: Attached, next_limit: str) -> Fix:
    """The change to a gp3 that is never slower than the volume with credits."""
    iops, mib_s = _gp3_rates(volume)
    return _fix(
        volume,
        where,
        f"change to gp3 with {number(iops)} IOPS and {number(mib_s)} MiB/s",
        f"uses no credits{next_limit}",
        new_type="gp3",
        rates=(iops, mib_s),
    )


def _fix(
    volume: VolumeSpec,
    where: Attached,
    action: str,
    effect: str,
    *,
    new_type: str,
    size: int | None = None,
    rates: tuple[int, int | None] | None = None,
) -> Fix:
    """The fix that changes a volume's type, size or rates (IOPS and MiB/s)."""
    iops, mib_s = rates or (None, None)
    changes = {"VolumeType": new_type, "Size": size, "Iops": iops, "Throughput": mib_s}
    if new_type == volume.volume_type:
        del changes["VolumeType"]
    parameters = {name: value for name, value in changes.items() if value is not None}
    before = present_usd(where.region, volume)
    after = monthly_usd(where.region, new_type, size or volume.size_gib, iops=iops, mib_s=mib_s)
    spec = volume_spec(new_type, size or volume.size_gib, iops=iops, mib_s=mib_s)
    return Fix(
        action=action,
        effect=effect,
        takes="takes minutes to hours",
        is_for_good=size is not None,
        # "Without detaching the volume or restarting the instance":
        # https://docs.aws.amazon.com/ebs/latest/userguide/ebs-modify-volume.html (2026-11)
        has_downtime=False,
        afterwards=Afterwards(
            bucket=spec.bucket, rate=spec.limit_iops if volume.unit == "io" else spec.limit_mib_s
        ),
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


def present_usd(region: str, volume: VolumeSpec) -> float | None:
    """The price of a volume for a month, with the rates that somebody chose for it; None where it is not known."""
    is_chosen = CATALOGUE[volume.volume_type].provisioned is not None
    iops, mib_s = (volume.limit_iops, volume.limit_mib_s) if is_chosen else (None, None)
    return monthly_usd(region, volume.volume_type, volume.size_gib, iops=iops, mib_s=mib_s)


def volume_savings(
    volume: VolumeSpec, where: Attached, *, iops: float, mib_s: float, is_enough: bool = False
) -> Iterator[Fix]:
    """Changes to a volume that cost less and serve ``iops`` and ``mib_s`` with some headroom.

    A gp2 becomes a gp3 of the rates that it has, unless that load ``is_enough``.
    """
    if volume.volume_type == "gp2" and volume.bucket is None:
        yield _gp3_fix(volume, where, "")
    is_cut = volume.volume_type == "gp2" and is_enough
    if CATALOGUE[volume.volume_type].provisioned is None and not is_cut:
        return
    needed_iops = max(HEADROOM * iops, GP3_FREE_IOPS.value)
    needed_mib_s = math.ceil(max(HEADROOM * mib_s, GP3_FREE_MIB_S.value))
    gp3_iops = _round_up(max(needed_iops, needed_mib_s / GP3_MIB_S_PER_IOPS.value))
    gp3 = CATALOGUE["gp3"]
    fits = gp3_iops <= GP3_PROVISIONED.most_iops(gp3, volume.size_gib)
    fits = fits and needed_mib_s <= gp3.max_mib_s.value and not where.is_shared
    if fits and (volume.volume_type != "gp3" or _is_less(volume, gp3_iops, needed_mib_s)):
        yield _cheaper(volume, where, "gp3", (gp3_iops, needed_mib_s), (iops, mib_s))
    # https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volumes-multi.html (2026-11): the IOPS of a shared io1 stay.
    if volume.volume_type == "io2" or (volume.volume_type == "io1" and not where.is_shared):
        lower = _round_up(max(HEADROOM * iops, IO1_PROVISIONED.iops.value))
        if lower < volume.limit_iops:
            yield _cheaper(volume, where, volume.volume_type, (lower, None), (iops, mib_s))


def _is_less(volume: VolumeSpec, iops: float, mib_s: float) -> bool:
    """True if rates are nowhere above those of a volume, and one of them is below."""
    pairs = ((iops, volume.limit_iops), (mib_s, volume.limit_mib_s))
    return all(new <= now for new, now in pairs) and any(new < now for new, now in pairs)


def _round_up(iops: float) -> int:
    return math.ceil(iops / IOPS_STEP) * IOPS_STEP


def _cheaper(
    volume: VolumeSpec,
    where: Attached,
    new_type: str,
    rates: tuple[int, int | None],
    needed: tuple[float, float],
) -> Fix:
    """The fix that lowers what is provisioned to ``rates``, for a load that ``needed`` less; both are IOPS and MiB/s."""
    iops, mib_s = rates
    served = f"{number(iops)} IOPS" + (f" and {number(mib_s)} MiB/s" if mib_s else "")
    present = f"{number(volume.limit_iops)} IOPS and {number(volume.limit_mib_s)} MiB/s"
    effect = f"instead of {present}; it needed {number(needed[0])} IOPS and {number(needed[1])} MiB/s at the most"
    if volume.volume_type == "io2" and new_type == "gp3":
        effect += "; io2 answers sooner and is more durable"
    is_same = new_type == volume.volume_type
    return _fix(
        volume,
        where,
        f"{'lower it to' if is_same else f'change to {new_type} with'} {served}",
        effect,
        new_type=new_type,
        rates=rates,
    )


def _binds_next(volume: VolumeSpec, where: Attached, needed_rate: float, io_kib: float) -> str:
    """Say what the instance sustains, where that is less than the load; its own credits run out then."""
    instance = where.instance
    if instance is None:
        return ""
    iops, mib_s = (needed_rate, needed_rate * io_kib / KIB_PER_MIB)
    if volume.unit == "MiB":
        iops, mib_s = (needed_rate * KIB_PER_MIB / io_kib if io_kib else 0.0), needed_rate
    sustained = []
    if instance.baseline_iops is not None and iops > instance.baseline_iops:
        sustained.append(f"{number(instance.baseline_iops)} IOPS")
    if instance.baseline_mib_s is not None and mib_s > instance.baseline_mib_s:
        sustained.append(f"{number(instance.baseline_mib_s)} MiB/s")
    if not sustained:
        return ""
    return (
        f"; then its {where.instance_type} is the limit, which sustains {' and '.join(sustained)}"
    )


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

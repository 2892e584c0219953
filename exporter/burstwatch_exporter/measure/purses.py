"""What may be spent: of the volumes that are here, or of one that is only imagined."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.volume_types import CATALOGUE, UnknownVolumeTypeError
from burstwatch.ebs.volumes import profile as promise_by_type
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.measure.expect import Given
from burstwatch_exporter.measure.plan import Purse
from burstwatch_exporter.measure.watch import Bounds

if TYPE_CHECKING:
    from burstwatch_exporter.measure.target import Target

NO_BOUNDS = Bounds(budget=math.inf, floors={})


def purse_of(target: Target, *, budget_ratio: float) -> Purse | None:
    """The bucket of the volume that has the least left of it, or None where there is none.

    ``budget_ratio`` is ``inf`` where it is to be emptied. The budget is a share of the smallest
    bucket: no volume spends more.
    """
    buckets = _capacities(target)
    purses = [
        Purse(
            bucket=replace(view.promise.own_bucket, burst=view.promise.bucket.burst),
            left=view.account.interval,
            budget=budget_ratio * min(buckets.values()),
            demand=0.0
            if view.account.projection.demand is None
            else view.account.projection.demand.likely,
        )
        for view in target.views
        if view.account is not None
        and view.promise is not None
        and view.promise.own_bucket is not None
        and view.promise.bucket is not None
    ]
    return min(purses, key=lambda one: one.left.low / one.bucket.capacity, default=None)


def bounds_of(target: Target, *, budget_ratio: float, floor_ratio: float) -> Bounds:
    """What no volume may pass."""
    buckets = _capacities(target)
    if not buckets or math.isinf(budget_ratio):
        return NO_BOUNDS
    return Bounds(
        budget=budget_ratio * min(buckets.values()),
        floors={name: floor_ratio * capacity for name, capacity in buckets.items()},
    )


def imagined(
    volume_type: str,
    size_gib: float,
    *,
    members: int,
    balance_ratio: float,
    budget_ratio: float,
    vcpus: int,
) -> tuple[Given, Purse | None]:
    """A volume that is not here, or so many in a stripe.

    Raises:
        UnknownVolumeTypeError, SizeOutOfRangeError: naming the value and what is allowed.
    """
    other = OTHER_DISKS.get(volume_type)
    if other is not None:
        return Given(ways=other.of_size(size_gib), cap=other.cap(vcpus), members=members), None
    if volume_type not in CATALOGUE:
        msg = f"unknown volume type {volume_type!r}, allowed are {', '.join([*CATALOGUE, *OTHER_DISKS])}"
        raise UnknownVolumeTypeError(msg)
    promise = promise_by_type(volume_type, size_gib)
    given = Given(profile=promise, members=members)
    if promise.bucket is None:
        return given, None
    level = balance_ratio * promise.bucket.capacity
    purse = Purse(
        bucket=promise.bucket,
        left=Interval(low=level, high=level, likely=level),
        budget=budget_ratio * promise.bucket.capacity,
    )
    return given, purse


def _capacities(target: Target) -> dict[str, float]:
    return {
        view.disk.name: view.promise.own_bucket.capacity
        for view in target.views
        if view.promise is not None and view.promise.own_bucket is not None
    }

"""Plans what a measurement will cost in credits, before it runs. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.ebs.volumes import charge, volume_spec
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.measure.drain import SURE_S
from burstwatch_exporter.measure.expect import DiskLimits, Expectation, expect
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.target import Target

KIB = 2**10
#: Nobody waits longer than this for the last operations of a step.
LONGEST_S = 60.0
#: A scratch file is written in pieces of this.
LAYOUT_KIB = 1024.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditBudget:
    """The bucket of each volume, how much is left of it, and how much of that may be spent.

    ``demand`` is what else is asked of it, in credits a second.
    """

    bucket: Bucket
    interval: Interval
    budget: float
    demand: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class StepPlan:
    """One step: at most ``credits`` in all its time; the budget lets it run ``runs_s`` for ``spends``.

    Both are at the most that the rules allow, as the budget is kept; ``credits_per_s`` is what is likely.

    ``until_empty_s`` is how long a full bucket lasts at that rate, ``inf`` without an end, ``price`` what
    one operation is charged at the most. All credits are of each volume of a stripe.
    """

    step: Step
    expected: Expectation
    credits_per_s: float
    credits: float
    spends: float
    runs_s: float
    until_empty_s: float
    price: float

    @property
    def in_flight(self) -> float:
        """The most that the operations cost that it has on the way at a time, in credits."""
        return self.step.in_flight * self.price

    @property
    def last_ones_s(self) -> float:
        """The time that its last operations take where they are served the slowest."""
        slowest = self.expected.empty or self.expected.best
        in_flight_mib = self.step.in_flight * self.step.block_kib * KIB / MIB
        return min(LONGEST_S, in_flight_mib / slowest.mib_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The whole: what it would spend if nothing stopped it, and what it may.

    ``left_s`` and ``left_after_s`` are seconds until the bucket is empty at the fastest, before and
    after, and ``balance_after`` the share of it that is then about left. None without a bucket.
    """

    steps: tuple[StepPlan, ...]
    credit: CreditBudget | None
    layout_mib: float
    layout_credits: float
    seconds: float
    credits: float
    spends: float
    balance_after: float | None = None
    left_s: float | None = None
    left_after_s: float | None = None


def make_plan(steps: Sequence[Step], disk: DiskLimits, credit: CreditBudget | None) -> Plan:
    """Plan ``steps`` one after the other.

    Each gets an even share of what is left of the budget, so that the last one is run too;
    what one does not need the others have.
    """
    layout_mib = max((step.size_mib for step in steps if step.tool != "dbench"), default=0.0)
    layout = 0.0
    if credit is not None:
        pieces = layout_mib * MIB / KIB / LAYOUT_KIB
        layout = pieces * price_of(disk, block_kib=LAYOUT_KIB) / disk.members
    budget_left = math.inf if credit is None else max(0.0, credit.budget - layout)
    planned: list[StepPlan] = []
    for i, step in enumerate(steps):
        step_plan = _step(step, disk, credit, share=budget_left / (len(steps) - i))
        budget_left -= step_plan.spends
        planned.append(step_plan)
    whole = layout + math.fsum(step_plan.credits for step_plan in planned)
    spends = layout + math.fsum(step_plan.spends for step_plan in planned)
    seconds = math.fsum(step_plan.runs_s for step_plan in planned)
    base = Plan(
        steps=tuple(planned),
        credit=credit,
        layout_mib=layout_mib,
        layout_credits=layout,
        seconds=seconds,
        credits=whole,
        spends=spends,
    )
    return base if credit is None else _with_effect(base, credit)


def price_of(disk: DiskLimits, *, block_kib: float) -> float:
    """The most credits that one operation is charged: what the budget is kept by.

    The kernel splits it into requests of ``largest_kib``; where that is not known, into as large
    ones as a credit covers.
    """
    profile = disk.volume_spec
    if profile is None:
        return 0.0
    largest = disk.largest_kib if math.isfinite(disk.largest_kib) else profile.io_kib
    requests = max(1, math.ceil(block_kib / largest))
    mib = block_kib * KIB / MIB
    return charge(profile, ops=requests, mib=mib, largest_kib=largest).most


def _step(step: Step, disk: DiskLimits, credit: CreditBudget | None, *, share: float) -> StepPlan:
    """Plan a step: its expected rate, how long its share of the budget lasts, and what it spends at most."""
    expected = expect(step, disk)
    best = expected.best
    rate = best.credits_per_s / disk.members if credit is not None else 0.0
    price = price_of(disk, block_kib=step.block_kib) / disk.members if credit is not None else 0.0
    price_per_s = best.iops * price if price > 0 else 0.0
    runs_s = step.runtime_s if price_per_s <= 0 else min(step.runtime_s, share / price_per_s)
    if credit is not None and math.isinf(credit.budget):  # a drain: it ends when it is sure
        to_empty = tb.time_to_empty(credit.bucket, level=credit.interval.high, demand=rate)
        runs_s = min(step.runtime_s, to_empty + SURE_S)
    return StepPlan(
        step=step,
        expected=expected,
        credits_per_s=rate,
        credits=_spent(credit, price_per_s, step.runtime_s),
        spends=_spent(credit, price_per_s, runs_s),
        runs_s=runs_s,
        price=price,
        until_empty_s=math.inf
        if credit is None
        else tb.time_to_empty(credit.bucket, level=credit.bucket.capacity, demand=rate),
    )


def _spent(credit: CreditBudget | None, rate: float, seconds: float) -> float:
    """The charge of a full bucket in that time: once it is empty, no more than comes in."""
    if credit is None:
        return 0.0
    bucket = credit.bucket
    at_rate = min(seconds, tb.time_to_empty(bucket, level=bucket.capacity, demand=rate))
    return rate * at_rate + min(rate, bucket.refill) * (seconds - at_rate)


def _with_effect(plan: Plan, credit: CreditBudget) -> Plan:
    """Add the share that is left after the plan, and how long the bucket lasts at full burst before and after."""
    bucket, low = credit.bucket, credit.interval.low
    gained = (bucket.refill - min(credit.demand, bucket.refill)) * plan.seconds
    after = tb.clamp_level(bucket, min(bucket.capacity, low + gained) - plan.spends)
    return replace(
        plan,
        balance_after=after / bucket.capacity,
        left_s=tb.worst_time_to_empty(bucket, level=low),
        left_after_s=tb.worst_time_to_empty(bucket, level=after),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """The bounds that no volume may pass: credits to spend in all, and credits that stay, by device.

    ``budget`` is ``inf`` where there are no credits to spend.
    """

    budget: float
    floors: Mapping[str, float]


def credit_budget_of(target: Target, *, budget_ratio: float) -> CreditBudget | None:
    """The bucket of the volume that has the least left of it, or None where there is none.

    ``budget_ratio`` is ``inf`` where it is to be emptied. The budget is a share of the smallest
    bucket: no volume spends more.
    """
    buckets = _capacities(target)
    budgets = [
        CreditBudget(
            bucket=replace(account.own_bucket, burst=account.bucket.burst),
            interval=account.interval,
            budget=budget_ratio * min(buckets.values()),
            demand=0.0 if account.projection.demand is None else account.projection.demand.likely,
        )
        for account in (view.account for view in target.views)
        if account is not None
    ]
    return min(
        budgets, key=lambda budget: budget.interval.low / budget.bucket.capacity, default=None
    )


def bounds_of(target: Target, *, budget_ratio: float, floor_ratio: float) -> Bounds:
    """The bounds of each volume: credits to spend at most, a share of the smallest bucket, and credits that stay."""
    capacities = _capacities(target)
    if not capacities or math.isinf(budget_ratio):
        return Bounds(budget=math.inf, floors={})
    return Bounds(
        budget=budget_ratio * min(capacities.values()),
        floors={name: floor_ratio * capacity for name, capacity in capacities.items()},
    )


def imagined(
    volume_type: str,
    size_gib: float,
    *,
    members: int,
    balance_ratio: float,
    budget_ratio: float,
    vcpus: int,
) -> tuple[DiskLimits, CreditBudget | None]:
    """A volume that is not here, or so many in a stripe.

    Raises:
        ValueError: naming the value and what is allowed.
    """
    other_disk = OTHER_DISKS.get(volume_type)
    if other_disk is not None:
        return DiskLimits(
            ways=other_disk.of_size(size_gib), cap=other_disk.cap(vcpus), members=members
        ), None
    if volume_type not in CATALOGUE:
        msg = (
            f"unknown volume type {volume_type!r}; allowed: {', '.join([*CATALOGUE, *OTHER_DISKS])}"
        )
        raise ValueError(msg)
    spec = volume_spec(volume_type, size_gib)
    disk = DiskLimits(volume_spec=spec, members=members)
    if spec.bucket is None:
        return disk, None
    level = balance_ratio * spec.bucket.capacity
    credit = CreditBudget(
        bucket=spec.bucket,
        interval=Interval(low=level, high=level, likely=level),
        budget=budget_ratio * spec.bucket.capacity,
    )
    return disk, credit


def _capacities(target: Target) -> dict[str, float]:
    return {
        view.disk.name: view.account.own_bucket.capacity
        for view in target.views
        if view.account is not None
    }

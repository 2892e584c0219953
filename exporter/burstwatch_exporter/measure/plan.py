"""What a measurement will cost in credits, before anything of it is run. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from burstwatch import bucket as tb
from burstwatch.ebs.load import MIB
from burstwatch.ebs.volumes import charge
from burstwatch_exporter.measure.drain import SURE_S
from burstwatch_exporter.measure.expect import Ask, Expectation, expect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.bucket import Bucket
    from burstwatch_exporter.interval import Interval
    from burstwatch_exporter.measure.expect import Given
    from burstwatch_exporter.measure.jobs import Step

KIB = 2**10
#: Nobody waits longer than this for the last operations of a step.
LONGEST_S = 60.0
#: A scratch file is written in pieces of this.
LAYOUT_KIB = 1024.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Purse:
    """The bucket of each volume, how much is left of it, and how much of that may be spent.

    ``demand`` is what else is asked of it, in credits a second.
    """

    bucket: Bucket
    left: Interval
    budget: float
    demand: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class StepPlan:
    """One step: at most ``credits`` in all its time; the budget lets it run ``runs_s`` for ``spends``.

    Both are at the most that the rules allow, as the budget is kept; ``credits_per_s`` is what is likely.

    ``until_empty_s`` is how long a full bucket lasts at that rate, ``inf`` for ever, ``price`` what
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
        """How long what it has on the way takes where it is served the slowest."""
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
    purse: Purse | None
    layout_mib: float
    layout_credits: float
    seconds: float
    credits: float
    spends: float
    balance_after: float | None = None
    left_s: float | None = None
    left_after_s: float | None = None


def make_plan(steps: Sequence[Step], given: Given, purse: Purse | None) -> Plan:
    """What is to be expected of ``steps`` one after the other.

    Each gets an even share of what is left of the budget, so that the last one is run too;
    what one does not need the others have.
    """
    layout_mib = max((step.size_mib for step in steps if step.tool != "dbench"), default=0.0)
    layout = 0.0
    if purse is not None:
        pieces = layout_mib * MIB / KIB / LAYOUT_KIB
        layout = pieces * price_of(given, block_kib=LAYOUT_KIB) / given.members
    left = math.inf if purse is None else max(0.0, purse.budget - layout)
    planned: list[StepPlan] = []
    for i, step in enumerate(steps):
        one = _step(step, given, purse, share=left / (len(steps) - i))
        left -= one.spends
        planned.append(one)
    whole = layout + math.fsum(one.credits for one in planned)
    spends = layout + math.fsum(one.spends for one in planned)
    seconds = math.fsum(one.runs_s for one in planned)
    base = Plan(
        steps=tuple(planned),
        purse=purse,
        layout_mib=layout_mib,
        layout_credits=layout,
        seconds=seconds,
        credits=whole,
        spends=spends,
    )
    return base if purse is None else _with_effect(base, purse)


def price_of(given: Given, *, block_kib: float) -> float:
    """The most credits that one operation is charged: what the budget is kept by.

    The kernel splits it into requests of ``largest_kib``; where that is not known, into as large
    ones as a credit covers.
    """
    profile = given.profile
    if profile is None:
        return 0.0
    largest = given.largest_kib if math.isfinite(given.largest_kib) else profile.io_kib
    requests = max(1, math.ceil(block_kib / largest))
    mib = block_kib * KIB / MIB
    return charge(profile, ops=requests, mib=mib, largest_kib=largest).most


def ask_of(step: Step) -> Ask:
    """What a step asks of the disk."""
    return Ask(
        block_kib=step.block_kib,
        in_flight=step.in_flight,
        read_share=step.read_share,
        is_random=step.is_random,
        rate_iops=step.rate_iops,
    )


def _step(step: Step, given: Given, purse: Purse | None, *, share: float) -> StepPlan:
    expected = expect(ask_of(step), given)
    best = expected.best
    rate = best.credits_per_s / given.members if purse is not None else 0.0
    price = price_of(given, block_kib=step.block_kib) / given.members if purse is not None else 0.0
    price_per_s = best.iops * price if price > 0 else 0.0
    runs_s = step.runtime_s if price_per_s <= 0 else min(step.runtime_s, share / price_per_s)
    if purse is not None and math.isinf(purse.budget):  # a drain: it ends when it is sure
        to_empty = tb.time_to_empty(purse.bucket, level=purse.left.high, demand=rate)
        runs_s = min(step.runtime_s, to_empty + SURE_S)
    return StepPlan(
        step=step,
        expected=expected,
        credits_per_s=rate,
        credits=_spent(purse, price_per_s, step.runtime_s),
        spends=_spent(purse, price_per_s, runs_s),
        runs_s=runs_s,
        price=price,
        until_empty_s=math.inf
        if purse is None
        else tb.time_to_empty(purse.bucket, level=purse.bucket.capacity, demand=rate),
    )


def _spent(purse: Purse | None, rate: float, seconds: float) -> float:
    """What a full bucket is charged in that time: once it is empty, no more than comes in."""
    if purse is None:
        return 0.0
    bucket = purse.bucket
    at_rate = min(seconds, tb.time_to_empty(bucket, level=bucket.capacity, demand=rate))
    return rate * at_rate + min(rate, bucket.refill) * (seconds - at_rate)


def _with_effect(plan: Plan, purse: Purse) -> Plan:
    bucket, low = purse.bucket, purse.left.low
    gained = (bucket.refill - min(purse.demand, bucket.refill)) * plan.seconds
    after = tb.clamp_level(bucket, min(bucket.capacity, low + gained) - plan.spends)
    return replace(
        plan,
        balance_after=after / bucket.capacity,
        left_s=tb.worst_time_to_empty(bucket, level=low),
        left_after_s=tb.worst_time_to_empty(bucket, level=after),
    )

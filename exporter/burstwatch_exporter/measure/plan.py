"""What a measurement will cost in credits, before anything of it is run. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstwatch import bucket as tb
from burstwatch.volumes import charge
from burstwatch_exporter.measure.drain import SURE_S
from burstwatch_exporter.measure.expect import Ask, Expectation, expect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.bucket import Bucket
    from burstwatch_exporter.interval import Interval
    from burstwatch_exporter.measure.expect import Given
    from burstwatch_exporter.measure.jobs import Step

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

    ``until_empty_s`` is how long a full bucket lasts at its rate, ``inf`` for ever; all credits are
    of each volume of a stripe.
    """

    step: Step
    expected: Expectation
    credits_per_s: float
    credits: float
    spends: float
    runs_s: float
    until_empty_s: float

    @property
    def in_flight(self) -> float:
        """What the operations cost that it has on the way at a time, in credits."""
        best = self.expected.best
        return (
            0.0 if best.credits_per_s <= 0 else self.step.in_flight * best.credits_per_s / best.iops
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The whole: what it would spend if nothing stopped it, and what it may.

    ``left_s`` and ``left_after_s`` are seconds until the bucket is empty at the fastest, before and
    after, and ``balance_after`` the least share of it that is then left. None without a bucket.
    """

    steps: tuple[StepPlan, ...]
    purse: Purse | None
    layout_mib: float
    layout_credits: float
    seconds: float
    credits: float
    spends: float
    balance_after: float | None
    left_s: float | None
    left_after_s: float | None


def make_plan(steps: Sequence[Step], given: Given, purse: Purse | None) -> Plan:
    """What is to be expected of ``steps`` one after the other.

    Each gets an even share of what is left of the budget, so that the last one is run too;
    what one does not need the others have.
    """
    layout_mib = max((step.size_mib for step in steps if step.tool != "dbench"), default=0.0)
    layout = 0.0
    if given.profile is not None and given.profile.bucket is not None:
        layout = charge(given.profile, ops=layout_mib, mib=layout_mib, largest_kib=LAYOUT_KIB).most
        layout /= given.members
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
        balance_after=None,
        left_s=None,
        left_after_s=None,
    )
    return base if purse is None else _with_effect(base, purse)


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
    rate = expected.best.credits_per_s / given.members if purse is not None else 0.0
    runs_s = step.runtime_s if rate <= 0 else min(step.runtime_s, share / rate)
    if purse is not None and math.isinf(purse.budget):  # a drain: it ends when it is sure
        to_empty = tb.time_to_empty(purse.bucket, level=purse.left.high, demand=rate)
        runs_s = min(step.runtime_s, to_empty + SURE_S)
    return StepPlan(
        step=step,
        expected=expected,
        credits_per_s=rate,
        credits=_spent(purse, rate, step.runtime_s),
        spends=_spent(purse, rate, runs_s),
        runs_s=runs_s,
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
    return Plan(
        steps=plan.steps,
        purse=purse,
        layout_mib=plan.layout_mib,
        layout_credits=plan.layout_credits,
        seconds=plan.seconds,
        credits=plan.credits,
        spends=plan.spends,
        balance_after=after / bucket.capacity,
        left_s=tb.worst_time_to_empty(bucket, level=low),
        left_after_s=tb.worst_time_to_empty(bucket, level=after),
    )

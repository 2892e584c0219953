"""Derives credits per second for each slot, from the I/O and from the balance.

What an I/O costs is not published, only what it moved. The balance itself is the truth:
between two datapoints it lost ``spent - refill``. So the *charge ratio*, credits really
spent per nominal credit of the I/O reported, is fitted from the balance's slope where
both are known, and the documented least and most bound it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

from burstwatch.bucket import Bucket
from burstwatch.history.points import DemandPoint

#: The balance is held against the I/O over so long each.
WITNESS_S = (3600.0, 900.0)
#: The charge ratio at an instant comes from the hour before it.
FIT_S = 3600.0
# Outside these the bucket clips (empty, full), and the slope says nothing of spending.
INSIDE = (0.001, 0.999)
# A datapoint's balance is taken to be good to 0.1 %, the step that the console shows.
BALANCE_STEP = 0.001
# Rates and levels may be this much off before they contradict one another.
TOLERANCE = 1.05


@dataclass(frozen=True, slots=True)
class Sums:
    """Running sums over slots: ``of[i]`` is the sum of all before slot ``i``."""

    of: list[float]

    def over(self, end: int, slots: int) -> float:
        """The sum of the ``slots`` before ``end``; what was before the first is 0."""
        return self.of[end] - self.of[max(0, end - slots)]

    def means(self, slots: int) -> list[float]:
        """The mean of the ``slots`` before each slot's end; what was before the first is 0."""
        lead = [0.0] * slots + self.of
        return [(b - a) / slots for a, b in zip(lead[1:], self.of[1:], strict=False)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """One bound of the credits per second spent, by slot."""

    by_slot: list[float]
    sums: Sums

    def mean(self, end: int, slots: int) -> float:
        """The mean of the ``slots`` before ``end``, or of as many as there are."""
        return self.sums.over(end, slots) / min(slots, end)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """The I/O's cost as the balance shows it, where both are known: running sums in credits."""

    spent: Sums
    least: Sums
    nominal: Sums
    most: Sums


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """What the balance lost beside what the I/O may have cost, where both are known: running sums in credits.

    ``runs`` counts the runs of slots that follow one another: at the ends of each it is not known when in its period a
    level was so low.
    """

    spent: Sums
    least: Sums
    most: Sums
    slots: Sums
    runs: Sums


class Slots(Protocol):
    """One resource by slots of ``period_s``: levels (infinite where unknown), known I/O or None."""

    bucket: Bucket
    period_s: float
    levels: list[float]
    points: list[DemandPoint | None]

    @property
    def last_level(self) -> list[int]:
        """For each slot the newest one up to it with a level, or -1."""

    @property
    def balance(self) -> Balance:
        """What the balance lost, beside the I/O."""

    @property
    def contradicted(self) -> list[bool]:
        """For each slot whether the balance of the hour before contradicts the I/O."""


def summed(by_slot: list[float]) -> Rates:
    """Rates with their running sums."""
    return Rates(by_slot=by_slot, sums=sums_of(by_slot))


def sums_of(values: Sequence[float]) -> Sums:
    """The running sums of values by slot."""
    return Sums(list(accumulate(values, initial=0.0)))


def fit_cost(
    bucket: Bucket,
    ratios: Sequence[float],
    points: Sequence[DemandPoint | None],
    period_s: float,
) -> Fit:
    """Spending that the balance shows, beside the nominal cost of the I/O, where both are known.

    Only falling slots that follow a falling one are used: there both Minimums are
    levels at their slots' ends, and so their difference is what the later slot lost.
    """
    size = len(ratios)
    spent, least, nominal, most = ([0.0] * size for _ in range(4))
    refilled = bucket.refill * period_s
    low, high = INSIDE
    was_falling = False
    for slot in range(1, size):
        before, after, point = ratios[slot - 1], ratios[slot], points[slot]
        falling = low < after < before < high
        if falling and was_falling and point is not None:
            spent[slot] = (before - after) * bucket.capacity + refilled
            least[slot] = point.least * period_s
            nominal[slot] = point.nominal * period_s
            most[slot] = point.most * period_s
        was_falling = falling
    return Fit(
        spent=sums_of(spent),
        least=sums_of(least),
        nominal=sums_of(nominal),
        most=sums_of(most),
    )


def balance_of(
    bucket: Bucket,
    ratios: Sequence[float],
    points: Sequence[DemandPoint | None],
    period_s: float,
) -> Balance:
    """What the balance lost in each slot, inside of a bucket that is neither empty nor full, where I/O is known too."""
    size = len(ratios)
    spent, least, most, slots, runs = ([0.0] * size for _ in range(5))
    refilled = bucket.refill * period_s
    low, high = INSIDE
    for slot in range(1, size):
        before, after, point = ratios[slot - 1], ratios[slot], points[slot]
        if not (low < after < high and low < before < high) or point is None:
            continue
        spent[slot] = (before - after) * bucket.capacity + refilled
        least[slot] = point.least * period_s
        most[slot] = point.most * period_s
        slots[slot] = 1.0
        runs[slot] = 0.0 if slots[slot - 1] else 1.0
    return Balance(
        spent=sums_of(spent),
        least=sums_of(least),
        most=sums_of(most),
        slots=sums_of(slots),
        runs=sums_of(runs),
    )


def is_apart(spent: float, least: float, most: float, error: float) -> bool:
    """True if what the balance lost is neither as little nor as much as the I/O may have cost; all in credits."""
    return spent > TOLERANCE * most + error or TOLERANCE * spent + error < least


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """What the balance lost beside what the I/O may have cost, over ``window`` slots up to any slot's end.

    The balance is good to ``error`` credits for each of the ``runs`` of slots in it, and at least for one.
    """

    spent: Sums
    least: Sums
    most: Sums
    runs: Sums | None
    window: int
    error: float

    def at(self, end: int) -> tuple[float, float, float, float]:
        """What was spent, the least and the most of the I/O, and the error, in the window up to ``end``."""
        begin = max(0, end - self.window)
        runs = 1.0 if self.runs is None else max(1.0, self.runs.of[end] - self.runs.of[begin])
        return (
            self.spent.of[end] - self.spent.of[begin],
            self.least.of[end] - self.least.of[begin],
            self.most.of[end] - self.most.of[begin],
            runs * self.error,
        )


def witnesses_of(
    fit: Fit, balance: Balance, bucket: Bucket, period_s: float
) -> tuple[Witness, ...]:
    """The balance where it fell twice in a row, and where it is known at all, over some times."""
    step = BALANCE_STEP * bucket.capacity
    falling = Witness(
        spent=fit.spent,
        least=fit.least,
        most=fit.most,
        runs=None,
        window=max(1, round(FIT_S / period_s)),
        error=step,
    )
    inside = (
        Witness(
            spent=balance.spent,
            least=balance.least,
            most=balance.most,
            runs=balance.runs,
            window=max(1, round(seconds / period_s)),
            # At the end of a run the level may be up to a period's refill above its lowest.
            error=step + bucket.refill * period_s,
        )
        for seconds in WITNESS_S
    )
    return (falling, *inside)


def rates_of(slots: Slots, fit: Fit) -> tuple[list[float], list[float], list[float]]:
    """Least, likely and most credits per second spent, by slot."""
    size = len(slots.levels)
    has_demand = slots.points.count(None) < size
    if not has_demand and size and (plain := _plain_rates(slots)):
        return plain
    least, likely, most = [0.0] * size, [0.0] * size, [0.0] * size
    if has_demand:
        _rates_of_demand(slots, fit, least, likely, most)
    bucket, levels, points, period_s = slots.bucket, slots.levels, slots.points, slots.period_s
    contradicted = slots.contradicted
    error = BALANCE_STEP * bucket.capacity / period_s
    scale, refill, burst, full = bucket.capacity / period_s, bucket.refill, bucket.burst, INSIDE[1]
    for slot in range(1, size):
        after = levels[slot]
        if after == math.inf:
            continue
        before = levels[slot - 1]
        if before < math.inf:
            if (
                points[slot] is None or contradicted[slot]
            ):  # the usual case of what ``_from_balance`` does
                rate = refill + (before - after) * scale
                low, high = rate - error, rate + error
                if low > 0.0 and high < burst:  # nothing to clamp: by far the most
                    likely[slot] = rate
                    # Full at its end, it may have spent nothing, and no more than came in.
                    is_full = after >= full
                    least[slot], most[slot] = (0.0, rate) if is_full else (low, high)
                    continue
                likely[slot] = min(burst, max(0.0, rate))
                most[slot] = min(burst, max(0.0, high))
                least[slot] = 0.0 if after >= full else min(burst, max(0.0, low))
            continue
        _fill_gap(slots, slot, least, likely, most)
    return least, likely, most


def _plain_rates(slots: Slots) -> tuple[list[float], list[float], list[float]] | None:
    """Rates of a balance without a gap, never full, of which none has to be clamped; None for any other."""
    bucket, levels = slots.bucket, slots.levels
    if max(levels) >= INSIDE[1]:  # full, or infinite: there is no datapoint
        return None
    error = BALANCE_STEP * bucket.capacity / slots.period_s
    scale, refill = bucket.capacity / slots.period_s, bucket.refill
    rates = [refill + (before - after) * scale for before, after in pairwise(levels)]
    if rates and (min(rates) <= error or max(rates) >= bucket.burst - error):
        return None
    return (
        [0.0, *[rate - error for rate in rates]],
        [0.0, *rates],
        [0.0, *[rate + error for rate in rates]],
    )


def _rates_of_demand(
    slots: Slots, fit: Fit, least: list[float], likely: list[float], most: list[float]
) -> None:
    """Fill the three lists, by slot, with the rates of I/O that is known, charged as the hour before shows.

    Where the balance contradicts the I/O, the mean that the balance lost in that hour takes its place.
    """
    spent, nominal = fit.spent.of, fit.nominal.of
    window = max(1, round(FIT_S / slots.period_s))
    step, burst = BALANCE_STEP * slots.bucket.capacity, slots.bucket.burst
    balance, contradicted = slots.balance, slots.contradicted
    for slot, point in enumerate(slots.points):
        if point is None:
            continue
        end = slot + 1
        begin = max(0, end - window)
        if contradicted[slot]:
            seconds = (balance.slots.of[end] - balance.slots.of[begin]) * slots.period_s
            mean = (balance.spent.of[end] - balance.spent.of[begin]) / seconds
            least[slot] = min(burst, max(0.0, mean - step / seconds))
            likely[slot] = min(burst, max(0.0, mean))
            most[slot] = min(burst, max(0.0, mean + step / seconds))
            continue
        nominal_sum = nominal[end] - nominal[begin]
        if not nominal_sum:
            least[slot], likely[slot], most[slot] = point.least, point.nominal, point.most
            continue
        ratio, error = (spent[end] - spent[begin]) / nominal_sum, step / nominal_sum
        rate = min(point.most, max(point.least, point.nominal * ratio))
        likely[slot] = rate
        least[slot] = min(rate, max(point.least, point.nominal * max(0.0, ratio - error)))
        most[slot] = max(rate, min(point.most, point.nominal * (ratio + error)))


def _fill_gap(
    slots: Slots, slot: int, least: list[float], likely: list[float], most: list[float]
) -> None:
    """Slots without any datapoint, between two balances: what these lost is spread over them.

    Only where not even I/O is known in between: no cut can end there, and so none can
    see a rate that a later balance has told.
    """
    before = slots.last_level[slot - 1]
    gap = range(before + 1, slot + 1)
    if before < 0 or any(slots.points[between] is not None for between in gap):
        return
    bounds = _from_balance(
        slots.bucket,
        (slots.levels[before], slots.levels[slot]),
        seconds=len(gap) * slots.period_s,
    )
    for between in gap:
        least[between], likely[between], most[between] = bounds


def _from_balance(
    bucket: Bucket, ratios: tuple[float, float], *, seconds: float
) -> tuple[float, float, float]:
    """The least, likely and most rate spent while the balance went from one share of the bucket to another."""
    before, after = ratios
    error = BALANCE_STEP * bucket.capacity / seconds
    clipped = after >= INSIDE[1]  # full: what came in may all have been spent, or none

    def bounded(rate: float) -> float:
        return min(bucket.burst, max(0.0, rate))

    rate = (before - after) * bucket.capacity / seconds + bucket.refill
    return 0.0 if clipped else bounded(rate - error), bounded(rate), bounded(rate + error)

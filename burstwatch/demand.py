"""What the workload spends, in credits per second, from what CloudWatch shows.

What an I/O costs is not published, only what it moved. The balance itself is the
truth: between two datapoints it lost ``spent - refill``. So the *charge ratio*,
credits really spent per nominal credit of the I/O reported, is fitted from the
balance's slope where both are known, and the documented least and most bound it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from burstwatch.observe import DemandPoint, LevelPoint, Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch.bucket import Bucket

FAST_WINDOW_S = 300.0
SLOW_WINDOW_S = 3600.0
HIGH_QUANTILE = 0.9
# At this share of the limit the demand is censored: more may be wanted than is served.
CENSORED = 0.98
# Outside these the bucket clips (empty, full), and the slope says nothing of spending.
INSIDE = (0.001, 0.999)
# A datapoint's balance is taken to be good to 0.1 %, the step that the console shows.
BALANCE_STEP = 0.001


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Credits per second spent over one period, between a low and a high bound."""

    start_s: float
    end_s: float
    rate: Range


def spending(
    bucket: Bucket, levels: Sequence[LevelPoint], demand: Sequence[DemandPoint]
) -> list[Spending]:
    """Spending per period, in time order: from the I/O where known, else from the slope."""
    if not demand:
        return _from_slope(bucket, levels)
    ratio = fit_charge_ratio(bucket, levels, demand)
    spent = []
    for point in demand:
        rate = point.nominal if ratio is None else point.nominal * ratio.likely
        low = point.least if ratio is None else point.nominal * ratio.low
        high = point.most if ratio is None else point.nominal * ratio.high
        likely = min(point.most, max(point.least, rate))
        bounds = Range(
            low=min(likely, max(point.least, low)),
            likely=likely,
            high=max(likely, min(point.most, high)),
        )
        spent.append(Spending(start_s=point.start_s, end_s=point.end_s, rate=bounds))
    return spent


def fit_charge_ratio(
    bucket: Bucket, levels: Sequence[LevelPoint], demand: Sequence[DemandPoint]
) -> Range | None:
    """Credits spent per nominal credit, from the newest run of falling balances.

    Only falling periods that follow a falling one are used: there both Minimums are
    levels at their periods' ends, and so their difference is what the later period
    lost. None where there is no such period with I/O beside it.
    """
    nominal_of = {point.start_s: point.nominal * point.period_s for point in demand}
    newest = levels[-1].end_s if levels else 0.0
    spent = nominal = 0.0
    was_falling = False
    for before, after in pairwise(levels):
        falling = (
            after.start_s == before.end_s
            and after.end_s > newest - SLOW_WINDOW_S
            and INSIDE[0] < after.ratio < before.ratio < INSIDE[1]
        )
        usable = falling and was_falling and nominal_of.get(after.start_s, 0.0) > 0
        was_falling = falling
        if usable:
            lost = (before.ratio - after.ratio) * bucket.capacity
            spent += lost + bucket.refill * after.period_s
            nominal += nominal_of[after.start_s]
    if nominal == 0:
        return None
    error = BALANCE_STEP * bucket.capacity / nominal
    fitted = spent / nominal
    return Range(low=max(0.0, fitted - error), likely=fitted, high=fitted + error)


def demand_now(
    bucket: Bucket, rates: Sequence[Spending], *, limit: float, is_full: bool = False
) -> Range:
    """The demand to expect from here on, in credits per second.

    Likely is what the last five minutes asked for, or what the last two periods
    agree on if that is more (a step is seen after two periods, a single spike is
    not believed). High is the 0.9 quantile of the last hour, low its mean, both at
    least as far out as the bounds of the likely one.
    """
    if not rates:
        # Nothing is known of the I/O. A full bucket shows that no more is spent than
        # comes in; below that it may be anything from none to a full burst.
        high = bucket.refill if is_full else bucket.burst
        return Range(low=0.0, likely=bucket.refill, high=high)
    newest = rates[-1].end_s
    fast = [spent.rate for spent in rates if spent.end_s > newest - FAST_WINDOW_S]
    slow = [spent.rate for spent in rates if spent.end_s > newest - SLOW_WINDOW_S]
    pair = [spent.rate for spent in rates[-2:]]

    def recent(values: Sequence[float], last_two: Sequence[float]) -> float:
        return max(_mean(values), min(last_two))

    likely = recent([r.likely for r in fast], [r.likely for r in pair])
    low = min(recent([r.low for r in fast], [r.low for r in pair]), _mean([r.likely for r in slow]))
    high = max(
        recent([r.high for r in fast], [r.high for r in pair]),
        _quantile([r.likely for r in slow], HIGH_QUANTILE),
    )
    if rates[-1].rate.likely >= CENSORED * limit:
        high = bucket.burst
    return Range(low=min(low, likely), likely=likely, high=max(high, likely))


def _from_slope(bucket: Bucket, levels: Sequence[LevelPoint]) -> list[Spending]:
    spent = []
    for before, after in pairwise(levels):
        seconds = after.end_s - before.end_s
        lost = (before.ratio - after.ratio) * bucket.capacity
        error = BALANCE_STEP * bucket.capacity / seconds

        def bounded(rate: float) -> float:
            return min(bucket.burst, max(0.0, rate))

        rate = bucket.refill + lost / seconds
        clipped = after.ratio >= INSIDE[1]  # full: what came in may all have been spent, or none
        bounds = Range(
            low=0.0 if clipped else bounded(rate - error),
            likely=bounded(rate),
            high=bounded(rate + error),
        )
        spent.append(Spending(start_s=before.end_s, end_s=after.end_s, rate=bounds))
    return spent


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _quantile(values: Sequence[float], q: float) -> float:
    """The smallest value that at least a share ``q`` of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(q * 1000) * len(ordered) // 1000) - 1)]

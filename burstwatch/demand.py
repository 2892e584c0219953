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
    from collections.abc import Callable, Sequence

    from burstwatch.bucket import Bucket

    Bound = Callable[[Range], float]

FAST_WINDOW_S = 300.0
SLOW_WINDOW_S = 3600.0
HIGH_QUANTILE = 0.9
# At this share of the limit the demand is censored: more may be wanted than is served.
CENSORED = 0.98
# Outside these the bucket clips (empty, full), and the slope says nothing of spending.
INSIDE = (0.001, 0.999)
# A datapoint's balance is taken to be good to 0.1 %, the step that the console shows.
BALANCE_STEP = 0.001
# I/O this many periods older than the balance says nothing of what empties it now.
STALE_PERIODS = 2


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
    if not demand or (
        levels and demand[-1].end_s < levels[-1].end_s - STALE_PERIODS * demand[-1].period_s
    ):
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
    # A minute whose I/O is not known but whose balance is: the balance says what it lost.
    known = {point.start_s for point in demand}
    follow = [pair for pair in pairwise(levels) if pair[1].start_s == pair[0].end_s not in known]
    filled = [slope for pair in follow for slope in _from_slope(bucket, pair)]
    return sorted([*spent, *filled], key=lambda one: one.start_s)


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
    pair = rates[-2:]
    agree = len(pair) == 2 and pair[0].end_s == pair[1].start_s  # noqa: PLR2004 - a pair

    def recent(bound: Bound) -> float:
        mean = _mean(_window(rates, bound, FAST_WINDOW_S))
        return max(mean, min(bound(spent.rate) for spent in pair)) if agree else mean

    hour = _window(rates, lambda rate: rate.likely, SLOW_WINDOW_S)
    likely = recent(lambda rate: rate.likely)
    low = min(recent(lambda rate: rate.low), _mean(hour))
    high = max(recent(lambda rate: rate.high), _quantile(hour, HIGH_QUANTILE))
    if len(rates) == 1:  # all that is known, and no window to average it away
        high = max(high, rates[0].rate.high)
    if agree and min(spent.rate.likely for spent in pair) >= CENSORED * limit:
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


def _window(rates: Sequence[Spending], bound: Bound, seconds: float) -> list[tuple[float, float]]:
    """(rate, seconds) over the last ``seconds`` up to the newest point.

    CloudWatch has no datapoint for a period without I/O, so what no point covers was 0.
    """
    end = rates[-1].end_s
    start = end - seconds
    pieces = [
        (bound(spent.rate), spent.end_s - max(start, spent.start_s))
        for spent in rates
        if spent.end_s > start
    ]
    silent = seconds - sum(length for _, length in pieces)
    return [*pieces, (0.0, silent)] if silent > 0 else pieces


def _mean(pieces: Sequence[tuple[float, float]]) -> float:
    return sum(rate * seconds for rate, seconds in pieces) / sum(s for _, s in pieces)


def _quantile(pieces: Sequence[tuple[float, float]], q: float) -> float:
    """The smallest rate that was not exceeded for at least a share ``q`` of the time."""
    left = q * sum(seconds for _, seconds in pieces) - 1e-6
    for rate, seconds in sorted(pieces):
        left -= seconds
        if left <= 0:
            return rate
    return max(rate for rate, _ in pieces)

"""The days before: demand at a coarse period."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from burstwatch.history.memo import Memo
from burstwatch.history.points import DemandPoint

#: The period at which the days before are asked for.
PAST_PERIOD_S = 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Past:
    """Credits per second at a coarse period, days back, from the first datapoint there is.

    ``means`` are those of three slots up to each, a quarter of an hour. ``memo`` keeps what was
    computed of all this.
    """

    start_s: float
    period_s: float
    rates: list[float]
    means: list[float]
    memo: Memo = field(default_factory=Memo, compare=False, repr=False)


def to_past(demand: Sequence[DemandPoint]) -> Past | None:
    """Demand as CloudWatch sums it up over five minutes, from the first datapoint on."""
    if not demand:
        return None
    start_s = demand[0].start_s // PAST_PERIOD_S * PAST_PERIOD_S
    return _past(start_s, _rates(demand, start_s))


def with_recent(past: Past, recent: Sequence[DemandPoint]) -> Past:
    """``past``, which may have been asked for some time ago, with what was seen since."""
    if not recent:
        return past
    # The slot in which the first datapoint lies may have been seen in part only: the one after it is the first to replace.
    first_slot = math.ceil((recent[0].start_s - past.start_s) / PAST_PERIOD_S)
    if first_slot < 0:  # the new ones reach back beyond all that is known, so they say it all
        return to_past(recent) or past
    first_s = past.start_s + first_slot * PAST_PERIOD_S
    newer = [point for point in recent if point.start_s >= first_s]
    if not newer:
        return past
    older = past.rates[:first_slot]
    silent = [0.0] * (first_slot - len(older))
    return _past(past.start_s, [*older, *silent, *_rates(newer, first_s)])


def renewed_past(past: Past | None, newest: Sequence[DemandPoint], *, back_s: float) -> Past | None:
    """``past`` with datapoints in its own period that were asked for since, of the last ``back_s`` seconds before its new end."""
    longer = to_past(newest) if past is None else with_recent(past, newest)
    if longer is None or longer is past:
        return past
    surplus = len(longer.rates) - math.ceil(back_s / PAST_PERIOD_S)
    if surplus <= 0:
        return longer
    return _past(longer.start_s + surplus * PAST_PERIOD_S, longer.rates[surplus:])


def _past(start_s: float, rates: list[float]) -> Past:
    three = zip([0.0, 0.0, *rates], [0.0, *rates], rates, strict=False)
    means = [sum(triple) / 3 for triple in three]
    return Past(start_s=start_s, period_s=PAST_PERIOD_S, rates=rates, means=means)


def _rates(demand: Sequence[DemandPoint], start_s: float) -> list[float]:
    """Mean credits per second in each slot from ``start_s`` on; 0 where there is no datapoint."""
    slots = max(1, round(demand[-1].period_s / PAST_PERIOD_S))  # that one point covers
    rates = [0.0] * (int((demand[-1].start_s - start_s) // PAST_PERIOD_S) + slots)
    share = min(1.0, demand[-1].period_s / PAST_PERIOD_S)
    for point in demand:
        begin = int((point.start_s - start_s) // PAST_PERIOD_S)
        for slot in range(begin, begin + slots):
            rates[slot] += point.nominal * share
    return rates


def drawn(rates: Sequence[float], refill: float) -> float:
    """The most that any run of ``rates`` takes beyond the refill, in rate times slots."""
    run = most = 0.0
    for rate in rates:
        run += rate - refill
        if run < 0:
            run = 0.0
        elif run > most:
            most = run
    return most

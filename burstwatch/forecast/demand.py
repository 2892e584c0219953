"""The demand to expect from here on, in credits per second."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burstwatch.history.history import History
from burstwatch.history.points import Range
from burstwatch.history.spending import INSIDE, Rates

FAST_WINDOW_S = 300.0
SLOW_WINDOW_S = 3600.0
HIGH_QUANTILE = 0.9
# At this share of the limit the demand is censored: more may be wanted than is served.
CENSORED = 0.98


@dataclass(frozen=True, kw_only=True, slots=True)
class Lately:
    """Recent demand, in credits per second.

    ``recent`` is what the last minutes asked for, or what the last two periods agree on if
    that is more: a step is seen after two periods, a single spike is not believed. Its low
    and high are the least and the most that this may have cost. ``hour_mean`` and ``hour_high``
    (its 0.9 quantile) are of the last hour. ``at_limit`` is whether the last two periods were
    served all that can be.
    """

    recent: Range
    hour_mean: float
    hour_high: float
    at_limit: bool


def expected(lately: Lately, *, burst: float) -> Range:
    """The demand to expect: served at the limit, up to the ``burst`` may be wanted."""
    likely = lately.recent.likely
    low = min(lately.recent.low, lately.hour_mean)
    high = burst if lately.at_limit else max(lately.recent.high, lately.hour_high)
    return Range(low=min(low, likely), likely=likely, high=max(high, likely))


def demand_now(history: History, *, limit: float) -> Range:
    """The demand to expect, where ``limit`` is the most that can be served."""
    bucket, end = history.bucket, history.size
    if not _is_known(history):
        # Nothing is known of the I/O. A full bucket shows that no more is spent than
        # comes in; below that it may be anything from none to a full burst.
        newest = history.newest_slot()
        is_full = newest >= 0 and history.levels[newest] >= INSIDE[1]
        return Range(low=0.0, likely=bucket.refill, high=bucket.refill if is_full else bucket.burst)
    fast, slow = history.slots(FAST_WINDOW_S), history.slots(SLOW_WINDOW_S)
    pair = slice(max(0, end - 2), end)

    def recent(rates: Rates) -> float:
        agreed = min(rates.by_slot[pair]) if end > 1 else 0.0
        return max(rates.mean(end, fast), agreed)

    most = recent(history.most)
    if end == 1 or (end == 2 and history.track.points[0] is None):  # noqa: PLR2004 - a pair
        # One slot is all that is known: no window may average it away.
        most = max(most, history.most.by_slot[end - 1])
    hour = history.likely.by_slot[max(0, end - slow) : end]
    lately = Lately(
        recent=Range(low=recent(history.least), likely=recent(history.likely), high=most),
        hour_mean=history.likely.mean(end, slow),
        hour_high=quantile(sorted(hour), slow, HIGH_QUANTILE),
        at_limit=end > 1 and min(history.likely.by_slot[pair]) >= CENSORED * limit,
    )
    return expected(lately, burst=bucket.burst)


def quantile(ordered: Sequence[float], slots: int, q: float) -> float:
    """The smallest rate that at least a share ``q`` of ``slots`` did not exceed.

    Slots that the ``ordered`` rates do not reach were before all data, and count as 0.
    """
    rank = math.ceil(q * slots - 1e-6) - 1 - (slots - len(ordered))
    return ordered[rank] if rank >= 0 else 0.0


def _is_known(history: History) -> bool:
    if history.has_demand():
        return True
    newest = history.newest_slot()
    return newest > 0 and history.cut(newest).newest_slot() >= 0

"""Defines a fix for a bucket that runs dry: its effect on the time left, and its price a month."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.formatting import number, span


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """One thing to do. ``usd_month`` is the difference in list price, None where it is not known."""

    what: str
    effect: str
    usd_month: float | None


def cheapest(fixes: Iterable[Fix], count: int = 2) -> tuple[Fix, ...]:
    """The cheapest of them; those of unknown price come last, in the order given."""
    return tuple(
        sorted(fixes, key=lambda fix: math.inf if fix.usd_month is None else fix.usd_month)
    )[:count]


def less_load(bucket: Bucket, *, level: float, demand: float, unit: str) -> Fix:
    """The fix that always helps. ``level`` in credits, ``demand`` in credits per second."""
    under = f"{number(bucket.refill)} {unit}"
    if level <= 0:
        return Fix(what="less load", effect=f"refills only under {under}", usd_month=0.0)
    half_s = tb.time_to_empty(bucket, level=level, demand=demand / 2)
    half = f"half of {number(demand)} {unit}"
    lasts = f"{half} never empties it" if math.isinf(half_s) else f"{half} lasts {span(half_s)}"
    return Fix(
        what="less load",
        effect=f"{lasts}, never dry under {under}",
        usd_month=0.0,
    )

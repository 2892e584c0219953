"""Defines a fix for a bucket that runs dry: how soon it works, its effect, and its price a month."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.formatting import number, span

#: How long a fix takes to work, the soonest first. A change of a volume takes "a few minutes to a
#: few hours", and a full 1 TiB about six hours:
#: https://docs.aws.amazon.com/ebs/latest/userguide/monitoring-volume-modifications.html (2026-11)
Takes: TypeAlias = Literal[
    "works at once",
    "is under way",
    "takes minutes, and the instance stops",
    "takes minutes to hours",
]
SOONEST_FIRST: tuple[Takes, ...] = get_args(Takes)
#: Fixes that help now, and are no change that somebody has yet to make.
FOR_NOW: frozenset[Takes] = frozenset({"works at once", "is under way"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """One thing to do. ``usd_month`` is the difference in list price, None where it is not known."""

    action: str
    effect: str
    takes: Takes
    usd_month: float | None = None

    @property
    def price(self) -> str:
        """The difference in list price in words."""
        if self.usd_month is None:
            return "price not known"
        if round(self.usd_month, 2) == 0:
            return "costs nothing"
        return f"costs {abs(self.usd_month):,.2f} USD a month {'less' if self.usd_month < 0 else 'more'}"

    @property
    def text(self) -> str:
        """The fix with its price, how soon it works and its effect."""
        return f"{self.action} ({self.price}, {self.takes}): {self.effect}"


def soonest(fixes: Iterable[Fix], count: int = 2) -> tuple[Fix, ...]:
    """The soonest to work, and of those the cheapest. An unknown price comes last."""

    def rank(fix: Fix) -> tuple[int, float]:
        return SOONEST_FIRST.index(fix.takes), math.inf if fix.usd_month is None else fix.usd_month

    return tuple(sorted(fixes, key=rank))[:count]


def less_load(bucket: Bucket, *, level: float, demand: float, unit: str) -> Fix:
    """The fix that helps every bucket: to reduce the load. ``level`` in credits, ``demand`` in credits per second."""
    under = f"under {number(bucket.refill)} {unit}"
    half_s = tb.time_to_empty(bucket, level=level, demand=demand / 2) if level > 0 else 0.0
    if level <= 0:
        effect = f"the credits refill while the load is {under}"
    elif math.isinf(half_s):
        effect = f"at half the load ({number(demand / 2)} {unit}) it never runs dry"
    else:
        half = f"at half the load ({number(demand / 2)} {unit}) the credits last {span(half_s)}"
        effect = f"{half}; {under} they do not run out"
    return Fix(action="reduce the load", effect=effect, takes="works at once", usd_month=0.0)

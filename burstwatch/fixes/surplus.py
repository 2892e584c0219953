"""What surplus CPU credits cost: AWS's rule played over a load, and what AWS has charged."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burstwatch.bucket import DAY_S, HOUR_S, Bucket
from burstwatch.fixes.prices import HOURS_A_MONTH
from burstwatch.sources import Source

MONTH_S = HOURS_A_MONTH * HOUR_S
#: What is owed when an instance stops, or leaves Unlimited mode, is charged too. That is not in the rule below.
RULE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-monitoring-cpu-credits.html",
    read="2026-11",
    note="how the balance, the surplus and what is charged follow from what is earned and spent in five minutes",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """The credits that AWS has charged for over ``lasts_s``, and their price in USD, None where it is not known."""

    credits: float
    usd: float | None
    lasts_s: float

    @property
    def usd_month(self) -> float | None:
        """The price of as many in a month; None where it is not known, or less than a day was seen."""
        if self.usd is None or self.lasts_s < DAY_S:
            return None
        return self.usd * MONTH_S / self.lasts_s


#: A day of charges, in UTC: its order is that of time.
DAY_FORMAT = "%Y-%m-%d"


@dataclass(frozen=True, kw_only=True, slots=True)
class DayCharge:
    """What AWS has charged for one resource on one ``day`` (such as 2026-11-28), for the log and the digest."""

    unit: str
    resource_id: str
    name: str
    day: str
    credits: float
    usd: float | None

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of a charge: two functions may both have read it."""
        return self.unit, self.resource_id, self.day


def charged(
    bucket: Bucket, loads: Iterable[float | None], period_s: float, first: float
) -> tuple[float, float]:
    """The surplus that AWS charges for loads in vCPUs of one period each, and what is saved at their end less what is owed.

    All are in vCPU-seconds, ``first`` is what is saved at their start less what is owed. In a period without a load
    it earns and spends nothing.
    """
    level, charge = first, 0.0
    for load in loads:
        if load is None:
            continue
        adjusted = level + (bucket.refill - load) * period_s
        charge += max(0.0, -bucket.capacity - adjusted)
        level = min(bucket.capacity, max(-bucket.capacity, adjusted))
    return charge, level


def charged_a_month(bucket: Bucket, loads: Sequence[float | None], period_s: float) -> float:
    """The surplus that AWS charges for in each month in which these loads return again and again, in vCPU-seconds.

    In the long run, all that may be owed for nothing is owed where they spend more than comes in, and all that can be
    saved is saved where they spend less. From there, one round of them leads to what each further one begins with.
    """
    known = [load for load in loads if load is not None]
    spends_more = bool(known) and math.fsum(known) > bucket.refill * len(known)
    _, level = charged(
        bucket, loads, period_s, -bucket.capacity if spends_more else bucket.capacity
    )
    charge, _ = charged(bucket, loads, period_s, level)
    return charge * MONTH_S / (len(loads) * period_s)

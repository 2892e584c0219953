"""What every source yields: resources, levels and demand, each with its time.

Times are seconds since the epoch, UTC. What was measured is a point with its
period; what could not be is ``Missing`` with the reason; what CloudWatch does not
have is no point at all. No number stands for "absent".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from burstwatch.bucket import Bucket
    from burstwatch.volumes import Binding

#: How far back a look asks at 60 s: the hour of the forecast, the hold time, late data.
LOOK_BACK_S = 2 * 3600.0

Statistic = Literal["Minimum", "Average"]
State = Literal["finite", "infinite", "exhausted", "not_applicable", "idle", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """No value, and why."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A likely value between a low and a high one."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelPoint:
    """The share of the bucket (0 to 1) that one datapoint reports for its period."""

    start_s: float
    period_s: float
    ratio: float
    statistic: Statistic = "Minimum"

    @property
    def end_s(self) -> float:
        """The end of the period."""
        return self.start_s + self.period_s


@dataclass(frozen=True, kw_only=True, slots=True)
class DemandPoint:
    """Credits per second that one period's I/O cost: least, nominal, most.

    ``binding`` names the limit that held the I/O back in this period, if one did.
    """

    start_s: float
    period_s: float
    least: float
    nominal: float
    most: float
    binding: Binding = "none"

    @property
    def end_s(self) -> float:
        """The end of the period."""
        return self.start_s + self.period_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """The fastest that a resource may spend, and what sets it."""

    rate: float
    binding: Binding


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One thing with (or without) a bucket, as its inventory describes it.

    ``bucket`` is None where there are no credits to run out of, with the reason in
    ``no_bucket_reason``. ``limit`` is the smaller of its own and its parents'
    limits. ``in_use`` says whether it can spend at all now (a detached volume
    cannot). ``history_from_s`` cuts off what belongs to an earlier size or type.
    ``facts`` are words for people: type, size, instance, device. ``caveats`` name
    what could not be learnt about it. ``detail`` is for the kind's own functions;
    nothing else looks inside.
    """

    kind: str
    id: str
    name: str
    unit: str
    bucket: Bucket | None
    no_bucket_reason: str = ""
    limit: Limit
    statistic: Statistic = "Minimum"
    in_use: bool = True
    parents: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()
    history_from_s: float | None = None
    detail: object = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A resource with what is known of its level and its demand at ``at``.

    ``levels`` and ``demand`` are in time order. ``unit_is_fresh`` says whether the
    unit's other resources have fresh data, which tells idle from blind.
    ``looked_back_s`` is how far back datapoints were asked for.
    """

    resource: Resource
    at: float
    levels: tuple[LevelPoint, ...] = ()
    demand: tuple[DemandPoint, ...] = ()
    unit_is_fresh: bool = True
    looked_back_s: float = 0.0
    missing: Missing | None = None

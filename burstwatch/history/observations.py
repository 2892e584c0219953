"""What every source yields: resources, levels and demand, each with its time.

Times are seconds since the epoch, UTC. What was measured is a point with its
period; what could not be is ``Missing`` with the reason; what CloudWatch does not
have is no point at all. No number stands for "absent".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from burstwatch.history.history import build_history

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstwatch.bucket import Bucket
    from burstwatch.ebs.volumes import Binding
    from burstwatch.history.history import History
    from burstwatch.history.past import Past
    from burstwatch.history.points import DemandPoint, LevelPoint, Statistic

State = Literal["finite", "infinite", "exhausted", "not_applicable", "idle", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """No value, and why."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """The fastest that a resource may spend, and what sets it."""

    rate: float
    binding: Binding


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One bucket (or none) of one thing, as its inventory describes it.

    ``id`` is the thing's own, and ``level_metric`` names the bucket where it has several:
    the share of it that is left, in percent. ``bucket`` is None where there are no credits to run out of, with the reason in
    ``no_bucket_reason``. ``limit`` is the smaller of its own and its parents'
    limits. ``in_use`` says whether it can spend at all now (a detached volume
    cannot). ``tags`` are its own; ``lead_s`` is the lead that they ask for.
    ``reports_when_idle`` whether its level is published even without I/O, so that silence is blindness. ``history_from_s`` cuts off what belongs to an earlier size or type.
    ``facts`` are words for people: type, size, instance, device. ``caveats`` name
    what could not be learnt about it. ``detail`` is for the kind's own functions;
    nothing else looks inside.
    """

    kind: str
    id: str
    level_metric: str = ""
    name: str
    unit: str
    bucket: Bucket | None
    no_bucket_reason: str = ""
    limit: Limit
    statistic: Statistic = "Minimum"
    in_use: bool = True
    reports_when_idle: bool = False
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    lead_s: float | None = None
    parents: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()
    history_from_s: float | None = None
    detail: object = None

    @property
    def region(self) -> str:
        """Where it is."""
        return self.unit.rpartition("/")[2]

    @property
    def can_spend(self) -> bool:
        """Whether it has credits, and something that could spend them now."""
        return self.bucket is not None and self.in_use

    @property
    def rate_unit(self) -> str:
        """What its rates are in, for people."""
        return "MiB/s" if self.facts.get("unit") == "MiB" else "IOPS"

    @property
    def key(self) -> str:
        """What tells this bucket from every other of the unit."""
        return f"{self.id}/{self.level_metric}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A resource with what is known of its levels and its demand at ``at``.

    ``unit_is_fresh`` says whether the unit's other resources have fresh data, which
    tells idle from blind. ``looked_back_s`` is how far back datapoints were asked for.
    ``missing`` is why nothing is known, where a question failed.
    """

    resource: Resource
    at: float
    history: History | None = None
    unit_is_fresh: bool = True
    looked_back_s: float = 0.0
    missing: Missing | None = None


def observe(
    resource: Resource,
    at: float,
    levels: Sequence[LevelPoint],
    demand: Sequence[DemandPoint] = (),
    *,
    past: Past | None = None,
    unit_is_fresh: bool = True,
    looked_back_s: float = 0.0,
) -> Observation:
    """An observation of datapoints in time order; those before a resize are left out."""
    cut = resource.history_from_s
    history = None
    if resource.bucket is not None:
        history = build_history(
            resource.bucket,
            [point for point in levels if cut is None or point.start_s >= cut],
            [point for point in demand if cut is None or point.start_s >= cut],
            past=past,
        )
    return Observation(
        resource=resource,
        at=at,
        history=history,
        unit_is_fresh=unit_is_fresh,
        looked_back_s=looked_back_s,
    )

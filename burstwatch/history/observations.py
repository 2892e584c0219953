"""Defines what every source yields: resources, levels and demand, each with its time.

Times are seconds since the epoch, UTC. What was measured is a point with its
period; what could not be is ``missing`` with the reason; what CloudWatch does not
have is no point at all. No number stands for "absent".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from burstwatch.bucket import Bucket
from burstwatch.history.history import History, build_history
from burstwatch.history.machine import machine_since
from burstwatch.history.past import Past
from burstwatch.history.points import COARSE_S, DemandPoint, LevelPoint, Statistic
from burstwatch.history.track import EMPTY_RATIO, starting_s

#: The lead that the chance was fitted for.
DISK_LEAD_S = 900.0

State = Literal["finite", "infinite", "exhausted", "not_applicable", "idle", "unknown"]
Verdict = Literal["ok", "watch", "warning", "critical", "exhausted", "unknown", "not_watched"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """The fastest that a resource may spend, and what sets it: a name of its kind's ``limits``."""

    rate: float
    binding: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BucketTerms:
    """The terms of a resource's bucket, as far as AWS states them.

    Where there is no bucket, one of two reasons is given: ``no_bucket_reason`` if there are no credits to run out of,
    ``not_watched`` if there are some that cannot be watched, which is never *ok*.

    ``is_documented`` is False where AWS does not publish the bucket's size: the worst case is then an estimate. Where
    ``is_sized`` is False nobody knows even what comes in, and only the balance and its slope are judged; ``has_share``
    is False where AWS counts such a balance in credits, so that nobody can say how full the bucket is.

    ``highest_verdict`` caps the verdict: what only costs money at zero never pages. ``reach`` is the most that its
    disks can ask of it, in credits a second, where they are all known. ``starts_empty`` says that it can have no
    credits when it is started, which is no incident; ``launch_ratio`` is how full it is at a start that gives it some.
    """

    no_bucket_reason: str = ""
    not_watched: str = ""
    is_documented: bool = True
    is_sized: bool = True
    has_share: bool = True
    highest_verdict: Verdict = "exhausted"
    reach: float | None = None
    starts_empty: bool = False
    launch_ratio: float = 0.0

    @property
    def is_throttled(self) -> bool:
        """True if it slows down without credits; else it costs money."""
        return self.highest_verdict == "exhausted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reporting:
    """How and since when a resource's level is published.

    ``statistic`` is what it is read with, ``published_every_s`` the shortest distance of two datapoints.
    ``reports_when_idle`` says that it is published without any demand too, so that silence is blindness.
    ``in_use`` is whether the resource can spend at all now (a detached volume cannot), and ``in_use_since_s`` since
    when it can, where that is known. ``history_from_s`` cuts off what belongs to an earlier size or type.
    """

    statistic: Statistic = "Minimum"
    published_every_s: float = 60.0
    reports_when_idle: bool = False
    in_use: bool = True
    in_use_since_s: float | None = None
    history_from_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """What people call a resource and its credits.

    ``credit_name`` is what is used up, ``spend_unit`` the unit of spending it, ``rate_unit`` that of the rates that
    people know, ``place`` where it is within the unit, ``host`` the name of what it is attached to with the device, and
    ``facts`` more of it (type, size). ``caveats`` name what could not be learned.
    """

    credit_name: str = "burst credits"
    spend_unit: str = "credits/s"
    rate_unit: str = ""
    place: str = ""
    host: str = ""
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What stands in the way of a change: in words, and empty where that does not apply.

    ``managed_by`` is who alone may change it, and ``under_way`` a change that has to end before AWS takes another.
    ``replaced_by`` is what it is made from, where it must not be stopped. ``place`` is where it is outside of its
    region's own zones, where AWS may not have every type and has other prices. ``window`` is that of its maintenance,
    and ``waiting`` names the changes that wait for it.
    """

    managed_by: str = ""
    under_way: str = ""
    replaced_by: str = ""
    place: str = ""
    window: str = ""
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One bucket (or none) of one thing, as its inventory describes it.

    ``id`` is the thing's own. Where another kind has the same things, or a thing has several parts, it has a suffix
    behind a dot: ``i-0123456789abcdef0.cpu``. An alarm is found by it. ``level_metric`` tells the buckets of one id
    apart, of which the worst is told. ``dimensions`` are the values of the kind's CloudWatch dimensions where they are
    not the thing's id alone. ``parents`` are the ids of what it is attached to.

    ``bucket`` is None where nothing can be watched; ``terms`` has the reason. ``limit`` is the smaller of its own and
    its parents' limits.

    ``tags`` and ``lead_s`` are the owner's; ``least_lead_s`` is the lead without one, where the deployment's is
    shorter. ``spec`` is its description by hand. ``detail`` belongs to the kind: only its methods read it.
    """

    kind: str
    id: str
    level_metric: str = ""
    dimensions: tuple[str, ...] = ()
    name: str
    unit: str
    parents: tuple[str, ...] = ()
    bucket: Bucket | None
    limit: Limit
    terms: BucketTerms = BucketTerms()
    reporting: Reporting = Reporting()
    words: Words = Words()
    changes: Changes = Changes()
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    lead_s: float | None = None
    least_lead_s: float = 0.0
    spec: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    detail: Any = None

    @property
    def region(self) -> str:
        """The region of its unit."""
        return self.unit.rpartition("/")[2]

    @property
    def is_slow(self) -> bool:
        """True if it empties in hours: its kind has a lead that is longer than that of disks."""
        return self.least_lead_s > DISK_LEAD_S

    @property
    def can_spend(self) -> bool:
        """True if it has credits, and something that could spend them now."""
        return self.bucket is not None and self.reporting.in_use

    @property
    def key(self) -> str:
        """The identity of this bucket within the unit."""
        return f"{self.id}/{self.level_metric}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A resource with what is known of its levels and its demand at ``at``.

    ``unit_is_fresh`` says whether the unit's other resources have fresh data, which
    tells idle from blind, and ``unit_period_s`` how far apart the unit's datapoints are, for one
    that has none. ``looked_back_s`` is how far back datapoints were asked for.
    ``missing`` is why nothing is known, where a question failed, or nothing.
    """

    resource: Resource
    at: float
    history: History | None = None
    unit_is_fresh: bool = True
    unit_period_s: float = COARSE_S
    looked_back_s: float = 0.0
    missing: str = ""


def after_first_credits(levels: Sequence[LevelPoint], resource: Resource) -> Sequence[LevelPoint]:
    """Levels without the zeros of a bucket that began empty, for as long as those are no incident."""
    started_s, bucket = resource.reporting.in_use_since_s, resource.bucket
    if not resource.terms.starts_empty or started_s is None or bucket is None:
        return levels
    until_s = started_s + starting_s(bucket)
    begin = next(
        (
            i
            for i, level in enumerate(levels)
            if level.ratio > EMPTY_RATIO or level.start_s >= until_s
        ),
        len(levels),
    )
    return levels[min(begin, max(0, len(levels) - 1)) :]


def of_machine(resource: Resource, levels: Sequence[LevelPoint], from_s: float | None) -> Resource:
    """The resource as its newest machine is: its credits may have begun later than what AWS lists of it."""
    bucket, reporting = resource.bucket, resource.reporting
    if bucket is None or not resource.terms.starts_empty:
        return resource
    since_s = machine_since(
        levels, bucket, from_s=from_s, reports_when_idle=reporting.reports_when_idle
    )
    if since_s is None or since_s <= (reporting.in_use_since_s or 0.0):
        return resource
    return replace(
        resource, reporting=replace(reporting, in_use_since_s=since_s, history_from_s=since_s)
    )


def observe(  # noqa: PLR0913 - all that a look knows
    resource: Resource,
    at: float,
    levels: Sequence[LevelPoint],
    demand: Sequence[DemandPoint] = (),
    *,
    past: Past | None = None,
    unit_is_fresh: bool = True,
    unit_period_s: float = COARSE_S,
    looked_back_s: float = 0.0,
    levels_from_s: float | None = None,
) -> Observation:
    """An observation of datapoints in time order; those before a resize, and of an earlier machine, are left out.

    ``levels_from_s`` is since when every level is known, None where that is not so.
    """
    resource = of_machine(resource, levels, levels_from_s)
    cut = resource.reporting.history_from_s
    history = None
    if resource.bucket is not None:
        history = build_history(
            resource.bucket,
            after_first_credits(
                levels if cut is None else [point for point in levels if point.start_s >= cut],
                resource,
            ),
            demand if cut is None else [point for point in demand if point.start_s >= cut],
            past=past,
            is_slow=resource.is_slow,
        )
    return Observation(
        resource=resource,
        at=at,
        history=history,
        unit_is_fresh=unit_is_fresh,
        unit_period_s=unit_period_s,
        looked_back_s=looked_back_s,
    )

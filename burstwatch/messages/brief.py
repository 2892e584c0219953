"""Collects the facts of a message about one resource. Text, chat and JSON are made from it.

Times are absolute, because an alarm is read later than it is written.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.fixes import Fix, cheapest
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import DAY, clock_time, span
from burstwatch.history.background import Background
from burstwatch.history.observations import Resource, Verdict
from burstwatch.history.points import AT_LIMIT
from burstwatch.kinds.base import Kind, Rates

NEVER = "never"


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """Everything there is to say, in short sentences without their full stops.

    ``name`` is a tag, somebody's free text, and is shown only as the rendering allows.
    A sentence that is empty does not apply. ``numbers`` are for programs; what is not
    known or never comes is absent.
    """

    resource_id: str
    kind: str
    unit: str
    name: str
    type: str
    verdict: Verdict
    outlook: str
    at_zero: str
    fixes: tuple[Fix, ...]
    prices_of: str
    cause: str
    since: str
    place: str
    data: str
    reason: str
    caveats: tuple[str, ...]
    numbers: Mapping[str, str]


def make_brief(
    resource: Resource, assessment: Assessment, kind: Kind, background: Background
) -> Brief:
    """The brief of one assessment."""
    projection = assessment.projection
    return Brief(
        resource_id=resource.id,
        kind=resource.kind,
        unit=resource.unit,
        name=resource.name,
        type=resource.facts.get("type", resource.kind),
        verdict=assessment.verdict,
        outlook=_outlook(projection),
        at_zero=kind.at_zero(resource),
        fixes=_fixes(resource, projection, kind, background.rates),
        prices_of=resource.region,
        cause=_cause(resource, projection, kind, background.rates),
        since=_since(projection, background),
        place=_place(resource),
        data=_data(projection),
        reason=assessment.reason,
        caveats=resource.caveats,
        numbers=_numbers(assessment),
    )


def _outlook(projection: Projection) -> str:
    if projection.state == "exhausted":
        return f"no burst credits left, as of {clock_time(projection.at)}"
    now = projection.at
    likely, low, high = (
        _instant(now, seconds)
        for seconds in (projection.time_to_empty_s, projection.low_s, projection.high_s)
    )
    if projection.time_to_empty_s is None or math.isinf(projection.time_to_empty_s):
        soonest = low if low != NEVER else _instant(now, projection.worst_s)
        return f"credits low, dry from {soonest} on if load returns, as of {clock_time(now)}"
    return f"dry about {likely} ({low} to {high}), as of {clock_time(now)}"


def _instant(now: float, seconds: float | None) -> str:
    """A time of day, for what is less than a day away."""
    if seconds is None or math.isinf(seconds):
        return NEVER
    return clock_time(now + seconds) if seconds < DAY else "tomorrow or later"


def _fixes(resource: Resource, projection: Projection, kind: Kind, rates: Rates) -> tuple[Fix, ...]:
    bucket, level, demand = resource.bucket, projection.level, projection.demand
    if bucket is None or level is None or demand is None:
        return ()
    # Where only the upper end of what is expected drains it, that is what must be borne;
    # what an empty bucket serves says nothing of what was asked for.
    wanted = demand.likely if demand.likely > bucket.refill else demand.high
    if projection.state == "exhausted":
        wanted = bucket.burst
    if wanted <= bucket.refill:
        return ()
    return cheapest(kind.fixes(resource, level.likely * bucket.capacity, wanted, rates))


def _cause(resource: Resource, projection: Projection, kind: Kind, rates: Rates) -> str:
    cause = kind.cause(resource, rates)
    if cause is None:
        return ""
    if projection.state == "exhausted":
        return f"{cause.text}, held to the baseline"
    held = kind.limits.get(projection.binding)
    if projection.binding == resource.limit.binding and cause.rate < AT_LIMIT * resource.limit.rate:
        held = None  # it only would be, if there were more
    return f"{cause.text}{f', held back by {held}' if held else ''}"


def _since(projection: Projection, background: Background) -> str:
    if background.since_s is None or background.since_ratio is None:
        return ""
    if projection.state == "infinite":
        return ""  # nothing drains it now
    return f"draining since {clock_time(background.since_s)}, from {background.since_ratio:.0%}"


def _place(resource: Resource) -> str:
    return f"{resource.place} in {resource.unit}" if resource.place else resource.unit


def _data(projection: Projection) -> str:
    age = projection.data_age_s
    return "" if age is None else f"newest datapoint {span(age)} old"


def _numbers(assessment: Assessment) -> dict[str, str]:
    projection = assessment.projection
    known = {
        "as_of_s": projection.at,
        "time_to_empty_s": projection.time_to_empty_s,
        "low_s": projection.low_s,
        "high_s": projection.high_s,
        "worst_s": projection.worst_s,
        "data_age_s": projection.data_age_s,
    }
    finite = {
        name: f"{value:.1f}"
        for name, value in known.items()
        if value is not None and math.isfinite(value)
    }
    return {"verdict": assessment.verdict, "state": projection.state, **finite}

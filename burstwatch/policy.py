"""Observations into an ``Assessment``: ok, watch, warning, critical, exhausted, unknown.

A pure function of (resource, history, now): hysteresis is computed from the
history at each call, and nothing has to be remembered between two of them.

The rule: somebody is woken when the worst case is near *and* the demand seen
lately would empty the bucket soon. The first alone pages for disks that nobody
uses, the second alone for every short burst. What was so bad at any time within
the last ``hold_s`` still counts, so that one incident is one page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from burstwatch.project import Projection, project
from burstwatch.words import span

if TYPE_CHECKING:
    from burstwatch.config import Config
    from burstwatch.observe import Observation

Verdict = Literal["ok", "watch", "warning", "critical", "exhausted", "unknown"]

#: Published as the metric ``Severity``. Unknown is never published: it has no number.
SEVERITY: dict[Verdict, int] = {"ok": 0, "watch": 1, "warning": 2, "critical": 3, "exhausted": 4}


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """A verdict with its reason in one sentence, and the projection behind it."""

    verdict: Verdict
    reason: str
    projection: Projection


def assess(observation: Observation, config: Config) -> Assessment:
    """What to make of one observation."""
    projection = project(observation, max_data_age_s=config.max_data_age_s)
    now = judge(projection, config)
    if now == "unknown":
        return Assessment(verdict=now, reason=projection.reason, projection=projection)
    held = _worst_lately(observation, config)
    if held is not None and SEVERITY[held] > SEVERITY[now]:
        reason = f"{projection.reason}; was {held} within the last {config.hold_s / 60:.0f} min"
        return Assessment(verdict=held, reason=reason, projection=projection)
    return Assessment(verdict=now, reason=_reason(projection), projection=projection)


def judge(projection: Projection, config: Config) -> Verdict:
    """The verdict on one projection alone, without what was before."""
    if projection.state == "unknown":
        return "unknown"
    if projection.state == "exhausted":
        return "exhausted"
    worst, soonest = projection.worst_s, projection.low_s
    if projection.state == "idle" or worst is None or soonest is None:
        return "ok"
    margin = config.margin_s
    if worst < margin and soonest < margin:
        return "critical"
    if worst < 2 * margin and soonest < 2 * margin:
        return "warning"
    return "watch" if worst < margin else "ok"


def _worst_lately(observation: Observation, config: Config) -> Verdict | None:
    """The worst verdict within the hold time, from history alone.

    Each past instant sees only what it could have seen then: datapoints as late as
    the newest one is now. What was exhausted is held as critical: it has come back.
    """
    bucket = observation.resource.bucket
    if bucket is None or not observation.levels or not bucket.can_drain:
        return None
    drain = bucket.burst - bucket.refill
    last = observation.levels[-1]
    silent_s = observation.at - last.end_s
    # Longer silence than late data can make is an end of I/O, and no lag of the past.
    lag = min(silent_s, config.max_data_age_s + last.period_s)
    since = observation.at - lag - config.hold_s
    window = [point for point in observation.levels if point.end_s > since]
    # Nothing can have been wrong while the bucket was this full: the usual case, and cheap.
    if not window or min(p.ratio for p in window) * bucket.capacity / drain > 3 * config.margin_s:
        return None
    worst: Verdict | None = None
    # The newest instant is now itself, unless the resource has fallen silent since.
    for point in window if lag < silent_s else window[:-1]:
        past = replace(
            observation,
            at=point.end_s + lag,
            levels=tuple(p for p in observation.levels if p.end_s <= point.end_s),
            demand=tuple(p for p in observation.demand if p.end_s <= point.end_s),
        )
        verdict = judge(project(past, max_data_age_s=math.inf), config)
        capped: Verdict = "critical" if verdict == "exhausted" else verdict
        if capped != "unknown" and (worst is None or SEVERITY[capped] > SEVERITY[worst]):
            worst = capped
    return worst


def _reason(projection: Projection) -> str:
    if projection.state not in {"finite", "infinite"}:
        return projection.reason
    likely = projection.time_to_empty_s
    outlook = "not dry at this rate" if likely == math.inf else f"dry in {span(likely)}"
    return (
        f"{projection.reason}; {outlook} (range {span(projection.low_s)} to "
        f"{span(projection.high_s)}, worst case {span(projection.worst_s)})"
    )

"""Observations into an ``Assessment``: ok, watch, warning, critical, exhausted, unknown, not watched.

A pure function of (resource, history, now): hysteresis and episodes are computed from
the history at each call, and nothing has to be remembered between two of them.

The rule: somebody is woken when the bucket can be empty within the margin *and* it is likely enough to run out within
two hours. For a bucket that empties in hours, the mean demand of the last two hours
decides instead: no chance is high that early. What was so bad within the last ``hold_s`` still counts. A bucket that ran
out is an incident until it is back at 20%, or at what it can earn in its look-back (or the look-back has passed,
six hours or more). The incident goes on for up to half an hour after that, or ``lead_s`` if that is longer,
while a full burst would empty the bucket within the margin: what emptied it often comes back.
"""

import math
from dataclasses import dataclass, replace

from burstwatch.config import Config
from burstwatch.forecast.chance import MODEL, Model, why_no_chance
from burstwatch.forecast.judge import (
    BACK_RATIO,
    SAFE,
    Danger,
    Judge,
    why_worst,
)
from burstwatch.forecast.margins import Margins, margins_of
from burstwatch.forecast.projection import Projection, project
from burstwatch.formatting import span
from burstwatch.history.history import History
from burstwatch.history.observations import Observation, Verdict
from burstwatch.history.track import JUMP_RATIO, starting_s

#: Published as the metric ``Severity``. Unknown is never published: it has no number. What cannot
#: be watched has one, which ends the alarms of the time before.
SEVERITY: dict[Verdict, int] = {
    "not_watched": 0,
    "ok": 0,
    "watch": 1,
    "warning": 2,
    "critical": 3,
    "exhausted": 4,
}
#: The lag of the data is rounded up to this, so that the moments of a replay judge an instant of the past alike.
LAG_STEP_S = 30.0
#: The share from which on what a machine has gathered since its start is worth a page when it is spent.
GATHERED_RATIO = 0.05
#: The verdicts for which somebody is woken.
PAGED: frozenset[Verdict] = frozenset({"critical", "exhausted"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """A verdict with its reason in one sentence, and the projection behind it.

    ``danger`` is the part of the reason that the projection does not give: why it is near, or still counts as bad.
    ``ago_s`` is how long ago it was in danger, of one that still counts as bad; 0 for one that is in danger now.
    ``history_from_s`` is since when its levels count, None where all do.
    ``chance`` is how likely it is to run out within two hours, 0 to 1: None where it is far from that, is empty, or nobody
    can say.
    """

    verdict: Verdict
    reason: str
    projection: Projection
    danger: str = ""
    ago_s: float = 0.0
    chance: float | None = None
    history_from_s: float | None = None


def not_known(reason: str, now: float) -> Assessment:
    """The assessment of a resource that could not be asked about."""
    projection = Projection(state="unknown", reason=reason, at=now)
    return Assessment(verdict="unknown", reason=reason, projection=projection)


def assess(observation: Observation, config: Config, model: Model = MODEL) -> Assessment:
    """Assess one observation."""
    resource = observation.resource
    assessment = replace(
        _assess(observation, config, model), history_from_s=resource.reporting.history_from_s
    )
    if resource.terms.starts_empty and SEVERITY.get(assessment.verdict, 0) > SEVERITY["watch"]:
        assessment = _unless_new(assessment, observation)
    if resource.terms.highest_verdict == "exhausted":
        return assessment
    return replace(assessment, verdict=_at_most(assessment.verdict, resource.terms.highest_verdict))


def _unless_new(assessment: Assessment, observation: Observation) -> Assessment:
    """Lower the verdict to a watch while a bucket that began empty has not had the time to gather credits."""
    resource, history = observation.resource, observation.history
    started_s, bucket = resource.reporting.in_use_since_s, resource.bucket
    if started_s is None or bucket is None or history is None or not history.size:
        return assessment
    if resource.terms.launch_ratio > 0 and history.first_level() >= resource.terms.launch_ratio / 2:
        return assessment  # it began with credits, and has spent them
    highest = max(filter(math.isfinite, history.levels[: history.size]), default=0.0)
    if highest >= GATHERED_RATIO and history.levels[history.size - 1] < highest - JUMP_RATIO:
        return assessment  # it has gathered some, and spends them
    age_s = observation.at - started_s
    if age_s >= starting_s(bucket) or history.track.last_recovered[history.size - 1] >= 0:
        return assessment
    why = f"started {span(age_s)} ago without credits, and still earns its first ones; {assessment.reason}"
    return replace(assessment, verdict="watch", reason=why)


def _assess(observation: Observation, config: Config, model: Model) -> Assessment:
    """Judge one observation: what is not watched, unknown or exhausted at once, anything else by its danger."""
    not_watched = observation.resource.terms.not_watched
    if not_watched:
        projection = Projection(
            state="unknown", reason=not_watched, at=observation.at, is_published=False
        )
        return Assessment(verdict="not_watched", reason=not_watched, projection=projection)
    projection = project(observation, max_data_age_s=config.max_data_age_s)
    if projection.state in {"unknown", "exhausted"}:
        verdict: Verdict = "unknown" if projection.state == "unknown" else "exhausted"
        return Assessment(verdict=verdict, reason=projection.reason, projection=projection)
    history = observation.history
    if history is None or history.newest_slot() < 0:
        return Assessment(verdict="ok", reason=projection.reason, projection=projection)
    # Longer silence than late data can make is an end of I/O, and no lag of the past.
    lag_s = _lag_s(history, projection, config)
    judge = Judge(
        history=history,
        config=config,
        margins=margins_of(observation.resource, config),
        model=model,
        lag_s=math.ceil(lag_s / LAG_STEP_S) * LAG_STEP_S,
        no_chance=why_no_chance(observation.resource),
    )
    return _judged(
        projection,
        judge,
        ended_s=history.level_age_s(projection.at) - lag_s,
        starts_empty=observation.resource.terms.starts_empty,
    )


def _judged(
    projection: Projection, judge: Judge, *, ended_s: float, starts_empty: bool
) -> Assessment:
    """Put a projection and its danger together; ``ended_s`` is for how long there has been no I/O."""
    danger = _danger(projection, judge, ended_s=ended_s, starts_empty=starts_empty)
    reason = _reason(projection)
    if danger.why:
        reason = f"{reason}; {danger.why}"
    is_open = projection.state != "idle" and judge.history.since_empty() is None
    return Assessment(
        verdict=danger.verdict,
        reason=reason,
        projection=projection,
        danger=danger.why,
        ago_s=danger.ago_s,
        chance=judge.chance_now() if is_open else None,
    )


def _at_most(verdict: Verdict, highest: Verdict) -> Verdict:
    """The verdict, no higher than a resource may have; what is not known stays so."""
    return verdict if verdict == "unknown" or SEVERITY[verdict] <= SEVERITY[highest] else highest


def _danger(projection: Projection, judge: Judge, *, ended_s: float, starts_empty: bool) -> Danger:
    """The worst of now, of what is held from before, and of an incident that is not over.

    The zeros that a bucket of a machine ``starts_empty`` with look like an incident. That is no news once it refills.
    """
    history = judge.history
    if not history.bucket.can_drain:
        return SAFE
    if judge.is_worst and _is_worst_near(projection, judge.margins):
        return Danger(verdict="critical", why=why_worst(judge.margins))
    now = SAFE if projection.state == "idle" else judge.at(history.size)
    periods_since_empty = history.since_empty()
    # Where there are no more datapoints it has refilled as far as the projection says.
    refilled = projection.level.likely if projection.state == "idle" and projection.level else 0.0
    back_at = history.track.recovered_ratio
    if periods_since_empty is not None and refilled < back_at:
        since_s = periods_since_empty * history.period_s + history.level_age_s(projection.at)
        why = f"ran out {span(since_s)} ago and is not yet back at {back_at:.0%}"
        return Danger(
            verdict="critical",
            why=why,
            ago_s=since_s if starts_empty and now.verdict != "critical" else 0.0,
        )
    if now.verdict == "critical":
        return now
    return judge.relapse(ended_s) or judge.held(now, ended_s=ended_s)


def _lag_s(history: History, projection: Projection, config: Config) -> float:
    """Seconds that the newest level lags behind the projection."""
    return min(history.level_age_s(projection.at), config.max_data_age_s + history.period_s)


def is_far(history: History, now: float, config: Config, margins: Margins) -> bool:
    """True if the bucket was so full all through the hold time that nothing can be wrong."""
    if history.newest_slot() < 0:
        return False
    bucket = history.bucket
    reach_s = margins.warning_s + history.level_age_s(now) + history.period_s
    drain = bucket.burst - bucket.refill
    lowest = min(history.levels[max(0, history.size - history.slots(config.hold_s)) : history.size])
    level_s = (lowest if history.statistic == "Minimum" else 0.0) * bucket.capacity / (drain or 1.0)
    return level_s >= reach_s and history.since_empty() is None


def _is_worst_near(projection: Projection, margins: Margins) -> bool:
    """True if the margin is reached, by a bucket that can be fuller: else a page would never end."""
    worst_s, level = projection.worst_s, projection.level
    if worst_s is None or level is None:
        return False
    return worst_s < margins.page_s and level.likely < BACK_RATIO


def _reason(projection: Projection) -> str:
    """Put the projection's times behind its reason."""
    if projection.state not in {"finite", "infinite"}:
        return projection.reason
    likely = projection.time_to_empty_s
    outlook = "not running out" if likely == math.inf else f"runs out in {span(likely)}"
    if projection.worst_s == 0:
        return f"{projection.reason}; {outlook}, if it is not empty already"
    low, high = span(projection.low_s), span(projection.high_s)
    likely_range = "" if low == high else f"range {low} to {high}, "
    return f"{projection.reason}; {outlook} ({likely_range}worst case {span(projection.worst_s)})"

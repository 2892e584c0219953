"""The fleet and the monitor in numbers, published once a sweep."""

import math
from collections.abc import Mapping

from burstwatch.aws.client.names import FOUND_HEARTBEAT_METRIC
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.history.observations import Resource

#: Data comes late by minutes. A unit with nothing newer than this is asleep.
ASLEEP_S = 3_600.0
#: The first datapoints of what was started come within so long.
YOUNG_S = 900.0


def fleet_metrics(result: Sweep) -> Mapping[str, float]:
    """The fleet in numbers, for the log's embedded metrics. Every value is finite."""
    if not result.reached:  # nothing is known of it, and 0 would be a number
        return {"UnitsFailed": 1, "Problems": len(result.problems)}
    snapshot = result.snapshot
    assessments = [assessment for _, assessment in snapshot.assessments.values()]
    # What is in maintenance must not page by way of the fleet's alarms either; but what was
    # said before its window opened is still true.
    silent = snapshot.quiet.keys() - result.announced
    verdicts = [a.verdict for r, a in snapshot.assessments.values() if r.id not in silent]
    ages = [a.projection.data_age_s for a in assessments if a.projection.state != "idle"]
    known_ages = [age for age in ages if age is not None and age < ASLEEP_S]
    times_left = [
        a.projection.left_s(a.projection.time_to_empty_s, snapshot.at) for a in assessments
    ]
    times = [seconds for seconds in times_left if seconds is not None and math.isfinite(seconds)]
    numbers: dict[str, float] = {
        "ResourcesSeen": len(assessments),
        # Not counted: a resource of which AWS publishes nothing; the log has it as "unpublished".
        # A resource that has just been started has no datapoint yet: it is unknown, and no alarm either.
        "ResourcesUnknown": sum(
            a.verdict == "unknown" and a.projection.is_published and not _is_young(r, snapshot.at)
            for r, a in snapshot.assessments.values()
        ),
        "ResourcesWarning": verdicts.count("warning"),
        "ResourcesCritical": verdicts.count("critical"),
        "ResourcesExhausted": verdicts.count("exhausted"),
        "UnitsFailed": 0 if result.completed else 1,
        "MetricsRequested": snapshot.metrics_requested,
        "MetricsRefused": snapshot.metrics_refused,
        "CallsThrottled": result.throttled,
        "Problems": len(result.problems),
    }
    not_watched = sum(assessment.verdict == "not_watched" for assessment in assessments)
    if result.is_found and result.completed:
        numbers[FOUND_HEARTBEAT_METRIC] = 1
    if not_watched:  # each metric has a price by the hour, and most fleets have none of these
        numbers["ResourcesNotWatched"] = not_watched
    if known_ages:
        numbers["DataAge"] = max(known_ages)
    if times:
        numbers["MinTimeToExhaustion"] = min(times)
    return numbers


def other_counts(snapshot: UnitSnapshot) -> Mapping[str, int]:
    """Count what is logged, but not published as a metric, which would cost money."""
    assessments = [assessment for _, assessment in snapshot.assessments.values()]
    return {
        "asked": snapshot.evaluated,
        "excluded": snapshot.excluded,
        "in_maintenance": len(snapshot.quiet),
        "unpublished": sum(
            a.verdict == "unknown" and not a.projection.is_published for a in assessments
        ),
        "not_watched": sum(a.verdict == "not_watched" for a in assessments),
    }


def _is_young(resource: Resource, now: float) -> bool:
    return (
        resource.reporting.in_use_since_s is not None
        and now - resource.reporting.in_use_since_s < YOUNG_S
    )

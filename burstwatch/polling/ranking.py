"""Ranks resources, the buckets of one, and parents by how soon they run out."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from burstwatch.forecast.policy import Assessment
from burstwatch.formatting import span
from burstwatch.history.observations import Resource, Verdict

#: Unknown comes after every verdict that must be acted on, and before all others: a bucket that
#: nobody sees must not be told by the other one, which is only a warning.
WORST_FIRST: tuple[Verdict, ...] = (
    "exhausted",
    "critical",
    "unknown",
    "warning",
    "watch",
    "not_watched",
    "ok",
)

Assessed = tuple[Resource, Assessment]


def worst_of_each(buckets: Iterable[Assessed]) -> dict[str, Assessed]:
    """By id, the bucket of each resource that is worst off: it is the one that will be felt."""
    worst: dict[str, Assessed] = {}
    for entry in buckets:
        worst_so_far = worst.setdefault(entry[0].id, entry)
        if urgency(entry) < urgency(worst_so_far):
            worst[entry[0].id] = entry
    return worst


def with_parents(assessments: Mapping[str, Assessed]) -> dict[str, Assessed]:
    """Return a copy in which each child says so where its parent runs out first.

    The child's own times and verdict stay: the parent has an alarm of its own.
    """
    with_reasons = dict(assessments)
    for key, (resource, assessment) in assessments.items():
        dry = [
            assessments[parent]
            for parent in resource.parents
            if parent in assessments
            and _left_s(assessments[parent][1]) < _left_s(assessment)
            and resource.bucket is not None
        ]
        if not dry:
            continue
        parent, parent_assessment = min(dry, key=lambda entry: _left_s(entry[1]))
        left_s = _left_s(parent_assessment)
        when = "has no credits left" if left_s == 0 else f"runs out first, in {span(left_s)}"
        reason = f"{assessment.reason}; its parent {parent.id} {when}"
        projection = assessment.projection
        if left_s == 0:
            projection = replace(projection, binding=parent.limit.binding)
        with_reasons[key] = (resource, replace(assessment, reason=reason, projection=projection))
    return with_reasons


def urgency(entry: Assessed) -> tuple[int, float, float, str]:
    """The order of resources by danger: the worst off first."""
    resource, assessment = entry
    worst_s = assessment.projection.worst_s
    return (
        WORST_FIRST.index(assessment.verdict),
        _left_s(assessment),
        math.inf if worst_s is None else worst_s,
        resource.key,
    )


def _left_s(assessment: Assessment) -> float:
    left_s = assessment.projection.time_to_empty_s
    return math.inf if left_s is None else left_s

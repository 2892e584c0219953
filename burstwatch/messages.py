"""The words that on-call reads. Times in them are absolute: an alarm is read later."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from burstwatch.words import DAY, clock_time

if TYPE_CHECKING:
    from burstwatch.observe import Resource
    from burstwatch.policy import Assessment
    from burstwatch.project import Projection

#: CloudWatch's limit for a description, in characters.
DESCRIPTION_LENGTH = 1024
NAME_LENGTH = 32
TITLE_LENGTH = 250
NEVER = "never"


def alarm_description(resource: Resource, assessment: Assessment) -> str:
    """What is happening, when it ends and what it means, most important first."""
    unit = "MiB/s" if resource.facts.get("unit") == "MiB" else "IOPS"
    kind = f"{resource.facts.get('volume_type', resource.kind)} {resource.facts.get('size_gib', '?')} GiB"
    sentences = [
        f"{label(resource)} ({kind}{_place(resource)}): {_outlook(assessment.projection)}.",
        f"At zero it falls from {resource.facts.get('burst', '?')} to {resource.facts.get('baseline', '?')} {unit}.",
        f"{_advice(resource)}.",
        f"Why: {assessment.reason}.",
        *(f"Note: {caveat}." for caveat in resource.caveats),
    ]
    return _cut(" ".join(sentences), DESCRIPTION_LENGTH)


def chat_message(resource: Resource, assessment: Assessment) -> str:
    """The event in the schema that chat clients take (custom notification 1.0), as JSON."""
    return json.dumps(
        {
            "version": "1.0",
            "source": "custom",
            "content": {
                "textType": "client-markdown",
                "title": _cut(f"{assessment.verdict}: {label(resource)}", TITLE_LENGTH),
                "description": alarm_description(resource, assessment),
                "keywords": [assessment.verdict, resource.kind],
            },
            "metadata": {
                "threadId": f"{resource.unit}/{resource.id}",
                "summary": _cut(f"{label(resource)} is {assessment.verdict}", TITLE_LENGTH),
                "eventType": "burstwatch.episode",
                "relatedResources": [resource.id],
                "additionalContext": machine_context(assessment),
            },
        },
        ensure_ascii=False,
    )


def machine_context(assessment: Assessment) -> dict[str, str]:
    """The numbers behind the words, for programs that read the message. Absent is not known."""
    projection = assessment.projection
    numbers = {
        "as_of_s": projection.at,
        "time_to_empty_s": projection.time_to_empty_s,
        "low_s": projection.low_s,
        "high_s": projection.high_s,
        "worst_s": projection.worst_s,
        "data_age_s": projection.data_age_s,
    }
    finite = {
        name: f"{value:.1f}"
        for name, value in numbers.items()
        if value is not None and math.isfinite(value)
    }
    return {"verdict": assessment.verdict, "state": projection.state, **finite}


def label(resource: Resource) -> str:
    """Name tag and id. The tag is somebody's free text: one line of printable characters."""
    name = "".join(c if c.isprintable() else " " for c in resource.name).strip()
    return f"{_cut(name, NAME_LENGTH)} {resource.id}" if name else resource.id


def _place(resource: Resource) -> str:
    instance, device = resource.facts.get("instance_id"), resource.facts.get("device")
    return f", {device or '?'} of {instance}" if instance else ""


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


def _advice(resource: Resource) -> str:
    """The first thing to do, short enough to be read on a lock screen."""
    if resource.facts.get("unit") == "MiB":
        return f"Less load or a larger {resource.facts.get('volume_type')} helps"
    return "Less load, a larger gp2 or gp3 helps"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"

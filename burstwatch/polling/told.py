"""What alarms tell of resources, and whose last look says otherwise: those are looked at anew before anything is told."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Resource, Verdict
from burstwatch.polling.ranking import WORST_FIRST
from burstwatch.polling.schedule import Schedule

#: The severity that alarms tell of a resource now, by its id; None while one of them is ending.
ToldSeverity: TypeAlias = Callable[[str], int | None]


def alarm_severity(verdict: Verdict) -> int:
    """The severity of the alarm that a verdict gets; 0 where it gets none."""
    severity = SEVERITY.get(verdict, 0)
    return min(severity, SEVERITY["critical"]) if severity >= SEVERITY["warning"] else 0


def contradicted(
    resources: Iterable[Resource], schedule: Schedule, told: ToldSeverity, now: float
) -> set[str]:
    """The ids of which an alarm tells something else than the last look at them.

    Several functions may sweep one unit in turn. Another one has seen more since, or this one has.
    All buckets of what is in danger are due together: what one of them was minutes ago lowers no alarm.
    """
    buckets: dict[str, list[Resource]] = {}
    for resource in resources:
        buckets.setdefault(resource.id, []).append(resource)
    return {
        resource_id
        for resource_id, its_buckets in buckets.items()
        if _is_contradicted(resource_id, its_buckets, schedule, told, now)
    }


def _is_contradicted(
    resource_id: str,
    buckets: Sequence[Resource],
    schedule: Schedule,
    told: ToldSeverity,
    now: float,
) -> bool:
    last_looks = [look for look in map(schedule.last_look, buckets) if look is not None]
    verdicts = {look.judgement.assessment.verdict for look in last_looks}
    worst = next((verdict for verdict in WORST_FIRST if verdict in verdicts), None)
    if worst is None or worst == "unknown":
        return False  # what is not known contradicts nothing
    severity = alarm_severity(worst)
    is_partly_due = severity > 0 and any(schedule.is_due(bucket, now) for bucket in buckets)
    return is_partly_due or told(resource_id) != severity

"""Chooses the words for what a sweep does: the text of each alarm, and the events of a look."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from burstwatch.aws.alarms.api import Alarm, id_fingerprint
from burstwatch.aws.alarms.mass import MassGroup
from burstwatch.aws.alarms.plan import AlarmPlan, empty_since
from burstwatch.aws.client.names import LISTING, LONG_EMPTY, MASS, group_of
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import Brief, of_array, unit_text
from burstwatch.messages.episode import Episode
from burstwatch.messages.message import (
    NAMED_IN_MASS,
    Event,
    Message,
    danger_message,
    listing_message,
    mass_message,
    mass_over_message,
    over_message,
)
from burstwatch.messages.shared import shared_by
from burstwatch.messages.timeline import Timeline, merge_timelines
from burstwatch.polling.ranking import urgency


def message_of_new(
    snapshot: UnitSnapshot, plan: AlarmPlan, resource_id: str, severity: Verdict, config: Config
) -> Message:
    """The message of an alarm that is made now."""
    existing = plan.alarms_of(resource_id)
    # Of an array, the volume that is worst off.
    worst_id = next(iter(_volumes_of(snapshot, plan, resource_id)), resource_id)
    is_empty = _is_empty(snapshot, worst_id)
    event: Event = "opened"
    if is_empty:
        event = "empty"
    elif existing and severity == "critical":
        event = "escalated"
    now = Timeline(
        opened_s=snapshot.at,
        paged_s=snapshot.at if severity == "critical" else None,
        empty_s=(empty_since(snapshot, worst_id) or snapshot.at) if is_empty else None,
        changing_s=snapshot.at if _is_changing(snapshot, worst_id) else None,
    )
    timeline = merge_timelines([now, *(alarm.timeline for alarm in existing)])
    group = plan.groups.get(resource_id)
    if group is not None and not group.is_array:
        return _of_group(snapshot, group, timeline, config)
    brief = brief_of(snapshot, plan, resource_id)
    if brief is None:
        return _of_listing(snapshot, resource_id, timeline, config)
    return danger_message(brief, severity, timeline, config.links, event=event)


def message_of_old(
    snapshot: UnitSnapshot, plan: AlarmPlan, alarm: Alarm, timeline: Timeline, config: Config
) -> Message:
    """The message of an alarm that is there, about what has happened since."""
    links = config.links
    group = plan.groups.get(alarm.resource_id)
    if alarm.kind == MASS and not (group and group.is_array):
        if timeline.over_s is not None:
            place, unit = _where(snapshot), str(snapshot.unit)
            return mass_over_message(place, unit, alarm.severity, timeline, links, at=snapshot.at)
        return _of_group(snapshot, plan.groups[alarm.resource_id], timeline, config)
    if alarm.kind == LISTING:
        return _of_listing(snapshot, alarm.resource_id, timeline, config)
    if timeline.over_s is not None:
        return _over(snapshot, plan, alarm.resource_id, timeline, config)
    event: Event = "opened" if timeline.empty_s is None else "empty"
    brief = brief_of(snapshot, plan, alarm.resource_id) or snapshot.brief(alarm.resource_id)
    return danger_message(brief, alarm.severity, timeline, links, event=event)


def events(
    snapshot: UnitSnapshot,
    plan: AlarmPlan,
    created: Sequence[tuple[str, Verdict]],
    rewritten: Sequence[tuple[Alarm, Timeline]],
    closed: Sequence[Episode],
    config: Config,
) -> Iterator[tuple[str, Callable[[], Message]]]:
    """Yield the messages for the subscribers of ``events`` with their severities, each once."""
    told_ids = {resource_id for resource_id, _ in created}
    told_ids |= {alarm.resource_id for key, _ in created for alarm in plan.alarms_of(key)}
    for resource_id, severity in created:
        if severity == "warning" and plan.alarms_of(resource_id):
            continue  # it is better than it was
        write = partial(message_of_new, snapshot, plan, resource_id, severity, config)
        worst_id = next(iter(_volumes_of(snapshot, plan, resource_id)), resource_id)
        yield "exhausted" if _is_empty(snapshot, worst_id) else severity, write
    for alarm, timeline in rewritten:
        siblings = plan.alarms_of(alarm.resource_id) or (alarm,)
        earlier = merge_timelines([sibling.timeline for sibling in siblings])
        is_news = earlier.empty_s is None and timeline.empty_s is not None
        if is_news and alarm.resource_id not in told_ids:
            told_ids |= {sibling.resource_id for sibling in siblings}
            yield "exhausted", partial(message_of_old, snapshot, plan, alarm, timeline, config)
    for episode in closed:
        # Of an array, the episode has the id of a volume, and its alarms that of the array.
        key = plan.ended[episode.resource_id][0].resource_id
        yield "recovered", partial(_over, snapshot, plan, key, episode.timeline, config, episode)


def _volumes_of(snapshot: UnitSnapshot, plan: AlarmPlan, key: str) -> tuple[str, ...]:
    """The ids of the volumes of an array, the worst first; none where the key is not that of an array."""
    group = plan.groups.get(key)
    if group is None or not group.is_array:
        return ()
    before = (group.alarm.members if group.alarm else None) or frozenset()
    members = group.members | before
    return tuple(
        resource.id
        for resource, _ in sorted(snapshot.assessments.values(), key=urgency)
        if id_fingerprint(resource.id) in members
    )


def brief_of(snapshot: UnitSnapshot, plan: AlarmPlan, key: str) -> Brief | None:
    """Describe what an alarm is of: a resource, or an array by its worst volume; None where it is not there."""
    volume_ids = _volumes_of(snapshot, plan, key)
    if volume_ids:
        return of_array([snapshot.brief(volume_id) for volume_id in volume_ids])
    return snapshot.brief(key) if key in snapshot.assessments else None


def _over(
    snapshot: UnitSnapshot,
    plan: AlarmPlan,
    resource_id: str,
    timeline: Timeline,
    config: Config,
    episode: Episode | None = None,
) -> Message:
    """Write the message that a resource's danger is over; the resource may be gone."""
    return over_message(
        brief_of(snapshot, plan, resource_id),
        group_of(resource_id) or resource_id,
        str(snapshot.unit),
        timeline,
        config.links,
        at=snapshot.at,
        episode=episode,
    )


def _is_empty(snapshot: UnitSnapshot, resource_id: str) -> bool:
    entry = snapshot.assessments.get(resource_id)
    return entry is not None and entry[1].verdict == "exhausted"


def _is_changing(snapshot: UnitSnapshot, resource_id: str) -> bool:
    entry = snapshot.assessments.get(resource_id)
    return entry is not None and bool(entry[0].changes.under_way)


def _of_listing(snapshot: UnitSnapshot, key: str, timeline: Timeline, config: Config) -> Message:
    """Write the message of a kind that could not be listed."""
    name = group_of(key)
    return listing_message(
        name,
        snapshot.unlisted.get(name, ""),
        str(snapshot.unit),
        timeline,
        config.links,
        at=snapshot.at,
    )


def _where(snapshot: UnitSnapshot) -> str:
    """Name what a look was at, for people."""
    unit = unit_text(str(snapshot.unit), snapshot.account_name)
    return unit if snapshot.shard.is_whole else f"{unit} (shard {snapshot.shard} of it)"


def _of_group(
    snapshot: UnitSnapshot, group: MassGroup, timeline: Timeline, config: Config
) -> Message:
    """Write the message of a mass alarm, with the first few of its resources by name."""
    return mass_message(
        [snapshot.brief(resource_id) for resource_id in group.resource_ids[:NAMED_IN_MASS]],
        len(group.resource_ids),
        shared=shared_by([snapshot.assessments[member][0] for member in group.resource_ids]),
        where=_where(snapshot),
        unit=str(snapshot.unit),
        severity=group.severity,
        is_long_empty=group.name.startswith(LONG_EMPTY),
        timeline=timeline,
        links=config.links,
        at=snapshot.at,
    )

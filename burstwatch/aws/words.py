"""Chooses the words for what a sweep does: the text of each alarm, and the events of a look."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from burstwatch.aws.alarms import Alarm
from burstwatch.aws.look import Look
from burstwatch.aws.mass import Group
from burstwatch.aws.names import LISTING, LONG_EMPTY, MASS, group_of, where
from burstwatch.aws.plan import AlarmPlan
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
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
from burstwatch.messages.timeline import Timeline, merge_timelines


def message_of_new(
    found: Look, plan: AlarmPlan, resource_id: str, severity: Verdict, config: Config
) -> Message:
    """The message of an alarm that is made now."""
    there = plan.there.get(resource_id, ())
    is_empty = _is_empty(found, resource_id)
    is_worse = bool(there) and severity == "critical"
    event: Event = "empty" if is_empty else "escalated" if is_worse else "opened"
    now = Timeline(
        opened_s=found.at,
        paged_s=found.at if severity == "critical" else None,
        empty_s=found.at if is_empty else None,
    )
    timeline = merge_timelines([now, *(alarm.timeline for alarm in there)])
    if resource_id in plan.groups:
        return _of_group(found, plan.groups[resource_id], timeline, config)
    if resource_id not in found.assessments:
        return _of_listing(found, resource_id, timeline, config)
    return danger_message(found.brief(resource_id), timeline, config.links, event=event)


def message_of_old(
    found: Look, plan: AlarmPlan, alarm: Alarm, timeline: Timeline, config: Config
) -> Message:
    """The message of an alarm that is there, about what has happened since."""
    links = config.links
    if alarm.kind == MASS:
        if timeline.over_s is not None:
            place, unit = where(found.unit, found.shard), str(found.unit)
            return mass_over_message(place, unit, alarm.severity, timeline, links, at=found.at)
        return _of_group(found, plan.groups[alarm.resource_id], timeline, config)
    if alarm.kind == LISTING:
        return _of_listing(found, alarm.resource_id, timeline, config)
    if timeline.over_s is not None:
        return _over(found, alarm.resource_id, timeline, config)
    event: Event = "opened" if timeline.empty_s is None else "empty"
    return danger_message(found.brief(alarm.resource_id), timeline, links, event=event)


def events(
    found: Look,
    plan: AlarmPlan,
    made: Sequence[tuple[str, Verdict]],
    rewritten: Sequence[tuple[Alarm, Timeline]],
    closed: Sequence[Episode],
    config: Config,
) -> Iterator[tuple[str, Callable[[], Message]]]:
    """What to tell the subscribers of ``events``, with its severity: each once."""
    told = {resource_id for resource_id, _ in made}
    for resource_id, severity in made:
        if severity == "warning" and plan.there.get(resource_id):
            continue  # it is better than it was
        write = partial(message_of_new, found, plan, resource_id, severity, config)
        yield "exhausted" if _is_empty(found, resource_id) else severity, write
    for alarm, timeline in rewritten:
        known = merge_timelines(
            [one.timeline for one in plan.there.get(alarm.resource_id, [alarm])]
        )
        is_news = known.empty_s is None and timeline.empty_s == found.at
        if is_news and alarm.resource_id not in told:
            told.add(alarm.resource_id)
            yield "exhausted", partial(message_of_old, found, plan, alarm, timeline, config)
    for episode in closed:
        yield (
            "recovered",
            partial(
                _over,
                found,
                episode.resource_id,
                episode.timeline,
                config,
                lowest_ratio=episode.lowest_ratio,
                at_zero_s=episode.at_zero_s,
            ),
        )


def _over(
    found: Look,
    resource_id: str,
    timeline: Timeline,
    config: Config,
    *,
    lowest_ratio: float | None = None,
    at_zero_s: float | None = None,
) -> Message:
    return over_message(
        found.brief(resource_id) if resource_id in found.assessments else None,
        resource_id,
        str(found.unit),
        timeline,
        config.links,
        at=found.at,
        lowest_ratio=lowest_ratio,
        at_zero_s=at_zero_s,
    )


def _is_empty(found: Look, resource_id: str) -> bool:
    entry = found.assessments.get(resource_id)
    return entry is not None and entry[1].verdict == "exhausted"


def _of_listing(found: Look, key: str, timeline: Timeline, config: Config) -> Message:
    name = group_of(key)
    return listing_message(
        name, found.unlisted.get(name, ""), str(found.unit), timeline, config.links, at=found.at
    )


def _of_group(found: Look, group: Group, timeline: Timeline, config: Config) -> Message:
    return mass_message(
        [found.brief(one) for one in group.resource_ids[:NAMED_IN_MASS]],
        len(group.resource_ids),
        where=where(found.unit, found.shard),
        unit=str(found.unit),
        severity=group.severity,
        is_long_empty=group.name.startswith(LONG_EMPTY),
        timeline=timeline,
        links=config.links,
        at=found.at,
    )

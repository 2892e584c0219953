"""Chooses the words for what a sweep does: the text of each alarm, and the events of a look."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from burstwatch.aws.alarms import Alarm
from burstwatch.aws.look import Look
from burstwatch.aws.names import MASS, where
from burstwatch.aws.plan import AlarmPlan
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
from burstwatch.messages.episode import Episode
from burstwatch.messages.message import (
    Event,
    Message,
    danger_message,
    mass_message,
    mass_over_message,
    over_message,
)
from burstwatch.messages.timeline import Timeline, merge_timelines


def message_of_new(
    found: Look, plan: AlarmPlan, resource_id: str, severity: Verdict, config: Config
) -> Message:
    """The message of an alarm that is made now."""
    if resource_id == MASS:
        return _of_mass(found, plan, severity, Timeline(opened_s=found.at), config)
    is_empty = found.assessments[resource_id][1].verdict == "exhausted"
    there = plan.there.get(resource_id, ())
    is_worse = bool(there) and severity == "critical"
    event: Event = "empty" if is_empty else "escalated" if is_worse else "opened"
    now = Timeline(
        opened_s=found.at,
        paged_s=found.at if severity == "critical" else None,
        empty_s=found.at if is_empty else None,
    )
    timeline = merge_timelines([now, *(alarm.timeline for alarm in there)])
    return danger_message(found.brief(resource_id), timeline, config.links, event=event)


def message_of_old(
    found: Look, plan: AlarmPlan, alarm: Alarm, timeline: Timeline, config: Config
) -> Message:
    """The message of an alarm that is there, about what has happened since."""
    links = config.links
    if alarm.kind == MASS:
        if timeline.over_s is not None:
            place = where(found.unit, found.shard)
            return mass_over_message(place, alarm.severity, timeline, links, at=found.at)
        return _of_mass(found, plan, alarm.severity, timeline, config)
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
        is_empty = resource_id != MASS and found.assessments[resource_id][1].verdict == "exhausted"
        write = partial(message_of_new, found, plan, resource_id, severity, config)
        yield "exhausted" if is_empty else severity, write
    for alarm, timeline in rewritten:
        known = merge_timelines(
            [one.timeline for one in plan.there.get(alarm.resource_id, [alarm])]
        )
        is_news = known.empty_s is None and timeline.empty_s == found.at
        if is_news and alarm.resource_id not in told:
            told.add(alarm.resource_id)
            yield "exhausted", partial(message_of_old, found, plan, alarm, timeline, config)
    for episode in closed:
        yield "recovered", partial(_recovered, found, episode, config)


def _recovered(found: Look, episode: Episode, config: Config) -> Message:
    timeline = Timeline(opened_s=episode.opened_s, paged_s=episode.paged_s, empty_s=episode.empty_s)
    return over_message(
        found.brief(episode.resource_id) if episode.resource_id in found.assessments else None,
        episode.resource_id,
        episode.unit,
        timeline,
        config.links,
        at=found.at,
        lowest_ratio=episode.lowest_ratio,
        at_zero_s=episode.at_zero_s,
    )


def _over(found: Look, resource_id: str, timeline: Timeline, config: Config) -> Message:
    brief = found.brief(resource_id) if resource_id in found.assessments else None
    unit = str(found.unit)
    return over_message(brief, resource_id, unit, timeline, config.links, at=found.at)


def _of_mass(
    found: Look, plan: AlarmPlan, severity: Verdict, timeline: Timeline, config: Config
) -> Message:
    return mass_message(
        [found.brief(one) for one in plan.named(severity)],
        len(plan.crowd[severity]),
        where=where(found.unit, found.shard),
        thread=f"{found.unit}/{MASS}",
        severity=severity,
        timeline=timeline,
        links=config.links,
    )

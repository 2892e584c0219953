"""Closes episodes with what CloudWatch measured in them, and reads them back from the function's log."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from burstwatch.aws.alarms.api import Alarm
from burstwatch.aws.client.names import DRILL, LISTING, MASS, group_of
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, Deadline, describe_error
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.forecast.policy import SEVERITY
from burstwatch.formatting import DAY, MINUTE
from burstwatch.history.observations import Resource
from burstwatch.history.points import MINUTES_KEPT
from burstwatch.kinds.base import Kind
from burstwatch.messages.brief import console_link
from burstwatch.messages.episode import (
    Episode,
    Measured,
    lasting_fix,
    measure_levels,
    parse_episode,
)
from burstwatch.messages.timeline import merge_timelines
from burstwatch.polling.queries import level_query

#: The message of the log line of an episode.
CLOSED = "episode closed"


def close_episode(
    clients: Clients,
    snapshot: UnitSnapshot,
    resource_id: str,
    alarms: Sequence[Alarm],
    deadline: Deadline,
) -> Episode:
    """The episode of a resource whose last alarm is over. One series of each of its buckets is asked for."""
    episode = of_alarms(alarms, unit=str(snapshot.unit), closed_s=snapshot.at)
    buckets = [resource for resource, _ in snapshot.buckets if resource.id == resource_id]
    if not buckets:
        return episode
    kind = snapshot.kinds[buckets[0].kind]
    reaches = min(SEVERITY[resource.terms.highest_verdict] for resource in buckets)
    is_gone = not kind.is_percent and any(resource.bucket is None for resource in buckets)
    if is_gone or reaches < SEVERITY[episode.severity]:
        # It has other credits now, or none, so their values say nothing of the credits that ran out.
        console = console_link(kind, buckets[0])
        return replace(episode, name=buckets[0].name, console=console)
    queries = {resource.key: level_query(kind, resource) for resource in buckets}
    answers = read_metrics(
        clients.until(deadline),
        list(queries.values()),
        start_s=max(episode.opened_s, snapshot.at - MINUTES_KEPT.value * DAY),
        end_s=snapshot.at,
        period_s=MINUTE,
        deadline=deadline,
    )
    measurements = (
        _measure(kind, resource, answers.series.get(queries[resource.key].key, ()))
        for resource in buckets
    )
    measured = [measurement for measurement in measurements if measurement]
    resource = buckets[0]
    # A sweep sees an empty bucket when its datapoint has come, minutes after it was empty; or
    # it expected one that did not come to be.
    empty = [measurement.empty_s for measurement in measured if measurement.empty_s is not None]
    if episode.empty_s is not None and (empty or len(measured) < len(buckets)):
        empty.append(episode.empty_s)
    return replace(
        episode,
        name=resource.name,
        empty_s=min(empty, default=None),
        lowest_ratio=min((measurement.lowest_ratio for measurement in measured), default=None)
        if resource.terms.has_share
        else None,
        at_zero_s=max((measurement.at_zero_s for measurement in measured), default=None),
        fix=lasting_fix(kind, resource),
        console=console_link(kind, resource),
    )


def _measure(
    kind: Kind, resource: Resource, values: Sequence[tuple[float, float]]
) -> Measured | None:
    return measure_levels([(at, kind.to_ratio(resource, value)) for at, value in values])


def open_episodes(alarms: Iterable[Alarm]) -> list[Episode]:
    """The episodes whose alarms are there now, in the order in which they began."""
    by_resource: dict[tuple[str, str, str], list[Alarm]] = {}
    for alarm in alarms:
        if alarm.is_array or alarm.kind not in {"", MASS, DRILL, LISTING}:
            # An array has an id for each severity.
            own_id = group_of(alarm.resource_id) if alarm.is_array else alarm.resource_id
            of = alarm.parts.unit, alarm.kind, own_id
            by_resource.setdefault(of, []).append(alarm)
    episodes = []
    for (unit, _, own_id), own_alarms in by_resource.items():
        episode = of_alarms(own_alarms, unit=unit, closed_s=None)
        name = own_alarms[0].parts.resource_name
        episodes.append(replace(episode, name=name, resource_id=own_id))
    return sorted(episodes, key=lambda episode: episode.opened_s)


def of_alarms(alarms: Sequence[Alarm], *, unit: str, closed_s: float | None) -> Episode:
    """Describe an episode by the alarms of its resource, at least one."""
    timeline = merge_timelines([alarm.timeline for alarm in alarms])
    # A critical alarm may be gone already: the others know that somebody was paged.
    is_critical = timeline.paged_s is not None or any(
        alarm.severity == "critical" for alarm in alarms
    )
    return Episode(
        resource_id=alarms[0].resource_id,
        name="",
        kind=alarms[0].kind,
        unit=unit,
        severity="critical" if is_critical else "warning",
        opened_s=timeline.opened_s,
        paged_s=timeline.paged_s,
        empty_s=timeline.empty_s,
        closed_s=closed_s,
        lowest_ratio=None,
        at_zero_s=None,
        fix="",
        console="",
    )


def read_episodes(clients: Clients, log_group: str, *, since_s: float) -> list[Episode]:
    """The episodes that were closed since then, in the order in which they began, each once.

    Raises:
        AwsError: if the log cannot be read.
    """
    episodes: dict[tuple[str, str, float], Episode] = {}
    for line in lines_of_log(clients, log_group, CLOSED, since_s=since_s):
        try:
            record = json.loads(line)
            episode = parse_episode(record["episode"])
        except (ValueError, KeyError, TypeError):
            continue  # another line that has these words
        episodes.setdefault(episode.key, episode)
    return sorted(episodes.values(), key=lambda episode: episode.opened_s)


def lines_of_log(clients: Clients, log_group: str, words: str, *, since_s: float) -> Iterator[str]:
    """Yield the log lines with these words since a time; raises AwsError if the log cannot be read."""
    paginator = clients("logs").get_paginator("filter_log_events")
    try:
        for page in paginator.paginate(
            logGroupName=log_group, startTime=int(since_s * 1000), filterPattern=f'"{words}"'
        ):
            for event in page["events"]:
                yield event["message"]
    except AWS_ERRORS as error:
        msg = f"log {log_group}: {describe_error(error)}"
        raise AwsError(msg) from error

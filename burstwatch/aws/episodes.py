"""Closes episodes with what CloudWatch measured in them, and reads them back from the function's log."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from burstwatch.aws.alarms import Alarm
from burstwatch.aws.look import Look
from burstwatch.aws.metrics import read_metrics
from burstwatch.aws.names import DRILL, LISTING, MASS, foreign_of, parse_alarm_name
from burstwatch.aws.session import AWS_ERRORS, AwsError, Clients, Deadline, describe_error
from burstwatch.forecast.policy import SEVERITY
from burstwatch.formatting import DAY, MINUTE
from burstwatch.history.cadence import MINUTES_KEPT
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind, from_percent
from burstwatch.messages.console import console_link
from burstwatch.messages.episode import (
    Episode,
    Measured,
    lasting_fix,
    measure_levels,
    read_record,
)
from burstwatch.messages.timeline import merge_timelines
from burstwatch.polling.queries import level_query

#: The message of the log line of an episode.
CLOSED = "episode closed"
#: CloudWatch keeps datapoints of a minute for 15 days.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html (2026-11)
KEPT_S = 15 * DAY


def close_episode(
    clients: Clients, found: Look, resource_id: str, alarms: Sequence[Alarm], deadline: Deadline
) -> Episode:
    """The episode of a resource whose last alarm is over. One series of each of its buckets is asked for."""
    episode = of_alarms(alarms, unit=str(found.unit), closed_s=found.at)
    buckets = [resource for resource, _ in found.buckets if resource.id == resource_id]
    if not buckets:
        return episode
    kind = found.kinds[buckets[0].kind]
    reaches = min(SEVERITY[one.highest_verdict] for one in buckets)
    is_gone = kind.to_ratio is not from_percent and any(one.bucket is None for one in buckets)
    if is_gone or reaches < SEVERITY[episode.severity]:
        # It has other credits now, or none: their values say nothing of what there was.
        console = console_link(kind, buckets[0])
        return replace(episode, name=buckets[0].name, console=console)
    queries = {resource.key: level_query(kind, resource) for resource in buckets}
    answers = read_metrics(
        clients.until(deadline),
        list(queries.values()),
        start_s=max(episode.opened_s, found.at - MINUTES_KEPT.value * DAY),
        end_s=found.at,
        period_s=MINUTE,
        deadline=deadline,
    )
    measured = [
        one
        for resource in buckets
        if (one := _measure(kind, resource, answers.series.get(queries[resource.key].key, ())))
    ]
    resource = buckets[0]
    # A sweep sees an empty bucket when its datapoint has come, minutes after it was empty; or
    # it expected one that did not come to be.
    empty = [one.empty_s for one in measured if one.empty_s is not None]
    if episode.empty_s is not None and (empty or len(measured) < len(buckets)):
        empty.append(episode.empty_s)
    return replace(
        episode,
        name=resource.name,
        empty_s=min(empty, default=None),
        lowest_ratio=min((one.lowest_ratio for one in measured), default=None)
        if resource.has_share
        else None,
        at_zero_s=max((one.at_zero_s for one in measured), default=None),
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
        if alarm.kind not in {"", MASS, DRILL, LISTING}:
            of = foreign_of(alarm.name), alarm.kind, alarm.resource_id
            by_resource.setdefault(of, []).append(alarm)
    found = []
    for some in by_resource.values():
        unit, name = parse_alarm_name(some[0].name)
        found.append(replace(of_alarms(some, unit=unit, closed_s=None), name=name))
    return sorted(found, key=lambda one: one.opened_s)


def of_alarms(alarms: Sequence[Alarm], *, unit: str, closed_s: float | None) -> Episode:
    """What the alarms of one resource tell, of which there is one at least."""
    timeline = merge_timelines([alarm.timeline for alarm in alarms])
    # A critical alarm may be gone already: the others know that somebody was paged.
    is_critical = timeline.paged_s is not None or any(one.severity == "critical" for one in alarms)
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
    found: dict[tuple[str, str, float], Episode] = {}
    for line in _lines(clients, log_group, since_s):
        try:
            record = json.loads(line)
            episode = read_record(record["episode"])
        except (ValueError, KeyError, TypeError):
            continue  # another line that has these words
        found.setdefault(episode.key, episode)
    return sorted(found.values(), key=lambda one: one.opened_s)


def _lines(clients: Clients, log_group: str, since_s: float) -> Iterator[str]:
    pages = clients("logs").get_paginator("filter_log_events")
    try:
        for page in pages.paginate(
            logGroupName=log_group, startTime=int(since_s * 1000), filterPattern=f'"{CLOSED}"'
        ):
            for event in page["events"]:
                yield event["message"]
    except AWS_ERRORS as error:
        msg = f"log {log_group}: {describe_error(error)}"
        raise AwsError(msg) from error

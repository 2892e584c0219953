"""Tells a kind that can no longer be listed from one that never could.

An organisation may forbid a service, and a region may not have it. Such a kind is told once and stops
no heartbeat. A kind that was listed before and cannot be listed now is blindness. Which kinds were
listed stands in the tags of the alarm on the heartbeat, so that a function that has just started knows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burstwatch.aws.alarms import ALARMS_PER_PAGE
from burstwatch.aws.look import CANNOT_BE_JUDGED, Look
from burstwatch.aws.memory import Memory
from burstwatch.aws.names import HEARTBEAT_ALARM, HEARTBEAT_METRIC, part_name
from burstwatch.aws.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.config import Config
from burstwatch.polling.unit import Problem

TAG = "burstwatch:lists-"


@dataclass(frozen=True, kw_only=True)
class _Heartbeat:
    """The alarm on the heartbeat of a part, and the kinds in its tags."""

    arn: str
    kinds: frozenset[str]


def sort_out(
    home: Clients, found: Look, config: Config, memory: Memory
) -> tuple[Look, list[Problem]]:
    """The look with the kinds that could never be listed apart, and what failed.

    Where nobody knows what could be listed before, everything is taken to be blindness.
    """
    listed = found.kinds.keys() - found.incomplete - found.blind.keys()
    heartbeat: _Heartbeat | None = None
    problems: list[Problem] = []
    if memory.listed_before is None or listed - memory.listed_before:
        try:
            heartbeat = _find_heartbeat(home, part_name(found.unit, found.shard), config)
        except AWS_ERRORS as error:
            problems.append(Problem(part="alarm on the heartbeat", error=describe_error(error)))
            return _with_problems(found), problems
        kept = heartbeat.kinds if heartbeat is not None else memory.listed_before or frozenset()
        memory.listed_before = kept | listed
        memory.has_heartbeat = heartbeat is not None
        not_kept = [] if heartbeat is None else _keep(home, heartbeat, listed - heartbeat.kinds)
        if not_kept:  # the next sweep tries it again
            memory.listed_before = kept
        problems += not_kept
    if not memory.has_heartbeat:  # a sweep without a deployment
        return _with_problems(found), problems
    before = memory.listed_before
    never = {
        name: why
        for name, why in found.blind.items()
        if name not in before and not why.startswith(CANNOT_BE_JUDGED)
    }
    if never.keys() >= found.kinds.keys():
        return _with_problems(
            found
        ), problems  # nothing at all can be listed: that is no policy on one service
    return _with_problems(
        replace(
            found,
            blind={name: why for name, why in found.blind.items() if name not in never},
            unlisted=never,
            incomplete=found.incomplete - never.keys(),
            problems=tuple(
                one for one in found.problems if not any(one.error in why for why in never.values())
            ),
        )
    ), problems


def _with_problems(found: Look) -> Look:
    """The look, in which each kind that nobody watches is a problem."""
    blind = [
        Problem(part=f"{name}: nobody watches it", error=why) for name, why in found.blind.items()
    ]
    return replace(found, problems=(*found.problems, *blind))


def _find_heartbeat(home: Clients, part: str, config: Config) -> _Heartbeat | None:
    client = home("cloudwatch")
    pages = client.get_paginator("describe_alarms").paginate(
        AlarmNamePrefix=f"burstwatch-{config.deployment}-{HEARTBEAT_ALARM}",
        PaginationConfig={"PageSize": ALARMS_PER_PAGE},
    )
    for page in pages:
        if "MetricAlarms" not in page:
            raise CutError(operation="DescribeAlarms")
        for alarm in page["MetricAlarms"]:
            dimensions = {one["Name"]: one["Value"] for one in alarm.get("Dimensions", ())}
            is_ours = dimensions == {"Deployment": config.deployment, "Unit": part}
            if alarm.get("MetricName") == HEARTBEAT_METRIC and is_ours:
                answer = client.list_tags_for_resource(ResourceARN=alarm["AlarmArn"])
                if "Tags" not in answer:
                    raise CutError(operation="ListTagsForResource")
                keys = [tag["Key"] for tag in answer["Tags"]]
                kinds = frozenset(key.removeprefix(TAG) for key in keys if key.startswith(TAG))
                return _Heartbeat(arn=alarm["AlarmArn"], kinds=kinds)
    return None


def _keep(home: Clients, heartbeat: _Heartbeat, kinds: Iterable[str]) -> list[Problem]:
    tags = [{"Key": f"{TAG}{name}", "Value": "yes"} for name in sorted(kinds)]
    if not tags:
        return []
    try:
        home("cloudwatch").tag_resource(ResourceARN=heartbeat.arn, Tags=tags)
    except AWS_ERRORS as error:
        return [Problem(part="tags of the alarm on the heartbeat", error=describe_error(error))]
    return []

"""Tells a kind that can no longer be listed from one that never could.

An organisation may forbid a service, and a region may not have it. Such a kind is told once and stops
no heartbeat. A kind that was listed before and cannot be listed now is blindness. Which kinds were
listed stands in the tags of the alarm on the heartbeat, so that a function that has just started knows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burstwatch.aws.alarms.api import ALARMS_PER_PAGE
from burstwatch.aws.client.names import HEARTBEAT_ALARM, HEARTBEAT_METRIC, part_name
from burstwatch.aws.client.session import AWS_ERRORS, Clients, CutError, describe_error
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import Blindness, UnitSnapshot
from burstwatch.config import Config
from burstwatch.shards import Problem

TAG = "burstwatch:lists-"


@dataclass(frozen=True, kw_only=True)
class _Heartbeat:
    """The alarm on the heartbeat of a part, and the kinds in its tags."""

    arn: str
    kinds: frozenset[str]


def sort_out(
    home: Clients, snapshot: UnitSnapshot, config: Config, memory: Memory
) -> tuple[UnitSnapshot, list[Problem]]:
    """The look with the kinds that could never be listed apart, and what failed.

    Where nobody knows what could be listed before, everything is taken to be blindness, and so it
    is where nothing at all can be listed: that is no policy on one service.
    """
    if memory.is_found:
        problems, never = list[Problem](), _left_out_by_data(snapshot)
    else:
        problems = _learn(home, snapshot, config, memory)
        never = _never_listed(snapshot, memory)
    blind = {kind: reason for kind, reason in snapshot.blind.items() if kind not in never}
    kind_problems = {
        kind: failures for kind, failures in snapshot.kind_problems.items() if kind not in never
    }
    for kind, reason in blind.items():
        problem = Problem(part=f"{kind}: nobody watches it", error=reason.why)
        kind_problems[kind] = (*kind_problems.get(kind, ()), problem)
    forbidden = {
        kind: reason.why
        for kind, reason in never.items()
        if memory.is_found or reason.cause == "forbidden"
    }
    sorted_out = replace(
        snapshot,
        blind=blind,
        unlisted={kind: reason.why for kind, reason in never.items() if kind not in forbidden},
        forbidden=forbidden,
        incomplete=snapshot.incomplete - never.keys(),
        kind_problems=kind_problems,
    )
    return sorted_out, problems


def _never_listed(snapshot: UnitSnapshot, memory: Memory) -> dict[str, Blindness]:
    """The kinds that cannot be listed and never could, with the reason. None where that is not known, or true of all."""
    if not memory.has_heartbeat or memory.listed_before is None:
        return {}
    never = {
        kind: reason
        for kind, reason in snapshot.blind.items()
        if kind not in memory.listed_before and reason.undone != "judged"
    }
    return {} if never.keys() >= snapshot.kinds.keys() else never


def _left_out_by_data(snapshot: UnitSnapshot) -> dict[str, Blindness]:
    """The kinds of a unit that was found which AWS itself says cannot be there: no tag says what was listed before.

    A whole region may be forbidden. Where no service at all answers it is the network, and that is blindness.
    """
    blind = snapshot.blind
    forbidden = {kind: blind[kind] for kind in blind if blind[kind].cause == "forbidden"}
    absent = {kind: blind[kind] for kind in blind if blind[kind].cause == "absent"}
    return forbidden if absent.keys() >= snapshot.kinds.keys() else forbidden | absent


def _learn(home: Clients, snapshot: UnitSnapshot, config: Config, memory: Memory) -> list[Problem]:
    """Bring what is remembered and what is written of the kinds that were listed up to date. Returns what failed."""
    listed = frozenset(snapshot.kinds.keys() - snapshot.incomplete - snapshot.blind.keys())
    if memory.listed_before is not None and listed <= memory.listed_before:
        return []
    try:
        heartbeat = _find_heartbeat(home, part_name(snapshot.unit, snapshot.shard), config)
    except AWS_ERRORS as error:
        return [Problem(part="alarm on the heartbeat", error=describe_error(error))]
    memory.has_heartbeat = heartbeat is not None
    if heartbeat is None:  # a sweep without a deployment
        memory.listed_before = listed | (memory.listed_before or frozenset())
        return []
    problems = _keep(home, heartbeat, listed - heartbeat.kinds)
    # Tags that could not be written are written at the next sweep.
    memory.listed_before = heartbeat.kinds if problems else heartbeat.kinds | listed
    return problems


def _find_heartbeat(home: Clients, part: str, config: Config) -> _Heartbeat | None:
    """Find the heartbeat's alarm of this unit, and the kinds that its tags say were listed before."""
    client = home("cloudwatch")
    pages = client.get_paginator("describe_alarms").paginate(
        AlarmNamePrefix=f"burstwatch-{config.deployment}-{HEARTBEAT_ALARM}",
        PaginationConfig={"PageSize": ALARMS_PER_PAGE},
    )
    for page in pages:
        if "MetricAlarms" not in page:
            raise CutError(operation="DescribeAlarms")
        for alarm in page["MetricAlarms"]:
            dimensions = {
                dimension["Name"]: dimension["Value"] for dimension in alarm.get("Dimensions", ())
            }
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
    """Note kinds as listed, in tags of the heartbeat's alarm."""
    tags = [{"Key": f"{TAG}{name}", "Value": "yes"} for name in sorted(kinds)]
    if not tags:
        return []
    try:
        home("cloudwatch").tag_resource(ResourceARN=heartbeat.arn, Tags=tags)
    except AWS_ERRORS as error:
        return [Problem(part="tags of the alarm on the heartbeat", error=describe_error(error))]
    return []

"""Lists what of a deployment is still there: after it was removed, nothing should be.

It only reads. What may not be read is said, and hides nothing else.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from burstwatch.aws.alarms.api import read_alarms
from burstwatch.aws.client.names import (
    DRILL_QUEUE,
    alarm_prefixes,
    foreign_name,
    stack_name,
    unit_prefixes,
)
from burstwatch.aws.client.session import AWS_ERRORS, Clients, describe_error
from burstwatch.formatting import command_line
from burstwatch.owner_tags import OWNER_TAGS
from burstwatch.shards import Problem, Unit

#: Names of the alarms of a stack, without the beginning.
HEALTH_ALARM = re.compile(
    r"(not-paged|not-heard|no-completed-sweep|volumes-unknown|stale-data|unit-failed|parts-failed|calls-throttled"
    r"|budget-reached|function-(errors|throttles|slow)|dead-letters|undelivered-(page|notice|events)|floor)(-|$)"
)
#: States of a stack that is gone.
DELETED = "DELETE_COMPLETE"
#: Stacks of the member role, as docs/accounts.md names them.
MEMBER_STACK = "burstwatch-member"
Searches: TypeAlias = dict[str, Callable[[], Iterator["Leftover"]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftover:
    """One thing that is still there: what it is, its name, the command that removes it, and whether it is an alarm that sweeps made."""

    kind: str
    name: str
    command: str
    is_of_sweeps: bool = False


def find_leftovers(
    clients: Clients, deployment: str, stack: str = "", unit: Unit | None = None
) -> tuple[list[Leftover], list[Problem]]:
    """Everything of a deployment in the region of the clients, and what could not be looked for.

    With a ``unit`` only the alarms that sweeps of it made.
    """
    stack = stack or stack_name(deployment)
    searches: Searches = {"alarms of sweeps": lambda: _alarms_of_sweeps(clients, deployment, unit)}
    if unit is None:
        searches = {
            "stacks": lambda: _stacks(clients, stack),
            **searches,
            "alarms": lambda: _alarms_of_stack(clients, deployment),
            "log groups": lambda: _log_groups(clients, stack),
        }
        if not _other_deployments(clients, stack):  # which would need them
            searches |= {
                "member role": lambda: _member_stacks(clients),
                "queues of drills": lambda: _queues(clients),
                "tags": lambda: _tags(clients),
            }
    leftovers: list[Leftover] = []
    problems: list[Problem] = []
    for part, search in searches.items():
        try:
            leftovers += search()
        except AWS_ERRORS as error:
            problems.append(Problem(part=part, error=describe_error(error)))
    return leftovers, problems


def _other_deployments(clients: Clients, stack: str) -> bool:
    """True if the stack of another deployment is here."""
    try:
        names = [name for name, _ in _live_stacks(clients)]
    except AWS_ERRORS:
        return True
    return any(
        name != stack and name.partition("-")[0] == stack_name("burstwatch") for name in names
    )


def _live_stacks(clients: Clients) -> Iterator[tuple[str, str]]:
    for page in clients("cloudformation").get_paginator("list_stacks").paginate():
        for summary in page["StackSummaries"]:
            if summary["StackStatus"] != DELETED:
                yield summary["StackName"], summary["StackStatus"]


def _member_stacks(clients: Clients) -> Iterator[Leftover]:
    """The stacks of the member role."""
    for name, state in _live_stacks(clients):
        if name == MEMBER_STACK or name.startswith(f"StackSet-{MEMBER_STACK}-"):
            command = command_line("aws", "cloudformation", "delete-stack", "--stack-name", name)
            yield Leftover(kind="stack", name=f"{name} ({state})", command=command)


def _stacks(clients: Clients, stack: str) -> Iterator[Leftover]:
    """The stack of the deployment."""
    for name, state in _live_stacks(clients):
        if name == stack:
            command = command_line("aws", "cloudformation", "delete-stack", "--stack-name", name)
            yield Leftover(kind="stack", name=f"{name} ({state})", command=command)


def _alarms_of_sweeps(clients: Clients, deployment: str, unit: Unit | None) -> Iterator[Leftover]:
    """Alarms that sweeps made, of one unit or of all."""
    prefixes = alarm_prefixes(deployment)
    words = ["burstwatch", "cleanup", "--deployment", deployment]
    if unit is not None:
        foreign = "" if unit == clients.unit() else foreign_name(unit)
        prefixes = unit_prefixes(deployment, foreign)
        words += ["--unit", str(unit)]
    for alarm in read_alarms(clients, *prefixes, deployment=deployment):
        yield Leftover(
            kind="alarm",
            name=alarm.name,
            command=command_line(*words, "--yes"),
            is_of_sweeps=True,
        )


def _alarms_of_stack(clients: Clients, deployment: str) -> Iterator[Leftover]:
    """Alarms of the stack, which it deletes itself."""
    prefix = f"burstwatch-{deployment}-"
    for page in (
        clients("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
    ):
        for alarm in page["MetricAlarms"]:
            name = alarm["AlarmName"]
            # The name of another deployment may begin with that of this one.
            if HEALTH_ALARM.match(name.removeprefix(prefix)):
                command = command_line("aws", "cloudwatch", "delete-alarms", "--alarm-names", name)
                yield Leftover(kind="alarm", name=name, command=command)


def _log_groups(clients: Clients, stack: str) -> Iterator[Leftover]:
    paginator = clients("logs").get_paginator("describe_log_groups")
    for page in paginator.paginate(logGroupNamePrefix=f"{stack}-BurstWatch"):
        for group in page["logGroups"]:
            name = group["logGroupName"]
            command = command_line("aws", "logs", "delete-log-group", "--log-group-name", name)
            yield Leftover(kind="log group", name=name, command=command)


def _queues(clients: Clients) -> Iterator[Leftover]:
    pages = clients("sqs").get_paginator("list_queues").paginate(QueueNamePrefix=DRILL_QUEUE)
    for page in pages:
        for url in page.get("QueueUrls", ()):
            command = command_line("aws", "sqs", "delete-queue", "--queue-url", url)
            yield Leftover(kind="queue", name=url, command=command)


def _tags(clients: Clients) -> Iterator[Leftover]:
    """Tags of owners, which are theirs: a snooze that nobody heeds any more is only confusing."""
    paginator = clients("resourcegroupstaggingapi").get_paginator("get_resources")
    for tag in OWNER_TAGS:
        for page in paginator.paginate(TagFilters=[{"Key": tag}]):
            for item in page["ResourceTagMappingList"]:
                arn = item["ResourceARN"]
                command = command_line(
                    "aws", "resourcegroupstaggingapi", "untag-resources",
                    "--resource-arn-list", arn, "--tag-keys", tag,
                )  # fmt: skip
                yield Leftover(kind="tag", name=f"{tag} on {arn}", command=command)

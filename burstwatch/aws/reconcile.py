"""Brings the alarms in line with the plan, in an order that is safe to interrupt."""

from dataclasses import dataclass
from typing import Any

from burstwatch.aws.alarms import (
    Alarm,
    alarm_request,
    check_topics,
    delete_alarms,
    read_alarms,
)
from burstwatch.aws.look import Look
from burstwatch.aws.names import MASS, alarm_prefix, part_name, where
from burstwatch.aws.plan import AlarmPlan, plan_alarms
from burstwatch.aws.publish import publish_events, publish_severities
from burstwatch.aws.session import AWS_ERRORS, Clients, describe_error, is_throttled
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
from burstwatch.messages.text import alarm_description, mass_description
from burstwatch.polling.unit import Problem

#: How often an alarm is tried, beside the client's own tries.
TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """The alarms that were made and deleted. ``announced`` are ids that an alarm has told of before.

    ``is_complete`` is whether every metric was acknowledged and every planned alarm is there.
    """

    created: tuple[tuple[str, Verdict], ...] = ()
    deleted: tuple[str, ...] = ()
    announced: frozenset[str]
    problems: tuple[Problem, ...]
    is_complete: bool


def list_alarms(home: Clients, found: Look, config: Config) -> list[Alarm] | Problem:
    """The alarms that a unit has, or why that is not known."""
    try:
        return read_alarms(home, f"{alarm_prefix(config.deployment)}{found.unit}/")
    except AWS_ERRORS as error:
        return Problem(part="DescribeAlarms", error=describe_error(error))


def reconcile(
    home: Clients, found: Look, there: list[Alarm] | Problem, config: Config, *, now: float
) -> Reconciled:
    """Publish the severities, then create alarms, send events and delete what is over."""
    problems = [there] if isinstance(there, Problem) else []
    alarms = None if isinstance(there, Problem) else there
    plan = plan_alarms(found, alarms or (), config, now=now)
    unpublished = publish_severities(home, found, plan, config)
    problems += unpublished
    if plan.postponed:
        reason = f"{plan.postponed} alarms wait for the next sweep; this one made as many as it may"
        problems.append(Problem(part="alarms", error=reason))
    # An alarm must find its metric: none is made while that is not acknowledged, and
    # none is made or deleted without knowing which there are.
    if alarms is None or unpublished:
        # Without the list of alarms, everything is treated as announced.
        announced = frozenset(found.assessments) if alarms is None else plan.announced
        return Reconciled(announced=announced, problems=tuple(problems), is_complete=False)
    created, failed = create_alarms(home, found, plan, config)
    problems += failed
    problems += check_topics(home, config) if created else []
    problems += publish_events(home, found, plan, created, config)
    problems += delete_alarms(home, plan.delete)
    return Reconciled(
        created=tuple(created),
        deleted=plan.delete,
        announced=plan.announced,
        problems=tuple(problems),
        is_complete=not failed,
    )


def create_alarms(
    clients: Clients, found: Look, plan: AlarmPlan, config: Config
) -> tuple[list[tuple[str, Verdict]], list[Problem]]:
    """Make the planned alarms, those of many first. Returns those made by id, and what failed.

    CloudWatch takes three a second from the whole account: what it throttles is tried again.
    """
    made: list[tuple[str, Verdict]] = []
    failed: dict[tuple[str, Verdict], Problem] = {}
    wanted = [*((MASS, one) for one in plan.mass), *plan.create]
    for _ in range(TRIES):
        throttled = []
        for resource_id, severity in wanted:
            try:
                request = _request_for(found, plan, resource_id, severity, config)
                clients("cloudwatch").put_metric_alarm(**request)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others their page
                part = f"{severity} alarm of {resource_id}"
                failed[resource_id, severity] = Problem(part=part, error=describe_error(error))
                throttled += [(resource_id, severity)] if is_throttled(error) else []
            else:
                made.append((resource_id, severity))
                failed.pop((resource_id, severity), None)
        wanted = throttled
    return made, list(failed.values())


def _request_for(
    found: Look, plan: AlarmPlan, resource_id: str, severity: Verdict, config: Config
) -> dict[str, Any]:
    if resource_id == MASS:
        subject = (MASS, part_name(found.unit, found.shard))
        briefs = [found.brief(one) for one in plan.named(severity)]
        text = mass_description(
            briefs,
            len(plan.crowd[severity]),
            where(found.unit, found.shard),
            severity,
            config.links,
        )
    else:
        subject = (found.assessments[resource_id][0].kind, resource_id)
        text = alarm_description(found.brief(resource_id), config.links)
    return alarm_request(found.unit, subject, text, severity, config)

"""Make the alarms that a plan wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burstwatch.aws.alarms import alarm_request
from burstwatch.aws.names import MASS, part_name, where
from burstwatch.aws.session import Clients, describe_error
from burstwatch.messages.text import alarm_description, mass_description
from burstwatch.polling.unit import Problem

if TYPE_CHECKING:
    from burstwatch.aws.look import Look
    from burstwatch.aws.plan import AlarmPlan
    from burstwatch.config import Config
    from burstwatch.history.observations import Verdict


def create_alarms(
    clients: Clients, found: Look, plan: AlarmPlan, config: Config
) -> tuple[list[tuple[str, Verdict]], list[Problem]]:
    """Make the planned alarms, those of many first. Returns those made by id, and what failed."""
    made, problems = [], []
    for resource_id, severity in (*((MASS, one) for one in plan.mass), *plan.create):
        try:
            request = _request_for(found, plan, resource_id, severity, config)
            clients("cloudwatch").put_metric_alarm(**request)
            made.append((resource_id, severity))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others their page
            problems.append(
                Problem(part=f"{severity} alarm of {resource_id}", error=describe_error(error))
            )
    return made, problems


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

"""The sweep as a Lambda function: settings from the environment, numbers to the log.

Invoked by a schedule for each unit, with the unit in the event. What the function
remembers between invocations only saves requests and is lost without harm.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from burstwatch.aws.alarms import NAMESPACE
from burstwatch.aws.fleet import fleet_metrics
from burstwatch.aws.session import Clients, Deadline
from burstwatch.aws.units import Units, connect, parse_unit
from burstwatch.config import config_from_env
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

#: Time kept back to publish what was found before the function is stopped.
RESERVE_S = 10.0

config = config_from_env(os.environ)
units = Units(home=Clients(os.environ["AWS_REGION"]), connect=connect)
kinds = tuple(find_kinds(config.kinds).values())
logger = Logger(service="burstwatch")
metrics = Metrics(namespace=NAMESPACE)
metrics.set_default_dimensions(Deployment=config.deployment)


@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Sweep one unit once. Raises only for an event that names none."""
    spec = parse_unit(event)
    now = time.time()
    left_s = context.get_remaining_time_in_millis() / 1000
    deadline = Deadline(time.time, at=now + left_s - RESERVE_S)
    result = units.sweep(spec, kinds, config, now=now, deadline=deadline)
    unit_name = str(result.found.unit)
    for problem in result.problems:
        logger.warning("part failed", unit=unit_name, part=problem.part, error=problem.error)
    numbers = fleet_metrics(result)
    for name, value in numbers.items():
        unit = (
            MetricUnit.Seconds if name in {"DataAge", "MinTimeToExhaustion"} else MetricUnit.Count
        )
        metrics.add_metric(name=name, unit=unit, value=value)
    logger.info(
        "swept",
        unit=unit_name,
        completed=result.completed,
        alarms_created=[f"{resource_id} {severity}" for resource_id, severity in result.created],
        alarms_deleted=result.deleted,
    )
    return {"unit": unit_name, "completed": result.completed, **numbers}

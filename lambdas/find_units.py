"""Finds the accounts and regions of an organisation as a Lambda function, and starts the sweep of each.

Invoked once in a period, with the question in the event. What the function remembers between
invocations may be lost at any time (see ``burstwatch/aws/watched/joining.py``).
"""

import os
import time
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from burstwatch.aws.alarms.unheard import Unheard, tell_unheard
from burstwatch.aws.client.names import FOUND_METRIC, NAMESPACE, NOT_HEARD
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.watched.joining import Joining, hand_over, lines_of, parse_question
from burstwatch.config import config_from_env

#: Time kept back to hand the units over, and to end.
RESERVE_S = 10.0
#: How long to wait for the name of the own account.
ACCOUNT_WITHIN_S = 20.0

config = config_from_env(os.environ)
home = Clients(os.environ["AWS_REGION"])
logger = Logger(service="burstwatch")
metrics = Metrics(namespace=NAMESPACE)
metrics.set_default_dimensions(Deployment=config.deployment)


@cache
def make_joining() -> Joining:
    """What the function remembers between invocations, of its own account.

    Raises:
        AwsError: if the account cannot be asked for; the next invocation tries again.
    """
    bounded = home.until(Deadline(time.time, at=time.time() + ACCOUNT_WITHIN_S))
    return Joining(home=home, home_account=bounded.unit().account)


@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Find the units, send each to the queue, and tell who has not let us in. Returns the numbers.

    Raises for an event that is not as allowed, and where the account of the function cannot be asked for.
    """
    now = time.time()
    metrics.set_timestamp(int(now * 1000))
    question = parse_question(event["find"])
    left_s = context.get_remaining_time_in_millis() / 1000 - RESERVE_S
    clients = home.until(Deadline(time.time, at=now + left_s))
    joining = make_joining()
    joining.home = clients
    units = joining.find(question, config, now=now)
    problems = [
        *units.problems,
        *hand_over(home, str(event["queue_url"]), units.specs),
    ]
    unheard = Unheard()
    unheard.lines[NOT_HEARD] |= lines_of(units)
    problems += tell_unheard(home, unheard, config, now=now)
    for problem in problems:
        logger.warning("part failed", part=problem.part, error=problem.error)
    numbers = {"Problems": len(problems)}
    # Where the accounts were never listed nobody knows how many there are: no number is what pages then.
    if units.is_whole:
        numbers[FOUND_METRIC] = len(units.specs)
    for name, value in numbers.items():
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
    logger.info(
        "found", accounts=len(units.names), not_joined=sorted(units.not_joined), numbers=numbers
    )
    return {**numbers, "not_joined": sorted(units.not_joined)}

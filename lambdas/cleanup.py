"""Begins and ends what sweeps leave outside the stack: a CloudFormation custom resource.

At its end the alarms that sweeps made are deleted. At its beginning, and that of a unit that is
added later, the heartbeat is published for the periods that the alarm on it looks at: what was
deployed a minute ago is not yet silent.

CloudFormation waits for an answer at a URL that it sends along, and hangs for an
hour without one: so every path ends in an answer.
"""

import json
import os
import time
import urllib.request
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from burstwatch.aws.alarms.api import delete_alarms, read_alarms
from burstwatch.aws.alarms.publish import DATA_PER_CALL
from burstwatch.aws.client.names import (
    FOUND,
    FOUND_HEARTBEAT_METRIC,
    FOUND_METRIC,
    HEARTBEAT_METRIC,
    NAMESPACE,
    alarm_prefixes,
    deployment_dimensions,
    part_dimensions,
)
from burstwatch.aws.client.session import Clients
from burstwatch.config import config_from_env

#: The alarm on the heartbeats of all units that are found looks at so many times as many periods.
FOUND_WINDOWS = 2
logger = Logger(service="burstwatch-cleanup")


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Answer CloudFormation, when what it asks for is done or has failed."""
    reason = ""
    try:
        deployment, properties = config_from_env(os.environ).deployment, event["ResourceProperties"]
        if event["RequestType"] == "Delete":
            # The rule is gone by now, but the sweep it started last may still make an alarm.
            problems = delete_all(deployment) or _again(
                deployment, float(properties["SettleSeconds"])
            )
            reason = "; ".join(f"{problem.part}: {problem.error}" for problem in problems)
        else:
            old = event.get("OldResourceProperties", {})
            # A deployment of another name has no heartbeats yet. In shorter periods those that there are would be too far apart.
            is_same = all(
                old.get(key) == properties.get(key) for key in ("Deployment", "PeriodSeconds")
            )
            before = old.get("Units", []) if is_same else []
            new = {*properties["Units"]} - {*before}
            begin(deployment, new, float(properties["PeriodSeconds"]), int(properties["Periods"]))
    except Exception as error:
        logger.exception("failed", request=event["RequestType"])
        reason = f"{type(error).__name__}: {error}"
    answer_cloudformation(event, context, reason)


def begin(deployment: str, units: Iterable[str], period_s: float, periods: int) -> None:
    """Publish the heartbeat of these units for the periods that the alarm on it looks at."""
    now = time.time()
    data = []
    for unit in sorted(units):
        count = FOUND_WINDOWS * periods if unit == FOUND else periods
        times = [datetime.fromtimestamp(now - back * period_s, tz=UTC) for back in range(count)]
        for heartbeat in _heartbeats(deployment, unit):
            data += [{**heartbeat, "Timestamp": at} for at in times]
    cloudwatch = Clients(os.environ["AWS_REGION"])("cloudwatch")
    for start in range(0, len(data), DATA_PER_CALL):
        cloudwatch.put_metric_data(
            Namespace=NAMESPACE, MetricData=data[start : start + DATA_PER_CALL]
        )
    logger.info("begun", units=sorted(units))


def _heartbeats(deployment: str, unit: str) -> Iterator[dict[str, Any]]:
    """The first datapoint of each metric about a unit, without its time. Of what is found one counts as completed, until the first search."""
    if unit == FOUND:
        dimensions = deployment_dimensions(deployment)
        for metric in (FOUND_METRIC, FOUND_HEARTBEAT_METRIC):
            yield {"MetricName": metric, "Dimensions": dimensions, "Value": 1.0}
    else:
        dimensions = part_dimensions(deployment, unit)
        yield {"MetricName": HEARTBEAT_METRIC, "Dimensions": dimensions, "Value": 1.0}


def delete_all(deployment: str) -> list[Any]:
    """Delete every alarm that sweeps of a deployment have made. Returns what failed."""
    clients = Clients(os.environ["AWS_REGION"])
    prefixes = alarm_prefixes(deployment)
    alarms = read_alarms(clients, *prefixes, deployment=deployment)
    logger.info("deleting", alarms=[alarm.name for alarm in alarms])
    return list(delete_alarms(clients, [alarm.name for alarm in alarms]))


def _again(deployment: str, settle_s: float) -> list[Any]:
    time.sleep(settle_s)
    return delete_all(deployment)


def answer_cloudformation(event: dict[str, Any], context: LambdaContext, reason: str) -> None:
    """Tell CloudFormation how it went."""
    body = {
        "Status": "FAILED" if reason else "SUCCESS",
        "Reason": reason or f"see log stream {context.log_stream_name}",
        "PhysicalResourceId": event.get("PhysicalResourceId", "burstwatch-alarms"),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
    }
    request = urllib.request.Request(  # noqa: S310 - CloudFormation's own https URL
        event["ResponseURL"],
        data=json.dumps(body).encode(),
        method="PUT",
        headers={"Content-Type": ""},
    )
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310
        pass

"""Deletes the sweep's alarms when the stack is deleted: a CloudFormation custom resource.

CloudFormation waits for an answer at a URL that it sends along, and hangs for an
hour without one: so every path ends in an answer.
"""

import json
import os
import time
import urllib.request
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from burstwatch.aws.alarms import delete_alarms, read_alarms
from burstwatch.aws.names import alarm_prefix
from burstwatch.aws.session import Clients
from burstwatch.config import config_from_env

logger = Logger(service="burstwatch-cleanup")


def handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Answer CloudFormation; on Delete, delete the alarms first."""
    reason = ""
    if event["RequestType"] == "Delete":
        try:
            # The rule is gone by now, but the sweep it started last may still make an alarm.
            prefix = alarm_prefix(config_from_env(os.environ).deployment)
            settle_s = float(event["ResourceProperties"]["SettleSeconds"])
            problems = delete_all(prefix) or _again(prefix, settle_s)
            reason = "; ".join(f"{problem.part}: {problem.error}" for problem in problems)
        except Exception as error:
            logger.exception("cleanup failed")
            reason = f"{type(error).__name__}: {error}"
    answer(event, context, reason)


def delete_all(prefix: str) -> list[Any]:
    """Delete every alarm whose name begins with ``prefix``. Returns what failed."""
    clients = Clients(os.environ["AWS_REGION"])
    alarms = read_alarms(clients, prefix)
    logger.info("deleting", alarms=[alarm.name for alarm in alarms])
    return list(delete_alarms(clients, [alarm.name for alarm in alarms]))


def _again(prefix: str, settle_s: float) -> list[Any]:
    time.sleep(settle_s)
    return delete_all(prefix)


def answer(event: dict[str, Any], context: LambdaContext, reason: str) -> None:
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

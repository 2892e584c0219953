"""Calls a deployed function, also as one that remembers nothing."""

import json
import time
from typing import Any

import boto3
from botocore.config import Config as BotoConfig

from burstwatch.aws.client.session import Clients

TIMEOUT_S = 120


def invoke(clients: Clients, function: str, event: dict[str, Any]) -> Any:
    """Wait for the answer of one call, which is made once, however long it takes."""
    patient = boto3.client(
        "lambda",
        region_name=clients.region,
        endpoint_url=clients("lambda").meta.endpoint_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=BotoConfig(read_timeout=TIMEOUT_S, retries={"total_max_attempts": 1}),
    )
    reply = patient.invoke(FunctionName=function, Payload=json.dumps(event))
    return json.loads(reply["Payload"].read())


def start_anew(clients: Clients, function: str) -> None:
    """Let the next call be the first of a new process: a sweep then asks for everything."""
    functions = clients("lambda")
    settings = functions.get_function_configuration(FunctionName=function)["Environment"]
    functions.update_function_configuration(
        FunctionName=function,
        Environment={"Variables": {**settings["Variables"], "STARTED": str(time.time())}},
    )
    functions.get_waiter("function_updated_v2").wait(
        FunctionName=function, WaiterConfig={"Delay": 1}
    )

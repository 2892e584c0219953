"""Waiting for what an emulator does, however busy the machine is, and calls of a deployed function."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeVar

import boto3
from botocore.config import Config as BotoConfig

from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud

#: Nothing that goes on stands still for so long, on a machine as busy as it likes.
STANDSTILL_S = 1_200.0
EVERY_S = 0.5
Seen = TypeVar("Seen")


class NotSeenError(AssertionError):
    """What was waited for has not come; the message names it."""


def until(
    what: str,
    look: Callable[[], Seen],
    *,
    failure: Callable[[], str] = lambda: "",
    progress: Callable[[], object] = lambda: None,
) -> Seen:
    """Wait for the first thing that ``look`` gives that is true.

    Raises:
        NotSeenError: as soon as ``failure`` gives a reason, or when ``progress`` has given the same for twenty minutes.
    """
    last, since = progress(), time.monotonic()
    while not (seen := look()):
        reason = failure()
        if reason:
            msg = f"{what}: {reason}"
            raise NotSeenError(msg)
        now = progress()
        if now != last:
            last, since = now, time.monotonic()
        if time.monotonic() - since > STANDSTILL_S:
            msg = f"{what}: nothing has changed for 20 minutes since {last!r}"
            raise NotSeenError(msg)
        time.sleep(EVERY_S)
    return seen


def clients_of(cloud: LocalCloud, region: str, account: str = "test") -> Clients:
    """Clients of an account of the emulator, whose number is its access key."""
    credentials = {"aws_access_key_id": account, "aws_secret_access_key": "test"}
    return Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)


def invoke(clients: Clients, function: str, event: dict[str, Any]) -> Any:
    """Wait for the answer of one call, which is made once, however long it takes."""
    patient = boto3.client(
        "lambda",
        region_name=clients.region,
        endpoint_url=clients("lambda").meta.endpoint_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=BotoConfig(read_timeout=STANDSTILL_S, retries={"total_max_attempts": 1}),
    )
    reply = patient.invoke(FunctionName=function, Payload=json.dumps(event))
    return json.loads(reply["Payload"].read())


def start_anew(clients: Clients, function: str) -> None:
    """Let the next call be the first of a new process: a sweep then asks for everything."""
    functions = clients("lambda")

    def configuration() -> dict[str, Any]:
        found: dict[str, Any] = functions.get_function_configuration(FunctionName=function)
        return found

    settings = configuration()["Environment"]
    functions.update_function_configuration(
        FunctionName=function,
        Environment={"Variables": {**settings["Variables"], "STARTED": str(time.time())}},
    )
    until(
        f"the update of {function}",
        lambda: configuration()["LastUpdateStatus"] == "Successful",
        failure=lambda: "it failed" if configuration()["LastUpdateStatus"] == "Failed" else "",
    )


def silence(clients: Clients, rule: str) -> None:
    """Take the targets of a rule away: LocalStack fires a rule that is disabled."""
    events = clients("events")
    targets = events.list_targets_by_rule(Rule=rule)["Targets"]
    events.remove_targets(Rule=rule, Ids=[target["Id"] for target in targets])


def make_stack(
    clients: Clients, name: str, template: str, parameters: dict[str, str], capabilities: list[str]
) -> dict[str, str]:
    """Make a stack and wait until it is there. Returns its outputs."""
    stacks = clients("cloudformation")
    stacks.create_stack(
        StackName=name,
        TemplateBody=template,
        Capabilities=capabilities,
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    )

    def now() -> dict[str, Any]:
        (stack,) = stacks.describe_stacks(StackName=name)["Stacks"]
        return dict(stack)

    def failure() -> str:
        events = stacks.describe_stack_events(StackName=name)["StackEvents"]
        failed = [event for event in events if "FAILED" in event["ResourceStatus"]]
        return json.dumps(failed, default=str) if failed else ""

    until(
        f"the stack {name}",
        lambda: now()["StackStatus"] == "CREATE_COMPLETE",
        failure=failure,
        progress=lambda: len(stacks.describe_stack_events(StackName=name)["StackEvents"]),
    )
    return {output["OutputKey"]: output["OutputValue"] for output in now().get("Outputs", ())}

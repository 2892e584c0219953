"""Finds what a deployment made, by the outputs of its stack."""

from dataclasses import dataclass

from botocore.exceptions import ClientError

from burstwatch.aws.client.names import DRILL_QUEUE, stack_name
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error

_SWEEPS = "SweepFunctionName"
_RULES = "RuleName"


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The stack of a deployment and its outputs, by the name that CDK gave them."""

    name: str
    stack: str
    outputs: dict[str, str]

    @property
    def functions(self) -> list[str]:
        """The names of the functions that sweep."""
        return [value for _, value in sorted(self._named(_SWEEPS))]

    @property
    def function(self) -> str:
        """One of the functions that sweep: all of them have the same rights and settings.

        Raises:
            AwsError: if there is none.
        """
        return self.output(_SWEEPS)

    @property
    def rules(self) -> list[str]:
        """The names of the rules that start those functions."""
        return [value for _, value in sorted(self._named(_RULES))]

    def output(self, name: str) -> str:
        """The value of the output whose key contains a name; the first by key where there are several.

        Raises:
            AwsError: if there is none: the stack is none of burstwatch, or older than the command.
        """
        values = [value for _, value in sorted(self._named(name))]
        if not values:
            msg = f"stack {self.stack!r} has no output {name}"
            raise AwsError(msg)
        return values[0]

    def _named(self, name: str) -> list[tuple[str, str]]:
        return [(key, value) for key, value in self.outputs.items() if name in key]


def find_deployment(clients: Clients, name: str, stack: str = "") -> Deployment:
    """The deployment with a name, in the region of the clients. ``stack`` is its stack where that has a name of its own.

    Raises:
        AwsError: naming the stack that is not there.
    """
    stack = stack or stack_name(name)
    try:
        (description,) = clients("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except AWS_ERRORS as error:
        # CloudFormation has no error code of its own for a stack that is not there.
        is_missing = isinstance(error, ClientError) and "does not exist" in str(error)
        wrong = "was not found" if is_missing else "could not be read"
        hint = "; name another by --stack" if is_missing else ""
        msg = f"stack {stack!r} in {clients.region} {wrong}: {describe_error(error)}{hint}"
        raise AwsError(msg) from error
    outputs = {
        output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", ())
    }
    return Deployment(name=name, stack=stack, outputs=outputs)


def count_subscribers(clients: Clients, topic: str) -> tuple[int, int]:
    """How many subscriptions of a topic are confirmed, and how many wait for that. A drill's own do not count."""
    paginator = clients("sns").get_paginator("list_subscriptions_by_topic")
    arns = [
        subscription["SubscriptionArn"]
        for page in paginator.paginate(TopicArn=topic)
        for subscription in page["Subscriptions"]
        if DRILL_QUEUE not in subscription["Endpoint"]
    ]
    # A cancelled subscription is listed for some days, as "Deleted".
    return sum(arn.startswith("arn:") for arn in arns), arns.count("PendingConfirmation")


def read_settings(clients: Clients, name: str, stack: str = "") -> dict[str, str]:
    """The settings of a deployment, as the environment of its function has them.

    Raises:
        AwsError: if there is no such deployment, or its function cannot be read.
    """
    function = find_deployment(clients, name, stack).function
    try:
        described = clients("lambda").get_function_configuration(FunctionName=function)
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    variables: dict[str, str] = described.get("Environment", {}).get("Variables", {})
    return variables

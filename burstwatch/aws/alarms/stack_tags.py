"""Gives what the sweep makes the tags of its stack: an organisation's policy on tags counts every resource.

CloudFormation puts the tags of the stack on each alarm of it. One of these is read when an alarm is made,
so tags that are given at deployment (``cdk deploy --tags``) count as well as those of the template.
"""

from typing import Any

from burstwatch.aws.alarms.api import MOST_TAGS, read_tags
from burstwatch.aws.client.names import NOT_PAGED, standby_arn
from burstwatch.aws.client.session import AWS_ERRORS, Clients, describe_error, is_throttled
from burstwatch.config import Config
from burstwatch.shards import Problem

#: AWS's error for an alarm that is not there.
GONE = "ResourceNotFound"
#: Tags that AWS itself sets, and those in which we keep what we know.
NOT_COPIED = ("aws:", "burstwatch:")
#: An alarm takes fifty tags, of which one that stands for many needs most for whom it stands for.
MOST_COPIED, MOST_COPIED_OF_MANY = 50, 50 - MOST_TAGS


def read_stack_tags(clients: Clients, config: Config) -> tuple[list[dict[str, str]], list[Problem]]:
    """The tags of the stack as CloudWatch takes them, and what failed. Without a stack there are none."""
    arn = standby_arn(config, NOT_PAGED)
    if not arn:
        return [], []
    try:
        tags = read_tags(clients, arn)
    except AWS_ERRORS as error:
        if GONE in describe_error(error):  # a stack of an earlier version, or none
            return [], []
        return [], [Problem(part="tags of the stack", error=describe_error(error))]
    copied = {key: value for key, value in sorted(tags.items()) if not key.startswith(NOT_COPIED)}
    pairs = [{"Key": key, "Value": value} for key, value in copied.items()]
    return pairs[:MOST_COPIED], []


def put_tagged(
    clients: Clients, request: dict[str, Any], tags: list[dict[str, str]]
) -> list[Problem]:
    """Make an alarm with the tags of the stack, or without where AWS refuses those. Returns why it has none.

    Raises:
        one of AWS_ERRORS: if it cannot be made at all.
    """
    cloudwatch = clients("cloudwatch")
    try:
        cloudwatch.put_metric_alarm(**request, **({"Tags": tags} if tags else {}))
    except AWS_ERRORS as error:
        if not tags or is_throttled(error):
            raise
        # A page must not wait for tags.
        cloudwatch.put_metric_alarm(**request)
        return [Problem(part="tags of new alarms", error=describe_error(error))]
    return []

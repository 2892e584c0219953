"""Print the digest of the last seven days: episodes, false pages, near misses, cost, and what would help.

Deployed with `-c digest=true`, a function sends the same text to the SNS topic *notice* once a week.
Needs logs:FilterLogEvents, cloudformation:DescribeStacks and cloudwatch:GetMetricData.
"""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.account import add_deployment_arguments, deployed_config, make_clients
from burstwatch.cli.main import Terminal
from burstwatch.messages.text import email

GROUP = "deployment"


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment."""
    add_deployment_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Gather and print it."""
    config = deployed_config(args, terminal.env)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms.digest import make_digest  # noqa: PLC0415
    from burstwatch.aws.client.deployment import find_deployment  # noqa: PLC0415 - boto3 is an extra

    log_group = find_deployment(clients, config.deployment, args.stack).output("LogGroupName")
    message = make_digest(clients, log_group, config, now=terminal.clock())
    print(email(message), file=terminal.stdout, end="")
    return 0

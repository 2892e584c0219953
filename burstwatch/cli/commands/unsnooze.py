"""End the snooze of one resource: new alarms are made for it again.

Needs ec2:DeleteTags, or rds:RemoveTagsFromResource for a database.
"""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.account import add_account_arguments, make_clients
from burstwatch.cli.main import Terminal
from burstwatch.kinds import find_kinds
from burstwatch.owner_tags import SNOOZE_TAG

GROUP = "silence"
EXAMPLE = "burstwatch unsnooze vol-0123456789abcdef0"


def add_arguments(parser: ArgumentParser) -> None:
    """Which resource."""
    parser.add_argument(
        "resource", metavar="ID", help="such as vol-..., i-..., fs-..., or the name of a resource"
    )
    add_account_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Take the tag away."""
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.inventory.inventory import find_thing, remove_tag  # noqa: PLC0415 - boto3 takes long to import

    kind, thing = find_thing(clients, list(find_kinds().values()), args.resource)
    if SNOOZE_TAG not in thing.tags:
        terminal.say(f"{thing.id} is not snoozed")
        return 0
    remove_tag(clients, kind, thing, SNOOZE_TAG)
    terminal.say(f"{thing.id} is no longer snoozed")
    return 0

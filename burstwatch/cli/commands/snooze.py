"""Silence one resource for a while, by a tag on it that every sweep and every colleague sees.

No new alarm is made for it until the snooze ends. An existing alarm stays until it
resolves: acknowledge it in your pager. Needs the permission to tag the resource, such as
ec2:CreateTags or rds:AddTagsToResource.
"""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.account import add_account_arguments, make_clients, parse_duration
from burstwatch.cli.main import Terminal
from burstwatch.formatting import InputError, clock_time, inert, span
from burstwatch.kinds import find_kinds
from burstwatch.owner_tags import REASON_ALLOWED, SNOOZE_TAG, Snooze, parse_snooze

GROUP = "silence"
EXAMPLE = "burstwatch snooze vol-0123456789abcdef0 4h --reason 'a restore'"


def add_arguments(parser: ArgumentParser) -> None:
    """Which resource, for how long, and why."""
    parser.add_argument(
        "resource", metavar="ID", help="such as vol-..., i-..., fs-..., or the name of a resource"
    )
    parser.add_argument(
        "duration", metavar="DURATION", help="such as 30m, 4h or 2d; from 15m to 30d"
    )
    parser.add_argument("--reason", required=True, help="the reason, for your colleagues")
    add_account_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Put the tag on it, and say until when."""
    now = terminal.clock()
    snooze = Snooze(
        until_s=now + parse_duration("duration", args.duration, low="15m", high="30d"),
        reason=args.reason.strip(),
    )
    try:
        if not snooze.reason:
            raise ValueError  # noqa: TRY301 - one message for both
        parse_snooze(snooze.value)
    except ValueError:
        msg = f"is {args.reason!r}; allowed: {REASON_ALLOWED}"
        raise InputError(msg, name="reason") from None
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.inventory.inventory import find_thing, put_tag  # noqa: PLC0415
    from burstwatch.aws.look.memory import INVENTORY_S  # noqa: PLC0415 - boto3 takes long to import

    kind, thing = find_thing(clients, list(find_kinds().values()), args.resource)
    put_tag(clients, kind, thing, SNOOZE_TAG, snooze.value)
    name = f"{inert(thing.name)} {thing.id}" if thing.name else thing.id
    until = clock_time(snooze.until_s, now=now)
    text = f"{name} is snoozed until {until}. Sweeps see it after at most {span(INVENTORY_S)}, or at the next sweep if that is later."
    terminal.say(text)
    return 0

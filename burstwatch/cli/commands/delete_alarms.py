"""Delete the alarms that sweeps of a deployment have made: first lists them, then asks.

The pager gets no OK for a deleted alarm. While sweeps go on they make the alarms anew, which pages each
open incident a second time and loses its history. So this is for a deployment or a unit that is no
longer watched; `npx cdk destroy` does it by itself. Needs cloudwatch:DescribeAlarms, cloudwatch:DeleteAlarms
and cloudwatch:GetMetricData.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from burstwatch.cli.account import add_account_arguments, make_clients
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.config import parse_config
from burstwatch.shards import Unit, parse_unit_name

if TYPE_CHECKING:
    from burstwatch.aws.client.session import Clients


GROUP = "deployment"


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, where."""
    add_account_arguments(parser)
    parser.add_argument("--deployment", default="burstwatch", help="default burstwatch")
    parser.add_argument(
        "--unit",
        help="only the alarms of this account/region, for one that is no longer watched",
    )
    parser.add_argument("--dry-run", action="store_true", help="only list them")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="delete them without a question, even while sweeps go on",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """List them, and delete them if somebody wants that. Exit code 2 while sweeps go on."""
    deployment = parse_config({"deployment": args.deployment}).deployment
    unit = None if args.unit is None else parse_unit_name(args.unit)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms.api import delete_alarms  # noqa: PLC0415 - needs an extra

    names = _list_alarms(clients, deployment, unit)
    where = f" of {unit}" if unit is not None else ""
    if not names:
        print(
            f"burstwatch: the deployment {deployment!r} has no alarms{where}", file=terminal.stderr
        )
        return 0
    if not args.yes:
        print("\n".join(names), file=terminal.stdout)
    if args.dry_run:
        return 0
    if not args.yes:
        _refuse_while_swept(clients, deployment, unit, terminal.clock())
        count = f"{len(names)} alarm{'' if len(names) == 1 else 's'}{where}"
        if terminal.ask is None:
            print(
                f"burstwatch: nothing is deleted: to delete {count} give --yes",
                file=terminal.stderr,
            )
            return 0
        if terminal.ask(f"Delete {count}? The pager gets no OK for them. [y/N] ").lower() not in {
            "y",
            "yes",
        }:
            print("burstwatch: nothing is deleted", file=terminal.stderr)
            return 0
    problems = delete_alarms(clients, names)
    failed = {problem.part.removeprefix("delete ") for problem in problems}
    for name in names if args.yes else ():
        if name not in failed:
            print(name, file=terminal.stdout)
    for problem in problems:
        print(f"burstwatch: {problem.part}: {problem.error}", file=terminal.stderr)
    return PARTIAL if problems else 0


def _list_alarms(clients: "Clients", deployment: str, unit: Unit | None) -> list[str]:
    """Name the deployment's alarms, of one unit or of all; raises AwsError if they cannot be read."""
    from burstwatch.aws.alarms.api import read_alarms  # noqa: PLC0415 - needs an extra
    from burstwatch.aws.client.names import alarm_prefixes, unit_prefix  # noqa: PLC0415
    from burstwatch.aws.client.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415

    try:
        if unit is not None:
            prefixes: tuple[str, ...] = (unit_prefix(deployment, unit, clients.unit()),)
        else:
            prefixes = alarm_prefixes(deployment)
        return [alarm.name for prefix in prefixes for alarm in read_alarms(clients, prefix)]
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error


def _refuse_while_swept(clients: "Clients", deployment: str, unit: Unit | None, now: float) -> None:
    """Raise while a heartbeat of the unit, or of any unit of the deployment, is fresh.

    Raises:
        AwsError: naming the unit; or if the heartbeats cannot be read.
    """
    from burstwatch.aws.client.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415
    from burstwatch.aws.doctor.checks import read_heartbeats  # noqa: PLC0415 - needs an extra
    from burstwatch.formatting import span  # noqa: PLC0415

    try:
        heartbeats = read_heartbeats(clients, deployment, now=now)
    except AWS_ERRORS as error:
        msg = f"whether sweeps go on cannot be read, so nothing is deleted: {describe_error(error)}"
        raise AwsError(msg) from error
    for part, heartbeat in heartbeats.items():
        is_meant = unit is None or part == str(unit) or part.startswith(f"{unit}/")
        if is_meant and heartbeat.is_fresh:
            msg = (
                f"a sweep of {part} completed {span(heartbeat.age_s)} ago, so nothing is deleted: sweeps make the "
                "alarms anew, and each pages again. Delete the stack or take the unit out of it first, "
                "or give --yes"
            )
            raise AwsError(msg)

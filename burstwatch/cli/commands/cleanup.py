"""Delete the per-resource alarms that sweeps of a deployment have made."""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.account import add_account_arguments, make_clients
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.config import parse_config
from burstwatch.polling.unit import parse_unit_name


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, where."""
    add_account_arguments(parser)
    parser.add_argument("--deployment", default="burstwatch", help="default burstwatch")
    parser.add_argument(
        "--unit",
        help="delete only the alarms of this account/region, for one that is no longer watched",
    )
    parser.add_argument("--dry-run", action="store_true", help="only name them")


def run(args: Namespace, terminal: Terminal) -> int:
    """Delete them, and name each."""
    deployment = parse_config({"deployment": args.deployment}).deployment
    unit = None if args.unit is None else parse_unit_name(args.unit)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms import (  # noqa: PLC0415 - needs an extra
        delete_alarms,
        read_alarms,
    )
    from burstwatch.aws.names import alarm_prefixes, unit_prefix  # noqa: PLC0415
    from burstwatch.aws.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415

    try:
        if unit is not None:
            prefixes: tuple[str, ...] = (unit_prefix(deployment, unit, clients.unit()),)
        else:
            prefixes = alarm_prefixes(deployment)
        names = [alarm.name for prefix in prefixes for alarm in read_alarms(clients, prefix)]
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    if not names:
        where = f" of {args.unit}" if args.unit else ""
        print(
            f"burstwatch: the deployment {deployment!r} has no alarms{where}", file=terminal.stderr
        )
    problems = [] if args.dry_run else delete_alarms(clients, names)
    failed = {problem.part.removeprefix("delete ") for problem in problems}
    for name in names:
        if name not in failed:
            print(name, file=terminal.stdout)
    for problem in problems:
        print(f"burstwatch: {problem.part}: {problem.error}", file=terminal.stderr)
    return PARTIAL if problems else 0

"""List what of a deployment is still there, with the command that removes each thing, and delete the alarms of its sweeps.

It lists first, and deletes only the alarms that sweeps made, after a question or with --yes. The pager gets no
OK for a deleted alarm. While sweeps go on they make the alarms anew, which pages each open incident a second time
and loses its history. So this is for a deployment or a unit that is no longer watched; `npx cdk destroy` does it by
itself. `burstwatch policy cleanup` prints what it needs.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burstwatch.cli.account import add_deployment_arguments, deployed_config, make_clients
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.formatting import folded, folded_command, inert, table
from burstwatch.shards import Unit, parse_unit_name

if TYPE_CHECKING:
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.doctor.leftovers import Leftover

GROUP = "deployment"
EXAMPLE = "burstwatch cleanup --region eu-west-1"
EXIT_CODES = (
    "Exit codes: 0 nothing is left, 1 something is left or could not be looked for or deleted, "
    "2 wrong input or configuration."
)


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, how to print, and whether to ask."""
    add_deployment_arguments(parser)
    parser.add_argument(
        "--unit",
        help="only the alarms of this account/region, for one that is no longer watched",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one object for each thing, and ask nothing"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="delete the alarms of sweeps without a question, even while sweeps go on",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print what is left, and delete the alarms of sweeps if somebody wants that."""
    deployment = deployed_config(args, terminal.env).deployment
    unit = None if args.unit is None else parse_unit_name(args.unit)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms.api import delete_alarms  # noqa: PLC0415 - boto3 takes long to import
    from burstwatch.aws.doctor.leftovers import find_leftovers  # noqa: PLC0415

    leftovers, problems = find_leftovers(clients, deployment, args.stack, unit)
    here = clients.unit()
    if args.json:
        for item in leftovers:
            body = {"thing": item.kind, "name": item.name, "remove_with": item.command}
            text = as_document(
                "leftover", body, at=terminal.clock(), account=here.account, region=here.region
            )
            print(text, file=terminal.stdout)
    else:
        whose = deployment if unit is None else f"{deployment} for {unit}"
        nothing = f"nothing of {whose} is left in {here}"
        print(_report(leftovers, nothing, terminal.columns), file=terminal.stdout)
    names = [item.name for item in leftovers if item.is_of_sweeps]
    deleted = 0
    if names and _is_wanted(names, unit, args, terminal, clients, deployment):
        failures = delete_alarms(clients, names)
        deleted = len(names) - len(failures)
        problems += failures
        terminal.tell(f"deleted {_count(deleted)}")
    for problem in problems:
        terminal.tell(f"{problem.part}: {problem.error}")
    return PARTIAL if problems or deleted < len(leftovers) else 0


def _report(leftovers: Sequence["Leftover"], nothing: str, columns: int | None) -> str:
    """What is left, and below it the commands that remove it: without the names, which others chose."""
    if not leftovers:
        return folded(nothing, columns)
    rows = [(item.kind, inert(item.name)) for item in leftovers]
    commands = dict.fromkeys(folded_command(item.command, columns) for item in leftovers)
    listing = table(("what", "name"), rows, columns=columns)
    return "\n".join([listing, "", "What removes them:", *commands])


def _count(alarms: int) -> str:
    return f"{alarms} alarm{'' if alarms == 1 else 's'}"


def _is_wanted(
    names: Sequence[str],
    unit: Unit | None,
    args: Namespace,
    terminal: Terminal,
    clients: "Clients",
    deployment: str,
) -> bool:
    """Whether to delete these alarms: with --yes, or by the answer of whoever sits there. Says why not."""
    if args.yes:
        return True
    if args.json:
        return False
    count = _count(len(names)) + (f" of {unit}" if unit is not None else "")
    if terminal.ask is None:
        refusal = f"nothing is deleted: to delete {count} give --yes"
    else:
        refusal = _why_not(clients, deployment, unit, terminal.clock())
    if not refusal and terminal.ask is not None:
        answer = terminal.ask(f"Delete {count}? The pager gets no OK for them. [y/N] ")
        refusal = "" if answer.lower() in {"y", "yes"} else "nothing is deleted"
    if refusal:
        terminal.tell(refusal)
    return not refusal


def _why_not(clients: "Clients", deployment: str, unit: Unit | None, now: float) -> str:
    """Why no alarm is deleted: a heartbeat of the unit, or of any unit of the deployment, is fresh or cannot be read."""
    from burstwatch.aws.client.session import AWS_ERRORS, describe_error  # noqa: PLC0415
    from burstwatch.aws.doctor.checks import read_heartbeats  # noqa: PLC0415 - needs an extra
    from burstwatch.formatting import span  # noqa: PLC0415

    try:
        heartbeats = read_heartbeats(clients, deployment, now=now)
    except AWS_ERRORS as error:
        return (
            f"whether sweeps go on cannot be read, so nothing is deleted: {describe_error(error)}"
        )
    for part, heartbeat in heartbeats.items():
        is_meant = unit is None or part == str(unit) or part.startswith(f"{unit}/")
        if is_meant and heartbeat.is_fresh:
            return (
                f"a sweep of {part} completed {span(heartbeat.age_s)} ago, so nothing is deleted: sweeps make the "
                "alarms anew, and each pages again. Delete the stack or take the unit out of it first, "
                "or give --yes"
            )
    return ""

"""List what of a deployment is still there after it was removed, each with the command that removes it. It only reads."""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.account import add_deployment_arguments, deployed_config, make_clients
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.formatting import printable, table

GROUP = "deployment"
EXIT_CODES = (
    "Exit codes: 0 nothing is left, 1 something is left or could not be looked for, "
    "2 wrong input or configuration."
)


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, and how to print."""
    add_deployment_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one object for each thing")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print what is left. What could not be looked for is said, and hides nothing else."""
    deployment = deployed_config(args, terminal.env).deployment
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.doctor.leftovers import find_leftovers  # noqa: PLC0415 - boto3 is an extra

    unit = clients.unit()
    leftovers, problems = find_leftovers(clients, deployment, args.stack)
    if args.json:
        for item in leftovers:
            body = {"thing": item.kind, "name": item.name, "remove_with": item.command}
            text = as_document(
                "leftover", body, at=terminal.clock(), account=unit.account, region=unit.region
            )
            print(text, file=terminal.stdout)
    elif leftovers:
        rows = [(item.kind, printable(item.name), item.command) for item in leftovers]
        print(table(("what", "name", "remove it with"), rows), file=terminal.stdout)
    else:
        print(f"nothing of {deployment} is left in {unit}", file=terminal.stdout)
    for problem in problems:
        print(f"burstwatch: {problem.part}: {problem.error}", file=terminal.stderr)
    return PARTIAL if leftovers or problems else 0

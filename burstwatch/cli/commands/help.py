"""List the commands, or print the help of one command."""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.main import Terminal, build_parser, command_names

GROUP = "other"
EXAMPLE = "burstwatch help scan"


def add_arguments(parser: ArgumentParser) -> None:
    """Which command."""
    parser.add_argument(
        "of", nargs="?", metavar="COMMAND", help="such as scan", choices=command_names()
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the help, as ``--help`` does."""
    parser = build_parser(args.of or args.command)
    chosen = parser if args.of is None else parser.by_name[args.of]
    print(chosen.format_help(), end="", file=terminal.stdout)
    return 0

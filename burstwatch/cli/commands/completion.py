"""Print the completion of a shell: ``source <(burstwatch completion bash)``."""

from argparse import ArgumentParser, Namespace

from burstwatch import installing
from burstwatch.cli.main import Terminal, build_parser

SHELLS = ("bash", "zsh", "tcsh")


GROUP = "other"


def add_arguments(parser: ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS)


def run(args: Namespace, terminal: Terminal) -> int:
    """Print it.

    Raises:
        ValueError: without the library that writes it.
    """
    try:
        import shtab  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        msg = f"{error.name} is not installed, this command needs: {installing('aws,terminal')}"
        raise ValueError(msg) from None
    print(shtab.complete(build_parser(), args.shell), file=terminal.stdout)
    return 0

"""Print the completion of a shell: ``source <(burstwatch completion bash)``."""

from argparse import ArgumentParser, Namespace

from burstwatch.cli.completion import SHELLS, completion_of
from burstwatch.cli.main import Terminal

GROUP = "other"
EXAMPLE = "burstwatch completion bash"


def add_arguments(parser: ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=tuple(SHELLS))


def run(args: Namespace, terminal: Terminal) -> int:
    """Print it."""
    print(completion_of(args.shell), end="", file=terminal.stdout)
    return 0

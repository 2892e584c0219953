"""Print the version."""

from argparse import ArgumentParser, Namespace

import burstwatch
from burstwatch.cli.main import Terminal

GROUP = "other"
EXAMPLE = "burstwatch version"


def add_arguments(parser: ArgumentParser) -> None:
    """None."""


def run(args: Namespace, terminal: Terminal) -> int:  # noqa: ARG001 - as every command
    """Print it, as ``--version`` does."""
    print(burstwatch.__version__, file=terminal.stdout)
    return 0

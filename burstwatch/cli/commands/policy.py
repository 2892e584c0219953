"""Print the IAM policy that a command needs: reads, and the few things that it may change.

Without a command it lists what each of them may change. `member` is the role that the sweep takes in a
further account; `burstwatch catalog --member-role` prints its template.
"""

import json
import re
from argparse import ArgumentParser, Namespace
from typing import Any

from burstwatch.cli.main import Terminal
from burstwatch.cli.policies import PARTITIONS, commands, policy_of
from burstwatch.config import parse_config
from burstwatch.formatting import table

GROUP = "deployment"
EXAMPLE = "burstwatch policy doctor"
#: The names that CloudFormation takes for a stack.
STACK = "[A-Za-z][A-Za-z0-9-]{0,127}"


def add_arguments(parser: ArgumentParser) -> None:
    """Which command, and for which deployment."""
    parser.add_argument(
        "of", nargs="?", choices=commands(), metavar="COMMAND", help=", ".join(commands())
    )
    parser.add_argument("--deployment", default="burstwatch", help="default burstwatch")
    parser.add_argument("--stack", default="", help="its stack, where that has a name of its own")
    parser.add_argument("--partition", default="aws", choices=PARTITIONS, help="default aws")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print one policy as JSON, or the table of all."""
    deployment = parse_config({"deployment": args.deployment}).deployment
    if args.stack and not re.fullmatch(STACK, args.stack):
        msg = f"--stack is {args.stack!r}; allowed: a letter, and up to 127 letters, digits and hyphens"
        raise ValueError(msg)
    if args.of is None:
        rows = [(name, _changes(policy_of(name))) for name in commands()]
        print(table(("command", "changes"), rows, columns=terminal.columns), file=terminal.stdout)
        return 0
    document = policy_of(args.of, deployment=deployment, stack=args.stack, partition=args.partition)
    print(json.dumps(document, indent=2), file=terminal.stdout)
    return 0


def _changes(policy: dict[str, Any]) -> str:
    """The actions of a policy that do not only read, in words of IAM."""
    actions = {action for statement in policy["Statement"] for action in statement["Action"]}
    writes = sorted(action for action in actions if not _reads(action))
    return ", ".join(writes) or "nothing"


def _reads(action: str) -> bool:
    verb = action.partition(":")[2]
    return verb.startswith(("Describe", "Get", "List", "Filter", "Receive"))

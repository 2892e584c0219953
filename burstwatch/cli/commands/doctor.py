"""Check a deployment in your account: permissions, quotas, subscriptions, keys, heartbeats, cost.

It only reads. It also measures what AWS does not document: how often and how late datapoints
come. The exit code is 1 if a check failed. `--json` has no account ids and no names of roles
or users, so that it can go into an issue.
"""

import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burstwatch.cli.account import add_deployment_arguments, deployed_config, make_clients
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.formatting import printable
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.doctor.checks import Finding

#: The states of a check, the worst first.
STATES = ("failed", "warning", "unknown", "ok")
PRIVATE = {
    re.compile(r"(?<!\d)\d{12}(?!\d)"): "<account>",
    re.compile(r"(assumed-role|role|user)/\S+"): r"\1/<name>",
    re.compile(r" Encoded authorization failure message: .*"): "",
}


GROUP = "deployment"
EXAMPLE = "burstwatch doctor --region eu-west-1"


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, and how to print."""
    add_deployment_arguments(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--all", action="store_true", help="print also what each check found that is well"
    )
    form.add_argument("--json", action="store_true", help="print one object per check")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print what somebody must act on, the worst first; or each finding as soon as it is known."""
    config = deployed_config(args, terminal.env)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.doctor.doctor import examine  # noqa: PLC0415 - boto3 takes long to import

    kinds = tuple(find_kinds(config.kinds).values())
    findings = []
    for finding in examine(
        clients, config.deployment, kinds, stack=args.stack, now=terminal.clock()
    ):
        findings.append(finding)
        if args.json:
            print(_json(_without_account(finding), terminal), file=terminal.stdout, flush=True)
        elif terminal.stderr.isatty():
            terminal.show_step(finding.check)
    if terminal.stderr.isatty() and not args.json:
        terminal.show_step("")
    failed = [finding.check for finding in findings if finding.state == "failed"]
    if not args.json:
        # What somebody must act on comes first; within a state the order of the checks stays.
        worst_first = sorted(findings, key=lambda finding: STATES.index(finding.state))
        terminal.say(_report(worst_first, is_all=args.all))
    if failed:
        said = f"failed: {', '.join(failed)}"
        terminal.tell(_without_names(said) if args.json else said)
        return PARTIAL
    return 0


def _json(finding: "Finding", terminal: Terminal) -> str:
    body = {
        "check": finding.check,
        "result": finding.state,
        "detail": finding.detail,
        "todo": finding.do,
    }
    return as_document("finding", body, at=terminal.clock())


def _report(findings: Sequence["Finding"], *, is_all: bool) -> str:
    """A paragraph for each thing that was found that is not well, or for all, with the checks that found it."""
    told = [item for item in findings if is_all or item.state != "ok"]
    checks: dict[tuple[str, str, str], list[str]] = {}
    for item in told:
        checks.setdefault((item.state, item.detail, item.do), []).append(item.check)
    lines = [
        f"{state} {', '.join(names)}: {detail}{f'. {do}' if do else ''}"
        for (state, detail, do), names in checks.items()
    ]
    hint = "" if is_all else "; --all prints what each found"
    return "\n".join([*map(printable, lines), f"{_count(findings)}{hint}"])


def _count(findings: Sequence["Finding"]) -> str:
    """How many checks there were, and how many ended in each state."""
    states = Counter[str](finding.state for finding in findings)
    counts = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
    return f"{len(findings)} checks: {counts}"


def _without_account(finding: "Finding") -> "Finding":
    return replace(
        finding,
        check=_without_names(finding.check),
        detail=_without_names(finding.detail),
        do=_without_names(finding.do),
    )


def _without_names(text: str) -> str:
    """The text without accounts, roles and users, and without what EC2 encodes for who may decode it."""
    for pattern, instead in PRIVATE.items():
        text = pattern.sub(instead, text)
    return text

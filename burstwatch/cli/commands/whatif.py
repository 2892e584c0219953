"""Say how long a volume would last under a demand, and what it would fall to."""

import math
from argparse import ArgumentParser, Namespace
from dataclasses import fields

from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.forecast.whatif import Answer, Question, answer
from burstwatch.formatting import span

NUMBERS = {
    "--iops": "operations per second",
    "--io-kib": "KiB per operation (default 16 on SSD, 1024 on HDD)",
    "--mib-s": "MiB per second",
    "--instance-iops": "the most IOPS that the instance allows",
    "--instance-mib-s": "the most MiB/s that the instance allows",
    "--provisioned-iops": "gp3, io1, io2: provisioned IOPS",
    "--provisioned-mib-s": "gp3: provisioned MiB/s",
}


def add_arguments(parser: ArgumentParser) -> None:
    """The volume, its balance, and the demand."""
    parser.add_argument("--type", required=True, help="gp2, st1, sc1, gp3, io1, io2 or standard")
    parser.add_argument("--size-gib", required=True, type=float)
    for flag, text in NUMBERS.items():
        parser.add_argument(flag, type=float, help=text)
    parser.add_argument("--balance-percent", type=float, default=100.0, help="default 100")
    parser.add_argument(
        "--access",
        choices=["random", "sequential"],
        help="sequential I/O is merged (default: random on SSD, sequential on HDD)",
    )
    parser.add_argument("--json", action="store_true", help="one object for machines")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the answer."""
    said = {one.name: vars(args)[one.name] for one in fields(Question) if one.name != "volume_type"}
    question = Question(volume_type=args.type, **said)
    found = answer(question)
    print(to_json(found) if args.json else _words(question, found), file=terminal.stdout)
    return 0


def _words(question: Question, found: Answer) -> str:
    unit = "IOPS" if found.unit == "io" else "MiB/s"
    lines = [
        f"{question.volume_type} of {question.size_gib:g} GiB: {found.state}, {found.reason}",
        f"baseline {found.baseline:g} {unit}, burst {found.burst:g} {unit}",
        f"served {found.served_iops:.0f} IOPS, {found.served_mib_s:.1f} MiB/s (held back by: {found.binding})",
    ]
    if found.capacity is not None:
        lines += [
            f"empty in {_never(found.time_to_empty_s)}, worst case {_never(found.worst_time_to_empty_s)}",
            f"full in {_never(found.time_to_full_s)}, refills from empty in {span(found.refill_from_empty_s)}",
            f"when empty: {found.served_iops_when_empty:.0f} IOPS, {found.served_mib_s_when_empty:.1f} MiB/s",
        ]
    return "\n".join(lines)


def _never(seconds: float | None) -> str:
    return span(math.inf if seconds is None else seconds)

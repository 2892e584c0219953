"""Show the EBS volume types with their limits and sources; with --json also all kinds and settings."""

import json
from argparse import ArgumentParser, Namespace

from burstwatch.cli.catalog import catalog, member_role, member_stack_set
from burstwatch.cli.main import Terminal
from burstwatch.ebs.volume_types import CATALOGUE, HddCredits, SsdCredits, VolumeType
from burstwatch.formatting import table

GROUP = "other"


def add_arguments(parser: ArgumentParser) -> None:
    """The forms of output."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything, for machines")
    form.add_argument(
        "--member-role",
        action="store_true",
        help="print the CloudFormation template of the read-only role in each further account",
    )
    form.add_argument(
        "--member-stack-set",
        action="store_true",
        help="print the template of a StackSet that makes that role in each account of an organisation, new ones too",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the volume types as a table or JSON, or the template of the role."""
    if args.member_role:
        document = member_role()
    elif args.member_stack_set:
        document = member_stack_set()
    elif args.json:
        document = catalog()
    else:
        headings = ("type", "size GiB", "baseline", "burst", "bucket", "source")
        rows = [_row(volume_type) for volume_type in CATALOGUE.values()]
        print(table(headings, rows), file=terminal.stdout)
        return 0
    print(json.dumps(document, indent=2, allow_nan=False), file=terminal.stdout)
    return 0


def _row(kind: VolumeType) -> tuple[str, ...]:
    """Write a volume type's limits and credits as a row of the table."""
    sizes = f"{kind.min_size_gib.value:g} to {kind.max_size_gib.value:g}"
    source = kind.max_size_gib.source
    rule = kind.credits
    if isinstance(rule, SsdCredits):
        baseline = (
            f"{rule.iops_per_gib.value:g} IOPS/GiB, {rule.baseline_floor.value:g} to "
            f"{rule.baseline_cap.value:g}"
        )
        burst, bucket = f"{rule.burst.value:g} IOPS", f"{rule.capacity.value:g} I/O"
    elif isinstance(rule, HddCredits):
        baseline = f"{rule.baseline.per_tib.value:g} MiB/s per TiB, to {rule.baseline.cap.value:g}"
        burst = f"{rule.burst.per_tib.value:g} MiB/s per TiB, to {rule.burst.cap.value:g}"
        bucket = f"{rule.capacity_per_tib.value:g} MiB per TiB"
    else:
        baseline = f"to {kind.max_iops.value:g} IOPS, {kind.max_mib_s.value:g} MiB/s"
        burst, bucket = "-", "none"
    return kind.name, sizes, baseline, burst, bucket, f"{source.url} ({source.read})"

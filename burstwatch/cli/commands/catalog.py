"""Show the EBS volume types with their limits and sources, or the settings; with --json also all kinds."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from burstwatch.cli.catalog import catalog, member_role, member_stack_set
from burstwatch.cli.documents import as_document, json_schema
from burstwatch.cli.main import Terminal
from burstwatch.config import ENV_PREFIX, SETTINGS, config_from_env
from burstwatch.ebs.volume_types import CATALOGUE, HddCredits, SsdCredits, VolumeType
from burstwatch.formatting import table
from burstwatch.kinds import find_kinds

GROUP = "other"
EXAMPLE = "burstwatch catalog --settings"


def add_arguments(parser: ArgumentParser) -> None:
    """What to show, and how."""
    parser.add_argument(
        "--settings",
        action="store_true",
        help="show every setting with its value in this environment, its default and what it means",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_true",
        help="everything, or with --settings the settings, for machines",
    )
    form.add_argument(
        "--schema",
        action="store_true",
        help="print the JSON Schema of what --json prints, with the meaning of each field",
    )
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
    """Print the volume types or the settings as a table or JSON, or the template of the role."""
    if args.settings:
        if args.member_role or args.member_stack_set or args.schema:
            msg = "--settings works alone or with --json"
            raise ValueError(msg)
        print(_settings(args, terminal), file=terminal.stdout)
        return 0
    if args.schema:
        document = json_schema()
    elif args.member_role:
        document = member_role()
    elif args.member_stack_set:
        document = member_stack_set()
    elif args.json:
        document = catalog()
    else:
        headings = ("type", "size GiB", "baseline", "burst", "bucket", "source")
        rows = [_row(volume_type) for volume_type in CATALOGUE.values()]
        print(table(headings, rows, columns=terminal.columns), file=terminal.stdout)
        return 0
    print(json.dumps(document, indent=2, allow_nan=False), file=terminal.stdout)
    return 0


def _settings(args: Namespace, terminal: Terminal) -> str:
    """Check the environment's settings, and write them all."""
    config = config_from_env(terminal.env)
    find_kinds(config.kinds)  # names the kinds that there are not
    if args.json:
        return as_document("settings", {"settings": asdict(config)}, at=terminal.clock())
    rows = [
        (
            ENV_PREFIX + setting.name.upper(),
            _text(getattr(config, setting.name)),
            _text(setting.default),
            setting.help,
        )
        for setting in SETTINGS
    ]
    return table(("setting", "value", "default", "meaning"), rows, columns=terminal.columns)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) or "-"


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

"""Save what CloudWatch has of a resource to a file that explain, advise and backtest read."""

import gzip
from argparse import ArgumentParser, Namespace
from pathlib import Path

from burstwatch.cli.account import add_account_arguments, kinds_of, make_clients
from burstwatch.cli.main import Terminal
from burstwatch.cli.targets import check_target
from burstwatch.cli.values import add_kind_argument, days
from burstwatch.formatting import DAY, InputError, recorded_time
from burstwatch.history.points import FIVE_MINUTES_KEPT, MINUTES_KEPT
from burstwatch.recordings.formats.table import OWN_MARK
from burstwatch.recordings.samples import columns_of, write_samples

MOST_DAYS = FIVE_MINUTES_KEPT.value


GROUP = "recordings"
EXAMPLE = "burstwatch export vol-0123456789abcdef0 --output volume.csv"


def add_arguments(parser: ArgumentParser) -> None:
    """The resource, how far back, and the file."""
    parser.add_argument("resource", metavar="ID", help="such as vol-..., or the name of a resource")
    parser.add_argument(
        "--days",
        type=days,
        default=14.0,
        metavar="DAYS",
        help="how many days back, default 14; "
        f"up to {MINUTES_KEPT.value:g} days with a row for each minute, up to {MOST_DAYS:g} days for each five minutes",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="a .gz is compressed; without it, to the terminal"
    )
    add_kind_argument(parser, "where an id has several kinds")
    add_account_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Read, and write the file whole."""
    if not 0 < args.days <= MOST_DAYS:
        msg = f"is {args.days:g}; allowed: above 0 to {MOST_DAYS:g}: CloudWatch keeps five-minute datapoints for {MOST_DAYS:g} days"
        raise InputError(msg, name="days")
    if args.output:
        check_target(args.output, inputs=())
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.look.recording import record  # noqa: PLC0415 - boto3 takes long to import

    recorded = record(
        clients, kinds_of(args), args.resource, now=terminal.clock(), back_s=args.days * DAY
    )
    about = {
        "kind": recorded.kind.name,
        "id": recorded.resource.id,
        "region": recorded.resource.region,
        "statistic": recorded.resource.reporting.statistic,
        "spec": ",".join(f"{key}={value}" for key, value in recorded.resource.spec.items()),
    }
    mark = f"{OWN_MARK}{' '.join(f'{key}={value}' for key, value in about.items())}\n"
    text = mark + "".join(write_samples(recorded.samples, columns_of(recorded.kind)))
    if not args.output:
        print(text, end="", file=terminal.stdout)
        return 0
    raw = text.encode()
    # Without a time in it, the same data are the same bytes.
    is_packed = args.output.endswith(".gz")
    Path(args.output).write_bytes(gzip.compress(raw, mtime=0) if is_packed else raw)
    begin, last = (recorded_time(recorded.samples[n].t_s) for n in (0, -1))
    print(
        f"{len(recorded.samples)} rows of {recorded.period_s:g} s from {begin} to {last} in {args.output}",
        file=terminal.stdout,
    )
    return 0

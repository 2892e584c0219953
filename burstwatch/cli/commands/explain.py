"""Explain what happened to one bucket: a recorded series, or a volume of the account."""

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from burstwatch.backtest.explain import Story, as_html, as_text
from burstwatch.backtest.replay import replay
from burstwatch.cli.account import add_account_arguments, make_clients
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.cli.recorded import Recorded, add_series_arguments, check_times, read_recorded
from burstwatch.config import Config

VOLUME_ID = re.compile(r"vol-[0-9a-f]+")
MOST_HOURS = 15 * 24.0


def add_arguments(parser: ArgumentParser) -> None:
    """The subject, and the file to draw it into."""
    add_series_arguments(parser, metavar="SERIES.csv|vol-...")
    add_account_arguments(parser)
    parser.add_argument("--hours", type=float, default=24.0, help="of a volume's past, default 24")
    parser.add_argument("--html", metavar="FILE.html", help="draw it, as a page of its own")
    parser.add_argument("--json", action="store_true", help="pages and exhaustions as one object")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the story, and draw it where asked to."""
    seen = (
        _from_account(args, terminal)
        if _is_volume(args)
        else read_recorded(args, command="explain")
    )
    moments = replay(
        seen.rows, seen.resource, Config(), period_s=seen.period_s, delay_s=seen.delay_s
    )
    story = Story(
        name=seen.name,
        resource=seen.resource,
        rows=seen.rows,
        moments=list(moments),
        period_s=seen.period_s,
    )
    if args.html:
        Path(args.html).write_text(as_html(story), encoding="utf-8")
    if args.json:
        record = {
            "name": story.name,
            "pages": story.pages,
            "emptied_at_s": story.emptied,
            "changes": story.turns,
        }
        print(to_json(record), file=terminal.stdout)
    else:
        print(as_text(story), file=terminal.stdout)
    return 0


def _is_volume(args: Namespace) -> bool:
    return args.series is not None and VOLUME_ID.fullmatch(args.series) is not None


def _from_account(args: Namespace, terminal: Terminal) -> Recorded:
    if not 0 < args.hours <= MOST_HOURS:
        msg = f"hours must be above 0 and at most {MOST_HOURS:g}, which is how long CloudWatch keeps minutes; got {args.hours:g}"
        raise ValueError(msg)
    if args.type is not None or args.size_gib is not None or args.period_s is not None:
        msg = f"{args.series} is a volume: its type, size and period come from the account"
        raise ValueError(msg)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.recording import record  # noqa: PLC0415 - boto3 is an extra

    now = terminal.clock()
    ((resource, rows, period_s),) = record(
        clients, [args.series], now=now, back_s=3_600 * args.hours
    )
    check_times(period_s, args.delay_s)
    return Recorded(
        name=args.series, rows=rows, resource=resource, period_s=period_s, delay_s=args.delay_s
    )

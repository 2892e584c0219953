"""Replay a recorded series: the verdict that burstwatch would have given at each moment."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator

from burstwatch.backtest.replay import Moment, replay
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.cli.recorded import (
    add_kind_arguments,
    add_series_arguments,
    read_kind,
    read_recorded,
)
from burstwatch.config import Config
from burstwatch.formatting import span, table


def add_arguments(parser: ArgumentParser) -> None:
    """The series, the volume it was recorded on, and how late CloudWatch was."""
    add_series_arguments(parser)
    add_kind_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one object a line")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print one line per period, or for people one per change of verdict."""
    moments = _moments(args)
    if args.json:
        for moment in moments:
            print(to_json(moment), file=terminal.stdout)
    else:
        print(_changes(moments), file=terminal.stdout)
    return 0


def _moments(args: Namespace) -> Iterator[Moment]:
    if args.kind is not None:
        of_kind = read_kind(args)
        return replay(
            of_kind.rows,
            of_kind.resource,
            Config(),
            period_s=of_kind.period_s,
            delay_s=args.delay_s,
            kind=of_kind.kind,
        )
    if args.spec:
        msg = "--spec needs --kind"
        raise ValueError(msg)
    seen = read_recorded(args, command="replay")
    return replay(seen.rows, seen.resource, Config(), period_s=seen.period_s, delay_s=seen.delay_s)


def _changes(moments: Iterable[Moment]) -> str:
    rows = [
        (
            span(moment.t_s),
            moment.assessment,
            moment.state,
            "-" if moment.balance_ratio is None else f"{moment.balance_ratio:.0%}",
            span(moment.time_to_empty_s),
            span(moment.worst_s),
            moment.reason,
        )
        for moment in _turning_points(moments)
    ]
    return table(("at", "verdict", "state", "balance", "empty in", "worst", "why"), rows)


def _turning_points(moments: Iterable[Moment]) -> Iterator[Moment]:
    before = None
    for moment in moments:
        if (moment.assessment, moment.state) != before:
            yield moment
        before = (moment.assessment, moment.state)

"""Replay a recording: the verdict that burstwatch would have given at each moment."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator

from burstwatch.backtest.replay import Moment, replay
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.cli.recorded import FORMATS, add_series_arguments, read_recorded
from burstwatch.config import Config
from burstwatch.formatting import recorded_time, span, table


def add_arguments(parser: ArgumentParser) -> None:
    """The recording, the resource it was recorded on, and how late CloudWatch was."""
    parser.epilog = FORMATS
    add_series_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one object a line")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print one line per period, or for people one per change of verdict."""
    seen = read_recorded(args, command="replay", terminal=terminal)
    moments = replay(
        seen.samples,
        seen.resource,
        Config(),
        period_s=seen.period_s,
        delay_s=seen.delay_s,
        kind=seen.kind,
    )
    if args.json:
        for moment in moments:
            print(to_json(moment), file=terminal.stdout)
    else:
        print(_changes(moments), file=terminal.stdout)
    return 0


def _changes(moments: Iterable[Moment]) -> str:
    rows = [
        (
            recorded_time(moment.t_s),
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

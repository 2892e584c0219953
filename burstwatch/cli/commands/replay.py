"""Replay a recording: the verdict that burstwatch would have given at each moment."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from itertools import chain

from burstwatch.backtest.replay import Moment
from burstwatch.cli.documents import as_document
from burstwatch.cli.judging import add_setting_arguments, config_of
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import painter
from burstwatch.cli.progress import play_parts
from burstwatch.cli.recorded import FORMATS, add_series_arguments, read_recorded
from burstwatch.formatting import recorded_time, span, table

HEADINGS = ("at", "verdict", "state", "balance", "runs out in", "worst case", "why")


GROUP = "recordings"


def add_arguments(parser: ArgumentParser) -> None:
    """The recording, the resource it was recorded on, and how late CloudWatch was."""
    parser.epilog = FORMATS
    add_series_arguments(parser)
    add_setting_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one object per line")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print one line per period, or for people one per change of verdict."""
    recorded = read_recorded(args, command="replay", terminal=terminal)
    play = recorded.play(config_of(args, terminal.env))
    if args.json:
        for text in play_parts(play, _as_lines, stderr=terminal.stderr):
            print(text, file=terminal.stdout)
        return 0
    parts = play_parts(play, _turning_points, stderr=terminal.stderr)
    rows = _rows(_turning_points(chain.from_iterable(parts)))
    paint = painter(terminal.stdout, terminal.env)
    print(table(HEADINGS, rows, paint=paint), file=terminal.stdout)
    return 0


def _as_lines(moments: Iterable[Moment]) -> str:
    records = (moment.record() for moment in moments)
    return "\n".join(as_document("moment", record, at=record["at"]) for record in records)


def _rows(moments: Iterable[Moment]) -> list[tuple[str, ...]]:
    """Write each moment as a row of the table."""
    return [
        (
            recorded_time(moment.t_s),
            moment.assessment,
            moment.state,
            "-" if moment.balance_ratio is None else f"{moment.balance_ratio:.0%}",
            span(moment.time_to_empty_s),
            span(moment.worst_s),
            moment.reason,
        )
        for moment in moments
    ]


def _turning_points(moments: Iterable[Moment]) -> list[Moment]:
    turns: list[Moment] = []
    for moment in moments:
        before = (turns[-1].assessment, turns[-1].state) if turns else None
        if (moment.assessment, moment.state) != before:
            turns.append(moment)
    return turns

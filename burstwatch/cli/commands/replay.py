"""Play a recorded series again: what would have been said at each moment of it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from burstwatch.cli.output import table, to_json
from burstwatch.config import Config
from burstwatch.replay import Moment, replay, volume
from burstwatch.series import SeriesError, read_series
from burstwatch.words import span

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator

    from burstwatch.cli.main import Terminal

EXAMPLE = "gp2_100gib.csv"
EXAMPLE_TYPE, EXAMPLE_SIZE_GIB, EXAMPLE_PERIOD_S = "gp2", 100.0, 300.0


def add_arguments(parser: ArgumentParser) -> None:
    """The series, the volume it was recorded on, and how late CloudWatch was."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("series", nargs="?", metavar="SERIES.csv")
    source.add_argument("--example", action="store_true", help="a series that ships with it")
    parser.add_argument("--type", help="gp2, st1 or sc1")
    parser.add_argument("--size-gib", type=float)
    parser.add_argument("--period-s", type=float, help="seconds per row (default 60)")
    parser.add_argument("--delay-s", type=float, default=300.0, help="default 300")
    parser.add_argument("--json", action="store_true", help="one object a line")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print one line per period, or for people one per change of verdict."""
    if args.example:
        lines = (files("burstwatch") / "examples" / EXAMPLE).read_text().splitlines()
        name, default_period = EXAMPLE, EXAMPLE_PERIOD_S
    else:
        lines = _lines(Path(args.series))
        name, default_period = args.series, 60.0
    period_s = default_period if args.period_s is None else args.period_s
    if not 1 <= period_s <= 3_600 or not 0 <= args.delay_s <= 86_400:  # noqa: PLR2004 - an hour, a day
        msg = f"period_s must be 1 to 3600 and delay_s 0 to 86400, got {period_s:g} and {args.delay_s:g}"
        raise SeriesError(msg)
    if not args.example and (args.type is None or args.size_gib is None):
        msg = "replay needs --type and --size-gib, the volume that the series was recorded on"
        raise SeriesError(msg)
    resource = volume(
        EXAMPLE_TYPE if args.type is None else args.type,
        EXAMPLE_SIZE_GIB if args.size_gib is None else args.size_gib,
    )
    rows = read_series(lines, name=name)
    moments = replay(rows, resource, Config(), period_s=period_s, delay_s=args.delay_s)
    if args.json:
        for moment in moments:
            print(to_json(moment), file=terminal.stdout)
    else:
        print(_changes(moments), file=terminal.stdout)
    return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
        raise SeriesError(msg) from None


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

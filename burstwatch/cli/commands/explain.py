"""Explain what happened to one bucket: a recording, or a resource of the account."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from statistics import fmean

from burstwatch.backtest.explain import Story, as_text
from burstwatch.backtest.explain_page import as_html
from burstwatch.backtest.replay import Moment, Recorded, Replay
from burstwatch.bucket import Bucket
from burstwatch.cli.account import add_account_arguments, kinds_of, make_clients
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.judging import add_deployed_settings_arguments, config_of
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import check_target, painter
from burstwatch.cli.progress import play_parts
from burstwatch.cli.recorded import (
    FORMATS,
    add_series_arguments,
    check_times,
    names_file,
    read_recorded,
)
from burstwatch.cli.values import hours
from burstwatch.fixes.fix import Fix
from burstwatch.formatting import InputError, balance, recorded_time, span, table, tell
from burstwatch.history.points import MINUTES_KEPT, LevelPoint
from burstwatch.kinds.base import Kind, RatesByMetric
from burstwatch.recordings.samples import rates_by_period

MOST_HOURS = 24 * MINUTES_KEPT.value
#: The load before a page is the mean of these last minutes.
BEFORE_PAGE_S = 900.0
#: A past that is shorter than asked for by more is said.
SHORTER_S = 3_600.0


GROUP = "look"
HEADINGS = ("at", "verdict", "state", "balance", "runs out in", "worst case", "why")


def add_arguments(parser: ArgumentParser) -> None:
    """The subject, and the file to draw it into."""
    parser.epilog = f"ID is a resource of the account, such as vol-..., or its name; {FORMATS}"
    add_series_arguments(parser, metavar="FILE|ID")
    add_account_arguments(parser)
    add_deployed_settings_arguments(parser)
    parser.add_argument(
        "--hours",
        type=hours,
        metavar="HOURS",
        help="with an ID: how many hours of its past, default 24",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", metavar="FILE.html", help="draw it, into an HTML file")
    form.add_argument(
        "--every-period",
        action="store_true",
        help="print a line for each period: the verdict that burstwatch would have given then",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the pages sent and the times when the bucket was empty, as one object; with --every-period one object per line",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the story, and draw it where asked to."""
    if args.html is not None:
        check_target(args.html, inputs=[args.series] if args.series else [])
    is_of_file = names_file(args)
    for name in ("hours", "profile", "deployment") if is_of_file else ():
        if getattr(args, name) is not None:
            msg = f"--{name} is for a resource of the account, and not for a file"
            raise ValueError(msg)
    config = config_of(args, terminal.env, lambda: make_clients(args, terminal.env))
    if is_of_file:
        recorded, until_s = read_recorded(args, command="explain", terminal=terminal), inf
    else:
        recorded, until_s = _from_account(args, terminal), terminal.clock()
    place = {} if is_of_file else place_of_unit(recorded.resource.unit)
    if args.every_period:
        _print_periods(recorded.play(config), until_s, place, args, terminal)
        return 0
    story = Story(
        recorded=recorded,
        # Datapoints that are late are seen after their end, but never later than now.
        moments=[moment for moment in recorded.play(config).moments() if moment.t_s <= until_s],
    )
    story = replace(story, fixes=_fixes(story, recorded.kind))
    if args.html:
        Path(args.html).write_text(as_html(story), encoding="utf-8")
    if args.json:
        body = {
            "id": None if is_of_file else story.recorded.resource.id,
            "name": story.recorded.name,
            "kind": recorded.kind.name,
            "pages": [page.record() for page in story.pages],
            "run_out": story.times_empty,
            "changes": [moment.record() for moment in story.turns],
            "last": story.moments[-1].record(),
            "exceeded": dict(story.recorded.exceeded),
            "fixes": [fix.record() for fix in story.fixes],
        }
        print(as_document("story", body, at=story.moments[-1].t_s, **place), file=terminal.stdout)
    else:
        print(as_text(story), file=terminal.stdout)
    return 0


def _print_periods(
    play: Replay,
    until_s: float,
    place: Mapping[str, str | None],
    args: Namespace,
    terminal: Terminal,
) -> None:
    """Print each moment up to a time, as a row or as an object."""
    if args.json:
        for lines in play_parts(
            play, partial(_as_lines, until_s=until_s, place=place), stderr=terminal.stderr
        ):
            print(lines, end="", file=terminal.stdout)
        return
    rows = play_parts(play, partial(_as_rows, until_s=until_s), stderr=terminal.stderr)
    paint = painter(terminal.stdout, terminal.env)
    print(table(HEADINGS, list(chain.from_iterable(rows)), paint=paint), file=terminal.stdout)


def _as_lines(moments: Iterable[Moment], *, until_s: float, place: Mapping[str, str | None]) -> str:
    records = (moment.record() for moment in moments if moment.t_s <= until_s)
    return "".join(
        as_document("moment", record, at=record["at"], **place) + "\n" for record in records
    )


def _as_rows(moments: Iterable[Moment], *, until_s: float) -> list[tuple[str, ...]]:
    return [
        (
            recorded_time(moment.t_s),
            moment.assessment,
            moment.state,
            "-" if moment.balance_ratio is None else balance(moment.balance_ratio),
            span(moment.time_to_empty_s),
            span(moment.worst_s),
            moment.reason,
        )
        for moment in moments
        if moment.t_s <= until_s
    ]


def _fixes(story: Story, kind: Kind) -> tuple[Fix, ...]:
    """Find the fixes that would have helped at the last page, by the load and the balance of that time."""
    bucket = story.recorded.resource.bucket
    if bucket is None or not story.pages:
        return ()
    page_s = story.pages[-1].t_s
    all_levels, all_demand = story.recorded.points
    levels = [level for level in all_levels if page_s - BEFORE_PAGE_S <= level.start_s < page_s]
    demand = [point for point in all_demand if page_s - BEFORE_PAGE_S <= point.start_s < page_s]
    if not levels:
        return ()
    demand_rate = fmean(point.nominal for point in demand) if demand else _spent(bucket, levels)
    if demand_rate <= bucket.refill:
        return ()
    credits_left = levels[-1].ratio * bucket.capacity
    return kind.what_helps(
        story.recorded.resource, credits_left, demand_rate, _recent_rates(story, kind, page_s)
    )


def _recent_rates(story: Story, kind: Kind, page_s: float) -> RatesByMetric:
    """The mean rates before a page, by metric."""
    recent = [
        sample for sample in story.recorded.samples if page_s - BEFORE_PAGE_S <= sample.t_s < page_s
    ]
    periods = rates_by_period(recent, kind, story.recorded.period_s)
    names = {name for rates in periods for name in rates}
    return {name: fmean(rates[name] for rates in periods if name in rates) for name in names}


def _spent(bucket: Bucket, levels: Sequence[LevelPoint]) -> float:
    """Credits a second by the fall of the balance; 0 for a single level."""
    oldest, last = levels[0], levels[-1]
    fallen = (oldest.ratio - last.ratio) * bucket.capacity
    return bucket.refill + fallen / (last.start_s - oldest.start_s) if last is not oldest else 0.0


def _from_account(args: Namespace, terminal: Terminal) -> Recorded:
    """Record a resource's last hours from CloudWatch; raises ValueError for options that only a file takes."""
    back_hours = 24.0 if args.hours is None else args.hours
    if not 0 < back_hours <= MOST_HOURS:
        msg = f"is {back_hours:g}; allowed: above 0 to {MOST_HOURS:g}: CloudWatch keeps one-minute datapoints for {MOST_HOURS / 24:g} days"
        raise InputError(msg, name="hours")
    own_flags = (args.type, args.size_gib, args.period_s, args.spec or None, args.only or None)
    if own_flags != (None,) * len(own_flags):
        msg = f"there is no file {args.series!r}; for a resource of the account leave out --type, --size-gib, --period-s, --spec and --only, which it knows"
        raise ValueError(msg)
    check_times(None, args.delay_s)
    try:
        clients = make_clients(args, terminal.env)
    except ValueError as error:
        msg = f"there is no file {args.series!r}, and a resource with this id cannot be looked up: {error}"
        raise ValueError(msg) from None
    from burstwatch.aws.look.recording import record  # noqa: PLC0415 - boto3 is an extra

    recorded = record(
        clients, kinds_of(args), args.series, now=terminal.clock(), back_s=3_600 * back_hours
    )
    begin_s = recorded.samples[0].t_s
    if args.hours is not None and begin_s > terminal.clock() - 3_600 * back_hours + SHORTER_S:
        text = f"CloudWatch has only the last {span(terminal.clock() - begin_s)} of it"
        tell(f"{args.series}: {text}", terminal.stderr)
    return replace(recorded, delay_s=args.delay_s)

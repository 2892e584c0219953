"""Explain what happened to one bucket: a recording, or a resource of the account."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from statistics import fmean

from burstwatch.backtest.explain import answer_of, as_text, present_of
from burstwatch.backtest.explain_page import as_html
from burstwatch.backtest.replay import Moment, Recorded
from burstwatch.backtest.story import Story
from burstwatch.backtest.summary import as_summary
from burstwatch.bucket import Bucket
from burstwatch.cli.account import add_account_arguments, kinds_of, make_clients
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.judging import add_deployed_settings_arguments, config_of
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import painter, verdict_painter
from burstwatch.cli.progress import play_parts
from burstwatch.cli.recorded import (
    FORMATS,
    add_series_arguments,
    check_times,
    conventions_of,
    names_file,
    read_recorded,
    subjects_of,
    use_each,
)
from burstwatch.cli.targets import check_target
from burstwatch.cli.values import hours
from burstwatch.config import Config
from burstwatch.fixes.fix import Fix
from burstwatch.formatting import InputError, balance, inert, recorded_time, span, table, time_left
from burstwatch.history.points import MINUTES_KEPT, LevelPoint
from burstwatch.kinds.base import RatesByMetric
from burstwatch.recordings.samples import rates_by_period
from burstwatch.recordings.times import TIMES, date_order, read_times

MOST_HOURS = 24 * MINUTES_KEPT.value
#: The load before a page is the mean of these last minutes.
BEFORE_PAGE_S = 900.0
#: A past that is shorter than asked for by more is said.
SHORTER_S = 3_600.0


GROUP = "look"
EXAMPLE = "burstwatch explain volume.csv --type gp2 --size-gib 100"
HEADINGS = ("at", "verdict", "balance", "runs out in", "worst case", "why", "state")


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
    parser.add_argument(
        "--from", dest="begin", metavar="TIME", help="tell only what was after this time"
    )
    parser.add_argument(
        "--to", dest="end", metavar="TIME", help="and before this one, such as 2026-11-24T12:00"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--html", metavar="FILE.html", help="draw it, into an HTML file")
    form.add_argument(
        "--every-period",
        action="store_true",
        help="print a line for each period: the verdict that burstwatch would have given then",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="tell each change of the verdict and why, and the commands of what would have helped",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the pages sent and the times when the bucket was empty, as one object; with --every-period one object per line",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the story, and draw it where asked to; of several, one line each."""
    if args.html is not None:
        check_target(args.html, inputs=args.series)
    subjects = subjects_of(args)
    if len(subjects) > 1:
        return _tell_several(subjects, args, terminal)
    (subject,) = subjects
    if args.every_period:
        _print_periods(subject, args, terminal)
        return 0
    story = _story_of(subject, args, terminal)
    if args.html:
        Path(args.html).write_text(as_html(story), encoding="utf-8")
    if args.json:
        print(_document(story, subject), file=terminal.stdout)
    else:
        print(_words(story, args, terminal), file=terminal.stdout)
    return 0


def _words(story: Story, args: Namespace, terminal: Terminal) -> str:
    if args.verbose:
        return as_text(story, terminal.columns)
    paint = verdict_painter(terminal.stdout, terminal.env)
    return as_summary(story, terminal.columns, paint=paint)


def _tell_several(subjects: Sequence[str], args: Namespace, terminal: Terminal) -> int:
    """Print one line for each. One that cannot be read hides no other."""
    for name in ("html", "every_period"):
        if getattr(args, name):
            msg = f"--{name.replace('_', '-')} is for one recording or resource, and {len(subjects)} are named"
            raise ValueError(msg)
    return use_each(subjects, partial(_tell_line, args=args, terminal=terminal), terminal)


def _tell_line(subject: str, args: Namespace, terminal: Terminal) -> None:
    """Print one line, or one document."""
    story = _story_of(subject, args, terminal)
    if args.json:
        print(_document(story, subject), file=terminal.stdout, flush=True)
    else:
        terminal.say(f"{inert(subject)}: {present_of(story)}; {answer_of(story)}")


def _story_of(subject: str, args: Namespace, terminal: Terminal) -> Story:
    """What happened to one, in the time that is asked for.

    Raises:
        ValueError: if nothing is recorded of that time.
    """
    begin_s, end_s = _window(subject, args, terminal)
    recorded = _recorded(subject, args, terminal)
    within = recorded.within(begin_s, end_s)
    all_moments = list(recorded.play(_config(args, terminal)).moments())
    moments = [moment for moment in all_moments if begin_s <= moment.t_s <= end_s]
    if not (within.samples and moments):
        raise ValueError(_nothing_of(subject, recorded, args))
    first = all_moments.index(moments[0])
    story = Story(
        recorded=within,
        moments=moments,
        before=all_moments[first - 1] if first else None,
        origin_s=recorded.samples[0].t_s,
        zone=_zone(args),
    )
    return replace(story, fixes=_fixes(story, recorded))


def _zone(args: Namespace) -> tzinfo:
    return conventions_of(args).zone or UTC


def _nothing_of(subject: str, recorded: Recorded, args: Namespace) -> str:
    """Say from when to when a recording is."""
    first, last = recorded.samples[0].t_s, recorded.samples[-1].t_s + recorded.period_s
    zone = _zone(args)
    return f"{subject} has nothing of that time; it is from {recorded_time(first, zone)} to {recorded_time(last, zone)}"


def _window(subject: str, args: Namespace, terminal: Terminal) -> tuple[float, float]:
    """From ``--from`` to ``--to``, in seconds. Datapoints that are late are seen after their end, but of a resource never later than now."""
    begin_s = -inf if args.begin is None else _instant("--from", args.begin, args)
    end_s = inf if args.end is None else _instant("--to", args.end, args)
    if begin_s >= end_s:
        msg = f"--from is {args.begin!r}, which is not before --to, {args.end!r}"
        raise ValueError(msg)
    return begin_s, end_s if names_file(subject) else min(end_s, terminal.clock())


def _instant(option: str, text: str, args: Namespace) -> float:
    """A time as people write it, in the stated zone or UTC.

    Raises:
        ValueError: naming the option.
    """
    _, notes = date_order([text], conventions_of(args))
    if notes:
        msg = f"{option} is {text!r}, which may be two days: write it as 2026-11-24T12:00"
        raise ValueError(msg)
    try:
        # As in a recording of ours: in seconds from 0, if that counts so.
        return read_times([text], conventions_of(args), is_own=True).seconds[0]
    except ValueError:
        msg = f"{option} is {text!r}; allowed: {TIMES}"
        raise ValueError(msg) from None


def _recorded(subject: str, args: Namespace, terminal: Terminal) -> Recorded:
    """A file, or a resource's last hours."""
    if not names_file(subject):
        return _from_account(subject, args, terminal)
    for name in ("hours", "profile", "deployment"):
        if getattr(args, name) is not None:
            msg = f"--{name} is for a resource of the account, and not for a file"
            raise ValueError(msg)
    return read_recorded(subject, args, command="explain", terminal=terminal)


def _config(args: Namespace, terminal: Terminal) -> Config:
    return config_of(args, terminal.env, lambda: make_clients(args, terminal.env))


def _document(story: Story, subject: str) -> str:
    """The story as ``--json`` prints it."""
    recorded = story.recorded
    body = {
        "id": None if names_file(subject) else recorded.resource.id,
        "name": recorded.name,
        "kind": recorded.kind.name,
        "notes": recorded.notes,
        "doubts": recorded.doubts,
        "pages": [page.record() for page in story.pages],
        "run_out": story.times_empty,
        "changes": [moment.record() for moment in story.turns],
        "last": story.moments[-1].record(),
        "exceeded": dict(recorded.exceeded),
        "fixes": [fix.record() for fix in story.fixes],
    }
    return as_document(
        "story", body, at=story.moments[-1].t_s, **_place(subject, recorded.resource.unit)
    )


def _place(subject: str, unit: str) -> Mapping[str, str | None]:
    """The account and the region of a resource; of a file neither."""
    return {} if names_file(subject) else place_of_unit(unit)


def _print_periods(subject: str, args: Namespace, terminal: Terminal) -> None:
    """Print each moment of the time that is asked for, as a row or as an object."""
    begin_s, end_s = _window(subject, args, terminal)
    recorded = _recorded(subject, args, terminal)
    play = recorded.play(_config(args, terminal))
    is_wanted = partial(_is_within, begin_s, end_s)
    if args.json:
        place = _place(subject, recorded.resource.unit)
        as_lines = partial(_as_lines, is_wanted=is_wanted, place=place)
        lines = filter(None, play_parts(play, as_lines, stderr=terminal.stderr))
        first = next(lines, None)
        if first is None:
            raise ValueError(_nothing_of(subject, recorded, args))
        for part in chain([first], lines):
            print(part, end="", file=terminal.stdout)
        return
    as_rows = partial(_as_rows, is_wanted=is_wanted, zone=_zone(args))
    rows = list(chain.from_iterable(play_parts(play, as_rows, stderr=terminal.stderr)))
    if not rows:
        raise ValueError(_nothing_of(subject, recorded, args))
    paint = painter(terminal.stdout, terminal.env)
    print(
        table(HEADINGS, rows, paint=paint, columns=terminal.columns, elastic={"why"}),
        file=terminal.stdout,
    )


def _is_within(begin_s: float, end_s: float, moment: Moment) -> bool:
    return begin_s <= moment.t_s <= end_s


def _as_lines(
    moments: Iterable[Moment],
    *,
    is_wanted: Callable[[Moment], bool],
    place: Mapping[str, str | None],
) -> str:
    records = (moment.record() for moment in filter(is_wanted, moments))
    return "".join(
        as_document("moment", record, at=record["at"], **place) + "\n" for record in records
    )


def _as_rows(
    moments: Iterable[Moment], *, is_wanted: Callable[[Moment], bool], zone: tzinfo
) -> list[tuple[str, ...]]:
    return [
        (
            recorded_time(moment.t_s, zone),
            moment.assessment,
            "-" if moment.balance_ratio is None else balance(moment.balance_ratio),
            time_left(moment.time_to_empty_s),
            time_left(moment.worst_s),
            moment.reason,
            moment.state,
        )
        for moment in filter(is_wanted, moments)
    ]


def _fixes(story: Story, recorded: Recorded) -> tuple[Fix, ...]:
    """Find the fixes that would have helped at the last page, by the load and the balance of that time in the whole recording."""
    bucket = recorded.resource.bucket
    if bucket is None or not story.pages:
        return ()
    page_s = story.pages[-1].t_s
    all_levels, all_demand = recorded.points
    levels = [level for level in all_levels if page_s - BEFORE_PAGE_S <= level.start_s < page_s]
    demand = [point for point in all_demand if page_s - BEFORE_PAGE_S <= point.start_s < page_s]
    if not levels:
        return ()
    demand_rate = fmean(point.nominal for point in demand) if demand else _spent(bucket, levels)
    if demand_rate <= bucket.refill:
        return ()
    credits_left = levels[-1].ratio * bucket.capacity
    return recorded.kind.what_helps(
        recorded.resource, credits_left, demand_rate, _recent_rates(recorded, page_s)
    )


def _recent_rates(recorded: Recorded, page_s: float) -> RatesByMetric:
    """The mean rates before a page, by metric."""
    recent = [
        sample for sample in recorded.samples if page_s - BEFORE_PAGE_S <= sample.t_s < page_s
    ]
    periods = rates_by_period(recent, recorded.kind, recorded.period_s)
    names = {name for rates in periods for name in rates}
    return {name: fmean(rates[name] for rates in periods if name in rates) for name in names}


def _spent(bucket: Bucket, levels: Sequence[LevelPoint]) -> float:
    """Credits a second by the fall of the balance; 0 for a single level."""
    oldest, last = levels[0], levels[-1]
    fallen = (oldest.ratio - last.ratio) * bucket.capacity
    return bucket.refill + fallen / (last.start_s - oldest.start_s) if last is not oldest else 0.0


def _from_account(subject: str, args: Namespace, terminal: Terminal) -> Recorded:
    """Record a resource's last hours from CloudWatch; raises ValueError for options that only a file takes."""
    back_hours = 24.0 if args.hours is None else args.hours
    if not 0 < back_hours <= MOST_HOURS:
        msg = f"is {back_hours:g}; allowed: above 0 to {MOST_HOURS:g}: CloudWatch keeps one-minute datapoints for {MOST_HOURS / 24:g} days"
        raise InputError(msg, name="hours")
    own_flags = (args.type, args.size_gib, args.period_s, args.spec or None, args.only or None)
    if own_flags != (None,) * len(own_flags):
        msg = f"there is no file {subject!r}; for a resource of the account leave out --type, --size-gib, --period-s, --spec and --only, which it knows"
        raise ValueError(msg)
    check_times(None, args.delay_s)
    try:
        clients = make_clients(args, terminal.env)
    except ValueError as error:
        msg = f"there is no file {subject!r}, and a resource with this id cannot be looked up: {error}"
        raise ValueError(msg) from None
    from burstwatch.aws.look.recording import record  # noqa: PLC0415 - boto3 takes long to import

    recorded = record(
        clients, kinds_of(args), subject, now=terminal.clock(), back_s=3_600 * back_hours
    )
    begin_s = recorded.samples[0].t_s
    if args.hours is not None and begin_s > terminal.clock() - 3_600 * back_hours + SHORTER_S:
        text = f"CloudWatch has only the last {span(terminal.clock() - begin_s)} of it"
        terminal.tell(f"{subject}: {text}")
    return replace(recorded, delay_s=args.delay_s)

"""Reads the recording and the resource that a command plays: shared by explain, advise and backtest."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from burstwatch.backtest.replay import Recorded
from burstwatch.cli.main import OK, PARTIAL, WRONG_INPUT, Terminal
from burstwatch.cli.values import add_kind_argument, kinds_of_type, seconds, size_gib
from burstwatch.formatting import InputError
from burstwatch.history.track import LOOK_BACK_S
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from burstwatch.recordings.doubts import doubts
from burstwatch.recordings.grid import LONGEST_PERIOD_S, to_grid
from burstwatch.recordings.matching import match_metrics, name_series
from burstwatch.recordings.reading import ADDRESS, STDIN, read_file, read_text
from burstwatch.recordings.samples import Contents, to_points
from burstwatch.recordings.times import Conventions, read_zone

EXAMPLE = "gp2_400gib.csv"
EXAMPLE_SPEC = {"type": "gp2", "size_gib": "400"}
EXAMPLE_NAME = "recorded writes on a simulated volume"
#: The kind of a database whose type is no class of instances.
STORAGE = "rds_storage"
#: Values of a description that have a flag of their own.
OWN_FLAGS = ("type", "size_gib")
FORMATS = (
    "FILE is what the AWS CLI, CloudWatch's console, Grafana, Prometheus, InfluxDB, Datadog, pandas and others write, or "
    "`burstwatch export`; docs/recordings.md has all formats. It can be gzipped (.gz). - reads standard input. A file with only the "
    "balance is enough."
)


#: How late each datapoint of CloudWatch is taken to have come.
USUAL_DELAY_S = 300.0


class DoubtError(ValueError):
    """A recording is doubtful, and no doubt is allowed."""


def use_each(subjects: Sequence[str], use: Callable[[str], None], terminal: Terminal) -> int:
    """Use each of the recordings and resources that are named, and return the exit code. Of several, one that fails hides no other.

    Raises:
        ValueError: if the only one fails, or standard input is named twice.
        OSError: if the only one cannot be read.
    """
    if subjects.count(STDIN) > 1:
        msg = "standard input can be read once, and - is named several times"
        raise ValueError(msg)
    if len(subjects) == 1:
        use(subjects[0])
        return OK
    used, is_doubted = 0, False
    for subject in subjects:
        try:
            use(subject)
            used += 1
        except (ValueError, OSError) as error:
            terminal.tell_error(error)
            is_doubted = is_doubted or isinstance(error, DoubtError)
    if is_doubted or not used:
        return WRONG_INPUT
    return PARTIAL if used < len(subjects) else OK


def add_series_arguments(
    parser: ArgumentParser, *, metavar: str = "FILE", is_required: bool = True
) -> None:
    """The recording, the resource it was recorded on, and how late CloudWatch was."""
    source = parser.add_mutually_exclusive_group(required=is_required)
    source.add_argument(
        "series", nargs="*", default=[], metavar=metavar, help="a recording; - reads stdin"
    )
    source.add_argument(
        "--example", action="store_true", help="use the example recording of burstwatch"
    )
    add_spec_arguments(parser)
    parser.add_argument("--type", type=str.lower, help="such as gp2 or t3.medium")
    parser.add_argument(
        "--size-gib",
        type=size_gib,
        metavar="SIZE",
        help="the size of the volume, such as 100 or 1TiB",
    )
    parser.add_argument(
        "--period-s", type=seconds, metavar="SECONDS", help="seconds per row (default: inferred)"
    )
    parser.add_argument(
        "--delay-s",
        type=seconds,
        default=USUAL_DELAY_S,
        metavar="SECONDS",
        help="how many seconds late each datapoint came, default 300",
    )


def subjects_of(args: Namespace) -> list[str]:
    """What is named: files and resources, or the example."""
    return [EXAMPLE] if args.example else args.series


def names_file(subject: str) -> bool:
    """True if it is a recording: the example, stdin, a file that exists, or what looks like a file's path.

    A claim of Kubernetes has a slash in its name too: ``payments/data-postgres-0``.
    """
    if subject in {EXAMPLE, STDIN} or Path(subject).exists() or ADDRESS.match(subject):
        return True
    return subject.startswith(("/", "./", "../")) or Path(subject).suffix in {
        ".csv",
        ".json",
        ".gz",
        ".txt",
        ".tsv",
    }


def add_spec_arguments(parser: ArgumentParser) -> None:
    """Another kind than an EBS volume, and which series of a file."""
    add_kind_argument(parser, "the kind of the resource, if it is not an EBS volume")
    parser.add_argument(
        "--spec",
        default="",
        metavar="KEY=VALUE,...",
        help="the resource that was recorded, such as type=t3.medium",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="only the series of this name, or else those with TEXT in their label",
    )
    parser.add_argument(
        "--metric", default="", help="the metric of the file's series, if the file does not name it"
    )
    parser.add_argument(
        "--statistic",
        default="",
        type=str.capitalize,
        choices=["Minimum", "Average"],
        metavar="STATISTIC",
        help="Minimum or Average: what the balance is, if the file does not say it",
    )
    parser.add_argument(
        "--timezone",
        metavar="ZONE",
        help="the time zone of times without one, such as Europe/Berlin (default: UTC)",
    )
    parser.add_argument(
        "--date-order",
        choices=["dmy", "mdy", "ymd"],
        metavar="ORDER",
        help="the order in dates: dmy, mdy or ymd (default: what fits all rows)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="a doubt of a file ends the command with exit code 2"
    )


def conventions_of(args: Namespace) -> Conventions:
    """Take the zone and the order of dates from the arguments.

    Raises:
        ValueError: for a time zone that is not known.
    """
    zone = None if args.timezone is None else read_zone(args.timezone)
    return Conventions(zone=zone, date_order=args.date_order)


def read_recorded(subject: str, args: Namespace, *, command: str, terminal: Terminal) -> Recorded:
    """Read one of the recordings that the arguments name, and say on stderr what was assumed and what is doubtful.

    Raises:
        ValueError: naming what is missing or out of range.
    """
    check_times(args.period_s, args.delay_s)
    if args.example:
        text = (files("burstwatch.backtest") / "examples" / EXAMPLE).read_text()
        recording = read_text(text, name=EXAMPLE)
        about = replace(recording.about, kind=EBS_VOLUME.name, spec=EXAMPLE_SPEC)
        contents = replace(recording, about=about)
    else:
        contents = read_file(subject, stdin=terminal.stdin, conventions=conventions_of(args))
    sized = {
        name: f"{value}"
        for name, value in (("type", args.type), ("size_gib", args.size_gib))
        if value is not None
    }
    kind, spec = spec_of(args, contents, sized, command=command)
    contents = name_series(contents, kind, metric=args.metric, statistic=args.statistic)
    recorded = place_recorded(
        contents,
        kind,
        spec,
        name=EXAMPLE_NAME if args.example else subject,
        only=args.only,
        period_s=args.period_s,
        delay_s=args.delay_s,
        region=getattr(args, "region", None) or contents.about.region,
    )
    tell_doubts(recorded, terminal, is_strict=args.strict)
    return recorded


def tell_doubts(recorded: Recorded, terminal: Terminal, *, is_strict: bool) -> None:
    """Say on stderr what was assumed of a recording and what is doubtful.

    Raises:
        DoubtError: if there is a doubt and none is allowed.
    """
    if recorded.notes:
        terminal.tell(f"{recorded.name}: {'; '.join(recorded.notes)}")
    for doubt in recorded.doubts:
        terminal.tell(f"{recorded.name}: doubtful: {doubt}")
    if recorded.doubts and is_strict:
        msg = f"{recorded.name}: nothing is said of what is doubtful, because of --strict"
        raise DoubtError(msg)


def spec_of(
    args: Namespace, contents: Contents, sized: Mapping[str, str], *, command: str
) -> tuple[Kind, dict[str, str]]:
    """The kind and its description: the arguments', and what the file says of itself.

    Raises:
        ValueError: naming what is missing or of the wrong form.
    """
    kind = find_kinds().get(
        args.kind or contents.about.kind or _kind_by_metrics(contents, args.type)
    )
    if kind is None:
        msg = f"the recording is of the kind {contents.about.kind!r}; allowed: {', '.join(find_kinds())}"
        raise ValueError(msg)
    pairs = [part.partition("=") for part in args.spec.split(",") if part]
    for pair, is_pair, _ in pairs:
        if not is_pair:
            msg = f"--spec takes key=value, got {pair!r}"
            raise ValueError(msg)
    described = {key.strip(): value.strip() for key, _, value in pairs}
    if len(described) < len(pairs):
        msg = f"--spec has a key twice: {args.spec!r}"
        raise ValueError(msg)
    twice = [key for key in described if described[key] != sized.get(key, described[key])]
    if twice:
        msg = f"is {sized[twice[0]]!r}, and {described[twice[0]]!r} in --spec: say it once"
        raise InputError(msg, name=twice[0])
    stated = {**described, **sized}
    of_file = contents.about.spec if kind.name == contents.about.kind else {}
    spec = {**of_file, **stated}
    is_known = spec.keys() <= kind.example.spec.keys()
    if is_known and not spec.keys() >= set(kind.example.needed):
        missing = [name for name in kind.example.needed if name not in spec]
        msg = f"{command} needs {_flags_of(missing)}, to describe the resource that was recorded"
        raise ValueError(msg)
    return kind, spec


def _flags_of(needed: Sequence[str]) -> str:
    """The flags that describe a resource, in words."""
    flags = [f"--{name.replace('_', '-')}" for name in OWN_FLAGS if name in needed]
    others = [name for name in needed if name not in OWN_FLAGS]
    if others:
        flags.append(f"--spec with {', '.join(others)}")
    return " and ".join(flags)


def _kind_by_metrics(contents: Contents, type_name: str | None) -> str:
    """The kind whose metrics the file has and whose type is stated; without a type of an instance, EBS volumes."""
    if not type_name or "." not in type_name:
        return EBS_VOLUME.name
    labels = [re.sub(r"[^a-z0-9]", "", series.label.lower()) for series in contents.series]

    def metrics_in_file(kind: Kind) -> int:
        return sum(
            any(metric.lower() in label for label in labels) for metric in kind.level_metrics
        )

    chosen = max(kinds_of_type(type_name), key=metrics_in_file)
    if chosen.name == STORAGE:
        msg = f"the recording has {chosen.level_metrics[0]}, the credits of the storage, and {type_name} is a class of instances: give --kind {STORAGE} --type gp2 and --size-gib"
        raise ValueError(msg)
    return chosen.name


def place_recorded(
    contents: Contents,
    kind: Kind,
    spec: Mapping[str, str],
    *,
    name: str,
    only: str,
    period_s: float | None,
    delay_s: float,
    region: str = "",
) -> Recorded:
    """Put the series of a file on a grid, for a resource that is described by hand.

    Raises:
        ValueError: naming what is missing, unknown or out of range.
    """
    buckets = described_by_hand(kind, spec, region=region)
    unknown = [bucket.terms.not_watched for bucket in buckets]
    if all(unknown):
        needed = "; ".join(f"{name}: {kind.example.spec[name]}" for name in spec)
        msg = f"{unknown[0]}; allowed for {kind.name}: {needed}"
        raise ValueError(msg)
    if contents.about.is_own and kind.columns:
        buckets = tuple(
            replace(bucket, reporting=replace(bucket.reporting, statistic="Minimum"))
            for bucket in buckets
        )
    matched = match_metrics(contents, kind, buckets, only=only, name=name)
    grid = to_grid(matched, kind, contents, period_s=period_s, name=name)
    points = to_points(grid.samples, matched.resource, grid.period_s, kind)
    notes = [*contents.about.notes, *matched.notes, *grid.notes]
    if not contents.about.is_own:
        notes.insert(0, f"{contents.about.format}, periods of {grid.period_s:g} s")
    _, demand = points
    amounts = {metric.name for metric in kind.demand_metrics}
    if not demand and amounts & matched.points.keys():
        missing = ", ".join(sorted(amounts - matched.points.keys())) or "a part of it"
        notes.append(f"the load is not used, {missing} is missing")
    return Recorded(
        name=name,
        kind=kind,
        resource=matched.resource,
        samples=grid.samples,
        points=points,
        period_s=grid.period_s,
        delay_s=delay_s,
        notes=tuple(notes),
        doubts=(*grid.contradictions, *doubts(grid.samples, points, matched.resource, kind)),
    )


def check_times(period_s: float | None, delay_s: float) -> None:
    """Refuse a period or a delay that is out of range.

    Raises:
        ValueError: saying what is allowed.
    """
    period = 60.0 if period_s is None else period_s
    if not 1 <= period <= LONGEST_PERIOD_S:
        msg = f"must be from 1 to {LONGEST_PERIOD_S:g}, got {period:g}"
        raise InputError(msg, name="period_s")
    if not 0 <= delay_s <= LOOK_BACK_S:
        msg = f"must be from 0 to {LOOK_BACK_S:g}, got {delay_s:g}"
        raise InputError(msg, name="delay_s")

"""Reads the series and the volume that a command plays: shared by replay and explain."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from burstwatch.backtest.replay import volume
from burstwatch.backtest.series import Row, Sample, read_samples, read_series
from burstwatch.forecast.whatif_kind import described_by_hand
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind

EXAMPLE = "gp2_100gib.csv"
EXAMPLE_TYPE, EXAMPLE_SIZE_GIB, EXAMPLE_PERIOD_S = "gp2", 100.0, 300.0
LONGEST_PERIOD_S, LONGEST_DELAY_S = 3_600.0, 86_400.0


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A series with its volume, and how late its datapoints are taken to have come."""

    name: str
    rows: list[Row]
    resource: Resource
    period_s: float
    delay_s: float


def add_series_arguments(parser: ArgumentParser, *, metavar: str = "SERIES.csv") -> None:
    """The series, the volume it was recorded on, and how late CloudWatch was."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("series", nargs="?", metavar=metavar)
    source.add_argument("--example", action="store_true", help="a series that ships with it")
    parser.add_argument("--type", help="gp2, st1 or sc1")
    parser.add_argument("--size-gib", type=float)
    parser.add_argument("--period-s", type=float, help="seconds per row (default 60)")
    parser.add_argument("--delay-s", type=float, default=300.0, help="default 300")


def read_recorded(args: Namespace, *, command: str) -> Recorded:
    """Read what the arguments name.

    Raises:
        ValueError: naming what is missing or out of range.
    """
    if args.example:
        lines = (files("burstwatch.backtest") / "examples" / EXAMPLE).read_text().splitlines()
        name, default_period = EXAMPLE, EXAMPLE_PERIOD_S
    else:
        lines = _lines(Path(args.series))
        name, default_period = args.series, 60.0
    period_s = default_period if args.period_s is None else args.period_s
    check_times(period_s, args.delay_s)
    if not args.example and (args.type is None or args.size_gib is None):
        msg = f"{command} needs --type and --size-gib, the volume that the series was recorded on"
        raise ValueError(msg)
    resource = volume(
        EXAMPLE_TYPE if args.type is None else args.type,
        EXAMPLE_SIZE_GIB if args.size_gib is None else args.size_gib,
    )
    rows = read_series(lines, name=name)
    check_spacing(rows, period_s, name=name)
    return Recorded(
        name=name,
        rows=rows,
        resource=resource,
        period_s=period_s,
        delay_s=args.delay_s,
    )


def add_kind_arguments(parser: ArgumentParser) -> None:
    """A series of another kind than an EBS volume."""
    parser.add_argument(
        "--kind",
        choices=[*find_kinds()],
        help="of another kind than an EBS volume: the columns are t_s and CloudWatch's metrics",
    )
    parser.add_argument(
        "--spec",
        default="",
        metavar="KEY=VALUE,...",
        help="what the series of a --kind was recorded on, such as type=t3.medium",
    )


@dataclass(frozen=True, kw_only=True)
class RecordedKind:
    """A series of any kind, with the bucket that it was recorded on."""

    kind: Kind
    rows: list[Sample]
    resource: Resource
    period_s: float


def read_kind(args: Namespace) -> RecordedKind:
    """Read the series of a ``--kind``.

    Raises:
        ValueError: naming what is missing, not allowed or out of range.
    """
    kind = find_kinds()[args.kind]
    if args.example or args.type is not None or args.size_gib is not None:
        msg = "a --kind takes a file and --spec, not --example, --type or --size-gib"
        raise ValueError(msg)
    pairs = [one.partition("=") for one in args.spec.split(",") if one]
    for name, is_pair, _ in pairs:
        if not is_pair:
            msg = f"--spec takes key=value, got {name!r}"
            raise ValueError(msg)
    spec = {name.strip(): value.strip() for name, _, value in pairs}
    found = {one.level_metric: one for one in described_by_hand(kind, spec)}
    lines = _lines(Path(args.series))
    heading = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    levels = [metric for metric in found if metric in [one.strip() for one in heading.split(",")]]
    if len(levels) != 1:
        msg = f"{args.series}: the columns must have one level of {', '.join(found)}, got {heading.strip()}"
        raise ValueError(msg)
    period_s = 60.0 if args.period_s is None else args.period_s
    check_times(period_s, args.delay_s)
    metrics = (*levels, *(metric.name for metric in kind.demand_metrics))
    rows = read_samples(lines, metrics, name=args.series)
    check_spacing(rows, period_s, name=args.series)
    return RecordedKind(kind=kind, rows=rows, resource=found[levels[0]], period_s=period_s)


def check_spacing(rows: Sequence[Row | Sample], period_s: float, *, name: str) -> None:
    """Refuse rows of another period than stated: their sums would be taken for other rates.

    Raises:
        ValueError: with the distance that most rows have.
    """
    gaps = Counter(after.t_s - before.t_s for before, after in pairwise(rows))
    commonest, _ = gaps.most_common(1)[0] if gaps else (period_s, 0)
    if gaps and gaps[period_s] == 0 and commonest < LONGEST_PERIOD_S:
        msg = f"{name}: the rows are {commonest:g} s apart, and not {period_s:g}: say --period-s {commonest:g}"
        raise ValueError(msg)


def check_times(period_s: float, delay_s: float) -> None:
    """Refuse what no metric has.

    Raises:
        ValueError: saying what is allowed.
    """
    if not 1 <= period_s <= LONGEST_PERIOD_S or not 0 <= delay_s <= LONGEST_DELAY_S:
        msg = f"period_s must be 1 to 3600 and delay_s 0 to 86400, got {period_s:g} and {delay_s:g}"
        raise ValueError(msg)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
        raise ValueError(msg) from None

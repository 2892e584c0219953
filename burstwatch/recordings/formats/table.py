"""Reads tables of text: our own columns, the CloudWatch console's CSV, and Grafana's CSV.

A table has heading rows, then a row per time. The console writes one heading row each for
label, statistic and period; the others write one heading row.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from burstwatch.recordings.cells import NUMBERS, TIMES, parse_number, parse_time_cell
from burstwatch.recordings.matching import is_metric_name
from burstwatch.recordings.samples import Contents, RecordedSeries

_Cell = TypeVar("_Cell")
TIME_NAMES = frozenset({"t_s", "time", "timestamp", "date", "datetime"})
#: The heading rows of the console that name a column.
LABEL_ROWS = ("full label", "label", "metric", "id")
DELIMITERS = ",;\t"
DECIMAL_COMMA = re.compile(r"[0-9],[0-9]")
SEPARATOR = "sep="
#: A smaller number is no time since 1970 that a program of today has written.
FIRST_YEARS_S = 1e8
LONGEST_SHOWN = 80
#: The first line of a file that `burstwatch export` wrote.
OWN_MARK = "# burstwatch "


@dataclass(kw_only=True)
class _Columns:
    """The columns of a table while its rows are read."""

    names: list[tuple[str, ...]]
    statistics: list[str]
    periods: list[float | None]
    time: int
    time_is_named: bool
    has_decimal_comma: bool
    is_own: bool
    points: list[list[tuple[float, float]]]
    times: list[float] = field(default_factory=list)
    #: The first cell of each column of text, such as an id or the name of a host, and why it is no number.
    texts: dict[int, str] = field(default_factory=dict)
    says_zone: bool = True


def read_table(text: str, *, name: str) -> Contents:
    """The columns of a table as series.

    Raises:
        ValueError: naming the file, the line, the cell and what is allowed.
    """
    lines = text.splitlines()
    delimiter = _delimiter(lines)
    headings: list[list[str]] = []
    columns: _Columns | None = None
    for number, cells in _rows(lines, delimiter, name=name):
        where = f"{name} line {number}"
        if columns is None and not _is_data(headings, cells):
            headings.append(cells)
            continue
        if columns is None:
            # One comma tells which sign is the decimal one in the whole file.
            has_comma = delimiter == ";" and any(DECIMAL_COMMA.search(line) for line in lines)
            columns = _columns(headings, has_decimal_comma=has_comma, where=where)
        _take(columns, cells, where=where)
    if columns is None:
        msg = f"{name}: no rows with a time and values under a heading"
        if len(headings) > 1:
            cell = _short(headings[-1][0])
            msg = f"{msg}: the last row begins with {cell!r}; a time is {TIMES}"
        raise ValueError(msg)
    if len(columns.texts) == len(columns.names) - 1:
        raise ValueError(columns.texts[min(columns.texts)])
    return _contents(columns, _own_mark(lines), is_console=len(headings) > 1)


def _contents(columns: _Columns, about: Mapping[str, str], *, is_console: bool) -> Contents:
    """Collect the columns, and what the comments above them say of the resource."""
    pairs = (pair.partition("=") for pair in about.get("spec", "").split(","))
    format_ = "CSV of the CloudWatch console" if is_console else "CSV"
    return Contents(
        format="our own columns" if columns.is_own else format_,
        series=[
            RecordedSeries(names=names, statistic=statistic, period_s=period_s, points=points)
            for place, (names, statistic, period_s, points) in enumerate(
                zip(columns.names, columns.statistics, columns.periods, columns.points, strict=True)
            )
            if place != columns.time
        ],
        row_times=tuple(columns.times),
        is_own=columns.is_own,
        gaps_are_silence=not columns.is_own,
        kind=about.get("kind", ""),
        level_statistic=about.get("statistic", ""),
        spec={key: value for key, has_value, value in pairs if has_value},
        notes=() if columns.says_zone else ("times have no zone and are taken as UTC",),
    )


def _own_mark(lines: Sequence[str]) -> dict[str, str]:
    """Parse the first line of a file of ours: ``# burstwatch kind=ebs_volume spec=type=gp2,size_gib=100``."""
    if not lines or not lines[0].startswith(OWN_MARK):
        return {}
    pairs = (word.partition("=") for word in lines[0].removeprefix(OWN_MARK).split())
    return {key: value for key, _, value in pairs}


def _delimiter(lines: Iterable[str]) -> str:
    for line in lines:
        if line.startswith(SEPARATOR) and len(line) == len(SEPARATOR) + 1:
            return line[-1]
        if line.strip() and not line.startswith("#"):
            return max(DELIMITERS, key=line.count)
    return ","


def _rows(lines: Sequence[str], delimiter: str, *, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their line numbers, without comments and empty lines."""
    kept = ("" if line.startswith(("#", SEPARATOR)) else line for line in lines)
    reader = csv.reader(kept, delimiter=delimiter)
    try:
        for cells in reader:
            if any(cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        msg = f"{name} line {reader.line_num}: {error}"
        raise ValueError(msg) from None


def _is_data(headings: Sequence[Sequence[str]], cells: Sequence[str]) -> bool:
    """True if a row follows a heading with a time, or begins with a time itself."""
    if not headings:
        return False
    if any(cell.lower() in TIME_NAMES for cell in headings[-1]):
        return True
    try:
        parse_time_cell(cells[0])
    except (ValueError, OverflowError):
        return False
    return True


def _columns(headings: Sequence[Sequence[str]], *, has_decimal_comma: bool, where: str) -> _Columns:
    """The columns as the heading rows name them."""
    last = headings[-1]
    width = max(map(len, headings))
    rows = {row[0].lower(): row for row in headings}
    naming = [rows[key] for key in LABEL_ROWS if key in rows] or [last]
    names = [tuple(row[place] for row in naming if place < len(row)) for place in range(width)]
    statistics = _padded([cell.capitalize() for cell in rows.get("statistic", ())], width, "")
    told_apart = list(zip(names, statistics, strict=True))
    for heading in told_apart:
        if any(heading[0]) and told_apart.count(heading) > 1:
            msg = f"{where}: two columns are called {_short(' '.join(heading[0]))!r}"
            raise ValueError(msg)
    time = next((n for n, cell in enumerate(last) if cell.lower() in TIME_NAMES), None)
    return _Columns(
        names=names,
        statistics=statistics,
        periods=_padded([_period(cell) for cell in rows.get("period", ())], width, None),
        time=time or 0,
        time_is_named=time is not None,
        has_decimal_comma=has_decimal_comma,
        is_own="t_s" in last,
        points=[[] for _ in range(width)],
    )


def _padded(cells: list[_Cell], width: int, nothing: _Cell) -> list[_Cell]:
    return [*cells, *[nothing] * (width - len(cells))]


def _period(cell: str) -> float | None:
    return float(cell) if cell.isdecimal() and float(cell) > 0 else None


def _take(columns: _Columns, cells: Sequence[str], *, where: str) -> None:
    """Take one row's values at its time."""
    if len(cells) != len(columns.names):
        msg = f"{where}: {len(columns.names)} cells expected, got {len(cells)}"
        raise ValueError(msg)
    try:
        at, says_zone = parse_time_cell(cells[columns.time])
    except (ValueError, OverflowError):
        msg = f"{where}: the time is {_short(cells[columns.time])!r}, allowed are {TIMES}"
        raise ValueError(msg) from None
    if at < FIRST_YEARS_S and not columns.time_is_named:
        column = _short(" ".join(columns.names[0]))
        msg = f"{where}: the first column, {column!r}, is no time: name the column of times t_s or Time"
        raise ValueError(msg)
    columns.times.append(at)
    columns.says_zone = columns.says_zone and says_zone
    for place, cell in enumerate(cells):
        if not cell or place == columns.time:
            continue
        try:
            value = parse_number(cell, has_decimal_comma=columns.has_decimal_comma)
        except ValueError:
            column = " ".join(columns.names[place]) or f"column {place + 1}"
            msg = f"{where}: {column} is {_short(cell)!r}, allowed is {NUMBERS}"
            if columns.points[place] or any(map(is_metric_name, columns.names[place])):
                raise ValueError(msg) from None
            columns.texts.setdefault(place, msg)
            continue
        if value is not None:
            if place in columns.texts:
                raise ValueError(columns.texts[place])
            columns.points[place].append((at, value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."

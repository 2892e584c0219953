"""Reads rows of cells as series, however a program arranges them.

A table has rows of headings, or none, and then a row per time. Either each metric has a column, or one column names
the metric of a row, or the columns are statistics of a single metric.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from zoneinfo import available_timezones

from burstwatch.recordings.cells import NOTHING, NUMBERS, parse_number
from burstwatch.recordings.formats.layouts import TextRow, split_rows
from burstwatch.recordings.matching import (
    RESOURCE_ID,
    is_metric_name,
    is_of_a_poller,
    says_nothing,
    statistic_of_word,
)
from burstwatch.recordings.raw import NoTimesError, RawContents, RawSeries, merged
from burstwatch.recordings.samples import About
from burstwatch.recordings.times import TIMES, is_time
from burstwatch.recordings.written_times import short

#: Headings of times in the order in which they are preferred, without the signs between their words.
TIME_NAMES = (
    "ts", "atimestamp", "timestamp", "timestampper", "time", "datetime", "epoch", "datehour", "date",
)  # fmt: skip
#: A heading of times is no longer, even with the name of its series and its zone; that of a metric may be a whole query.
LONGEST_NAME_OF_TIME = 200
#: So many rows without a time are looked at: above all data, or below their heading.
MOST_WRONG = 1_000
#: A zone at the end of a heading: in parentheses, or UTC with an offset.
ZONE_OF_HEADING = re.compile(
    r"\s*[(\[]\s*((?:UTC|GMT)?\s*[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]+(?:/[A-Za-z_]+)+|[A-Z]{2,5})\s*[)\]]\s*$"
    r"|[\W_]+((?:utc|gmt)(?:\s*[+-]\d{1,2}(?::?\d{2})?)?)\s*$",
    re.IGNORECASE,
)
#: Headings of columns that are a part of the time beside them: its zone, or its half of the day.
PARTS_OF_TIME = frozenset({"tz", "timezone", "utcoffset", "ampm"})
#: What is a zone whatever the heading says, and what is one under a heading of zones. A name such as Europe/Berlin is looked up.
ZONE = re.compile(r"UTC|GMT|(?:UTC|GMT)?[+-]\d{1,2}:\d{2}|(?:UTC|GMT)[+-]\d{1,4}")
SHORT_ZONE = re.compile(r"[+-]\d{1,4}|Z|[A-Z]{3,4}")
ZONE_HEADING = re.compile(r"zone|offset|^tz|tz$")
#: A time that says its zone, or needs none.
WHOLE_TIME = re.compile(r"\d+(?:\.\d+)?|.*\d\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})")
CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?( ?[AaPp]\.?[Mm]\.?)?")
#: Headings of columns that name the statistic of a row.
STATISTIC_NAMES = frozenset({"statistic", "stat", "stats", "statistics", "aggregation"})
#: A time of a window that an InfluxDB query gives beside the time of each point.
WINDOW_NAMES = frozenset({"_start", "_stop"})
#: Headings of columns that say which metric or series a row is of.
KEY_NAMES = frozenset(
    {"series", "seriesname", "metric", "metricname", "name", "field", "variable", "legend", "label", "measurement", "id"}
)  # fmt: skip
#: Headings that say nothing of a series, and are left out without a word.
UNIT_NAMES = frozenset({"unit", "units"})
#: A title that is the name of a metric, perhaps with its statistic: one word of letters, or two.
TITLE = re.compile(r"(?:\w+ )?[A-Z][A-Za-z]*[a-z][A-Z]\w*%?(?: \w+)?")
#: A value of Athena that has parts.
STRUCTURE = re.compile(r"\{(?:\w+=[-+.\deE]+,? ?)+\}")
#: The column of percentiles, which a datapoint of PowerShell always has.
ALL_STATISTICS, ZEROS = "ExtendedStatistics", frozenset({"0", "0.0", "0,0"})
PLAIN_NAMES = UNIT_NAMES | frozenset(
    {"index", "unnamed0", "result", "table", "rownumber", "extendedstatistics"}
)
OWN_TIME = "t_s"
#: The first line of a file that `burstwatch export` wrote.
OWN_MARK = "# burstwatch "


@dataclass(frozen=True, kw_only=True, slots=True)
class _Headings:
    """The names of columns, and all else that the rows above the data say."""

    names: list[tuple[str, ...]]
    statistics: list[str]
    periods: list[float | None]
    time: int
    has_time_name: bool
    zone: str


def read_table(text: str, *, name: str) -> RawContents:
    """The columns of a text as series.

    Raises:
        ValueError: naming the file, the line, the cell and what is allowed.
    """
    rows, separator = split_rows(text, name=name)
    return read_rows(
        rows,
        name=name,
        about=_own_mark(text, name),
        separator=separator,
        format_="CSV",
    )


def read_rows(
    rows: Sequence[TextRow],
    *,
    name: str,
    format_: str,
    separator: str = ",",
    about: Mapping[str, str] | None = None,
) -> RawContents:
    """Rows of cells as series. A heading that comes again, or another one, begins a table of its own.

    Raises:
        ValueError: naming the file, the line, the cell and what is allowed.
    """
    parts: list[RawContents] = []
    headings: list[list[str]] = []
    data: list[TextRow] = []
    time: int | None = None
    wrong = 0
    for row in rows:
        if len(headings) > MOST_WRONG:
            raise _no_times(headings, rows, name)
        # Most rows begin like a time where the rows before have one.
        if data and time is not None:
            cell = row.cells[time] if time < len(row.cells) else ""
            if cell[:1].isdigit() or is_time(cell):
                data.append(row)
                continue
            wrong += 1
            _check_wrong(wrong, cell, f"{name} line {row.line}")
        if _is_data(headings, row.cells):
            time = _time_column(headings[-1]) if headings else None
            data.append(row)
            continue
        if data and not _is_heading(row.cells):
            data.append(row)  # a row with a wrong time, which reading says
            continue
        if data:
            parts.append(_read(headings, data, name, format_, separator, about or {}))
            headings, data = [], []
        headings.append(row.cells)
    if not data and not parts:
        raise _no_times(headings, rows, name)
    if data:
        parts.append(_read(headings, data, name, format_, separator, about or {}))
    return merged(parts)


def _check_wrong(wrong: int, cell: str, where: str) -> None:
    """Refuse a table whose rows have no times, before all of them are looked at."""
    if wrong > MOST_WRONG:
        msg = f"{where}: {short(cell)!r} is no time, as in {MOST_WRONG:,} rows before it; a time is {TIMES}"
        raise ValueError(msg)


def _no_times(
    headings: Sequence[Sequence[str]], rows: Sequence[TextRow], name: str
) -> NoTimesError:
    """Say of rows without a time what is missing."""
    is_counted = len(headings) > 1 and _is_number("".join(headings[-1][:1]))
    if is_counted and any(map(is_metric_name, headings[0])):
        msg = f"{name} line {rows[1].line}: the first column, {short(headings[0][0])!r}, is no time: name the column of times t_s or Time"
        return NoTimesError(msg)
    msg = f"{name}: no rows with a time and values under a heading"
    if headings:
        msg = f"{msg}: the last row begins with {short(''.join(headings[-1][:1]))!r}; a time is {TIMES}"
    return NoTimesError(msg)


def _own_mark(text: str, name: str) -> dict[str, str]:
    """Parse the first line of a file of ours: ``# burstwatch kind=ebs_volume spec=type=gp2,size_gib=100``.

    Raises:
        ValueError: if files of different resources follow one another.
    """
    marks = [line.rstrip() for line in text.splitlines() if line.startswith(OWN_MARK)]
    if len(set(marks)) > 1:
        msg = f"{name} has files of {len(set(marks))} resources, each with its own first line: give one file for each"
        raise ValueError(msg)
    if not text.startswith(OWN_MARK):
        return {}
    pairs = (word.partition("=") for word in marks[0].removeprefix(OWN_MARK).split())
    return {key: value for key, _, value in pairs}


def _plain(heading: str) -> str:
    return re.sub(r"[^a-z0-9]", "", heading.lower())


def _is_data(headings: Sequence[Sequence[str]], cells: Sequence[str]) -> bool:
    """True if a row has a time, or follows a heading of times."""
    if headings and _time_column(headings[-1]) is not None:
        return not _is_heading(cells)
    return any(map(is_time, cells)) and (bool(headings) or len(cells) > 1)


def _is_heading(cells: Sequence[str]) -> bool:
    """True if a row names columns: no cell is a number or a time, and one names a time or a metric."""
    if any(_is_number(cell) or is_time(cell) for cell in cells):
        return False
    return _time_column(cells) is not None or any(map(is_metric_name, cells))


def _is_number(cell: str) -> bool:
    """True if a cell is a number that a metric can have, with either sign as the decimal one."""
    try:
        return float(cell) >= 0
    except ValueError:
        pass
    # Two dots separate thousands.
    for decimal_comma in (False, True) if "," in cell or cell.count(".") > 1 else (False,):
        with suppress(ValueError):
            return parse_number(cell, decimal_comma=decimal_comma) is not None
    return False


def _time_column(headings: Sequence[str]) -> int | None:
    """The column whose heading names a time: one that names UTC before others, and then the most telling one."""
    if OWN_TIME in headings:
        return headings.index(OWN_TIME)
    plain = [
        _plain(ZONE_OF_HEADING.sub("", cell)) if len(cell) <= LONGEST_NAME_OF_TIME else ""
        for cell in headings
    ]
    plain = [re.sub(r"^timestampper.*", "timestampper", cell) for cell in plain]
    places = [n for n, name in enumerate(plain) if name in TIME_NAMES]
    if not places:
        return None
    is_utc = [_zone_of(headings[n]).upper() in {"UTC", "GMT"} for n in range(len(headings))]
    return min(places, key=lambda n: (not is_utc[n], TIME_NAMES.index(plain[n])))


def _zone_of(heading: str) -> str:
    """The zone that a heading of times names, such as UTC+1 or Europe/Berlin, or nothing."""
    match = ZONE_OF_HEADING.search(heading[-LONGEST_NAME_OF_TIME:])
    return (match[1] or match[2]).strip() if match else ""


def _headings(rows: Sequence[list[str]], cells_of_data: Sequence[str]) -> _Headings:
    """Read the rows of headings; the first row of data tells where an unnamed time is."""
    time = _time_column(rows[-1]) if rows else None
    has_time_name = time is not None
    widths = [len(row) for row in rows]
    # A table whose only heading is a title may have more columns; another one may not.
    is_titled = not rows or max(widths) == 1
    width = max([len(cells_of_data), *widths]) if is_titled else max(widths)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    last = padded[-1] if padded else [""] * width
    if time is None:
        time = next((n for n, cell in enumerate(cells_of_data) if is_time(cell)), 0)
    periods: list[float | None] = [None] * width
    statistics = [""] * width
    naming: list[list[str]] = []
    for row in padded if len(padded) > 1 else []:
        values = [cell for n, cell in enumerate(row) if n and cell]
        if values and all(map(str.isdecimal, values)):
            periods = [float(cell) if cell.isdecimal() and float(cell) else None for cell in row]
        elif row is not last and values and all(map(statistic_of_word, values)):
            statistics = [statistic_of_word(cell) for cell in row]
        else:
            naming.append(row)
    titles = [_title(row) for row in rows[:-1]]
    naming = [row for row in naming if not _title(row)] or naming
    title = tuple(filter(None, titles))
    # The rows of the console are told apart by what is in them, as it writes them in the language of its user.
    names = [tuple(row[n] for row in naming or [last]) for n in range(width)]
    # A name above a table is that of its values, where nothing else names them.
    names = [
        (*own, *title) if n != time and says_nothing(own) else own for n, own in enumerate(names)
    ]
    return _Headings(
        names=names,
        statistics=statistics,
        periods=periods,
        time=time,
        has_time_name=has_time_name,
        zone=_zone_of(last[time]) if rows and time < width else "",
    )


def _title(row: Sequence[str]) -> str:
    """The text of a row that has nothing else, if it is the name of a metric."""
    texts = [cell for cell in row if cell]
    return texts[0] if len(texts) == 1 and TITLE.fullmatch(texts[0]) else ""


def _read(
    headings: Sequence[list[str]],
    data: Sequence[TextRow],
    name: str,
    format_: str,
    separator: str,
    about: Mapping[str, str],
) -> RawContents:
    """Read one table."""
    shape = _headings(headings, data[0].cells)
    _check_widths(data, len(shape.names), name)
    _check_names(shape, f"{name} line {data[0].line}")
    if not headings and len(data[0].cells) < 2:  # noqa: PLR2004 - a time and a value
        msg = f"{name}: no rows with a time and values under a heading"
        raise NoTimesError(msg)
    columns = [[row.cells[n] for row in data] for n in range(len(shape.names))]
    times = columns[shape.time]
    _check_parts_of_time(shape, columns, f"{name} line {data[0].line}")
    lines = [row.line for row in data]
    is_own = any(OWN_TIME in row for row in headings)
    _check_time(times[0], shape, f"{name} line {lines[0]}", is_own=is_own)
    numeric, texts = _sorted_columns(shape, columns, lines, name)
    keys = _key_columns(shape, columns, texts, times)
    pairs = (pair.partition("=") for pair in about.get("spec", "").split(","))
    series = _series(shape, columns, times, lines, numeric, keys)
    left_out = [n for n in texts if n not in keys and _plain(shape.names[n][0]) not in PLAIN_NAMES]
    series += [
        RawSeries(names=shape.names[n], times=(), values=())
        for n in left_out
        if any(shape.names[n])
    ]
    is_wide = not keys
    # A program that keeps answers may have failed to ask where it has no row.
    is_polled = any(is_of_a_poller(part_name) for part in series for part_name in part.names)
    return RawContents(
        about=About(
            format=_format_name(format_, separator, headings, is_own=is_own),
            is_own=is_own,
            gaps_are_silence=not is_own and not is_polled,
            kind=about.get("kind", ""),
            region=about.get("region", ""),
            level_statistic=about.get("statistic", ""),
            spec={key: value for key, has_value, value in pairs if has_value},
        ),
        series=series,
        row_times=times if is_wide else (),
        row_lines=lines if is_wide else (),
        has_semicolons=separator == ";",
        zone=shape.zone,
    )


def _format_name(format_: str, separator: str, headings: Sequence[object], *, is_own: bool) -> str:
    """How the notes call the format. The console writes several rows of headings."""
    if is_own:
        return "our own columns"
    is_console = len(headings) > 1 and separator in ",;\t"
    return f"{format_} of the CloudWatch console" if is_console else format_


def _check_widths(data: Sequence[TextRow], width: int, name: str) -> None:
    for row in data:
        if len(row.cells) != width:
            msg = f"{name} line {row.line}: {width} cells expected, got {len(row.cells)}"
            raise ValueError(msg)


def _check_names(shape: _Headings, where: str) -> None:
    """Refuse two columns of one name, which nothing tells apart."""
    counts = Counter(zip(shape.names, shape.statistics, strict=True))
    for heading, count in counts.items():
        if any(heading[0]) and count > 1:
            msg = f"{where}: two columns are called {short(' '.join(heading[0]))!r}"
            raise ValueError(msg)


def _check_time(cell: str, shape: _Headings, where: str, *, is_own: bool) -> None:
    """Refuse a first column of numbers that are no times, where no heading says that they are."""
    if not shape.has_time_name and not is_own and not is_time(cell):
        column = short(" ".join(shape.names[shape.time]))
        msg = f"{where}: the first column, {column!r}, is no time: name the column of times t_s or Time"
        raise NoTimesError(msg)


def _check_parts_of_time(shape: _Headings, columns: Sequence[list[str]], where: str) -> None:
    """Refuse a column that has the clock, the zone or the half of the day that the times beside it lack."""
    time = columns[shape.time][0]
    if len(time) > LONGEST_NAME_OF_TIME or WHOLE_TIME.fullmatch(time):
        return
    has_clock = ":" in time and CLOCK.fullmatch(time) is None
    for names, cells in zip(shape.names, columns, strict=True):
        heading = _plain(names[-1])
        cell = next(filter(None, cells), "")
        is_zone = heading in PARTS_OF_TIME or _is_zone(heading, cell)
        if is_zone or (CLOCK.fullmatch(cell) and not has_clock):
            column = short(" ".join(names)) or cell
            msg = f"{where}: column {column!r} is a part of the time: write times in one column, in ISO 8601"
            raise ValueError(msg)


def _is_zone(heading: str, cell: str) -> bool:
    is_of_zones = ZONE_HEADING.search(heading) is not None
    if ZONE.fullmatch(cell) or (is_of_zones and SHORT_ZONE.fullmatch(cell)):
        return True
    return "/" in cell and cell in available_timezones()


def _sorted_columns(
    shape: _Headings, columns: Sequence[list[str]], lines: Sequence[int], name: str
) -> tuple[list[int], list[int]]:
    """The places of the columns of numbers, and of those of text; raises ValueError for one that is both."""
    numeric, texts = [], []
    unasked = _unasked(shape, columns)
    for place, cells in enumerate(columns):
        if place == shape.time or shape.names[place][-1] in WINDOW_NAMES:
            continue
        if _are_numbers(cells):  # nearly all columns: each cell need not be looked at by itself
            wrong, values = list[int](), len(cells)
        else:
            written = [n for n, cell in enumerate(cells) if cell.lower() not in NOTHING]
            wrong = [n for n in written if not _is_number(cells[n])]
            values = len(written) - len(wrong)
        is_metric = any(map(is_metric_name, shape.names[place])) and not _is_key(shape, place)
        if wrong and STRUCTURE.fullmatch(cells[wrong[0]]) and says_nothing(shape.names[place]):
            column = " ".join(shape.names[place])
            msg = f"{name} line {lines[wrong[0]]}: {column} is {short(cells[wrong[0]])!r}: write its parts as columns, such as {column}.min"
            raise ValueError(msg)
        if wrong and (values or is_metric):
            column = " ".join(shape.names[place]) or f"column {place + 1}"
            msg = f"{name} line {lines[wrong[0]]}: {column} is {short(cells[wrong[0]])!r}; allowed: {NUMBERS}"
            raise ValueError(msg)
        if wrong:
            texts.append(place)
        elif place in unasked:
            continue
        elif not _is_index(shape.names[place], cells):
            numeric.append(place)
    unnamed = [place for place in numeric if not any(shape.names[place])]
    if len(unnamed) > 1:
        msg = f"{name} line {lines[0]}: {len(unnamed)} columns of numbers have no heading: name them in a first row"
        raise ValueError(msg)
    return numeric, texts


def _unasked(shape: _Headings, columns: Sequence[list[str]]) -> frozenset[int]:
    """The places of the statistics that nobody has asked for: PowerShell prints 0 for each of them in every row."""
    if not any(names[-1] == ALL_STATISTICS for names in shape.names):
        return frozenset()
    places = [n for n, names in enumerate(shape.names) if statistic_of_word(names[-1])]
    zeros = frozenset(n for n in places if {*columns[n]} <= ZEROS)
    return zeros if len(zeros) < len(places) else frozenset()


def _are_numbers(cells: Sequence[str]) -> bool:
    """True if all cells are numbers of which none is negative, in the plainest form."""
    try:
        numbers = [*map(float, cells)]
    except ValueError:
        return False
    return bool(numbers) and isfinite(sum(numbers)) and min(numbers) >= 0


def _is_index(names: Sequence[str], cells: Sequence[str]) -> bool:
    """True if a column counts the rows, as pandas writes it before the others, or has neither name nor value."""
    if any(names):
        return _plain(names[-1]) in PLAIN_NAMES
    if not any(cell.lower() not in NOTHING for cell in cells):
        return True
    is_count = all(map(str.isdecimal, cells))
    return is_count and all(int(after) - int(before) == 1 for before, after in pairwise(cells))


def _is_key(shape: _Headings, place: int) -> bool:
    """True if a heading says that its column names the series of a row. A column of text without one does."""
    name = shape.names[place][-1].lower()
    last = re.split(r"[._]+", name)[-1]
    return not name or _plain(name) in KEY_NAMES or _plain(last) in KEY_NAMES


def _is_statistic(shape: _Headings, place: int) -> bool:
    return _plain(shape.names[place][-1]) in STATISTIC_NAMES


def _key_columns(
    shape: _Headings, columns: Sequence[list[str]], texts: Sequence[int], times: Sequence[str]
) -> list[int]:
    """The columns of text that tell series apart: those that say so, and those that differ where a time comes again."""
    keys = [place for place in texts if _is_key(shape, place) or _is_statistic(shape, place)]
    for place in texts:
        distinct = set(columns[place])
        if place in keys or len(distinct) == 1:
            continue
        has_ids = all(map(RESOURCE_ID.search, distinct))
        told_apart = {*zip(times, columns[place], strict=True)}
        if has_ids or len(told_apart) > len(set(times)):
            keys.append(place)
    return keys


def _series(
    shape: _Headings,
    columns: Sequence[list[str]],
    times: Sequence[str],
    lines: Sequence[int],
    numeric: Sequence[int],
    keys: Sequence[int],
) -> list[RawSeries]:
    """One series for each column of numbers, and for each that the key columns name."""
    places_of: dict[tuple[str, ...], list[int]] = {}
    for n in range(len(times)):
        places_of.setdefault(tuple(columns[place][n] for place in keys), []).append(n)
    series = []
    units = [n for n, names in enumerate(shape.names) if _plain(names[-1]) in UNIT_NAMES]
    for key, places in places_of.items():
        is_all = not keys
        stated = [
            statistic_of_word(text) or text
            for place, text in zip(keys, key, strict=True)
            if _is_statistic(shape, place)
        ]
        words = [
            text for place, text in zip(keys, key, strict=True) if not _is_statistic(shape, place)
        ]
        for column in numeric:
            heading = shape.names[column]
            # What names the metric of a row is said of its values, and not of a size or an account beside them.
            is_value = says_nothing(heading) or any(map(is_metric_name, heading))
            of_column = [word for word in words if is_value or not is_metric_name(word)]
            statistic = shape.statistics[column] or statistic_of_word(heading[-1])
            series.append(
                RawSeries(
                    names=(*of_column, *heading),
                    statistic=stated[0] if stated else statistic,
                    unit=columns[units[0]][places[0]] if units else "",
                    period_s=shape.periods[column],
                    times=times if is_all else [times[n] for n in places],
                    values=columns[column] if is_all else [columns[column][n] for n in places],
                    lines=lines if is_all else [lines[n] for n in places],
                )
            )
    return series

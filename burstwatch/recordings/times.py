"""Reads a column of times, in whatever form a program printed them.

The order of day and month, the unit of a number and the zone are facts about a column and not about a cell, so they are
decided over all its cells.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from burstwatch.bucket import DAY_S
from burstwatch.recordings.clocks import UnreadableTimeError, seconds_of_clock
from burstwatch.recordings.written_times import (
    DOTTED,
    HYPHENED,
    OFFSET,
    DateOrder,
    WrittenTime,
    moment_of,
    read_iso,
    read_written,
    seconds_east,
    short,
)

#: Each order for people.
WORDS: Mapping[DateOrder, str] = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
TIMES = "seconds or milliseconds since 1970, or ISO 8601 such as 2026-11-24T12:00:00Z"
#: The year 68: the calendar that times are printed in begins soon before.
EARLIEST_S = -6e10
#: A number above the first is in milliseconds, above the second in microseconds, above the third in
#: nanoseconds: in seconds each would be a year after 5000.
UNITS_FROM = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
#: A smaller number is no time since 1970 that a program of today has written.
FIRST_YEARS_S = 1e8
#: CloudWatch began in 2009. A time of a recording is not before, and not after 2039.
EARLIEST_RECORDED_S, LATEST_RECORDED_S = 1_230_768_000.0, 2_200_000_000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The seconds since 1970 of each cell, and what was assumed for that."""

    seconds: Sequence[float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Conventions:
    """The zone and the order of dates that a person has stated for a file, or None."""

    zone: tzinfo | None = None
    date_order: DateOrder | None = None


def read_zone(name: str) -> tzinfo:
    """The zone by its name, such as ``Europe/Berlin``, ``UTC`` or ``+02:00``.

    Raises:
        ValueError: if there is none of this name.
    """
    offset = OFFSET.fullmatch(name)
    try:
        if offset is not None:
            return timezone(timedelta(seconds=seconds_east(offset)))
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        msg = f"the time zone is {name!r}; allowed: a name such as Europe/Berlin or UTC, or an offset such as +02:00"
        raise ValueError(msg) from None


def date_order(
    cells: Iterable[str], conventions: Conventions
) -> tuple[DateOrder | None, tuple[str, ...]]:
    """The order of day and month in all times of a file, or None if it is plain, and a note if nothing decides it."""
    written = sorted(cell for cell in cells if not _begins_with_year(cell))
    moments, texts = [], []
    for cell in written:
        try:
            moment = read_written(cell)
        except (ValueError, OverflowError):
            continue  # read_times() says what is wrong with it, and where
        if len(moment.dates) > 1 or "ymd" not in moment.dates:
            moments.append(moment)
            texts.append(cell)
    try:
        order, notes = _date_order(moments, texts, conventions)
    except UnreadableTimeError:
        return conventions.date_order, ()
    return (order, notes) if moments else (conventions.date_order, ())


def _begins_with_year(cell: str) -> bool:
    return (cell[:4].isdigit() and cell[4:5] in {"-", "/", ""}) or cell.replace(
        ".", "", 1
    ).isdigit()


def is_time(cell: str) -> bool:
    """True if a cell alone shows that it is a time: a date, or a number as large as today's times."""
    try:
        number = float(cell)
    except ValueError:
        try:
            return read_iso(cell) is not None or bool(read_written(cell).dates)
        except (ValueError, OverflowError):
            return False
    return FIRST_YEARS_S <= number < math.inf


def read_times(
    cells: Sequence[str], conventions: Conventions, *, is_own: bool = False, is_utc: bool = False
) -> Times:
    """The seconds since 1970 of a column of cells in the file's order.

    ``is_own`` columns are in seconds, from 0 or from 1970. ``is_utc`` says that a heading names UTC.

    Raises:
        UnreadableTimeError: for a cell that is no time, or that two times are meant by.
    """
    if is_own:
        return _read(cells, conventions, is_own=True, is_utc=is_utc)
    return _check_years(_read(cells, conventions, is_own=False, is_utc=is_utc), cells)


def _read(cells: Sequence[str], conventions: Conventions, *, is_own: bool, is_utc: bool) -> Times:
    numbers = _numbers(cells)
    if numbers is not None:
        _check_digits(numbers, cells)
        pairs = zip(numbers, cells, strict=True)
        seconds = [
            _in_seconds(number, cell, n, is_own=is_own) for n, (number, cell) in enumerate(pairs)
        ]
        return Times(seconds=seconds)
    times = _iso_times(cells)
    if times is not None:
        return _of_iso(times, cells, conventions, is_utc=is_utc)
    moments: Sequence[WrittenTime] = [_moment(cell, n) for n, cell in enumerate(cells)]
    order, notes = _date_order(moments, cells, conventions)
    if conventions.date_order is not None:
        notes = ()  # said by whoever decided it
    local = [moment.local_s(order) for moment in moments]
    if is_utc or all(moment.offset_s is not None for moment in moments):
        seconds = [
            wall - (moment.offset_s or 0.0) for wall, moment in zip(local, moments, strict=True)
        ]
        return Times(seconds=seconds, notes=notes)
    offsets = [moment.offset_s for moment in moments]
    if any(offset is not None for offset in offsets):
        place = next(n for n, offset in enumerate(offsets) if offset is None)
        msg = f"{cells[place]!r} has no time zone, and other times of the file have one"
        raise UnreadableTimeError(msg, place)
    return _on_the_wall(local, cells, conventions, notes)


def _check_years(times: Times, cells: Sequence[str]) -> Times:
    """Refuse a time that no recording has: it is a number of another kind, or a date in another order."""
    for place, seconds in enumerate(times.seconds):
        if not EARLIEST_RECORDED_S <= seconds <= LATEST_RECORDED_S:
            year = 1970 + int(seconds // (365.2425 * DAY_S))
            msg = f"{short(cells[place])!r}, which would be in the year {year}; allowed: {TIMES}"
            raise UnreadableTimeError(msg, place)
    return times


def _numbers(cells: Iterable[str]) -> list[float] | None:
    """All cells as numbers, or None if one is none."""
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return None


def _check_digits(numbers: Sequence[float], cells: Sequence[str]) -> None:
    """Refuse times such as 1.793578E+12 that come again: a spreadsheet has cut their digits."""
    for place, (number, before) in enumerate(zip(numbers[1:], numbers, strict=False), start=1):
        if number == before and "e+1" in cells[place].lower():
            msg = f"{short(cells[place])!r} again: a spreadsheet has cut its digits, so format the column as a whole number"
            raise UnreadableTimeError(msg, place)


def _in_seconds(number: float, cell: str, place: int, *, is_own: bool = False) -> float:
    """A number in seconds; our own columns have seconds or milliseconds."""
    for least, per_second in UNITS_FROM[-1:] if is_own else UNITS_FROM:
        if abs(number) >= least:
            number /= per_second
            break
    if not EARLIEST_S <= number < UNITS_FROM[-1][0]:  # also NaN
        msg = f"{cell!r}; allowed: {TIMES}"
        raise UnreadableTimeError(msg, place)
    return number


def _iso_times(cells: Sequence[str]) -> list[datetime] | None:
    """All cells in ISO 8601, all with a zone or all without; None for any other column."""
    times = []
    try:
        for cell in cells:
            if cell[4:5] != "-" or DOTTED.match(cell) or HYPHENED.match(cell):
                return None
            times.append(datetime.fromisoformat(cell))
    except ValueError:
        return None
    have_zones = {time.tzinfo is not None for time in times}
    return times if len(have_zones) == 1 else None


def _of_iso(
    times: Sequence[datetime], cells: Sequence[str], conventions: Conventions, *, is_utc: bool
) -> Times:
    if times[0].tzinfo is not None:
        return Times(seconds=[time.timestamp() for time in times])
    local = [time.replace(tzinfo=UTC).timestamp() for time in times]
    return Times(seconds=local) if is_utc else _on_the_wall(local, cells, conventions, ())


def _moment(cell: str, place: int) -> WrittenTime:
    try:
        number = float(cell)
    except ValueError:
        pass
    else:
        return moment_of(datetime.fromtimestamp(_in_seconds(number, cell, place), UTC))
    try:
        moment = read_iso(cell)
        moment = read_written(cell) if moment is None else moment
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not moment.dates:
        msg = f"{short(cell)!r}; allowed: {TIMES}"
        raise UnreadableTimeError(msg, place)
    return moment


def _date_order(
    moments: Sequence[WrittenTime], cells: Sequence[str], conventions: Conventions
) -> tuple[DateOrder, tuple[str, ...]]:
    """The order that all cells can have and that spans the shortest time, and a note if nothing decides it.

    Raises:
        UnreadableTimeError: if no order fits all cells.
    """
    written = [
        (n, moment)
        for n, moment in enumerate(moments)
        if len(moment.dates) > 1 or "ymd" not in moment.dates
    ]
    if not written:
        return "ymd", ()
    preference: tuple[DateOrder, ...] = ("mdy", "dmy", "ymd")
    allowed = [conventions.date_order] if conventions.date_order else preference
    for n, moment in written:
        allowed = [order for order in allowed if order in moment.dates]
        if not allowed:
            msg = f"{short(cells[n])!r}, which is no date in the order that the other times have"
            if conventions.date_order:
                msg = f"{short(cells[n])!r}, which is no date in the order {conventions.date_order}"
            raise UnreadableTimeError(msg, n)
    spans: dict[DateOrder, int] = {}
    for order in allowed:
        days = {moment.dates[order] for _, moment in written}
        spans[order] = (max(days) - min(days)).days
    order = min(allowed, key=lambda candidate: spans[candidate])
    place, shown = written[0]
    equal = [
        candidate
        for candidate in allowed
        if spans[candidate] == spans[order] and shown.dates[candidate] != shown.dates[order]
    ]
    day = shown.dates[order].isoformat()
    longer = [candidate for candidate in allowed if spans[candidate] > spans[order]]
    if not equal and longer:
        note = f"dates are read {WORDS[order]}, as all lie closest together so ({short(cells[place])} is on {day}): --date-order {longer[0]} is the other way"
        return order, (note,)
    if not equal:
        return order, () if "." in cells[place] else (f"dates are read {WORDS[order]}",)
    note = f"dates are read {WORDS[order]}, so {short(cells[place])} is on {day}, and nothing in the file decides it: --date-order {equal[0]} is the other way"
    return order, (note,)


def _on_the_wall(
    local: Sequence[float], cells: Sequence[str], conventions: Conventions, notes: tuple[str, ...]
) -> Times:
    _check_years(Times(seconds=local), cells)
    seconds, more = seconds_of_clock(local, cells, conventions.zone)
    return Times(seconds=seconds, notes=(*notes, *more))

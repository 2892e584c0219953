"""Reads a column of times, in whatever form a program printed them.

The order of day and month, the unit of a number and the zone are facts about a column and not about a cell, so they are
decided over all its cells. The names of months and of halves of the day are those of Unicode's CLDR 48
(https://cldr.unicode.org, read 2026-11-27).
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import groupby, pairwise
from statistics import median
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

DateOrder: TypeAlias = Literal["dmy", "mdy", "ymd"]

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
#: Excel counts days since 1899-12-30, and 60,000 is in the year 2064.
EXCEL_DAYS = (36_526.0, 60_000.0)
EXCEL_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
DAY_S = 86_400.0
HOUR_S = 3_600.0
#: Clocks change at night, before four.
NIGHT_S = 4 * HOUR_S
#: The share of the times of an hour that comes twice when clocks change: rows can be missing.
MOSTLY = 0.6
#: CloudWatch began in 2009, so an earlier year of two digits is another part of a date.
FIRST_SHORT_YEAR = 9
COMPACT = re.compile(
    r"20[0-9]{2}[01][0-9][0-3][0-9](?:T?[0-2][0-9](?:[0-5][0-9](?:[0-9]{2})?)?Z?)?"
)
POWERSHELL = re.compile(r"/Date\((-?[0-9]+)(?:[+-][0-9]{4})?\)/")
HALF_OF_DAY = re.compile(r"\b([ap])\.?\s?m\b\.?", re.IGNORECASE)
CLOCK = re.compile(r"(?<![0-9])([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?")
CLOCK_OF_DOTS = re.compile(
    r"(?<=[\s,])([0-9]{1,2})\.([0-9]{2})(?:\.([0-9]{2})(?:,([0-9]{1,9}))?)?$"
)
OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])([0-9]{1,2}):?([0-9]{2})?(?![0-9])")
#: A time with something in parentheses behind it.
BEHIND = re.compile(r"(.*[^\s].*?)\s*\(([^()]*)\)$")
WORD = re.compile(r"[^\W\d_]+")
DIGITS = re.compile(r"[0-9]+")
#: The beginnings of the names of months in English, German, French, Spanish, Italian, Portuguese and Dutch.
MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "jan ene gen",
            "feb fév fev",
            "mar mär mrt maa",
            "apr avr abr",
            "may mai mag mei",
            "jun juin giu",
            "jul juil lug",
            "aug aoû ago",
            "sep set",
            "oct okt ott out",
            "nov",
            "dec déc dez dic",
        ),
        start=1,
    )
    for name in names.split()
}
BEFORE_NOON = frozenset({"am", "午前", "上午", "오전"})
AFTER_NOON = frozenset({"pm", "午後", "下午", "오후"})
UTC_NAMES = frozenset({"utc", "gmt", "z"})
#: Words that stand beside a date and say nothing: days of the week by their beginning, and prepositions.
WEEKDAYS = frozenset(
    [
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
        "mo",
        "di",
        "mi",
        "do",
        "fr",
        "sa",
        "so",
        "die",
        "mit",
        "don",
        "fre",
        "sam",
        "son",
        "lun",
        "mar",
        "mer",
        "jeu",
        "ven",
        "dim",
        "mié",
        "jue",
        "vie",
        "sáb",
        "dom",
        "gio",
        "qua",
        "qui",
        "sex",
        "seg",
        "ter",
    ]
)
FILLERS = frozenset(
    {"at", "t", "de", "del", "à", "a", "um", "uhr", "kl", "le", "alle", "om", "às", "las", "klo"}
    | {"年", "月", "日", "년", "월", "일", "st", "nd", "rd", "th"}
)


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


class UnreadableTimeError(ValueError):
    """A cell is no time. ``place`` is its index in the column."""

    def __init__(self, message: str, place: int) -> None:
        """``message`` names the cell and what is allowed."""
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, kw_only=True, slots=True)
class _Moment:
    """One cell. ``dates`` holds the date by each order in which it is one.

    ``offset_s`` is east of Greenwich, None where the cell does not say it.
    """

    dates: Mapping[DateOrder, date]
    clock_s: float
    offset_s: float | None
    zone_name: str = ""

    def local_s(self, order: DateOrder) -> float:
        """Seconds since 1970 as the clock on the wall counts them."""
        day = self.dates[order] if order in self.dates else self.dates["ymd"]
        return (day - date(1970, 1, 1)).days * DAY_S + self.clock_s


def read_zone(name: str) -> tzinfo:
    """The zone by its name, such as ``Europe/Berlin``, ``UTC`` or ``+02:00``.

    Raises:
        ValueError: if there is none of this name.
    """
    offset = OFFSET.fullmatch(name)
    try:
        if offset is not None:
            return timezone(timedelta(seconds=_offset_s(offset)))
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        msg = f"the time zone is {name!r}, allowed is a name such as Europe/Berlin or UTC, or an offset such as +02:00"
        raise ValueError(msg) from None


def date_order(
    cells: Iterable[str], conventions: Conventions
) -> tuple[DateOrder | None, tuple[str, ...]]:
    """The order of day and month in all times of a file, or None if it is plain, and a note if nothing decides it."""
    written = sorted(cell for cell in cells if not _begins_with_year(cell))
    moments, texts = [], []
    for cell in written:
        try:
            moment = _read_written(cell)
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
            return _read_iso(cell) is not None or bool(_read_written(cell).dates)
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
    if not is_own and _all_match(cells, COMPACT):
        cells = [_spelled_out(cell) for cell in cells]
    numbers = _numbers(cells)
    if numbers is not None and not is_own and _are_excel_days(numbers):
        wall = [EXCEL_EPOCH.timestamp() + round(number * DAY_S) for number in numbers]
        return _on_the_wall(wall, cells, conventions, ("times are in days, as Excel counts them",))
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
    moments: Sequence[_Moment] = [_moment(cell, n) for n, cell in enumerate(cells)]
    order, notes = _date_order(moments, cells, conventions)
    if conventions.date_order is not None:
        notes = ()  # said by whoever decided it
    local = [moment.local_s(order) for moment in moments]
    moments = _with_offsets_of_names(moments, local, cells, conventions)
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
            msg = (
                f"{_short(cells[place])!r}, which would be in the year {year}, allowed are {TIMES}"
            )
            raise UnreadableTimeError(msg, place)
    return times


def _all_match(cells: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.fullmatch(cell) for cell in cells)


def _spelled_out(cell: str) -> str:
    """20261102, 20261102T1345Z or 20261102134500 in ISO 8601's longer form."""
    clock = cell[8:].lstrip("T")
    if len(clock) == len("13"):
        clock += "00"
    return f"{cell[:4]}-{cell[4:6]}-{cell[6:8]}" + (f"T{clock}" if clock else "")


def _numbers(cells: Iterable[str]) -> list[float] | None:
    """All cells as numbers, or None if one is none. PowerShell writes ``/Date(1793577600000)/``."""
    numbers = []
    for cell in cells:
        written = POWERSHELL.fullmatch(cell)
        try:
            number = float(cell if written is None else written[1])
        except ValueError:
            return None
        numbers.append(number)
    return numbers


def _check_digits(numbers: Sequence[float], cells: Sequence[str]) -> None:
    """Refuse times such as 1.793578E+12 that come again: a spreadsheet has cut their digits."""
    for place, (number, before) in enumerate(zip(numbers[1:], numbers, strict=False), start=1):
        if number == before and "e+1" in cells[place].lower():
            msg = f"{_short(cells[place])!r} again: a spreadsheet has cut its digits, so format the column as a whole number"
            raise UnreadableTimeError(msg, place)


def _are_excel_days(numbers: Sequence[float]) -> bool:
    earliest, latest = EXCEL_DAYS
    return all(earliest <= number <= latest for number in numbers) and any(
        number % 1 for number in numbers
    )


def _in_seconds(number: float, cell: str, place: int, *, is_own: bool = False) -> float:
    """A number in seconds; our own columns have seconds or milliseconds."""
    for least, per_second in UNITS_FROM[-1:] if is_own else UNITS_FROM:
        if abs(number) >= least:
            number /= per_second
            break
    if not EARLIEST_S <= number < UNITS_FROM[-1][0]:  # also NaN
        msg = f"{cell!r}, allowed are {TIMES}"
        raise UnreadableTimeError(msg, place)
    return number


def _iso_times(cells: Sequence[str]) -> list[datetime] | None:
    """All cells in ISO 8601, all with a zone or all without; None for any other column."""
    times = []
    try:
        for cell in cells:
            if cell[4:5] != "-":
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


def _moment(cell: str, place: int) -> _Moment:
    try:
        written = POWERSHELL.fullmatch(cell)
        number = float(cell if written is None else written[1])
    except ValueError:
        number = None
    if number is not None:
        seconds = _in_seconds(number, cell, place)
        return _of_datetime(datetime.fromtimestamp(seconds, UTC))
    try:
        moment = _read_iso(cell)
        moment = _read_written(cell) if moment is None else moment
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not moment.dates:
        msg = f"{_short(cell)!r}, allowed are {TIMES}"
        raise UnreadableTimeError(msg, place)
    return moment


def _short(cell: str) -> str:
    longest = 80
    return cell if len(cell) <= longest else f"{cell[:longest]}..."


def _of_datetime(time: datetime) -> _Moment:
    offset = time.utcoffset()
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    return _Moment(
        dates={"ymd": time.date()},
        clock_s=(time - midnight).total_seconds(),
        offset_s=None if offset is None else offset.total_seconds(),
    )


def _read_iso(cell: str) -> _Moment | None:
    """A time that begins with its year, as ISO 8601 and most programs write it, or None for another."""
    if not (cell[:4].isascii() and cell[:4].isdigit()) or cell[4:5].isdigit():
        return None
    try:
        return _of_datetime(
            datetime.fromisoformat(cell.replace("/", "-", 2).replace(" UTC", "Z").rstrip())
        )
    except ValueError:
        return None


def _read_written(cell: str) -> _Moment:
    """A time as people read it, such as ``11/2/2026 12:05:00 AM`` or ``2. Nov. 2026 00:05 GMT+1``.

    Raises:
        ValueError: if it is none.
    """
    if len(cell) > 100:  # noqa: PLR2004 - no time is as long
        raise ValueError(cell)
    text = unicodedata.normalize("NFKC", cell).strip()
    text = BEHIND.sub(_behind, text).strip()
    text = HALF_OF_DAY.sub(r"\1m", text)
    clock = CLOCK.search(text) or CLOCK_OF_DOTS.search(text)
    before, after = (text, "") if clock is None else (text[: clock.start()], text[clock.end() :])
    offset = None if clock is None else OFFSET.search(after)
    if offset is not None:
        after = after[: offset.start()] + after[offset.end() :]
    words = [word.lower() for word in WORD.findall(f"{before} {after}")]
    digits = DIGITS.findall(f"{before} {after}")
    month, half, zone_name, is_utc = _named(words, cell)
    offset_s = 0.0 if is_utc else None
    if offset is not None:
        offset_s = _offset_s(offset)
    return _Moment(
        dates=_dates(digits, month, is_of_dots="." in before),
        clock_s=0.0 if clock is None else _clock_s(clock, half, cell),
        offset_s=offset_s,
        zone_name=zone_name,
    )


def _behind(match: re.Match[str]) -> str:
    """The zone that stands in parentheses behind a time, or nothing where an offset stands before them."""
    is_zone = OFFSET.fullmatch(match[2]) or re.fullmatch(r"[A-Z]{2,5}", match[2])
    clock = CLOCK.search(match[1])
    has_offset = clock is not None and OFFSET.search(match[1][clock.end() :]) is not None
    return f"{match[1]} {match[2]}" if is_zone and not has_offset else match[1]


def _named(words: Iterable[str], cell: str) -> tuple[int | None, str, str, bool]:
    """The month, the half of the day and the zone that the words name, and whether that is UTC."""
    months, half, zone_name, is_utc = list[str](), "", "", False
    for word in words:
        if word in BEFORE_NOON or word in AFTER_NOON:
            half = word
        elif word in UTC_NAMES:
            is_utc = True
        elif _month(word):
            months.append(word)
        elif word in FILLERS or word in WEEKDAYS or word[:3] in WEEKDAYS:
            continue
        elif word.isascii() and 3 <= len(word) <= 5 and not zone_name:  # noqa: PLR2004 - CET, AEDT
            zone_name = word.upper()
        else:
            raise ValueError(cell)
    # "mar" is Tuesday in Spanish and French, and March.
    if len(months) > 1:
        months = [word for word in months if word[:3] not in WEEKDAYS] or months[-1:]
    if len(months) > 1:
        raise ValueError(cell)
    return _month(months[0]) if months else None, half, zone_name, is_utc


def _month(word: str) -> int | None:
    """The number of a month by the beginning of its name, or None for another word."""
    return MONTHS.get(word[:4]) or MONTHS.get(word[:3])


def _offset_s(offset: re.Match[str]) -> float:
    minutes = int(offset[2]) * 60 + int(offset[3] or 0)
    if minutes > 14 * 60:
        raise ValueError(offset[0])
    return (-60.0 if offset[1] == "-" else 60.0) * minutes


def _clock_s(clock: re.Match[str], half: str, cell: str) -> float:
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if half:
        if not 0 <= hour <= 12:  # noqa: PLR2004 - hours of half a day
            raise ValueError(cell)
        hour = hour % 12 + (12 if half in AFTER_NOON else 0)
    if hour > 23 or minute > 59 or second > 60:  # noqa: PLR2004 - of a clock
        raise ValueError(cell)
    return hour * HOUR_S + minute * 60.0 + second + float(f"0.{clock[4] or 0}")


def _dates(digits: Sequence[str], month: int | None, *, is_of_dots: bool) -> dict[DateOrder, date]:
    """The date by each order in which the digits are one."""
    if month is not None:
        if len(digits) != 2:  # noqa: PLR2004 - a day and a year
            return {}
        day, year = sorted(digits, key=len) if len(digits[0]) != len(digits[1]) else digits
        named = _date(year, str(month), day)
        return {} if named is None else {"ymd": named}
    if len(digits) != 3:  # noqa: PLR2004 - a day, a month and a year
        return {}
    begin, middle, end = digits
    orders: dict[DateOrder, date | None] = {}
    if len(begin) == 4:  # noqa: PLR2004 - a year in full
        orders["ymd"] = _date(begin, middle, end)
    elif len(begin) <= 2 and len(middle) <= 2:  # noqa: PLR2004 - of two digits
        orders["dmy"] = _date(end, middle, begin)
        if not is_of_dots:
            orders["mdy"] = _date(end, begin, middle)
            orders["ymd"] = _date(begin, middle, end) if len(end) <= 2 else None  # noqa: PLR2004
    return {order: day for order, day in orders.items() if day is not None}


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year)
    if len(year) <= 2:  # noqa: PLR2004 - a year without its century
        if number < FIRST_SHORT_YEAR:
            return None
        number += 2000
    elif len(year) != 4:  # noqa: PLR2004 - a year in full
        return None
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


def _date_order(
    moments: Sequence[_Moment], cells: Sequence[str], conventions: Conventions
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
            msg = f"{_short(cells[n])!r}, which is no date in the order that the other times have"
            if conventions.date_order:
                msg = (
                    f"{_short(cells[n])!r}, which is no date in the order {conventions.date_order}"
                )
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
        note = f"dates are read {WORDS[order]}, as all lie closest together so ({_short(cells[place])} is on {day}): --date-order {longer[0]} is the other way"
        return order, (note,)
    if not equal:
        return order, () if "." in cells[place] else (f"dates are read {WORDS[order]}",)
    note = f"dates are read {WORDS[order]}, so {_short(cells[place])} is on {day}, and nothing in the file decides it: --date-order {equal[0]} is the other way"
    return order, (note,)


def _with_offsets_of_names(
    moments: Sequence[_Moment],
    local: Sequence[float],
    cells: Sequence[str],
    conventions: Conventions,
) -> Sequence[_Moment]:
    """The moments with the offset of the short name of a zone, such as BST, which the zone that a person named tells.

    Raises:
        UnreadableTimeError: for a name that is none of that zone, or where no zone is named.
    """
    if not any(moment.zone_name for moment in moments):
        return moments
    resolved = []
    for place, (moment, wall) in enumerate(zip(moments, local, strict=True)):
        offset_s = moment.offset_s
        if moment.zone_name and offset_s is None:
            offsets = _offsets_by_name(wall, conventions.zone)
            if moment.zone_name not in offsets:
                msg = f"{_short(cells[place])!r}, and {moment.zone_name} is the name of several time zones: --timezone names one, such as Europe/Berlin"
                raise UnreadableTimeError(msg, place)
            offset_s = offsets[moment.zone_name]
        resolved.append(replace(moment, offset_s=offset_s))
    return resolved


def _offsets_by_name(wall: float, zone: tzinfo | None) -> dict[str, float]:
    """The offsets that a clock in a zone can have at a time, by the name of each."""
    if zone is None:
        return {}
    time = datetime.fromtimestamp(wall, UTC).replace(tzinfo=zone)
    occurrences = [time.replace(fold=fold) for fold in (0, 1)]
    return {
        f"{occurrence.tzname()}": (occurrence.utcoffset() or timedelta()).total_seconds()
        for occurrence in occurrences
    }


def _on_the_wall(
    local: Sequence[float],
    cells: Sequence[str],
    conventions: Conventions,
    notes: tuple[str, ...],
) -> Times:
    """Times without a zone: in the zone that a person has named, and else in UTC, which is said."""
    if conventions.zone is None:
        _check_one_clock(local, cells)
        missing = _missing_hour(local)
        note = "times have no zone and are taken as UTC"
        return Times(seconds=local, notes=(*notes, note, *([missing] if missing else [])))
    _check_years(Times(seconds=local), cells)
    zone = conventions.zone
    is_falling = len(local) > 1 and local[-1] < local[0]
    places = range(len(local) - 1, -1, -1) if is_falling else range(len(local))
    seconds = [0.0] * len(local)
    before = -math.inf
    for place in places:
        time = datetime.fromtimestamp(local[place], UTC).replace(tzinfo=zone)
        once, again = (time.replace(fold=fold).timestamp() for fold in (0, 1))
        if once > again:
            msg = f"{_short(cells[place])!r}, which no clock in {zone} showed: is the zone another?"
            raise UnreadableTimeError(msg, place)
        seconds[place] = again if once <= before < again else once
        before = seconds[place]
    _check_repeated_hour(seconds, places, cells, zone)
    _move_to_second(seconds, places, cells, zone)
    return Times(seconds=seconds, notes=notes)


def _move_to_second(
    seconds: list[float], places: Sequence[int], cells: Sequence[str], zone: tzinfo
) -> None:
    """Move the times of an hour that a clock showed twice to the second one, if they are next to what follows.

    Raises:
        UnreadableTimeError: if all times are in such an hour, so that nothing tells which one it was.
    """
    later = [_later(seconds[place], zone) for place in places]
    runs = [
        list(run) for twice, run in groupby(range(len(places)), lambda n: later[n] > 0) if twice
    ]
    usual = median([abs(seconds[b] - seconds[a]) for a, b in pairwise(places)] or [HOUR_S])
    for run in runs:
        begin, end = run[0], run[-1]
        before = seconds[places[begin]] - seconds[places[begin - 1]] if begin else None
        after = seconds[places[end + 1]] - seconds[places[end]] if end + 1 < len(places) else None
        if before is None and after is None:
            msg = f"{_short(cells[places[begin]])!r}, which a clock in {zone} showed twice, and no row tells which time it was: write the times in UTC"
            raise UnreadableTimeError(msg, places[begin])
        is_next_to_before = before is not None and before <= 1.5 * usual
        shift = later[begin]
        if after is not None and not is_next_to_before and after - shift >= usual / 2:
            for n in run:
                seconds[places[n]] += shift


def _later(seconds: float, zone: tzinfo) -> float:
    """How many seconds later a clock showed the same time again; 0 if it did not, or did before."""
    time = datetime.fromtimestamp(seconds, zone)
    return time.replace(fold=1).timestamp() - seconds


def _check_repeated_hour(
    seconds: Sequence[float], places: Sequence[int], cells: Sequence[str], zone: tzinfo
) -> None:
    """Refuse times of an hour that a clock showed twice, if the rows are in no order that tells them apart."""
    ordered = [seconds[place] for place in places]
    if all(after > before for before, after in pairwise(ordered)):
        return
    for place in places:
        time = datetime.fromtimestamp(seconds[place], zone)
        if time.replace(fold=0).timestamp() != time.replace(fold=1).timestamp():
            msg = f"{_short(cells[place])!r}, which a clock in {zone} showed twice, and the rows are not in order: sort them"
            raise UnreadableTimeError(msg, place)


def _check_one_clock(local: Sequence[float], cells: Sequence[str]) -> None:
    """Refuse times of which an hour at night comes twice, as when clocks change: merged they would be wrong."""
    counts = Counter(local)
    twice = sorted(at for at, count in counts.items() if count > 1)
    if not twice or len(counts) < 3:  # noqa: PLR2004 - more than the hour itself
        return
    ordered = sorted(counts)
    usual = median([after - before for before, after in pairwise(ordered)])
    begin = twice[0] - twice[0] % HOUR_S
    in_hour = [at for at in ordered if begin <= at < begin + HOUR_S]
    is_night = begin % DAY_S < NIGHT_S
    is_whole = len(twice) >= MOSTLY * len(in_hour) and twice[-1] - twice[0] < HOUR_S
    steps = [after - before for before, after in pairwise(local)]
    direction = 1.0 if local[-1] >= local[0] else -1.0
    back = [step * direction for step in steps if step * direction <= 0]
    # In order it goes back once, by the hour but for a few rows; out of order the whole hour is there twice.
    goes_back = len(back) == 1 and back[0] <= 3 * usual - HOUR_S
    is_whole = is_whole or (goes_back and twice[-1] - twice[0] < HOUR_S)
    if is_night and is_whole and usual <= HOUR_S and len(ordered) > len(in_hour):
        place = max(n for n, at in enumerate(local) if at == twice[0])
        msg = f"{_short(cells[place])!r} again, and with it an hour at night, as when clocks change: --timezone names the zone, such as Europe/Berlin, or UTC if rows are doubled"
        raise UnreadableTimeError(msg, place)


def _missing_hour(local: Sequence[float]) -> str:
    """A note if an hour at night is missing, as when clocks change in spring; nothing else."""
    ordered = sorted(set(local))
    gaps = [(after - before, before) for before, after in pairwise(ordered)]
    usual = median([gap for gap, _ in gaps] or [HOUR_S])
    wide = [before for gap, before in gaps if gap == usual + HOUR_S]
    odd = sum(gap != usual for gap, _ in gaps)
    if len(wide) == odd == 1 and wide[0] % DAY_S < NIGHT_S and usual < HOUR_S:
        return f"an hour is missing after {datetime.fromtimestamp(wide[0], UTC):%Y-%m-%d %H:%M}, as when clocks change: --timezone names the zone"
    return ""

"""Reads one time as people write it: its date, in each order in which it is one, its clock and its zone.

Months have their English names, as programs write them.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

from burstwatch.bucket import DAY_S, HOUR_S

DateOrder: TypeAlias = Literal["dmy", "mdy", "ymd"]

LONGEST_SHOWN = 80
#: CloudWatch began in 2009, so an earlier year of two digits is another part of a date.
FIRST_SHORT_YEAR = 9
HALF_OF_DAY = re.compile(r"\b([ap])\.?\s?m\b\.?", re.IGNORECASE)
CLOCK = re.compile(r"(?<![0-9])([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?")
CLOCK_OF_DOTS = re.compile(
    r"(?<=[\s,])([0-9]{1,2})\.([0-9]{2})(?:\.([0-9]{2})(?:,([0-9]{1,9}))?)?$"
)
#: ``2026-11-17 21.05``: Python takes what stands behind the first dot for a part of a second.
DOTTED = re.compile(
    r"(?P<before>[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}[T ])(?P<clock>[0-9]{1,2}\.[0-9]{2}(?:\.[0-9]{2})?)(?![0-9:])"
)
#: ``2026-11-17 21-05``: Python takes the minutes for hours west of Greenwich.
HYPHENED = re.compile(r".{8,10}[T ][0-9]{1,2}-")
OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])([0-9]{1,2}):?([0-9]{2})?(?![0-9])")
#: A time with something in parentheses behind it.
BEHIND = re.compile(r"(.*[^\s].*?)\s*\(([^()]*)\)$")
WORD = re.compile(r"[^\W\d_]+")
DIGITS = re.compile(r"[0-9]+")
#: The beginnings of the names of months and of days of the week.
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = frozenset(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
BEFORE_NOON = frozenset({"am", "午前", "上午", "오전"})
AFTER_NOON = frozenset({"pm", "午後", "下午", "오후"})
UTC_NAMES = frozenset({"utc", "gmt", "z"})
#: Words that stand beside a date and say nothing, as the console writes them in some languages.
FILLERS = frozenset(["at", "t", "st", "nd", "rd", "th", "年", "月", "日", "년", "월", "일"])


def short(text: str) -> str:
    """A cell as errors show it."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenTime:
    """One cell. ``dates`` holds the date by each order in which it is one.

    ``offset_s`` is east of Greenwich, None where the cell does not say it.
    """

    dates: Mapping[DateOrder, date]
    clock_s: float
    offset_s: float | None

    def local_s(self, order: DateOrder) -> float:
        """Seconds since 1970 as the clock on the wall counts them."""
        day = self.dates[order] if order in self.dates else self.dates["ymd"]
        return (day - date(1970, 1, 1)).days * DAY_S + self.clock_s


def moment_of(time: datetime) -> WrittenTime:
    """The date, the clock and the offset of a time."""
    offset = time.utcoffset()
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    return WrittenTime(
        dates={"ymd": time.date()},
        clock_s=(time - midnight).total_seconds(),
        offset_s=None if offset is None else offset.total_seconds(),
    )


def read_iso(cell: str) -> WrittenTime | None:
    """A time that begins with its year, as ISO 8601 and most programs write it, or None for another."""
    if not (cell[:4].isascii() and cell[:4].isdigit()) or cell[4:5].isdigit():
        return None
    if HYPHENED.match(cell):
        return None
    written = DOTTED.sub(_with_colons, cell.replace("/", "-", 2)).replace(" UTC", "Z").rstrip()
    try:
        return moment_of(datetime.fromisoformat(written))
    except ValueError:
        return None


def _with_colons(match: re.Match[str]) -> str:
    return f"{match['before']}{match['clock'].replace('.', ':')}"


def read_written(cell: str) -> WrittenTime:
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
    month, half, is_utc = _named(words, cell)
    offset_s = 0.0 if is_utc else None
    if offset is not None:
        offset_s = seconds_east(offset)
    return WrittenTime(
        dates=_dates(digits, month, is_of_dots="." in before),
        clock_s=0.0 if clock is None else _clock_s(clock, half, cell),
        offset_s=offset_s,
    )


def _behind(match: re.Match[str]) -> str:
    """The offset that stands in parentheses behind a time, or nothing where one stands before them."""
    clock = CLOCK.search(match[1])
    has_offset = clock is not None and OFFSET.search(match[1][clock.end() :]) is not None
    return match[1] if has_offset else f"{match[1]} {match[2]}"


def _named(words: Iterable[str], cell: str) -> tuple[int | None, str, bool]:
    """The month and the half of the day that the words name, and whether they say UTC."""
    month, half, is_utc = None, "", False
    for word in words:
        if word in BEFORE_NOON or word in AFTER_NOON:
            half = word
        elif word in UTC_NAMES:
            is_utc = True
        elif word[:3] in MONTHS and month is None:
            month = 1 + MONTHS.index(word[:3])
        elif word not in FILLERS and word[:3] not in WEEKDAYS:
            raise ValueError(cell)
    return month, half, is_utc


def seconds_east(offset: re.Match[str]) -> float:
    """The seconds of an offset such as +02:00; raises ValueError for one that no zone has."""
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

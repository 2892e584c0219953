"""Numbers as people read them. Machine output never comes through here."""

import math
import re
import shlex
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import accumulate

MINUTE, HOUR, DAY = 60, 3600, 86400
#: From here on nobody can act on a decimal.
LEAST_WHOLE = 100
#: Below this, one decimal would be 0.0, and below the second nobody needs a digit.
LEAST_DECIMAL, LEAST_NUMBER = 0.05, 0.001
#: A name is shown with so many characters.
NAME_LENGTH = 32
#: An elastic column of a table is not cut below this.
LEAST_CUT_WIDTH = 10
#: A word of a shell as it is written, with its quotes.
SHELL_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""")
#: Classes of East Asian width that take two columns.
WIDE = frozenset("WF")
#: So many blanks stand between two columns of a table.
GAP = 2
#: Bidirectional classes of letters from right to left, which would turn the words around them.
RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
SPARKS = "▁▂▃▄▅▆▇█"


class InputError(ValueError):
    """A value that was given is wrong. ``name`` is that of the value, as settings and fields have it."""

    def __init__(self, problem: str, name: str) -> None:
        super().__init__(problem, name)
        self.problem, self.name = problem, name

    def __str__(self) -> str:
        return f"{self.name} {self.problem}"


def span(seconds: float | None) -> str:
    """A time span in at most two units: ``45 s``, ``17 min``, ``1 h 28 min``, ``2 d 3 h``, ``never``, or a dash for none."""
    if seconds is None:
        return "-"
    if math.isinf(seconds):
        return "never"
    step = 1 if abs(seconds) < 2 * MINUTE else _step(seconds)
    return _in_units(round(seconds / step) * step)


def time_left(seconds: float | None) -> str:
    """How long credits last: ``out`` where there are none left, else as ``span`` writes it."""
    return "out" if seconds == 0 else span(seconds)


def countdown(seconds: float) -> str:
    """The time that is left, never more than it is: to the second under ten minutes, above as ``span`` writes it."""
    step = 1 if seconds < 10 * MINUTE else _step(seconds)
    return _in_units(math.floor(seconds / step) * step)


def _step(seconds: float) -> int:
    """What a time span is rounded to: nobody can act on the minutes of half a day, or the hours of a month."""
    if abs(seconds) < 10 * HOUR:
        return MINUTE
    return HOUR if abs(seconds) < 10 * DAY else DAY


def _in_units(seconds: int) -> str:
    """Whole seconds as ``1 h 28 min``, without the units of which there are none."""
    days, rest = divmod(abs(seconds), DAY)
    amounts = (
        (days, "d"),
        (rest // HOUR, "h"),
        (rest % HOUR // MINUTE, "min"),
        (rest % MINUTE, "s"),
    )
    words = " ".join(f"{amount:,} {unit}" for amount, unit in amounts if amount)
    return f"{'-' if seconds < 0 else ''}{words or '0 s'}"


def first_of(names: Sequence[str]) -> str:
    """The first of many by its name: ``vol-1 and 3 more``."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def number(value: float) -> str:
    """A whole number from 100 on and one decimal below, with thousands apart: ``3,000``, ``77.5``; never 0 for what is more."""
    if 0 < abs(value) < LEAST_DECIMAL:
        return f"{value:.1g}" if abs(value) >= LEAST_NUMBER else f"under {LEAST_NUMBER:g}"
    is_whole = abs(value) >= LEAST_WHOLE
    return f"{value:,.0f}" if is_whole else f"{value:,.1f}".removesuffix(".0")


def usd(amount: float) -> str:
    """An amount in USD: ``1,234.50``, and never 0.00 for what is more."""
    return "under 0.01" if 0 < amount < 0.005 else f"{amount:,.2f}"  # noqa: PLR2004 - half a cent


def balance(ratio: float) -> str:
    """A share of a bucket in whole percent: never 0% while there is something in it."""
    return "under 1%" if 0 < ratio <= 0.005 else f"{ratio:.0%}"  # noqa: PLR2004 - half a percent


def percent(chance: float) -> str:
    """A chance, 0 to 1, in whole percent: never 0% or 100%, for it is an estimate."""
    if chance < 0.01:  # noqa: PLR2004 - one percent
        return "under 1%"
    return f"{chance:.0%}" if chance < 0.99 else "over 99%"  # noqa: PLR2004 - one percent


def clock_time(at: float, *, now: float, zone: tzinfo = UTC) -> str:
    """An instant: ``03:42Z``, ``24 Nov 03:42Z`` on another day than ``now``, and ``24 Nov 2027 03:42Z`` of another year."""
    instant, today = (datetime.fromtimestamp(seconds, tz=zone) for seconds in (at, now))
    if instant.date() == today.date():
        return _hour_in_zone(instant)
    of_year = "" if instant.year == today.year else f" {instant.year}"
    return f"{instant.day} {instant:%b}{of_year} {_hour_in_zone(instant)}"


def _hour_in_zone(instant: datetime) -> str:
    """``03:42Z`` in UTC, and ``04:42 CET`` elsewhere."""
    return f"{instant:%H:%MZ}" if instant.tzinfo is UTC else f"{instant:%H:%M %Z}"


def hour_of(at: float) -> str:
    """An instant in UTC that is less than a day away: ``03:42Z``."""
    return f"{datetime.fromtimestamp(at, tz=UTC):%H:%MZ}"


def is_dated(at: float) -> bool:
    """True if an instant of a recording is one since 1970, and not since its beginning."""
    return abs(at) >= 10 * 365 * DAY


def recorded_time(at: float, zone: tzinfo = UTC) -> str:
    """An instant of a recording: ``2026-11-24 12:00Z``, or ``+3:05`` in hours and minutes where it counts from 0."""
    if is_dated(at):
        instant = datetime.fromtimestamp(at, tz=zone)
        return f"{instant:%Y-%m-%d} {_hour_in_zone(instant)}"
    minutes = round(abs(at) / MINUTE)
    return f"{'-' if at < 0 else '+'}{minutes // 60}:{minutes % 60:02d}"


def day_and_time(at: float, zone: tzinfo = UTC) -> str:
    """An instant of a recording with its weekday: ``Tue 2026-11-24 12:00Z``, or ``+3:05`` where it counts from 0."""
    if not is_dated(at):
        return recorded_time(at)
    return f"{datetime.fromtimestamp(at, tz=zone):%a} {recorded_time(at, zone)}"


def spark(ratio: float) -> str:
    """A share from 0 to 1 as a block of one of eight heights."""
    return SPARKS[min(len(SPARKS) - 1, int(max(0.0, ratio) * len(SPARKS)))]


def command_line(*words: str) -> str:
    """A line that people paste into a shell: words that others chose are quoted, so that no shell runs them."""
    return shlex.join(printable(word) for word in words)


#: Characters by which a shell runs, writes or quotes something, with look-alikes for them.
INERT = str.maketrans(
    "$`;|&<>\\'\"!", "\uff04\u02cb\uff1b\uff5c\uff06\u2039\u203a\uff3c\u2019\u201d\uff01"
)


def inert(name: str) -> str:
    """A name that somebody else chose, for a terminal: on one line, and whoever pastes that line runs nothing of it."""
    return printable(name).translate(INERT)


def printable(text: str) -> str:
    """The text on one line. A control character, which may move a terminal's cursor, is a space."""
    return "".join(c if c.isprintable() else " " for c in text)


def folded(text: str, columns: int | None) -> str:
    """Each line in as many as fit into so many columns, the further ones further in; as it is where ``columns`` is None."""
    if columns is None:
        return text
    return "\n".join("\n".join(_folded_line(line, columns)) for line in text.split("\n"))


def _folded_line(line: str, columns: int) -> Iterator[str]:
    if width_of(line) <= columns:
        yield line
        return
    words = line.split() or [""]
    indent = " " * (len(line) - len(line.lstrip(" "))) if any(words) else ""
    further = f"{indent}  " if len(indent) + 2 < columns else ""
    part = f"{indent}{words[0]}"
    for word in words[1:]:
        if width_of(part) + 1 + width_of(word) <= columns:
            part = f"{part} {word}"
            continue
        yield from _broken(part, columns)
        part = f"{further}{word}"
    yield from _broken(part, columns)


def _broken(text: str, columns: int) -> Iterator[str]:
    """A line whose only word may be wider than the terminal, in pieces that are not."""
    begin, width = 0, 0
    for n, character in enumerate(text):
        of_character = _width_of_character(character)
        if width + of_character > columns and n > begin:
            yield text[begin:n]
            begin, width = n, 0
        width += of_character
    yield text[begin:]


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes: an ideograph takes two, an accent that is added to a letter none."""
    if text.isascii():
        return len(text)
    return sum(map(_width_of_character, text))


def _width_of_character(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in WIDE else 1


def cut_to_width(text: str, columns: int) -> str:
    """The beginning of a text that fits into so many columns, of one character at least."""
    widths = accumulate(map(_width_of_character, text))
    length = sum(1 for width in widths if width <= columns)
    return text[: max(1, length)]


def folded_command(line: str, columns: int | None) -> str:
    """A line to paste in as many as fit, with what a shell takes for the end of none; a word is never broken."""
    if columns is None or len(line) <= columns:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")))
    words = SHELL_WORD.findall(line)
    lines = [f"{indent}{words[0]}" if words else line]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > columns:
            lines[-1] += " \\"
            lines.append(f"{indent}  {word}")
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines)


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    paint: Callable[[str], str] = lambda cell: cell,
    columns: int | None = None,
    elastic: Collection[str] = (),
) -> str:
    """Left-aligned columns, as wide as they need to be. ``paint`` colours a cell that is filled up.

    A cell is one line without control characters: some cells hold names that anybody may choose. ``columns`` is how
    wide the table may be: the ``elastic`` columns are cut with an ellipsis for that, and if that is not enough, the
    last columns are left out. The most important ones come first. Where no column is elastic, each row becomes a
    paragraph with a line for each cell, and nothing is left out.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(width_of(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    is_wider = columns is not None and sum(widths) + GAP * (len(widths) - 1) > columns
    if is_wider and not elastic:
        return "\n\n".join(_paragraph(headings, row, columns) for row in rows)
    if columns is not None:
        widths = _fitting(widths, [heading in elastic for heading in headings], columns)
    lines = [
        (" " * GAP)
        .join(paint(_filled(cell, width)) for cell, width in zip(row, widths, strict=False))
        .rstrip()
        for row in [headings, *rows]
    ]
    return "\n".join(lines)


def _filled(cell: str, width: int) -> str:
    """A cell cut or filled up to a width."""
    text = cell if width_of(cell) <= width else f"{cut_to_width(cell, width - 1)}…"
    return text + " " * (width - width_of(text))


def _paragraph(headings: Sequence[str], row: Sequence[str], columns: int | None) -> str:
    """A row as a line for each cell that has something, the first of them at the margin."""
    indents = ("", *("  " for _ in row[1:]))
    lines = (
        f"{indent}{heading}: {cell}"
        for indent, heading, cell in zip(indents, headings, row, strict=True)
        if cell
    )
    return folded("\n".join(lines), columns)


def _fitting(widths: Sequence[int], is_elastic: Sequence[bool], columns: int) -> list[int]:
    """The widths of the columns that fit: the widest elastic ones give way first."""
    widths = list(widths)
    while len(widths) > 1 and sum(widths) + GAP * (len(widths) - 1) > columns:
        shrinkable = [
            n for n, width in enumerate(widths) if is_elastic[n] and width > LEAST_CUT_WIDTH
        ]
        if not shrinkable:
            widths.pop()
            continue
        widths[max(shrinkable, key=lambda n: widths[n])] -= 1
    return widths


#: What mail and chat clients make a link of, though nobody has marked it as one.
_ADDRESS = re.compile(r"://|(?<=\w)\.(?=[A-Za-z]{2,}[/:?#])|(?<=www)\.", re.IGNORECASE)
NO_DOT = "\u2024"
_NO_LINK = {"://": ":\u2215\u2215", ".": NO_DOT}


def unlinked(text: str) -> str:
    """Free text without an address that a client makes a link of: look-alikes stand for its ``://`` and its dots.

    A bare name such as ``db.example.com`` stays as it is: databases are called so.
    """
    return _ADDRESS.sub(lambda match: _NO_LINK[match[0]], text)


def plain_name(name: str, length: int = NAME_LENGTH) -> str:
    """A name as one short line of printable characters, and no link: a tag is somebody's free text.

    What is written from right to left gets a frame of its own.
    """
    name = unlinked(name)
    if name.isascii() and name.isprintable() and len(name) <= length:
        return " ".join(name.split())
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if any(unicodedata.bidirectional(c) in RIGHT_TO_LEFT for c in text):
        return f"{ISOLATE}{cut(text, length - 2)}{END_ISOLATE}"
    return shortened(text, length)


def shortened(name: str, length: int) -> str:
    """A name of at most ``length`` characters, with an ellipsis where something is left out.

    Replicas are told apart by how their names end, so the namespace before a slash gives way first, then the middle.
    """
    if len(name) <= length:
        return name
    last = name.rstrip("/").rpartition("/")[2]
    if len(last) + 2 <= length:
        return f"…/{last}"
    if len(last) <= length:
        return last
    head = length // 3
    return f"{last[:head]}…{last[len(last) - (length - head - 1) :]}"


def cut(text: str, length: int) -> str:
    """At most ``length`` characters, with an ellipsis where something is left out."""
    return text if len(text) <= length else text[: length - 1] + "…"

"""Splits a text into rows of cells, whatever sign delimits them."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

DELIMITERS = ",;\t"
#: A word that is a time where blanks separate columns: a date, or seconds or milliseconds since 1970.
TIME = re.compile(r"\d{4}-\d\d-\d\dT\S*|1\d{9}(?:\d{3})?")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SEPARATOR = "sep="
HEAD_LINES = 3
#: A year of minutes of five metrics, one row for each minute. It takes ten seconds and 600 MiB.
MOST_CELLS, MOST_ROWS = 4_000_000, 1_500_000
#: Where Python ends a line.
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
FEWER = "take fewer days or fewer metrics, or a longer period"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRow:
    """The cells of one line, which is counted from 1."""

    line: int
    cells: list[str]


def first_line(text: str) -> str:
    """The first line that is neither empty nor a comment, or nothing."""
    lines = (line.strip() for line in StringIO(text))  # one after the other: a file may be large
    return next((line for line in lines if line and line[0] != "#"), "")


def split_rows(text: str, *, name: str) -> tuple[list[TextRow], str]:
    """The rows of a table without comments and empty rows, and what separates its columns.

    Raises:
        ValueError: for a quote that is not closed, or too many cells.
    """
    # Counted before they are made: each takes twenty times its place in the file.
    count = sum(map(text.count, LINE_ENDS)) - text.count("\r\n")
    lines = text.splitlines() if count <= MOST_ROWS else []
    delimiter = " " if are_pairs(lines) else _delimiter(lines)
    if count > MOST_ROWS or count + text.count(delimiter) > MOST_CELLS:
        msg = f"{name} has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells: {FEWER}"
        raise ValueError(msg)
    return list(_delimited(lines, delimiter, name=name)), delimiter


def are_pairs(lines: Sequence[str]) -> bool:
    """True if each line is a time and a number with blanks between: nothing else can be meant."""
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    is_blank = not any("\t" in line for line in lines)
    return is_blank and len(rows) > 1 and all(map(_is_pair, rows))


def _is_pair(words: Sequence[str]) -> bool:
    """True for two words of which one is a time, and the other a number that is none."""
    times = [TIME.fullmatch(word) is not None for word in words]
    numbers = [NUMBER.fullmatch(word) is not None for word in words]
    return sorted(times) == [False, True] and numbers[times.index(False)]


def _delimiter(lines: Iterable[str]) -> str:
    """The sign that the first row has most of, a comma where there is none."""
    head: list[str] = []
    for line in lines:
        if line.startswith(SEPARATOR) and len(line) == len(SEPARATOR) + 1:
            return line[-1]
        if line.strip() and not line.startswith("#"):
            head.append(line)
        if len(head) == HEAD_LINES:
            break
    # A title may stand above the headings.
    signs = (max(DELIMITERS, key=line.count) for line in head)
    return next((sign for sign, line in zip(signs, head, strict=True) if sign in line), ",")


def _delimited(lines: Sequence[str], delimiter: str, *, name: str) -> Iterator[TextRow]:
    # With its end, a line that goes on in the next one because of a quote is not taken for one number.
    kept = ("" if line.startswith(("#", SEPARATOR)) else f"{line}\n" for line in lines)
    reader = csv.reader(kept, delimiter=delimiter, skipinitialspace=True)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield TextRow(line=reader.line_num, cells=[cell.strip() for cell in cells])
    except csv.Error as error:
        msg = f"{name} line {reader.line_num}: {error}"
        raise ValueError(msg) from None

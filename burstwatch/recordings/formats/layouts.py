"""Splits a text into rows of cells: columns that are delimited, drawn with lines, or aligned with blanks."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

DELIMITERS = ",;\t"
SEPARATOR = "sep="
#: A row of the lines that are drawn around cells, by the AWS CLI, psql, Markdown, Steampipe or PowerShell.
BORDER = re.compile(r"[\s|+:=\-─━│┃┌┐└┘├┤┬┴┼┆╞╡╪╔╗╚╝═║╠╣╦╩╬╭╮╰╯]+")
UPRIGHT = re.compile(r"[|│┃║┆]")
#: Lines that pandas prints below a frame or a series.
SIZE_LINE = re.compile(r"\[[0-9]+ rows x [0-9]+ columns\]")
NAME_LINE = re.compile(
    r"(?:Name: (?P<name>[^,]*)|Freq: [^,]*)?,?\s*(?:Length: [0-9]+)?,?\s*dtype: \w+"
)
#: A date, its clock and what may follow it, where blanks separate columns.
WRITTEN_TIME = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
    r"(?:\s?[+-]\d{2}:?\d{2}|\s?[AaPp][Mm]\b|\sUTC\b|Z)?"
)
#: polars prints the types of its columns below their names.
TYPE_OF_COLUMN = re.compile(
    r"(?:datetime|date|time|duration)(?:\[.*\])?|str|cat|enum|bool|[iuf]\d{1,3}|decimal.*"
)
HEAD_LINES = 3
CUT = frozenset({"...", "…", ".."})


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRow:
    """The cells of one line, which is counted from 1."""

    line: int
    cells: list[str]


def first_line(text: str) -> str:
    """The first line that is neither empty nor a comment, or nothing."""
    lines = (line.strip() for line in StringIO(text))  # one after the other: a file may be large
    return next((line for line in lines if line and line[0] != "#"), "")


def split_rows(text: str, *, name: str, keeps_titles: bool = False) -> tuple[list[TextRow], str]:
    """The rows of a table without its lines, comments and empty rows, and what separates its columns.

    A row of one cell in a drawn table is a title, and is left out unless ``keeps_titles``.

    Raises:
        ValueError: for a quote that is not closed, or a table that was printed with rows left out.
    """
    lines = text.splitlines()
    head = [line for line in lines if line.strip() and not line.startswith("#")][:12]
    drawn = sum(UPRIGHT.search(line) is not None for line in head)
    plain = sum(BORDER.fullmatch(line) is None for line in head) - drawn
    if drawn > plain:
        rows = _drawn(lines)
        return (rows if keeps_titles else _without_titles(rows)), "|"
    delimiter = _delimiter(lines)
    if delimiter is None:
        return _aligned(lines, name=name), " "
    return list(_delimited(lines, delimiter, name=name)), delimiter


def _delimiter(lines: Iterable[str]) -> str | None:
    """The sign that the first row has most of, or None where blanks align the columns."""
    head: list[str] = []
    for line in lines:
        if line.startswith(SEPARATOR) and len(line) == len(SEPARATOR) + 1:
            return line[-1]
        text = line.strip()
        if text and not line.startswith("#") and not NAME_LINE.fullmatch(text):
            head.append(line)
        if len(head) == HEAD_LINES:
            break
    # A title may stand above the headings.
    for line in head:
        sign = max(DELIMITERS, key=line.count)
        if sign in line:
            return sign
    return None if any(len(line.split()) > 1 for line in head) else ","


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


def _drawn(lines: Sequence[str]) -> list[TextRow]:
    """Rows between upright lines. The AWS CLI draws a second pair around an inner table."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or BORDER.fullmatch(line) or re.match(r"\s*\([0-9]+ rows?\)", line):
            continue
        inner = re.sub(r"^\s*[|│┃║┆]+|[|│┃║┆]+\s*$", "", line)
        cells = [cell.strip() for cell in UPRIGHT.split(inner)]
        if any(cells) and not all(map(TYPE_OF_COLUMN.fullmatch, cells)):
            rows.append(TextRow(line=number, cells=cells))
    return rows


def _without_titles(rows: Sequence[TextRow]) -> list[TextRow]:
    widest = max((len(row.cells) for row in rows), default=0)
    return [row for row in rows if len(row.cells) > 1 or widest == 1]


def _aligned(lines: Sequence[str], *, name: str) -> list[TextRow]:
    """Rows whose columns blanks align, as pandas and PowerShell print them."""
    rows, named = [], ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or BORDER.fullmatch(text) or SIZE_LINE.fullmatch(text):
            continue
        below = NAME_LINE.fullmatch(text)
        if below is not None:
            named = below["name"] or ""
            continue
        cells = _words(text)
        if all(cell in CUT for cell in cells) or cells[0] in CUT:
            msg = f"{name} line {number}: rows are left out of the print ({text[:20]}): write the whole table, such as by to_csv()"
            raise ValueError(msg)
        rows.append(TextRow(line=number, cells=cells))
    return _with_index(rows, named)


def _words(text: str) -> list[str]:
    """The words of a line, a time as one of them."""
    cells, end = [], 0
    for time in WRITTEN_TIME.finditer(text):
        cells += [*text[end : time.start()].split(), time[0]]
        end = time.end()
    return cells + text[end:].split()


def _with_index(rows: Sequence[TextRow], named: str) -> list[TextRow]:
    """Rows of one width: pandas prints no heading for its index, and none at all for a series."""
    widths = [len(row.cells) for row in rows]
    widest = max(widths, default=0)
    if rows and widths[0] == widest and named and widest == 2:  # noqa: PLR2004 - an index and a value
        return [TextRow(line=0, cells=["", named]), *rows]
    if rows and named and widest == 2 and widths[0] == 1:  # noqa: PLR2004 - the name of the index
        rows = [TextRow(line=rows[0].line, cells=[rows[0].cells[0], named]), *rows[1:]]
    padded: list[TextRow] = []
    for row in rows:
        missing = widest - len(row.cells)
        is_index_name = missing == widest - 1 and row is not rows[0]
        if is_index_name and padded:
            padded[-1].cells[0] = row.cells[0]
            continue
        padded.append(TextRow(line=row.line, cells=[*[""] * missing, *row.cells]))
    return padded

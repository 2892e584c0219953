r"""Reads rows that are printed with a line for each cell, as PowerShell's ``Format-List``, psql's ``\x`` and MySQL's ``\G`` do."""

import re
from collections.abc import Iterator

from burstwatch.recordings.formats.layouts import TextRow, first_line
from burstwatch.recordings.formats.table import read_rows
from burstwatch.recordings.raw import NoTimesError, RawContents

#: So much of a text shows that it is one.
HEAD, FIRST_LINES = 4_000, 12
#: What begins a row in psql, MySQL and ClickHouse.
ROW = re.compile(r"-\[ RECORD \d+ \][-+]*|\*{3,} \d+\. row \*{3,}|Row \d+:")
#: PowerShell has a blank before the colon, which YAML has not.
LISTED = re.compile(r"(?P<name>[A-Za-z_]\w*) +: ?(?P<value>.*)")
FIELD = re.compile(r"\s*(?P<name>[A-Za-z_][\w .()/%-]*?)\s*[:|] ?(?P<value>.*)")


def is_vertical(text: str) -> bool:
    """True if a text has rows with a line for each cell."""
    if any(ROW.fullmatch(line.strip()) for line in text[:HEAD].splitlines()[:FIRST_LINES]):
        return True
    names = [match["name"] for line in text[:HEAD].splitlines() if (match := LISTED.match(line))]
    return LISTED.match(first_line(text)) is not None and len(set(names)) < len(names)


def read_vertical(text: str, *, name: str) -> RawContents:
    """The rows of a text as series. An error names the line in which a row begins.

    Raises:
        ValueError: naming the row, the cell and what is allowed.
    """
    rows = list(_rows(text))
    if not rows:
        msg = (
            f"{name} has a line for each cell, and no rows with a time and values: write it as CSV"
        )
        raise NoTimesError(msg)
    headings = list(dict.fromkeys(heading for _, row in rows for heading in row))
    cells = [
        TextRow(line=line, cells=[row.get(heading, "") for heading in headings])
        for line, row in rows
    ]
    return read_rows([TextRow(line=0, cells=headings), *cells], name=name, format_="rows of lines")


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each row by their names, with its first line. A row ends where one of them comes again."""
    row: dict[str, str] = {}
    begin = 0
    lines = text.splitlines()
    # Before the first mark stands a command, and behind a row how long it took.
    has_marks = any(ROW.fullmatch(line.strip()) for line in lines)
    is_open = not has_marks
    for number, line in enumerate(lines, start=1):
        is_mark = ROW.fullmatch(line.strip()) is not None
        match = None if is_mark else FIELD.fullmatch(line)
        if row and match is None and not has_marks and line[:1].isspace() and line.strip():
            last = [*row][-1]
            row[last] = (
                f"{row[last]} {line.strip()}"  # a value that is longer than the terminal was
            )
            continue
        if row and (match is None or match["name"] in row):
            yield begin, row
            row, is_open = {}, not has_marks
        is_open = is_open or is_mark
        if match is not None and is_open:
            begin = begin if row else number
            row[match["name"]] = match["value"].strip()
    if row:
        yield begin, row

"""Reads what the AWS CLI prints with ``--output text`` and ``--output table``, as the answer that its JSON would be."""

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import islice
from typing import Any

from burstwatch.recordings.formats.documents import read_all
from burstwatch.recordings.formats.layouts import TextRow
from burstwatch.recordings.formats.table import read_rows
from burstwatch.recordings.matching import statistic_of_word
from burstwatch.recordings.raw import RawContents
from burstwatch.recordings.times import is_time

#: A row of text begins with the name of the list that it is of.
TEXT_MARKS = ("DATAPOINTS\t", "METRICDATARESULTS\t", "TIMESTAMPS\t", "VALUES\t")
#: A row whose tabs somebody has made blanks, as ``column -t`` does.
ALIGNED = re.compile(r"(?:DATAPOINTS|METRICDATARESULTS|TIMESTAMPS|VALUES) {2,}\S")
#: A row of the lines that are drawn around cells.
BORDER = re.compile(r"[\s+=-]+")
TABLE_TITLES = ("GetMetricStatistics", "GetMetricData")
#: The statistics in the order in which the CLI prints them, by how many a row has. Of two or three it does not say which.
ALL_STATISTICS = ("Average", "Maximum", "Minimum", "SampleCount", "Sum")


def is_aws_text(text: str) -> bool:
    """True if a text has rows of an answer with ``--output text``."""
    head = [*islice(StringIO(text), 50)]
    has_marks = any(line.startswith(TEXT_MARKS) or ALIGNED.match(line) for line in head)
    return has_marks or _two_lists(head) is not None


def is_aws_table(text: str) -> bool:
    """True if a text is an answer with ``--output table``."""
    head = [line.strip(" |\r\n") for line in islice(StringIO(text), 4)]
    return any(title in head for title in TABLE_TITLES)


def read_aws_text(text: str, *, name: str) -> RawContents:
    """The series of the answers in a text.

    Raises:
        ValueError: for rows of several statistics, which their text does not name.
    """
    lists = _two_lists(text.splitlines())
    if lists is not None:
        return read_all([lists], name=name)
    for number, row in enumerate(text.splitlines(), start=1):
        if row.startswith(("{", "[")):
            msg = f"{name} has JSON behind rows, in line {number}: give each as a file"
            raise ValueError(msg)
    if any(map(ALIGNED.match, text.splitlines())):
        text = re.sub(r" {2,}", "\t", text)
    return read_all(list(_answers(text, name)), name=name)


def _two_lists(lines: Sequence[str]) -> list[list[str]] | None:
    """The lines of ``--query`` for ``[Timestamps, Values]``: a line of times and a line of as many values."""
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) != 2 or not 1 < len(rows[0]) == len(rows[1]):  # noqa: PLR2004 - times and values
        return None
    return rows if all(map(is_time, rows[0])) and not any(map(is_time, rows[1])) else None


def _answers(text: str, name: str) -> Iterator[dict[str, Any]]:
    rows = text.splitlines()
    if any(row.startswith(("TIMESTAMPS\t", "VALUES\t")) for row in rows):
        yield _data_answer(rows)
    else:
        yield from _statistics_answers(rows, name)


def _statistics_answers(rows: Sequence[str], name: str) -> Iterator[dict[str, Any]]:
    """One answer for each label with the datapoints below it."""
    label, datapoints = "", list[dict[str, Any]]()
    for number, row in enumerate(rows, start=1):
        mark, *cells = row.split("\t")
        if mark == "DATAPOINTS":
            datapoints.append(_datapoint(cells, f"{name} line {number}"))
        elif mark and not cells:
            if datapoints:
                yield {"Label": label, "Datapoints": datapoints}
                datapoints = []
            label = mark
    if datapoints:
        yield {"Label": label, "Datapoints": datapoints}


def _data_answer(rows: Sequence[str]) -> dict[str, Any]:
    """One result for each row with a label; its times and values are below it. ``--query`` leaves out the mark of the row."""
    label, begins, results = "", True, list[dict[str, Any]]()
    for row in rows:
        mark, *cells = row.split("\t")
        if mark in {"TIMESTAMPS", "VALUES"}:
            if begins:
                results.append({"Label": label, "Timestamps": [], "Values": []})
            begins = False
            results[-1][mark.capitalize()] += cells
        elif mark:
            named = cells if mark == "METRICDATARESULTS" else [mark, *cells]
            # An id, the label and the status; or the label alone.
            label, begins = (named[1:2] or named or [""])[0], True
    return {"MetricDataResults": results}


def _datapoint(cells: list[str], where: str) -> dict[str, Any]:
    times = [cell for cell in cells if is_time(cell) and not _is_small(cell)]
    values = [cell for cell in cells if _is_small(cell)]
    if len(times) != 1 or len(values) not in {1, len(ALL_STATISTICS)}:
        msg = f"{where}: a row of {len(values)} values and {len(times)} times, and the text does not name them: ask with --output json"
        raise ValueError(msg)
    names = ALL_STATISTICS if len(values) > 1 else ("Value",)
    return {"Timestamp": times[0], **dict(zip(names, values, strict=True))}


def _is_small(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_aws_table(text: str, *, name: str) -> RawContents:
    """The series of the answer in a table.

    Raises:
        ValueError: for a table whose rows are not those of an answer.
    """
    lines = (line.strip().strip("|") for line in text.splitlines())
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    numbered = [
        TextRow(line=number, cells=row)
        for number, row in enumerate(cells, start=1)
        if any(row) and not BORDER.fullmatch("".join(row))
    ]
    rows = [row.cells for row in numbered]
    if ["Datapoints"] in rows:
        return read_all([_statistics_table(rows)], name=name)
    if ["MetricDataResults"] in rows:
        return read_all([_data_table(rows)], name=name)
    # Of an answer that --query has cut, the title is left.
    return read_rows(numbered[1:], name=name, format_="a table")


def _data_table(rows: list[list[str]]) -> dict[str, Any]:
    document: dict[str, Any] = {"MetricDataResults": []}
    results = document["MetricDataResults"]
    listing = ""
    for before, cells in zip([[], *rows], rows, strict=False):
        if cells in (["Timestamps"], ["Values"]):
            listing = cells[0]
        elif cells == ["MetricDataResults"]:
            listing = ""
        elif len(cells) > 1 and "Label" in before:
            results.append(
                {**dict(zip(before, cells, strict=False)), "Timestamps": [], "Values": []}
            )
        elif len(cells) == 1 and listing and results:
            results[-1][listing].append(cells[0])
    return document


def _statistics_table(rows: list[list[str]]) -> dict[str, Any]:
    label, headings, points = "", list[str](), list[dict[str, str]]()
    for cells in rows:
        if cells[0] == "Label" and len(cells) == 2:  # noqa: PLR2004 - a name and its value
            label = cells[1]
        elif any(statistic_of_word(cell) for cell in cells) and "Timestamp" in cells:
            headings = cells
        elif headings and len(cells) == len(headings):
            points.append(dict(zip(headings, cells, strict=True)))
    return {"Label": label, "Datapoints": points}

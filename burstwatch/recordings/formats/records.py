"""Reads documents that are rows: a list of objects or lists, columns by name, or one object in each line.

So write metric streams, Elasticsearch and metricbeat, Steampipe, telegraf, pandas, InfluxDB, and ``--query``.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from burstwatch.recordings.formats.layouts import TextRow
from burstwatch.recordings.formats.table import read_rows
from burstwatch.recordings.raw import NoTimesError, RawContents
from burstwatch.recordings.times import is_time

#: Where programs keep the rows of an answer.
INDEX = "time"
ENVELOPES = (
    "rows",
    "hits",
    "_source",
    "metrics",
    "series",
    "data",
    "records",
    "results",
    "items",
    "value",
)
MOST_COLUMNS = 500
DEEPEST = 8


def read_records(documents: Sequence[Any], *, name: str) -> RawContents | None:
    """The rows of documents as series, or None if they are no rows with times.

    Raises:
        ValueError: naming the row, the cell and what is allowed.
    """
    records = [record for document in documents for record in _rows(document, {}, 0)]
    if not records:
        return None
    if all(isinstance(record, list) for record in records):
        width = max(map(len, records))
        cells = [[_cell(value) for value in record] for record in records]
        rows = [TextRow(line=n, cells=row) for n, row in enumerate(cells, start=1)]
        if width < 2 or any(len(row.cells) != width for row in rows):  # noqa: PLR2004 - time and value
            return None
        return _read(rows, name)
    flat = [_flat(record) for record in records if isinstance(record, dict)]
    headings = list(dict.fromkeys(key for record in flat for key in record))
    if len(flat) != len(records) or not headings or len(headings) > MOST_COLUMNS:
        return None
    rows = [TextRow(line=0, cells=headings)]
    rows += [
        TextRow(line=n, cells=[record.get(heading, "") for heading in headings])
        for n, record in enumerate(flat, start=1)
    ]
    return _read(rows, name)


def _read(rows: Sequence[TextRow], name: str) -> RawContents | None:
    try:
        return read_rows(rows, name=name, format_="JSON")
    except NoTimesError:
        return None


def _rows(document: Any, around: Mapping[str, Any], depth: int) -> Iterator[Any]:  # noqa: ANN401
    """The rows in a document; ``around`` are the values that stand beside them, for all of them."""
    if depth > DEEPEST:
        return
    if isinstance(document, list):
        for row in document:
            if isinstance(row, dict):
                yield from _rows(row, around, depth + 1)
            else:
                yield row
    elif isinstance(document, dict):
        yield from _rows_of_mapping(document, around, depth)


def _rows_of_mapping(
    document: Mapping[str, Any], around: Mapping[str, Any], depth: int
) -> Iterator[Any]:
    headings = document.get("columns", document.get("fields"))
    if isinstance(headings, list) and headings and isinstance(headings[0], dict):
        headings = [heading.get("name") for heading in headings]
    rows = document.get("data", document.get("values", document.get("rows")))
    if isinstance(headings, list) and _are_texts(headings) and _are_lists(rows):
        yield from _rows_of_split(document, headings, rows or [], around)
        return
    envelope = next((key for key in ENVELOPES if isinstance(document.get(key), list | dict)), "")
    inner = document.get(envelope)
    if envelope and (isinstance(inner, list) or envelope in {"hits", "_source"}):
        yield from _rows(inner, {**around, **_beside(document, {envelope})}, depth + 1)
        return
    by_time = _rows_by_time(document)
    if by_time:
        yield from ({**around, **row} for row in by_time)
        return
    columns = {key: value for key, value in document.items() if _is_column(value)}
    lengths = {len(value) for value in columns.values()}
    if len(columns) > 1 and len(lengths) == 1 and lengths != {0}:
        beside = {**around, **_beside(document, columns)}
        for row in zip(*map(_values, columns.values()), strict=True):
            yield {**beside, **dict(zip(columns, row, strict=True))}
        return
    yield {**around, **document}


def _rows_of_split(
    document: Mapping[str, Any],
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    around: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """Rows under headings. pandas writes the times of its index beside them."""
    index = document.get("index")
    has_times = (
        isinstance(index, list)
        and len(index) == len(rows)
        and all(is_time(f"{at}") for at in index)
    )
    for n, row in enumerate(rows):
        indexed = {INDEX: index[n]} if has_times and isinstance(index, list) else {}
        beside = _beside(document, {"columns", "fields", "data", "values", "rows", "index"})
        yield {**around, **beside, **indexed, **dict(zip(headings, row, strict=False))}


def _rows_by_time(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a mapping whose keys are times, or whose columns are such mappings, as pandas writes them."""
    if len(document) > 1 and all(map(is_time, document)):
        return [
            {INDEX: at, **(row if isinstance(row, dict) else {"value": row})}
            for at, row in document.items()
        ]
    columns = {
        key: value
        for key, value in document.items()
        if isinstance(value, dict) and len(value) > 1 and all(map(is_time, value))
    }
    if not columns:
        return []
    rows: dict[str, dict[str, Any]] = {}
    for name, column in columns.items():
        for at, value in column.items():
            rows.setdefault(at, {INDEX: at})[name] = value
    return [*rows.values()]


def _are_lists(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, list) for row in rows)


def _are_texts(values: Sequence[object]) -> bool:
    return bool(values) and all(isinstance(value, str) for value in values)


def _is_column(value: object) -> bool:
    """True for a list of single values, or pandas's mapping of row numbers to them."""
    if isinstance(value, dict):
        return len(value) > 1 and all(str(key).isdecimal() for key in value)
    return isinstance(value, list) and not any(isinstance(cell, list | dict) for cell in value)


def _values(column: Any) -> Sequence[Any]:  # noqa: ANN401 - any JSON
    return list(column.values()) if isinstance(column, dict) else column


def _beside(document: Mapping[str, Any], left_out: Container[str]) -> dict[str, Any]:
    """The values that stand beside the columns of one series: its name, and its tags or labels."""
    return {
        key: value
        for key, value in document.items()
        if key not in left_out and not isinstance(value, list)
    }


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    """The single values of a record by their dotted names, as Elasticsearch and pandas name them."""
    flat: dict[str, str] = {}
    stack: list[tuple[str, Any, int]] = [("", record, 0)]
    while stack:
        key, value, depth = stack.pop()
        if isinstance(value, dict) and depth <= DEEPEST:
            prefix = f"{key}." if key else ""
            stack += [(f"{prefix}{name}", inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list):
            if all(isinstance(pair, dict) and {"Name", "Value"} <= pair.keys() for pair in value):
                flat |= {f"{key}.{pair['Name']}": _cell(pair["Value"]) for pair in value}
        elif not isinstance(value, dict):
            flat[key] = _cell(value)
    return dict(reversed(flat.items()))


def _cell(value: Any) -> str:  # noqa: ANN401 - any JSON
    return "" if value is None else str(value)

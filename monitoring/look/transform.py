"""Grafana's transformations, as far as our dashboards use them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from monitoring.look.frames import Cell, Frames, Line, LookError, Table

#: Each reducer with the name of the column that it makes.
REDUCERS: dict[str, tuple[str, Callable[[Sequence[float]], float]]] = {
    "lastNotNull": ("Last *", lambda values: values[-1]),
    "min": ("Min", min),
    "max": ("Max", max),
    "mean": ("Mean", lambda values: sum(values) / len(values)),
}


def transformed(frames: Sequence[Frames], steps: Sequence[Mapping[str, Any]]) -> Table:
    """The one table that is left after all steps.

    Raises:
        LookError: for a transformation that is not known here.
    """
    table: Table | None = None
    for step in steps:
        options = step["options"]
        if step["id"] == "reduce":
            lines = [line for frame in frames if not isinstance(frame, Table) for line in frame]
            table = _reduce(lines, options["reducers"])
        elif step["id"] == "merge":
            table = _merge([frame for frame in frames if isinstance(frame, Table)])
        elif step["id"] == "organize" and table is not None:
            table = _organize(table, options)
        else:
            msg = f"the transformation {step['id']} is not known here, or not in that place"
            raise LookError(msg)
    if table is None:
        msg = "a table without a transformation is not known here"
        raise LookError(msg)
    return table


def in_order(table: Table, by: Sequence[Mapping[str, Any]]) -> Table:
    """Sorted as the panel says; what has no value comes last."""
    for rule in by:
        at = table.column(rule["displayName"])
        if at is None:
            continue
        index, descending = at, bool(rule.get("desc"))

        def key(
            row: Sequence[Cell], index: int = index, *, descending: bool = descending
        ) -> tuple[bool, float, str]:
            cell = row[index]
            if isinstance(cell, str) or cell is None:
                return cell is None, 0.0, cell or ""
            return False, -cell if descending else cell, ""

        table = Table(columns=table.columns, rows=sorted(table.rows, key=key))
    return table


def _reduce(lines: Sequence[Line], reducers: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for line in lines:
        values = [value for _, value in line.points]
        if values:
            rows.append([line.name, *(REDUCERS[name][1](values) for name in reducers)])
    return Table(columns=["Field", *(REDUCERS[name][0] for name in reducers)], rows=rows)


def _merge(tables: Sequence[Table]) -> Table:
    """Rows with the same labels become one, as far as no value is in the way."""
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    labels = [name for name in columns if not name.startswith("Value #") and name != "Time"]
    merged: dict[tuple[Cell, ...], dict[str, Cell]] = {}
    for table in tables:
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            key = tuple(cells.get(name) for name in labels)
            merged.setdefault(key, {}).update(cells)
    rows = [[cells.get(name) for name in columns] for cells in merged.values()]
    return Table(columns=columns, rows=rows)


def _organize(table: Table, options: Mapping[str, Any]) -> Table:
    left = [name for name in table.columns if not options.get("excludeByName", {}).get(name)]
    order = options.get("indexByName", {})
    left.sort(key=lambda name: order.get(name, math.inf))
    places = [list(table.columns).index(name) for name in left]
    names = options.get("renameByName", {})
    return Table(
        columns=[names.get(name, name) for name in left],
        rows=[[row[place] for place in places] for row in table.rows],
    )

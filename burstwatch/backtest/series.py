"""The CSV of a recorded series: reading with the line named in every error, and writing.

Columns: ``t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes``; one row per
datapoint, stamped with the period's start, sums over the period, the balance its
Minimum. An empty cell is "CloudWatch has none", never 0.
"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from burstwatch.backtest.simulate import Datapoint

COLUMNS = ("t_s", "balance_percent", "read_ops", "write_ops", "read_bytes", "write_bytes")
PERCENT = 100.0
#: Far above any sum or time there is, and far below what overflows.
HIGHEST = 1e12
#: A balance of EFS is 2.3e12 bytes for each TiB that is stored.
HIGHEST_VALUE = 1e18


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One datapoint. None where CloudWatch has none."""

    t_s: float
    balance_percent: float | None
    read_ops: float | None
    write_ops: float | None
    read_bytes: float | None
    write_bytes: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One datapoint of any kind: values by CloudWatch's metric, without those that it has not."""

    t_s: float
    values: Mapping[str, float]


def read_series(lines: Iterable[str], *, name: str) -> list[Row]:
    """Rows in time order. Lines that begin with # are comments.

    Raises:
        ValueError: for a wrong heading, a cell that is no number or out of range,
            or times that do not rise; with the file's name and the line.
    """
    return [Row(t_s=at, **values) for at, values in _timed(lines, COLUMNS, name=name)]


def read_samples(lines: Iterable[str], metrics: Sequence[str], *, name: str) -> list[Sample]:
    """Samples in time order, of a file with ``t_s`` and these metrics as columns.

    Raises:
        ValueError: as ``read_series`` does.
    """
    return [
        Sample(t_s=at, values={one: value for one, value in values.items() if value is not None})
        for at, values in _timed(lines, ("t_s", *metrics), name=name)
    ]


def _timed(
    lines: Iterable[str], columns: Sequence[str], *, name: str
) -> list[tuple[float, dict[str, float | None]]]:
    rows: list[tuple[float, dict[str, float | None]]] = []
    heading: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = _cells(line, where=f"{name} line {number}")
        if heading is None:
            heading = [cell.strip() for cell in cells]
            if sorted(heading) != sorted(columns):
                msg = f"{name} line {number}: the columns must be {','.join(columns)}, got {line.strip()}"
                raise ValueError(msg)
            continue
        at, values = _row(heading, cells, where=f"{name} line {number}")
        if rows and at <= rows[-1][0]:
            msg = (
                f"{name} line {number}: t_s {at:g} must be above {rows[-1][0]:g} of the row before"
            )
            raise ValueError(msg)
        rows.append((at, values))
    if not rows:
        msg = f"{name}: no rows"
        raise ValueError(msg)
    return rows


def write_series(datapoints: Iterable[Datapoint]) -> list[str]:
    """Lines with line ends, for ``read_series``."""
    lines = [",".join(COLUMNS) + "\n"]
    for point in datapoints:
        cells = (
            f"{point.start_s:.0f}",
            f"{point.balance_minimum * PERCENT:.2f}",
            *(
                f"{value:.0f}"
                for value in (point.read_ops, point.write_ops, point.read_bytes, point.write_bytes)
            ),
        )
        lines.append(",".join(cells) + "\n")
    return lines


def at_period(rows: Sequence[Row], step_s: float, period_s: float) -> tuple[Sequence[Row], float]:
    """Rows summed up over ``period_s``, or as they are where they are that coarse already.

    As CloudWatch does it: a period has a datapoint if any part of it has. The last one is
    left out where the recording ends within it.

    Raises:
        ValueError: if the one period is no multiple of the other.
    """
    if step_s >= period_s:
        return rows, step_s
    if period_s % step_s:
        msg = f"rows of {step_s:g} s cannot be summed up over {period_s:g} s"
        raise ValueError(msg)
    wide: dict[float, list[Row]] = {}
    for row in rows:
        wide.setdefault(row.t_s // period_s * period_s, []).append(row)
    end_s = rows[-1].t_s + step_s
    return [
        _sum(start, some) for start, some in wide.items() if start + period_s <= end_s
    ], period_s


def _sum(start_s: float, rows: Sequence[Row]) -> Row:
    def total(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return math.fsum(known) if known else None

    balances = [row.balance_percent for row in rows if row.balance_percent is not None]
    return Row(
        t_s=start_s,
        balance_percent=min(balances, default=None),
        read_ops=total(row.read_ops for row in rows),
        write_ops=total(row.write_ops for row in rows),
        read_bytes=total(row.read_bytes for row in rows),
        write_bytes=total(row.write_bytes for row in rows),
    )


def _row(
    heading: Sequence[str], cells: Sequence[str], *, where: str
) -> tuple[float, dict[str, float | None]]:
    if len(cells) != len(heading):
        msg = f"{where}: {len(heading)} cells expected, got {len(cells)}"
        raise ValueError(msg)
    values: dict[str, float | None] = {}
    for column, cell in zip(heading, cells, strict=True):
        values[column] = _number(cell.strip(), column=column, where=where)
    time = values.pop("t_s")
    if time is None:
        msg = f"{where}: t_s is empty"
        raise ValueError(msg)
    return time, values


def _cells(line: str, *, where: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        msg = f"{where}: {error}"
        raise ValueError(msg) from None


def _number(cell: str, *, column: str, where: str) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    highest = {"balance_percent": PERCENT, "t_s": HIGHEST}.get(column, HIGHEST_VALUE)
    if column in COLUMNS[2:]:
        highest = HIGHEST
    lowest = -HIGHEST if column == "t_s" else 0.0
    # A count between 0 and 1 is no count, and divides to what no float can hold.
    if not lowest <= value <= highest or (column.endswith("_ops") and 0 < value < 1 / HIGHEST):
        allowed = f"a number from {lowest:g} to {highest:g}"
        msg = f"{where}: {column} is {cell!r}, allowed is {allowed} or nothing"
        raise ValueError(msg)
    return value

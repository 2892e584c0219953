"""Recorded demand of real machines, rescaled to a volume.

A file is ``t_seconds,read_ops,write_ops,read_bytes,write_bytes``, totals per step, plain
or gzipped. Where it has bytes alone, an operation is taken to be 16 KiB.
"""

import csv
import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burstwatch.backtest.simulate import KIB, Phase
from burstwatch.ebs.volumes import Access

COLUMNS = ("t_seconds", "read_ops", "write_ops", "read_bytes", "write_bytes")
IO_KIB = 16.0
#: A longer hole is no recording of what the machine did.
MOST_MISSED = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """``rates`` are operations per step in the recording's own unit, one for each ``step_s``."""

    name: str
    step_s: float
    rates: list[float]


def read_workload(path: Path) -> Workload:
    """One recording. A step without a value or a row repeats the one before.

    The recorder missed it, the machine did not stop.

    Raises:
        ValueError: naming the file and the line.
    """
    times: list[float] = []
    rates: list[float] = []
    for number, row in enumerate(_rows(path), start=2):
        where = f"{path} line {number}"
        cells = {name: _number(row.get(name) or "", where=where) for name in COLUMNS}
        time = cells["t_seconds"]
        if time is None or (times and time <= times[-1]):
            msg = f"{where}: t_seconds is {row['t_seconds']!r}, it must rise from row to row"
            raise ValueError(msg)
        if len(times) > 1:
            rates += _missed(times, time, rates[-1], where=where)
        times.append(time)
        rates.append(_ops_of_row(cells, rates[-1] if rates else 0.0))
    if len(rates) < 2 or not any(rates):  # noqa: PLR2004 - a step takes two
        msg = f"{path}: {len(rates)} rows, of which {sum(map(bool, rates))} with load; needed are two rows, one of them with load"
        raise ValueError(msg)
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    return Workload(name=name, step_s=times[1] - times[0], rates=rates)


def _missed(times: list[float], time: float, rate: float, *, where: str) -> list[float]:
    """The rate once more for each step between the last row and the one at ``time``."""
    step_s = times[1] - times[0]
    steps = (time - times[-1]) / step_s
    if steps % 1 or steps > MOST_MISSED:
        msg = f"{where}: {time - times[-1]:g} s after the row before; allowed: 1 to {MOST_MISSED} steps of {step_s:g} s"
        raise ValueError(msg)
    return [rate] * (int(steps) - 1)


def is_workload(path: Path) -> bool:
    """True if the file's heading is that of a workload, and not that of a series."""
    return next(_lines(path), "").strip() == ",".join(COLUMNS)


def scaled_loads(
    rates: Sequence[float],
    *,
    step_s: float,
    mean_iops: float,
    reads: float,
    io_kib: float = IO_KIB,
    access: Access = "random",
) -> list[Phase]:
    """Loads with the recording's shape and a mean of ``mean_iops``; ``reads`` is their share."""
    factor = mean_iops / (sum(rates) / len(rates))
    return [
        Phase(
            seconds=step_s,
            read_iops=rate * factor * reads,
            write_iops=rate * factor * (1 - reads),
            io_kib=io_kib,
            access=access,
        )
        for rate in rates
    ]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    reader = csv.DictReader(_lines(path))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        msg = f"{path} line 1: the columns must be {','.join(COLUMNS)}"
        raise ValueError(msg)
    yield from reader


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            yield from file
    except (UnicodeDecodeError, gzip.BadGzipFile, zlib.error, EOFError, csv.Error) as error:
        msg = f"{path} cannot be read: {error}"
        raise ValueError(msg) from None


def _ops_of_row(cells: dict[str, float | None], previous: float) -> float:
    """Count a row's operations: stated, from its bytes at IO_KIB each, or those of the previous row."""
    ops = [cells[name] for name in ("read_ops", "write_ops") if cells[name] is not None]
    moved = [cells[name] for name in ("read_bytes", "write_bytes") if cells[name] is not None]
    if ops:
        return math.fsum(value for value in ops if value is not None)
    if moved:
        return math.fsum(value for value in moved if value is not None) / (IO_KIB * KIB)
    return previous


def _number(cell: str, *, where: str) -> float | None:
    """Parse a cell: None when it is empty; raises ValueError for what is no number of 0 or more."""
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        msg = f"{where}: {cell!r} is not allowed; allowed: a number of 0 or more"
        raise ValueError(msg)
    return value

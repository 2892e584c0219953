"""Recorded demand of real machines, rescaled to a volume: see ``workloads/README.md``."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from burstwatch.simulate import Load

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent / "workloads"


def recorded_rates(name: str) -> list[float]:
    """Operations per second and step of one recording, in the recording's own unit.

    A step without a value repeats the one before it: the recorder missed it, the
    machine did not stop.
    """
    rates: list[float] = []
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            cells = [row[column] for column in ("read_ops", "write_ops") if row[column]]
            previous = rates[-1] if rates else 0.0
            rates.append(sum(float(cell) for cell in cells) if cells else previous)
    return rates


def scaled_loads(
    rates: Sequence[float], *, step_s: float, mean_iops: float, reads: float, io_kib: float = 16.0
) -> list[Load]:
    """Loads with the recording's shape and a mean of ``mean_iops``; ``reads`` is their share."""
    factor = mean_iops / (sum(rates) / len(rates))
    return [
        Load(
            seconds=step_s,
            read_iops=rate * factor * reads,
            write_iops=rate * factor * (1 - reads),
            io_kib=io_kib,
        )
        for rate in rates
    ]

"""Reads the disks of a hosting company's VMs: GWA-T-12 Bitbrains, trace ``rnd``.

Shen, van Beek and Iosup, CCGrid 2015. Free for research, without a licence to redistribute: so
they are not here. They lie in the public repository
https://github.com/JessieRayeBauer/Time-Series-Forecasting- in the folders ``rnd/2013-7``, ``-8``
and ``-9``; give `make fit` and `make backtest` its folder ``rnd``. The machines with an odd
checksum of their name are kept apart, to check the result on.
"""

import csv
import zlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from burstwatch.backtest.simulate import KIB
from burstwatch.backtest.workloads import IO_KIB, Workload

MONTHS = ("2013-7", "2013-8", "2013-9")
FIRST_S, STEP_S = 1_372_629_600, 300
#: Columns: cores, KB/s read and written.
TIME, CORES, READ, WRITE = 0, 1, 7, 8
#: A gap of so many steps holds the last value; longer ones are silence.
LONGEST_GAP = 3
MOST_MISSING = 0.15
LEAST_IOPS, ACTIVE, LEAST_ACTIVE = 1.0, 0.05, 0.1
#: How many machines these rules leave.
EXPECTED = 53


def vm_names(folder: Path) -> list[str]:
    """The machines to learn from.

    Raises:
        ValueError: if the folder is not that of the repository.
    """
    missing = [month for month in MONTHS if not (folder / month).is_dir()]
    if missing:
        msg = f"{folder} has no folder {missing[0]}, expected is the folder rnd of the repository"
        raise ValueError(msg)
    names = [
        f"vm{int(path.stem):03d}"
        for path in (folder / MONTHS[0]).glob("*.csv")
        if all((folder / month / path.name).exists() for month in MONTHS)
    ]
    even = sorted(name for name in names if zlib.crc32(name.encode()) % 2 == 0)
    found = [name for name in even if read_vm(folder, name) is not None]
    if len(found) != EXPECTED:
        msg = f"{folder} has {len(found)} machines to learn from, expected are {EXPECTED}"
        raise ValueError(msg)
    return found


def read_vm(folder: Path, name: str) -> Workload | None:
    """One machine's reads and writes together; None if it moves too little or is known too badly."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    cores = set()
    for month in MONTHS:
        for row in _rows(folder / month / f"{int(name[2:])}.csv"):
            slot = int((float(row[TIME]) - FIRST_S) // STEP_S)
            if slot >= 0:
                cores.add(row[CORES])
                sums[slot][0] += 1
                sums[slot][1] += float(row[READ]) + float(row[WRITE])
    first, last = min(sums), max(sums)
    whole = last - first + 1
    if len(cores) != 1 or 1 - len(sums) / whole >= MOST_MISSING:
        return None
    rates = _filled({slot: total / count for slot, (count, total) in sums.items()}, first, last)
    mean = sum(rates) / whole
    active = sum(rate > ACTIVE * mean for rate in rates) / whole
    if mean / IO_KIB < LEAST_IOPS or active < LEAST_ACTIVE:
        return None
    operations = [rate * KIB * STEP_S / (IO_KIB * KIB) for rate in rates]
    return Workload(name=name, step_s=float(STEP_S), rates=operations)


def _rows(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file, delimiter=";")
        next(rows, None)
        for row in rows:
            if len(row) > WRITE:
                yield [cell.strip() for cell in row]


def _filled(known: dict[int, float], first: int, last: int) -> list[float]:
    rates: list[float] = []
    for is_known, slots in groupby(range(first, last + 1), key=known.__contains__):
        some = list(slots)
        if is_known:
            rates += [known[slot] for slot in some]
        else:
            rates += [rates[-1] if len(some) <= LONGEST_GAP else 0.0] * len(some)
    return rates

"""Reads what each block device has done since it appeared, from ``/proc/diskstats``.

The columns are those of the kernel's Documentation/admin-guide/iostats.rst: eleven before
Linux 4.18, fifteen since, seventeen from 5.5 on. A sector is 512 bytes there, whatever
the device's own is.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from operator import add

from burstwatch.ebs.load import MIB, Load

SECTOR_BYTES = 512
#: Columns before the counters: major, minor and name.
HEAD = 3
#: The kernel counts in 64 bits at most.
LARGEST = 2**64 - 1
#: Which column is no counter: what is in flight. Kernels have written -1 there.
GAUGE = 8
#: How many counters a line has, by kernel.
OLDEST, WITH_DISCARDS, WITH_FLUSHES = 11, 15, 17
#: A counter of a 32-bit kernel begins anew here.
WRAP = 2**32
#: Wrapped is what fell from above this to below the rest of it; anything else was a reset.
NEAR_WRAP = WRAP // 4 * 3


@dataclass(frozen=True, slots=True)
class Counters:
    """Cumulative operations and bytes, completed; ``in_flight`` is a gauge, and no more than what the kernel wrote.

    ``other_ops`` are discards and flushes: AWS does not say whether they are charged.
    """

    read_ops: int
    read_bytes: int
    write_ops: int
    write_bytes: int
    other_ops: int
    in_flight: int

    @property
    def ops(self) -> int:
        """Reads and writes."""
        return self.read_ops + self.write_ops

    @property
    def bytes(self) -> int:
        """Reads and writes."""
        return self.read_bytes + self.write_bytes

    def at_least(self, counters: "Counters") -> "Counters":
        """The larger of two counts of the same I/O, one by one."""
        return Counters(*map(max, astuple(self), astuple(counters)))

    def plus(self, counters: "Counters") -> "Counters":
        """The sum of two counts of different I/O."""
        return Counters(*map(add, astuple(self), astuple(counters)))

    def since(self, earlier: "Counters") -> "Counters | None":
        """The work done after ``earlier``, or None if the counters were reset in between."""
        read_ops = _step(earlier.read_ops, self.read_ops, 1)
        read_bytes = _step(earlier.read_bytes, self.read_bytes, SECTOR_BYTES)
        write_ops = _step(earlier.write_ops, self.write_ops, 1)
        write_bytes = _step(earlier.write_bytes, self.write_bytes, SECTOR_BYTES)
        other_ops = _step(earlier.other_ops, self.other_ops, 1)
        if (
            read_ops is None
            or read_bytes is None
            or write_ops is None
            or write_bytes is None
            or other_ops is None
        ):
            return None
        return Counters(read_ops, read_bytes, write_ops, write_bytes, other_ops, self.in_flight)


@dataclass(frozen=True, slots=True)
class DiskStats:
    """The counters by device name, the device numbers by name, and the lines not understood."""

    counters: dict[str, Counters]
    devnos: dict[str, str]
    problems: tuple[str, ...]

    def of(self, name: str, paths: Sequence[str] = ()) -> Counters | None:
        """Return a disk's counters: of its own line, or of its paths together where they have more.

        Linux counts the I/O of a multipath disk on its paths, and since 6.4 on the disk as well.
        """
        by_itself = self.counters.get(name)
        if not paths:
            return by_itself
        of_paths = [self.counters[path] for path in paths if path in self.counters]
        if not of_paths:
            return by_itself
        together = reduce(Counters.plus, of_paths)
        return together if by_itself is None else by_itself.at_least(together)


def parse_diskstats(text: str) -> DiskStats:
    """Every line that is understood; the others are named, and hide nothing."""
    counters: dict[str, Counters] = {}
    devnos: dict[str, str] = {}
    problems: list[str] = []
    for line in text.splitlines():
        parts = line.split()
        try:
            if not line.isascii() or "_" in "".join(
                parts[HEAD:]
            ):  # Python would take them as digits
                raise ValueError  # noqa: TRY301 - told with the others
            name, devno = parts[2], f"{int(parts[0])}:{int(parts[1])}"
            counters[name] = _counters(parts[HEAD:])
            devnos[name] = devno
        except (IndexError, ValueError):
            problems.append(f"line not understood: {line.strip()[:80]!r}")
    return DiskStats(counters, devnos, tuple(problems))


def _counters(columns: list[str]) -> Counters:
    """Read one line's counters, of any kernel since 2.6; raises ValueError for a line that cannot be."""
    count = len(columns)
    values = [int(column) for column in columns]
    counted = values[:GAUGE] + values[GAUGE + 1 :]
    if count < OLDEST or min(counted) < 0 or max(counted) > LARGEST:
        raise ValueError
    other_ops = values[11] if count >= WITH_DISCARDS else 0
    if count >= WITH_FLUSHES:
        other_ops += values[15]
    return Counters(
        values[0],
        values[2] * SECTOR_BYTES,
        values[4],
        values[6] * SECTOR_BYTES,
        other_ops,
        values[GAUGE],
    )


def _step(before: int, after: int, unit: int) -> int | None:
    if after >= before:
        return after - before
    if before < WRAP * unit and before >= NEAR_WRAP * unit and after < WRAP // 4 * unit:
        return after - before + WRAP * unit
    return None


SHORTEST_S = 1.0
STILL = Load(read_iops=0.0, write_iops=0.0, read_mib_s=0.0, write_mib_s=0.0)


class Rate:
    """The newest load of one disk."""

    def __init__(self, at: float, counters: Counters) -> None:
        """Nothing is known of the time before ``at``."""
        self._at, self._counters = at, counters
        self.load = STILL

    def note(self, at: float, counters: Counters) -> None:
        """A later reading; counters that began anew say nothing of the time until then."""
        seconds = at - self._at
        if seconds < SHORTEST_S:
            return
        done = counters.since(self._counters)
        self._at, self._counters, self.load = at, counters, STILL
        if done is not None:
            self.load = Load(
                read_iops=done.read_ops / seconds,
                write_iops=done.write_ops / seconds,
                read_mib_s=done.read_bytes / MIB / seconds,
                write_mib_s=done.write_bytes / MIB / seconds,
            )

"""Parses what the programs print into one shape: dbench and dd here, fio in ``fio``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burstwatch.ebs.load import MIB, MIB_PER_MB

DBENCH_VERSION = re.compile(r"dbench version (\S+)")
DBENCH_THROUGHPUT = re.compile(r"^Throughput (\d+(?:\.\d+)?) MB/sec", re.MULTILINE)
#: Clients, operations, throughput so far, and the greatest latency of the last second.
DBENCH_SECOND = re.compile(
    r"^\s*\d+\s+\d+\s+(\d+(?:\.\d+)?) MB/sec\s+execute\s+(\d+) sec\s+latency (\d+(?:\.\d+)?) ms",
    re.MULTILINE,
)
#: The line that dd prints with ``LC_ALL=C``; "bytes" stands alone below a kilobyte.
DD_COPIED = re.compile(
    r"^(\d+) bytes? (?:\([^)]*\) )?copied, (\d+(?:\.\d+)?(?:e[+-]?\d+)?) s", re.MULTILINE
)
#: Beyond what any disk does, and within what a float and a page of metrics hold.
LARGEST_COUNT = 1e18
MS_PER_S = 1e3


class OutputError(ValueError):
    """Output that is not what the program prints when all is well, and what is wrong with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The work of one direction; latencies are in seconds, percentiles by percent, as text."""

    iops: float
    mib_s: float
    mean_s: float | None = None
    percentiles_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A program's measurement. ``latencies`` are seconds from its start with the latency then: fio's mean, dbench's greatest.

    ``files_mib_s`` is what a file system was given, which is not what its disk did. ``total_ios`` are
    the operations that the program has done on the disk, where it counts them.
    """

    version: str
    read: Way | None
    write: Way | None
    latencies: Sequence[tuple[float, float]] = ()
    files_mib_s: float | None = None
    total_ios: float | None = None
    raw: object = None

    @property
    def iops(self) -> float:
        """Both directions."""
        return sum(way.iops for way in (self.read, self.write) if way is not None)

    @property
    def mib_s(self) -> float:
        """Both directions."""
        return sum(way.mib_s for way in (self.read, self.write) if way is not None)

    @property
    def mean_s(self) -> float | None:
        """The mean latency of an operation of either direction, where both say theirs."""
        ways = [way for way in (self.read, self.write) if way is not None]
        latencies = [(way.mean_s, way.iops) for way in ways if way.mean_s is not None]
        iops = sum(rate for _, rate in latencies)
        if len(latencies) < len(ways) or iops <= 0:
            return None
        return sum(mean * rate for mean, rate in latencies) / iops


def parse_dbench(text: str) -> Outcome:
    """All that dbench printed; one that was stopped has the throughput of its last second.

    It counts what the file system was given, in MB of a million bytes, and not what the disk did.

    Raises:
        OutputError: if there is no throughput in it.
    """
    seconds = DBENCH_SECOND.findall(text)
    whole = DBENCH_THROUGHPUT.search(text)
    mb_s = 0.0
    if whole:
        mb_s = float(whole[1])
    elif seconds:
        mb_s = float(seconds[-1][0])
    if mb_s <= 0:
        printed = " ".join(text.split())[-200:]
        msg = f"dbench printed no throughput{f', but: {printed}' if printed else ''}"
        raise OutputError(msg)
    version = DBENCH_VERSION.search(text)
    return Outcome(
        version=f"dbench-{version[1]}" if version else "dbench",
        read=None,
        write=None,
        latencies=[(float(at), float(ms) / MS_PER_S) for _, at, ms in seconds],
        files_mib_s=mb_s * MIB_PER_MB,
        raw=text,
    )


def parse_dd(text: str, *, block_bytes: int, seconds: float) -> Outcome:
    """Parse what all runs of all copies of dd printed, together, in ``seconds``.

    Raises:
        OutputError: if not one of them says what it copied.
    """
    copied = [float(size) for size, _ in DD_COPIED.findall(text)]
    total = sum(copied)
    if total <= 0 or total >= LARGEST_COUNT or seconds <= 0:
        printed = " ".join(text.split())[-200:]
        msg = f"dd copied nothing{f', but said: {printed}' if printed else ''}"
        raise OutputError(msg)
    ops = total / block_bytes
    return Outcome(
        version="dd",
        read=None,
        write=Way(iops=ops / seconds, mib_s=total / MIB / seconds),
        total_ios=ops,
        raw=text,
    )

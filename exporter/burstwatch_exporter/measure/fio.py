"""Parses what fio prints: its version, its JSON and its latency log.

Other text may stand before the JSON ("fio: terminating on signal 2"), an exit status may be
1 though each job says error 0, and one that was killed leaves half of it or nothing. So
only a whole answer with I/O in it is taken.
"""

import json
import math
import re
from collections import defaultdict
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from burstwatch.ebs.load import MIB
from burstwatch_exporter.measure.outputs import LARGEST_COUNT, Outcome, OutputError, Way

VERSION = re.compile(r"fio-(\d+)\.(\d+)\S*")
#: The first whose JSON has latencies in nanoseconds, which is what is read here.
OLDEST = (3, 1)
NS = 1e9
#: Columns of a line of the latency log: milliseconds, nanoseconds, direction, size, offset.
LEAST_COLUMNS = 3


def check_version(text: str) -> str:
    """Check what ``fio --version`` prints.

    Raises:
        OutputError: naming the version and the oldest that will do.
    """
    match = VERSION.fullmatch(text.strip())
    if match is None:
        msg = f"it prints {text.strip()[:60]!r}, expected is a version such as fio-3.33"
        raise OutputError(msg)
    if (int(match[1]), int(match[2])) < OLDEST:
        msg = f"{text.strip()} is too old, needed is fio-{OLDEST[0]}.{OLDEST[1]} or newer"
        raise OutputError(msg)
    return text.strip()


Count = Annotated[float, Meta(ge=0, lt=LARGEST_COUNT)]


class _Mean(Struct):
    mean: Count


class _Percentiles(Struct):
    percentile: dict[str, Count] = {}


class _Direction(Struct):
    total_ios: Count
    iops: Count
    bw_bytes: Count
    lat_ns: _Mean
    clat_ns: _Percentiles


class _Job(Struct):
    jobname: str
    error: Count
    read: _Direction
    write: _Direction


class _Output(Struct, rename={"version": "fio version"}):
    """The parts of fio's JSON that are read."""

    version: str
    jobs: Annotated[list[_Job], Meta(min_length=1, max_length=1)]


def parse_output(text: str) -> Outcome:
    """The JSON of one group of jobs.

    Raises:
        OutputError: if it is not whole, or has an error or no I/O.
    """
    start = text.find("{")
    if start < 0:
        printed = " ".join(text.split())[:200]
        msg = f"fio printed no result{f', but: {printed}' if printed else ''}"
        raise OutputError(msg)
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)  # words with braces may follow
        whole = msgspec.json.decode(text[start:end].encode())
        output = msgspec.convert(whole, _Output)
        read, write = _way(output.jobs[0].read), _way(output.jobs[0].write)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        msg = f"fio's result is not whole ({str(error)[:100]})"
        raise OutputError(msg) from error
    (job,) = output.jobs
    if job.error:
        msg = f"fio's job {job.jobname} ended with error {job.error:.0f}"
        raise OutputError(msg)
    if read is None and write is None:
        msg = "fio did no I/O"
        raise OutputError(msg)
    total_ios = job.read.total_ios + job.write.total_ios
    return Outcome(version=output.version, read=read, write=write, total_ios=total_ios, raw=whole)


def parse_latency_log(text: str) -> list[tuple[float, float]]:
    """Seconds from the start, and the mean latency of the window that ended then.

    A line that is not understood is left out: the log is cut off where fio was stopped. So is
    the last window, which has only what was still in flight at the end.
    """
    windows: dict[float, list[float]] = defaultdict(list)
    for line in text.splitlines():
        columns = line.split(",")
        try:
            if len(columns) < LEAST_COLUMNS:
                continue
            at, value = int(columns[0]) / 1000, int(columns[1]) / NS
        except (ValueError, OverflowError):
            continue
        if 0 <= at < LARGEST_COUNT and 0 <= value < LARGEST_COUNT:
            windows[at].append(value)
    means = [(at, math.fsum(values) / len(values)) for at, values in sorted(windows.items())]
    return means[:-1] if len(means) > 1 else means


def _way(part: _Direction) -> Way | None:
    """Read one direction of fio's result, in seconds and MiB/s; None if it did no I/O."""
    if part.total_ios == 0:
        return None
    return Way(
        iops=part.iops,
        mib_s=part.bw_bytes / MIB,
        mean_s=part.lat_ns.mean / NS,
        percentiles_s={
            f"{_percent(name):g}": value / NS for name, value in part.clat_ns.percentile.items()
        },
    )


def _percent(name: str) -> float:
    value = float(name)
    if not 0 <= value <= 100:  # noqa: PLR2004 - a percentage
        msg = f"{name!r} is no percentile"
        raise ValueError(msg)
    return value

"""What fio prints: its version, its JSON and its latency log.

Other text may stand before the JSON ("fio: terminating on signal 2"), an exit status may be
1 though each job says error 0, and one that was killed leaves half of it or nothing. So
only a whole answer with I/O in it is taken.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from burstwatch.ebs.load import MIB
from burstwatch_exporter.measure.outcome import Outcome, OutputError, Way
from burstwatch_exporter.strict import ODD, as_text, finite, refuse_constant

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = re.compile(r"fio-(\d+)\.(\d+)\S*")
#: The first whose JSON has latencies in nanoseconds, which is what is read here.
OLDEST = (3, 1)
NS = 1e9
#: Columns of a line of the latency log: milliseconds, nanoseconds, direction, size, offset.
LEAST_COLUMNS = 3
#: Beyond what any disk does, and within what a float and a page of metrics hold.
MOST = 1e18


def check_version(text: str) -> str:
    """What ``fio --version`` prints, if it is new enough.

    Raises:
        OutputError: naming the version and the oldest that will do.
    """
    match = VERSION.fullmatch(text.strip())
    if match is None:
        msg = f"it prints {text.strip()[:60]!r}, expected is such as fio-3.33"
        raise OutputError(msg)
    if (int(match[1]), int(match[2])) < OLDEST:
        msg = f"{text.strip()} is too old, needed is fio-{OLDEST[0]}.{OLDEST[1]} or newer"
        raise OutputError(msg)
    return text.strip()


def parse_output(text: str) -> Outcome:
    """The JSON of one group of jobs.

    Raises:
        OutputError: if it is not whole, or tells of an error or of no I/O.
    """
    start = text.find("{")
    if start < 0:
        said = " ".join(text.split())[:200]
        msg = f"fio printed no result{f', but: {said}' if said else ''}"
        raise OutputError(msg)
    try:
        whole, _ = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite).raw_decode(
            text, start
        )
        jobs = whole["jobs"]
        version = as_text(whole["fio version"])
        if len(jobs) != 1:
            msg = f"{len(jobs)} groups of jobs, expected is 1"
            raise OutputError(msg)  # noqa: TRY301 - told as it is
        (job,) = jobs
        if _number(job["error"]):
            msg = f"fio's job {as_text(job['jobname'])} ended with error {job['error']:.0f}"
            raise OutputError(msg)  # noqa: TRY301 - the same
        read, write = _way(job["read"]), _way(job["write"])
    except OutputError:
        raise
    except ODD as error:
        msg = f"fio's result is not whole ({type(error).__name__}: {str(error)[:100]})"
        raise OutputError(msg) from error
    if read is None and write is None:
        msg = "fio did no I/O"
        raise OutputError(msg)
    return Outcome(version=version, read=read, write=write, raw=whole)


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
        if 0 <= at < MOST and 0 <= value < MOST:
            windows[at].append(value)
    means = [(at, math.fsum(values) / len(values)) for at, values in sorted(windows.items())]
    return means[:-1] if len(means) > 1 else means


def _way(part: Mapping[str, Any]) -> Way | None:
    ops = _number(part["total_ios"])
    if ops == 0:
        return None
    clat = part["clat_ns"]
    found = clat.get("percentile", {})
    return Way(
        ops=ops,
        iops=_number(part["iops"]),
        mib_s=_number(part["bw_bytes"]) / MIB,
        mean_s=_number(part["lat_ns"]["mean"]) / NS,
        percentiles_s=MappingProxyType(
            {_percent(name): _number(value) / NS for name, value in found.items()}
        ),
    )


def _percent(name: str) -> float:
    value = float(name)
    if not 0 <= value <= 100:  # noqa: PLR2004 - a percentage
        msg = f"{name!r} is no percentile"
        raise ValueError(msg)
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST:
        msg = f"{value!r} is no count"
        raise TypeError(msg)
    return float(value)

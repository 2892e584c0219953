"""What dbench prints: a line a second, and its throughput at the end, in MB of a million bytes.

It says what the file system was given, and little of the disk under it.
"""

from __future__ import annotations

import re

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch_exporter.measure.outcome import Outcome, OutputError

VERSION = re.compile(r"dbench version (\S+)")
THROUGHPUT = re.compile(r"^Throughput (\d+(?:\.\d+)?) MB/sec", re.MULTILINE)
#: Clients, operations, throughput so far, and the greatest latency of the last second.
SECOND = re.compile(
    r"^\s*\d+\s+\d+\s+(\d+(?:\.\d+)?) MB/sec\s+execute\s+(\d+) sec\s+latency (\d+(?:\.\d+)?) ms",
    re.MULTILINE,
)
MS = 1e3


def parse_output(text: str) -> Outcome:
    """All that it printed; one that was stopped has the throughput of its last second.

    Raises:
        OutputError: if there is no throughput in it.
    """
    seconds = SECOND.findall(text)
    whole = THROUGHPUT.search(text)
    mb_s = float(whole[1]) if whole else float(seconds[-1][0]) if seconds else 0.0
    if mb_s <= 0:
        said = " ".join(text.split())[-200:]
        msg = f"dbench printed no throughput{f', but: {said}' if said else ''}"
        raise OutputError(msg)
    version = VERSION.search(text)
    return Outcome(
        version=f"dbench-{version[1]}" if version else "dbench",
        read=None,
        write=None,
        latencies=[(float(at), float(ms) / MS) for _, at, ms in seconds],
        files_mib_s=mb_s * MIB_PER_MB,
        raw=text,
    )

"""What dd prints when it ends or is interrupted: how much it copied in how long."""

from __future__ import annotations

import re

from burstwatch.ebs.load import MIB
from burstwatch_exporter.measure.outcome import Outcome, OutputError, Way

#: ``LC_ALL=C``; "bytes" stands alone below a kilobyte.
COPIED = re.compile(
    r"^(\d+) bytes? (?:\([^)]*\) )?copied, (\d+(?:\.\d+)?(?:e[+-]?\d+)?) s", re.MULTILINE
)
#: Beyond what any disk does.
MOST = 1e18


def parse_output(text: str, *, block_bytes: int, seconds: float) -> Outcome:
    """What all runs of all copies printed, together, in ``seconds``.

    Raises:
        OutputError: if not one of them says what it copied.
    """
    copied = [float(size) for size, _ in COPIED.findall(text)]
    total = sum(copied)
    if total <= 0 or total >= MOST or seconds <= 0:
        said = " ".join(text.split())[-200:]
        msg = f"dd copied nothing{f', but said: {said}' if said else ''}"
        raise OutputError(msg)
    ops = total / block_bytes
    return Outcome(
        version="dd",
        read=None,
        write=Way(ops=ops, iops=ops / seconds, mib_s=total / MIB / seconds),
        raw=text,
    )

"""Tells when an instance was made, from its identity document and from cloud-init: its root volume began full then.

AWS dates the last start of an instance (``pendingTime``), be it the first one or not. cloud-init makes a folder for
each instance that it runs on, at its first start, and its marks in it keep that time.
"""

from contextlib import suppress
from pathlib import Path

#: AWS has dated a start by so many seconds before the kernel's own at most, and cloud-init's marks are no older than that.
STARTS_WITHIN_S = 900.0
#: By so much may two clocks be off.
CLOCKS_S = 60.0


def made_with_instance_s(
    cloud_init: Path, instance_id: str, *, pending_s: float | None, booted_s: float
) -> float | None:
    """When the root volume was made, by the wall clock; None unless this is the first start of the instance.

    ``booted_s`` is when the kernel was started, by the wall clock.
    """
    if pending_s is None or not 0 <= booted_s - pending_s + CLOCKS_S <= STARTS_WITHIN_S:
        return None
    marks = list[float]()
    with suppress(OSError):
        for mark in (cloud_init / "instances" / instance_id / "sem").iterdir():
            marks.append(mark.stat().st_mtime)
    is_first = bool(marks) and min(marks) >= booted_s - CLOCKS_S
    return pending_s if is_first else None

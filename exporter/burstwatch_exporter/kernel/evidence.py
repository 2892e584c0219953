"""Decides whether the counters of a disk can be believed at one reading, and says why not.

A counter that stands still is that of a disk that rests, or of one that nobody counts: the two
look the same, and an empty volume would be called full. So a reading counts only where no sign
says otherwise. Each sign is one entry of ``SIGNS``; the ledger does the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass

from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.diskstats import Counters

#: No queue of a disk holds more. A gauge beyond it, or below zero, has lost count.
MOST_IN_FLIGHT = 1 << 20
#: A line can be missing for one reading while the kernel changes its list.
MISSING_S = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Appearance:
    """A disk as it appears at one reading.

    ``counters`` is None where it has no line. ``missing_s`` is for how long that has been so, infinite if it
    never had one. ``is_counting`` is the kernel's own switch. ``container_files`` are the files of /proc that lxcfs
    has put its own in the place of. ``contradiction`` is what another witness says, or nothing.
    """

    disk: Disk
    counters: Counters | None
    missing_s: float = 0.0
    is_counting: bool = True
    container_files: frozenset[str] = frozenset()
    contradiction: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Why the counters of a disk are not believed now.

    ``is_lost`` is whether what is done meanwhile is in no counter; else the counters tell it when the
    doubt is over. ``is_told`` is whether it is worth a word already.
    """

    reason: str
    is_lost: bool
    is_told: bool = True


def _switched_off(appearance: Appearance) -> Doubt | None:
    if appearance.is_counting:
        return None
    return Doubt(reason="the kernel does not count its I/O: queue/iostats is 0", is_lost=True)


def _of_a_container(appearance: Appearance) -> Doubt | None:
    if "diskstats" not in appearance.container_files:
        return None
    reason = "/proc/diskstats is that of lxcfs, which shows the I/O of one container"
    return Doubt(reason=reason, is_lost=True)


def _one_of_several(appearance: Appearance) -> Doubt | None:
    twins = appearance.disk.twins
    if not twins:
        return None
    names = ", ".join(sorted((appearance.disk.name, *twins)))
    reason = f"{names} have one serial number, and nobody knows which of them is used"
    return Doubt(reason=reason, is_lost=True)


def _contradicted(appearance: Appearance) -> Doubt | None:
    return (
        Doubt(reason=appearance.contradiction, is_lost=True) if appearance.contradiction else None
    )


def _without_a_line(appearance: Appearance) -> Doubt | None:
    if appearance.counters is not None:
        return None
    reason = "it has no line in /proc/diskstats, so nobody knows what it does"
    return Doubt(reason=reason, is_lost=False, is_told=appearance.missing_s >= MISSING_S)


def _beyond_its_queue(appearance: Appearance) -> Doubt | None:
    if appearance.counters is None or 0 <= appearance.counters.in_flight <= MOST_IN_FLIGHT:
        return None
    reason = f"{appearance.counters.in_flight} of its requests are in flight, which cannot be"
    return Doubt(reason=reason, is_lost=False)


#: Every sign that counters are not what a disk has done; the first that is there is told.
SIGNS: tuple[Callable[[Appearance], Doubt | None], ...] = (
    _switched_off,
    _of_a_container,
    _one_of_several,
    _contradicted,
    _without_a_line,
    _beyond_its_queue,
)


def doubt_of(appearance: Appearance) -> Doubt | None:
    """Why the counters are not believed now, or None where no sign speaks against them."""
    doubts = [doubt for sign in SIGNS if (doubt := sign(appearance)) is not None]
    # Lost time comes first, whatever else is odd.
    return next((doubt for doubt in doubts if doubt.is_lost), doubts[0] if doubts else None)

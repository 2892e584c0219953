"""The three clocks of a host, as one argument."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """Functions that give seconds.

    ``boot`` since the start, asleep or not; ``awake`` only awake, which is what udev
    notes; ``wall`` since the epoch, which somebody may set.
    """

    boot: Callable[[], float]
    awake: Callable[[], float]
    wall: Callable[[], float]


def system_clock() -> Clock:
    """The clocks of the machine."""
    return Clock(
        boot=lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        awake=time.monotonic,
        wall=time.time,
    )

"""The clocks of a host, and all else of the world that a command line may touch."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import TextIO


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


@dataclass(frozen=True, kw_only=True)
class World:
    """The parts of the world that the program may touch: its streams, environment, clocks, when to end, and when to read the configuration anew."""

    stdout: TextIO
    stderr: TextIO
    env: Mapping[str, str]
    clock: Clock
    stop: Event
    hang_up: Event = field(default_factory=Event)

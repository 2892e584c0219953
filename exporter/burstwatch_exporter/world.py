"""The streams, clock and environment that a command line may touch, as one argument."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import TextIO

from burstwatch_exporter.clock import Clock


@dataclass(frozen=True, kw_only=True)
class World:
    """The parts of the world that the program may touch: its streams, environment, clocks, and when to end."""

    stdout: TextIO
    stderr: TextIO
    env: Mapping[str, str]
    clock: Clock
    stop: Event

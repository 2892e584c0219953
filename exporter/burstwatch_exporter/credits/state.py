"""Saves what outlives the process: the interval of each volume with its counters, and what was learned of the network.

The file is written beside itself, brought to the disk and then put in place, so that there
is always one whole file: the last one that was finished.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Literal

from burstwatch.bucket import Bucket
from burstwatch.files import put_in_place, read_json
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.network import Learned
from burstwatch_exporter.kernel.diskstats import Counters
from burstwatch_exporter.kernel.ena import Direction

#: No network has moved so many bytes, and no host has been up for so many seconds.
MOST = 2.0**64


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A volume's interval at one instant: ``at`` since the start ``boot_id``.

    ``wall_s`` is the same by the wall clock, which is what goes on across a reboot.
    ``name`` and ``sequence`` tell the device that ``counters`` are of; ``bucket`` and
    ``spec_id`` (type and size) what the volume was then. ``asleep_s`` is how long the host had slept
    since its start, ``largest_kib`` the most that a request could carry, ``is_counted`` whether
    the counters were believed, and ``is_dated`` whether the interval rests on the wall clock of this start. An earlier
    version wrote none of the four.
    """

    key: str
    name: str
    sequence: str
    boot_id: str
    at: float
    wall_s: float
    counters: Counters
    bucket: Bucket
    spec_id: str
    interval: Interval
    asleep_s: float = 0.0
    largest_kib: float | None = None
    is_counted: bool = True
    is_dated: bool = True

    def __post_init__(self) -> None:
        """Refuse what this program never writes."""
        if not 0 <= self.interval.low <= self.interval.high:
            msg = f"{self.key} has from {self.interval.low} to {self.interval.high} credits; allowed: 0 or more, the lower end first"
            raise ValueError(msg)
        if min(astuple(self.counters)) < 0:
            msg = f"{self.key} has counters below zero"
            raise ValueError(msg)


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedNetwork:
    """What was learned of one direction of the network of a type: ``at`` since the start ``boot_id``, after ``octets`` bytes of each interface."""

    instance_type: str
    boot_id: str
    direction: Direction
    at: float
    octets: Mapping[str, int]
    learned: Learned

    def __post_init__(self) -> None:
        """Refuse what this program never writes."""
        learned = self.learned
        sizes = (*learned.sizes, learned.lasted_s, learned.low, learned.high)
        drawn = (learned.drawn_low, learned.drawn_high, learned.drawing_s)
        amounts = [amount for amount in (*sizes, *drawn, self.at, *self.octets.values()) if amount is not None]  # fmt: skip
        if min(amounts) < 0 or max(amounts) > MOST or 0 in learned.sizes:
            msg = f"the network of {self.instance_type} has amounts that cannot be"
            raise ValueError(msg)


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedState:
    """The whole file. An earlier version wrote nothing of the network."""

    format: Literal[1]
    volumes: Sequence[Saved]
    network: Sequence[SavedNetwork] = ()

    @property
    def by_key(self) -> dict[str, Saved]:
        """The volumes by their keys."""
        return {saved.key: saved for saved in self.volumes}


NOTHING_SAVED = SavedState(format=1, volumes=())


def read_state(path: Path) -> SavedState:
    """Read what was saved; nothing where there is no file.

    Raises:
        ValueError: if it is not what ``write_state`` writes.
        OSError: if it cannot be read.
    """
    try:
        return read_json(path, SavedState)
    except FileNotFoundError:
        return NOTHING_SAVED
    except ValueError as error:
        msg = f"{path} is not a valid state file ({error}): it is kept as {path.name}.kept-TIME, and the balances of before are not known"
        raise ValueError(msg) from error


def keep_aside(path: Path, *, wall_s: float) -> None:
    """Rename a state file that cannot be read, so that nobody loses it. A file that is not there is fine.

    Raises:
        OSError: if that cannot be done.
    """
    with contextlib.suppress(FileNotFoundError):
        path.rename(path.with_name(f"{path.name}.kept-{wall_s:.0f}"))


def write_state(path: Path, state: SavedState) -> None:
    """Put the whole state in place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    content = asdict(state)
    put_in_place(path, lambda file: json.dump(content, file, allow_nan=False), is_private=True)

"""What outlives the process: the interval of each volume, with the counters it belongs to.

The file is written beside itself, brought to the disk and then put in place, so that there
is always one whole file: the last one that was finished.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from burstwatch.bucket import Bucket
from burstwatch_exporter.diskstats import Counters
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.strict import ODD, as_text, refuse_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

FORMAT = 1


class StateError(ValueError):
    """A state file that cannot be used, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A volume's interval at one instant: ``at`` since the start ``boot_id``.

    ``wall_s`` is the same by the wall clock, which is what goes on across a reboot.
    ``name`` and ``sequence`` tell the device that ``counters`` are of; ``bucket`` and
    ``promised`` (type and size) what the volume was then.
    """

    key: str
    name: str
    sequence: str
    boot_id: str
    at: float
    wall_s: float
    counters: Counters
    bucket: Bucket
    promised: str
    interval: Interval


def read_state(path: Path) -> dict[str, Saved]:
    """What was saved, by key; nothing where there is no file.

    Raises:
        StateError: if it is not what ``write_state`` writes.
        OSError: if it cannot be read.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise StateError(_unusable(path, error)) from error
    try:
        whole = json.loads(content, parse_constant=refuse_constant)
        if whole["format"] != FORMAT:
            msg = f"format {whole['format']!r}, known is {FORMAT}"
            raise ValueError(msg)
        saved = [_saved(entry) for entry in whole["volumes"]]
    except ODD as error:
        raise StateError(_unusable(path, error)) from error
    return {one.key: one for one in saved}


def write_state(path: Path, volumes: Iterable[Saved]) -> None:
    """Put the whole state in place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    whole = {"format": FORMAT, "volumes": [asdict(one) for one in volumes]}
    put_in_place(path, lambda file: json.dump(whole, file, allow_nan=False))


def put_in_place(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write a file beside itself, bring it to the disk, and put it in the place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    draft = path.with_name(f"{path.name}.new")
    try:
        with draft.open("w", encoding="utf-8") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _saved(entry: Mapping[str, Any]) -> Saved:
    bounds = entry["interval"]
    saved = Saved(
        **{
            name: as_text(entry[name])
            for name in ("key", "name", "sequence", "boot_id", "promised")
        },
        at=_number(entry["at"]),
        wall_s=_number(entry["wall_s"]),
        counters=Counters(**{name: _count(value) for name, value in entry["counters"].items()}),
        bucket=Bucket(**{name: _number(value) for name, value in entry["bucket"].items()}),
        interval=Interval(
            low=_number(bounds["low"]),
            high=_number(bounds["high"]),
            likely=None if bounds["likely"] is None else _number(bounds["likely"]),
        ),
    )
    if not 0 <= saved.interval.low <= saved.interval.high:
        msg = f"{saved.key} has from {saved.interval.low} to {saved.interval.high} credits"
        raise ValueError(msg)
    return saved


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        msg = f"{value!r} is no number"
        raise TypeError(msg)
    return float(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        msg = f"{value!r} is no count"
        raise TypeError(msg)
    return value


def _unusable(path: Path, error: Exception) -> str:
    return (
        f"{path} is no state of this program ({type(error).__name__}: {error}), so all begins anew"
    )

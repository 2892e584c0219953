"""What a measurement found, as a file: written whole or not at all, and read with suspicion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from burstwatch_exporter.measure.verdict import Verdict
from burstwatch_exporter.state import put_in_place
from burstwatch_exporter.strict import ODD, refuse_constant

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
FORMAT = 1


class RecordError(ValueError):
    """A file that is no result of this program, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WayRecord:
    """One direction. ``percentiles_s`` is by percent, as text."""

    iops: float
    mib_s: float
    mean_s: float | None
    percentiles_s: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedRecord:
    """A published figure of the same run on the same type, whatever its size."""

    row: str
    what: str
    unit: str
    published: float
    measured: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """One step: what was asked, what was found, and what cut it short (or nothing).

    ``samples`` are seconds from its start, operations and MiB a second of the device;
    ``latencies`` seconds from its start with the mean latency. ``spent`` is the most that any volume was charged.
    """

    name: str
    tool: str
    version: str
    block_kib: float
    jobs: int
    depth: int
    read_share: float
    is_random: bool
    rate_iops: float | None
    wanted_s: float
    ran_s: float
    spent: float
    stopped: str
    failed: str
    iops: float | None
    mib_s: float | None
    mean_s: float | None
    files_mib_s: float | None
    read: WayRecord | None
    write: WayRecord | None
    verdict: Verdict | None
    published: Sequence[PublishedRecord] = ()
    samples: Sequence[Sequence[float]] = ()
    latencies: Sequence[Sequence[float]] = ()
    raw: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PurseRecord:
    """A bucket, the balance as shares of it before and after, and what it was charged meanwhile."""

    capacity: float
    refill: float
    burst: float
    before_low: float
    before_high: float
    after_low: float
    after_high: float
    spent_least: float
    spent_nominal: float
    spent_most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRecord:
    """A volume; ``purse`` is None where it has no bucket."""

    volume_id: str
    device: str
    volume_type: str
    size_gib: float
    unit: str
    purse: PurseRecord | None

    @property
    def key(self) -> str:
        """As it is known on its host."""
        return self.volume_id or f"device:{self.device}"


@dataclass(frozen=True, kw_only=True, slots=True)
class DrainRecord:
    """What a drain says of the bucket, beside what the catalogue has; None where it cannot be said."""

    knee_s: float
    burst: float
    baseline: float
    drained: float
    capacity: float | None
    refill: float | None
    catalogue_burst: float
    catalogue_baseline: float
    catalogue_capacity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A whole measurement. ``stopped`` and ``failed`` are empty where it went to its end."""

    format: int
    profile: str
    host: str
    kernel: str
    instance_type: str
    directory: str
    device: str
    fstype: str
    stripe: str
    began_s: float
    ended_s: float
    budget: float | None
    predicted: float
    floor_ratio: float
    stopped: str
    failed: str
    volumes: Sequence[VolumeRecord]
    steps: Sequence[StepRecord]
    drain: DrainRecord | None = None

    @property
    def is_whole(self) -> bool:
        """Whether every step found something and nothing failed."""
        return (
            not self.failed
            and not self.stopped
            and all(not step.failed and step.iops is not None for step in self.steps)
        )

    @property
    def filename(self) -> str:
        """What the newest result of a profile on a volume is called."""
        key = self.volumes[0].key if self.volumes else self.device
        return f"{self.profile}-{key.replace(':', '-').replace('/', '-')}.json"


def to_json(record: Record) -> str:
    """One object; what never was is null."""
    return json.dumps(asdict(record), allow_nan=False)


def write_record(path: Path, record: Record) -> None:
    """Put it in place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    put_in_place(path, lambda file: file.write(to_json(record)))


def read_record(path: Path) -> Record:
    """A result of this program.

    Raises:
        RecordError: naming the file and what is wrong in it.
        OSError: if it cannot be read.
    """
    try:
        whole = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)
        json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()  # as a page would have it
        if whole["format"] != FORMAT:
            msg = f"format {whole['format']!r}, known is {FORMAT}"
            raise ValueError(msg)
        drain = whole.get("drain")
        return _made(
            Record,
            whole
            | {
                "volumes": [_volume(one) for one in whole["volumes"]],
                "steps": [_step(one) for one in whole["steps"]],
                "drain": None if drain is None else _made(DrainRecord, drain),
            },
        )
    except ODD as error:
        msg = f"{path} is no result of a measurement ({type(error).__name__}: {str(error)[:200]})"
        raise RecordError(msg) from error


def _volume(whole: Mapping[str, Any]) -> VolumeRecord:
    purse = whole["purse"]
    return _made(
        VolumeRecord,
        dict(whole) | {"purse": None if purse is None else _made(PurseRecord, purse)},
    )


def _step(whole: Mapping[str, Any]) -> StepRecord:
    ways = {
        name: None if whole[name] is None else _made(WayRecord, whole[name])
        for name in ("read", "write")
    }
    verdict = whole["verdict"]
    for name, width in (("samples", 3), ("latencies", 2)):
        if any(len(row) != width for row in whole[name]):
            msg = f"{name} have rows that are not {width} numbers"
            raise ValueError(msg)
    return _made(
        StepRecord,
        dict(whole)
        | ways
        | {
            "verdict": None if verdict is None else _made(Verdict, verdict),
            "published": [_made(PublishedRecord, one) for one in whole["published"]],
        },
    )


def _made(kind: type[T], whole: Mapping[str, Any]) -> T:
    """An object of its fields, where each has the type that it is declared with."""
    hints = get_type_hints(kind)
    wrong = [
        name for name, value in whole.items() if name not in hints or not _fits(value, hints[name])
    ]
    if wrong:
        msg = f"{kind.__name__}: {', '.join(f'{name} is {str(whole[name])[:40]!r}' for name in wrong)}"
        raise ValueError(msg)
    return kind(**whole)


def _fits(value: object, hint: object) -> bool:
    """Whether a value of JSON may stand where that type is declared."""
    options = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    return any(_fits_one(value, option) for option in options)


def _fits_one(value: object, option: Any) -> bool:  # noqa: ANN401 - the types of types have none
    origin = get_origin(option) or option
    if origin in {Any, Literal}:
        return origin is Any or value in get_args(option)
    if isinstance(value, bool):
        return origin is bool
    if origin is float:
        return isinstance(value, int | float) and math.isfinite(value)
    if origin is Sequence:
        return isinstance(value, list) and all(_fits(one, get_args(option)[0]) for one in value)
    if origin is Mapping:
        return isinstance(value, dict) and all(
            _fits(one, get_args(option)[1]) for one in value.values()
        )
    return isinstance(value, origin)

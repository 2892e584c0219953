"""Reads the configuration of the host's volumes: a YAML file, checked in full.

A host cannot read a volume's type, and of its bucket nothing at all. So the owner says it,
or EC2 does (the extra ``aws``); a volume of unknown type has rates, but no time left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta, Struct

from burstwatch.bucket import Bucket
from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.volume_types import CreditUnit, find_type
from burstwatch.ebs.volumes import InstanceLimits
from burstwatch.files import convert, read_yaml

#: Stands for every EBS volume that is not named itself.
EVERY = "*"
DEFAULT_IO_KIB = 256.0


Positive = Annotated[float, Meta(gt=0, lt=1e15)]
Text = Annotated[str, Meta(min_length=1)]


class _Strict(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """An entry of the file. What is not declared is an error."""


class CustomBucket(_Strict, frozen=True):
    """A bucket in figures, for what is no EBS volume."""

    capacity: Positive
    refill: Positive
    burst: Positive
    unit: CreditUnit = "io"
    io_kib: Positive = DEFAULT_IO_KIB

    @property
    def bucket(self) -> Bucket:
        """The figures as a bucket.

        Raises:
            ValueError: if the numbers are those of none.
        """
        return Bucket(capacity=self.capacity, refill=self.refill, burst=self.burst)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeConfig:
    """The statements about one volume; None is not said. ``created_s`` is when it was new."""

    volume_type: str | None = None
    size_gib: float | None = None
    iops: float | None = None
    mib_s: float | None = None
    custom: CustomBucket | None = None
    created_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureRules:
    """The directories that ``measure`` may write to, and the volumes that it may empty, by id or ``device:NAME``."""

    directories: tuple[Path, ...] = ()
    drain: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class HostConfig:
    """The whole file. ``devices`` has for a device the volume id it is to have, or nothing."""

    volumes: Mapping[str, VolumeConfig] = field(default_factory=lambda: MappingProxyType({}))
    devices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    instance: InstanceLimits | None = None
    instance_types: Mapping[str, InstanceLimits] = field(
        default_factory=lambda: MappingProxyType({})
    )
    measure: MeasureRules = MeasureRules()

    def of(self, key: str, device: str) -> VolumeConfig | None:
        """The statements about a volume: by its id, by the name of its device, or about every volume."""
        stated = self.volumes.get(key) or self.volumes.get(f"device:{device}")
        if stated is None and not key.startswith("device:"):
            stated = self.volumes.get(EVERY)
        return stated


def read_config_file(path: Path) -> HostConfig:
    """The file's content.

    Raises:
        ValueError: naming the file and everything in it that is wrong.
    """
    content = read_yaml(path)
    problems: list[str] = []
    file = convert({} if content is None else content, _File, "", problems) or _File()
    config = _host(file, problems)
    if problems:
        msg = f"{path}: {'; '.join(problems)}"
        raise ValueError(msg)
    return config


class _Volume(_Strict, frozen=True):
    type: str | None = None
    size_gib: Positive | None = None
    iops: Positive | None = None
    mib_s: Positive | None = None
    bucket: CustomBucket | None = None
    created: object = None


class _Device(_Volume, frozen=True):
    volume_id: str = ""


class _Limits(_Strict, frozen=True):
    iops: Positive
    mib_s: Positive


class _Measure(_Strict, frozen=True):
    directories: Sequence[Annotated[str, Meta(pattern="^/")]] | None = None
    drain: Sequence[Text] | None = None


class _File(_Strict, frozen=True):
    """The file as it is written. Its entries by name are checked one by one, so that all are named."""

    volumes: dict[str, Any] | None = None
    devices: dict[str, Any] | None = None
    instance: _Limits | None = None
    instance_types: dict[str, Any] | None = None
    measure: _Measure | None = None


def _host(file: _File, problems: list[str]) -> HostConfig:
    """Make the host's configuration of the file; each mistake is added to ``problems``."""
    volumes: dict[str, VolumeConfig] = {}
    for name, entry in (file.volumes or {}).items():
        volume = convert(entry, _Volume, f"volumes.{name}", problems)
        volumes[name] = _given(volume or _Volume(), f"volumes.{name}", problems)
    devices: dict[str, str] = {}
    described = {name: f"volumes.{name}" for name in volumes}
    for name, entry in (file.devices or {}).items():
        device = convert(entry, _Device, f"devices.{name}", problems) or _Device()
        devices[name] = device.volume_id
        if device.volume_id and device == _Device(volume_id=device.volume_id):
            continue  # volumes describes it, or nothing does
        key = device.volume_id or f"device:{name}"
        if key in described:
            places = f"devices.{name} and {described[key]}"
            problems.append(f"{places} both describe {key}; allowed: one of them")
        described[key] = f"devices.{name}"
        volumes[key] = _given(device, f"devices.{name}", problems)
    types = {
        name: convert(entry, _Limits, f"instance_types.{name}", problems)
        for name, entry in (file.instance_types or {}).items()
    }
    measure = file.measure or _Measure()
    return HostConfig(
        volumes=volumes,
        devices=devices,
        instance=_limits(file.instance),
        instance_types={
            name: limits for name, entry in types.items() if (limits := _limits(entry))
        },
        measure=MeasureRules(
            directories=tuple(map(Path, measure.directories or ())),
            drain=frozenset(measure.drain or ()),
        ),
    )


def _limits(entry: _Limits | None) -> InstanceLimits | None:
    return None if entry is None else InstanceLimits(iops=entry.iops, mib_s=entry.mib_s)


def _given(entry: _Volume, at: str, problems: list[str]) -> VolumeConfig:
    """Make a volume's configuration of the file; each mistake is added to ``problems``."""
    if entry.type is not None and entry.type not in OTHER_DISKS:
        try:
            find_type(entry.type)
        except ValueError as error:
            problems.append(f"{at}.type: {error}, {', '.join(OTHER_DISKS)}")
    if entry.bucket is not None:
        if entry.type is not None:
            problems.append(f"{at} has a type and a bucket; allowed: one of them")
        try:
            _ = entry.bucket.bucket
        except ValueError as error:
            problems.append(f"{at}.bucket: {error}")
    return VolumeConfig(
        volume_type=entry.type,
        size_gib=entry.size_gib,
        iops=entry.iops,
        mib_s=entry.mib_s,
        custom=entry.bucket,
        created_s=None if entry.created is None else _seconds(entry.created, at, problems),
    )


def _seconds(created: object, at: str, problems: list[str]) -> float | None:
    """A time since the epoch; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        example = "a date such as 2026-11-21 or a time such as 2026-11-21T10:00:00Z"
        problems.append(f"{at}.created is {created!r}; allowed: {example}")
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

"""What the configuration says of the host's volumes: a YAML file, checked in full.

A host cannot read a volume's type, and of its bucket nothing at all. So the owner says it,
or EC2 does (the extra ``aws``); a volume of which nobody says it has rates and no time left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from burstwatch.bucket import Bucket
from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.volume_types import find_type
from burstwatch.ebs.volumes import InstanceLimits

#: Stands for every EBS volume that is not named itself.
EVERY = "*"
DEFAULT_IO_KIB = 256.0


class GivenError(ValueError):
    """A file that cannot be used; the message names each value and what is allowed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomBucket:
    """A bucket in figures, for what is no EBS volume. ``unit`` is ``io`` or ``MiB``."""

    bucket: Bucket
    unit: str = "io"
    io_kib: float = DEFAULT_IO_KIB


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What is said of one volume; None is not said. ``created_s`` is when it was new."""

    volume_type: str | None = None
    size_gib: float | None = None
    iops: float | None = None
    mib_s: float | None = None
    custom: CustomBucket | None = None
    created_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureRules:
    """Where ``measure`` may write, and the volumes that it may empty, by id or ``device:NAME``."""

    directories: tuple[Path, ...] = ()
    drain: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenVolumes:
    """The whole file. ``devices`` has for a device the volume id it is to have, or nothing."""

    volumes: Mapping[str, Given] = field(default_factory=lambda: MappingProxyType({}))
    devices: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    instance: InstanceLimits | None = None
    instance_types: Mapping[str, InstanceLimits] = field(
        default_factory=lambda: MappingProxyType({})
    )
    measure: MeasureRules = MeasureRules()

    def of(self, key: str) -> Given | None:
        """What is said of a volume by its id or ``device:NAME``, or of every volume."""
        found = self.volumes.get(key)
        if found is None and not key.startswith("device:"):
            found = self.volumes.get(EVERY)
        return found

    def named(self) -> list[str]:
        """Every volume and device that is named by itself."""
        return [key for key in self.volumes if key != EVERY]


def read_given(path: Path) -> GivenVolumes:
    """The file's content.

    Raises:
        GivenError: naming the file and everything in it that is wrong.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {error}"
        raise GivenError(msg) from error
    except yaml.YAMLError as error:
        msg = f"{path} is no YAML: {' '.join(str(error).split())}"
        raise GivenError(msg) from error
    reader = _Reader()
    given = reader.whole(content if content is not None else {})
    if reader.problems:
        msg = f"{path}: {'; '.join(reader.problems)}"
        raise GivenError(msg)
    return given


class _Reader:
    """Reads on after a mistake, so that all of them are named at once."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def whole(self, content: object) -> GivenVolumes:
        parts = self._mapping(
            content, "the file", ("volumes", "devices", "instance", "instance_types", "measure")
        )
        volumes = {
            str(name): self._volume(entry, f"volumes.{name}")
            for name, entry in self._named(parts.get("volumes"), "volumes")
        }
        devices: dict[str, str] = {}
        for name, entry in self._named(parts.get("devices"), "devices"):
            fields = dict(entry) if isinstance(entry, Mapping) else entry
            its_id = fields.pop("volume_id", "") if isinstance(fields, dict) else ""
            if not isinstance(its_id, str):
                self._wrong(f"devices.{name}.volume_id", its_id, "a volume's id")
                its_id = ""
            devices[str(name)] = its_id
            volumes[its_id or f"device:{name}"] = self._volume(fields, f"devices.{name}")
        types = {
            str(name): self._limits(entry, f"instance_types.{name}")
            for name, entry in self._named(parts.get("instance_types"), "instance_types")
        }
        instance = parts.get("instance")
        return GivenVolumes(
            volumes=volumes,
            devices=devices,
            instance=None if instance is None else self._limits(instance, "instance"),
            instance_types={name: limits for name, limits in types.items() if limits is not None},
            measure=self._rules(parts.get("measure")),
        )

    def _rules(self, entry: object) -> MeasureRules:
        if entry is None:
            return MeasureRules()
        fields = self._mapping(entry, "measure", ("directories", "drain"))
        directories = self._texts(fields.get("directories"), "measure.directories")
        for directory in directories:
            if not directory.startswith("/"):
                self._wrong("measure.directories", directory, "a path that begins with /")
        return MeasureRules(
            directories=tuple(Path(one) for one in directories),
            drain=frozenset(self._texts(fields.get("drain"), "measure.drain")),
        )

    def _texts(self, entry: object, at: str) -> list[str]:
        if entry is None:
            return []
        if not isinstance(entry, list) or not all(isinstance(one, str) and one for one in entry):
            self._wrong(at, entry, "a list of texts")
            return []
        return entry

    def _volume(self, entry: object, at: str) -> Given:
        fields = self._mapping(
            entry, at, ("type", "size_gib", "iops", "mib_s", "bucket", "created")
        )
        volume_type = fields.get("type")
        if volume_type is not None and volume_type not in OTHER_DISKS:
            try:
                find_type(str(volume_type))
            except ValueError as error:
                self.problems.append(f"{at}.type: {error}, {', '.join(OTHER_DISKS)}")
                volume_type = None
        custom = fields.get("bucket")
        if custom is not None and volume_type is not None:
            self.problems.append(f"{at} has a type and a bucket, allowed is one of them")
        return Given(
            volume_type=volume_type,
            size_gib=self._number(fields, "size_gib", at),
            iops=self._number(fields, "iops", at),
            mib_s=self._number(fields, "mib_s", at),
            custom=None if custom is None else self._bucket(custom, f"{at}.bucket"),
            created_s=self._instant(fields.get("created"), f"{at}.created"),
        )

    def _bucket(self, entry: object, at: str) -> CustomBucket | None:
        fields = self._mapping(entry, at, ("capacity", "refill", "burst", "unit", "io_kib"))
        unit = fields.get("unit", "io")
        if unit not in {"io", "MiB"}:
            self._wrong(f"{at}.unit", unit, "io or MiB")
        numbers = {name: self._number(fields, name, at) for name in ("capacity", "refill", "burst")}
        for name, value in numbers.items():
            if value is None and name not in fields:
                self.problems.append(f"{at}.{name} is missing")
        io_kib = self._number(fields, "io_kib", at)
        try:
            bucket = Bucket(**{name: value or 0.0 for name, value in numbers.items()})
        except ValueError as error:
            if None not in numbers.values():
                self.problems.append(f"{at}: {error}")
            return None
        return CustomBucket(bucket=bucket, unit=str(unit), io_kib=io_kib or DEFAULT_IO_KIB)

    def _limits(self, entry: object, at: str) -> InstanceLimits | None:
        fields = self._mapping(entry, at, ("iops", "mib_s"))
        iops, mib_s = (self._number(fields, name, at) for name in ("iops", "mib_s"))
        if iops is None or mib_s is None:
            self.problems.append(f"{at} needs iops and mib_s")
            return None
        return InstanceLimits(iops=iops, mib_s=mib_s)

    def _number(self, fields: Mapping[str, Any], name: str, at: str) -> float | None:
        value = fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:  # noqa: PLR2004 - beyond any disk
            self._wrong(f"{at}.{name}", value, "a number above 0")
            return None
        return float(value)

    def _instant(self, value: object, at: str) -> float | None:
        if value is None:
            return None
        try:
            if isinstance(value, str):
                value = datetime.fromisoformat(value)
            if isinstance(value, datetime):
                return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
        except ValueError:
            pass
        hint = " (with a time of day)" if isinstance(value, date) else ""
        self._wrong(at, value, f"an instant such as 2026-11-21T10:00:00Z{hint}")
        return None

    def _mapping(self, entry: object, at: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(entry, Mapping):
            self._wrong(at, entry, f"a mapping of {', '.join(allowed)}")
            return {}
        for name in entry:
            if name not in allowed:
                self.problems.append(f"{at} has {name!r}, allowed are {', '.join(allowed)}")
        return {str(name): value for name, value in entry.items() if name in allowed}

    def _named(self, entry: object, at: str) -> list[tuple[object, object]]:
        if entry is None:
            return []
        if not isinstance(entry, Mapping):
            self._wrong(at, entry, "a mapping by name")
            return []
        return list(entry.items())

    def _wrong(self, at: str, value: object, allowed: str) -> None:
        self.problems.append(f"{at} is {value!r}, allowed is {allowed}")

"""Finds block devices and the EBS volumes under them, from ``/sys``.

An EBS volume on Nitro is an NVMe disk whose model says so and whose serial number is the
volume's id without its hyphen. On Xen the disk is ``xvd*`` and names no volume. LVM, RAID
and encryption are devices with others under them, and partitions belong to their disk.

Paths are strings here, and not ``Path``: a thousand volumes are ten thousand files.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from burstwatch_exporter.diskstats import SECTOR_BYTES

EBS_MODEL = "Amazon Elastic Block Store"
#: ``vol0123...``, or with its hyphen as some tools write it.
SERIAL = re.compile(r"vol-?([0-9a-f]{8}|[0-9a-f]{17})")
XEN = re.compile(r"xvd[a-z]+\d*")
USEC = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """A whole disk that is an EBS volume, or that the configuration names.

    ``volume_id`` is empty where the disk does not tell it. ``largest_kib`` is the most
    that one request carries. ``appeared_s`` is when it came, by the monotonic clock, or
    None where udev does not say. ``sequence`` tells it from an earlier one of the same name.
    """

    name: str
    volume_id: str
    size_bytes: int
    largest_kib: float
    appeared_s: float | None
    sequence: str

    @property
    def key(self) -> str:
        """The disk's identity: its volume's id, or else its name."""
        return self.volume_id or f"device:{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stacked:
    """A partition, or a device made of others, with the disks at its bottom."""

    name: str
    label: str
    disks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """Every disk of interest by name, everything that lies on them, and what was odd."""

    disks: Mapping[str, Disk]
    stacked: Mapping[str, Stacked]
    problems: tuple[str, ...]


def read_blocks(
    sysfs: Path, udev: Path, *, named: Mapping[str, str], devnos: Mapping[str, str]
) -> Blocks:
    """All that ``/sys/block`` shows.

    ``named`` are devices that the configuration names, with the volume id that it gives
    them or nothing; ``devnos`` are the device numbers of ``/proc/diskstats``.

    Raises:
        OSError: if ``/sys/block`` cannot be read at all.
    """
    root = f"{sysfs}/block"
    disks: dict[str, Disk] = {}
    by_key: dict[str, str] = {}
    problems: list[str] = []
    names = sorted(os.listdir(root))
    for name in names:
        try:
            record = f"{udev}/b{devnos.get(name, '')}"
            disk = _disk(f"{root}/{name}", name, record, named)
        except (OSError, ValueError) as error:
            problems.append(f"{name}: {error}")
            continue
        if disk is None:
            continue
        twin = by_key.setdefault(disk.key, name)
        if twin == name:
            disks[name] = disk
        else:
            problems.append(f"{name} is left out: it is the same volume as {twin}, {disk.key}")
    stacked = {one.name: one for one in _stacked(root, names, disks)}
    return Blocks(disks=disks, stacked=stacked, problems=tuple(problems))


def volume_id(serial: str) -> str:
    """``vol-0abc`` of the serial number ``vol0abc``.

    Raises:
        ValueError: if it is none of a volume.
    """
    match = SERIAL.fullmatch(serial)
    if match is None:
        msg = f"serial number {serial!r} is not one of an EBS volume"
        raise ValueError(msg)
    return f"vol-{match[1]}"


def _disk(block: str, name: str, record: str, named: Mapping[str, str]) -> Disk | None:
    if _text(f"{block}/hidden") == "1":  # a path of a multipath disk, which is counted itself
        return None
    if name in named:
        its_id = named[name]
    elif _text(f"{block}/device/model") == EBS_MODEL:
        its_id = volume_id(_text(f"{block}/device/serial"))
    elif XEN.fullmatch(name):
        its_id = ""
    else:
        return None
    return Disk(
        name=name,
        volume_id=its_id,
        size_bytes=int(_text(f"{block}/size")) * SECTOR_BYTES,
        largest_kib=float(_text(f"{block}/queue/max_sectors_kb") or "inf"),
        appeared_s=_appeared(record),
        sequence=_text(f"{block}/diskseq"),
    )


def _appeared(record: str) -> float | None:
    """The time at which udev first saw the device: the line ``I:`` with microseconds since the start."""
    for line in _text(record).splitlines():
        if line.startswith("I:") and line[2:].isdigit():
            return int(line[2:]) / USEC
    return None


def _stacked(root: str, names: list[str], disks: Mapping[str, Disk]) -> Iterator[Stacked]:
    under: dict[str, tuple[str, ...]] = {}
    whole = {part: name for name in names if name not in disks for part in _partitions(root, name)}
    for name in disks:
        under[name] = (name,)
        for part in _partitions(root, name):
            under[part] = (name,)
            yield Stacked(name=part, label=part, disks=(name,))
    for name in names:
        if name in disks:
            continue
        bottom = _bottom(root, name, under, whole)
        if bottom:
            label = _text(f"{root}/{name}/dm/name") or _text(f"{root}/{name}/md/level")
            yield Stacked(name=name, label=label or name, disks=bottom)
            for part in _partitions(root, name):
                yield Stacked(name=part, label=part, disks=bottom)


def device_of(source: str, stacked: Iterable[Stacked]) -> str:
    """The kernel's name of a mount's source: ``nvme1n1`` of /dev/nvme1n1, ``dm-2`` of /dev/mapper/home."""
    mapped = source.removeprefix("/dev/mapper/")
    if mapped == source:
        return source.rpartition("/")[2]
    return next((one.name for one in stacked if one.label == mapped), mapped)


def _partitions(root: str, name: str) -> list[str]:
    """The partitions of a device: what in its folder is named as it is, and more."""
    inside = sorted(one for one in os.listdir(f"{root}/{name}") if one.startswith(name))
    return [one for one in inside if os.path.exists(f"{root}/{name}/{one}/partition")]


def _bottom(
    root: str, name: str, under: dict[str, tuple[str, ...]], whole: Mapping[str, str]
) -> tuple[str, ...]:
    """The disks below a device, each once; what is found is kept in ``under``.

    ``whole`` has the devices of partitions that are not of a disk, such as ``md0`` of ``md0p1``.
    """
    name = whole.get(name, name)
    if name not in under:
        under[name] = ()  # a circle would end here
        try:
            slaves = sorted(os.listdir(f"{root}/{name}/slaves"))
        except OSError:
            slaves = []
        below = [disk for slave in slaves for disk in _bottom(root, slave, under, whole)]
        under[name] = tuple(dict.fromkeys(below))
    return under[name]


def _text(path: str) -> str:
    """The content of a file of ``/sys``, or nothing where there is none."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""

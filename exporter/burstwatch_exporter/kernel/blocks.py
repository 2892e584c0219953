"""Finds block devices and the EBS volumes under them, from ``/sys``.

An EBS volume on Nitro is an NVMe disk whose model says so and whose serial number is the
volume's id without its hyphen: no configuration says otherwise. On Xen the disk is ``xvd*`` and names
no volume. LVM, RAID and encryption are devices with others under them, and partitions belong to
their disk. A disk of NVMe multipath has hidden paths: ``nvme1c0n1`` is one of ``nvme1n1``.

Paths are strings here, and not ``Path``: a thousand volumes are ten thousand files.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from burstwatch_exporter.kernel.diskstats import SECTOR_BYTES

EBS_MODEL = "Amazon Elastic Block Store"
#: ``vol0123...``, or with its hyphen as some tools write it.
SERIAL = re.compile(r"vol-?([0-9a-f]{8}|[0-9a-f]{17})")
XEN = re.compile(r"xvd[a-z]+\d*")
#: A hidden path of a multipath disk, by the names of the kernel: ``nvme1c0n1`` of ``nvme1n1``.
PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")
USEC = 1_000_000
#: Lines of udev's record of a disk: a link that has the kernel's sequence of it, and its serial number.
SEQUENCE_LINK, SERIAL_ENTRY = "S:disk/by-diskseq/", "E:ID_SERIAL_SHORT="


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """A whole disk that is an EBS volume, or that the configuration names.

    ``volume_id`` is empty where neither the disk nor the configuration tells it; ``has_serial`` is
    whether the disk itself does. ``largest_kib`` is the most that one request carries, and
    ``hardware_kib`` the most that this can be set to. ``appeared_s`` is when it came, by the monotonic
    clock, or None where udev does not say that of this very disk. ``sequence`` tells it from an
    earlier one of the same name. ``paths`` are the hidden ones of a multipath disk, and ``twins``
    other disks that say they are the same volume.
    """

    name: str
    volume_id: str
    size_bytes: int
    largest_kib: float
    appeared_s: float | None
    sequence: str
    has_serial: bool = False
    hardware_kib: float = 0.0
    paths: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The disk's identity: its volume's id, or else its name."""
        return self.volume_id or f"device:{self.name}"

    @property
    def is_identified(self) -> bool:
        """True if more than its name and number tells it from another disk."""
        return self.has_serial or bool(self.sequence)

    @property
    def order(self) -> int:
        """Which number it has in the order of all disks that this start of the kernel has seen, if it tells that."""
        return int(self.sequence) if self.sequence.isdecimal() else 0

    @property
    def identity(self) -> tuple[str, str, float | None]:
        """Values of which one at least changes when another disk takes its name."""
        return self.key, self.sequence, None if self.sequence else self.appeared_s


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
    by_key: dict[str, list[Disk]] = {}
    problems: list[str] = []
    names = sorted(os.listdir(root))
    paths = _paths_by_head(names)
    for name in names:
        try:
            record = _record(f"{root}/{name}", udev, devnos.get(name, ""))
            disk, oddity = _disk(f"{root}/{name}", name, record, named)
        except (OSError, ValueError) as error:
            problems.append(f"{name}: {error}")
            continue
        if oddity:
            problems.append(f"{name}: {oddity}")
        if disk is not None:
            disk = replace(disk, paths=tuple(paths.get(name, ())))
            by_key.setdefault(disk.key, []).append(disk)
    disks = {
        disk.name: disk for disk in sorted(map(_newest, by_key.values()), key=attrgetter("name"))
    }
    stacked = {device.name: device for device in _stacked(root, names, disks)}
    return Blocks(disks=disks, stacked=stacked, problems=tuple(problems))


def _paths_by_head(names: Iterable[str]) -> dict[str, list[str]]:
    """The hidden paths of each multipath disk."""
    paths: dict[str, list[str]] = {}
    for name in names:
        match = PATH.fullmatch(name)
        if match is not None:
            paths.setdefault(match[1] + match[2], []).append(name)
    return paths


def _newest(disks: list[Disk]) -> Disk:
    """The disk that came last of those that say they are one volume, with the others as its twins.

    One that is dead can stay beside the one that took its place, and two paths can have a disk each.
    """
    newest = max(disks, key=_since)
    twins = tuple(disk.name for disk in disks if disk is not newest)
    return replace(newest, twins=twins) if twins else newest


def _since(disk: Disk) -> tuple[int, float]:
    """Its place in the order in which disks came. udev has no record yet of one that has just come."""
    return disk.order, math.inf if disk.appeared_s is None else disk.appeared_s


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


def _disk(block: str, name: str, record: str, named: Mapping[str, str]) -> tuple[Disk | None, str]:
    """The disk of that name, if it is of interest, and what is odd about it."""
    if _text(f"{block}/hidden") == "1":  # a path of a multipath disk: its counters belong to that
        return None, ""
    serial = _text(f"{block}/device/serial")
    model = _text(f"{block}/device/model")
    its_id, stated, oddity = "", named.get(name), ""
    if model == EBS_MODEL and not (name in named and SERIAL.fullmatch(serial) is None):
        its_id = volume_id(serial)
        if stated and stated != its_id:
            oddity = f"its serial number says {its_id}, and the configuration says {stated}: the serial number is believed"
    elif stated and model and name.startswith("nvme") and model != EBS_MODEL:
        return (
            None,
            f"the configuration says that it is {stated}, but its model is {model}: it is left out",
        )
    elif name not in named and XEN.fullmatch(name) is None:
        return None, ""
    sequence = _text(f"{block}/diskseq")
    disk = Disk(
        name=name,
        volume_id=its_id or stated or "",
        size_bytes=int(_text(f"{block}/size")) * SECTOR_BYTES,
        largest_kib=float(_text(f"{block}/queue/max_sectors_kb") or "inf"),
        hardware_kib=float(_text(f"{block}/queue/max_hw_sectors_kb") or 0),
        appeared_s=_appeared(record, serial=serial if its_id else "", sequence=sequence),
        sequence=sequence,
        has_serial=bool(its_id),
    )
    return disk, oddity


def _record(block: str, udev: Path, devno: str) -> str:
    """Where udev keeps what it knows of a disk, by its number: one that has no line in diskstats still has one."""
    return f"{udev}/b{devno or _text(f'{block}/dev')}"


def _appeared(record: str, *, serial: str, sequence: str) -> float | None:
    """The time at which udev first saw the disk, or None if the record does not say that it is of this disk.

    The record is found by the device's number, which a later disk gets again, and udev can be late.
    """
    lines = _text(record).splitlines()
    if not _is_of(lines, serial=serial, sequence=sequence):
        return None
    for line in lines:
        if line.startswith("I:") and line[2:].isdigit():
            return int(line[2:]) / USEC
    return None


def _is_of(lines: Sequence[str], *, serial: str, sequence: str) -> bool:
    """True if a record of udev is of the disk with this serial number, and this sequence of the kernel, where it has them.

    systemd 250 and later make a link by the sequence; before that the serial number has to tell.
    """
    sequences = _said_by(lines, SEQUENCE_LINK)
    if sequence and sequences and sequence not in sequences:
        return False
    has_sequence = bool(sequence and sequences)
    if not serial:
        return has_sequence or not sequence
    serials = _said_by(lines, SERIAL_ENTRY)
    return serial in serials or (has_sequence and not serials)


def _said_by(lines: Iterable[str], start: str) -> set[str]:
    return {line.removeprefix(start) for line in lines if line.startswith(start)}


def disk_identity(sysfs: Path, udev: Path, disk: Disk, devno: str) -> str:
    """Identity of a disk among others of its name: its sequence number, or udev's time where the kernel has none."""
    if disk.sequence:
        return _text(f"{sysfs}/block/{disk.name}/diskseq")
    record = _record(f"{sysfs}/block/{disk.name}", udev, devno)
    appeared_s = _appeared(record, serial="", sequence="")
    return "" if appeared_s is None else f"{appeared_s}"


def is_counting(sysfs: Path, disk: Disk) -> bool:
    """True if the kernel counts a disk's I/O: its switch ``iostats`` can be turned off and on."""
    return all(
        read_flag(f"{sysfs}/block/{name}/queue/iostats") != b"0"
        for name in (disk.name, *disk.paths)
    )


def _stacked(root: str, names: list[str], disks: Mapping[str, Disk]) -> Iterator[Stacked]:
    """Find what lies on the disks: partitions, LVM and RAID, each with the disks at its bottom."""
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
    return next((device.name for device in stacked if device.label == mapped), mapped)


def _partitions(root: str, name: str) -> list[str]:
    """The partitions of a device: what in its folder is named as it is, and more."""
    inside = sorted(entry for entry in os.listdir(f"{root}/{name}") if entry.startswith(name))
    return [
        partition for partition in inside if os.path.exists(f"{root}/{name}/{partition}/partition")
    ]


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


def read_flag(path: str) -> bytes:
    """The first character of a file of ``/sys``, or nothing where there is none; a third of the time of ``open``."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, 1)
    except OSError:
        return b""
    finally:
        os.close(handle)

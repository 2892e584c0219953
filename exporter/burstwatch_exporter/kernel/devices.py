"""Finds what devices the host has, and what is mounted on them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from burstwatch_exporter.kernel.blocks import Blocks, device_of, read_blocks
from burstwatch_exporter.kernel.mounts import Mount, container_files, read_mounts
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.sources import Sources


@dataclass(frozen=True, kw_only=True, slots=True)
class Devices:
    """The devices, each mount with the names of its devices, and the start of the kernel that they are of.

    A btrfs can have several devices. ``container_files`` are the files of /proc that are not the kernel's.
    """

    blocks: Blocks
    mounts: tuple[tuple[Mount, str], ...]
    boot_id: str
    container_files: frozenset[str]


NOTHING = Devices(
    blocks=Blocks(disks={}, stacked={}, problems=()),
    mounts=(),
    boot_id="",
    container_files=frozenset(),
)


def read_devices(
    roots: Roots,
    sources: Sources,
    before: Devices,
    *,
    named: Mapping[str, str],
    devnos: Mapping[str, str],
    excluded: re.Pattern[str],
) -> Devices:
    """Read the block devices, the mounts and the id of the kernel's start from /sys and /proc.

    A part that cannot be read is told by ``sources`` and stays as it was ``before``. ``named`` are the volume ids that
    the configuration gives to device names, ``devnos`` the device numbers by name. Mount points that ``excluded`` fits
    are left out. It takes long with many devices.
    """
    blocks, mounts, boot_id = before.blocks, before.mounts, before.boot_id
    with sources.attempt("boot_id"):
        path = roots.procfs / "sys" / "kernel" / "random" / "boot_id"
        boot_id = path.read_text(encoding="ascii").strip()
    with sources.attempt("sysfs") as attempt:
        blocks = read_blocks(roots.sysfs, roots.udev, named=named, devnos=devnos)
        attempt.problems += blocks.problems
    with sources.attempt("mounts") as attempt:
        every_mount, problems = read_mounts(roots.procfs)
        attempt.problems += problems
        every_mount = [mount for mount in every_mount if not excluded.search(mount.mountpoint)]
        mounts = tuple(_on_volumes(every_mount, devnos, blocks, btrfs_members(roots.sysfs)))
    return Devices(
        blocks=blocks,
        mounts=mounts,
        boot_id=boot_id,
        container_files=container_files(roots.procfs),
    )


def btrfs_members(sysfs: Path) -> list[list[str]]:
    """The names of the devices of each btrfs that is mounted."""
    folders = (sysfs / "fs" / "btrfs").glob("*/devices")
    return [sorted(device.name for device in folder.iterdir()) for folder in folders]


def _on_volumes(
    mounts: list[Mount],
    devnos: Mapping[str, str],
    blocks: Blocks,
    btrfs: list[list[str]],
) -> Iterator[tuple[Mount, str]]:
    """Each mount with the name of each of its devices under which a volume lies."""
    names = {devno: name for name, devno in devnos.items()}
    for mount in mounts:
        # btrfs has device numbers of its own, but names one of its devices.
        named = (
            mount.bound_device
            or names.get(mount.devno)
            or device_of(mount.source, blocks.stacked.values())
        )
        members = next((devices for devices in btrfs if named in devices), [named])
        for name in members if mount.fstype == "btrfs" else [named]:
            if name in blocks.disks or name in blocks.stacked:
                yield mount, name

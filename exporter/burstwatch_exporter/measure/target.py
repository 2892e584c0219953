"""Finds what to measure: a directory, the device under it, and the volumes under that."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from burstwatch_exporter.credits.snapshot import Snapshot, View
from burstwatch_exporter.kernel.blocks import device_of
from burstwatch_exporter.kernel.devices import btrfs_members
from burstwatch_exporter.kernel.diskstats import parse_diskstats
from burstwatch_exporter.kernel.mounts import read_mounts
from burstwatch_exporter.kernel.roots import Roots


@dataclass(frozen=True, kw_only=True, slots=True)
class Stripe:
    """An md array: its level, and how many devices it is made of."""

    level: str
    members: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A directory on a device that lies on volumes of this host."""

    directory: Path
    fstype: str
    device: str
    views: tuple[View, ...]
    stripe: Stripe | None = None

    @property
    def members(self) -> int:
        """Over how many volumes alike every run is spread evenly: 1 unless it is a stripe."""
        is_even = self.stripe is not None and self.stripe.level == "raid0"
        return len(self.views) if is_even else 1


def find_target(directory: Path, snapshot: Snapshot, roots: Roots) -> Target:
    """Find the volumes under a directory.

    Raises:
        ValueError: if it is no directory, or on nothing that this host has a volume under.
    """
    try:
        resolved = directory.resolve(strict=True)
        status = resolved.stat()
    except OSError as error:
        msg = f"directory {directory}: {error.strerror or error}"
        raise ValueError(msg) from error
    if stat.S_ISBLK(status.st_mode):
        msg = f"directory {directory} is a block device; allowed: a directory: the content of the device would be lost"
        raise ValueError(msg)
    if not stat.S_ISDIR(status.st_mode):
        msg = f"directory {directory} is no directory"
        raise ValueError(msg)
    stats = parse_diskstats(
        (roots.procfs / "diskstats").read_text(encoding="ascii", errors="replace")
    )
    devno = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    fstype, source = _mounted(resolved, roots)
    name = next((device for device, number in stats.devnos.items() if number == devno), None)
    if fstype == "btrfs":  # it has numbers of its own, but names its device
        name = device_of(source, snapshot.stacked)
        devices = next((members for members in btrfs_members(roots.sysfs) if name in members), [])
        if len(devices) > 1:
            msg = (
                f"directory {directory} is on a btrfs of several devices ({', '.join(devices)}); "
                "allowed: one, as btrfs itself chooses which of them it writes to"
            )
            raise ValueError(msg)
    by_name = {view.disk.name: view for view in snapshot.views}
    under = {device.name: device.disks for device in snapshot.stacked} | {
        device: (device,) for device in by_name
    }
    views = tuple(by_name[disk] for disk in under.get(name or "", ()) if disk in by_name)
    if not views or name is None:
        place = f"{fstype} of {source}" if name is None else f"{name} ({fstype})"
        msg = (
            f"directory {directory} is on {place}, which is no volume of this host; "
            "allowed: EBS volumes and the devices of the configuration"
        )
        raise ValueError(msg)
    return Target(
        directory=resolved,
        fstype=fstype,
        device=name,
        views=views,
        stripe=read_stripe(roots.sysfs, name),
    )


def _mounted(directory: Path, roots: Roots) -> tuple[str, str]:
    """The type and the source of the file system that a directory is on."""
    file_system = ("an unknown file system", "")
    longest = -1
    for mount in read_mounts(roots.procfs)[0]:
        point = mount.mountpoint
        inside = directory.is_relative_to(point)
        if inside and len(point) >= longest:  # the newest of two at one place hides the other
            longest, file_system = len(point), (mount.fstype, mount.source)
    return file_system


#: A device on a device on a device: more would be a circle.
DEEPEST = 16


def read_stripe(sysfs: Path, name: str) -> Stripe | None:
    """The array that ``name`` is or lies on, or None.

    A partition, an encrypted device or a logical volume on one device lies on that.

    Raises:
        ValueError: if the kernel's files say what cannot be.
    """
    block = sysfs / "block"
    for _ in range(DEEPEST):
        folder = block / name
        if not folder.is_dir():
            parent = next(
                (entry.parent.name for entry in block.glob(f"*/{name}") if entry.is_dir()), None
            )
            if parent is None:
                return None
            name = parent
            continue
        if (folder / "md" / "level").exists():
            return _array(folder)
        try:
            under = [member.name for member in (folder / "slaves").iterdir()]
        except OSError:
            return None
        if len(under) != 1:
            return None
        name = under[0]
    return None


def _array(folder: Path) -> Stripe:
    """Read an array's level and number of members; raises ValueError for a number that cannot be."""
    level, disks = (
        (folder / "md" / name).read_text(encoding="ascii", errors="replace").strip()
        for name in ("level", "raid_disks")
    )
    if not disks.isdecimal() or int(disks) <= 0:
        msg = f"{folder.name} has raid_disks {disks!r}, expected is a whole number above 0"
        raise ValueError(msg)
    return Stripe(level=level, members=int(disks))

"""Finds what devices the host has, and what is mounted on them."""

from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch_exporter.blocks import Blocks, device_of, read_blocks
from burstwatch_exporter.mounts import Mount, read_mounts
from burstwatch_exporter.settings import Roots
from burstwatch_exporter.sources import Sources


@dataclass(frozen=True, kw_only=True, slots=True)
class Devices:
    """The devices, each mount with the name of its device, and the start of the kernel that they are of."""

    blocks: Blocks
    mounts: tuple[tuple[Mount, str], ...]
    boot_id: str


NOTHING = Devices(blocks=Blocks(disks={}, stacked={}, problems=()), mounts=(), boot_id="")


def read_devices(
    roots: Roots,
    sources: Sources,
    before: Devices,
    *,
    named: Mapping[str, str],
    devnos: Mapping[str, str],
) -> Devices:
    """Look at all of it; takes long where there are many. What cannot be read is as it was ``before``."""
    blocks, mounts, boot_id = before.blocks, before.mounts, before.boot_id
    with sources.attempt("boot_id"):
        path = roots.procfs / "sys" / "kernel" / "random" / "boot_id"
        boot_id = path.read_text(encoding="ascii").strip()
    with sources.attempt("sysfs") as attempt:
        blocks = read_blocks(roots.sysfs, roots.udev, named=named, devnos=devnos)
        attempt.problems += blocks.problems
    with sources.attempt("mounts") as attempt:
        found, problems = read_mounts(roots.procfs)
        attempt.problems += problems
        mounts = tuple(_on_volumes(found, devnos, blocks))
    return Devices(blocks=blocks, mounts=mounts, boot_id=boot_id)


def _on_volumes(
    mounts: list[Mount], devnos: Mapping[str, str], blocks: Blocks
) -> list[tuple[Mount, str]]:
    """Each mount with the name of its device, where a volume lies under it."""
    names = {devno: name for name, devno in devnos.items()}
    found: list[tuple[Mount, str]] = []
    for mount in mounts:
        # btrfs has device numbers of its own, but names its device.
        name = names.get(mount.devno) or device_of(mount.source, blocks.stacked.values())
        if name in blocks.disks or name in blocks.stacked:
            found.append((mount, name))
    return found

"""The files of this host that the exporter reads, to send with a bug report.

Volume ids and serial numbers are replaced by others, each always by the same, and so are the names of
mount points and file systems. What is left is names of devices, sizes and counters; look at it before you send it.
"""

import hashlib
import os
import re
from collections.abc import Iterator

import yaml

from burstwatch_exporter.kernel.blocks import SEQUENCE_LINK, SERIAL_ENTRY
from burstwatch_exporter.kernel.mounts import read_mountinfo
from burstwatch_exporter.kernel.roots import Roots

VOLUME = re.compile(r"vol(-?)([0-9a-f]{17}|[0-9a-f]{8})\b")
#: Where a disk says its serial number: a file of its own, or a line of udev's record.
SERIAL_FILE = "/device/serial"
WHOLE, AFTER_SERIAL = re.compile(r"\S.*"), re.compile(f"(?<={SERIAL_ENTRY}).+")
ON_DEVICE = re.compile(r" - \S+ /dev/\S+ ")
#: Files that are read of a block device.
ATTRIBUTES = (
    "size", "hidden", "diskseq", "queue/iostats", "queue/max_sectors_kb", "queue/max_hw_sectors_kb",
    "device/model", "device/serial", "device/devtype", "dm/name", "md/level",
)  # fmt: skip
#: Fields that are kept of udev's record: which disk it is of, and since when.
OF_RECORD = ("I:", SEQUENCE_LINK, SERIAL_ENTRY)
#: The files of /proc whose place another program can take, as lxcfs does.
IN_PROC = re.compile(r" /proc/\S+ .* - fuse\.lxcfs ")
#: Columns of a line of mountinfo that name files: root and mount point.
ROOT, MOUNTPOINT = 3, 4


def capture(roots: Roots, *, keeps_names: bool = False) -> str:
    """The files as YAML, as the tests of this project keep them; with ``keeps_names`` ids and names as they are.

    Raises:
        OSError: if the counters, the devices or the mounts cannot be read.
    """
    files = {"proc/diskstats": (roots.procfs / "diskstats").read_text(encoding="ascii")}
    # Mounts without a device name servers and folders, and are none of ours.
    mounts = read_mountinfo(roots.procfs)
    kept = [
        line for line in mounts.text.splitlines() if ON_DEVICE.search(line) or IN_PROC.search(line)
    ]
    whose = "1" if mounts.is_of_the_host else "self"
    files[f"proc/{whose}/mountinfo"] = "".join(
        f"{line if keeps_names or IN_PROC.search(line) else _unnamed(line)}\n" for line in kept
    )
    # The first line is that of all CPUs together; a container can have its own.
    files["proc/stat"] = _read(f"{roots.procfs}/stat").partition("\n")[0] + "\n"
    files |= dict(_blocks(roots))
    files |= dict(_records(roots))
    files |= dict(_btrfs(roots, keeps_names=keeps_names))
    files["proc/sys/kernel/random/boot_id"] = "00000000-0000-0000-0000-000000000000\n"
    if not keeps_names:
        files = {name: _anonymous(name, content) for name, content in files.items()}
    return yaml.safe_dump(
        {"origin": f"captured on Linux {os.uname().release}", "files": dict(sorted(files.items()))},
        width=10_000,
    )


def _records(roots: Roots) -> Iterator[tuple[str, str]]:
    """Yield udev's record of each block device, without its names."""
    for record in _listed(f"{roots.udev}"):
        if record.startswith("b"):
            lines = _read(f"{roots.udev}/{record}").splitlines()
            kept = [line for line in lines if line.startswith(OF_RECORD)]
            yield f"udev/{record}", "".join(f"{line}\n" for line in kept)


def _btrfs(roots: Roots, *, keeps_names: bool) -> Iterator[tuple[str, str]]:
    """The devices of each btrfs, which its mount does not all name, as pairs of a path and no content.

    The id of the file system is replaced; the devices have the kernel's names, which say nothing of anybody.
    """
    folder = f"{roots.sysfs}/fs/btrfs"
    for btrfs_id in _listed(folder):
        told_id = btrfs_id if keeps_names else _pseudonym(btrfs_id)
        for device in _listed(f"{folder}/{btrfs_id}/devices"):
            yield f"sys/fs/btrfs/{told_id}/devices/{device}", ""


def _blocks(roots: Roots) -> Iterator[tuple[str, str]]:
    """Read the files of sysfs that describe block devices, each as (path, content)."""
    root = f"{roots.sysfs}/block"
    for name in sorted(os.listdir(root)):  # noqa: PTH208 - strings, as where they are read
        yield from (
            (f"sys/block/{name}/{attribute}", content)
            for attribute in ATTRIBUTES
            if (content := _read(f"{root}/{name}/{attribute}"))
        )
        yield from (
            (f"sys/block/{name}/slaves/{member}", "") for member in _listed(f"{root}/{name}/slaves")
        )
        for part in _listed(f"{root}/{name}"):
            number = _read(f"{root}/{name}/{part}/partition")
            if number:
                yield f"sys/block/{name}/{part}/partition", number


def _anonymous(name: str, content: str) -> str:
    """Replace volume ids and serial numbers. That of an EBS volume stays one; any other becomes an invented word."""

    def other_id(match: re.Match[str]) -> str:
        digest = hashlib.sha256(match[2].encode()).hexdigest()
        return f"vol{match[1]}{digest[: len(match[2])]}"

    def other_serial(match: re.Match[str]) -> str:
        return match[0] if VOLUME.search(match[0]) else _pseudonym(match[0])

    serials = WHOLE if name.endswith(SERIAL_FILE) else AFTER_SERIAL
    return VOLUME.sub(other_id, serials.sub(other_serial, content))


def _unnamed(line: str) -> str:
    columns = [*line.rpartition(" ")[0].split(" "), "rw"]
    for column in (ROOT, MOUNTPOINT):
        if len(columns) > column:
            columns[column] = "/".join(_pseudonym(part) for part in columns[column].split("/"))
    return " ".join(columns)


def _pseudonym(part: str) -> str:
    return f"d{hashlib.sha256(part.encode()).hexdigest()[:6]}" if part else ""


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - strings, as where they are read
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return ""

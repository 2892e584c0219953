"""The files of this host that the exporter reads, to send with a bug report.

Volume ids and serial numbers are replaced by others, each always by the same within one capture, and so are the names of
mount points and file systems: by a digest with a key that nobody keeps. What is left is names of devices, sizes and counters; look at it before you send it.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from burstwatch_exporter.kernel.blocks import SEQUENCE_LINK, SERIAL_ENTRY
from burstwatch_exporter.kernel.ena import COUNTERS, DRIVER, read_interfaces
from burstwatch_exporter.kernel.mounts import read_mountinfo
from burstwatch_exporter.kernel.roots import Roots

VOLUME = re.compile(r"vol(-?)([0-9a-f]{17}|[0-9a-f]{8})\b")
#: Where a disk says its serial number: a file of its own, or a line of udev's record.
SERIAL_FILE = "/device/serial"
#: The name that somebody gave a mapped device, the source of a mount, and the names that the kernel gives.
DM_NAME, SOURCE = "/dm/name", re.compile(r"(?<= )/dev/\S+")
KERNELS = re.compile(
    r"(nvme|xvd|sd|vd|hd|dm-|md|loop|zram|mmcblk|bcache|nbd|ram|sr)[a-z0-9_]*|root"
)
INTERFACES = re.compile(r"lo|eth[0-9]+|en[ospx][0-9a-f]+[0-9a-z]*")
WHOLE, AFTER_SERIAL = re.compile(r"\S.*"), re.compile(f"(?<={SERIAL_ENTRY}).+")
ON_DEVICE = re.compile(r" - \S+ /dev/\S+ ")
#: Files that are read of a block device.
ATTRIBUTES = (
    "size", "hidden", "diskseq", "dev", "queue/iostats", "queue/max_sectors_kb", "queue/max_hw_sectors_kb",
    "device/model", "device/serial", "device/devtype", "dm/name", "md/level",
)  # fmt: skip
#: Fields that are kept of udev's record: which disk it is of, and since when.
OF_RECORD = ("I:", SEQUENCE_LINK, SERIAL_ENTRY)
#: The files of /proc whose place another program can take, as lxcfs does.
IN_PROC = re.compile(r" /proc/\S+ .* - fuse\.lxcfs ")
#: Columns of a line of mountinfo that name files: root and mount point.
ROOT, MOUNTPOINT = 3, 4


def capture(roots: Roots, *, keeps_names: bool = False, key: bytes | None = None) -> str:
    """The files as YAML, as the tests of this project keep them; with ``keeps_names`` ids and names as they are.

    ``key`` is that of the digests in place of names, another at each call unless it is given.

    Raises:
        OSError: if the counters, the devices or the mounts cannot be read.
    """
    names = _Names(secrets.token_bytes(16) if key is None else key)
    files = {"proc/diskstats": (roots.procfs / "diskstats").read_text(encoding="ascii")}
    # Mounts without a device name servers and folders, and are none of ours.
    mounts = read_mountinfo(roots.procfs)
    kept = [
        line for line in mounts.text.splitlines() if ON_DEVICE.search(line) or IN_PROC.search(line)
    ]
    whose = "1" if mounts.is_of_the_host else "self"
    files[f"proc/{whose}/mountinfo"] = "".join(
        f"{line if keeps_names or IN_PROC.search(line) else names.of_mount(line)}\n"
        for line in kept
    )
    # The first line is that of all CPUs together; a container can have its own.
    files["proc/stat"] = _read(f"{roots.procfs}/stat").partition("\n")[0] + "\n"
    files |= dict(_blocks(roots))
    files |= dict(_records(roots))
    files |= dict(_btrfs(roots, None if keeps_names else names))
    problems: list[str] = []
    files |= dict(_interfaces(roots, None if keeps_names else names, problems))
    files["sys/kernel/uevent_seqnum"] = _read(f"{roots.sysfs}/kernel/uevent_seqnum")
    files["proc/sys/kernel/random/boot_id"] = "00000000-0000-0000-0000-000000000000\n"
    if not keeps_names:
        files = {name: names.of_file(name, content) for name, content in files.items()}
    origin = f"captured on Linux {os.uname().release}"
    told = {"problems": problems} if problems else {}
    return yaml.safe_dump(
        {"origin": origin, **told, "files": dict(sorted(files.items()))}, width=10_000
    )


def _records(roots: Roots) -> Iterator[tuple[str, str]]:
    """Yield udev's record of each block device, without its names."""
    for record in _listed(f"{roots.udev}"):
        if record.startswith("b"):
            lines = _read(f"{roots.udev}/{record}").splitlines()
            kept = [line for line in lines if line.startswith(OF_RECORD)]
            yield f"udev/{record}", "".join(f"{line}\n" for line in kept)


def _btrfs(roots: Roots, names: "_Names | None") -> Iterator[tuple[str, str]]:
    """The devices of each btrfs, which its mount does not all name, as pairs of a path and no content.

    The id of the file system is replaced; the devices have the kernel's names, which say nothing of anybody.
    """
    folder = f"{roots.sysfs}/fs/btrfs"
    for btrfs_id in _listed(folder):
        told_id = btrfs_id if names is None else names.pseudonym(btrfs_id)
        for device in _listed(f"{folder}/{btrfs_id}/devices"):
            yield f"sys/fs/btrfs/{told_id}/devices/{device}", ""


def _interfaces(
    roots: Roots, names: "_Names | None", problems: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield the counters of each interface of ENA, and its allowances as ``ethtool -S`` prints them.

    A name that somebody gave is another one. What kept an interface from being read is a problem.
    """
    read: list[str] = []
    interfaces = read_interfaces(roots.sysfs, read)
    problems += [problem if names is None else names.of_problem(problem) for problem in read]
    for given, interface in interfaces.items():
        name = given if names is None else names.of_interface(given)
        yield f"sys/class/net/{name}/device/uevent", f"{DRIVER}\n"
        for direction, counter in COUNTERS.items():
            folder = f"sys/class/net/{name}/statistics/{counter}"
            yield f"{folder}_bytes", f"{interface.octets[direction]}\n"
            yield f"{folder}_packets", f"{interface.packets[direction]}\n"
        lines = (
            f"     {allowance}_allowance_exceeded: {count}\n"
            for allowance, count in interface.exceeded.items()
        )
        yield f"ethtool/{name}", "".join(lines)


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


@dataclass(frozen=True, slots=True)
class _Names:
    """Puts other names in place of those that say something of somebody."""

    key: bytes

    def of_file(self, name: str, content: str) -> str:
        """Replace volume ids and serial numbers. That of an EBS volume stays one; any other becomes an invented word."""

        def other_id(match: re.Match[str]) -> str:
            return f"vol{match[1]}{self._digest(match[2])[: len(match[2])]}"

        def other_serial(match: re.Match[str]) -> str:
            return match[0] if VOLUME.search(match[0]) else self.pseudonym(match[0])

        if name.endswith(DM_NAME):
            return WHOLE.sub(lambda match: self.pseudonym(match[0]), content)
        serials = WHOLE if name.endswith(SERIAL_FILE) else AFTER_SERIAL
        return VOLUME.sub(other_id, serials.sub(other_serial, content))

    def of_mount(self, line: str) -> str:
        """A line of mountinfo without its folders and options, and without the name of a mapped device."""
        columns = [*line.rpartition(" ")[0].split(" "), "rw"]
        for column in (ROOT, MOUNTPOINT):
            if len(columns) > column:
                parts = columns[column].split("/")
                columns[column] = "/".join(self.pseudonym(part) for part in parts)
        return SOURCE.sub(self._of_source, " ".join(columns))

    def of_interface(self, name: str) -> str:
        """A name that the kernel or udev gives stays."""
        return name if INTERFACES.fullmatch(name) else self.pseudonym(name)

    def of_problem(self, problem: str) -> str:
        """A problem of an interface, whose name is in front."""
        name, _, what = problem.partition(":")
        return f"{self.of_interface(name)}:{what}"

    def _of_source(self, match: re.Match[str]) -> str:
        """A source by the kernel's name stays; of a mapped device the name is another, and of any other link all of it."""
        folder, _, last = match[0].rpartition("/")
        if folder == "/dev" and KERNELS.fullmatch(last):
            return match[0]
        return (
            f"{folder}/{self.pseudonym(last)}"
            if folder == "/dev/mapper"
            else f"/dev/{self.pseudonym(match[0])}"
        )

    def pseudonym(self, part: str) -> str:
        """An invented word, the same for the same part."""
        return f"d{self._digest(part)[:6]}" if part else ""

    def _digest(self, text: str) -> str:
        return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), key=self.key).hexdigest()


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

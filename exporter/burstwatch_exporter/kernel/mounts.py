"""Reads where file systems are mounted, from ``mountinfo``."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: Before the hyphen of a line: ids, device number, root, mount point, options.
LEAST_BEFORE, LEAST_AFTER = 6, 2
ROOT, MOUNTPOINT = 3, 4
#: Types of file systems that are roots of containers.
LAYERED = frozenset({"overlay", "aufs", "fuse-overlayfs", "tmpfs"})
OWN_MOUNTS = "the mounts of the host's first process cannot be read (is /proc mounted with hidepid, or does SELinux deny it?), so they are those that this process sees"
ESCAPED = re.compile(r"\\([0-7]{3})")


#: Where kubelet mounts a volume for a pod, with a file system and without one: https://github.com/kubernetes/kubernetes
#: (pkg/volume/csi/csi_mounter.go, csi_block.go and csi_util.go of v1.34).
OF_POD = re.compile(
    r"/pods/(?P<pod>[^/]+)/volumes/kubernetes\.io~(csi|aws-ebs)/(?P<name>[^/]+)(/mount)?"
    r"|/kubernetes\.io/csi/volumeDevices/(publish/(?P<published>[^/]+)|(?P<device>[^/]+)/dev)/(?P<device_pod>[^/]+)"
)
#: The file system of /dev: a device in it is bound to a file where a pod gets it without a file system.
DEVICES = "devtmpfs"


@dataclass(frozen=True, kw_only=True, slots=True)
class PodVolume:
    """The names by which Kubernetes knows a mounted volume: of its PersistentVolume, and the uid of the pod."""

    name: str
    pod_uid: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system on a device, which is named by its number and by its path; ``root`` is the folder of it that is mounted."""

    devno: str
    source: str
    mountpoint: str
    fstype: str
    root: str = "/"

    @property
    def bound_device(self) -> str:
        """The name of a device of /dev that stands in a place of its own; empty if this is none."""
        return self.root.removeprefix("/") if self.fstype == DEVICES else ""

    @property
    def pod_volume(self) -> PodVolume | None:
        """What Kubernetes calls it, None if kubelet did not mount it for a pod."""
        for match in OF_POD.finditer(self.mountpoint):
            if match.end() == len(self.mountpoint):
                return PodVolume(
                    name=match["name"] or match["published"] or match["device"],
                    pod_uid=match["pod"] or match["device_pod"],
                )
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class MountInfo:
    """The kernel's list of mounts. ``is_of_the_host`` tells whether it is the first process's and not this one's."""

    text: str
    is_of_the_host: bool


def read_mountinfo(procfs: Path) -> MountInfo:
    """The mounts that the first process sees, or else this one, as the kernel writes them.

    Raises:
        OSError: if neither can be read.
    """
    try:
        return MountInfo(text=_mountinfo_of(procfs / "1"), is_of_the_host=True)
    except OSError:  # hidden from other users, by the mount option hidepid
        return MountInfo(text=_mountinfo_of(procfs / "self"), is_of_the_host=False)


def _mountinfo_of(process: Path) -> str:
    return (process / "mountinfo").read_bytes().decode("utf-8", "surrogateescape")


def container_files(procfs: Path) -> frozenset[str]:
    """The files of ``procfs`` that lxcfs has put its own in the place of, such as ``diskstats``.

    A pod can have such files over its own /proc, and read the host's, which is mounted elsewhere.
    """
    names: set[str] = set()
    for process in ("self", "1"):
        with suppress(OSError):
            lines = [line.partition(" - ") for line in _mountinfo_of(procfs / process).split("\n")]
            mounted = [
                (_plain(head.split(" ")[MOUNTPOINT]), tail) for head, _, tail in lines if tail
            ]
            is_elsewhere = process == "self" and any(point == str(procfs) for point, _ in mounted)
            folder = str(procfs) if is_elsewhere else "/proc"
            names |= {
                point.removeprefix(f"{folder}/")
                for point, tail in mounted
                if tail.startswith("fuse.lxcfs ") and point.startswith(f"{folder}/")
            }
    return frozenset(names)


def read_mounts(procfs: Path) -> tuple[list[Mount], list[str]]:
    """Read the mounts, and what is odd: lines that are not understood, or mounts of this process alone.

    Raises:
        OSError: if neither can be read.
    """
    mounts: list[Mount] = []
    problems: list[str] = []
    info = read_mountinfo(procfs)
    if not info.is_of_the_host:
        problems.append(OWN_MOUNTS)
    # The kernel escapes a newline, and no other character at which Python would split.
    for line in filter(None, info.text.split("\n")):
        before, separator, after = line.partition(" - ")
        head, tail = before.split(" "), after.split(" ")
        if not separator or len(head) < LEAST_BEFORE or len(tail) < LEAST_AFTER:
            problems.append(f"line not understood: {line[:80]!r}")
            continue
        mounts.append(
            Mount(
                devno=head[2],
                source=_plain(tail[1]),
                mountpoint=_plain(head[MOUNTPOINT]),
                fstype=_plain(tail[0]),
                root=_plain(head[ROOT]),
            )
        )
    if not info.is_of_the_host and not _is_like_a_host(mounts):
        return [], [*problems, "none of them are shown: this process is in a container"]
    return mounts, problems


def _is_like_a_host(mounts: list[Mount]) -> bool:
    """True if the root is a file system of a disk, and not one that a container is given."""
    roots = [mount for mount in mounts if mount.mountpoint == "/"]
    return bool(roots) and roots[-1].fstype not in LAYERED


def _plain(text: str) -> str:
    """Without the kernel's octal escapes, and fit to be printed."""
    plain = ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
    return plain.encode("utf-8", "replace").decode("utf-8")

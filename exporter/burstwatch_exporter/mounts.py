"""Reads where file systems are mounted, from ``mountinfo``."""

import re
from dataclasses import dataclass
from pathlib import Path

#: Before the hyphen of a line: ids, device number, root, mount point, options.
LEAST_BEFORE, LEAST_AFTER = 6, 2
ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system on a device, which is named by its number and by its path."""

    devno: str
    source: str
    mountpoint: str
    fstype: str


def read_mountinfo(procfs: Path) -> str:
    """The mounts that the first process sees, or else this one, as the kernel writes them.

    Raises:
        OSError: if neither can be read.
    """
    try:
        return (procfs / "1" / "mountinfo").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:  # another's, with /proc hidden
        return (procfs / "self" / "mountinfo").read_bytes().decode("utf-8", "surrogateescape")


def read_mounts(procfs: Path) -> tuple[list[Mount], list[str]]:
    """Read the mounts, and the lines that are not understood.

    Raises:
        OSError: if neither can be read.
    """
    mounts: list[Mount] = []
    problems: list[str] = []
    # The kernel escapes a newline, and no other character at which Python would split.
    for line in filter(None, read_mountinfo(procfs).split("\n")):
        before, separator, after = line.partition(" - ")
        head, tail = before.split(" "), after.split(" ")
        if not separator or len(head) < LEAST_BEFORE or len(tail) < LEAST_AFTER:
            problems.append(f"line not understood: {line[:80]!r}")
            continue
        mounts.append(
            Mount(
                devno=head[2],
                source=_plain(tail[1]),
                mountpoint=_plain(head[4]),
                fstype=_plain(tail[0]),
            )
        )
    return mounts, problems


def _plain(text: str) -> str:
    """Without the kernel's octal escapes, and fit to be printed."""
    plain = ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
    return plain.encode("utf-8", "replace").decode("utf-8")

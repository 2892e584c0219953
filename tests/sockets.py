"""Which addresses the processes of a test listen on, as the kernel has them."""

import re
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
LISTENING = "0A"


def listening_below(root: int) -> dict[tuple[str, int], int]:
    """The process of each address and port that a process or one of its descendants listens on."""
    owners = {inode: pid for pid in _with_descendants(root) for inode in _sockets_of(pid)}
    return {
        address: owners[inode]
        for name in ("tcp", "tcp6")
        for address, inode in _listeners(PROC / "net" / name)
        if inode in owners
    }


def _with_descendants(root: int) -> set[int]:
    parents = {}
    for entry in PROC.glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _sockets_of(pid: int) -> Iterator[str]:
    try:
        descriptors = list((PROC / str(pid) / "fd").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            match = re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink()))
        except OSError:
            continue
        if match:
            yield match[1]


def _listeners(table: Path) -> Iterator[tuple[tuple[str, int], str]]:
    for line in table.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == LISTENING:
            host, _, port = fields[1].partition(":")
            yield (_address(host), int(port, 16)), fields[9]


def _address(text: str) -> str:
    """The kernel writes each four bytes as a number of the machine."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)

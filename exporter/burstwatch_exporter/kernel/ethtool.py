"""Asks the kernel for a network driver's own statistics, as ``ethtool -S`` does. It needs no privilege.

The structures are those of ``linux/ethtool.h``: https://www.kernel.org/doc/html/latest/networking/statistics.html (2026-11)
"""

import array
import fcntl
import socket
import struct

SIOCETHTOOL, SIOCGIFHWADDR = 0x8946, 0x8927
#: A request by an interface's name; the address stands behind its family of two bytes.
REQUEST_BYTES, ADDRESS_AT, ADDRESS_BYTES = 40, 18, 6
#: Commands, and the set of names of the statistics.
GSTRINGS, GSTATS, GSSET_INFO, SS_STATS = 0x1B, 0x1D, 0x37, 1
NAME_BYTES, INTERFACE_BYTES = 32, 15
#: No driver has more; what is read of it is no count.
MOST = 65_536
SET_HEAD, STRINGS_HEAD, STATS_HEAD = (
    struct.Struct("=IIQI"),
    struct.Struct("=III"),
    struct.Struct("=II"),
)


def read_address(interface: str) -> str:
    """The hardware address of an interface of this network namespace, as /sys writes it.

    Raises:
        OSError: if there is no such interface.
    """
    request = struct.pack(f"{REQUEST_BYTES}s", interface.encode()[:INTERFACE_BYTES])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        answer = fcntl.ioctl(asking, SIOCGIFHWADDR, request)
    return answer[ADDRESS_AT : ADDRESS_AT + ADDRESS_BYTES].hex(":")


def read_statistics(interface: str) -> dict[str, int]:
    """The statistics of an interface by their names.

    Raises:
        OSError: if there is no such interface, or its driver has none.
        ValueError: if it answers what cannot be.
    """
    if not 0 < len(interface.encode()) <= INTERFACE_BYTES:
        msg = f"{interface!r} is no name of an interface"
        raise ValueError(msg)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        count = _count(asking, interface)
        strings = bytearray(STRINGS_HEAD.size + count * NAME_BYTES)
        STRINGS_HEAD.pack_into(strings, 0, GSTRINGS, SS_STATS, count)
        _ask(asking, interface, strings)
        values = bytearray(STATS_HEAD.size + count * 8)
        STATS_HEAD.pack_into(values, 0, GSTATS, count)
        _ask(asking, interface, values)
    begin = STRINGS_HEAD.size
    names = [
        bytes(strings[at : at + NAME_BYTES]).partition(b"\0")[0].decode("ascii", "replace")
        for at in range(begin, begin + count * NAME_BYTES, NAME_BYTES)
    ]
    return dict(zip(names, struct.unpack_from(f"={count}Q", values, STATS_HEAD.size), strict=True))


def _count(asking: socket.socket, interface: str) -> int:
    """How many statistics there are."""
    request = bytearray(SET_HEAD.size)
    SET_HEAD.pack_into(request, 0, GSSET_INFO, 0, 1 << SS_STATS, 0)
    _ask(asking, interface, request)
    _, _, mask, count = SET_HEAD.unpack_from(request)
    if not mask:
        return 0
    if count > MOST:
        msg = f"{interface} has {count} statistics, which cannot be"
        raise ValueError(msg)
    return int(count)


def _ask(asking: socket.socket, interface: str, request: bytearray) -> None:
    """Let the kernel fill a request in, whose address it is given."""
    data = array.array("B", request)
    address, _ = data.buffer_info()
    fcntl.ioctl(asking, SIOCETHTOOL, struct.pack("16sP", interface.encode(), address))
    request[:] = data.tobytes()

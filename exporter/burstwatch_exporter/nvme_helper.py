"""The only part with a privilege: reads log page 0xD0 of NVMe disks, and hands it on.

The kernel lets nobody without CAP_SYS_ADMIN read a log page, so this is a program of its own:
it listens on a Unix socket, takes one line with a disk's name, and answers with ``ok`` and 4,096 bytes
or with one line that says what went wrong. It imports nothing but the standard library, interprets
nothing of the page, can read nothing else, and asks a disk at most once a second.
"""

import argparse
import ctypes
import fcntl
import os
import re
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import NoReturn

NAME = re.compile(rb"nvme\d{1,4}n\d{1,4}")
PAGE_BYTES = 4096
#: From the kernel's linux/nvme_ioctl.h: the admin command, and its structure.
NVME_IOCTL_ADMIN_CMD = 0xC0484E41
COMMAND = struct.Struct("=BBH3I2Q2I6I2I")
GET_LOG_PAGE, LOG_ID, NAMESPACE = 0x02, 0xD0, 1
#: AWS counts 1,024 words of four bytes here, one more than the NVMe standard would.
WORDS = 1024
#: AWS: a page is good for a second, and earlier questions queue behind other commands.
FRESH_S = 1.0
PATIENCE_S = 5.0
#: systemd passes a socket as this.
FIRST_PASSED = 3


def read_page(device: str) -> bytes:
    """The log page of a device.

    Raises:
        OSError: if it cannot be opened or asked.
    """
    data = ctypes.create_string_buffer(PAGE_BYTES)
    command = bytearray(
        COMMAND.pack(
            GET_LOG_PAGE, 0, 0, NAMESPACE, 0, 0, 0, ctypes.addressof(data), 0, PAGE_BYTES,
            LOG_ID | WORDS << 16, 0, 0, 0, 0, 0, 0, 0,
        )
    )  # fmt: skip
    handle = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = fcntl.ioctl(handle, NVME_IOCTL_ADMIN_CMD, command)
    finally:
        os.close(handle)
    if status:
        msg = f"NVMe status {status:#x}"
        raise OSError(msg)
    return data.raw


class Helper:
    """Answers one line at a time."""

    def __init__(self, read: Callable[[str], bytes], clock: Callable[[], float]) -> None:
        """``read`` gives a device's page, ``clock`` seconds."""
        self._read, self._clock = read, clock
        self._pages: dict[bytes, tuple[float, bytes]] = {}

    def answer(self, line: bytes) -> bytes:
        """The answer to a line."""
        name = line.strip()
        if NAME.fullmatch(name) is None:
            return b"error: no name of an NVMe disk\n"
        at, page = self._pages.get(name, (-FRESH_S, b""))
        now = self._clock()
        if now - at >= FRESH_S:
            try:
                page = self._read(f"/dev/{name.decode()}")
            except OSError as error:
                return f"error: {error.strerror or error}\n".encode()
            self._pages[name] = (now, page)
        return b"ok\n" + page

    def serve_one(self, listener: socket.socket) -> None:
        """Answer whoever comes next; one who says nothing is let go."""
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(PATIENCE_S)
            try:
                line = connection.recv(64)
                connection.sendall(self.answer(line))
            except OSError:
                return


def open_socket(path: str, env: dict[str, str]) -> socket.socket:
    """The socket that systemd passed, or one of its own at ``path``.

    Raises:
        OSError: if it cannot be made.
    """
    if env.get("LISTEN_PID") == str(os.getpid()) and env.get("LISTEN_FDS") == "1":
        return socket.socket(fileno=FIRST_PASSED)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.path.exists(path):  # noqa: PTH110 - nothing more is imported here
        os.unlink(path)  # noqa: PTH108 - as above
    before = os.umask(0o117)  # its group may ask, nobody else
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen()
    return listener


def main() -> NoReturn:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(prog="burstwatch-nvme-helper", description=__doc__)
    parser.add_argument("--socket", default="/run/burstwatch-exporter/nvme.sock")
    try:
        listener = open_socket(parser.parse_args().socket, dict(os.environ))
    except OSError as error:
        sys.exit(f"burstwatch-nvme-helper: {error}")
    helper = Helper(read_page, time.monotonic)
    while True:
        helper.serve_one(listener)


if __name__ == "__main__":
    main()

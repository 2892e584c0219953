"""The only part with a privilege: reads log page 0xD0 of NVMe disks, and hands it on.

The kernel lets nobody without CAP_SYS_ADMIN read a log page, so this is a program of its own:
it listens on a Unix socket, takes one line with a disk's name, and answers with ``ok`` and 4,096 bytes
or with one line that says what went wrong. It imports nothing but the standard library, interprets
nothing of the page, can read nothing else, and asks a disk at most once a second. Clients are served side
by side: one that is silent, or a disk that hangs, holds nobody else up.
"""

import argparse
import ctypes
import errno
import fcntl
import os
import re
import socket
import stat
import struct
import sys
import threading
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
#: A client has so long for its line and for our answer, and waits so long for a disk that another has asked.
CLIENT_WITHIN_S = 1.0
#: More clients than this at a time are closed at once.
MOST_CLIENTS = 32
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
    """Answers one line of each client."""

    def __init__(self, read: Callable[[str], bytes], clock: Callable[[], float]) -> None:
        """``read`` gives a device's page, ``clock`` seconds."""
        self._read, self._clock = read, clock
        self._pages: dict[bytes, tuple[float, bytes]] = {}
        self._locks: dict[bytes, threading.Lock] = {}
        self._seats = threading.BoundedSemaphore(MOST_CLIENTS)

    def answer(self, line: bytes) -> bytes:
        """The answer to a line."""
        name = line.strip()
        if NAME.fullmatch(name) is None:
            return b"error: no name of an NVMe disk\n"
        lock = self._locks.setdefault(name, threading.Lock())
        if not lock.acquire(timeout=CLIENT_WITHIN_S):
            return b"error: the disk has not answered an earlier question yet\n"
        try:
            return b"ok\n" + self._page(name)
        except OSError as error:
            # Nothing is kept of names that are no disks' here, of which there are a hundred million.
            self._locks.pop(name, None)
            self._pages.pop(name, None)
            return f"error: {error.strerror or error}\n".encode()
        finally:
            lock.release()

    def _page(self, name: bytes) -> bytes:
        """A disk's page, which is asked for at most once a second."""
        at, page = self._pages.get(name, (-FRESH_S, b""))
        now = self._clock()
        if now - at >= FRESH_S:
            page = self._read(f"/dev/{name.decode()}")
            self._pages[name] = (now, page)
        return page

    def serve_one(self, listener: socket.socket) -> None:
        """Take whoever comes next, and answer in a thread of its own."""
        connection, _ = listener.accept()
        if not self._seats.acquire(blocking=False):
            connection.close()
            return
        threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one client; one who says nothing is let go."""
        try:
            with connection:
                connection.settimeout(CLIENT_WITHIN_S)
                line = connection.recv(64)
                connection.sendall(self.answer(line))
        except OSError:
            return
        finally:
            self._seats.release()


def open_socket(path: str, env: dict[str, str]) -> socket.socket:
    """The socket that systemd passed, or one of its own at ``path``.

    Raises:
        OSError: if it cannot be made.
    """
    if env.get("LISTEN_PID") == str(os.getpid()) and env.get("LISTEN_FDS") == "1":
        return socket.socket(fileno=FIRST_PASSED)
    _remove_dead_socket(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o117)  # its group may ask, nobody else
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen()
    return listener


def _remove_dead_socket(path: str) -> None:
    """Take away the socket that a helper before this one has left.

    Raises:
        OSError: if there is something else, or a helper that still answers.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise OSError(errno.EEXIST, "is there, and is no socket", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(CLIENT_WITHIN_S)
        try:
            asking.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)  # noqa: PTH108 - nothing more is imported here
        else:
            raise OSError(errno.EADDRINUSE, "another helper answers at", path)


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

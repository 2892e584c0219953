"""A program on a real terminal: what it shows, also after the terminal has become narrower, and how it ends."""

import os
import pty
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from struct import pack
from termios import TIOCSWINSZ

PATIENCE_S = 180.0


def resize(terminal: int, *, rows: int, columns: int) -> None:
    ioctl(terminal, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))


def top_until_q(words: Sequence[bytes], env: Mapping[str, str], *arguments: str) -> bytes:
    """What ``burstwatch top`` shows until all words are there, twice: at 100 columns, then at 80. Then q ends it."""
    ours, theirs = pty.openpty()
    resize(theirs, rows=24, columns=100)
    child = subprocess.Popen(
        [sys.executable, "-m", "burstwatch", "top", *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1", **env},
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE_S

    def read_until(wanted: Sequence[bytes]) -> bytes:
        seen = b""
        with selectors.DefaultSelector() as selector:
            selector.register(ours, selectors.EVENT_READ)
            while not all(word in seen for word in wanted):
                assert time.monotonic() < deadline, f"not shown: {wanted}, but {seen[-2_000:]!r}"
                if selector.select(1.0):
                    seen += os.read(ours, 65_536)
        return seen

    try:
        seen = read_until(words)
        resize(theirs, rows=24, columns=80)
        child.send_signal(signal.SIGWINCH)
        seen += read_until(words)
        os.write(ours, b"q")
        os.close(theirs)
        with suppress(OSError):  # it closes its end
            while time.monotonic() < deadline and os.read(ours, 65_536):
                pass
        assert child.wait(60) == 0
        return seen
    finally:
        child.kill()
        child.wait(60)
        os.close(ours)

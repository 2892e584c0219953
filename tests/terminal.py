"""A program on a real terminal: what it shows, also after the terminal has become narrower, and how it ends."""

import os
import pty
import re
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

from burstwatch.formatting import width_of

PATIENCE_S = 180.0
#: The widths that are looked at, and one on which nothing is wrapped.
WIDTHS, WIDEST = (60, 80, 100, 120), 400
ESCAPE = re.compile(r"\033\[[\d;?]*[A-Za-z]")
#: What is drawn, and not written.
DRAWN = re.compile(r"[\u2580-\u28ff]")


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


def shown_by(arguments: Sequence[str], *, columns: int, env: Mapping[str, str]) -> str:
    """All that Python prints with these arguments on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    resize(theirs, rows=24, columns=columns)
    clean = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}  # fmt: skip
    child = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env={**clean, "TERM": "xterm-256color", **env},
    )  # fmt: skip
    os.close(theirs)
    text = b""
    with suppress(OSError):  # Linux says so when the other end is closed
        while part := os.read(ours, 65_536):
            text += part
    os.close(ours)
    child.wait(60)
    return text.decode().replace("\r\n", "\n")


def misfits(text: str, whole: str, *, columns: int) -> list[str]:
    """Lines of a screen that are wider than it, and pieces of words; ``whole`` is the same where nothing is wrapped.

    A table of that width is one of paragraphs on a narrow screen, what is left out stands in no line, and an
    address that is longer than the screen is in pieces.
    """
    lines = [line.rpartition("\r")[2] for line in ESCAPE.sub("", text).split("\n")]
    words = {word for word in ESCAPE.sub("", whole).split() if len(word) <= columns - 8}
    strange = {
        word
        for line in lines
        for word in line.split()
        if len(word) > 3 and not DRAWN.search(word) and not word.endswith(("…", "\\", ":"))
    }
    pieces = {
        word
        for word in strange - words
        if any(known.startswith(word) and known != word for known in words)
    }
    return [line for line in lines if width_of(line) > columns] + sorted(pieces)

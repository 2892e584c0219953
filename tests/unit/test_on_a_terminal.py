"""What commands print on a real pseudo-terminal of each width: it fits, breaks no word, and obeys NO_COLOR."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import pytest

from burstwatch.formatting import width_of
from tests.terminal import resize

pytestmark = pytest.mark.slow
COMMANDS = (
    "",
    "--help",
    "explain --help",
    "explain --example",
    "explain --example --verbose",
    "advise --example",
    "catalog",
    "whatif --type gp2 --size-gib 100 --iops 3000",
    "whatif --type nothing --size-gib 100 --iops 3000",
)
ESCAPE = re.compile(r"\033\[[\d;?]*[A-Za-z]")


def seen(command: str, *, columns: int, **env: str) -> str:
    """All that a command prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    resize(theirs, rows=24, columns=columns)
    clean = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}  # fmt: skip
    child = subprocess.Popen(
        [sys.executable, "-m", "burstwatch", *command.split()],
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


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_line_fits_and_no_word_is_broken(command: str, columns: int) -> None:
    lines = ESCAPE.sub("", seen(command, columns=columns)).split("\n")
    assert [line for line in lines if width_of(line) > columns] == []
    # An address that is longer than the terminal is in pieces.
    words = {word for line in ESCAPE.sub("", seen(command, columns=400)).split("\n") for word in line.split()}  # fmt: skip
    drawn = re.compile(r"[\u2580-\u28ff]")
    strange = {
        word
        for line in lines
        for word in line.split()
        if word not in words and not drawn.search(word) and not word.endswith(("…", "\\", ":"))
    }
    # A table of 400 columns is one of paragraphs on 60, and what is left out stands in no line.
    assert {word for word in strange if any(word != whole and whole.startswith(word) and len(word) > 3 and len(whole) <= columns - 8 for whole in words)} == set()  # fmt: skip


@pytest.mark.parametrize("command", ["explain --example", "explain --example --every-period"])
def test_who_asks_for_no_colour_gets_no_escape(command: str) -> None:
    assert "\033[" in seen(command, columns=80)
    assert "\033[" not in seen(command, columns=80, NO_COLOR="1")

"""Checks a file before it is written."""

from collections.abc import Iterable
from pathlib import Path

from burstwatch.recordings.reading import STDIN

#: The file behind standard input: `burstwatch explain - < FILE` reads FILE.
STDIN_FILE = Path("/dev/stdin")


def check_target(target: str, *, inputs: Iterable[str]) -> None:
    """Refuse a file to write before the work for it begins.

    Raises:
        ValueError: if it has no name, is a folder, lies in none, or is one of the ``inputs``.
    """
    if not target:
        msg = "the file to write has no name"
        raise ValueError(msg)
    path = Path(target)
    if path.is_dir() or not path.parent.is_dir():
        problem = (
            "is a folder"
            if path.is_dir()
            else f"cannot be written: there is no folder {path.parent}"
        )
        msg = f"{target} {problem}"
        raise ValueError(msg)
    for input_name in inputs:
        source = STDIN_FILE if input_name == STDIN else Path(input_name)
        if path.exists() and source.exists() and path.samefile(source):
            msg = f"{target} is the input, which is never overwritten: choose another file"
            raise ValueError(msg)

"""Makes results printable: JSON for machines, colours for verdicts; checks a file before it is written."""

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO

from burstwatch.recordings.reading import STDIN


def to_json(value: object) -> str:
    """One line of JSON in ASCII, for names may have characters that a terminal obeys. A dataclass is an object, and "never" is null."""
    return json.dumps(_plain(value), allow_nan=False)


#: The file behind standard input: `burstwatch explain - < FILE` reads FILE.
STDIN_FILE = Path("/dev/stdin")
#: The colours of a terminal by verdict, as its own theme shows them.
COLORS = {
    "ok": "32",
    "watch": "34",
    "warning": "33",
    "critical": "1;31",
    "exhausted": "1;35",
    "unknown": "90",
    "not_watched": "90",
}


def painter(stdout: TextIO, env: Mapping[str, str]) -> Callable[[str], str]:
    """Colour the cells that are a verdict: on a terminal, unless NO_COLOR or TERM=dumb is set."""
    if not stdout.isatty() or env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return lambda cell: cell

    def paint(cell: str) -> str:
        code = COLORS.get(cell.partition(",")[0].strip().replace(" ", "_"))
        return f"\033[{code}m{cell}\033[0m" if code else cell

    return paint


def terminal_columns(stdout: TextIO, env: Mapping[str, str]) -> int | None:
    """How many columns a terminal shows, or None on a pipe, where nothing is cut."""
    if not stdout.isatty():
        return None
    stated = env.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        return os.get_terminal_size(stdout.fileno()).columns
    except (OSError, ValueError):
        return None


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


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Turn dataclasses into objects and numbers that JSON lacks into null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

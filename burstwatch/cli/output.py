"""Makes results printable: JSON for machines, colours for verdicts."""

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TextIO


def to_json(value: object) -> str:
    """One line of JSON in ASCII, for names may have characters that a terminal obeys. A dataclass is an object, and "never" is null."""
    return json.dumps(_plain(value), allow_nan=False)


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
    paint = verdict_painter(stdout, env)
    return lambda cell: paint(cell, cell.partition(",")[0].strip().replace(" ", "_"))


def verdict_painter(stdout: TextIO, env: Mapping[str, str]) -> Callable[[str, str], str]:
    """Colour a text by the verdict that is named: on a terminal, unless NO_COLOR or TERM=dumb is set."""
    if not stdout.isatty() or env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return lambda text, _: text

    def paint(text: str, verdict: str) -> str:
        code = COLORS.get(verdict)
        return f"\033[{code}m{text}\033[0m" if code else text

    return paint


def columns_of(stream: TextIO, env: Mapping[str, str]) -> int | None:
    """How many columns a terminal shows, or None on a pipe, where nothing is cut or folded."""
    try:
        is_terminal = stream.isatty()
    except ValueError:  # closed by whoever reads it
        is_terminal = False
    if not is_terminal:
        return None
    stated = env.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    try:
        # A terminal that nobody has told its size says 0.
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


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

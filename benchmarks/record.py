"""Stores the figures of the benchmarks, a record a line, so that a change can be read in a diff."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
#: Characters of the longest record that still is one line.
WIDEST = 600


def keep(name: str, record: object) -> None:
    """Write one benchmark's figures to its file."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(as_lines(rounded(record)) + "\n", encoding="utf-8")


def record_of(name: str) -> Any:  # noqa: ANN401 - as the benchmark wrote it
    """One benchmark's figures as they are kept."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def as_lines(value: object, indent: str = "") -> str:
    """JSON in which each value that is not too wide for it has one line."""
    line = json.dumps(value)
    if len(line) <= WIDEST and indent:
        return line
    inner = f"{indent} "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {as_lines(part, inner)}" for key, part in value.items()]
        opening, closing = "{}"
    elif isinstance(value, list):
        parts = [as_lines(part, inner) for part in value]
        opening, closing = "[]"
    else:
        return line
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def rounded(value: object) -> object:
    """A record with six digits of each number: more of them are noise."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {str(key): rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return value

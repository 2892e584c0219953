"""Prints results: JSON for machines, words and tables for people."""

import json
import math
from dataclasses import asdict, is_dataclass
from typing import Any


def to_json(value: object) -> str:
    """One line of JSON. A dataclass is an object, and "never" is null."""
    return json.dumps(_plain(value), allow_nan=False, ensure_ascii=False)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

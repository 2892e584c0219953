"""JSON that is taken at its word, and nothing else for it: what the readers of files share."""

from __future__ import annotations


def refuse_constant(name: str) -> float:
    """For ``parse_constant``: Infinity and NaN are Python's, and no JSON.

    Raises:
        ValueError: always.
    """
    msg = f"{name} is no number"
    raise ValueError(msg)


def as_text(value: object) -> str:
    """A text.

    Raises:
        TypeError: if it is anything else.
    """
    if not isinstance(value, str):
        msg = f"{value!r} is no text"
        raise TypeError(msg)
    return value

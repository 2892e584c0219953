"""JSON that is taken at its word, and nothing else for it: what the readers of files share."""

from __future__ import annotations

import math

#: What reading a file of another shape than is expected may raise.
ODD = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)


def refuse_constant(name: str) -> float:
    """For ``parse_constant``: Infinity and NaN are Python's, and no JSON.

    Raises:
        ValueError: always.
    """
    msg = f"{name} is no number"
    raise ValueError(msg)


def finite(text: str) -> float:
    """For ``parse_float``: 1e999 is no number either, and could not be written again.

    Raises:
        ValueError: if it is too large.
    """
    value = float(text)
    if not math.isfinite(value):
        msg = f"{text} is too large"
        raise ValueError(msg)
    return value


def as_text(value: object) -> str:
    """A text.

    Raises:
        TypeError: if it is anything else.
    """
    if not isinstance(value, str):
        msg = f"{value!r} is no text"
        raise TypeError(msg)
    return value

"""Defines one published number beside its promise."""

from dataclasses import dataclass

#: Further apart than this, as a share, needs an explanation.
APART = 0.1
TYPES = {"magnetic": "standard"}
Row = dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One published number. ``promised`` is None where nothing is, and ``reason`` says why.

    ``what`` and ``unit`` say what the number is.
    """

    table: str
    row: str
    what: str
    unit: str
    published: float
    promised: float | None
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """Published by promised."""
        return None if self.promised is None else self.published / self.promised

    @property
    def is_apart(self) -> bool:
        """Whether it needs an explanation."""
        return self.ratio is None or abs(self.ratio - 1) > APART

"""So much and no more, shared by what runs at once."""

from __future__ import annotations

from threading import Lock


class Allowance:
    """What is left to be taken. First come, first served."""

    def __init__(self, left: float) -> None:
        """``left`` may be infinite."""
        self._left, self._lock = left, Lock()

    @property
    def left(self) -> float:
        """What nobody has taken yet."""
        return self._left

    def take(self, count: int) -> int:
        """As many of ``count`` as are left, which are now taken."""
        with self._lock:
            granted = int(min(count, self._left))
            self._left -= granted
        return granted

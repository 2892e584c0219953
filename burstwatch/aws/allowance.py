"""So much and no more, shared by what runs at once."""

from __future__ import annotations

from threading import Lock


class Allowance:
    """What is left to be taken. First come, first served."""

    def __init__(self, left: float) -> None:
        """``left`` may be infinite; what is less than nothing is nothing."""
        self._left, self._lock = max(0.0, left), Lock()
        #: What was asked for and not there.
        self.refused = 0

    def take(self, count: int) -> int:
        """As many of ``count`` as are left, which are now taken."""
        with self._lock:
            granted = int(min(count, self._left))
            self._left -= granted
            self.refused += count - granted
        return granted

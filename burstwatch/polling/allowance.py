"""So much and no more, shared by what runs at once."""

import math
from threading import Lock


class Allowance:
    """A number of metrics to share. First come, first served."""

    def __init__(self, available: float = math.inf) -> None:
        """Less than nothing counts as nothing."""
        self._left, self._lock = max(0.0, available), Lock()
        self.is_limited = available < math.inf
        #: Metrics that were granted, and that were refused.
        self.taken = self.refused = 0

    @property
    def left(self) -> float:
        """The number that can still be taken, which may be infinite."""
        return self._left

    def refuse(self, count: int) -> None:
        """Count what is not even asked for, as there would not be enough."""
        with self._lock:
            self.refused += count

    def take(self, count: int) -> int:
        """As many of ``count`` as are left, which are now taken."""
        with self._lock:
            granted = int(min(count, self._left))
            self._left -= granted
            self.taken += granted
            self.refused += count - granted
        return granted

    def give_back(self, count: int) -> None:
        """Return what was taken and then not needed."""
        with self._lock:
            self._left += count
            self.taken -= count

"""Measures how fast a disk moves, over a second at least."""

from burstwatch.ebs.load import MIB, Load
from burstwatch_exporter.diskstats import Counters

SHORTEST_S = 1.0
STILL = Load(read_iops=0.0, write_iops=0.0, read_mib_s=0.0, write_mib_s=0.0)


class Rate:
    """The newest load of one disk."""

    def __init__(self, at: float, counters: Counters) -> None:
        """Nothing is known of the time before ``at``."""
        self._at, self._counters = at, counters
        self.load = STILL

    def note(self, at: float, counters: Counters) -> None:
        """A later reading; counters that began anew say nothing of the time until then."""
        seconds = at - self._at
        if seconds < SHORTEST_S:
            return
        done = counters.since(self._counters)
        self._at, self._counters, self.load = at, counters, STILL
        if done is not None:
            self.load = Load(
                read_iops=done.read_ops / seconds,
                write_iops=done.write_ops / seconds,
                read_mib_s=done.read_bytes / MIB / seconds,
                write_mib_s=done.write_bytes / MIB / seconds,
            )

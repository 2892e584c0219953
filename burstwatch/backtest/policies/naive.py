"""Time to empty at the rate of the last five minutes: what one writes first."""

from dataclasses import dataclass

from burstwatch.backtest.evaluate import Known
from burstwatch.history.observations import Observation

WINDOW_S = 300.0
SOON_S = 1_800.0


@dataclass(frozen=True, kw_only=True)
class Naive:
    """Fires where the balance lasts less than half an hour at the last five minutes' rate."""

    name: str = "naive 30 min"
    help: str = "empty within 30 min at the rate of the last 5"

    def fires(self, seen: Observation, known: Known) -> bool:
        """Whether it would be empty by then."""
        del known
        history = seen.history
        newest = history.newest_level() if history else -1
        if history is None or newest < 0:
            return False
        rate = history.likely.mean(history.size, history.slots(WINDOW_S))
        net = rate - history.bucket.refill
        left = history.levels[newest] * history.bucket.capacity
        return net > 0 and left / net < SOON_S


POLICIES = (Naive(),)

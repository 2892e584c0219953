"""The alarm that everybody has: the balance under a threshold."""

from dataclasses import dataclass

from burstwatch.backtest.evaluate import Known
from burstwatch.history.observations import Observation


@dataclass(frozen=True, kw_only=True)
class Static:
    """Fires while the newest balance is under ``ratio``."""

    name: str
    help: str
    ratio: float

    def fires(self, seen: Observation, known: Known) -> bool:
        """Whether the newest datapoint is under the threshold."""
        del known
        history = seen.history
        newest = history.newest_level() if history else -1
        return history is not None and newest >= 0 and history.levels[newest] < self.ratio


def static(percent: float) -> Static:
    """The rule for one threshold."""
    name = f"static {percent:g} %"
    return Static(name=name, help=f"balance under {percent:g} %", ratio=percent / 100)


POLICIES = (static(20), static(40), static(50))

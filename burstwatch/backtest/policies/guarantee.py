"""The guarantee alone: page whenever the worst case is within the margin."""

from dataclasses import dataclass

from burstwatch.backtest.evaluate import Known
from burstwatch.history.observations import Observation


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Misses nothing, and pages for every low balance."""

    name: str = "guarantee"
    help: str = "worst case within lead, data age and sweep period"

    def fires(self, seen: Observation, known: Known) -> bool:
        """Whether even now a full burst could be too fast."""
        history = seen.history
        if history is None or history.newest_level() < 0:
            return False
        return history.worst_s() < known.config.margin_s + history.level_age_s(seen.at)


POLICIES = (Guarantee(),)

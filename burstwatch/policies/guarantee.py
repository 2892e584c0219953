"""The guarantee alone: page whenever the worst case is within the margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstwatch.risk import level_floor

if TYPE_CHECKING:
    from burstwatch.backtest import Known
    from burstwatch.observe import Observation


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Misses nothing, and pages for every low balance."""

    name: str = "guarantee"
    help: str = "worst case within lead, data age and sweep period"

    def fires(self, seen: Observation, known: Known) -> bool:
        """Whether even now a full burst could be too fast."""
        history = seen.history
        newest = history.newest_level() if history else -1
        if history is None or newest < 0 or not history.bucket.can_drain:
            return False
        age_s = seen.at - history.start_s - (newest + 1) * history.period_s
        worst_s = level_floor(history) / (history.bucket.burst - history.bucket.refill)
        return worst_s < known.config.margin_s + age_s


POLICIES = (Guarantee(),)

"""The oracle: knows when the bucket runs dry, and pages just in time. Nothing can do better."""

from dataclasses import dataclass

from burstwatch.backtest.evaluate import Known
from burstwatch.history.observations import Observation


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """Fires from the margin before each exhaustion until the level is back."""

    name: str = "oracle"
    help: str = "knows the future"

    def fires(self, seen: Observation, known: Known) -> bool:
        """Whether an incident is on, or begins within the margin."""
        margin_s = known.config.margin_s
        return any(
            event.empty_s - margin_s <= seen.at < event.recovered_s for event in known.events
        )


POLICIES = (Oracle(),)

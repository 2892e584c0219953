"""Pages as the sweep does: when the verdict is critical or exhausted."""

from dataclasses import dataclass

from burstwatch.backtest.evaluate import Truth
from burstwatch.forecast.chance import MODEL, Model
from burstwatch.forecast.margins import margins_of
from burstwatch.forecast.policy import assess, is_far
from burstwatch.history.observations import Observation, Verdict


@dataclass(frozen=True, kw_only=True)
class Burstwatch:
    """The policy of ``policy.py``, with its own weights or others."""

    name: str = "burstwatch"
    help: str = "worst case near, and the demand likely to empty it"
    model: Model = MODEL

    def judge(self, observation: Observation, truth: Truth) -> Verdict:
        """The sweep's verdict."""
        margins = margins_of(observation.resource, truth.config)
        history = observation.history
        if history is not None and is_far(history, observation.at, truth.config, margins):
            return "ok"  # as assess would find, in a tenth of the time
        return assess(observation, truth.config, self.model).verdict


POLICIES = (Burstwatch(),)

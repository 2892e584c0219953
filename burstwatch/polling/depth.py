"""Decides how much of a resource to read, from a glance at its balance.

A verdict rests on hours of levels and of I/O only where the worst case is near. Elsewhere
the newest level alone gives the same one, and nothing more need be asked for.
"""

import math

from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO, WARNING_MARGINS
from burstwatch.history.observations import Observation


def worst_now_s(observation: Observation) -> float:
    """Seconds from now to empty at full burst by the newest level; infinite where none is known."""
    if observation.history is None or observation.history.newest_level() < 0:
        return math.inf
    return max(0.0, observation.history.worst_s() - observation.history.level_age_s(observation.at))


def is_full(observation: Observation) -> bool:
    """True if there is so much in the bucket that nothing else matters."""
    return _newest_ratio(observation) >= BACK_RATIO


def is_near(observation: Observation, config: Config) -> bool:
    """True if what was before the newest level can matter: a hold, a hazard, an incident."""
    if observation.history is None or is_full(observation):
        return False
    own_config = config.with_lead(*observation.resource.leads)
    near_s = WARNING_MARGINS * own_config.margin_s
    return (
        worst_now_s(observation) < near_s
        or _newest_ratio(observation) < observation.history.track.recovered_ratio
    )


def _newest_ratio(observation: Observation) -> float:
    """The newest level, 0 to 1; full where none is known, for nothing can be asked of that."""
    if observation.history is None or observation.history.newest_level() < 0:
        return 1.0
    return observation.history.levels[observation.history.newest_level()]

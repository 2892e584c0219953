"""Decides how much of a resource to read, from a glance at its balance.

A verdict rests on hours of levels and of I/O only where the worst case is near. Elsewhere
the newest level alone gives the same one, and nothing more need be asked for.
"""

import math

from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO, WARNING_MARGINS
from burstwatch.history.observations import Observation


def worst_now_s(seen: Observation) -> float:
    """Seconds from now to empty at full burst by the newest level; infinite where none is known."""
    if seen.history is None or seen.history.newest_level() < 0:
        return math.inf
    return max(0.0, seen.history.worst_s() - seen.history.level_age_s(seen.at))


def is_full(seen: Observation) -> bool:
    """Whether there is so much in the bucket that nothing else matters."""
    return _newest_ratio(seen) >= BACK_RATIO


def is_near(seen: Observation, config: Config) -> bool:
    """Whether what was before the newest level can matter: a hold, a hazard, an incident."""
    if seen.history is None or is_full(seen):
        return False
    own = config.with_lead(*seen.resource.leads)
    near_s = WARNING_MARGINS * own.margin_s
    return worst_now_s(seen) < near_s or _newest_ratio(seen) < seen.history.track.recovered_ratio


def _newest_ratio(seen: Observation) -> float:
    """The newest level, 0 to 1; full where none is known, for nothing can be asked of that."""
    if seen.history is None or seen.history.newest_level() < 0:
        return 1.0
    return seen.history.levels[seen.history.newest_level()]

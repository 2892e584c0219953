"""The rules of two lines that our policy is measured against: R, and R8 with a floor under it.

R pages where the worst case is near and what is left is soon spent at the rate of the last five
minutes, at the highest rates of the last hour, or by the demand of the same hours of yesterday or a
week ago. It clears slowly. R8 pages too wherever the worst case is under eight minutes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from burstwatch.backtest.evaluate import Truth
from burstwatch.bucket import time_to_empty
from burstwatch.forecast.demand import quantile
from burstwatch.history.history import History
from burstwatch.history.observations import Observation, Verdict
from burstwatch.history.track import Track

SOON_S, SOON_STALE_S = 1_200.0, 1_800.0
FLOOR_S, FLOOR_STALE_S = 480.0, 720.0
SEASON_S, FAR_S, CALM_S = 1_800.0, 3_600.0, 900.0
DAY_SLOTS = 288


@dataclass(frozen=True, kw_only=True)
class Rule:
    """R or R8."""

    name: str
    help: str
    has_floor: bool
    #: Whether its alarm was on at the moment before, and since when it has been calm, by history.
    states: WeakKeyDictionary[Track, tuple[bool, float]] = field(default_factory=WeakKeyDictionary)

    def judge(self, seen: Observation, known: Truth) -> Verdict:
        """Critical, where its alarm is on. It is asked moment by moment, in order."""
        return "critical" if self._is_on(seen, known) else "ok"

    def _is_on(self, seen: Observation, known: Truth) -> bool:
        history = seen.history
        if history is None or history.newest_slot() < 0:
            return False
        is_stale = history.level_age_s(seen.at) > 0
        near_s = known.config.margin_s + history.level_age_s(seen.at)
        was_on, since = self.states.get(history.track, (False, math.inf))
        if not was_on and history.worst_s() >= near_s:
            return False
        five, ninety, season = self._times(history)
        is_on = history.worst_s() < near_s and (
            min(five, ninety) < (SOON_STALE_S if is_stale else SOON_S) or season
        )
        if self.has_floor:
            is_on = is_on or history.worst_s() < (FLOOR_STALE_S if is_stale else FLOOR_S)
        mean = history.likely.mean(history.size, history.slots(SEASON_S))
        is_calm = mean < history.bucket.refill and ninety > FAR_S and not season
        since = min(since, seen.at) if is_calm else math.inf
        state = is_on or (was_on and seen.at - since < CALM_S - history.period_s)
        self.states[history.track] = (state, since)
        return state

    def _times(self, history: History) -> tuple[float, float, bool]:
        """Seconds to empty at the rate of five minutes and at the highest of an hour; whether the season empties it."""
        bucket, left, hour = history.bucket, history.level_floor(), history.slots(3_600)
        five = history.likely.mean(history.size, history.slots(300))
        rates = sorted(history.likely.by_slot[max(0, history.size - hour) : history.size])
        at_most = min(bucket.burst, quantile(rates, hour, 0.9))
        level, is_empty = left, False
        for rate in _season(history):
            level = min(bucket.capacity, level + (bucket.refill - min(rate, bucket.burst)) * 300)
            is_empty, level = is_empty or level <= 0, max(0.0, level)
        return (
            time_to_empty(bucket, level=left, demand=min(bucket.burst, five)),
            time_to_empty(bucket, level=left, demand=at_most),
            is_empty,
        )


def _season(history: History) -> Iterator[float]:
    """The larger of yesterday's and last week's demand, for each five minutes from now on."""
    past = history.track.past
    if past is None:
        return
    now = round((history.end_s - past.start_s) / past.period_s)
    for slot in range(now, now + round(SEASON_S / past.period_s)):
        before = [slot - days * DAY_SLOTS for days in (1, 7)]
        yield max(past.rates[one] if 0 <= one < now else 0.0 for one in before)


RULES = (
    Rule(name="R", help="worst case near, and soon empty at a recent rate", has_floor=False),
    Rule(name="R8", help="R, or a worst case under eight minutes", has_floor=True),
)

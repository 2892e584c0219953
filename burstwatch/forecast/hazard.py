"""Estimates how likely a bucket runs dry within a horizon. The page is decided on this.

Two witnesses. The *risk* is a logistic score of how the demand of several windows, from
the last minute to the last day, compares with the demand that would empty the bucket
within the horizon; its weights are fitted on recorded workloads (``hazard_weights.json``).
The *repetition* asks the same hours of the days before: on what share of them would what
was spent from this time of the day on have emptied what is left now?
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log
from operator import mul

from burstwatch.bucket import time_to_empty
from burstwatch.forecast.demand import CENSORED, quantile
from burstwatch.forecast.hazard_weights import MODELS, Model
from burstwatch.history.history import History
from burstwatch.history.past import PAST_PERIOD_S, Past, drawn
from burstwatch.history.spending import Sums

MINUTE_S = 60.0
HOUR_S = 3600.0
DAY_S = 86_400.0
#: Windows whose mean demand is compared, in minutes.
MEANS = (1, 3, 5, 15, 30, 60, 180)
FEATURES = (
    *(f"mean_{minutes}" for minutes in MEANS),
    "quantile_90_of_hour",
    "median_of_hour",
    "highest_5_of_hour",
    "highest_15_of_day",
    "at_limit_5",
    "at_limit_15",
    "refill_of_burst",
    "near",
    "fallen_30",
    "repeats",
)
# The logarithm of a ratio is of interest around 0: far below is "no danger" whatever it is.
LOWEST_LOG, HIGHEST_LOG = -1.0, 0.2
LOWEST, HIGHEST = math.exp(LOWEST_LOG), math.exp(HIGHEST_LOG)
# Added to every rate, as a share of the refill, so that nothing spent has a logarithm.
FLOOR = 0.02
DAYS_BACK = 7
FEWEST_DAYS = 2
#: Slots of the past to a day.
DAY_SLOTS = round(DAY_S / PAST_PERIOD_S)
#: Slots of the past beyond the horizon that are looked at too: jobs are not punctual.
SLACK_SLOTS = 3
#: The fine slots cover the last hours of the day that the past is asked for.
RECENT_S = 3 * HOUR_S


def risk(history: History, horizon_s: float, models: Sequence[Model] = MODELS) -> float:
    """The score, 0 to 1, that what is left at the newest level is spent within ``horizon_s``."""
    model = model_for(history.period_s, models)
    found = features(history, horizon_s)
    score = model.intercept + sum(map(mul, model.weights, found))
    return 1.0 / (1.0 + math.exp(-score))


def has_drained(history: History, *, within_s: float = HOUR_S) -> bool:
    """Whether any five minutes of the last hour, or of another time, spent more than came in."""
    end, slots = history.size, history.slots(within_s)
    five = _means(history, 5 * MINUTE_S)
    return max(five[max(0, end - slots) : end]) > history.bucket.refill


def time_at_last_rate(history: History) -> float:
    """Seconds from the newest level to empty at the mean rate of the last five minutes.

    Of two datapoints at least: a single one is not believed.
    """
    seconds = max(5 * MINUTE_S, 2 * history.period_s)
    mean = _means(history, seconds)[history.size - 1]
    return time_to_empty(history.bucket, level=history.level_floor(), demand=mean)


def model_for(period_s: float, models: Sequence[Model] = MODELS) -> Model:
    """The weights for data of this period: those of the nearest period there is."""
    return min(models, key=lambda model: abs(math.log(model.period_s / period_s)))


def features(history: History, horizon_s: float) -> list[float]:
    """The values of ``FEATURES``, each without a unit.

    What a window reaches before the first slot counts as no I/O, for which CloudWatch has
    no datapoint either: one datapoint at full burst is no hour of it.
    """
    bucket, end, windows = history.bucket, history.size, _windows(history)
    left = history.level_floor()
    floor = FLOOR * bucket.refill
    need = bucket.refill + left / horizon_s
    rates, sums = history.likely.by_slot, history.likely.sums.of
    total, hour_slots = sums[end], windows.hour
    hour = rates[max(0, end - hour_slots) : end]
    five = _means(history, 5 * MINUTE_S)
    ordered = sorted(hour)
    compared = [(total - sums[max(0, end - slots)]) / slots for slots in windows.means]
    compared += (
        quantile(ordered, hour_slots, 0.9),
        quantile(ordered, hour_slots, 0.5),
        max(five[max(0, end - hour_slots) : end]),
        _highest_of_day(history),
    )
    found = []
    for rate in compared:
        ratio = (rate + floor) / need
        found.append(
            LOWEST_LOG if ratio < LOWEST else HIGHEST_LOG if ratio > HIGHEST else log(ratio)
        )
    at_limit = _at_limit(history).of
    return [
        *found,
        *((at_limit[end] - at_limit[max(0, end - slots)]) / slots for slots in windows.at_limit),
        bucket.refill / bucket.burst,
        min(1.0, left / (bucket.burst - bucket.refill) / horizon_s),
        _fallen(history, windows.half_hour, left),
        repeats(history, horizon_s),
    ]


def repeats(history: History, horizon_s: float) -> float:
    """The share of the last days on which this time of day would have emptied what is left.

    0 where fewer than two such days are known.
    """
    past = history.track.past
    if past is None:
        return 0.0
    length = int(horizon_s / past.period_s) + SLACK_SLOTS
    level_end_s = history.start_s + (history.newest_level() + 1) * history.period_s
    slot = math.floor((level_end_s - past.start_s) / past.period_s + 1e-6)
    # A horizon of a day would reach into what is still to come.
    if slot - DAY_SLOTS + length > (history.end_s - past.start_s) / past.period_s:
        return 0.0
    key = ("drawn", slot, length)
    by_day = history.track.memory.get(key)
    if not isinstance(by_day, list):
        by_day = history.track.memory[key] = _drawn_by_day(
            past, slot, length, history.bucket.refill
        )
    left = history.level_floor()
    return sum(one >= left for one in by_day) / len(by_day) if len(by_day) >= FEWEST_DAYS else 0.0


def _drawn_by_day(past: Past, slot: int, length: int, refill: float) -> list[float]:
    """The credits beyond the refill that each of the days before took in ``length`` slots from there on."""
    firsts = (slot - day * DAY_SLOTS for day in range(1, DAYS_BACK + 1))
    runs = (past.rates[first : first + length] for first in firsts if first >= 0)
    return [drawn(run, refill) * past.period_s for run in runs if len(run) == length]


def _fallen(history: History, slots: int, left: float) -> float:
    """The fall of the level over ``slots``, as a share of what is left."""
    newest = history.newest_level()
    before = history.cut(max(1, newest - slots + 1)).newest_level()
    if before < 0:
        return 0.0
    capacity = history.bucket.capacity
    fallen = (history.levels[before] - history.levels[newest]) * capacity
    return min(2.0, max(-1.0, fallen / max(left, FLOOR * capacity)))


def _highest_of_day(history: History) -> float:
    """The highest mean over 15 minutes in the day before."""
    means, end = _means(history, 15 * MINUTE_S), history.size
    highest = max(means[max(0, end - _windows(history).recent) : end])
    past = history.track.past
    if past is None:
        return highest
    last = int((history.end_s - RECENT_S / 2 - past.start_s) // past.period_s)
    key = ("highest", last)
    before = history.track.memory.get(key)
    if not isinstance(before, float):
        before = max(past.means[max(0, last - DAY_SLOTS) : max(0, last)], default=0.0)
        history.track.memory[key] = before
    return max(highest, before)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Windows:
    """The windows in slots of one period."""

    means: tuple[int, ...]
    at_limit: tuple[int, ...]
    half_hour: int
    hour: int
    recent: int


def _windows(history: History) -> _Windows:
    known = history.track.memory.get("windows")
    if not isinstance(known, _Windows):
        slots = history.slots
        known = history.track.memory["windows"] = _Windows(
            means=tuple(slots(minutes * MINUTE_S) for minutes in MEANS),
            at_limit=(slots(5 * MINUTE_S), slots(15 * MINUTE_S)),
            half_hour=slots(30 * MINUTE_S),
            hour=slots(HOUR_S),
            recent=slots(RECENT_S),
        )
    return known


def _at_limit(history: History) -> Sums:
    """Running counts of the slots that spent all that the bucket lets through."""
    known = history.track.memory.get("at_limit")
    if not isinstance(known, Sums):
        limit = CENSORED * history.bucket.burst
        counts = accumulate((rate >= limit for rate in history.likely.by_slot), initial=0.0)
        known = history.track.memory["at_limit"] = Sums(list(counts))
    return known


def _means(history: History, seconds: float) -> list[float]:
    """The mean over ``seconds`` up to each slot."""
    known = history.track.means.get(seconds)
    if known is None:
        slots, sums = history.slots(seconds), history.likely.sums.of
        lead = [0.0] * slots + sums
        known = [(b - a) / slots for a, b in zip(lead[1:], sums[1:], strict=False)]
        history.track.means[seconds] = known
    return known

"""Estimates how likely a bucket is to run out within two hours. The page is decided on this.

Each piece of evidence adds its part to a sum, and each sum has its chance. The evidence is the demand of several
windows beside the demand that would empty the bucket within a horizon, and what the volume did in the week before. No
part ever falls when less is left, more is asked for or the horizon is longer, and so neither does the chance.

Both are fitted on recordings (`make fit`): the parts tell the moments apart after which the bucket was empty within the
horizon, and the chance of a sum is the share of its moments after which it ran out within two hours. So a page is
decided by how soon it would have to be told, and what it says is counted as its false pages are.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import log
from typing import Any

from burstwatch.bucket import HOUR_S, MINUTE_S
from burstwatch.forecast.own_past import OwnPast, look_at_past
from burstwatch.history.history import History
from burstwatch.history.observations import Resource

#: A page is right if the bucket runs out within so long after it. The chance is that of this.
FORESIGHT_S = 2 * HOUR_S
FORESIGHT = "within two hours"

#: Windows whose mean demand is compared, in minutes.
MEANS = (1, 5, 15)
QUARTER_S = 15 * MINUTE_S
FEATURES = (
    *(f"mean_{minutes}" for minutes in MEANS),
    "highest_15_of_day",
    "alike",
    "same_hours",
)
# Added to every rate, as a share of the refill, so that nothing spent has a logarithm.
FLOOR = 0.02
#: The longest window; where a past is known, it covers what is older.
LONGEST_WINDOW_S = 3 * HOUR_S


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The amount that one piece of evidence ``adds`` ``at`` a value; linear in between."""

    at: tuple[float, ...]
    adds: tuple[float, ...]

    def of(self, value: float) -> float:
        """The part of a value; outside of ``at`` that of the nearest end."""
        above = bisect_right(self.at, value)
        if above in {0, len(self.at)}:
            return self.adds[min(above, len(self.at) - 1)]
        low, high = self.at[above - 1 : above + 1]
        before, after = self.adds[above - 1 : above + 1]
        return before + (after - before) * (value - low) / (high - low)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The parts in the order of ``FEATURES``, and what their sum means: the ``log_odds`` of running out within two hours."""

    parts: tuple[Part, ...]
    log_odds: Part

    def probability(self, values: Sequence[float]) -> float:
        """The chance that goes with some evidence."""
        total = sum(part.of(value) for part, value in zip(self.parts, values, strict=True))
        return 1.0 / (1.0 + math.exp(-self.log_odds.of(total)))


def parse_model(fitted: Mapping[str, Any]) -> Model:
    """The model that ``make fit`` wrote."""
    return Model(
        parts=tuple(_part(fitted["parts"][name]) for name in FEATURES),
        log_odds=_part(fitted["log_odds"]),
    )


def _part(fitted: Mapping[str, Any]) -> Part:
    return Part(at=tuple(fitted["at"]), adds=tuple(fitted["adds"]))


_FITTED = json.loads((files(__package__) / "chance.json").read_text(encoding="utf-8"))
MODEL = parse_model(_FITTED)
#: The chance from which somebody is paged, by the value of the setting ``page_on``.
PAGED_FROM: Mapping[str, float] = _FITTED["paged_from"]
#: A warning begins where a page would with twice the margin and this chance, whatever ``page_on`` is.
WARNED_FROM = PAGED_FROM["balanced"]


def chance(history: History, horizon_s: float, model: Model = MODEL) -> float:
    """The chance, 0 to 1, that the bucket runs out within two hours, by what would empty it within ``horizon_s``.

    It is true for the horizon that it was fitted with (``Judge.measured_s``), and a worst case within twice of that.
    """
    return model.probability(evidence(history, horizon_s))


def why_no_chance(resource: Resource) -> str:
    """For what credits like these no chance was ever measured, or nothing where it was."""
    if not resource.terms.is_documented or not resource.terms.is_sized:
        return "credits of unpublished size"
    if resource.is_slow:
        return "this kind of credits"
    return ""


def evidence(history: History, horizon_s: float) -> list[float]:
    """The values of ``FEATURES``, each without a unit. There must be a level.

    What a window reaches before the first slot counts as no I/O, for which CloudWatch has
    no datapoint either: one datapoint at full burst is no hour of it.
    """
    bucket, end, past = history.bucket, history.size, look_at_past(history, horizon_s)
    sums, total = history.likely.sums.of, history.likely.sums.of[end]
    means = [
        (total - sums[max(0, end - slots)]) / slots
        for slots in (history.slots(minutes * MINUTE_S) for minutes in MEANS)
    ]
    means.append(_highest_of_day(history, past))
    floor = FLOOR * bucket.refill
    need = bucket.refill + history.level_floor() / horizon_s
    return [
        *(log((mean + floor) / need) for mean in means),
        log(past.alike / (1 - past.alike)),
        past.same_hours,
    ]


def _highest_of_day(history: History, past: OwnPast) -> float:
    """The highest mean over 15 minutes in the day before."""
    means = _quarter_means(history)
    recent = means[max(0, history.size - history.slots(LONGEST_WINDOW_S)) : history.size]
    return max(*recent, past.highest_of_day)


def _quarter_means(history: History) -> list[float]:
    """The mean over 15 minutes up to the end of each slot."""
    slots = history.slots(QUARTER_S)
    return history.track.memo.once(("quarters",), lambda: history.likely.sums.means(slots))

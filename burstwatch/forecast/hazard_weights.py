"""The weights of the hazard: fitted by `make fit`, kept in ``hazard_weights.json``."""

import json
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Weights for datapoints of one period, in the order of ``hazard.FEATURES``."""

    period_s: float
    intercept: float
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """The cost and the benefit of paging from one hazard on, with data of the last minute.

    ``needless_per_week`` are pages of one busy volume with no exhaustion within two
    hours, ``recall`` the share of exhaustions announced 15 minutes before.
    """

    threshold: float
    needless_per_week: float
    recall: float


_FITTED = json.loads((files(__package__) / "hazard_weights.json").read_text(encoding="utf-8"))
MODELS = tuple(
    Model(
        period_s=one["period_s"],
        intercept=one["intercept"],
        weights=tuple(one["weights"].values()),
    )
    for one in _FITTED["models"]
)
#: By rising threshold.
LEVELS = tuple(Level(**one) for one in _FITTED["levels"])


def threshold_for(needless_per_week: float) -> float:
    """The hazard to page from, for so many needless pages; linear between the levels."""
    if needless_per_week >= LEVELS[0].needless_per_week:
        return LEVELS[0].threshold
    for low, high in pairwise(LEVELS):
        if high.needless_per_week <= needless_per_week:
            span = low.needless_per_week - high.needless_per_week
            share = (low.needless_per_week - needless_per_week) / span
            return low.threshold + share * (high.threshold - low.threshold)
    return LEVELS[-1].threshold

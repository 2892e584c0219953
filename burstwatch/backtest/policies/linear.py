"""Linear extrapolation of the balance, as Prometheus' ``predict_linear`` does it."""

import math
from dataclasses import dataclass

from burstwatch.backtest.evaluate import Truth
from burstwatch.history.history import History
from burstwatch.history.observations import Observation, Verdict

WINDOW_S = 3_600.0


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Fires where the least-squares line through the last hour is at 0 within ``ahead_s``.

    As `predict_linear(balance[1h], ahead) < 0`: the line is evaluated from the time of
    the evaluation on, so late data are extrapolated as well.
    """

    name: str
    help: str
    ahead_s: float

    def judge(self, observation: Observation, truth: Truth) -> Verdict:
        """Critical, where the line has crossed zero by then."""
        del truth
        history = observation.history
        if history is None or not history.size:
            return "ok"
        mean_at, mean, slope = line(history)
        return "critical" if mean + slope * (observation.at + self.ahead_s - mean_at) < 0 else "ok"


def line(history: History) -> tuple[float, float, float]:
    """Mean time, mean level and slope of the least-squares line through the last hour."""
    return history.track.memo.once(("line", history.size), lambda: _line(history))


def _line(history: History) -> tuple[float, float, float]:
    """Fit a line to the window's levels by least squares: mean time (s), mean level (inf for none) and slope per second."""
    start = max(0, history.size - history.slots(WINDOW_S))
    points = [
        (slot, level)
        for slot, level in enumerate(history.levels[start : history.size], start=start + 1)
        if level < math.inf
    ]
    if not points:
        return 0.0, math.inf, 0.0
    mean_slot = sum(slot for slot, _ in points) / len(points)
    mean = sum(level for _, level in points) / len(points)
    spread = sum((slot - mean_slot) ** 2 for slot, _ in points)
    lean = sum((slot - mean_slot) * (level - mean) for slot, level in points)
    slope = lean / spread / history.period_s if spread else 0.0
    return history.start_s + mean_slot * history.period_s, mean, slope


def linear(minutes: float) -> Linear:
    """The rule for one horizon."""
    name = f"predict_linear {minutes:g} min"
    text = f"the line through the last hour is at 0 within {minutes:g} min"
    return Linear(name=name, help=text, ahead_s=minutes * 60)


POLICIES = (linear(60), linear(120), linear(240), linear(480))

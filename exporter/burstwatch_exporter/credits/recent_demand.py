"""Keeps recent demand as running sums, so that any window is a difference of two."""

from collections import deque

from burstwatch.bucket import MINUTE_S
from burstwatch.ebs.volumes import Charge
from burstwatch.forecast.demand import (
    CENSORED,
    FAST_WINDOW_S,
    HIGH_QUANTILE,
    SLOW_WINDOW_S,
    Lately,
    quantile,
)
from burstwatch.history.points import Range

STEADY_S = 5.0
MINUTES = round(SLOW_WINDOW_S / MINUTE_S)

RunningTotals = tuple[float, float, float, float]  # time, least, nominal, most


class RecentDemand:
    """Credits spent, by slots of at least ``slot_s`` for five minutes and by minutes for an hour."""

    def __init__(self, *, at: float, slot_s: float) -> None:
        """``at`` is when it begins to look."""
        self._slot_s = slot_s
        self._now: RunningTotals = (at, 0.0, 0.0, 0.0)
        self._slots: deque[RunningTotals] = deque([self._now])
        self._minute = self._now
        self._minutes: deque[float] = deque(maxlen=MINUTES)
        self._hour_high = 0.0

    @property
    def has_looked(self) -> bool:
        """True if there is any time of which it is known what was spent."""
        return self._now[0] > self._slots[0][0]

    def note(self, at: float, charge: Charge) -> None:
        """Note what was spent since the last time."""
        _, least, nominal, most = self._now
        now = self._now = (
            at,
            least + charge.least,
            nominal + charge.nominal,
            most + charge.most,
        )
        slots = self._slots
        if at - slots[-1][0] >= self._slot_s:
            slots.append(now)
            while len(slots) > 3 and slots[1][0] <= at - FAST_WINDOW_S:  # noqa: PLR2004 - a pair has three ends
                slots.popleft()
        if at - self._minute[0] >= MINUTE_S:
            # A gap is a longer minute; it stands for as many as it lasted.
            lasted = max(1, min(MINUTES, int((at - self._minute[0]) // MINUTE_S)))
            self._minutes.extend([_rates(self._minute, now)[1]] * lasted)
            self._minute = now
            self._hour_high = quantile(sorted(self._minutes), MINUTES, HIGH_QUANTILE)

    def lately(self, *, limit: float) -> Lately:
        """The demand to go by now, where ``limit`` is the most that can be served."""
        least, nominal, most = _rates(self._slots[0], self._now)
        hour_mean = nominal
        if self._minutes:
            hour_mean = sum(self._minutes) / len(self._minutes)
        at_limit = False
        slots = self._slots
        if len(slots) > 2:  # noqa: PLR2004 - a pair of slots has three ends
            older, newer = _rates(slots[-3], slots[-2]), _rates(slots[-2], slots[-1])
            least = max(least, min(older[0], newer[0]))
            nominal = max(nominal, min(older[1], newer[1]))
            most = max(most, min(older[2], newer[2]))
            at_limit = min(older[1], newer[1]) >= CENSORED * limit
        return Lately(
            recent=Range(low=least, likely=nominal, high=most),
            hour_mean=hour_mean,
            hour_high=self._hour_high,
            at_limit=at_limit,
        )

    def recent(self) -> float:
        """The likely rate of the last five minutes."""
        return _rates(self._slots[0], self._now)[1]

    def newest(self) -> float | None:
        """The likely rate of the last two slots, or of as many as make ``STEADY_S``; None without.

        A shorter time shows how a limit is kept, and not what it is.
        """
        slots = self._slots
        for back in range(3, len(slots) + 1):
            if slots[-1][0] - slots[-back][0] >= STEADY_S:
                return _rates(slots[-back], slots[-1])[1]
        return None


def _rates(before: RunningTotals, after: RunningTotals) -> tuple[float, float, float]:
    """Least, likely and most rate between two totals, each per second."""
    seconds = after[0] - before[0]
    if seconds <= 0:
        return (0.0, 0.0, 0.0)
    return (
        (after[1] - before[1]) / seconds,
        (after[2] - before[2]) / seconds,
        (after[3] - before[3]) / seconds,
    )

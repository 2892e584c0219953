"""A simulation taken as far as the time has come."""

from collections.abc import Iterator

from burstwatch.backtest.simulate import Datapoint


class Feed:
    """The datapoints of one volume, each given once, when its period is over."""

    def __init__(self, points: Iterator[Datapoint]) -> None:
        """``points`` in order of time."""
        self._points, self._pending = points, next(points, None)

    def until(self, end_s: float) -> list[Datapoint]:
        """Those whose period has ended by then and that were not given before."""
        taken: list[Datapoint] = []
        while self._pending is not None and self._pending.start_s + self._pending.period_s <= end_s:
            taken.append(self._pending)
            self._pending = next(self._points, None)
        return taken

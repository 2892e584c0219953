"""An account's quotas, each a bucket that refills: what comes too fast is refused."""

from collections.abc import Callable
from dataclasses import dataclass, field

#: Calls a second by operation, and how many may come at once. What is not here is EC2's common
#: bucket, or has none. From AWS's pages on CloudWatch's limits and EC2's throttling (2026-04).
CALLS: dict[str, tuple[float, float]] = {
    "GetMetricData": (500, 500),
    "ListMetrics": (25, 25),
    "PutMetricData": (500, 500),
    "PutMetricAlarm": (3, 3),
    "DescribeAlarms": (9, 9),
}
EC2: tuple[float, float] = (20, 100)
#: Datapoints a second that GetMetricData returns, by whether it asks for the last three hours.
RECENT, OLDER = "recent datapoints", "older datapoints"
DATAPOINTS: dict[str, tuple[float, float]] = {RECENT: (180_000, 180_000), OLDER: (396_000, 396_000)}
RECENT_S = 3 * 3_600


@dataclass
class Quotas:
    """``clock`` is the time in which they refill; ``refused`` counts by name.

    ``others`` is the share of EC2's that others in the account take all the time.
    """

    clock: Callable[[], float]
    others: float = 0.0
    refused: dict[str, int] = field(default_factory=dict)
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def takes_call(self, service: str, operation: str) -> bool:
        """Whether a call is let through."""
        if service == "ec2":
            rate, most = ((1 - self.others) * value for value in EC2)
            return self._takes("ec2", rate, most, 1)
        return operation not in CALLS or self._takes(operation, *CALLS[operation], 1)

    def takes_datapoints(self, count: int, *, back_s: float) -> bool:
        """Whether so many may be returned for a question that reaches so far back."""
        name = RECENT if back_s <= RECENT_S else OLDER
        return self._takes(name, *DATAPOINTS[name], count)

    def _takes(self, name: str, rate: float, most: float, count: int) -> bool:
        now = self.clock()
        left, at = self._left.get(name, (most, now))
        left = min(most, left + rate * (now - at))
        # One answer may be as large as its own limit says; the bucket is then in debt.
        is_let = left > 0
        self._left[name] = (left - count if is_let else left, now)
        if not is_let:
            self.refused[name] = self.refused.get(name, 0) + 1
        return is_let

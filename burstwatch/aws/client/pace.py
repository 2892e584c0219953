"""Limits how fast an account is asked, over all threads that ask at once.

A quota is a bucket that refills. A sweep takes no more than its share of it, for others in
the account ask too. Where one call is throttled all the same, all of them pause, and longer
each time. (botocore's adaptive mode would slow down the publishing of alarms as well.)
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from burstwatch.aws.client.session import Deadline
from burstwatch.bucket import HOUR_S
from burstwatch.sources import Figure, Source

LIMITS_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html",
    read="2026-04",
    note="by account and region: GetMetricData by calls, and by datapoints where it asks for the last "
    "three hours and where it asks further back",
)
CALLS = Figure(value=500, unit="1/s", source=LIMITS_PAGE)
EC2_PAGE = Source(
    url="https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html",
    read="2026-04",
    note="by account, region and operation, of those that change nothing and return pages or filter; here "
    "one bucket is taken for all operations of a service. AWS publishes nothing for the listings of other services",
)
LISTINGS = Figure(value=20, unit="1/s", source=EC2_PAGE)
LISTINGS_AT_ONCE = Figure(value=100, unit="", source=EC2_PAGE)
RECENT_POINTS = Figure(value=180_000, unit="1/s", source=LIMITS_PAGE)
OLDER_POINTS = Figure(value=396_000, unit="1/s", source=LIMITS_PAGE)
RECENT_POINTS_S = 3 * HOUR_S
#: The share of the account's quotas that all sweeps of a unit together take.
SHARE = 0.5
#: A call that has to wait waits at least this long before it asks again.
SHORTEST_NAP_S = 0.01
#: All calls pause for so long when one was throttled, and twice as long each further time.
PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0


@dataclass(kw_only=True)
class TokenBucket:
    """Calls that may be made: ``available`` as of ``at``, and ``rate`` more a second up to ``most``. It can be overdrawn."""

    rate: float
    most: float
    available: float
    at: float

    def refill(self, now: float) -> float:
        """Add what has come in since, and return what there is now, no less than nothing."""
        come_in = self.rate * max(0.0, now - self.at)
        self.available, self.at = min(self.most, self.available + come_in), now
        return max(0.0, self.available)

    def wait_s(self, now: float, count: float) -> float:
        """Take ``count``, or say how long until that can be done.

        What is more than the bucket holds leaves a debt.
        """
        self.refill(now)
        needed = min(count, self.most)
        if self.available < needed:
            return SHORTEST_NAP_S + (needed - self.available) / self.rate
        self.available -= count
        return 0.0


@dataclass(kw_only=True)
class Pace:
    """The calls and datapoints of one unit. All its ``shards`` together share what one of them would have."""

    shards: int = 1
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _lock: Lock = field(default_factory=Lock)
    _throttled: int = 0
    _pause_s: float = 0.0
    _not_before: float = 0.0
    _buckets: dict[str, TokenBucket] = field(default_factory=dict)

    def take(self, points: int, *, back_s: float, deadline: Deadline, throttled: int = 0) -> bool:
        """Wait until a call may ask for so many datapoints. False if that is not in time.

        ``throttled`` is how many answers so far have asked for fewer calls.
        """
        name, quota = (
            ("recent", RECENT_POINTS.value)
            if back_s <= RECENT_POINTS_S
            else ("older", OLDER_POINTS.value)
        )
        return (
            self._pause(throttled, deadline)
            and self._take("calls", CALLS.value, 1, deadline)
            and self._take(name, quota, points, deadline)
        )

    def take_page(self, service: str, *, deadline: Deadline, throttled: int = 0) -> bool:
        """Wait until a page of a service's listings may be asked for. False if that is not in time."""
        return self._pause(throttled, deadline) and self._take(
            service, LISTINGS.value, 1, deadline, at_once=LISTINGS_AT_ONCE.value
        )

    def _pause(self, throttled: int, deadline: Deadline) -> bool:
        self._note_throttling(throttled)
        return self._nap(max(0.0, self._not_before - self.clock()), deadline)

    def _note_throttling(self, throttled: int) -> None:
        """Double the pause when calls were throttled since; start over from none after a quiet time."""
        with self._lock:
            now = self.clock()
            if throttled > self._throttled:
                self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s or PAUSE_S)
                self._not_before = now + self._pause_s
            elif now - self._not_before > LONGEST_PAUSE_S:
                self._pause_s = 0.0
            self._throttled = throttled

    def _take(
        self, name: str, quota: float, count: int, deadline: Deadline, *, at_once: float = 0.0
    ) -> bool:
        """``at_once`` is how many the quota takes at once, where that is not those of one second."""
        rate, most = (value * SHARE / self.shards for value in (quota, at_once or quota))
        while True:
            with self._lock:
                now = self.clock()
                bucket = self._buckets.setdefault(
                    name, TokenBucket(rate=rate, most=most, available=most, at=now)
                )
                wait_s = bucket.wait_s(now, count)
            if wait_s == 0.0:
                return True
            if not self._nap(wait_s, deadline):
                return False

    def _nap(self, seconds: float, deadline: Deadline) -> bool:
        """Sleep, unless the deadline comes first. True if there was time for it."""
        if seconds > deadline.left_s():
            return False
        if seconds > 0:
            self.sleep(seconds)
        return True

"""A burstable instance of a board: its CPU load and its credits, which CloudWatch publishes every five minutes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from burstwatch import bucket as tb
from burstwatch.kinds._cpu import BALANCE, CREDIT_S, PERIOD_S, USAGE, CpuSpec, cpu_spec
from demo.fleet import DAY_S


@dataclass(frozen=True, kw_only=True)
class Burstable:
    """An instance with its load, in shares of all its vCPUs: calm at first, then ``busy`` for good."""

    name: str
    instance_type: str
    calm: float
    busy: float
    left_s: float | None = None

    @property
    def spec(self) -> CpuSpec:
        """The credits of its type."""
        return cpu_spec(self.instance_type)

    def points(self, live_at: float) -> Iterator["Credits"]:
        """A day before ``live_at`` and on; with ``left_s`` it is empty that long after."""
        spec, bucket = self.spec, self.spec.bucket
        busy = self.busy * spec.vcpus
        lasts_s = tb.time_to_empty(bucket, level=bucket.capacity, demand=busy)
        busy_from_s = live_at if self.left_s is None else live_at + self.left_s - lasts_s
        level, start_s = bucket.capacity, (live_at - DAY_S) // PERIOD_S * PERIOD_S
        while True:
            asked = busy if start_s >= busy_from_s else self.calm * spec.vcpus
            used = tb.spend_rate(bucket, level=level, demand=asked)
            level = tb.level_after(bucket, level=level, demand=used, seconds=PERIOD_S)
            yield Credits(
                start_s=start_s,
                balance=level / CREDIT_S,
                used=used * PERIOD_S / CREDIT_S,
                cpu_percent=100 * used / spec.vcpus,
                left_s=tb.time_to_empty(bucket, level=level, demand=busy),
            )
            start_s += PERIOD_S


@dataclass(frozen=True, kw_only=True)
class Credits:
    """Five minutes of an instance: credits left at their end, credits used in them, and the truth."""

    start_s: float
    balance: float
    used: float
    cpu_percent: float
    left_s: float


@dataclass(kw_only=True)
class Instance:
    """A burstable instance as it exists in the cloud."""

    burstable: Burstable
    id: str
    points: Iterator[Credits]
    newest: Credits
    pending: Credits | None = field(default=None)

    def until(self, end_s: float) -> list[Credits]:
        """The points whose period has ended by then, each given once."""
        taken = []
        self.pending = self.pending or next(self.points)
        while self.pending.start_s + PERIOD_S <= end_s:
            taken.append(self.pending)
            self.newest, self.pending = self.pending, next(self.points)
        return taken


def entries(instance: Instance, points: Sequence[Credits]) -> Iterator[dict[str, Any]]:
    """The data that CloudWatch would have of these points, each datum with its ``namespace``."""
    for point in points:
        values = {
            BALANCE: point.balance,
            USAGE: point.used,
            "CPUUtilization": point.cpu_percent,
        }
        for name, value in values.items():
            yield {
                "namespace": "AWS/EC2",
                "MetricName": name,
                "Dimensions": [{"Name": "InstanceId", "Value": instance.id}],
                "Timestamp": datetime.fromtimestamp(point.start_s, tz=UTC),
                "Value": value,
            }

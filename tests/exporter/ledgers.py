"""Ledgers of one bucket, and an EBS that charges as it likes."""

import math
from dataclasses import dataclass, field

from hypothesis import strategies as st

from burstwatch.bucket import Bucket
from burstwatch.ebs.volume_types import CreditUnit
from burstwatch_exporter.config_file import CustomBucket, VolumeConfig
from burstwatch_exporter.credits.disk_spec import DiskSpec, disk_spec_of
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.ledger import Ledger, Reading
from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.diskstats import Counters

BUCKET = Bucket(capacity=1_000, refill=10, burst=100)


GIB = 2**30


def a_disk(*, largest_kib: float = 1_024, appeared_s: float | None = None) -> Disk:
    return Disk(
        name="nvme1n1",
        volume_id="vol-0123456789abcdef0",
        size_bytes=100 * GIB,
        largest_kib=largest_kib,
        appeared_s=appeared_s,
        sequence="9",
        has_serial=True,
    )


def custom(bucket: Bucket, unit: CreditUnit = "io") -> CustomBucket:
    return CustomBucket(
        capacity=bucket.capacity, refill=bucket.refill, burst=bucket.burst, unit=unit
    )


def a_promise(bucket: Bucket = BUCKET, unit: CreditUnit = "io") -> DiskSpec:
    said = VolumeConfig(custom=custom(bucket, unit))
    spec, _ = disk_spec_of(said, size_bytes=100 * GIB, instance=None)
    assert spec is not None
    return spec


def done(ops: int = 0, kib: int = 0, *, in_flight: int = 0) -> Counters:
    return Counters(ops, kib * 1_024, 0, 0, 0, in_flight)


def a_ledger(
    start: Interval, spec: DiskSpec | None = None, *, at: float = 0.0, slack_s: float = 0.0
) -> Ledger:
    return Ledger(
        a_disk(),
        spec or a_promise(),
        start=start,
        origin="unknown",
        reading=Reading(wall_s=0.0, at=at, slack_s=slack_s, counters=done()),
        slot_s=1.0,
        with_trail=True,
    )


@dataclass
class HostileEbs:
    """A volume that charges each I/O what it likes, when it likes, within the rules."""

    level: float
    bucket: Bucket = BUCKET
    unit_kib: float = 256.0
    counters: Counters = field(default_factory=done)
    waiting: list[int] = field(default_factory=list)

    def refill(self, seconds: float) -> None:
        self.level = min(self.bucket.capacity, self.level + self.bucket.refill * seconds)

    def take(self, size_kib: int, merged: float) -> None:
        """Charge an I/O between its bytes and its pieces, if there are credits, and begin it."""
        least, most = size_kib / self.unit_kib, math.ceil(size_kib / self.unit_kib)
        cost = least + (most - least) * merged
        if cost <= self.level:
            self.level -= cost
            self.waiting.append(size_kib)

    def finish(self, count: int) -> None:
        now, self.waiting = self.waiting[:count], self.waiting[count:]
        kib = sum(now) * 1_024
        self.counters = Counters(
            self.counters.read_ops + len(now),
            self.counters.read_bytes + kib,
            0,
            0,
            0,
            len(self.waiting),
        )


#: Exact as often as not: a bound is only tried where it is close.
shares = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)

"""A volume under a workload, as CloudWatch would report it.

For backtests, the demo and the tests. Between two changes of demand
everything is a closed form, so a period costs a handful of formulas and the
instant at which the bucket runs out is exact.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Access, Served, VolumeSpec, served_load
from burstwatch.kinds.base import PERCENT
from burstwatch.recordings.samples import Sample, volume_sample

KIB = 1024
_SLACK = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """A workload's demand for ``seconds``: operations per second of one size."""

    seconds: float
    read_iops: float
    write_iops: float
    io_kib: float = 16.0
    access: Access = "random"

    @property
    def iops(self) -> float:
        """Reads and writes together: they share the credits."""
        return self.read_iops + self.write_iops


@dataclass(kw_only=True, slots=True)
class Datapoint:
    """One period as CloudWatch shows it: sums, and the balance as a share. It is filled while the period goes on.

    ``emptied_at`` and ``level_ratio`` (at the period's end) are the truth behind
    it, which CloudWatch does not show.
    """

    start_s: float
    period_s: float
    balance_minimum: float = math.inf
    read_ops: float = 0.0
    write_ops: float = 0.0
    read_bytes: float = 0.0
    write_bytes: float = 0.0
    level_ratio: float = math.inf
    emptied_at: float | None = None


def to_sample(point: Datapoint) -> Sample:
    """A period as it would be recorded."""
    return volume_sample(
        point.start_s,
        balance_percent=point.balance_minimum * PERCENT,
        read_ops=point.read_ops,
        write_ops=point.write_ops,
        read_bytes=point.read_bytes,
        write_bytes=point.write_bytes,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """A volume, and how it is reported.

    ``charge_ratio`` is what EBS charges per documented credit of an I/O: 1 by the
    documentation, less where it merges more than the guest shows.
    """

    spec: VolumeSpec
    bucket: Bucket
    period_s: float = 60.0
    charge_ratio: float = 1.0

    def play(
        self, loads: Iterable[Phase], *, ratio: float = 1.0, start_s: float = 0.0
    ) -> Iterator[Datapoint]:
        """One datapoint per period while the loads last; a last partial one is dropped."""
        level, now = ratio * self.bucket.capacity, start_s
        point = Datapoint(start_s=start_s, period_s=self.period_s)
        for load in loads:
            seconds_left = load.seconds
            while seconds_left > _SLACK:
                ends = point.start_s + self.period_s
                span, level = self._advance(point, load, level, min(seconds_left, ends - now), now)
                now, seconds_left = now + span, seconds_left - span
                if ends - now <= _SLACK:
                    yield point
                    now, point = ends, Datapoint(start_s=ends, period_s=self.period_s)

    def _advance(
        self, point: Datapoint, load: Phase, level: float, seconds: float, now: float
    ) -> tuple[float, float]:
        """Go on for up to ``seconds``, at most until the bucket turns empty."""
        served = self._served(load, has_credits=True)
        spend = served.credits_per_s * self.charge_ratio
        if level <= 0 and spend > self.bucket.refill:
            served = self._served(load, has_credits=False)
            spend = min(served.credits_per_s * self.charge_ratio, self.bucket.refill)
        dry = tb.time_to_empty(self.bucket, level=level, demand=spend) if level > 0 else math.inf
        runs_dry = dry <= seconds
        span = max(dry, _SLACK) if runs_dry else seconds
        after = tb.level_after(self.bucket, level=level, demand=spend, seconds=span)
        if runs_dry:
            point.emptied_at, after = now + dry, 0.0
        capacity = self.bucket.capacity
        point.balance_minimum = min(point.balance_minimum, level / capacity, after / capacity)
        point.level_ratio = after / capacity
        share = load.read_iops / load.iops if load.iops else 0.0
        ops = served.iops * span
        point.read_ops += ops * share
        point.write_ops += ops * (1 - share)
        point.read_bytes += ops * share * load.io_kib * KIB
        point.write_bytes += ops * (1 - share) * load.io_kib * KIB
        return span, after

    def _served(self, load: Phase, *, has_credits: bool) -> Served:
        return served_load(
            self.spec,
            iops=load.iops,
            io_kib=load.io_kib,
            access=load.access,
            has_credits=has_credits,
        )

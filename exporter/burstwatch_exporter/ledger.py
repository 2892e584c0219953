"""One volume's account: what it did, and the interval that its balance lies in."""

from dataclasses import dataclass, replace
from typing import Literal

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.ebs.load import Load
from burstwatch.ebs.volumes import Binding, Charge
from burstwatch.forecast.demand import expected
from burstwatch.forecast.projection import Projection, is_held_at_zero, project_level
from burstwatch.history.points import LevelPoint, Range
from burstwatch.history.spending import TOLERANCE
from burstwatch.kinds._volume import held_back
from burstwatch_exporter import interval as iv
from burstwatch_exporter.blocks import Disk
from burstwatch_exporter.disk_spec import DiskSpec, cost_of, pieces_of
from burstwatch_exporter.diskstats import Counters
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.recent_demand import RecentDemand
from burstwatch_exporter.trail import Trail

#: What the interval rests on, from the surest to the least sure.
Origin = Literal[
    "published",
    "restored",
    "reattached",
    "rebooted",
    "created",
    "appeared",
    "unknown",
    "resized",
    "contradicted",
]
#: A share of the bucket: less is rounding, of what is left as of what was spent beyond it.
CONTRADICTION = 0.01
#: Served this close to the refill, a volume may be held at it; published drains sit there.
AT_BASELINE = (0.97, 1.06)
#: With less than this share left by count, one that is held at its baseline has none.
ALMOST_EMPTY = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Counters at some instant from ``at`` to ``at + slack_s``, by the clock that never jumps.

    ``wall_s`` is the wall clock's time then.
    """

    at: float
    wall_s: float
    slack_s: float
    counters: Counters


class Ledger:
    """The account of one volume of which the bucket is known.

    It begins with an interval for an instant, and every reading moves both on.
    """

    def __init__(
        self,
        disk: Disk,
        spec: DiskSpec,
        *,
        start: Interval,
        origin: Origin,
        reading: Reading,
        slot_s: float,
        lately: tuple[float, Charge] | None = None,
        with_trail: bool = False,
    ) -> None:
        """``start`` is the interval at ``reading``. The promise must have a bucket.

        ``lately`` is what was spent in so many seconds before, where that is known.
        ``with_trail`` is whether balances will come to be reconciled: it costs memory.
        """
        if spec.bucket is None or spec.own_bucket is None:
            msg = f"{disk.key} has no bucket to account for"
            raise ValueError(msg)
        self.disk, self.spec = disk, spec
        self.bucket: Bucket = spec.bucket
        self.own_bucket: Bucket = spec.own_bucket
        self.origin, self.reading = origin, reading
        self.charged = Charge(least=0.0, nominal=0.0, most=0.0)
        self._pieces = pieces_of(disk, spec)
        self.interval = iv.begun(start, in_flight=self._in_flight())
        self._slack_s = reading.slack_s
        self._overdrawn = self._beyond = 0.0
        seconds, spent = lately or (0.0, None)
        self._recent = RecentDemand(at=reading.at - seconds, slot_s=slot_s)
        if spent is not None:
            self._recent.note(reading.at, spent)
        self._trail = Trail() if with_trail else None
        self._knows_wall = True

    def note(self, reading: Reading) -> None:
        """Go on to a later reading of the same device."""
        seconds = reading.at - self.reading.at
        if seconds <= 0:
            return
        done = reading.counters.since(self.reading.counters)
        self._slack_s = max(self._slack_s, reading.slack_s)
        before, self.reading = self._in_flight(), reading
        now = self._in_flight()
        if done is None:  # begun anew: what was done in between is not known
            self.interval = iv.after_unseen(
                self.own_bucket, self.interval, seconds=seconds, uncounted=before, in_flight=now
            )
            self.forget_trail()
            return
        cost = cost_of(done, self.disk, self.spec)
        self._tally(cost, seconds)
        self.interval = iv.after_seen(
            self.own_bucket, self.interval, seconds=seconds, charge=cost, in_flight=now
        )
        if self._is_contradicted_by(cost, seconds):
            self.origin = "contradicted"
            self._know_nothing()
        elif self.spec.is_changing:  # refill and capacity may be those of either type
            self._know_nothing()
        self.charged += cost
        self._recent.note(reading.at, cost)
        if self._trail is not None:
            self._trail.note(reading.wall_s, charged=self.charged, in_flight=now, seen=self.seen())

    def go_on_with(self, disk: Disk, spec: DiskSpec) -> None:
        """The same device with the same bucket; what limits it may have changed."""
        self.disk, self.spec = disk, spec
        self.bucket = spec.bucket or self.bucket
        self._pieces = pieces_of(disk, spec)

    def forget_trail(self) -> None:
        """The wall clock was set: what was noted by it is of no use, nor how old a datapoint is."""
        self._knows_wall = False
        self._trail = None if self._trail is None else Trail()

    def kept(self) -> Interval:
        """The interval for a later process, which knows nothing of this one's slack.

        Nor will it see what is in flight now, if its counters begin anew.
        """
        slack = self.own_bucket.refill * self._slack_s
        return replace(
            self.interval,
            low=max(0.0, self.interval.low - slack - self._in_flight()),
            high=self.interval.high + slack,
        )

    def has_seen(self, point: LevelPoint) -> bool:
        """Whether the host looked during the whole period of a datapoint."""
        return self._trail is not None and self._trail.has_seen(point)

    def reconcile(self, point: LevelPoint) -> float | None:
        """Narrow the interval by a published balance; how far it was outside, as a share, if known."""
        bucket = self.own_bucket
        if self._trail is None:
            return None
        drift = self._trail.drift(bucket, point)
        bounds = self._trail.now(bucket, point, wall_s=self.reading.wall_s, charged=self.charged)
        if bounds is None and self._knows_wall:
            # Of before it looked: anything may have been done since.
            bounds = iv.since_datapoint(bucket, point, wall_s=self.reading.wall_s)
        if bounds is not None:
            low, high = bounds
            self.interval = iv.narrowed(
                bucket, self.interval, low=low, high=high, in_flight=self._in_flight()
            )
            self.origin = "published"
        return drift

    def seen(self) -> Interval:
        """The interval at the newest reading."""
        return iv.seen_at(
            self.own_bucket,
            self.interval,
            in_flight=self._in_flight(),
            slack_s=self._slack_s,
        )

    def likely(self) -> float | None:
        """The credits that are likely to be left at the newest reading, if that can be said."""
        return self._likely(self.seen())[0]

    def project(self, load: Load, instance_binding: Binding) -> Projection:
        """Project how long the credits last.

        ``load`` is what the volume moves now, ``instance_binding`` what holds all volumes back.
        """
        seen, bucket = self.seen(), self.bucket
        if not self._recent.has_looked:
            soonest = tb.worst_time_to_empty(bucket, level=seen.low)
            return Projection(
                state="unknown",
                reason="seen once, so its load is not known yet",
                at=self.reading.wall_s,
                low_s=soonest,
                worst_s=soonest,
            )
        # What to expect from here on, in credits a second.
        demand = expected(self._recent.lately(limit=self.spec.limit.rate), burst=self.bucket.burst)
        binding = held_back(self.spec.volume, iops=load.iops, mib_s=load.mib_s)
        if binding == "none" and load.iops > 0:
            binding = instance_binding
        likely, reason = self._likely(seen)
        if likely is None and demand.high > bucket.refill:
            return Projection(
                state="unknown",
                reason=reason,
                at=self.reading.wall_s,
                demand=demand,
                low_s=tb.time_to_empty(bucket, level=seen.low, demand=demand.high),
                worst_s=tb.worst_time_to_empty(bucket, level=seen.low),
                binding=binding,
            )
        guess = seen.high if likely is None else likely
        projection = project_level(
            bucket,
            Range(low=seen.low, likely=guess, high=seen.high),
            demand,
            at=self.reading.wall_s,
            data_age_s=0.0,
            worst_level=seen.low,
            held_at_zero=guess <= 0 and is_held_at_zero(bucket, demand),
        )
        projection = replace(projection, binding=binding)
        if demand.high == 0:
            projection = replace(projection, state="idle", reason="no I/O in the last minutes")
        if likely is None:  # it never empties, whatever is left; full it is at the latest then
            latest = tb.time_to_full(bucket, level=seen.low, demand=demand.likely)
            return replace(projection, time_to_full_s=latest)
        return projection

    def is_served_at_baseline(self) -> bool:
        """Whether it is served just what comes in, and asks for more: a hint, and never a bound.

        It asks for more if I/O is waiting, or if it had more in the last minutes. An
        instance's limit, a snapshot that is read or a cgroup look the same.
        """
        rate, refill = self._recent.newest(), self.bucket.refill
        low, high = (share * refill for share in AT_BASELINE)
        if rate is None or not low <= rate <= high:
            return False
        return self.reading.counters.in_flight > 0 or self._recent.recent() > high

    def _likely(self, seen: Interval) -> tuple[float | None, str]:
        """The likely level, or None and why it cannot be said.

        The hint is believed where the bucket may be empty and little is left by count: it moves
        what is likely, and no bound.
        """
        if self._is_cheaper():
            return (
                None,
                "more is served than an empty bucket allows, so an operation costs less than one credit",
            )
        likely, capacity = seen.likely, self.own_bucket.capacity
        if likely is None:
            return None, "more is spent than comes in, and how much is left is not known"
        may_be_empty = seen.low <= CONTRADICTION * capacity and likely <= ALMOST_EMPTY * capacity
        return (0.0 if may_be_empty and self.is_served_at_baseline() else likely), ""

    def _is_cheaper(self) -> bool:
        """Whether more was served than the likely level and an empty bucket can have given."""
        rate = self._recent.newest()
        return (
            self._beyond > CONTRADICTION * self.own_bucket.capacity
            and rate is not None
            and rate > AT_BASELINE[1] * self.bucket.refill
        )

    def _in_flight(self) -> float:
        return self.reading.counters.in_flight * self._pieces

    def _know_nothing(self) -> None:
        self.interval = iv.begun(iv.unknown(self.own_bucket), in_flight=self._in_flight())
        self._overdrawn = self._beyond = 0.0

    def _tally(self, cost: Charge, seconds: float) -> None:
        """Note what was charged beyond all that there can have been, at the least and as is likely."""
        there = self.own_bucket.refill * seconds
        over = cost.least - self.interval.high - there
        self._overdrawn = self._overdrawn + over if over > 0 else 0.0
        likely = self.interval.likely
        beyond = 0.0 if likely is None else cost.nominal - likely - there
        self._beyond = self._beyond + beyond if beyond > 0 else 0.0

    def _is_contradicted_by(self, cost: Charge, seconds: float) -> bool:
        """Whether this I/O cannot have been that of the bucket as it was stated."""
        bucket = self.own_bucket
        fastest = TOLERANCE * bucket.burst * (seconds + self._slack_s + 1.0)
        return self._overdrawn > CONTRADICTION * bucket.capacity or cost.least > fastest

"""One volume's account: what it did, and the interval that its balance lies in."""

import math
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
from burstwatch_exporter.disk_spec import DiskSpec, charge_of, pieces_of
from burstwatch_exporter.diskstats import Counters
from burstwatch_exporter.evidence import MOST_IN_FLIGHT, Doubt
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.recent_demand import RecentDemand
from burstwatch_exporter.trail import Trail

#: Where the interval comes from.
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
    "doubted",
]
#: A share of the bucket: less is rounding, of what is left as of what was spent beyond it.
CONTRADICTION = 0.01
#: Served this close to the refill, a volume may be held at it; published drains sit there.
AT_BASELINE = (0.97, 1.06)
#: With less than this share left by count, one that is held at its baseline has none.
ALMOST_EMPTY = 0.1
#: More I/O than the bucket allows is an error of the counters if it does not happen again for so long.
CONTRADICTED_S = 600.0
#: How long to wait for impossible counters to become right again.
WAITS_S = 600.0
#: Two clocks are read one after the other, and a busy machine can be late in between.
SLEPT_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Counters at some instant from ``at`` to ``at + slack_s``, by the clock that never jumps.

    ``wall_s`` is the wall clock's time then, and ``asleep_s`` how long the host had slept since its start.
    ``doubt`` is why the counters are not believed.
    """

    at: float
    wall_s: float
    slack_s: float
    counters: Counters
    asleep_s: float = 0.0
    doubt: Doubt | None = None

    def slept_since(self, earlier_s: float) -> float:
        """Seconds slept since ``earlier_s`` of sleep, 0 if under ``SLEPT_S``: I/O of that time is in no counter.

        To hibernate, a kernel writes its memory to the root volume after it has copied its counters,
        and another kernel reads it.
        """
        slept_s = self.asleep_s - earlier_s
        return slept_s if slept_s >= SLEPT_S else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Before:
    """The account as it was before counters that cannot be: they fell, or rose by more than the disk can do."""

    has_fallen: bool
    interval: Interval
    reading: Reading
    origin: Origin
    charged: Charge


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
        self._slot_s = slot_s
        self._recent = RecentDemand(at=reading.at - seconds, slot_s=slot_s)
        if spent is not None:
            self._recent.note(reading.at, spent)
        self._trail = Trail() if with_trail else None
        self._knows_wall = True
        #: Why the newest counters are not believed, and for how long they have been waited for.
        self.doubt = reading.doubt
        self._waits_s = 0.0
        #: True if the counters of ``reading`` were not believed, so that what is done until the next is lost.
        self._is_lost = reading.doubt is not None
        self._before: _Before | None = None
        #: True if the newest counters follow from those before by no more than the disk can do.
        self._is_confirmed = False
        self._contradicted_at = self._wary_until = -math.inf
        #: How often a published balance was outside of the interval.
        self.disagreements = 0

    def note(self, reading: Reading) -> None:
        """Go on to a later reading of the same device."""
        seconds = reading.at - self.reading.at
        if seconds <= 0:
            return
        doubt = self.doubt = reading.doubt
        if doubt is not None and not doubt.is_lost and not self._is_lost:
            self._waits_s = seconds  # the counters will tell
            return
        self._waits_s = 0.0
        was_lost, self._is_lost = self._is_lost, doubt is not None
        if was_lost or self._is_lost:
            self._go_unseen(reading, uncounted=0.0 if was_lost else self._in_flight())
            return
        done = reading.counters.since(self.reading.counters)
        if done is None:
            self._go_back(reading)
        elif self.reading.at >= self._wary_until:
            self._count(reading, done)
        elif not self._resumes(reading):
            self._go_unseen(reading, uncounted=0.0)

    def _count(self, reading: Reading, done: Counters) -> None:
        """Go on to a reading by what was done before it."""
        seconds = reading.at - self.reading.at
        slept_s = reading.slept_since(self.reading.asleep_s)
        cost = self._cost(done, slept_s=slept_s)
        self._slack_s = max(self._slack_s, reading.slack_s)
        believed, self.reading = self._now(has_fallen=False), reading
        in_flight = self._in_flight()
        self._tally(cost, seconds)
        self._is_confirmed = True
        self.interval = iv.after_seen(
            self.own_bucket, self.interval, seconds=seconds, charge=cost, in_flight=in_flight
        )
        if self._is_contradicted_by(cost, seconds):
            self._remember(believed)
            self.origin, self._contradicted_at = "contradicted", reading.at
            self._is_confirmed = False
            self._know_nothing()
        elif self.spec.is_changing:  # refill and capacity may be those of either type
            self._know_nothing()
        elif self.origin == "contradicted" and reading.at - self._contradicted_at > CONTRADICTED_S:
            self.origin = "unknown"
        self.charged += cost
        if slept_s:  # a rate over a time in which nothing was counted is none
            self._forget_demand()
        else:
            self._recent.note(reading.at, cost)
        if self._trail is not None:
            self._trail.note(
                reading.wall_s, charged=self.charged, in_flight=in_flight, interval=self.seen()
            )

    def distrust(self, seconds: float) -> None:
        """Take it that in so many seconds before the newest reading anything may have been done.

        The most that can be spent is the burst rate, with what counters may be off.
        """
        spent = TOLERANCE * self.own_bucket.burst * seconds
        self.interval = iv.widened(
            self.own_bucket,
            self.interval,
            low=self.interval.low - spent,
            high=self.interval.high,
        )
        self._forget_demand()

    def _go_unseen(self, reading: Reading, *, uncounted: float) -> None:
        """Go on to a reading when nobody knows what was done before it."""
        seconds = reading.at - self.reading.at
        self._slack_s = max(self._slack_s, reading.slack_s)
        self.reading = reading
        self.interval = iv.after_unseen(
            self.own_bucket,
            self.interval,
            seconds=seconds,
            uncounted=uncounted,
            in_flight=self._in_flight(),
        )
        self.origin, self._is_confirmed = "doubted", False
        self._forget_demand()
        self._trail = None if self._trail is None else Trail()

    def _go_back(self, reading: Reading) -> None:
        """Go on to counters that are lower than before: they began anew, or are back from what could not be."""
        if self.reading.at < self._wary_until and self._before is None:
            self._go_unseen(reading, uncounted=0.0)
            return
        if self._resumes(reading):
            return
        fallen, self._before = self._before, None
        if fallen is None and self._is_confirmed:
            fallen = self._now(has_fallen=True)
        self._go_unseen(reading, uncounted=self._in_flight())
        # The counters of one and the same disk never fall: these are not right.
        if self.disk.sequence:
            self._wary_until = reading.at + WAITS_S
        # Counters of a jump that nothing explains will not come again.
        if fallen is not None and fallen.has_fallen:
            self._remember(fallen)

    def _resumes(self, reading: Reading) -> bool:
        """Return to the account before impossible counters, if the new ones follow from it. Returns whether."""
        before = self._before
        if before is None:
            return False
        done = reading.counters.since(before.reading.counters)
        seconds = reading.at - before.reading.at
        slept_s = reading.slept_since(before.reading.asleep_s)
        if done is None or self._is_faster_than_burst(self._cost(done, slept_s=slept_s), seconds):
            return False
        self.interval, self.reading = before.interval, before.reading
        self.origin, self.charged = before.origin, before.charged
        self._before, self._wary_until = None, -math.inf
        self._overdrawn = self._beyond = 0.0
        self._forget_demand()
        self.note(reading)
        return True

    def _now(self, *, has_fallen: bool) -> _Before:
        return _Before(
            has_fallen=has_fallen,
            interval=self.interval,
            reading=self.reading,
            origin=self.origin,
            charged=self.charged,
        )

    def _remember(self, before: _Before) -> None:
        """Remember how it was, where the counters are of this very disk and of no other that has its name."""
        is_first = self._before is None or self._before.has_fallen
        if is_first and self.disk.sequence:
            self._before = before

    def _cost(self, done: Counters, *, slept_s: float) -> Charge:
        """Charge I/O; the most includes what may have been done while the host slept."""
        cost = charge_of(done, self.disk, self.spec)
        most = cost.most + TOLERANCE * self.own_bucket.burst * slept_s
        return replace(cost, most=most)

    def _forget_demand(self) -> None:
        self._recent = RecentDemand(at=self.reading.at, slot_s=self._slot_s)

    def go_on_with(self, disk: Disk, spec: DiskSpec) -> None:
        """Go on with the same device and the same bucket, whose limits may have changed.

        I/O that is not charged yet may have been done while its requests could be larger.
        """
        self.disk = replace(disk, largest_kib=max(disk.largest_kib, self.disk.largest_kib))
        self.spec = spec
        self.bucket = spec.bucket or self.bucket
        self._pieces = pieces_of(self.disk, spec)

    def forget_trail(self) -> None:
        """The wall clock was set: what was noted by it is of no use, nor how old a datapoint is."""
        self._knows_wall = False
        self._trail = None if self._trail is None else Trail()

    def kept(self) -> tuple[Interval, Reading]:
        """The interval for a later process, which knows nothing of this one's slack, and the reading that it is of.

        Nor will it see what is in flight now, if its counters begin anew. Of counters that have fallen
        it is as it was before, in case they come back.
        """
        interval, reading = self.interval, self.reading
        if self._before is not None and self._before.has_fallen:
            interval, reading = self._before.interval, self._before.reading
        slack = self.own_bucket.refill * self._slack_s
        kept = replace(
            interval,
            low=max(0.0, interval.low - slack - self._in_flight()),
            high=interval.high + slack,
        )
        return kept, reading

    @property
    def is_counted(self) -> bool:
        """True if the counters of its reading are believed, so that a later process can go on from them."""
        has_kept = self._before is not None and self._before.has_fallen
        return not self._is_lost and (has_kept or self.reading.at >= self._wary_until)

    def has_seen(self, point: LevelPoint) -> bool:
        """True if the host looked during the whole period of a datapoint."""
        return self._trail is not None and self._trail.has_seen(point)

    def reconcile(self, point: LevelPoint) -> float | None:
        """Narrow the interval by a published balance; how far it was outside, as a share, if known.

        One that is outside widens it: nobody knows whether it is AWS or the host that counts wrongly.
        """
        bucket = self.own_bucket
        if self._trail is None:
            return None
        drift = self._trail.drift(bucket, point)
        bounds = self._trail.now(bucket, point, wall_s=self.reading.wall_s, charged=self.charged)
        if self._knows_wall and (bounds is None or drift):
            # Of before it looked, or against what it saw: anything may have been done since.
            bounds = iv.since_datapoint(bucket, point, wall_s=self.reading.wall_s)
        if bounds is not None:
            low, high = bounds
            take = iv.widened if drift else iv.narrowed
            self.interval = take(
                bucket, self.interval, low=low, high=high, in_flight=self._in_flight()
            )
            self.origin = "doubted" if drift else "published"
        self.disagreements += bool(drift)
        return drift

    def seen(self) -> Interval:
        """The interval at the newest reading, also where its counters are still waited for."""
        interval, in_flight = self.interval, self._in_flight()
        if self._waits_s:
            interval = iv.after_unseen(self.own_bucket, interval, seconds=self._waits_s)
        return iv.seen_at(self.own_bucket, interval, in_flight=in_flight, slack_s=self._slack_s)

    def likely(self) -> float | None:
        """The credits that are likely to be left at the newest reading, if that can be said."""
        return self._likely(self.seen())[0]

    def project(self, load: Load, instance_binding: Binding) -> Projection:
        """Project how long the credits last.

        ``load`` is what the volume moves now, ``instance_binding`` what holds all volumes back.
        """
        interval, bucket = self.seen(), self.bucket
        is_doubted = self.doubt is not None and self.doubt.is_told
        if is_doubted or not self._recent.has_looked:
            soonest = tb.worst_time_to_empty(bucket, level=interval.low)
            return Projection(
                state="unknown",
                reason=self.doubt.reason
                if self.doubt is not None
                else "seen once, so its load is not known yet",
                at=self.reading.wall_s,
                low_s=soonest,
                worst_s=soonest,
            )
        # The demand from here on, in credits a second.
        demand = expected(self._recent.lately(limit=self.spec.limit.rate), burst=self.bucket.burst)
        binding = held_back(self.spec.volume, iops=load.iops, mib_s=load.mib_s)
        if binding == "none" and load.iops > 0:
            binding = instance_binding
        likely, reason = self._likely(interval)
        if likely is None and demand.high > bucket.refill:
            return Projection(
                state="unknown",
                reason=reason,
                at=self.reading.wall_s,
                demand=demand,
                low_s=tb.time_to_empty(bucket, level=interval.low, demand=demand.high),
                worst_s=tb.worst_time_to_empty(bucket, level=interval.low),
                binding=binding,
            )
        guess = interval.high if likely is None else likely
        projection = project_level(
            bucket,
            Range(low=interval.low, likely=guess, high=interval.high),
            demand,
            at=self.reading.wall_s,
            data_age_s=0.0,
            worst_level=interval.low,
            held_at_zero=guess <= 0 and is_held_at_zero(bucket, demand),
        )
        projection = replace(projection, binding=binding)
        if demand.high == 0:
            projection = replace(projection, state="idle", reason="no I/O in the last minutes")
        if likely is None:  # it never empties, whatever is left; full it is at the latest then
            latest = tb.time_to_full(bucket, level=interval.low, demand=demand.likely)
            return replace(projection, time_to_full_s=latest)
        return projection

    def is_served_at_baseline(self) -> bool:
        """True if it is served just what comes in, and asks for more: a hint, and never a bound.

        It asks for more if I/O is waiting, or if it had more in the last minutes. An
        instance's limit, a snapshot that is read or a cgroup look the same.
        """
        rate, refill = self._recent.newest(), self.bucket.refill
        low, high = (share * refill for share in AT_BASELINE)
        if rate is None or not low <= rate <= high:
            return False
        return self.reading.counters.in_flight > 0 or self._recent.recent() > high

    def _likely(self, interval: Interval) -> tuple[float | None, str]:
        """The likely level, or None and why it cannot be said.

        The hint is believed where the bucket may be empty and little is left by count: it moves
        what is likely, and no bound.
        """
        if self._is_cheaper():
            return (
                None,
                "more is served than an empty bucket allows, so an operation costs less than one credit",
            )
        likely, capacity = interval.likely, self.own_bucket.capacity
        if likely is None:
            return None, "more is spent than comes in, and how much is left is not known"
        may_be_empty = (
            interval.low <= CONTRADICTION * capacity and likely <= ALMOST_EMPTY * capacity
        )
        return (0.0 if may_be_empty and self.is_served_at_baseline() else likely), ""

    def _is_cheaper(self) -> bool:
        """True if more was served than the likely level and an empty bucket can have given."""
        rate = self._recent.newest()
        return (
            self._beyond > CONTRADICTION * self.own_bucket.capacity
            and rate is not None
            and rate > AT_BASELINE[1] * self.bucket.refill
        )

    def _in_flight(self) -> float:
        return max(0, min(MOST_IN_FLIGHT, self.reading.counters.in_flight)) * self._pieces

    def _know_nothing(self) -> None:
        self.interval = iv.begun(iv.unknown(self.own_bucket), in_flight=self._in_flight())
        self._overdrawn = self._beyond = 0.0

    def _tally(self, cost: Charge, seconds: float) -> None:
        """Note what was charged beyond all that there can have been, at the least and as is likely."""
        refilled = self.own_bucket.refill * seconds
        overdraft = cost.least - self.interval.high - refilled
        self._overdrawn = self._overdrawn + overdraft if overdraft > 0 else 0.0
        likely = self.interval.likely
        beyond = 0.0 if likely is None else cost.nominal - likely - refilled
        self._beyond = self._beyond + beyond if beyond > 0 else 0.0

    def _is_contradicted_by(self, cost: Charge, seconds: float) -> bool:
        """True if this I/O cannot have been that of the bucket as it was stated."""
        is_overdrawn = self._overdrawn > CONTRADICTION * self.own_bucket.capacity
        return is_overdrawn or self._is_faster_than_burst(cost, seconds)

    def _is_faster_than_burst(self, cost: Charge, seconds: float) -> bool:
        return cost.least > TOLERANCE * self.own_bucket.burst * (seconds + self._slack_s + 1.0)

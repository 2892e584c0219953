"""One volume's account: what it did, and the interval that its balance lies in."""

import math
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Literal

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import TOLERANCE
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.disk_spec import DiskSpec, charge_of, pieces_of
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.recent_demand import RecentDemand
from burstwatch_exporter.credits.trail import Trail
from burstwatch_exporter.credits.unexplained import Unexplained
from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.diskstats import Counters
from burstwatch_exporter.kernel.evidence import MOST_IN_FLIGHT, Doubt

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


class Trust(Enum):
    """How far the counters of the newest reading are believed."""

    #: Nothing before them speaks for them: they are the first, or the first that are believed again.
    UNCONFIRMED = auto()
    #: They follow from those before by no more than the disk can do.
    CONFIRMED = auto()
    #: They have fallen, which those of one and the same disk never do: the ones before may come back.
    FALLEN = auto()
    #: They are not believed, and what is done until the next reading is in no counter.
    LOST = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Before:
    """The account as it was before counters that cannot be: they fell, or rose by more than the disk can do."""

    has_fallen: bool
    interval: Interval
    reading: Reading
    origin: Origin
    counted: Charge
    uncounted: Charge


@dataclass(kw_only=True, slots=True)
class Overdraft:
    """Credits that were charged beyond all that there can have been: at the ``least``, and as is ``likely``.

    Both begin anew with I/O that the bucket can have given.
    """

    least: float = 0.0
    likely: float = 0.0

    def note(self, cost: Charge, interval: Interval, *, refilled: float) -> None:
        """Add what I/O cost beyond the credits that were there before it and came in meanwhile."""
        overdraft = cost.least - interval.high - refilled
        self.least = self.least + overdraft if overdraft > 0 else 0.0
        beyond = 0.0 if interval.likely is None else cost.nominal - interval.likely - refilled
        self.likely = self.likely + beyond if beyond > 0 else 0.0


class Ledger:
    """The account of one volume of which the bucket is known.

    It begins with an interval for an instant, and every reading moves both on.
    """

    def __init__(  # noqa: PLR0913 - all that it begins with
        self,
        disk: Disk,
        spec: DiskSpec,
        *,
        start: Interval,
        origin: Origin,
        reading: Reading,
        slot_s: float,
        lately: tuple[float, Charge] | None = None,
        is_dated: bool = False,
        with_trail: bool = False,
    ) -> None:
        """``start`` is the interval at ``reading``. The promise must have a bucket.

        ``lately`` is what was spent in so many seconds before, where that is known. ``is_dated`` is whether ``start``
        rests on the wall clock, which may be set right later.
        ``with_trail`` is whether balances will come to be reconciled: it costs memory.
        """
        if spec.bucket is None or spec.own_bucket is None:
            msg = f"{disk.key} has no bucket to account for"
            raise ValueError(msg)
        self.disk, self.spec = disk, spec
        self.bucket: Bucket = spec.bucket
        self.own_bucket: Bucket = spec.own_bucket
        self.origin, self.reading = origin, reading
        self._counted = self._uncounted = Charge(least=0.0, nominal=0.0, most=0.0)
        self._pieces = pieces_of(disk, spec)
        self.interval = iv.begun(start, in_flight=self._in_flight())
        self._slack_s = reading.slack_s
        self.overdraft = Overdraft()
        self._slot_s = slot_s
        self.recent = RecentDemand(at=reading.at, slot_s=slot_s)
        if lately is not None:
            seconds, spent = lately
            self.recent = RecentDemand(at=reading.at - seconds, slot_s=slot_s)
            self.recent.note(reading.at, spent)
        self.is_dated = is_dated
        self._trail = Trail() if with_trail else None
        self._unexplained = Unexplained()
        self._knows_wall = True
        #: Why the newest counters are not believed, and for how long they have been waited for.
        self.doubt = reading.doubt
        self._waits_s = 0.0
        self._trust = Trust.UNCONFIRMED if reading.doubt is None else Trust.LOST
        #: Until when counters that have fallen are waited for, and the account to go on with if they come back.
        self._wary_until = -math.inf
        self._before: _Before | None = None
        self._contradicted_at = -math.inf
        #: How often a published balance was outside of the interval.
        self.disagreements = 0

    def note(self, reading: Reading) -> None:
        """Go on to a later reading of the same device."""
        seconds = reading.at - self.reading.at
        if seconds <= 0:
            return
        self.doubt = reading.doubt
        if (
            reading.doubt is not None
            and not reading.doubt.is_lost
            and self._trust is not Trust.LOST
        ):
            self._waits_s = seconds  # the counters will tell
            return
        self._waits_s = 0.0
        if reading.doubt is not None or self._trust is Trust.LOST:
            self._lose(reading)
            return
        done = reading.counters.since(self.reading.counters)
        if done is None:
            self._go_back(reading)
        elif not self._is_wary:
            self._count(reading, done)
        elif not self._resumes(reading):
            self._go_unseen(reading, uncounted=0.0)

    def _count(self, reading: Reading, done: Counters) -> None:
        """Go on to a reading by what was done before it."""
        seconds = reading.at - self.reading.at
        slept_s = reading.slept_since(self.reading.asleep_s)
        cost = self._cost(done, slept_s=slept_s)
        self._slack_s = max(self._slack_s, reading.slack_s)
        believed = self._now(has_fallen=False)
        self.reading = reading
        in_flight = self._in_flight()
        self.overdraft.note(cost, self.interval, refilled=self.own_bucket.refill * seconds)
        self._trust = Trust.CONFIRMED
        uncounted = self._beside(cost, seconds)
        spent = cost + uncounted
        # Where more is spent than is counted, nobody knows the most of it.
        is_open = self._unexplained.is_open
        most = TOLERANCE * self.own_bucket.burst * seconds if is_open else cost.most
        self.interval = iv.after_seen(
            self.own_bucket,
            self.interval,
            seconds=seconds,
            charge=replace(spent, most=most),
            in_flight=in_flight,
        )
        if self._is_contradicted_by(cost, seconds):
            if self.disk.sequence and (self._before is None or self._before.has_fallen):
                self._before = believed
            self.origin = "contradicted"
            self._contradicted_at = reading.at
            self._trust = Trust.UNCONFIRMED
            self._know_nothing()
        elif self.spec.is_changing:  # refill and capacity may be those of either type
            self._know_nothing()
        elif self.origin == "contradicted" and reading.at - self._contradicted_at > CONTRADICTED_S:
            self.origin = "unknown"
        self._counted += cost
        self._uncounted += uncounted
        if slept_s:  # a rate over a time in which nothing was counted is none
            self._forget_demand()
        else:
            self.recent.note(reading.at, spent)
        if self._trail is not None:
            self._trail.note(
                reading.wall_s, charged=self._counted, in_flight=in_flight, interval=self.seen()
            )

    def _beside(self, cost: Charge, seconds: float) -> Charge:
        """What the published balances show to be spent beside counted I/O of this ``cost``; below 0 where it costs less."""
        more = self._unexplained.rate_at(self.reading.wall_s) * seconds
        if more < 0:
            return Charge(least=max(-cost.least, more), nominal=max(-cost.nominal, more), most=0.0)
        bucket, likely = self.own_bucket, self.interval.likely
        # Nobody spends more than a burst, nor what is not there.
        room = TOLERANCE * bucket.burst * seconds - cost.nominal
        if likely is not None:
            room = min(room, likely + bucket.refill * seconds - cost.nominal)
        more = max(0.0, min(more, room))
        return Charge(least=0.0, nominal=more, most=TOLERANCE * more)

    @property
    def charged(self) -> Charge:
        """All that was spent: what was counted, and what the published balances show beside it."""
        return self._counted + self._uncounted

    @property
    def has_lost_sight(self) -> bool:
        """True if more was spent than is counted when CloudWatch's last balance came, and that is too long ago to go by."""
        return self._unexplained.is_open and not self._unexplained.rate_at(self.reading.wall_s)

    @property
    def is_published_empty(self) -> bool:
        """True if CloudWatch's newest balances are empty: what came in did not stay."""
        return self._unexplained.is_empty_at(self.reading.wall_s)

    def distrust(self, seconds: float) -> None:
        """Take it that in so many seconds before the newest reading anything may have been done.

        The most that can be spent is the burst rate, with what counters may be off.
        """
        spent = TOLERANCE * self.own_bucket.burst * seconds
        self.interval = Interval(low=max(0.0, self.interval.low - spent), high=self.interval.high)
        self._forget_demand()

    def _lose(self, reading: Reading) -> None:
        """Go on to a reading when what was done since the last one, or what is done from here on, is in no counter.

        There is no account to return to: not even the right counters would tell what was done meanwhile.
        """
        is_begun = self._trust is not Trust.LOST
        self._go_unseen(reading, uncounted=self._in_flight() if is_begun else 0.0)
        self._before = None
        if reading.doubt is not None:
            self._trust = Trust.LOST
        else:
            self._trust = Trust.FALLEN if reading.at < self._wary_until else Trust.UNCONFIRMED

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
        self.origin = "doubted"
        self._forget_demand()
        self._trail = None if self._trail is None else Trail()

    def _go_back(self, reading: Reading) -> None:
        """Go on to counters that are lower than before: they began anew, or are back from what could not be."""
        if self._is_wary and self._before is None:
            self._go_unseen(reading, uncounted=0.0)
            return
        if self._resumes(reading):
            return
        before = self._before_falling()
        self._go_unseen(reading, uncounted=self._in_flight())
        self._trust = Trust.UNCONFIRMED
        self._before = None
        # Only a sequence tells that they are of one and the same disk, whose counters never fall.
        if self.disk.sequence:
            self._trust = Trust.FALLEN
            self._wary_until = reading.at + WAITS_S
            self._before = before

    def _before_falling(self) -> _Before | None:
        """The account to return to if counters that fall now come back; those of a jump that nothing explains will not."""
        if self._before is not None:
            return self._before if self._before.has_fallen else None
        return self._now(has_fallen=True) if self._trust is Trust.CONFIRMED else None

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
        self.interval = before.interval
        self.reading = before.reading
        self.origin = before.origin
        self._counted, self._uncounted = before.counted, before.uncounted
        self._trail = None if self._trail is None else Trail()
        self._before = None
        self._wary_until = -math.inf
        self._trust = Trust.UNCONFIRMED
        self.overdraft = Overdraft()
        self._forget_demand()
        self.note(reading)
        return True

    def _now(self, *, has_fallen: bool) -> _Before:
        return _Before(
            has_fallen=has_fallen,
            interval=self.interval,
            reading=self.reading,
            origin=self.origin,
            counted=self._counted,
            uncounted=self._uncounted,
        )

    @property
    def _is_wary(self) -> bool:
        """True while the counters have fallen, and those before are still waited for."""
        return self._trust is Trust.FALLEN and self.reading.at < self._wary_until

    def _cost(self, done: Counters, *, slept_s: float) -> Charge:
        """Charge I/O; the most includes what may have been done while the host slept."""
        cost = charge_of(done, self.disk, self.spec)
        most = cost.most + TOLERANCE * self.own_bucket.burst * slept_s
        return replace(cost, most=most)

    def _forget_demand(self) -> None:
        self.recent = RecentDemand(at=self.reading.at, slot_s=self._slot_s)

    def go_on_with(self, disk: Disk, spec: DiskSpec) -> None:
        """Go on with the same device and the same bucket, whose limits may have changed.

        I/O that is not charged yet may have been done while its requests could be larger.
        """
        self.disk = replace(disk, largest_kib=max(disk.largest_kib, self.disk.largest_kib))
        self.spec = spec
        self.bucket = spec.bucket or self.bucket
        self._pieces = pieces_of(self.disk, spec)

    def correct(self, step_s: float) -> None:
        """The wall clock was set forward, or back: what it has dated was that much longer ago, or the host stood still."""
        widened = iv.after_correction if self.is_dated else iv.after_standstill
        bucket, before = self.own_bucket, self._before
        self.interval = widened(bucket, self.interval, step_s=step_s)
        if before is not None:
            interval = widened(bucket, before.interval, step_s=step_s)
            self._before = replace(before, interval=interval)

    def forget_times(self) -> None:
        """The wall clock was set: what was noted by it is of no use, nor how old a datapoint is."""
        self._knows_wall = False
        self._trail = None if self._trail is None else Trail()
        self._unexplained.forget_times()

    def kept(self) -> tuple[Interval, Reading]:
        """The interval for a later process, which knows nothing of this one's slack, and the reading that it is of.

        Nor will it see what is in flight now, if its counters begin anew. Of counters that have fallen
        it is as it was before, in case they come back.
        """
        now = self._now(has_fallen=False)
        account = self._before if self._is_wary and self._before is not None else now
        slack = self.own_bucket.refill * self._slack_s
        interval = replace(
            account.interval,
            low=max(0.0, account.interval.low - slack - self._in_flight()),
            high=account.interval.high + slack,
        )
        return interval, account.reading

    @property
    def is_counted(self) -> bool:
        """True if the counters of its reading are believed, so that a later process can go on from them."""
        if self._is_wary:
            return self._before is not None
        return self._trust is not Trust.LOST

    def has_seen(self, point: LevelPoint) -> bool:
        """True if the host looked during the whole period of a datapoint."""
        return self._trail is not None and self._trail.has_seen(point)

    def reconcile(self, point: LevelPoint) -> float | None:
        """Go by a published balance; how far it was outside of the interval, as a share, if known.

        One that is outside takes the interval's place: the balance is the truth, and the counters have missed something.
        """
        bucket = self.own_bucket
        if self._trail is None:
            return None
        drift = self._trail.drift(bucket, point)
        if not self.spec.is_changing:
            self._unexplained.note(point, self._trail, bucket)
        is_explained = not drift and not self._unexplained.rate_at(self.reading.wall_s)
        bounds = self._trail.now(bucket, point, wall_s=self.reading.wall_s, charged=self._counted)
        # After the wall clock was set, what the host saw tells how old a datapoint is.
        is_dated = self._knows_wall or self._trail.has_seen(point)
        if is_dated and (bounds is None or not is_explained):
            # Of before it looked, or against what it saw: anything may have been done since.
            bounds = iv.since_datapoint(bucket, point, wall_s=self.reading.wall_s)
        if bounds is not None:
            low, high = bounds
            before = replace(iv.unknown(bucket), likely=self._likely_since(point))
            self.interval = iv.narrowed(
                bucket,
                self.interval if is_explained else before,
                low=low,
                high=high,
                in_flight=self._in_flight(),
            )
            self.origin = "doubted" if drift else "published"
        self.disagreements += bool(drift)
        return drift

    def _likely_since(self, point: LevelPoint) -> float:
        """The credits that are likely to be left now, if what was spent lately was spent since a datapoint too."""
        seconds = max(0.0, self.reading.wall_s - point.end_s)
        gained = (self.own_bucket.refill - self.recent.recent()) * seconds
        return point.ratio * self.own_bucket.capacity + gained

    def seen(self) -> Interval:
        """The interval at the newest reading, also where its counters are still waited for."""
        interval, in_flight = self.interval, self._in_flight()
        if self._waits_s:
            interval = iv.after_unseen(self.own_bucket, interval, seconds=self._waits_s)
        return iv.seen_at(self.own_bucket, interval, in_flight=in_flight, slack_s=self._slack_s)

    def _in_flight(self) -> float:
        return max(0, min(MOST_IN_FLIGHT, self.reading.counters.in_flight)) * self._pieces

    def _know_nothing(self) -> None:
        self.interval = iv.begun(iv.unknown(self.own_bucket), in_flight=self._in_flight())
        self.overdraft = Overdraft()

    def _is_contradicted_by(self, cost: Charge, seconds: float) -> bool:
        """True if this I/O cannot have been that of the bucket as it was stated."""
        is_overdrawn = self.overdraft.least > CONTRADICTION * self.own_bucket.capacity
        return is_overdrawn or self._is_faster_than_burst(cost, seconds)

    def _is_faster_than_burst(self, cost: Charge, seconds: float) -> bool:
        return cost.least > TOLERANCE * self.own_bucket.burst * (seconds + self._slack_s + 1.0)

"""Starts a volume's interval: from saved state, from its creation, or from nothing.

A gap in which nothing was counted costs what it can cost at most: credits were spent at
full burst, or came in unspent. What the counters have seen since the device appeared
is known, however long this program was not there to look.
"""

import math
from dataclasses import dataclass, replace

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.formatting import span
from burstwatch.history.spending import TOLERANCE
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.disk_spec import DiskSpec, charge_of, pieces_of
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.ledger import Origin, Reading
from burstwatch_exporter.credits.state import Saved
from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.diskstats import Counters


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceAge:
    """The moment at which a volume is first read: in which start of the host.

    ``age_s`` is how long the device has been there, or None where nobody knows.
    """

    boot_id: str
    age_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """An interval with what it rests on, and the same in words.

    ``lately`` is the time since the device was last looked at, and what its I/O has cost
    in it, where that is known. ``is_dated`` is whether the wall clock says how long ago that was: it may be set right.
    """

    interval: Interval
    origin: Origin
    reason: str
    lately: tuple[float, Charge] | None = None
    is_dated: bool = False


def start_of(
    disk: Disk, spec: DiskSpec, reading: Reading, device_age: DeviceAge, saved: Saved | None
) -> Start:
    """The best that can be known of a volume that has a bucket.

    Where the counters are not believed, the time since it was known is unseen.
    """
    bucket = spec.own_bucket
    if bucket is None:
        msg = f"{disk.key} has no bucket"
        raise ValueError(msg)
    if reading.doubt is not None:
        device_age = replace(device_age, age_s=None)
    since = _Since(bucket, disk, spec, reading, device_age.age_s)
    changed = _changed(spec, reading, device_age, saved)
    if changed:
        return Start(interval=iv.unknown(bucket), origin="resized", reason=changed)
    new = _from_creation(since)
    why = ""
    if saved is not None:
        start, refused = _from_saved(saved, since, device_age)
        if start is not None:
            is_dated = saved.is_dated or start.origin == "rebooted"
            return _within(replace(start, is_dated=is_dated), new)
        why = f"{refused}; "
    if new is not None:
        return replace(new, reason=f"{why}{new.reason}")
    if device_age.age_s is None:
        reason = f"{why}nothing is known of the time before"
        return Start(interval=iv.unknown(bucket), origin="unknown", reason=reason)
    reason = f"{why}all I/O is counted since the device appeared {span(device_age.age_s)} ago, if its type and size did not change; the balance before is not known"
    return Start(interval=since.appeared(iv.unknown(bucket)), origin="appeared", reason=reason)


def _from_creation(since: "_Since") -> Start | None:
    """A start from a full bucket when the volume was made, if that is known."""
    created = since.spec.created_s
    if created is None or created > since.reading.wall_s:
        return None
    gap = since.reading.wall_s - created
    reason = f"created {span(gap)} ago with a full bucket"
    full = since.gap(iv.full(since.bucket), gap)
    return Start(interval=full, origin="created", reason=reason, is_dated=True)


def _within(start: Start, new: Start | None) -> Start:
    """A start from what was saved, narrowed by when the volume was made, unless the two exclude each other."""
    if new is None:
        return start
    low = max(start.interval.low, new.interval.low)
    high = min(start.interval.high, new.interval.high)
    if low > high or (low, high) == (start.interval.low, start.interval.high):
        return start
    likely = start.interval.likely
    likely = new.interval.likely if likely is None else min(high, max(low, likely))
    return replace(start, interval=Interval(low=low, high=high, likely=likely), is_dated=True)


def _changed(spec: DiskSpec, reading: Reading, device_age: DeviceAge, saved: Saved | None) -> str:
    """Why a change of type or size leaves nothing to go by, or nothing.

    AWS does not say what such a change does to the balance.
    """
    if spec.is_changing:
        return "being resized or retyped"
    changed = spec.changed_s
    if saved is not None:
        same = (saved.bucket, saved.spec_id) == (spec.own_bucket, spec.spec_id)
        if not same or (changed is not None and changed > saved.wall_s):
            return "resized or retyped since it was saved"
        return ""
    if changed is None:
        return ""
    is_older = device_age.age_s is None or changed > reading.wall_s - device_age.age_s
    if is_older or spec.created_s is not None:
        ago = span(max(0.0, reading.wall_s - changed))
        return f"resized or retyped {ago} ago, and nothing is known of the balance since"
    return ""


@dataclass(frozen=True, slots=True)
class _Since:
    """The time until ``reading``, and what can be said of it."""

    bucket: Bucket
    disk: Disk
    spec: DiskSpec
    reading: Reading
    age_s: float | None

    def appeared(self, start: Interval) -> Interval:
        """The interval from the moment the device appeared: all that its counters say.

        udev notes a device late, and not while the host sleeps: so long it has been there at
        least. At most it has been there since the host was started, and all sleep since then may be
        sleep since it came.
        """
        cost = self._cost(self.reading.counters, slept_s=self.reading.slept_since(0.0))
        later = self._after(start, self.age_s or 0.0, cost)
        earlier = self._after(start, self.reading.at, cost)
        return replace(later, high=max(later.high, earlier.high))

    def gap(self, start: Interval, seconds: float, *, asleep_s: float = 0.0) -> Interval:
        """The interval from so many seconds ago: unseen until the device appeared, counted from then on.

        It may have appeared at any time of the gap that is not later than udev noted it, and not before. ``asleep_s`` is
        how long the host had slept then.
        """
        if self.age_s is None or self.age_s > seconds:
            return iv.after_unseen(self.bucket, start, seconds=seconds)
        cost = self._cost(self.reading.counters, slept_s=self.reading.slept_since(asleep_s))
        unseen = iv.after_unseen(self.bucket, start, seconds=seconds - self.age_s)
        later = self._after(unseen, self.age_s, cost)
        earlier = self._after(start, seconds, cost)
        return replace(later, high=max(later.high, earlier.high))

    def counted(self, saved: Saved) -> tuple[Interval, Charge] | None:
        """The interval from what was saved of the very device, or None if its counters do not tell."""
        seconds = self.reading.at - saved.at
        done = self.reading.counters.since(saved.counters)
        is_counted = saved.is_counted and self.reading.doubt is None
        if seconds < 0 or done is None or not is_counted:
            return None
        slept_s = self.reading.slept_since(saved.asleep_s)
        # Requests of an unrecorded size may have been of any size.
        largest_kib = math.inf if saved.largest_kib is None else saved.largest_kib
        cost = self._cost(done, slept_s=slept_s, largest_kib=largest_kib)
        if cost.least > TOLERANCE * self.bucket.burst * (seconds + 1.0):
            return None
        return self._after(saved.interval, seconds, cost), cost

    def _cost(self, done: Counters, *, slept_s: float, largest_kib: float = 0.0) -> Charge:
        """Charge I/O of the past, whose requests may have been as large as was ever allowed.

        In ``slept_s`` anything may have been done that is in no counter.
        """
        largest = max(self.disk.largest_kib, largest_kib, self.disk.hardware_kib)
        cost = charge_of(done, replace(self.disk, largest_kib=largest), self.spec)
        return replace(cost, most=cost.most + TOLERANCE * self.bucket.burst * slept_s)

    def _after(self, start: Interval, seconds: float, cost: Charge) -> Interval:
        in_flight = self.reading.counters.in_flight * pieces_of(self.disk, self.spec)
        return iv.after_seen(self.bucket, start, seconds=seconds, charge=cost, in_flight=in_flight)


def _from_saved(saved: Saved, since: _Since, device_age: DeviceAge) -> tuple[Start | None, str]:
    """A start from what was saved, or None and why not."""
    same_boot = device_age.boot_id != "" and saved.boot_id == device_age.boot_id
    gap = since.reading.at - saved.at if same_boot else since.reading.wall_s - saved.wall_s
    is_device = (saved.name, saved.sequence) == (since.disk.name, since.disk.sequence)
    if not since.disk.sequence:
        # Before Linux 5.15 only its age tells it from a later one, and that is without sleep.
        awake_s = gap - (since.reading.slept_since(saved.asleep_s) if same_boot else 0.0)
        is_device = is_device and since.age_s is not None and since.age_s >= awake_s
    if same_boot:
        step_s = since.reading.wall_s - saved.wall_s - gap
        saved = set_clock(saved, step_s, is_here=is_device)
    if same_boot and is_device:
        counted = since.counted(saved)
        if counted is not None:
            interval, cost = counted
            reason = f"saved {span(gap)} ago, and all I/O since is counted"
            return Start(
                interval=interval, origin="restored", reason=reason, lately=(gap, cost)
            ), ""
    if same_boot and is_device and gap >= 0:
        # Neither the counters since then are believed, nor those of all its time.
        interval = iv.after_unseen(since.bucket, saved.interval, seconds=gap)
        reason = f"saved {span(gap)} ago, and its counters do not tell what was done since"
        return Start(interval=interval, origin="doubted", reason=reason), ""
    if not since.disk.volume_id:
        return None, "the device has no volume id, so the saved balance may be of another volume"
    if same_boot and not since.disk.has_serial and not is_device:
        return None, "only its name says which volume the device is, and another may have got that"
    if gap < 0:
        return None, "the saved balance has a time in the future: was the clock set back?"
    unseen = gap if since.age_s is None or since.age_s > gap else gap - since.age_s
    interval = since.gap(saved.interval, gap, asleep_s=saved.asleep_s if same_boot else 0.0)
    reason = f"saved {span(gap)} ago; the I/O of {span(unseen)} since then was not seen, so the range holds from the worst to the best case"
    return Start(
        interval=interval, origin="reattached" if same_boot else "rebooted", reason=reason
    ), ""


def set_clock(saved: Saved, step_s: float, *, is_here: bool) -> Saved:
    """What was saved, after the wall clock was set forward by ``step_s``, or back.

    Of a volume that ``is_here`` only what the clock has dated is not seen. Of one that is away nobody has seen what was
    done meanwhile, nor knows of an account of before the start whether its own clock was right or the one that is set.
    """
    widened = iv.after_standstill if is_here and not saved.is_dated else iv.after_correction
    interval = widened(saved.bucket, saved.interval, step_s=step_s)
    return replace(saved, wall_s=saved.wall_s + step_s, interval=interval)

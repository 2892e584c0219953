"""Watches one disk of the host: what it is, how fast it moves, and the account of its credits."""

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from burstwatch.ebs.volumes import Binding
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits.disk_spec import DiskSpec
from burstwatch_exporter.credits.first_read import DeviceAge, start_of
from burstwatch_exporter.credits.ledger import Ledger, Reading
from burstwatch_exporter.credits.outlook import is_served_at_baseline, likely_level, project
from burstwatch_exporter.credits.published import CloudAnswer, Published
from burstwatch_exporter.credits.snapshot import Account, View
from burstwatch_exporter.credits.state import Saved
from burstwatch_exporter.kernel.blocks import Disk, is_counting
from burstwatch_exporter.kernel.diskstats import STILL, Counters, DiskStats, Rate
from burstwatch_exporter.kernel.evidence import Appearance, Doubt, doubt_of
from burstwatch_exporter.kernel.roots import Roots

LOG = logging.getLogger("burstwatch_exporter")


@dataclass(frozen=True, kw_only=True, slots=True)
class Accounting:
    """How accounts are kept on this host.

    ``slot_s`` are the seconds between readings. ``reconciles`` is true if CloudWatch's balances will come.
    """

    slot_s: float
    reconciles: bool


class WatchedDisk:
    """One disk for as long as it is attached under its name. Nothing in it is read from the host: it is told."""

    def __init__(self, disk: Disk, *, came_after: float) -> None:
        """``came_after`` is the last reading without it, which is the earliest time at which it can have been attached.

        It is minus infinity if there was none, and infinity if another disk had the name before and nothing but the
        name says which volume it is.
        """
        self.disk, self.came_after = disk, came_after
        self.spec: DiskSpec | None = None
        self.ledger: Ledger | None = None
        self.rate: Rate | None = None
        self.published: Published | None = None
        #: Why EBS's own statistics contradict the kernel's counters, or nothing.
        self.contradiction = ""
        #: The time of the last reading in which /proc/diskstats had a line of it.
        self._line_at = -math.inf

    def has_begun_anew(self, stats: DiskStats) -> bool:
        """True if one of its counters is lower than that of its account."""
        counters = stats.of(self.disk.name, self.disk.paths)
        return (
            self.ledger is not None
            and counters is not None
            and counters.since(self.ledger.reading.counters) is None
        )

    def is_account_of(self, disk: Disk, spec: DiskSpec | None) -> bool:
        """True if its account is that of the disk and the bucket as they are now."""
        ledger = self.ledger
        return (
            ledger is not None
            and spec is not None
            and disk.key == ledger.disk.key
            and spec.own_bucket == ledger.own_bucket
            and spec.spec_id == ledger.spec.spec_id
            and spec.changed_s == ledger.spec.changed_s
            and spec.created_s == ledger.spec.created_s
        )

    def is_replaced(self, disk: Disk, stats: DiskStats | None) -> bool:
        """True if nothing tells the disk from one before, and its counters begin anew.

        ``stats`` are the counters with which it was found that something has changed.
        """
        return not disk.is_identified and stats is not None and self.has_begun_anew(stats)

    def change_to(self, disk: Disk, spec: DiskSpec | None) -> None:
        """Go by the disk and its spec as they are now; without a spec there is no account to go on with."""
        self.disk, self.spec = disk, spec
        if self.ledger is not None and spec is not None:
            self.ledger.go_on_with(disk, spec)

    def doubt(
        self, counters: Counters | None, *, at: float, roots: Roots, container_files: frozenset[str]
    ) -> Doubt | None:
        """Why its counters at this reading are not believed, or None."""
        if counters is not None:
            self._line_at = at
        appearance = Appearance(
            disk=self.disk,
            counters=counters,
            missing_s=at - self._line_at,
            is_counting=is_counting(roots.sysfs, self.disk),
            container_files=container_files,
            contradiction=self.contradiction,
        )
        return doubt_of(appearance)

    def note_rate(self, counters: Counters | None, *, at: float) -> None:
        """Note how fast it moves now; what has just come, or has no line, moves nothing yet."""
        if counters is None:
            self.rate = None
            return
        if self.rate is None:
            self.rate = Rate(at, counters)
        self.rate.note(at, counters)

    def problems(self, doubt: Doubt | None) -> Iterator[str]:
        """What is odd about its counters, for people."""
        name = f"{self.disk.key} ({self.disk.name})"
        if doubt is not None and doubt.is_told:
            yield f"{name}: {doubt.reason}"
        if self.published is not None and self.published.drift:
            yield f"{name}: {self.published.disagreement}"

    def begin(
        self,
        spec: DiskSpec,
        reading: Reading,
        saved: Saved | None,
        *,
        age: DeviceAge,
        accounting: Accounting,
    ) -> None:
        """Begin an account at a reading, from what was saved or from what the host knows of the disk."""
        start = start_of(self.disk, spec, reading, age, saved)
        LOG.info("%s (%s): %s", self.disk.key, self.disk.name, start.reason)
        self.ledger = Ledger(
            self.disk,
            spec,
            start=start.interval,
            origin=start.origin,
            reading=reading,
            slot_s=accounting.slot_s,
            lately=start.lately,
            is_dated=start.is_dated,
            with_trail=accounting.reconciles,
        )

    def age_s(self, reading: Reading, clock: Clock) -> float | None:
        """For how long it has been there at the least, or None if nobody knows."""
        if self.disk.appeared_s is None or self.came_after == math.inf:
            return None
        awake_s = clock.awake() - (clock.boot() - reading.at)
        age_s = max(0.0, awake_s - self.disk.appeared_s)
        # A record that is older than the disk is still that of the disk before, which may be the same volume.
        return None if age_s >= reading.at - self.came_after else age_s

    def reconcile(self, cloud: CloudAnswer) -> None:
        """With the newest published balance: once when it comes, and again when its period is over here.

        A balance can come before the trail has reached the end of its period. Its drift is not known until then.
        """
        point, before = cloud.balances.get(self.disk.key), self.published
        if self.ledger is None or point is None:
            return
        if self.came_after == math.inf:
            return  # only a name that another disk has got says whose balance it is
        if cloud.ahead_s is None:  # nobody knows when that was by this host's clock
            self.published = Published(point=point, drift=None)
            return
        here = point._replace(start_s=point.start_s - cloud.ahead_s)
        is_new = before is None or before.point != point
        if is_new or (before is not None and before.drift is None and self.ledger.has_seen(here)):
            self.published = Published(point=point, drift=self.ledger.reconcile(here))

    def contradict(self, words: str, seconds: float) -> None:
        """Take it that the counters have missed I/O of so many seconds; without ``words``, that they have not."""
        self.contradiction = words
        if words and self.ledger is not None:
            self.ledger.distrust(seconds)

    def view(
        self, counters: Counters | None, doubt: Doubt | None, instance_binding: Binding
    ) -> View:
        """The disk as it is at the newest reading."""
        return View(
            disk=self.disk,
            counters=counters,
            spec=self.spec,
            account=self._account(instance_binding),
            doubt=doubt,
        )

    def _account(self, instance_binding: Binding) -> Account | None:
        ledger = self.ledger
        if ledger is None or self.spec is None or self.spec.bucket is None:
            return None
        load = STILL if self.rate is None else self.rate.load
        likely, missing = likely_level(ledger)
        return Account(
            bucket=ledger.bucket,
            own_bucket=ledger.own_bucket,
            interval=ledger.seen(),
            likely=likely,
            missing=missing,
            projection=project(ledger, load, instance_binding),
            charged=ledger.charged,
            origin=ledger.origin,
            is_served_at_baseline=is_served_at_baseline(ledger),
            published=self.published,
            disagreements=ledger.disagreements,
        )


def is_another(disk: Disk, earlier: Disk) -> bool:
    """True if a disk is not the one that had its name before."""
    if disk.sequence or earlier.sequence:
        return disk.sequence != earlier.sequence
    if disk.key != earlier.key:
        return True
    if earlier.appeared_s is None:
        return False
    # udev forgets a disk when it goes. That it has no record any more says that this one has come since.
    return disk.appeared_s is None or disk.appeared_s > earlier.appeared_s


def saved_of(ledger: Ledger, *, boot_id: str, wall_offset_s: float) -> Saved:
    """What an account needs to go on after a restart.

    ``wall_offset_s`` is how far the wall clock was ahead of that of the boot at the reading: it may have been set since.
    """
    interval, reading = ledger.kept()
    largest = ledger.disk.largest_kib
    return Saved(
        key=ledger.disk.key,
        name=ledger.disk.name,
        sequence=ledger.disk.sequence,
        boot_id=boot_id,
        at=reading.at,
        wall_s=reading.at + wall_offset_s,
        counters=replace(reading.counters, in_flight=0),
        bucket=ledger.own_bucket,
        spec_id=ledger.spec.spec_id,
        interval=interval,
        asleep_s=reading.asleep_s,
        largest_kib=largest if math.isfinite(largest) else None,
        is_counted=ledger.is_counted,
        is_dated=ledger.is_dated,
    )

"""The host at one instant: every volume with what it did and what is left of its credits.

Nothing here serves or prints. ``observe`` reads the counters and moves every account on; what
lies under what, and where it is mounted, ``look`` reads anew, and ``observe`` itself when a
device comes, goes or begins anew.
"""

import logging
import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter

from burstwatch.ebs.volumes import Binding, InstanceLimits
from burstwatch.formatting import span
from burstwatch.history.points import AT_LIMIT
from burstwatch_exporter.blocks import Disk, disk_identity, is_counting
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.cloud import CloudAnswer
from burstwatch_exporter.config_file import HostConfig
from burstwatch_exporter.devices import NOTHING, Devices, read_devices
from burstwatch_exporter.disk_spec import DiskSpec, specs_of
from burstwatch_exporter.diskstats import STILL, Counters, DiskStats, Rate, parse_diskstats
from burstwatch_exporter.evidence import Appearance, Doubt, doubt_of
from burstwatch_exporter.first_read import DeviceAge, start_of
from burstwatch_exporter.interval import after_unseen
from burstwatch_exporter.ledger import Ledger, Reading
from burstwatch_exporter.settings import Roots
from burstwatch_exporter.snapshot import Account, Published, Snapshot, View
from burstwatch_exporter.sources import Sources
from burstwatch_exporter.state import Saved

LOG = logging.getLogger("burstwatch_exporter")
#: The wall clock may be off by so much from one reading to the next before it has jumped.
JUMP_S = 2.0
#: A clock that keeps time by NTP is closer to AWS's.
CLOCK_OFF_S = 5.0
#: A jump is told for so long, or no scrape would see it.
TOLD_S = 600.0


class Host:
    """The volumes of this host and their accounts."""

    def __init__(
        self,
        *,
        roots: Roots,
        clock: Clock,
        sources: Sources,
        config: HostConfig,
        saved: Mapping[str, Saved],
        slot_s: float,
        instance: InstanceLimits | None = None,
        reconciles: bool = False,
    ) -> None:
        """``saved`` are the accounts that an earlier process kept, ``slot_s`` the seconds between calls of ``observe``.

        ``instance`` has the limits of the whole host, if they are known. ``reconciles`` is true if CloudWatch's balances
        will come through ``apply``.
        """
        self._roots, self._clock, self._sources, self._config = roots, clock, sources, config
        self._slot_s, self._instance, self._reconciles = slot_s, instance, reconciles
        self._lock = threading.Lock()
        self._devices = NOTHING
        self._devnos: Mapping[str, str] = {}
        self._specs: dict[str, DiskSpec] = {}
        self._ledgers: dict[str, Ledger] = {}
        # Saved accounts of volumes that are not there now, or not yet.
        self._gone = dict(saved)
        self._wall_offset: float | None = None
        #: The last jump of a clock in words, and the boot time until which it is shown.
        self._jump = ("", 0.0)
        self._rates: dict[Disk, Rate] = {}
        self._cloud = CloudAnswer(specs={}, balances={})
        self._published: dict[str, Published] = {}
        self._read_at: float | None = None
        #: The earliest time at which a disk can have been attached, by name: the last reading without it. Infinite if
        #: another disk had the name before and nothing but the name says which volume it is.
        self._came_after: dict[str, float] = {}
        #: Every device name that has been seen.
        self._names_seen: set[str] = set()
        #: The time of the last reading in which /proc/diskstats had a line of the disk, by name.
        self._lines_at: dict[str, float] = {}
        #: The kernel's count of device events at the last reading, as it stands in the file.
        self._events = b""
        #: Why EBS's own statistics contradict the kernel's counters, by the key of the disk.
        self._contradictions: dict[str, str] = {}

    def observe(self) -> Snapshot:
        """Read the counters, move every account on, and say how things are."""
        with self._lock:
            return self._observe()

    def has_volumes(self) -> bool:
        """True if this host has any EBS volume or configured device, with credits or without."""
        with self._lock:
            return bool(self._devices.blocks.disks)

    def apply(self, answer: CloudAnswer) -> None:
        """Go by what AWS says: types and sizes from now on, balances for the intervals."""
        with self._lock:
            self._cloud = answer
            self._take(self._devices)
            for ledger in self._ledgers.values():
                self._reconcile(ledger)

    def set_instance(self, instance: InstanceLimits | None) -> None:
        """Go by what the whole host may move, which is known only now."""
        with self._lock:
            self._instance = instance
            self._take(self._devices)

    def contradict(self, disk: Disk, words: str, seconds: float) -> None:
        """Take it that the counters of a disk have missed I/O of so many seconds; without ``words``, that they have not."""
        with self._lock:
            ledger = self._ledgers.get(disk.key)
            if words and ledger is not None:
                ledger.distrust(seconds)
            if words:
                self._contradictions[disk.key] = words
            else:
                self._contradictions.pop(disk.key, None)

    def look(self) -> None:
        """Look anew at devices and mounts: what is resized keeps its name. Scrapes go on meanwhile."""
        with self._lock:
            devnos = self._devnos
        devices = self._read_devices(devnos)
        with self._lock:
            if devnos == self._devnos:  # else a scrape has looked later than this
                self._take(devices)

    def saved(self) -> list[Saved]:
        """The state that a later process needs, as of the newest reading."""
        with self._lock:
            wall_s = self._clock.wall()
            self._gone = {
                key: saved for key, saved in self._gone.items() if _says_something(saved, wall_s)
            }
            here = [self._saved(ledger, wall_s) for ledger in self._ledgers.values()]
            return [
                *here,
                *(saved for key, saved in self._gone.items() if key not in self._ledgers),
            ]

    def _observe(self) -> Snapshot:
        """Read the counters once, doubt or believe each disk's, and move its ledger on."""
        wall_s = self._watch_clock()
        stats: DiskStats | None = None
        with self._sources.attempt("diskstats") as attempt:
            before = self._clock.boot()
            asleep_s = before - self._clock.awake()
            text = (self._roots.procfs / "diskstats").read_text(encoding="ascii", errors="replace")
            slack_s = self._clock.boot() - before
            stats = parse_diskstats(text)
            attempt.problems += stats.problems
        if stats is None:
            return Snapshot(at=self._clock.boot(), views=(), stacked=(), mounts=())
        if self._may_be_others(stats):
            self._devnos = stats.devnos
            self._take(self._read_devices(stats.devnos), stats)
        self._read_at = before
        counted = {
            name: stats.of(name, disk.paths) for name, disk in self._devices.blocks.disks.items()
        }
        self._note_rates(counted, at=before)
        doubts = self._doubts(counted, at=before)
        instance_binding = self._instance_binding()
        views: list[View] = []
        for name, disk in self._devices.blocks.disks.items():
            counters = counted[name]
            spec, account = self._specs.get(disk.key), None
            ledger = self._ledgers.get(disk.key)
            newest = counters or (ledger.reading.counters if ledger is not None else None)
            if spec is not None and spec.bucket is not None and newest is not None:
                reading = Reading(
                    at=before,
                    wall_s=wall_s,
                    slack_s=slack_s,
                    counters=newest,
                    asleep_s=max(0.0, asleep_s),
                    doubt=doubts.get(name),
                )
                account = self._account_of(
                    self._ledger_of(disk, spec, reading), disk, instance_binding
                )
            views.append(
                View(
                    disk=disk,
                    counters=counters,
                    spec=spec,
                    account=account,
                    doubt=doubts.get(name),
                )
            )
        return Snapshot(
            at=before,
            views=tuple(views),
            stacked=tuple(self._devices.blocks.stacked.values()),
            mounts=self._devices.mounts,
            container_files=self._devices.container_files,
        )

    def _account_of(self, ledger: Ledger, disk: Disk, instance_binding: Binding) -> Account:
        """Collect what a ledger knows now of its volume's credits."""
        rate = self._rates.get(disk)
        return Account(
            bucket=ledger.bucket,
            own_bucket=ledger.own_bucket,
            interval=ledger.seen(),
            likely=ledger.likely(),
            projection=ledger.project(STILL if rate is None else rate.load, instance_binding),
            charged=ledger.charged,
            origin=ledger.origin,
            is_served_at_baseline=ledger.is_served_at_baseline(),
            published=self._published.get(disk.key),
            disagreements=ledger.disagreements,
        )

    def _may_be_others(self, stats: DiskStats) -> bool:
        """True if a disk may have come, gone or been replaced since the last look."""
        before, self._events = self._events, self._count_events()
        if self._read_at is None or stats.devnos != self._devnos or self._any_began_anew(stats):
            return True
        if self._events and self._events == before:
            return False
        roots = self._roots
        return any(
            disk_identity(roots.sysfs, roots.udev, disk, stats.devnos.get(disk.name, ""))
            != (disk.sequence or ("" if disk.appeared_s is None else f"{disk.appeared_s}"))
            for disk in self._devices.blocks.disks.values()
        )

    def _count_events(self) -> bytes:
        """The number of the kernel's last event of any device, or nothing where it does not tell."""
        try:
            return (self._roots.sysfs / "kernel" / "uevent_seqnum").read_bytes()
        except OSError:
            return b""

    def _doubts(self, counted: Mapping[str, Counters | None], *, at: float) -> dict[str, Doubt]:
        """Why the counters of some disks are not believed, by name; each is told."""
        doubts: dict[str, Doubt] = {}
        with self._sources.attempt("counters") as attempt:
            for name, disk in self._devices.blocks.disks.items():
                if counted[name] is not None:
                    self._lines_at[name] = at
                appearance = Appearance(
                    disk=disk,
                    counters=counted[name],
                    missing_s=at - self._lines_at.get(name, -math.inf),
                    is_counting=is_counting(self._roots.sysfs, disk),
                    container_files=self._devices.container_files,
                    contradiction=self._contradictions.get(disk.key, ""),
                )
                doubt = doubt_of(appearance)
                if doubt is not None:
                    doubts[name] = doubt
                    if doubt.is_told:
                        attempt.problems.append(f"{disk.key} ({name}): {doubt.reason}")
                published = self._published.get(disk.key)
                if published is not None and published.drift:
                    attempt.problems.append(f"{disk.key} ({name}): {published.disagreement}")
        return doubts

    def _watch_clock(self) -> float:
        """The wall clock's time; that it jumped is told, for what is saved depends on it."""
        wall_s = self._clock.wall()
        with self._sources.attempt("clock") as attempt:
            offset = wall_s - self._clock.boot()
            before, self._wall_offset = self._wall_offset, offset
            if before is not None and abs(offset - before) > JUMP_S:
                way = "forward" if offset > before else "back"
                jump = f"the wall clock was set {way} by {abs(offset - before):.0f} s"
                self._jump = (jump, self._clock.boot() + TOLD_S)
                for ledger in self._ledgers.values():
                    ledger.forget_trail()
                # How far AWS's clock is ahead of this one is not known before its next answer.
                self._cloud = replace(self._cloud, ahead_s=None)
                # An account saved before the host was started is dated by the wall clock alone.
                self._gone = {
                    key: replace(saved, wall_s=saved.wall_s + offset - before)
                    for key, saved in self._gone.items()
                }
            jump, until = self._jump
            if self._clock.boot() < until:
                attempt.problems.append(jump)
            ahead_s = self._cloud.ahead_s or 0.0
            if abs(ahead_s) > CLOCK_OFF_S:
                way = "behind" if ahead_s > 0 else "ahead of"
                attempt.problems.append(
                    f"the wall clock is {span(abs(ahead_s))} {way} AWS's, which is allowed for"
                )
        return wall_s

    def _note_rates(self, counted: Mapping[str, Counters | None], *, at: float) -> None:
        """Note how fast each disk moves now; what has just come moves nothing yet."""
        rates: dict[Disk, Rate] = {}
        for name, disk in self._devices.blocks.disks.items():
            counters = counted[name]
            if counters is not None:
                rates[disk] = self._rates.get(disk) or Rate(at, counters)
                rates[disk].note(at, counters)
        self._rates = rates

    def _instance_binding(self) -> Binding:
        """The instance's limit that all its volumes together lie at, if they do."""
        specs = self._specs.values()
        instances = (spec.volume.instance for spec in specs)
        limits = next((instance for instance in instances if instance is not None), None)
        if limits is None:
            return "none"
        not_of_ebs = {key for key, spec in self._specs.items() if not spec.is_of_ebs}
        loads = [rate.load for disk, rate in self._rates.items() if disk.key not in not_of_ebs]
        uses: list[tuple[float, Binding]] = [
            (sum(load.iops for load in loads) / limits.iops, "instance_iops"),
            (sum(load.mib_s for load in loads) / limits.mib_s, "instance_throughput"),
        ]
        use, binding = max(uses, key=itemgetter(0))
        return binding if use >= AT_LIMIT else "none"

    def _read_devices(self, devnos: Mapping[str, str]) -> Devices:
        return read_devices(
            self._roots, self._sources, self._devices, named=self._config.devices, devnos=devnos
        )

    def _take(self, devices: Devices, stats: DiskStats | None = None) -> None:
        """Take the devices, with each one's spec as EC2 and the configuration say.

        ``stats`` are the counters with which it was found that something has changed.
        """
        devices = self._with_known_times(devices)
        self._note_coming(devices.blocks.disks)
        self._devices = devices
        with self._sources.attempt("config") as attempt:
            self._specs, problems = specs_of(
                devices.blocks.disks.values(),
                self._config,
                self._cloud.specs,
                instance=self._instance,
            )
            attempt.problems += problems
        self._let_go(stats)

    def _with_known_times(self, devices: Devices) -> Devices:
        """The devices with when they came, also where udev's record of the same disk is not found now."""
        disks = dict(devices.blocks.disks)
        for name, disk in disks.items():
            earlier = self._devices.blocks.disks.get(name)
            if disk.appeared_s is None and earlier is not None and not _is_another(disk, earlier):
                disks[name] = replace(disk, appeared_s=earlier.appeared_s)
        return replace(devices, blocks=replace(devices.blocks, disks=disks))

    def _note_coming(self, disks: Mapping[str, Disk]) -> None:
        """Note since when each disk can have been there: not at the reading before, if it was not there then."""
        before = self._devices.blocks.disks
        came_after: dict[str, float] = {}
        for name, disk in disks.items():
            earlier = before.get(name)
            if earlier is not None and not _is_another(disk, earlier):
                if name in self._came_after:
                    came_after[name] = self._came_after[name]
            elif name in self._names_seen and not disk.has_serial:
                came_after[name] = math.inf
            elif self._read_at is not None:
                came_after[name] = self._read_at
        self._came_after = came_after
        self._names_seen |= disks.keys()

    def _any_began_anew(self, stats: DiskStats) -> bool:
        return any(self._began_anew(ledger, stats) for ledger in self._ledgers.values())

    def _began_anew(self, ledger: Ledger, stats: DiskStats) -> bool:
        counters = stats.of(ledger.disk.name, ledger.disk.paths)
        return counters is not None and counters.ops < ledger.reading.counters.ops

    def _let_go(self, stats: DiskStats | None) -> None:
        """Put the accounts of what is gone, replaced or promised anew aside."""
        disks = {disk.key: disk for disk in self._devices.blocks.disks.values()}
        for key, ledger in list(self._ledgers.items()):
            disk, spec = disks.get(key), self._specs.get(key)
            is_other = disk is not None and _is_another(disk, ledger.disk)
            if disk is not None and not disk.is_identified and stats is not None:
                is_other = is_other or self._began_anew(ledger, stats)
            if is_other and disk is not None and not disk.has_serial:
                # Only its name says that it is the same volume, and another disk has got that.
                self._came_after[disk.name] = math.inf
            if (
                disk is None
                or spec is None
                or is_other
                or disk.name != ledger.disk.name
                or spec.own_bucket != ledger.own_bucket
                or spec.spec_id != ledger.spec.spec_id
                or spec.changed_s != ledger.spec.changed_s
            ):
                self._gone[key] = self._saved(self._ledgers.pop(key), self._clock.wall())
            else:
                ledger.go_on_with(disk, spec)

    def _ledger_of(self, disk: Disk, spec: DiskSpec, reading: Reading) -> Ledger:
        """The volume's account, moved on to the reading or begun at it."""
        ledger = self._ledgers.get(disk.key)
        if ledger is not None:
            ledger.note(reading)
            self._reconcile(ledger)
            return ledger
        moment = DeviceAge(boot_id=self._devices.boot_id, age_s=self._age_s(disk, reading))
        saved = self._gone.pop(disk.key, None)
        start = start_of(disk, spec, reading, moment, saved)
        LOG.info("%s (%s): %s", disk.key, disk.name, start.reason)
        ledger = self._ledgers[disk.key] = Ledger(
            disk,
            spec,
            start=start.interval,
            origin=start.origin,
            reading=reading,
            slot_s=self._slot_s,
            lately=start.lately,
            with_trail=self._reconciles,
        )
        self._reconcile(ledger)
        return ledger

    def _age_s(self, disk: Disk, reading: Reading) -> float | None:
        """For how long a disk has been there at the least, or None if nobody knows."""
        came_after = self._came_after.get(disk.name, -math.inf)
        if disk.appeared_s is None or came_after == math.inf:
            return None
        awake_s = self._clock.awake() - (self._clock.boot() - reading.at)
        return max(0.0, min(awake_s - disk.appeared_s, reading.at - came_after))

    def _reconcile(self, ledger: Ledger) -> None:
        """With the newest published balance: once when it comes, and again when its period is over here.

        A balance can come before the trail has reached the end of its period. Its drift is not known until then.
        """
        key = ledger.disk.key
        point, before = self._cloud.balances.get(key), self._published.get(key)
        is_replaced = self._came_after.get(ledger.disk.name) == math.inf
        if (
            point is None or is_replaced
        ):  # then only a name that another disk has got says whose it is
            return
        ahead_s = self._cloud.ahead_s
        if ahead_s is None:  # nobody knows when that was by this host's clock
            self._published[key] = Published(point=point, drift=None)
            return
        here = point._replace(start_s=point.start_s - ahead_s)
        if (
            before is None
            or before.point != point
            or (before.drift is None and ledger.has_seen(here))
        ):
            self._published[key] = Published(point=point, drift=ledger.reconcile(here))

    def _saved(self, ledger: Ledger, wall_s: float) -> Saved:
        """Collect what a ledger needs to go on after a restart."""
        interval, reading = ledger.kept()
        largest = ledger.disk.largest_kib
        return Saved(
            key=ledger.disk.key,
            name=ledger.disk.name,
            sequence=ledger.disk.sequence,
            boot_id=self._devices.boot_id,
            at=reading.at,
            wall_s=wall_s - (self._clock.boot() - reading.at),
            counters=replace(reading.counters, in_flight=0),
            bucket=ledger.own_bucket,
            spec_id=ledger.spec.spec_id,
            interval=interval,
            asleep_s=reading.asleep_s,
            largest_kib=largest if math.isfinite(largest) else None,
            is_counted=ledger.is_counted,
        )


def _is_another(disk: Disk, earlier: Disk) -> bool:
    """True if a disk is not the one that had its name before."""
    if disk.sequence or earlier.sequence:
        return disk.sequence != earlier.sequence
    if disk.appeared_s is None or earlier.appeared_s is None:
        return disk.key != earlier.key
    return disk.key != earlier.key or disk.appeared_s > earlier.appeared_s


def _says_something(saved: Saved, wall_s: float) -> bool:
    """True if what was saved is more than nothing by now."""
    seconds = max(0.0, wall_s - saved.wall_s)
    after = after_unseen(saved.bucket, saved.interval, seconds=seconds)
    return after.low > 0 or after.high < saved.bucket.capacity

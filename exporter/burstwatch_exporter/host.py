"""The host at one instant: every volume with what it did and what is left of its credits.

Nothing here serves or prints. ``observe`` reads the counters and moves every account on; what
lies under what, and where it is mounted, ``look`` reads anew, and ``observe`` itself when a
device comes, goes or begins anew.
"""

import math
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from burstwatch.ebs.volumes import Binding, InstanceLimits
from burstwatch.formatting import span
from burstwatch.history.points import AT_LIMIT
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.config_file import HostConfig
from burstwatch_exporter.credits.disk_spec import DiskSpec, specs_of
from burstwatch_exporter.credits.first_read import DeviceAge, set_clock
from burstwatch_exporter.credits.interval import after_unseen
from burstwatch_exporter.credits.ledger import Reading
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.credits.snapshot import Snapshot, View
from burstwatch_exporter.credits.state import Saved
from burstwatch_exporter.credits.watched_disk import Accounting, WatchedDisk, is_another, saved_of
from burstwatch_exporter.kernel.blocks import Disk, disk_identity
from burstwatch_exporter.kernel.devices import NOTHING, Devices, read_devices
from burstwatch_exporter.kernel.diskstats import Counters, DiskStats, parse_diskstats
from burstwatch_exporter.kernel.evidence import Doubt
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.sources import Sources

#: The wall clock may be off by so much from one reading to the next before it has jumped.
JUMP_S = 2.0
#: Two clocks that are read one after the other are off by less.
LEAST_STEP_S = 0.1
#: Fits no mount point.
NO_MOUNT = re.compile(r"(?!)")
#: A clock that keeps time by NTP is closer to AWS's.
CLOCK_OFF_S = 5.0
#: A volume that was attached at the boot has appeared by then.
AT_BOOT_S = 120.0
#: A jump is told for so long, or no scrape would see it.
TOLD_S = 600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Notice:
    """Words for people that are shown until a boot time."""

    text: str
    until_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _FileReading:
    """/proc/diskstats as it was from ``at`` to ``at + slack_s``."""

    stats: DiskStats
    at: float
    slack_s: float
    asleep_s: float


class Host:
    """The volumes of this host and their accounts."""

    def __init__(  # noqa: PLR0913 - all that it reads and goes by
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
        mounts_exclude: re.Pattern[str] = NO_MOUNT,
    ) -> None:
        """``saved`` are the accounts that an earlier process kept, ``slot_s`` the seconds between calls of ``observe``.

        ``instance`` has the limits of the whole host, if they are known. ``reconciles`` is true if CloudWatch's balances
        will come through ``apply``. Mount points that ``mounts_exclude`` fits are not shown.
        """
        self._mounts_exclude = mounts_exclude
        self._root_created_s: float | None = None
        self._roots, self._clock, self._sources, self._config = roots, clock, sources, config
        self._accounting = Accounting(slot_s=slot_s, reconciles=reconciles)
        self._instance = instance
        self._lock = threading.Lock()
        self._devices = NOTHING
        self._devnos: Mapping[str, str] = {}
        self._watched: dict[str, WatchedDisk] = {}
        #: Saved accounts of volumes that are not there now, or not yet, by key.
        self._absent = dict(saved)
        self._wall_offset: float | None = None
        self._jump: _Notice | None = None
        #: While a new configuration names devices.
        self._renames = False
        self._cloud = CloudAnswer(specs={}, balances={})
        self._read_at: float | None = None
        #: Every device name that has been seen.
        self._names_seen: set[str] = set()
        #: The kernel's count of device events at the last reading, as it stands in the file.
        self._events = b""

    def observe(self) -> Snapshot:
        """Read the counters, move every account on, and say how things are."""
        with self._lock:
            return self._observe()

    def has_volumes(self) -> bool:
        """True if this host has any EBS volume or configured device, with credits or without."""
        with self._lock:
            return bool(self._watched)

    def apply(self, answer: CloudAnswer) -> None:
        """Go by what AWS says: types and sizes from now on, balances for the intervals."""
        with self._lock:
            self._cloud = answer
            self._take(self._devices)
            for watched in self._watched.values():
                watched.reconcile(answer)

    def reconfigure(self, config: HostConfig) -> None:
        """Go by another configuration from now on."""
        with self._lock:
            self._config = config
            # What it names now was there before as well.
            self._renames = True
        self.look()
        with self._lock:
            self._renames = False

    def set_instance(self, instance: InstanceLimits | None) -> None:
        """Go by what the whole host may move, which is known only now."""
        with self._lock:
            self._instance = instance
            self._take(self._devices)

    def set_root_created(self, created_s: float) -> None:
        """Go by when the volume of the root was new, which is known only now."""
        with self._lock:
            self._root_created_s = created_s
            self._take(self._devices)

    def contradict(self, disk: Disk, words: str, seconds: float) -> None:
        """Take it that the counters of a disk have missed I/O of so many seconds; without ``words``, that they have not."""
        with self._lock:
            watched = self._watched.get(disk.name)
            if watched is not None and watched.disk.key == disk.key:
                watched.contradict(words, seconds)

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
            self._absent = {
                key: saved for key, saved in self._absent.items() if _says_something(saved, wall_s)
            }
            here = {watched.disk.key: self._saved(watched) for watched in self._watched.values()}
            by_key = self._absent | {key: saved for key, saved in here.items() if saved is not None}
            return list(by_key.values())

    def _observe(self) -> Snapshot:
        """Read the counters once, doubt or believe each disk's, and move its account on."""
        wall_s = self._watch_clock()
        file = self._read_counters()
        if file is None:
            return Snapshot(at=self._clock.boot(), views=(), stacked=(), mounts=())
        if self._may_be_others(file.stats):
            self._devnos = file.stats.devnos
            self._take(self._read_devices(file.stats.devnos), file.stats)
        self._read_at = file.at
        counted = {
            name: file.stats.of(name, watched.disk.paths) for name, watched in self._watched.items()
        }
        for name, watched in self._watched.items():
            watched.note_rate(counted[name], at=file.at)
        doubts = self._doubts(counted, at=file.at)
        instance_binding = self._instance_binding()
        views: list[View] = []
        for name, watched in self._watched.items():
            self._go_on(watched, counted[name], doubts[name], file, wall_s=wall_s)
            views.append(watched.view(counted[name], doubts[name], instance_binding))
        return Snapshot(
            at=file.at,
            views=tuple(views),
            stacked=tuple(self._devices.blocks.stacked.values()),
            mounts=self._devices.mounts,
            container_files=self._devices.container_files,
        )

    def _read_counters(self) -> _FileReading | None:
        """Read /proc/diskstats with its time, or None where it cannot be read, which is told."""
        with self._sources.attempt("diskstats") as attempt:
            before = self._clock.boot()
            asleep_s = before - self._clock.awake()
            text = (self._roots.procfs / "diskstats").read_text(encoding="ascii", errors="replace")
            slack_s = self._clock.boot() - before
            stats = parse_diskstats(text)
            attempt.problems += stats.problems
            return _FileReading(
                stats=stats, at=before, slack_s=slack_s, asleep_s=max(0.0, asleep_s)
            )
        return None

    def _go_on(
        self,
        watched: WatchedDisk,
        counters: Counters | None,
        doubt: Doubt | None,
        file: _FileReading,
        *,
        wall_s: float,
    ) -> None:
        """Move the account of a disk on to a reading, or begin one, where its bucket and counters are known."""
        ledger, spec = watched.ledger, watched.spec
        newest = ledger.reading.counters if counters is None and ledger is not None else counters
        if spec is None or spec.bucket is None or newest is None:
            return
        reading = Reading(
            at=file.at,
            wall_s=wall_s,
            slack_s=file.slack_s,
            counters=newest,
            asleep_s=file.asleep_s,
            doubt=doubt,
        )
        if ledger is not None:
            ledger.note(reading)
        else:
            age = DeviceAge(
                boot_id=self._devices.boot_id, age_s=watched.age_s(reading, self._clock)
            )
            saved = self._saved_before(watched.disk)
            watched.begin(spec, reading, saved, age=age, accounting=self._accounting)
        watched.reconcile(self._cloud)

    def _may_be_others(self, stats: DiskStats) -> bool:
        """True if a disk may have come, gone or been replaced since the last look."""
        events = self._count_events()
        is_without_events = bool(events) and events == self._events
        self._events = events
        if self._read_at is None or stats.devnos != self._devnos:
            return True
        if any(watched.has_begun_anew(stats) for watched in self._watched.values()):
            return True
        return not is_without_events and any(
            self._is_other_now(watched.disk, stats) for watched in self._watched.values()
        )

    def _is_other_now(self, disk: Disk, stats: DiskStats) -> bool:
        devno = stats.devnos.get(disk.name, "")
        identity = disk_identity(self._roots.sysfs, self._roots.udev, disk, devno)
        return identity != (
            disk.sequence or ("" if disk.appeared_s is None else f"{disk.appeared_s}")
        )

    def _count_events(self) -> bytes:
        """The number of the kernel's last event of any device, or nothing where it does not tell."""
        try:
            return (self._roots.sysfs / "kernel" / "uevent_seqnum").read_bytes()
        except OSError:
            return b""

    def _doubts(
        self, counted: Mapping[str, Counters | None], *, at: float
    ) -> dict[str, Doubt | None]:
        """Why the counters of some disks are not believed, by name; each is told."""
        doubts: dict[str, Doubt | None] = {}
        with self._sources.attempt("counters") as attempt:
            for name, watched in self._watched.items():
                doubts[name] = watched.doubt(
                    counted[name],
                    at=at,
                    roots=self._roots,
                    container_files=self._devices.container_files,
                )
                attempt.problems += watched.problems(doubts[name])
        return doubts

    def _watch_clock(self) -> float:
        """The wall clock's time; that it jumped is told, for what is saved depends on it."""
        wall_s = self._clock.wall()
        with self._sources.attempt("clock") as attempt:
            offset = wall_s - self._clock.boot()
            jumped_s = 0.0 if self._wall_offset is None else offset - self._wall_offset
            self._wall_offset = offset
            if abs(jumped_s) > JUMP_S:
                self._set_clock(jumped_s)
            elif jumped_s > LEAST_STEP_S:
                self._correct(jumped_s)
            if self._jump is not None and self._clock.boot() < self._jump.until_s:
                attempt.problems.append(self._jump.text)
            ahead_s = self._cloud.ahead_s or 0.0
            if abs(ahead_s) > CLOCK_OFF_S:
                way = "behind" if ahead_s > 0 else "ahead of"
                attempt.problems.append(
                    f"the wall clock is {span(abs(ahead_s))} {way} AWS's, which is allowed for"
                )
        return wall_s

    def _set_clock(self, seconds: float) -> None:
        """Go by a wall clock that was set forward by so many seconds, or back."""
        way = "forward" if seconds > 0 else "back"
        self._jump = _Notice(
            text=f"the wall clock was set {way} by {span(abs(seconds))}",
            until_s=self._clock.boot() + TOLD_S,
        )
        for watched in self._watched.values():
            if watched.ledger is not None:
                watched.ledger.forget_times()
        # How far AWS's clock is ahead of this one is not known before its next answer.
        self._cloud = replace(self._cloud, ahead_s=None)
        self._correct(seconds)

    def _correct(self, seconds: float) -> None:
        """Widen what rests on a wall clock that was set forward by so many seconds, or back."""
        for watched in self._watched.values():
            if watched.ledger is not None:
                watched.ledger.correct(seconds)
        # An account saved before the host was started is dated by the wall clock alone.
        self._absent = {
            key: set_clock(saved, seconds, is_here=False) for key, saved in self._absent.items()
        }

    def _instance_binding(self) -> Binding:
        """The instance's limit that all its volumes together lie at, if they do."""
        disks = self._watched.values()
        instances = (disk.spec.volume.instance for disk in disks if disk.spec is not None)
        limits = next((instance for instance in instances if instance is not None), None)
        if limits is None:
            return "none"
        loads = [
            disk.rate.load
            for disk in disks
            if disk.rate is not None and (disk.spec is None or disk.spec.is_of_ebs)
        ]
        uses: list[tuple[float, Binding]] = [
            (sum(load.iops for load in loads) / limits.iops, "instance_iops"),
            (sum(load.mib_s for load in loads) / limits.mib_s, "instance_throughput"),
        ]
        use, binding = max(uses, key=itemgetter(0))
        return binding if use >= AT_LIMIT else "none"

    def _read_devices(self, devnos: Mapping[str, str]) -> Devices:
        return read_devices(
            self._roots,
            self._sources,
            self._devices,
            named=self._config.devices,
            devnos=devnos,
            excluded=self._mounts_exclude,
        )

    def _take(self, devices: Devices, stats: DiskStats | None = None) -> None:
        """Take the devices, with each one's spec as EC2 and the configuration say.

        ``stats`` are the counters with which it was found that something has changed.
        """
        self._devices = devices
        before = self._watched
        self._watched = {name: self._watch(disk) for name, disk in devices.blocks.disks.items()}
        self._names_seen |= self._watched.keys()
        for name, watched in before.items():
            if self._watched.get(name) is not watched:
                self._put_aside(watched)
        disks = {name: self._with_known_time(disk) for name, disk in devices.blocks.disks.items()}
        with self._sources.attempt("config") as attempt:
            specs, problems = specs_of(
                disks.values(), self._config, self._cloud.specs, instance=self._instance
            )
            attempt.problems += problems
        specs |= self._of_root(disks, specs)
        for name, watched in self._watched.items():
            disk, spec = disks[name], specs.get(disks[name].key)
            is_replaced = watched.is_replaced(disk, stats)
            if is_replaced or not watched.is_account_of(disk, spec):
                self._put_aside(watched)
            if is_replaced:
                # Only its name says that it is the same volume, and another disk has got that.
                watched.came_after = math.inf
            watched.change_to(disk, spec)

    def _of_root(
        self, disks: Mapping[str, Disk], specs: Mapping[str, DiskSpec]
    ) -> dict[str, DiskSpec]:
        """The specs of the disks of the root file system, with when they were new where nobody has said otherwise."""
        if self._root_created_s is None:
            return {}
        devices = {device for mount, device in self._devices.mounts if mount.mountpoint == "/"}
        stacked = self._devices.blocks.stacked
        names = {
            name
            for device in devices
            for name in (stacked[device].disks if device in stacked else (device,))
        }
        # What joined the root's volumes later may be old.
        keys = {
            disks[name].key for name in names if name in disks and _was_there_at_boot(disks[name])
        }
        return {
            key: replace(spec, created_s=self._root_created_s)
            for key, spec in specs.items()
            if key in keys and spec.created_s is None and spec.is_of_ebs
        }

    def _watch(self, disk: Disk) -> WatchedDisk:
        """Go on watching a disk, or begin: it was not there at the reading before."""
        earlier = self._watched.get(disk.name)
        if earlier is not None and not is_another(disk, earlier.disk):
            return earlier
        if self._read_at is None or self._renames:
            return WatchedDisk(disk, came_after=-math.inf)
        if disk.name in self._names_seen and not disk.has_serial:
            return WatchedDisk(disk, came_after=math.inf)
        return WatchedDisk(disk, came_after=self._read_at)

    def _with_known_time(self, disk: Disk) -> Disk:
        """The disk with when it came, also where udev's record of the same disk is not found now."""
        earlier = self._watched[disk.name].disk
        if disk.appeared_s is None:
            return replace(disk, appeared_s=earlier.appeared_s)
        return disk

    def _put_aside(self, watched: WatchedDisk) -> None:
        """End the account of what is gone, replaced or promised anew, and keep it for when it is back."""
        saved = self._saved(watched)
        if saved is not None:
            self._absent[saved.key] = saved
        watched.ledger = None

    def _saved_before(self, disk: Disk) -> Saved | None:
        """What was saved of a volume, or what its twin knows of it."""
        saved = self._absent.pop(disk.key, None)
        twins = (self._watched[name] for name in disk.twins if name in self._watched)
        return saved or next((self._saved(twin) for twin in twins if twin.ledger is not None), None)

    def _saved(self, watched: WatchedDisk) -> Saved | None:
        if watched.ledger is None:
            return None
        offset_s = self._wall_offset
        if offset_s is None:
            offset_s = self._clock.wall() - self._clock.boot()
        return saved_of(watched.ledger, boot_id=self._devices.boot_id, wall_offset_s=offset_s)


def _says_something(saved: Saved, wall_s: float) -> bool:
    """True if what was saved is more than nothing by now."""
    seconds = max(0.0, wall_s - saved.wall_s)
    after = after_unseen(saved.bucket, saved.interval, seconds=seconds)
    return after.low > 0 or after.high < saved.bucket.capacity


def _was_there_at_boot(disk: Disk) -> bool:
    return disk.appeared_s is not None and disk.appeared_s <= AT_BOOT_S

"""The host at one instant: every volume with what it did and what is left of its credits.

Nothing here serves or prints. ``observe`` reads the counters and moves every account on; what
lies under what, and where it is mounted, ``look`` reads anew, and ``observe`` itself when a
device comes, goes or begins anew.
"""

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter

from burstwatch.ebs.volumes import Binding, InstanceLimits
from burstwatch.history.points import AT_LIMIT
from burstwatch_exporter.blocks import Disk
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.cloud import CloudAnswer
from burstwatch_exporter.config_file import HostConfig
from burstwatch_exporter.devices import NOTHING, Devices, read_devices
from burstwatch_exporter.disk_spec import DiskSpec, specs_of
from burstwatch_exporter.diskstats import DiskStats, parse_diskstats
from burstwatch_exporter.first_read import DeviceAge, start_of
from burstwatch_exporter.interval import after_unseen
from burstwatch_exporter.ledger import Ledger, Reading
from burstwatch_exporter.rate import Rate
from burstwatch_exporter.settings import Roots
from burstwatch_exporter.snapshot import Account, Published, Snapshot, View
from burstwatch_exporter.sources import Sources
from burstwatch_exporter.state import Saved

LOG = logging.getLogger("burstwatch_exporter")
#: The wall clock may be off by so much from one reading to the next before it has jumped.
JUMP_S = 2.0
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
        """``saved`` is what an earlier process left, ``slot_s`` how often ``observe`` is called.

        ``instance`` is what the whole host may move, where that is known; ``reconciles``
        whether published balances will be told.
        """
        self._roots, self._clock, self._sources, self._config = roots, clock, sources, config
        self._slot_s, self._instance, self._reconciles = slot_s, instance, reconciles
        self._lock = threading.Lock()
        self._devices = NOTHING
        self._devnos: Mapping[str, str] = {}
        self._specs: dict[str, DiskSpec] = {}
        self._ledgers: dict[str, Ledger] = {}
        # What is known of volumes that are not there now, or not yet.
        self._gone = dict(saved)
        self._wall_offset: float | None = None
        self._jump = ("", 0.0)  # what happened, and until when it is told
        self._rates: dict[Disk, Rate] = {}
        self._cloud = CloudAnswer(specs={}, balances={})
        self._published: dict[str, Published] = {}

    def observe(self) -> Snapshot:
        """Read the counters, move every account on, and say how things are."""
        with self._lock:
            return self._observe()

    def has_volumes(self) -> bool:
        """Whether there is a disk whose volume is known, with credits or without."""
        with self._lock:
            return bool(self._devices.blocks.disks)

    def apply(self, answer: CloudAnswer) -> None:
        """Go by what AWS says: types and sizes from now on, balances for the intervals."""
        with self._lock:
            self._cloud = answer
            self._take(self._devices)
            for ledger in self._ledgers.values():
                self._reconcile(ledger)

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
                key: one for key, one in self._gone.items() if _says_something(one, wall_s)
            }
            here = [self._saved(ledger, wall_s) for ledger in self._ledgers.values()]
            return [*here, *(one for key, one in self._gone.items() if key not in self._ledgers)]

    def _observe(self) -> Snapshot:
        wall_s = self._watch_clock()
        stats: DiskStats | None = None
        with self._sources.attempt("diskstats") as attempt:
            before = self._clock.boot()
            text = (self._roots.procfs / "diskstats").read_text(encoding="ascii", errors="replace")
            slack_s = self._clock.boot() - before
            stats = parse_diskstats(text)
            attempt.problems += stats.problems
        if stats is None:
            return Snapshot(views=(), stacked=(), mounts=())
        if stats.devnos != self._devnos or self._any_began_anew(stats):
            self._devnos = stats.devnos
            self._take(self._read_devices(stats.devnos))
        self._note_rates(stats, at=before)
        instance_binding = self._instance_binding()
        views: list[View] = []
        for name, disk in self._devices.blocks.disks.items():
            counters = stats.counters.get(name)
            if counters is None:
                continue
            reading = Reading(at=before, wall_s=wall_s, slack_s=slack_s, counters=counters)
            spec = self._specs.get(disk.key)
            account = None
            if spec is not None and spec.bucket is not None:
                ledger = self._account(disk, spec, reading)
                account = Account(
                    bucket=ledger.bucket,
                    own_bucket=ledger.own_bucket,
                    interval=ledger.seen(),
                    likely=ledger.likely(),
                    projection=ledger.project(self._rates[disk].load, instance_binding),
                    charged=ledger.charged,
                    origin=ledger.origin,
                    is_served_at_baseline=ledger.is_served_at_baseline(),
                    published=self._published.get(disk.key),
                )
            views.append(View(disk=disk, counters=counters, spec=spec, account=account))
        return Snapshot(
            views=tuple(views),
            stacked=tuple(self._devices.blocks.stacked.values()),
            mounts=self._devices.mounts,
        )

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
            jump, until = self._jump
            if self._clock.boot() < until:
                attempt.problems.append(jump)
        return wall_s

    def _note_rates(self, stats: DiskStats, *, at: float) -> None:
        """Note how fast each disk moves now; what has just come moves nothing yet."""
        rates: dict[Disk, Rate] = {}
        for name, disk in self._devices.blocks.disks.items():
            counters = stats.counters.get(name)
            if counters is not None:
                rates[disk] = self._rates.get(disk) or Rate(at, counters)
                rates[disk].note(at, counters)
        self._rates = rates

    def _instance_binding(self) -> Binding:
        """The instance's limit that all its volumes together lie at, if they do."""
        specs = self._specs.values()
        known = (spec.volume.instance for spec in specs)
        limits = next((one for one in known if one is not None), None)
        if limits is None:
            return "none"
        others = {key for key, spec in self._specs.items() if not spec.is_of_ebs}
        loads = [rate.load for disk, rate in self._rates.items() if disk.key not in others]
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

    def _take(self, devices: Devices) -> None:
        """Take the devices, with each one's spec as EC2 and the configuration say."""
        self._devices = devices
        with self._sources.attempt("config") as attempt:
            self._specs, problems = specs_of(
                devices.blocks.disks.values(),
                self._config,
                self._cloud.specs,
                instance=self._instance,
            )
            attempt.problems += problems
        self._let_go()

    def _any_began_anew(self, stats: DiskStats) -> bool:
        return any(
            name in stats.counters and stats.counters[name].ops < ledger.reading.counters.ops
            for ledger in self._ledgers.values()
            for name in [ledger.disk.name]
        )

    def _let_go(self) -> None:
        """Put the accounts of what is gone, replaced or promised anew aside."""
        disks = {disk.key: disk for disk in self._devices.blocks.disks.values()}
        for key, ledger in list(self._ledgers.items()):
            disk, spec = disks.get(key), self._specs.get(key)
            if (
                disk is None
                or spec is None
                or (disk.name, disk.sequence) != (ledger.disk.name, ledger.disk.sequence)
                or spec.own_bucket != ledger.own_bucket
                or spec.spec_id != ledger.spec.spec_id
                or spec.changed_s != ledger.spec.changed_s
            ):
                self._gone[key] = self._saved(self._ledgers.pop(key), self._clock.wall())
            else:
                ledger.go_on_with(disk, spec)

    def _account(self, disk: Disk, spec: DiskSpec, reading: Reading) -> Ledger:
        """The volume's account, moved on to the reading or begun at it."""
        ledger = self._ledgers.get(disk.key)
        if ledger is not None:
            ledger.note(reading)
            self._reconcile(ledger)
            return ledger
        age_s = None
        if disk.appeared_s is not None:
            awake_s = self._clock.awake() - (self._clock.boot() - reading.at)
            age_s = max(0.0, awake_s - disk.appeared_s)
        moment = DeviceAge(boot_id=self._devices.boot_id, age_s=age_s)
        start = start_of(disk, spec, reading, moment, self._gone.pop(disk.key, None))
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

    def _reconcile(self, ledger: Ledger) -> None:
        """With the newest published balance: once when it comes, and again when its period is over here.

        A balance can come before the trail has reached the end of its period. Its drift is not known until then.
        """
        key = ledger.disk.key
        point, before = self._cloud.balances.get(key), self._published.get(key)
        if point is None:
            return
        if (
            before is None
            or before.point != point
            or (before.drift is None and ledger.has_seen(point))
        ):
            self._published[key] = Published(point=point, drift=ledger.reconcile(point))

    def _saved(self, ledger: Ledger, wall_s: float) -> Saved:
        return Saved(
            key=ledger.disk.key,
            name=ledger.disk.name,
            sequence=ledger.disk.sequence,
            boot_id=self._devices.boot_id,
            at=ledger.reading.at,
            wall_s=wall_s - (self._clock.boot() - ledger.reading.at),
            counters=replace(ledger.reading.counters, in_flight=0),
            bucket=ledger.own_bucket,
            spec_id=ledger.spec.spec_id,
            interval=ledger.kept(),
        )


def _says_something(saved: Saved, wall_s: float) -> bool:
    """Whether what was saved is more than nothing by now."""
    seconds = max(0.0, wall_s - saved.wall_s)
    after = after_unseen(saved.bucket, saved.interval, seconds=seconds)
    return after.low > 0 or after.high < saved.bucket.capacity

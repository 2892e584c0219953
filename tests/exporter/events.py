"""Random events in the life of a host and its volumes, played on the real Host: the true level must stay in its range.

The files of the host are real, in memory; its clocks are moved by hand. Volumes spend as the hosts that
have them like, within the rules, and EBS charges each I/O what it likes. Some things are left out, as nobody
can see them: counters that are switched off and on again between two readings, a Xen disk that is
replaced while udev is late and whose counters are higher than those of the disk before, and a volume that is back while an
udev before systemd 250 has not even heard that it was gone. Where the kernel has no sequence of disks, as on Amazon Linux
2, nothing is late or jumps either: nobody could tell a disk from the one before it. Nor is a right wall
clock set wrong while nobody looks, and counters are not far off at the very reading at which they are switched on.

``python -m tests.exporter.events --events 1000000`` plays many sequences and prints those that break the promise.
"""

import argparse
import math
import multiprocessing
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from burstwatch.bucket import Bucket
from burstwatch.history.points import LevelPoint
from burstwatch.history.spending import TOLERANCE
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.config_file import CustomBucket, HostConfig, VolumeConfig
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.host import Host
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.sources import Sources

BUCKET = Bucket(capacity=100_000.0, refill=100.0, burst=1_000.0)
CONFIG = VolumeConfig(custom=CustomBucket(capacity=100_000.0, refill=100.0, burst=1_000.0))
UNIT_KIB = 256
#: Seconds by which the times of two readings may be off: udev notes a disk late, and counters are read at some instant.
SLACK_S = 1.0
LXCFS = "601 600 0:50 /proc/diskstats /proc/diskstats rw - fuse.lxcfs lxcfs rw\n"
#: What a kernel that has lost count of its requests writes.
IMPOSSIBLE = (-1, 2**32 - 1, 2**64 - 1)


@dataclass(kw_only=True)
class Volume:
    """A volume with its true level, wherever it is attached. ``serial`` is as on Nitro."""

    number: int
    level: float
    at: float = 0.0

    @property
    def id(self) -> str:
        return f"vol-{self.number:017x}"

    def go_on(self, until: float, spent: float = 0.0, *, refill_first: bool = False) -> float:
        """Gain credits until then and spend as many as are asked for and there. Returns what was spent."""
        seconds = until - self.at
        gained, self.at = BUCKET.refill * seconds, until
        if refill_first:
            self.level = min(BUCKET.capacity, self.level + gained)
            spent = min(spent, self.level)
            self.level -= spent
        else:
            spent = min(spent, self.level)
            self.level = min(BUCKET.capacity, self.level - spent + gained)
        return spent


@dataclass(kw_only=True)
class Slot:
    """A disk of the host: its volume and what the kernel has counted of it since it came."""

    name: str
    devno: str
    volume: Volume
    sequence: int
    appeared_s: float
    ops: int = 0
    kib: int = 0
    in_flight: int = 0
    counts: bool = True
    is_shown: bool = True


@dataclass(kw_only=True)
class Machine:
    """The host, in a folder. A Xen host has neither serial numbers nor a sequence of disks."""

    root: Path
    random: Random
    is_xen: bool
    #: Whether the configuration of a Xen host says which volume each disk is, and is right.
    names_volumes: bool
    has_paths: bool
    counts_events: bool
    #: Whether the kernel counts the disks that come, as Linux does from 5.15 on. Amazon Linux 2 does not.
    has_sequence: bool
    #: Whether udev makes links by that sequence, as systemd does from 250 on.
    has_links: bool
    boot: float = 10_000.0
    asleep: float = 0.0
    wall_offset: float = 1_790_000_000.0
    aws_ahead: float = 0.0
    boots: int = 1
    sequences: int = 0
    events: int = 0
    largest_kib: int = 256
    slots: list[Slot] = field(default_factory=list)
    elsewhere: list[Volume] = field(default_factory=list)
    #: What lxcfs shows of each disk: operations and KiB of one container.
    container: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (
            "proc/1",
            "proc/self",
            "proc/sys/kernel/random",
            "sys/block",
            "sys/kernel",
            "udev",
        ):
            (self.root / folder).mkdir(parents=True)
        self.put("proc/1/mountinfo", "")
        self.put("proc/self/mountinfo", "")
        levels = [self.random.choice([0.0, 1.0, self.random.random()]) for _ in range(3)]
        volumes = [
            Volume(number=i + 1, level=share * BUCKET.capacity, at=self.boot)
            for i, share in enumerate(levels)
        ]
        self.elsewhere = volumes[2:]
        self.write_boot()
        for index, volume in enumerate(volumes[:2]):
            self.attach(self.new_slot(index, volume), record="fresh")

    @property
    def clock(self) -> Clock:
        return Clock(
            boot=lambda: self.boot,
            awake=lambda: self.boot - self.asleep,
            wall=lambda: self.boot + self.wall_offset,
        )

    def put(self, name: str, content: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def write_boot(self) -> None:
        self.put("proc/sys/kernel/random/boot_id", f"boot-{self.boots}\n")

    def new_slot(self, index: int, volume: Volume) -> Slot:
        self.sequences += 1
        name = f"xvd{'fg'[index]}" if self.is_xen else f"nvme{index + 1}n1"
        return Slot(
            name=name,
            devno=f"202:{80 + 16 * index}" if self.is_xen else f"259:{index + 1}",
            volume=volume,
            sequence=self.sequences,
            appeared_s=self.boot - self.asleep,
        )

    @property
    def tells_disks(self) -> bool:
        """Whether the kernel tells a disk from another one that had its name before."""
        return self.has_sequence and not self.is_xen

    def any_record(self) -> str:
        """Whether udev is late with the next disk."""
        return self.random.choice(["fresh", "late"]) if self.tells_disks else "fresh"

    def attach(self, slot: Slot, *, record: str) -> None:
        """The disk is there. udev's ``record`` is fresh, or udev is late: then it is still that of the disk before."""
        slot.volume.go_on(self.boot)
        self.slots.append(slot)
        block = f"sys/block/{slot.name}"
        self.put(f"{block}/dev", f"{slot.devno}\n")
        self.put(f"{block}/size", "209715200\n")
        self.put(f"{block}/queue/max_sectors_kb", f"{self.largest_kib}\n")
        self.put(f"{block}/queue/iostats", "1\n")
        serial = slot.volume.id.replace("-", "")
        if not self.is_xen:
            if self.has_sequence:
                self.put(f"{block}/diskseq", f"{slot.sequence}\n")
            self.put(f"{block}/device/model", "Amazon Elastic Block Store\n")
            self.put(f"{block}/device/serial", f"{serial}\n")
            if self.has_paths:
                path = f"sys/block/{slot.name.replace('n1', 'c0n1')}"
                self.put(f"{path}/hidden", "1\n")
                self.put(f"{path}/queue/iostats", "1\n")
        self.happens()
        if record == "late":
            if not self.has_links:
                (self.root / f"udev/b{slot.devno}").unlink(missing_ok=True)
            return
        lines = [f"I:{int(slot.appeared_s * 1e6)}"]
        if not self.is_xen:
            lines.append(f"E:ID_SERIAL_SHORT={serial}")
            lines += [f"S:disk/by-diskseq/{slot.sequence}"] if self.has_links else []
        self.put(f"udev/b{slot.devno}", "\n".join(lines) + "\n")

    def detach(self, slot: Slot, *, forgets_record: bool = False) -> Volume:
        self.slots.remove(slot)
        for name in (slot.name, slot.name.replace("n1", "c0n1")):
            shutil.rmtree(self.root / f"sys/block/{name}", ignore_errors=True)
        if forgets_record:
            (self.root / f"udev/b{slot.devno}").unlink(missing_ok=True)
        self.happens()
        return slot.volume

    def happens(self) -> None:
        self.events += 1
        if self.counts_events:
            self.put("sys/kernel/uevent_seqnum", f"{self.events}\n")

    def write_stats(self) -> None:
        lines = []
        for slot in self.slots:
            if not slot.is_shown:
                continue
            ops, kib = self.container.get(slot.name, (slot.ops, slot.kib))
            line = f"{ops} 0 {kib * 2} 0 0 0 0 0 {slot.in_flight} 0 0 0 0 0 0 0 0"
            number = slot.devno.replace(":", " ")
            if self.has_paths and not self.is_xen:
                lines.append(f"0 0 {slot.name.replace('n1', 'c0n1')} {line}")
                line = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
            lines.append(f"{number} {slot.name} {line}")
        self.put("proc/diskstats", "".join(f"{line}\n" for line in lines))

    def move(self, seconds: float) -> None:
        """Time goes on; nobody does anything here, and others what they like."""
        self.boot += seconds
        for slot in self.slots:
            slot.volume.go_on(self.boot)
        for volume in self.elsewhere:
            rate = self.random.choice([0.0, BUCKET.burst])
            volume.go_on(self.boot, rate * seconds, refill_first=self.random.random() < 0.5)

    def works(self, slot: Slot, seconds: float, rate: float) -> None:
        """I/O on one disk at a rate of credits, of random size, charged as EBS likes."""
        size = self.random.choice(
            [4, 16, 256, self.largest_kib, self.random.randint(4, self.largest_kib)]
        )
        least, most = size / UNIT_KIB, math.ceil(size / UNIT_KIB)
        each = least + (most - least) * self.random.choice([0.0, 1.0, self.random.random()])
        self.boot += seconds
        count = int(min(rate * seconds, slot.volume.level) / each)
        slot.volume.go_on(self.boot, count * each, refill_first=self.random.random() < 0.5)
        if slot.counts:
            slot.ops += count
            slot.kib += count * size
        for other in self.slots:
            if other is not slot:
                other.volume.go_on(self.boot)
        for volume in self.elsewhere:
            volume.go_on(self.boot)


class OutsideError(AssertionError):
    """The truth is not in the range, or the range is wider than the documentation promises."""


@dataclass(kw_only=True)
class Story:
    """One sequence of events, with the host that watches it."""

    machine: Machine
    random: Random
    host: Host = field(init=False)
    told: list[str] = field(default_factory=list)
    #: What must be read before anything else changes, as nobody could see it otherwise.
    must_observe: bool = False

    def __post_init__(self) -> None:
        self.start({})

    def start(self, saved: dict[str, object], *, compares: bool = True) -> None:
        """Begin to watch, with what an earlier exporter saved; nothing is compared yet where the wall clock is wrong."""
        machine = self.machine
        volumes = {"*": CONFIG} if not machine.is_xen else {}
        devices = {}
        if machine.is_xen:
            ids = {"xvdf": f"vol-{1:017x}", "xvdg": f"vol-{2:017x}"}
            devices = ids if machine.names_volumes else dict.fromkeys(ids, "")
            volumes = {its_id or f"device:{name}": CONFIG for name, its_id in devices.items()}
        self.host = Host(
            roots=Roots(
                procfs=machine.root / "proc", sysfs=machine.root / "sys", udev=machine.root / "udev"
            ),
            clock=machine.clock,
            sources=Sources(machine.clock.boot),
            config=HostConfig(volumes=volumes, devices=devices),
            saved=saved,  # type: ignore[arg-type]
            slot_s=1.0,
            reconciles=True,
        )
        if compares:
            self.observe()
        else:
            self.observe_quietly()

    def observe(self) -> None:
        """Read, and compare every range with the truth."""
        self.machine.write_stats()
        self.must_observe = False
        slots = {slot.name: slot for slot in self.machine.slots}
        for view in self.host.observe().views:
            slot = slots.get(view.disk.name)
            if view.account is None or slot is None:
                continue
            level, seen = slot.volume.level, view.account.interval
            if not seen.low - 1e-3 <= level <= seen.high + 1e-3:
                msg = (
                    f"{view.disk.name} has {level:.0f}, and the range is {seen.low:.0f} to {seen.high:.0f} "
                    f"({view.account.origin}) after {', '.join(self.told[-12:])}"
                )
                raise OutsideError(msg)

    def any_slot(self) -> Slot | None:
        return self.random.choice(self.machine.slots) if self.machine.slots else None

    # Each event is a method; what it is called is told when the promise breaks.

    def works(self) -> None:
        if slot := self.any_slot():
            rate = self.random.choice([50.0, 100.0, BUCKET.burst])
            self.machine.works(slot, self.random.choice([1.0, 10.0, 60.0]), rate)

    def rests(self) -> None:
        self.machine.move(self.random.choice([1.0, 10.0, 300.0]))

    def looks(self) -> None:
        self.observe()
        self.host.look()

    def stops_counting(self) -> None:
        slot = self.any_slot()
        if slot is None or not slot.counts:
            return
        self.observe()
        self.stops_counting_of(slot)
        self.must_observe = True

    def stops_counting_of(self, slot: Slot) -> None:
        slot.counts = False
        name = slot.name
        if self.machine.has_paths and not self.machine.is_xen:
            name = name.replace("n1", "c0n1")
        self.machine.put(f"sys/block/{name}/queue/iostats", "0\n")

    def counts_again(self) -> None:
        for slot in self.machine.slots:
            if not slot.counts:
                self.observe()
                slot.counts = True
                for name in (slot.name, slot.name.replace("n1", "c0n1")):
                    if (self.machine.root / f"sys/block/{name}").exists():
                        self.machine.put(f"sys/block/{name}/queue/iostats", "1\n")

    def is_replaced(self) -> None:
        """Another volume, or the same one again, gets the name and the number of a disk."""
        slot = self.any_slot()
        if slot is None:
            return
        machine = self.machine
        index = "fg".index(slot.name[-1]) if machine.is_xen else int(slot.name[4]) - 1
        record = machine.any_record()
        volume = machine.detach(slot)
        machine.elsewhere.append(volume)
        machine.move(self.random.choice([0.5, 5.0, 40.0]))
        if not (machine.is_xen and machine.names_volumes):
            volume = self.random.choice(machine.elsewhere)
        machine.elsewhere.remove(volume)
        machine.attach(machine.new_slot(index, volume), record=record)

    def is_away(self) -> None:
        """A volume is detached, used elsewhere or not, and is back after a while: what is not known is that time alone."""
        machine, slot = self.machine, self.any_slot()
        if slot is None or machine.is_xen or not slot.counts:
            return
        self.observe()
        before = self.range_of(slot)
        if before is None:
            return
        away_s = self.random.choice([5.0, 70.0, 900.0])
        index = int(slot.name[4]) - 1
        volume = machine.detach(slot)
        machine.elsewhere.append(volume)
        if self.random.random() < 0.5:
            self.observe()
        machine.move(away_s)
        machine.elsewhere.remove(volume)
        back = machine.new_slot(index, volume)
        machine.attach(back, record="fresh")
        self.observe()
        after = self.range_of(back)
        if after is None:
            return
        spent = TOLERANCE * BUCKET.burst * (away_s + SLACK_S)
        least = max(0.0, min(BUCKET.capacity, before.low + BUCKET.refill * away_s) - spent)
        most = min(BUCKET.capacity, before.high + BUCKET.refill * (away_s + SLACK_S))
        if after.low < least - 1 or after.high > most + 1:
            msg = (
                f"{back.name} was away for {away_s:.0f} s, and its range of {before.low:.0f} to {before.high:.0f} is "
                f"{after.low:.0f} to {after.high:.0f}; allowed: {least:.0f} to {most:.0f} after {', '.join(self.told[-6:])}"
            )
            raise OutsideError(msg)

    def range_of(self, slot: Slot) -> Interval | None:
        """The range of a disk now, as it is shown."""
        views = {view.disk.name: view for view in self.host.observe().views}
        view = views.get(slot.name)
        return None if view is None or view.account is None else view.account.interval

    def swaps_names(self) -> None:
        """The kernel gives two disks each other's names."""
        machine = self.machine
        if machine.is_xen or len(machine.slots) < 2:
            return
        first, second = machine.slots
        one, other = machine.detach(first), machine.detach(second)
        machine.move(1.0)
        machine.attach(machine.new_slot(0, other), record="fresh")
        machine.attach(machine.new_slot(1, one), record=machine.any_record())

    def sleeps(self) -> None:
        """It hibernates, and what is written and read then is in no counter."""
        seconds = self.random.choice([20.0, 150.0, 36_000.0])
        self.machine.boot += seconds
        self.machine.asleep += seconds
        for slot in self.machine.slots:
            rate = self.random.choice([0.0, BUCKET.burst])
            slot.volume.go_on(
                self.machine.boot, rate * seconds, refill_first=self.random.random() < 0.5
            )
        for volume in self.machine.elsewhere:
            volume.go_on(self.machine.boot)

    def reboots(self) -> None:
        machine, down = self.machine, self.random.choice([30.0, 600.0])
        saved = {one.key: one for one in self.host.saved()}
        in_order = sorted(machine.slots, key=lambda slot: slot.name)
        volumes = [machine.detach(slot, forgets_record=True) for slot in in_order]
        if not machine.is_xen:
            self.random.shuffle(volumes)
        machine.elsewhere += volumes
        machine.move(down)
        machine.wall_offset += machine.boot - 5.0
        shift = machine.boot - 5.0
        machine.boot, machine.asleep, machine.sequences = 5.0, 0.0, 0
        for volume in machine.elsewhere:
            volume.at -= shift
        machine.boots += 1
        machine.write_boot()
        for index, volume in enumerate(volumes):
            machine.elsewhere.remove(volume)
            machine.attach(machine.new_slot(index, volume), record="fresh")
        machine.move(self.random.choice([1.0, 60.0]))
        self.machine.write_stats()
        behind_s = self.random.choice([0.0, 0.0, 500.0, 7_200.0, -7_200.0])
        self.sets_clock(-behind_s)
        self.start(dict(saved), compares=not behind_s)
        if behind_s:
            self.is_corrected(behind_s)

    def is_corrected(self, behind_s: float) -> None:
        """The wall clock was wrong when the host was started, and is set right after a while; the exporter may be restarted before or meanwhile."""
        for _ in range(self.random.randrange(3)):
            self.machine.move(self.random.choice([1.0, 60.0]))
            self.observe_quietly()
        happens = self.random.choice(["", "", "restarts before", "is restarted meanwhile"])
        if happens == "restarts before":
            self.start({one.key: one for one in self.host.saved()}, compares=False)
        saved = {one.key: one for one in self.host.saved()}
        self.sets_clock(behind_s)
        if happens == "is restarted meanwhile":
            self.start(dict(saved))
        self.observe()

    def sets_clock(self, seconds: float) -> None:
        self.machine.wall_offset += seconds
        self.machine.aws_ahead -= seconds

    def restarts(self) -> None:
        """The exporter ends and begins again; what it saved may be minutes old."""
        saved = {one.key: one for one in self.host.saved()}
        for _ in range(self.random.randrange(3)):
            self.random.choice([self.works, self.rests])()
        self.start(dict(saved))

    def changes_request_size(self) -> None:
        """While the exporter is down: I/O before it was of another size."""
        if not self.machine.is_xen:
            return
        saved = {one.key: one for one in self.host.saved()}
        self.works()
        self.machine.largest_kib = self.random.choice([64, 256, 1_280])
        for slot in self.machine.slots:
            self.machine.put(
                f"sys/block/{slot.name}/queue/max_sectors_kb", f"{self.machine.largest_kib}\n"
            )
        self.start(dict(saved))

    def hides_a_line(self) -> None:
        """For one reading, or for as long as an hour."""
        if slot := self.any_slot():
            slot.is_shown = False
            self.observe()
            self.machine.works(slot, self.random.choice([1.0, 60.0]), BUCKET.burst)
            self.observe()
            slot.is_shown = True

    def loses_count_of_requests(self) -> None:
        if slot := self.any_slot():
            slot.in_flight = self.random.choice(IMPOSSIBLE)
            for _ in range(self.random.randint(1, 3)):
                self.machine.works(slot, 10.0, BUCKET.burst)
                self.observe()
            slot.in_flight = 0

    def jumps_and_comes_back(self) -> None:
        """The counters are far off for a reading or two, and right again."""
        machine, slot = self.machine, self.any_slot()
        if slot is None or not machine.tells_disks:
            return
        for _ in range(2):
            machine.move(1.0)
            self.observe()
        if slot.counts:
            ops, kib = slot.ops, slot.kib
            slot.ops, slot.kib = self.random.choice([(10**13, 10**14), (ops // 2, kib // 2)])
            for _ in range(self.random.randint(1, 2)):
                self.machine.write_stats()
                self.machine.move(1.0)
                self.observe_quietly()
            slot.ops, slot.kib = ops, kib
            self.machine.works(slot, 10.0, BUCKET.burst)

    def jumps_and_is_not_counted(self) -> None:
        """The counters are far off for a reading; the kernel stops to count, and when it counts again they are right."""
        machine, slot = self.machine, self.any_slot()
        if slot is None or not machine.tells_disks or not slot.counts:
            return
        for _ in range(2):
            machine.move(1.0)
            self.observe()
        ops, kib = slot.ops, slot.kib
        slot.ops, slot.kib = self.random.choice([(10**13, 10**14), (ops // 2, kib // 2)])
        machine.move(1.0)
        self.observe_quietly()
        self.stops_counting_of(slot)
        self.observe_quietly()
        machine.works(slot, 60.0, BUCKET.burst)
        self.observe_quietly()
        slot.ops, slot.kib = ops, kib
        self.counts_again()
        for _ in range(3):
            machine.works(slot, 10.0, BUCKET.burst)
            self.observe()

    def observe_quietly(self) -> None:
        """Read counters that cannot be: what is said of them now is not yet compared."""
        self.machine.write_stats()
        self.host.observe()

    def has_a_dead_twin(self) -> None:
        """A disk that is gone stays beside the one that took its place; the two say they are one volume."""
        machine = self.machine
        if machine.is_xen or not machine.slots:
            return
        slot = machine.slots[0]
        index = 1 if slot.name == "nvme1n1" else 0
        for other in list(machine.slots):
            if other is not slot:
                machine.elsewhere.append(machine.detach(other))
        machine.move(1.0)
        alive = machine.new_slot(index, slot.volume)
        machine.attach(alive, record=machine.any_record())
        for _ in range(self.random.randint(1, 4)):
            machine.works(alive, 30.0, BUCKET.burst)
            self.observe()
        machine.detach(slot)

    def is_seen_by_cloudwatch(self) -> None:
        """A balance of some minute comes later, with AWS's time, which may not be the host's."""
        machine, slot = self.machine, self.any_slot()
        if slot is None:
            return
        self.observe()
        began, lowest = machine.boot, slot.volume.level
        for _ in range(6):
            before = slot.volume.level
            rate = self.random.choice([0.0, 100.0, BUCKET.burst])
            machine.works(slot, 10.0, rate)
            # It was spent at the beginning of the ten seconds, or at their end.
            spent = max(0.0, before + 10.0 * BUCKET.refill - slot.volume.level)
            lowest = min(lowest, slot.volume.level, max(0.0, before - spent))
            self.observe()
        for _ in range(self.random.randrange(5)):
            machine.works(slot, 10.0, self.random.choice([0.0, BUCKET.burst]))
            self.observe()
        point = LevelPoint(
            start_s=began + machine.wall_offset + machine.aws_ahead,
            period_s=60.0,
            ratio=lowest / BUCKET.capacity,
            statistic="Minimum",
        )
        answer = CloudAnswer(specs={}, balances={slot.volume.id: point}, ahead_s=machine.aws_ahead)
        self.host.apply(answer)

    def stands_still(self) -> None:
        """The hypervisor stops the host for a while and sets its wall clock right; its other clocks have not seen it."""
        seconds = self.random.choice([2.5, 30.0, 1_200.0])
        self.observe()
        for volume in (*(slot.volume for slot in self.machine.slots), *self.machine.elsewhere):
            volume.level = min(BUCKET.capacity, volume.level + BUCKET.refill * seconds)
        for volume in self.machine.elsewhere:
            volume.level -= self.random.choice([0.0, 1.0]) * min(
                volume.level, BUCKET.burst * seconds
            )
        self.machine.wall_offset += seconds
        if self.random.random() < 0.2:
            self.restarts()
        self.observe()

    def has_its_clock_set(self) -> None:
        self.observe()
        self.sets_clock(self.random.choice([-3_600.0, -120.0, 120.0, 3_600.0]))
        self.observe()

    def enters_a_container(self) -> None:
        """For one life of the exporter its diskstats are those of lxcfs: the I/O of one container."""
        machine = self.machine
        for file in ("proc/1/mountinfo", "proc/self/mountinfo"):
            machine.put(file, LXCFS)
        machine.container = {slot.name: (slot.ops, slot.kib) for slot in machine.slots}
        saved = {one.key: one for one in self.host.saved()}
        self.start({})
        for _ in range(3):
            self.works()
            self.observe()
        machine.container = {}
        for file in ("proc/1/mountinfo", "proc/self/mountinfo"):
            machine.put(file, "")
        self.start(dict(saved))


#: How often each event comes beside the others.
EVENTS: tuple[tuple[str, float], ...] = (
    ("works", 12.0),
    ("rests", 6.0),
    ("observe", 10.0),
    ("looks", 3.0),
    ("stops_counting", 1.0),
    ("counts_again", 2.0),
    ("is_replaced", 2.0),
    ("is_away", 1.0),
    ("swaps_names", 1.0),
    ("sleeps", 1.0),
    ("reboots", 0.5),
    ("restarts", 1.0),
    ("changes_request_size", 1.0),
    ("hides_a_line", 1.0),
    ("loses_count_of_requests", 1.0),
    ("jumps_and_comes_back", 1.0),
    ("jumps_and_is_not_counted", 0.5),
    ("has_a_dead_twin", 0.5),
    ("is_seen_by_cloudwatch", 2.0),
    ("has_its_clock_set", 0.3),
    ("stands_still", 0.3),
    ("enters_a_container", 0.2),
)
NAMES, WEIGHTS = zip(*EVENTS, strict=True)


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def play(seed: int, events: int) -> None:
    """One sequence.

    Raises:
        OutsideError: naming the events that led to a level outside of its range.
    """
    random = Random(seed)  # noqa: S311 - the same sequence each time
    with folder_in_memory() as root:
        has_sequence = random.random() < 0.8
        machine = Machine(
            root=root / "host",
            random=random,
            is_xen=random.random() < 0.4,
            names_volumes=random.random() < 0.5,
            has_paths=random.random() < 0.2,
            counts_events=random.random() < 0.5,
            has_sequence=has_sequence,
            has_links=has_sequence and random.random() < 0.8,
            aws_ahead=random.choice([0.0, 120.0, -300.0]),
        )
        story = Story(machine=machine, random=random)
        for name in random.choices(NAMES, WEIGHTS, k=events):
            if story.must_observe:
                story.observe()
            story.told.append(name)
            event: Callable[[], None] = getattr(story, name)
            event()
        story.observe()


def broken(seed: int, events: int = 60) -> str:
    """What breaks the promise in one sequence, or nothing."""
    try:
        play(seed, events)
    except OutsideError as error:
        return f"seed {seed}: {error}"
    return ""


def main() -> None:
    """Play as many events as are asked for, on all processors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    sequences = range(args.first_seed, args.first_seed + math.ceil(args.events / 60))
    found = 0
    with multiprocessing.Pool(args.processes) as pool:
        for number, text in enumerate(
            pool.imap_unordered(broken, sequences, chunksize=20), start=1
        ):
            if text:
                found += 1
                print(text, flush=True)
            if number % 20_000 == 0:
                print(f"{number * 60:,} events, {found} levels outside of their range", flush=True)
    print(f"{len(sequences) * 60:,} events, {found} levels outside of their range")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()

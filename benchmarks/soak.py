"""Runs the exporter for a day on a faster clock, or for an hour on the real one, with 1,024 devices that come and go.

`python -m benchmarks.soak day` and `python -m benchmarks.soak hour`. Each volume has a bucket whose level is known, and
the exporter's interval must hold it at every look. The exporter is killed and started anew, certificates are replaced,
and memory and descriptors must not grow.
"""

import gc
import http.client
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.attacks import HONEST, PASSWORD, Exposed, basic, descriptors, request
from benchmarks.exporter import build, resident_mib
from benchmarks.record import keep
from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import volume_spec
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.settings import parse_options
from tools.pages import Hands, flags

DEVICES = 1_024
HOUR_S, DAY_S = 3_600, 86_400
BALANCE = re.compile(
    r'^burstwatch_credit_balance_ratio{bound="(low|high)",bucket="io",device="nvme(\d+)n1",volume_id="[^"]*"} (\S+)$',
    re.MULTILINE,
)
#: Counters are a second old on each side.
SLACK_S = 2.0


@dataclass
class Volume:
    """A volume's true bucket and its counters, and whether it is attached."""

    number: int
    bucket: Bucket
    level: float
    ops: float = 1e6
    is_here: bool = True

    def live(self, at_s: float, seconds: float) -> None:
        """Half of the time it asks for all that it can, some minutes each; else for next to nothing."""
        turn_s = 300.0 * (1 + self.number % 11)
        is_busy = self.is_here and (at_s // turn_s + self.number) % 2 == 0
        wanted = self.bucket.burst if is_busy else 10.0 * self.is_here
        there = self.level + self.bucket.refill * seconds
        served = min(wanted * seconds, there)
        self.level = min(self.bucket.capacity, there - served)
        self.ops += served


@dataclass
class Fleet:
    """The volumes of the host, as files."""

    root: Path
    began_s: float
    volumes: list[Volume] = field(init=False)

    def __post_init__(self) -> None:
        """Plant them, all new and full."""
        build(DEVICES, self.root)
        self.volumes, entries = [], []
        created = datetime.fromtimestamp(self.began_s, tz=UTC).isoformat()
        for number in range(DEVICES):
            bucket = volume_spec("gp2", 1 + number % 900).bucket
            if bucket is None:
                raise TypeError(number)
            self.volumes.append(Volume(number=number, bucket=bucket, level=bucket.capacity))
            entries.append(f'  "vol-{number:017x}": {{type: gp2, created: "{created}"}}\n')
        (self.root / "config.yml").write_text("volumes:\n" + "".join(entries))
        self.write()

    def live(self, at_s: float, seconds: float) -> None:
        """Let so much time pass, and write what was counted."""
        for one in self.volumes:
            one.live(at_s, seconds)
        self.write()

    def write(self) -> None:
        """The kernel's counters."""
        lines = []
        for one in self.volumes:
            if one.is_here:
                ops = int(one.ops)
                lines.append(
                    f" 259 {one.number} nvme{one.number}n1 {ops} 0 {ops * 32} {ops} 0 0 0 0 2 {ops} {ops} 0 0 0 0 9 9\n"
                )
        draft = self.root / "proc" / "diskstats.new"
        draft.write_text("".join(lines))
        draft.replace(self.root / "proc" / "diskstats")

    def plug(self, turn: int) -> None:
        """Detach a volume, and attach the one that was detached before it."""
        for number, is_here in ((turn % DEVICES, False), ((turn - 1) % DEVICES, True)):
            one, place = self.volumes[number], self.root / "sys" / "block" / f"nvme{number}n1"
            aside = self.root / "aside" / place.name
            aside.parent.mkdir(exist_ok=True)
            source, to = (aside, place) if is_here else (place, aside)
            if source.exists():
                shutil.move(source, to)
            if is_here:
                (place / "diskseq").write_text(f"{DEVICES + turn}\n")
                one.ops = 0.0
            one.is_here = is_here

    def outside(self, page: str, *, late_s: float = 0.0) -> list[str]:
        """The volumes whose true level is not in the interval of a page that was made ``late_s`` after the counters at most."""
        found: dict[int, dict[str, float]] = {}
        for bound, number, value in BALANCE.findall(page):
            found.setdefault(int(number), {})[bound] = float(value)
        wrong = []
        for number, said in found.items():
            one = self.volumes[number]
            slack = (SLACK_S + late_s) * one.bucket.burst / one.bucket.capacity
            truth = one.level / one.bucket.capacity
            if one.is_here and not said["low"] - slack <= truth <= said["high"] + slack:
                wrong.append(
                    f"nvme{number}n1 has {truth:.4f}, said is {said['low']:.4f} to {said['high']:.4f}"
                )
        return wrong if found else ["the page has no balance"]


@dataclass
class Notes:
    """What was seen on the way."""

    looks: int = 0
    scrapes: int = 0
    failed: int = 0
    restarts: int = 0
    wrong: list[str] = field(default_factory=list)
    scrape_s: list[float] = field(default_factory=list)
    resident_mib: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def summary(self, what: str) -> dict[str, object]:
        """As it is kept; memory after the first tenth and at the end."""
        first = max(1, len(self.resident_mib) // 10)
        times = sorted(self.scrape_s) or [0.0]
        return {
            "what": what,
            "devices": DEVICES,
            "looks": self.looks,
            "scrapes": self.scrapes,
            "failed": self.failed,
            "restarts": self.restarts,
            "wrong": len(self.wrong),
            "median_s": times[len(times) // 2],
            "worst_s": times[-1],
            "resident_mib": [max(self.resident_mib[:first]), max(self.resident_mib[-first:])],
            "descriptors": [max(self.descriptors[:first]), max(self.descriptors[-first:])],
        }


def day(folder: Path, seconds: int) -> Notes:
    """A day in this process: a reading every 10 s, a page every 2 minutes, a volume moved every 5, a restart every 30.

    Every second restart is a kill: what was not saved is lost.
    """
    hands = Hands()
    fleet = Fleet(root=folder, began_s=hands.wall)
    options = parse_options(
        flags(
            folder, **{"config.file": f"{folder}/config.yml", "state.file": f"{folder}/state.json"}
        ),
        {},
    )
    exporter, notes = Exporter(options, hands.clock), Notes()
    for at_s in range(0, seconds, 10):
        hands.move(10)
        fleet.live(at_s, 10)
        if at_s % 300 == 0:
            fleet.plug(at_s // 300)
            fleet.write()
            exporter.host.look()
        exporter.sample()
        notes.looks += 1
        if at_s % 120 == 0:
            began = time.monotonic()
            page = exporter.scrape()[1].decode()
            notes.scrape_s.append(time.monotonic() - began)
            notes.scrapes += 1
            notes.wrong += fleet.outside(page)
        if at_s % 1_800 == 1_790:  # noqa: PLR2004 - before the half hour is over
            if notes.restarts % 2:
                exporter.save()
            exporter = Exporter(options, hands.clock)
            notes.restarts += 1
            gc.collect()
            notes.resident_mib.append(resident_mib(os.getpid()))
            notes.descriptors.append(descriptors(os.getpid()))
        tell(at_s, seconds, notes)
    return notes


def hour(folder: Path, seconds: int) -> Notes:
    """An hour of the real program, scraped every second over TLS.

    A volume is moved every 15 s and a certificate replaced every minute. In the first half it is
    killed every five minutes and started anew; in the second one process has to stay as it is.
    """
    fleet, notes = Fleet(root=folder, began_s=time.time()), Notes()
    exposed = Exposed(folder, f"--state.file={folder}/state.json", "--state.period=10")
    target = exposed.start()
    began = last = time.monotonic()
    turn = 0
    try:
        while (now := time.monotonic()) - began < seconds:
            turn += 1
            fleet.live(now - began, now - last)
            last = now
            if turn % 15 == 0:
                fleet.plug(turn // 15)
                fleet.write()
            if turn % 60 == 0:
                certificate = folder / "server.crt"
                certificate.with_suffix(".new").write_bytes(certificate.read_bytes())
                certificate.with_suffix(".new").replace(certificate)
            is_first_half = now - began < seconds / 2
            if turn % 300 == 0 and is_first_half:
                exposed.kill()
                target = exposed.start()
                notes.restarts += 1
            sent = time.monotonic()
            with suppress(OSError, http.client.HTTPException):
                status, page = request(target, basic(PASSWORD), HONEST)
                notes.scrapes += status == http.client.OK
                notes.scrape_s.append(time.monotonic() - sent)
                if turn % 5 == 0:
                    late_s = time.monotonic() - last
                    notes.wrong += fleet.outside(page.decode(), late_s=late_s)
                    notes.looks += 1
            notes.failed = turn - notes.scrapes
            if turn % 30 == 0 and not is_first_half:
                notes.resident_mib.append(resident_mib(target.pid))
                notes.descriptors.append(descriptors(target.pid))
            tell(int(now - began), seconds, notes)
            time.sleep(max(0.0, 1 - (time.monotonic() - now)))
    finally:
        exposed.kill()
    return notes


def tell(at_s: int, seconds: int, notes: Notes) -> None:
    """How far it is, on a terminal."""
    if sys.stderr.isatty():
        print(
            f"\r{at_s:,} of {seconds:,} s, {len(notes.wrong)} wrong\033[K", end="", file=sys.stderr
        )


def main(arguments: Iterable[str] = sys.argv[1:]) -> None:
    """Run one or both, print and keep what was seen."""
    soaks: dict[str, tuple[Callable[[Path, int], Notes], int]] = {
        "day": (day, DAY_S),
        "hour": (hour, HOUR_S),
    }
    for what in tuple(arguments) or tuple(soaks):
        run, seconds = soaks[what]
        with tempfile.TemporaryDirectory() as folder:
            notes = run(Path(folder), seconds)
        found = notes.summary(what)
        for one in notes.wrong[:10]:
            print(one)
        print(", ".join(f"{name} {value}" for name, value in found.items()))
        keep(f"soak_{what}", found)


if __name__ == "__main__":
    main()

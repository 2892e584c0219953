"""A host that is made of files, with a real directory as its gp2 volume: nothing of it needs root.

The directory's own device number stands in the planted ``/proc/diskstats`` as an NVMe volume,
so that what runs there is real, and what the counters say of it is up to the test.
"""

import io
import json
import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.main import run

VOLUME = "vol-0aaaaaaaaaaaaaaa1"
DISK = "nvme1n1"
SECTORS = 100 * 2**30 // 512


@dataclass
class Planted:
    """The host, and what was last printed."""

    root: Path
    data: Path
    disks: tuple[str, ...] = (DISK,)
    in_flight: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    ops: int = 0
    out: str = ""
    err: str = ""
    _first_read: dict[str, int] = field(default_factory=dict)

    def write(self) -> None:
        """The counters, as of now, in one stroke: each disk has done as much."""
        number = self.data.stat().st_dev
        here = f"{os.major(number)} {os.minor(number)}"
        lines = [
            f"{here if self.disks == (disk,) else f'259 {i}'} {disk} "
            f"{self.ops} 0 {self.ops * 32} 0 0 0 0 0 {self.in_flight} 0 0"
            for i, disk in enumerate(self.disks)
        ]
        if len(self.disks) > 1:
            lines.append(f"{here} md0 0 0 0 0 0 0 0 0 0 0 0")
        path = self.root / "proc" / "diskstats"
        draft = path.with_suffix(".new")
        draft.write_text("".join(f"{line}\n" for line in lines))
        draft.replace(path)

    def detach(self) -> None:
        """The volume is gone."""
        for disk in self.disks:
            shutil.rmtree(self.root / "sys" / "block" / disk, ignore_errors=True)
        path = self.root / "proc" / "diskstats"
        draft = path.with_suffix(".new")
        draft.write_text("")
        draft.replace(path)

    def config(self, **more: object) -> None:
        """What the configuration says."""
        content = {
            "volumes": {"*": {"type": "gp2", "created": datetime.now(tz=UTC).isoformat()}},
            "measure": {"directories": [str(self.data)], "drain": [VOLUME]},
            **more,
        }
        (self.root / "config.yml").write_text(json.dumps(content))

    def measure(self, *args: str, path: Path | None = None) -> int:
        """Run the program's ``measure``; ``path`` stands first in PATH."""
        out, err = io.StringIO(), io.StringIO()
        measures = not any(one.startswith(("--from", "--list")) for one in args)
        where = [f"--directory={self.data}"] if measures else []
        before = os.environ["PATH"]
        if path is not None:
            os.environ["PATH"] = f"{path}:{before}"
        try:
            code = run(
                [
                    "measure", f"--path.procfs={self.root}/proc", f"--path.sysfs={self.root}/sys",
                    f"--path.udev.data={self.root}/udev", f"--config.file={self.root}/config.yml",
                    f"--measure.results={self.root}/results", *where, *args,
                ],
                World(stdout=out, stderr=err, env={}, clock=system_clock(), stop=self.stop),
            )  # fmt: skip
        finally:
            os.environ["PATH"] = before
            self.out, self.err = out.getvalue(), err.getvalue()
        return code

    def record(self, profile: str = "probe") -> dict[str, object]:
        """The result that was kept."""
        found: dict[str, object] = json.loads(
            (self.root / "results" / f"{profile}-{VOLUME}.json").read_text()
        )
        return found

    def left_behind(self) -> list[str]:
        """What is in the directory."""
        return sorted(path.name for path in self.data.iterdir())

    @contextmanager
    def load(
        self, ops_per_s: float, *, while_true: Callable[[], bool] = lambda: True
    ) -> Iterator[None]:
        """Somebody else uses the volume, from now on, as much on a machine that is busy."""
        end, before, began = threading.Event(), float(self.ops), time.monotonic()

        def go_on() -> None:
            done, at = before, began
            while not end.wait(0.02):
                now = time.monotonic()
                done += ops_per_s * (now - at) if while_true() else 0.0
                at, self.ops = now, round(done)
                self.write()

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()

    def after(self, seconds: float, act: Callable[[], object]) -> threading.Timer:
        """Something happens in so long."""
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()
        return timer

    def when(self, true: Callable[[], bool], act: Callable[[], object]) -> None:
        """Something happens as soon as something is so."""

        def look() -> None:
            if true():
                act()
            else:
                self.after(0.05, look)

        self.after(0.05, look)

    def once_started(self, act: Callable[[], object]) -> str:
        """A line for a program; when it is there, something happens."""
        started = self.root / "started"
        started.unlink(missing_ok=True)
        self.when(started.exists, act)
        return f"touch {started}"

    def has_read(self, blocks: int) -> bool:
        """Whether a fio that can be interrupted has read so many of a file under ``data``.

        The kernel counts its start too, until it catches SIGINT: that is left out.
        """
        for process in Path("/proc").glob("[0-9]*"):
            if _is_fio_in(process, self.data) and _catches(process, signal.SIGINT):
                first = self._first_read.setdefault(process.name, _bytes_read(process))
                return _bytes_read(process) - first >= blocks * 4096
        return False


def _is_fio_in(process: Path, folder: Path) -> bool:
    with suppress(OSError):  # it has ended, or is another user's
        if (process / "comm").read_text() == "fio\n":
            opened = [str(fd.readlink()) for fd in (process / "fd").iterdir()]
            return any(path.startswith(f"{folder}/") for path in opened)
    return False


def _catches(process: Path, number: signal.Signals) -> bool:
    with suppress(OSError):
        lines = (process / "status").read_text().splitlines()
        mask = int(dict(line.split(":\t") for line in lines if ":\t" in line)["SigCgt"], 16)
        return bool(mask >> (number - 1) & 1)
    return False


def _bytes_read(process: Path) -> int:
    with suppress(OSError):
        lines = (process / "io").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)["read_bytes"])
    return 0


def plant_host(root: Path, data: Path, *, disks: int = 1) -> Planted:
    """A host on whose volume, or stripe of several, ``data`` lies."""
    names = [f"nvme{i + 1}n1" for i in range(disks)]
    files: dict[str, str] = {
        "proc/1/mountinfo": f"26 1 0:1 / / rw - tmpfs tmpfs rw\n27 26 0:2 / {data} rw - ext4 /dev/x rw\n",
        "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
    }
    for i, name in enumerate(names):
        files |= {
            f"sys/block/{name}/size": f"{SECTORS}\n",
            f"sys/block/{name}/diskseq": "7\n",
            f"sys/block/{name}/device/model": "Amazon Elastic Block Store\n",
            f"sys/block/{name}/device/serial": f"{VOLUME.replace('-', '')[:-1]}{i + 1}\n",
            f"sys/block/{name}/queue/max_sectors_kb": "256\n",
        }
        if disks > 1:
            files[f"sys/block/md0/slaves/{name}/x"] = ""
    if disks > 1:
        files |= {"sys/block/md0/md/level": "raid0\n", "sys/block/md0/md/raid_disks": f"{disks}\n"}
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    data.mkdir(parents=True, exist_ok=True)
    host = Planted(root=root, data=data, disks=tuple(names))
    host.config()
    host.write()
    return host


def fake_program(folder: Path, name: str, lines: Sequence[str]) -> Path:
    """A program of that name that does what ``lines`` of a shell say. Returns its folder."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder

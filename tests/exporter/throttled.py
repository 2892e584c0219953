"""A real disk that behaves like a gp2 volume: a loop device in memory that the kernel throttles.

In memory, so that nobody else's disk has a say in how fast it is. A bucket is kept from what the device has really done, and the limit is set to its burst
while there are credits and to its baseline when there are none. Needs root, loop devices,
and either cgroup v1's blkio or v2's io controller.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from burstwatch.bucket import Bucket

V1, V2 = Path("/sys/fs/cgroup/blkio"), Path("/sys/fs/cgroup")
MIB, SECTOR_BYTES = 2**20, 512
TICK_S = 0.02
LOSETUP, MKFS, MOUNT, UMOUNT = (
    shutil.which(name) or f"/sbin/{name}" for name in ("losetup", "mkfs.ext4", "mount", "umount")
)
JOIN = """
import os, sys
with open(sys.argv[1], "w") as members:
    members.write(str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


class NoDiskError(Exception):
    """Why there can be no throttled disk here."""


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """A cgroup whose members get so many operations, or MiB, a second of one device."""

    folder: Path
    devno: str
    unit: str = "io"

    @property
    def is_v1(self) -> bool:
        return V1 in self.folder.parents

    def limit(self, credits_per_s: float) -> None:
        name, rate = ("iops", credits_per_s) if self.unit == "io" else ("bps", credits_per_s * MIB)
        if self.is_v1:
            for way in ("read", "write"):
                path = self.folder / f"blkio.throttle.{way}_{name}_device"
                path.write_text(f"{self.devno} {rate:.0f}")
        else:
            (self.folder / "io.max").write_text(
                f"{self.devno} r{name}={rate:.0f} w{name}={rate:.0f}"
            )

    def command(self, *program: str | Path) -> list[str | Path]:
        """A command line that becomes a member before it becomes the program."""
        return [sys.executable, "-c", JOIN, self.folder / "cgroup.procs", *program]


class ThrottledDisk:
    """The disk, and the true balance of its bucket at any instant."""

    def __init__(self, bucket: Bucket, path: Path, throttle: Throttle) -> None:
        self.bucket, self.path, self.throttle = bucket, path, throttle
        self.name = path.name
        self.level = bucket.capacity
        self.emptied_at: float | None = None
        self.history: list[tuple[float, float]] = []
        self._stat = Path(f"/sys/block/{self.name}/stat")
        self._lock = threading.Lock()
        self._at, self._ops = time.monotonic(), self._done()
        self._limit = 0.0

    def truth(self) -> float:
        """Credits left now: each operation, or MiB, has cost one."""
        with self._lock:
            now, ops = time.monotonic(), self._done()
            gained = self.bucket.refill * (now - self._at)
            level = self.level + gained - (ops - self._ops)
            self.level = min(self.bucket.capacity, max(0.0, level))
            self._at, self._ops = now, ops
            self.history.append((now, self.level))
            # A little above zero it is empty, or it would stutter; at its baseline it may stay there.
            is_empty = self.level <= self.bucket.refill / 4
            if is_empty and self.emptied_at is None:
                self.emptied_at = now
            limit = self.bucket.refill if is_empty else self.bucket.burst
            if limit != self._limit:
                self.throttle.limit(limit)
                self._limit = limit
            return self.level

    def done(self) -> float:
        """All that it has ever done, in credits."""
        return self._done()

    def fill(self) -> None:
        """It is as good as new."""
        with self._lock:
            self.level = self.bucket.capacity
            self.emptied_at = None

    @contextmanager
    def mounted(self, folder: Path) -> Iterator[Path]:
        """A file system on it, which flushes nothing: no flush costs a credit here."""
        folder.mkdir()
        subprocess.run([MKFS, "-q", "-F", self.path], check=True)
        subprocess.run([MOUNT, "-o", "barrier=0", self.path, folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run([UMOUNT, folder], check=True)

    def between(self, start: float, end: float) -> tuple[float, float]:
        """The least and the most that was left in that time, as far as it was looked at."""
        levels = [level for at, level in self.history if start <= at <= end]
        return min(levels), max(levels)

    def drain(self, start: float, end: float) -> float:
        """Credits a second that it truly lost in that time."""
        (first, full), (last, left) = (
            max(one for one in self.history if one[0] <= at) for at in (start, end)
        )
        return (full - left) / (last - first)

    def _done(self) -> float:
        columns = self._stat.read_text().split()
        if self.throttle.unit == "io":
            return int(columns[0]) + int(columns[4])
        return (int(columns[2]) + int(columns[6])) * SECTOR_BYTES / MIB


@contextmanager
def throttled_disk(
    bucket: Bucket, folder: Path, *, size_mib: int = 256, unit: str = "io"
) -> Iterator[ThrottledDisk]:
    """A disk with a full bucket, of operations or of MiB.

    Raises:
        NoDiskError: where the kernel or the rights do not allow one.
    """
    if os.geteuid() != 0:
        msg = "needs root for a loop device and a cgroup"
        raise NoDiskError(msg)
    with _memory(folder, size_mib) as memory:
        image = memory / "disk.img"
        with image.open("wb") as file:
            for _ in range(size_mib):
                file.write(os.urandom(MIB))
        with _attached(image) as path, _throttled(bucket, path, unit) as disk:
            yield disk


@contextmanager
def _throttled(bucket: Bucket, path: Path, unit: str) -> Iterator[ThrottledDisk]:
    throttle = _throttle(path, unit)
    disk = ThrottledDisk(bucket, path, throttle)
    disk.truth()
    stop = threading.Event()
    keeper = threading.Thread(target=_keep, args=(disk.truth, stop))
    keeper.start()
    try:
        yield disk
    finally:
        stop.set()
        keeper.join()
        throttle.folder.rmdir()


@contextmanager
def _memory(folder: Path, size_mib: int) -> Iterator[Path]:
    """A folder whose files are kept in memory."""
    memory = folder / "memory"
    memory.mkdir()
    mounted = subprocess.run(
        [MOUNT, "-t", "tmpfs", "-o", f"size={size_mib + 1}m", "burstwatch", memory],
        check=False,
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        msg = f"no file system in memory: {mounted.stderr.strip()}"
        raise NoDiskError(msg)
    try:
        yield memory
    finally:
        # Lazily: the kernel may still be letting go of the loop device.
        subprocess.run([UMOUNT, "--lazy", memory], check=True)


def _keep(truth: Callable[[], float], stop: threading.Event) -> None:
    while not stop.wait(TICK_S):
        truth()


@contextmanager
def _attached(image: Path) -> Iterator[Path]:
    for direct in ("on", "off"):  # not every kernel takes it for a file in memory
        attached = subprocess.run(
            [LOSETUP, f"--direct-io={direct}", "--show", "--find", image],
            check=False,
            capture_output=True,
            text=True,
        )
        if attached.returncode == 0:
            path = Path(attached.stdout.strip())
            break
    else:
        msg = f"no loop device: {attached.stderr.strip()}"
        raise NoDiskError(msg)
    try:
        yield path
    finally:
        subprocess.run([LOSETUP, "--detach", path], check=False, capture_output=True)


def _throttle(path: Path, unit: str) -> Throttle:
    number = path.stat().st_rdev
    devno = f"{os.major(number)}:{os.minor(number)}"
    try:
        if (V1 / "blkio.throttle.read_iops_device").exists():
            folder = V1 / f"burstwatch-{os.getpid()}-{path.name}"
        elif "io" in (V2 / "cgroup.controllers").read_text().split():
            (V2 / "cgroup.subtree_control").write_text("+io")
            folder = V2 / f"burstwatch-{os.getpid()}-{path.name}"
        else:
            msg = "neither cgroup v1's blkio nor v2's io controller is there"
            raise NoDiskError(msg)
        folder.mkdir()
        throttle = Throttle(folder=folder, devno=devno, unit=unit)
        throttle.limit(1_000)
    except OSError as error:
        msg = f"no throttling: {error}"
        raise NoDiskError(msg) from error
    return throttle

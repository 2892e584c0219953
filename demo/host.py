"""A host that is made of files: disks that serve simulated loads, for a real exporter to read.

It writes what the kernel would (``/proc/diskstats``, ``/sys/block``), and what EBS would say in
its NVMe log page. What the exporter makes of it is the exporter's own.
"""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.ebs.volumes import volume_spec
from burstwatch_exporter.ebs_stats import BIN, COUNT, HEAD, MAGIC, PAGE_BYTES, READ_AT, WRITE_AT
from demo.feed import Feed
from demo.waiting import latency_s, queue_length

BOOT_ID = "11111111-2222-3333-4444-555555555555"
SECTOR = 512
#: Upper ends of the log page's bins, in microseconds.
BINS_US = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """One disk of the host; ``ratio`` is what is in its bucket when its loads begin."""

    name: str
    volume_id: str
    volume_type: str
    size_gib: int
    loads: Sequence[Phase]
    mountpoint: str = ""
    ratio: float = 1.0


@dataclass(kw_only=True)
class _Counts:
    """The counters of the kernel and EBS for a disk so far."""

    feed: Feed
    reads: float = 0.0
    writes: float = 0.0
    read_bytes: float = 0.0
    write_bytes: float = 0.0
    exceeded_s: float = 0.0
    waiting: int = 0
    by_latency: dict[float, list[float]] = field(default_factory=dict)


class PlayedHost:
    """The host in a folder. ``move_to`` lets its disks live until an instant."""

    def __init__(
        self, root: Path, disks: Sequence[Disk], *, start_s: float, step_s: float = 1.0
    ) -> None:
        """Plants the files; ``start_s`` is when the loads begin, by the wall clock."""
        self.root, self.disks = root, disks
        self._counts: dict[str, _Counts] = {}
        self._lock = threading.Lock()
        self.error: Exception | None = None
        for disk in disks:
            spec = volume_spec(disk.volume_type, disk.size_gib)
            if spec.bucket is None:
                msg = (
                    f"{disk.name} is {disk.volume_type} of {disk.size_gib} GiB, which has no bucket"
                )
                raise ValueError(msg)
            played = Simulation(spec=spec, bucket=spec.bucket, period_s=step_s)
            points = played.play(disk.loads, ratio=disk.ratio, start_s=start_s)
            self._counts[disk.name] = _Counts(feed=Feed(points))
        self._plant(start_s)
        self._write()

    @property
    def flags(self) -> dict[str, str]:
        """The settings of an exporter that reads this host."""
        return {
            "path.procfs": str(self.root / "proc"),
            "path.sysfs": str(self.root / "sys"),
            "path.udev.data": str(self.root / "udev"),
            "config.file": str(self.root / "config.yml"),
        }

    def move_to(self, now_s: float) -> None:
        """Let every disk live until then, and write what was counted."""
        with self._lock:
            for disk in self.disks:
                self._live(self._counts[disk.name], now_s)
            self._write()

    def log_page(self, name: str) -> bytes:
        """The NVMe log page 0xD0 of a disk, as EBS lays it out."""
        with self._lock:
            counts = self._counts[name]
            seconds = {
                kind: sum(latency * ops[kind] for latency, ops in counts.by_latency.items())
                for kind in (0, 1)
            }
            page = bytearray(PAGE_BYTES)
            numbers = (
                counts.reads, counts.writes, counts.read_bytes, counts.write_bytes,
                seconds[0] * 1e6, seconds[1] * 1e6, counts.exceeded_s * 1e6, 0, 0, 0, counts.waiting,
            )  # fmt: skip
            HEAD.pack_into(page, 0, MAGIC, *(int(number) for number in numbers))
            for start, kind in ((READ_AT, 0), (WRITE_AT, 1)):
                COUNT.pack_into(page, start, len(BINS_US))
                for index, (low, high) in enumerate(pairwise((0, *BINS_US))):
                    inside = sum(
                        ops[kind]
                        for latency, ops in counts.by_latency.items()
                        if low < latency * 1e6 <= high
                    )
                    place = start + COUNT.size + index * BIN.size
                    BIN.pack_into(page, place, low, high, int(inside) & 0xFFFFFFFF)
            return bytes(page)

    def _live(self, counts: _Counts, now_s: float) -> None:
        for point in counts.feed.until(now_s):
            counts.reads += point.read_ops
            counts.writes += point.write_ops
            counts.read_bytes += point.read_bytes
            counts.write_bytes += point.write_bytes
            iops = (point.read_ops + point.write_ops) / point.period_s
            counts.exceeded_s += point.period_s if point.level_ratio <= 0 else 0.0
            counts.waiting = round(queue_length(point.level_ratio, iops))
            ops = counts.by_latency.setdefault(latency_s(point.level_ratio), [0.0, 0.0])
            ops[0] += point.read_ops
            ops[1] += point.write_ops

    def _write(self) -> None:
        lines = []
        for number, disk in enumerate(self.disks):
            counts = self._counts[disk.name]
            read = f"{counts.reads:.0f} 0 {counts.read_bytes / SECTOR:.0f} 0"
            written = f"{counts.writes:.0f} 0 {counts.write_bytes / SECTOR:.0f} 0"
            lines.append(f"259 {number} {disk.name} {read} {written} {counts.waiting} 0 0\n")
        path = self.root / "proc" / "diskstats"
        draft = path.with_suffix(".new")
        draft.write_text("".join(lines), encoding="ascii")
        draft.replace(path)

    def _plant(self, start_s: float) -> None:
        created = {"created": datetime.fromtimestamp(start_s, tz=UTC).isoformat()}
        config = {
            "volumes": {
                # Of a disk that is not full nobody has said how full it is.
                disk.volume_id: {"type": disk.volume_type, **(created if disk.ratio == 1 else {})}
                for disk in self.disks
            }
        }
        files = {
            "config.yml": json.dumps(config),
            "proc/sys/kernel/random/boot_id": f"{BOOT_ID}\n",
            "proc/1/mountinfo": "".join(
                f"{30 + number} 1 259:{number} / {disk.mountpoint} rw - ext4 /dev/{disk.name} rw\n"
                for number, disk in enumerate(self.disks)
                if disk.mountpoint
            ),
        }
        for number, disk in enumerate(self.disks):
            block = f"sys/block/{disk.name}"
            files |= {
                f"{block}/size": f"{disk.size_gib * 2**30 // SECTOR}\n",
                f"{block}/diskseq": f"{number + 1}\n",
                f"{block}/device/model": "Amazon Elastic Block Store\n",
                f"{block}/device/serial": f"{disk.volume_id.replace('-', '')}\n",
                f"{block}/queue/max_sectors_kb": "256\n",
            }
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")


@contextlib.contextmanager
def log_pages(host: PlayedHost, path: Path) -> Iterator[None]:
    """Answers on a Unix socket as burstwatch-nvme-helper does, with the host's own pages."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            name = self.rfile.readline().decode().strip()
            self.wfile.write(b"ok\n" + host.log_page(name))

    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()

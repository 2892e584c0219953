"""The exporter beside node_exporter with its diskstats collector alone, on 64 and 1,024 devices.

Both read the same trees of files and are scraped in turn. Prints CPU per scrape, scrape times and
memory, the ratios, and where the exporter's own time goes.
"""

import cProfile
import os
import pstats
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import keep
from burstwatch.formatting import table
from burstwatch_exporter.clock import system_clock
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.settings import parse_options
from tools.pages import flags, plant

DEVICES = (128, 1_024)
SCRAPES, WARM_UP = 200, 10
#: What Prometheus asks for.
ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
TICKS = os.sysconf("SC_CLK_TCK")
SHOWN = 6


def resident_mib(pid: int) -> float:
    """Memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


@dataclass(frozen=True, kw_only=True)
class Running:
    """A program that serves metrics."""

    name: str
    pid: int
    url: str

    def cpu_s(self) -> float:
        """Seconds of CPU used so far."""
        columns = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(columns[11]) + int(columns[12])) / TICKS

    def scrape(self) -> tuple[float, int]:
        """Seconds that it takes, and bytes."""
        headers = {"Accept": ACCEPT, "Accept-Encoding": "gzip"}
        request = urllib.request.Request(self.url, headers=headers)  # noqa: S310 - our own
        started = time.perf_counter()
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own
            size = len(answer.read())
        return time.perf_counter() - started, size


def tree(devices: int, seconds: int) -> str:
    """The counters of so many busy volumes after so many seconds."""
    lines = []
    for index in range(devices):
        ops = 1_000_000 + (100 + index) * seconds
        line = f" 259 {index} nvme{index}n1 {ops} 0 {ops * 32} {ops} {ops} 0 {ops * 32} {ops} 2 {ops} {ops} 0 0 0 0 9 9"
        lines.append(line)
    return "\n".join(lines) + "\n"


def build(devices: int, root: Path) -> None:
    """A host with so many gp2 volumes."""
    files = {
        "proc/diskstats": tree(devices, 0),
        "proc/1/mountinfo": "",
        "proc/sys/kernel/random/boot_id": "b\n",
        "config.yml": 'volumes: {"*": {type: gp2}}\n',
    }
    for index in range(devices):
        block = f"sys/block/nvme{index}n1"
        files |= {
            f"{block}/size": f"{(1 + index % 900) * 2**21}\n",
            f"{block}/diskseq": f"{index}\n",
            f"{block}/queue/max_sectors_kb": "256\n",
            f"{block}/device/model": "Amazon Elastic Block Store\n",
            f"{block}/device/serial": f"vol{index:017x}\n",
            f"udev/b259:{index}": "I:1000000\nE:ID_MODEL=Amazon Elastic Block Store\n",
        }
    plant(files, root)


@contextmanager
def started(name: str, command: list[str], port: int) -> Iterator[Running]:
    """A program that has answered once."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
    running = Running(name=name, pid=process.pid, url=f"http://127.0.0.1:{port}/metrics")
    try:
        for _ in range(200):
            try:
                running.scrape()
                break
            except OSError:
                time.sleep(0.1)
        yield running
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def measure(devices: int, root: Path) -> list[dict[str, Any]]:
    """Both programs, scraped in turn while the counters move."""
    build(devices, root)
    ours, theirs = free_port(), free_port()
    roots = [f"--path.procfs={root}/proc", f"--path.sysfs={root}/sys"]
    burstwatch = [
        str(Path(sys.executable).with_name("burstwatch-exporter")), *roots,
        f"--path.udev.data={root}/udev", f"--config.file={root}/config.yml",
        f"--web.listen-address=127.0.0.1:{ours}",
    ]  # fmt: skip
    node = [
        shutil.which("prometheus-node-exporter") or "node_exporter", *roots,
        "--collector.disable-defaults", "--collector.diskstats",
        f"--path.udev.data={root}/udev", f"--web.listen-address=127.0.0.1:{theirs}",
    ]  # fmt: skip
    with (
        started("burstwatch", burstwatch, ours) as one,
        started("node_exporter", node, theirs) as two,
    ):
        programs = (one, two)
        times: dict[str, list[float]] = {program.name: [] for program in programs}
        before: dict[str, float] = {}
        sizes: dict[str, int] = {}
        for turn in range(SCRAPES + WARM_UP):
            (root / "proc" / "diskstats").write_text(tree(devices, turn))
            if turn == WARM_UP:
                before = {program.name: program.cpu_s() for program in programs}
            for program in programs:
                seconds, sizes[program.name] = program.scrape()
                if turn >= WARM_UP:
                    times[program.name].append(seconds)
        return [
            {
                "program": program.name,
                "devices": devices,
                "cpu_ms_per_scrape": 1_000 * (program.cpu_s() - before[program.name]) / SCRAPES,
                "p50_ms": 1_000 * sorted(times[program.name])[SCRAPES // 2],
                "p99_ms": 1_000 * sorted(times[program.name])[SCRAPES * 99 // 100],
                "resident_mib": resident_mib(program.pid),
                "page_kib": sizes[program.name] / 1_024,
            }
            for program in programs
        ]


def profile(devices: int, root: Path) -> list[dict[str, Any]]:
    """Where the time of a scrape goes, by function, the largest first."""
    build(devices, root)
    options = parse_options(flags(root, **{"config.file": f"{root}/config.yml"}), {})
    exporter = Exporter(options, system_clock())
    exporter.scrape()
    profiler = cProfile.Profile()
    for turn in range(5):
        (root / "proc" / "diskstats").write_text(tree(devices, turn + 1))
        profiler.runcall(exporter.scrape)
    stats = pstats.Stats(profiler).get_stats_profile().func_profiles
    total = sum(one.tottime for one in stats.values())
    ranked = sorted(stats.items(), key=lambda item: -item[1].tottime)
    return [
        {"function": name, "file": Path(one.file_name).name, "share": one.tottime / total}
        for name, one in ranked[:SHOWN]
    ]


def main() -> None:
    """Measure, print, and keep the result."""
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for devices in DEVICES:
            print(f"{devices} devices, {SCRAPES} scrapes of each program", file=sys.stderr)
            records += measure(devices, Path(folder) / str(devices))
        costs = profile(DEVICES[-1], Path(folder) / "profile")
    rows = [
        [
            record["program"],
            str(record["devices"]),
            *(
                f"{record[name]:.1f}"
                for name in ("cpu_ms_per_scrape", "p50_ms", "p99_ms", "resident_mib", "page_kib")
            ),
        ]
        for record in records
    ]
    print(
        table(("program", "devices", "cpu ms/scrape", "p50 ms", "p99 ms", "MiB", "page KiB"), rows)
    )
    ratios = {}
    for ours, theirs in zip(records[::2], records[1::2], strict=True):
        ratios[ours["devices"]] = {
            name: ours[name] / theirs[name] for name in ("cpu_ms_per_scrape", "resident_mib")
        }
        print(
            f"{ours['devices']} devices: "
            + ", ".join(f"{name} x {ratio:.1f}" for name, ratio in ratios[ours["devices"]].items())
        )
    for cost in costs:
        print(f"{cost['share']:5.0%}  {cost['function']} ({cost['file']})")
    keep("exporter", {"records": records, "ratios": ratios, "profile": costs})


if __name__ == "__main__":
    main()

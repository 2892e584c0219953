"""The exporter beside node_exporter with its diskstats collector alone: CPU for each scrape, on a host of 128 volumes.

Both read the same tree of files, whose counters move, and are scraped in turn. Needs node_exporter.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.record import keep
from tests.exporter.pages import flags, plant

DEVICES, SCRAPES, WARM_UP, ROUNDS = 128, 150, 10, 3
#: What Prometheus asks for.
HEADERS = {
    "Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
    "Accept-Encoding": "gzip",
}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Running:
    """A program that serves metrics."""

    pid: int
    url: str

    def cpu_s(self) -> float:
        """Seconds of CPU used so far."""
        columns = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(columns[11]) + int(columns[12])) / TICKS

    def scrape(self) -> None:
        """Ask for its page as Prometheus does."""
        request = urllib.request.Request(self.url, headers=HEADERS)  # noqa: S310 - our own
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own
            answer.read()


def counters(seconds: int) -> str:
    """The kernel's counters of all volumes after so many seconds."""
    lines = []
    for index in range(DEVICES):
        ops = 1_000_000 + (100 + index) * seconds
        lines.append(
            f" 259 {index} nvme{index}n1 {ops} 0 {ops * 32} {ops} {ops} 0 {ops * 32} {ops} 2 {ops} {ops} 0 0 0 0 9 9\n"
        )
    return "".join(lines)


def host() -> dict[str, str]:
    """The files of a host with gp2 volumes, whose records are as udev writes them."""
    files = {
        "proc/diskstats": counters(0),
        "proc/1/mountinfo": "",
        "proc/sys/kernel/random/boot_id": "b\n",
        "config.yml": 'volumes: {"*": {type: gp2}}\n',
    }
    for index in range(DEVICES):
        block = f"sys/block/nvme{index}n1"
        files |= {
            f"{block}/size": f"{(1 + index % 900) * 2**21}\n",
            f"{block}/diskseq": f"{index + 1}\n",
            f"{block}/queue/max_sectors_kb": "256\n",
            f"{block}/device/model": "Amazon Elastic Block Store\n",
            f"{block}/device/serial": f"vol{index:017x}\n",
            f"udev/b259:{index}": f"S:disk/by-diskseq/{index + 1}\nI:1000000\nE:ID_MODEL=Amazon Elastic Block Store\n",
        }
    return files


@contextmanager
def started(*command: str) -> Iterator[Running]:
    """A program that serves on a free port, which it says when it does."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own
    try:
        for line in process.stderr or ():
            port = line.strip().rpartition("127.0.0.1:")[2]
            if port.isdecimal():
                yield Running(pid=process.pid, url=f"http://127.0.0.1:{port}/metrics")
                return
        msg = f"{command[0]} has ended without a word of its port"
        raise OSError(msg)
    finally:
        process.terminate()
        process.wait()


def cpu_ms(root: Path, node_exporter: str) -> tuple[float, float]:
    """The CPU of one scrape of the exporter and of node_exporter, in milliseconds."""
    listen = "--web.listen-address=127.0.0.1:0"
    ours = [f"--{name}={value}" for name, value in flags(root).items()]
    exporter = (
        sys.executable,
        "-m",
        "burstwatch_exporter",
        *ours,
        f"--config.file={root}/config.yml",
        listen,
    )
    node = (
        node_exporter, *ours, "--collector.disable-defaults", "--collector.diskstats", listen,
    )  # fmt: skip
    with started(*exporter) as one, started(*node) as two:
        before = (0.0, 0.0)
        for turn in range(WARM_UP + SCRAPES):
            (root / "proc" / "diskstats").write_text(counters(turn))
            if turn == WARM_UP:
                before = one.cpu_s(), two.cpu_s()
            one.scrape()
            two.scrape()
        spent = (one.cpu_s() - before[0], two.cpu_s() - before[1])
    return 1_000 * spent[0] / SCRAPES, 1_000 * spent[1] / SCRAPES


def main() -> None:
    """Measure some rounds side by side, print each, and keep them."""
    node_exporter = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
    if node_exporter is None:
        print("node_exporter is not installed, so the exporter is not measured beside it")
        return
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            plant(host(), Path(folder))
            ours_ms, theirs_ms = cpu_ms(Path(folder), node_exporter)
        print(
            f"{DEVICES} devices: {ours_ms:.2f} ms of CPU a scrape, node_exporter {theirs_ms:.2f} ms: {ours_ms / theirs_ms:.2f} times"
        )
        rounds.append(
            {"ours_ms": ours_ms, "node_exporter_ms": theirs_ms, "ratio": ours_ms / theirs_ms}
        )
    median = statistics.median(measured["ratio"] for measured in rounds)
    print(f"the median is {median:.2f} times")
    keep("exporter", {"devices": DEVICES, "rounds": rounds, "median_ratio": median})


if __name__ == "__main__":
    main()

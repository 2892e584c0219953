"""Measurements of a disk that the kernel throttles like a gp2 volume: what they cost, and what they find."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from burstwatch.bucket import Bucket
from burstwatch_exporter.measure.process import UNWATCHED_S
from burstwatch_exporter.measure.profiles import profiles
from burstwatch_exporter.measure.scratch import PREFIX
from tests.exporter.delivery import repeats_when_busy
from tests.exporter.kill_trials import PROGRAMS, survivors, trials
from tests.exporter.throttled import LOSETUP, MOUNT, NoDiskError, ThrottledDisk, throttled_disk

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

#: Full, it lasts 20 s at full burst.
BUCKET = Bucket(capacity=54_000, refill=300, burst=3_000)
#: Each operation costs one credit here, however large the kernel makes it.
LARGEST_KIB = 1_280
#: The command, once its configuration is there. It has imported everything by then, so the volume
#: is hardly older than the measurement, however busy the machine is.
ONCE_THERE = """
import sys, time
from pathlib import Path
from burstwatch_exporter.main import main
from burstwatch_exporter.measure import command
Path(sys.argv.pop(1)).touch()
config = Path(sys.argv.pop(1))
while not config.exists():
    time.sleep(0.01)
main()
"""


@dataclass
class Bench:
    """The disk, where it is mounted, and what is kept of results. A credit is an I/O or a MiB."""

    disk: ThrottledDisk
    data: Path
    folder: Path
    unit: str = "io"

    @property
    def key(self) -> str:
        return f"device:{self.disk.name}"

    @contextmanager
    def measuring(self, *args: str) -> Iterator[subprocess.Popen[bytes]]:
        """Measure a volume that is full now; whatever happens, it ends with the block."""
        of = self.disk.bucket
        bucket = {
            "capacity": of.capacity, "refill": of.refill, "burst": of.burst, "unit": self.unit,
            "io_kib": LARGEST_KIB if self.unit == "io" else 1_024,
        }  # fmt: skip
        ready, config_file = self.folder / "ready", self.folder / "config.yml"
        ready.unlink(missing_ok=True)
        config_file.unlink(missing_ok=True)
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            process = subprocess.Popen(
                self.disk.throttle.command(
                    sys.executable, "-c", ONCE_THERE, ready, config_file, "measure",
                    "--allow-root", f"--config.file={config_file}",
                    f"--directory={self.data}", "--json", *args,
                ),
                stdout=out, stderr=err,
            )  # fmt: skip
        try:
            while not ready.exists():
                assert process.poll() is None, (self.folder / "err").read_text()
                time.sleep(0.02)
            self.disk.truth()
            self.disk.fill()
            config = {
                "devices": {
                    self.disk.name: {"bucket": bucket, "created": datetime.now(tz=UTC).isoformat()}
                },
                "measure": {"directories": [str(self.data)], "drain": [self.key]},
            }
            (self.folder / "config").write_text(json.dumps(config))
            (self.folder / "config").rename(config_file)
            yield process
        finally:
            process.kill()
            process.wait()

    def record(self) -> dict[str, Any]:
        """The result that it printed."""
        found: dict[str, Any] = json.loads((self.folder / "out").read_text())
        return found

    def measure(self, *args: str) -> tuple[dict[str, Any], float]:
        """The result, and how many operations the disk has really done for it."""
        before = self.disk.done()
        with self.measuring(*args) as process:
            assert process.wait(timeout=150) in {0, 1}, (self.folder / "err").read_text()
        return self.record(), self.disk.done() - before


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    try:
        with throttled_disk(BUCKET, folder) as disk, disk.mounted(folder / "data") as data:
            yield Bench(disk=disk, data=data, folder=folder)
    except NoDiskError as error:
        pytest.skip(f"no throttled disk here: {error}")
    assert str(folder) not in subprocess.check_output([LOSETUP, "--list"], text=True)


BUDGET = 0.2
#: The operations that are on their way as it ends, and the file system's own.
IN_FLIGHT = 100
#: dbench's are in the page cache too: of one client some twenty MiB, in pages of 4 KiB.
IN_CACHE = 5_000
#: A program that nobody ends would go on for longer.
MOST_S = 30.0
WITH_A_BUDGET = sorted(set(profiles()) - {"drain", "drain-hdd", "dd-drain-raid0"})


@pytest.mark.parametrize("name", WITH_A_BUDGET)
@repeats_when_busy
def test_the_budget_is_kept_within_two_percent_of_the_bucket(
    name: str, bench: Bench, program: Callable[[str], str]
) -> None:
    program("dbench")
    record, spent = bench.measure(
        f"--profile={name}", "--size-mib=32", f"--budget-percent={BUDGET * 100}",
        *(["--runtime-s=3"] if name.startswith("probe") else []),
    )  # fmt: skip
    assert not record["failed"]
    assert not record["stopped"]
    allowed = min(BUDGET * BUCKET.capacity, record["predicted"])
    print(
        f"{name}: {spent:.0f} of {allowed:.0f}, {(spent - allowed) / BUCKET.capacity:+.2%} of the bucket"
    )
    # dbench has no bound of its own: what it could spend unwatched is kept back.
    held_back = UNWATCHED_S * BUCKET.burst if name == "dbench" else 0.0
    assert -held_back <= spent - allowed + 0.02 * BUCKET.capacity
    assert spent - allowed <= 0.02 * BUCKET.capacity
    credit = record["volumes"][0]["credit"]
    # What the file system writes before and after is not of the measurement.
    assert credit["spent_most"] == pytest.approx(spent, abs=0.01 * BUCKET.capacity)
    assert sorted(path.name for path in bench.data.iterdir()) == ["lost+found"]


@repeats_when_busy
def test_killed_it_takes_fio_along_and_leaves_nothing(
    bench: Bench, program: Callable[[str], str]
) -> None:
    program("fio")
    began = bench.disk.done()
    args = (
        "--profile=fio-16k-16jobs",
        "--size-mib=32",
        "--budget-percent=100",
        "--floor-percent=0",
    )
    with bench.measuring(*args) as process:
        while bench.disk.done() < began + 3_000:
            assert process.poll() is None, "it has ended before"
            time.sleep(0.02)
        process.kill()
    time.sleep(0.5)
    before = bench.disk.done()
    time.sleep(1)
    assert bench.disk.done() - before < 50
    assert sorted(path.name for path in bench.data.iterdir()) == ["lost+found"]
    free = shutil.disk_usage(bench.data)
    assert free.used < 16 * 2**20  # the scratch file's 32 MiB are given back


#: When it is stopped, as shares of what it may spend; each tool at the first of them.
MOMENTS = [("fio-16k-16jobs", moment / 10) for moment in range(10)] + [
    (name, moment) for name in ("dbench", "dd-drain", "drain") for moment in (0.3, 0.7)
]


def done_by_programs(disk: ThrottledDisk) -> float:
    """All that it has done when the last program ends, once none has run for longer than one may go unwatched."""
    since, done = time.monotonic(), disk.done()
    until = since + MOST_S
    while time.monotonic() - since < 2 * UNWATCHED_S:
        assert time.monotonic() < until, "something still runs"
        time.sleep(0.05)
        if any(survivors(program) for program in ("/fio\0", "/dbench\0", "/dd\0")):
            since, done = time.monotonic(), disk.done()
    return done


@pytest.mark.parametrize(("name", "moment"), MOMENTS)
def test_stopped_at_any_moment_it_spends_no_more_than_its_budget(
    name: str, moment: float, bench: Bench, program: Callable[[str], str]
) -> None:
    """As by Ctrl-Z: nobody counts any more, and the program would go on."""
    program("dbench")
    budget = BUDGET * BUCKET.capacity
    args = [f"--profile={name}", f"--budget-percent={BUDGET * 100}", "--floor-percent=0"]
    if name == "drain":
        args = ["--drain", f"--confirm-drain={bench.key}", "--recover-s=1"]
        budget = BUCKET.capacity
    began = bench.disk.done()
    with bench.measuring("--size-mib=8", *args) as process:
        while bench.disk.done() - began < moment * budget and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        spent = done_by_programs(bench.disk) - began
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=150) in {0, 1}, (bench.folder / "err").read_text()
    print(f"{name} stopped at {moment:.0%}: {spent:.0f} of {budget:.0f} spent")
    most = IN_FLIGHT + (IN_CACHE if name == "dbench" else 0)
    assert spent <= budget + most
    assert bench.record()["overspent"] <= most


@repeats_when_busy
def test_a_drain_finds_burst_baseline_and_capacity_within_five_percent(
    bench: Bench, program: Callable[[str], str]
) -> None:
    program("fio")
    record, _ = bench.measure(
        "--drain", f"--confirm-drain={bench.key}", "--recover-s=15", "--size-mib=32"
    )
    found = record["drain"]
    print({name: round(value, 1) for name, value in found.items()})
    assert found["burst"] == pytest.approx(BUCKET.burst, rel=0.05)
    assert found["baseline"] == pytest.approx(BUCKET.refill, rel=0.05)
    assert found["capacity"] == pytest.approx(BUCKET.capacity, rel=0.05)
    assert found["refill"] == pytest.approx(BUCKET.refill, rel=0.1)
    assert found["knee_s"] == pytest.approx(20, abs=1)


@repeats_when_busy
def test_a_disk_that_counts_bytes_is_drained_in_sequence(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    """200 MiB/s until 2,160 of them are gone, then 20: with sixteen on their way as it ends."""
    program("fio")
    bucket = Bucket(capacity=2_160, refill=20, burst=200)
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    try:
        with (
            throttled_disk(bucket, folder, unit="MiB") as disk,
            disk.mounted(folder / "data") as data,
        ):
            bench = Bench(disk=disk, data=data, folder=folder, unit="MiB")
            record, _ = bench.measure(
                "--drain", f"--confirm-drain={bench.key}", "--recover-s=0", "--size-mib=64"
            )
    except NoDiskError as error:
        pytest.skip(f"no throttled disk here: {error}")
    assert record["profile"] == "drain-hdd"
    assert not record["failed"]
    assert not record["steps"][0]["failed"]
    found = record["drain"]
    print({name: round(value, 1) for name, value in found.items() if value is not None})
    assert found["burst"] == pytest.approx(bucket.burst, rel=0.05)
    assert found["baseline"] == pytest.approx(bucket.refill, rel=0.05)
    assert found["drained"] == pytest.approx(bucket.capacity - 64, rel=0.1)  # less its scratch file


@repeats_when_busy
def test_it_stops_by_itself_within_two_seconds_when_others_take_the_balance_under_the_floor(
    bench: Bench, program: Callable[[str], str]
) -> None:
    """Another fio takes 2,700 a second net: from full to half in 10 s."""
    fio = program("fio")
    floor = 0.75
    load = bench.disk.throttle.command(
        fio, "--name=other", f"--filename={bench.disk.path}", "--rw=randread", "--bs=16k",
        "--direct=1", "--ioengine=libaio", "--iodepth=8", "--time_based", "--runtime=30",
        "--size=200m", "--eta=never",
    )  # fmt: skip
    args = (
        "--size-mib=32", "--runtime-s=60", "--rate-iops=50", f"--floor-percent={floor * 100}",
        "--budget-percent=100", "--profile=fio-4k-qd4",
    )  # fmt: skip
    under_at, began = None, bench.disk.done()
    with bench.measuring(*args) as process:
        while bench.disk.done() < began + 100:
            assert process.poll() is None, "it has ended before"
            time.sleep(0.02)
        with subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            while process.poll() is None and (under_at is None or time.monotonic() < under_at + 2):
                level = bench.disk.truth()
                if under_at is None and level < floor * BUCKET.capacity:
                    under_at = time.monotonic()
                time.sleep(0.02)
            ended_at = time.monotonic()
            other.terminate()
        assert process.returncode == 1
    late = 0.0 if under_at is None else ended_at - under_at
    print(
        f"ended {late:.2f} s after the balance fell under the floor, at {level / BUCKET.capacity:.1%}"
    )
    assert "under its floor" in bench.record()["stopped"]
    # What is certain is a little less than the truth, so it may end a moment before.
    unknown = 1 - bench.record()["volumes"][0]["credit"]["before_low"]
    assert -0.05 < level / BUCKET.capacity - floor < 0.05 + unknown


def fill(bench: Bench) -> None:
    """Somebody else writes until there is no space."""
    with suppress(OSError), (bench.data / "hog").open("wb") as hog:
        while True:
            hog.write(bytes(2**20))


def turn_read_only(bench: Bench) -> None:
    """As the kernel does after an error of the disk."""
    subprocess.run([MOUNT, "-o", "remount,abort", bench.data], check=True)


def detach(bench: Bench) -> None:
    """The device is there, and nothing is behind it."""
    os.truncate(bench.folder / "memory" / "disk.img", 0)


FAULTS: dict[str, Callable[[Bench], None]] = {
    "fills": fill, "turns read-only": turn_read_only, "is detached": detach,
}  # fmt: skip


@pytest.mark.parametrize("profile", ["fio-4k-qd4", "dbench"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_disk_that_breaks_under_a_program_ends_it_in_good_order(
    fault: str,
    profile: str,
    tmp_path: Path,
    program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program("dbench" if profile == "dbench" else "fio")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mark = str((tmp_path / "data" if profile == "dbench" else tmp_path) / PREFIX)
    try:
        with (
            throttled_disk(BUCKET, tmp_path, size_mib=64) as disk,
            disk.mounted(tmp_path / "data") as data,
        ):
            bench = Bench(disk=disk, data=data, folder=tmp_path)
            args = (f"--profile={profile}", "--size-mib=16", "--budget-percent=90")
            with bench.measuring(*args) as process:
                while not survivors(mark):
                    assert process.poll() is None, (tmp_path / "err").read_text()
                    time.sleep(0.01)
                time.sleep(1)
                FAULTS[fault](bench)
                code = process.wait(timeout=150)
            record = bench.record()
            assert not survivors(mark)
    except NoDiskError as error:
        pytest.skip(f"no disk to break here: {error}")
    steps = record["steps"]
    assert steps
    complaints = [record["stopped"], record["failed"], *(one["failed"] for one in steps)]
    # A file that is laid out has its space: fio does not notice that others take the rest.
    assert any(complaints) == (code == 1)
    assert code == 1 or fault == "fills"
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(PREFIX)]


def test_killed_at_any_instant_of_a_start_no_program_survives(
    program: Callable[[str], str],
) -> None:
    program("fio")
    program("dbench")
    ran = dict.fromkeys(PROGRAMS, 0)
    for name, after_s, running, left in trials(60, seed=2):
        assert left == [], (name, after_s)
        ran[name] += running > 1  # the keeper and more
    assert all(count > 5 for count in ran.values()), ran

"""The program as it runs: what SIGHUP, a folder that cannot be written and a log level do, and what is said of the process."""

import io
import logging
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Self

import pytest
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.web.server import stop_on_signals
from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.main import run
from tests.exporter.box import EVERY_GP2, Box
from tests.exporter.pages import flags
from tests.exporter.scraped import value


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


class Running:
    """The program in a thread, and its page."""

    def __init__(self, root: Path, caplog: pytest.LogCaptureFixture, **options: str) -> None:
        self.stop, self.hang_up = threading.Event(), threading.Event()
        self._caplog = caplog
        self.code: list[int] = []
        self.err = io.StringIO()
        world = World(
            stdout=io.StringIO(), stderr=self.err, env={}, clock=system_clock(), stop=self.stop, hang_up=self.hang_up,
        )  # fmt: skip
        named = {
            "web.listen-address": "127.0.0.1:0",
            "sample.period": "0.1",
            **flags(root),
            **options,
        }
        args = [f"--{name}={text}" for name, text in named.items()]
        caplog.set_level(logging.INFO)
        self._thread = threading.Thread(target=lambda: self.code.append(run(args, world)))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._thread.join(60)

    @property
    def page(self) -> str:
        until(lambda: any(m.startswith("serving on ") for m in self._caplog.messages))
        serving = [m for m in self._caplog.messages if m.startswith("serving on ")]
        port = serving[-1].rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
        return text


@pytest.fixture(autouse=True)
def _levels_are_as_before() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("burstwatch", "burstwatch_exporter")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    made = Box(tmp_path)
    made.put("config.yml", 'volumes: {"*": {type: gp3}}\n')
    return made


def test_a_hang_up_reads_the_configuration_anew_and_a_broken_one_changes_nothing(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    with Running(box.root, caplog, **{"config.file": str(box.root / "config.yml")}) as running:
        assert 'volume_type="gp3"' in running.page
        box.put("config.yml", 'volumes: {"*": {type: gp2}}\n')
        running.hang_up.set()
        until(lambda: 'volume_type="gp2"' in running.page)
        assert 'burstwatch_source_up{source="reload"} 1.0' in running.page
        box.put("config.yml", "volumes: 5\n")
        running.hang_up.set()
        until(lambda: 'burstwatch_source_up{source="reload"} 0.0' in running.page)
        assert 'volume_type="gp2"' in running.page
    assert running.code == [0]


def test_a_hang_up_signal_does_not_end_the_program() -> None:
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    }
    stop, hang_up = threading.Event(), threading.Event()
    try:
        stop_on_signals(stop, hang_up)
        os.kill(os.getpid(), signal.SIGHUP)
        assert hang_up.wait(60)
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(60)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_state_that_cannot_be_written_from_the_start_costs_no_metric(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    """As on a disk that is read-only after an error, or under SELinux. Nobody can make a file in /proc."""
    options = {"state.file": "/proc/state.json", "config.file": str(box.root / "config.yml")}
    with Running(box.root, caplog, **options) as running:
        until(lambda: 'burstwatch_source_up{source="state"} 0.0' in running.page)
        assert "burstwatch_volume_read_ops_total" in running.page
    assert running.code == [0]


def test_a_state_folder_that_cannot_be_looked_at_costs_no_metric(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    """As where a folder above may not be searched. Nobody can follow a link to itself."""
    (box.root / "loop").symlink_to(box.root / "loop")
    options = {"state.file": str(box.root / "loop" / "state.json")}
    with Running(box.root, caplog, **options) as running:
        until(lambda: 'burstwatch_source_up{source="state"} 0.0' in running.page)
    assert running.code == [0]


def test_a_state_folder_that_does_not_exist_is_named(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    with Running(
        box.root, caplog, **{"state.file": str(box.root / "no" / "state.json")}
    ) as running:
        until(lambda: bool(running.code))
    assert running.code == [2]
    assert "does not exist" in running.err.getvalue()


def test_the_page_has_the_process_itself(box: Box, caplog: pytest.LogCaptureFixture) -> None:
    with Running(box.root, caplog) as running:
        for name in (
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_open_fds",
        ):
            assert f"\n{name} " in running.page


@pytest.mark.parametrize(("level", "is_logged"), [("info", True), ("warning", False)])
def test_the_log_has_what_its_level_asks_for(
    box: Box, caplog: pytest.LogCaptureFixture, level: str, *, is_logged: bool
) -> None:
    with Running(box.root, caplog, **{"log.level": level, "web.listen-address": ""}) as running:
        time.sleep(0)
    assert running.code == [0]
    assert ("stopped" in caplog.messages) == is_logged


def test_mounts_of_pods_make_no_series_each_and_volumes_keep_theirs(box: Box) -> None:
    pods = [f"00000000-0000-4000-8000-{number:012d}" for number in range(110)]
    lines = ["26 1 259:1 / / rw - xfs /dev/nvme1n1 rw"]
    lines += [
        f"{100 + number} 26 259:1 /x /var/lib/kubelet/pods/{pod}/volume-subpaths/conf/app/0 rw - xfs /dev/nvme1n1 rw"
        for number, pod in enumerate(pods)
    ]
    lines.append(
        f"900 26 259:2 / /var/lib/kubelet/pods/{pods[0]}/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/nvme2n1 rw"
    )
    box.put("proc/1/mountinfo", "".join(f"{line}\n" for line in lines))
    page = box.starts().scrape()[1].decode()
    assert page.count("burstwatch_mount_info{") == 2
    assert "pvc-1" in page
    box.options = {"mounts.exclude": ""}
    assert box.starts().scrape()[1].decode().count("burstwatch_mount_info{") == 112


POD, OTHER_POD = (f"00000000-0000-4000-8000-{number:012d}" for number in range(2))
KUBELET = "/var/lib/kubelet"
BLOCK = f"{KUBELET}/plugins/kubernetes.io/csi/volumeDevices"


@pytest.mark.parametrize(
    ("mount", "device", "volume"),
    [
        (f"259:2 / {KUBELET}/pods/{POD}/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/nvme2n1 rw", "nvme2n1", ("pvc-1", POD)),
        (f"259:2 / {KUBELET}/pods/{POD}/volumes/kubernetes.io~aws-ebs/pvc-1 rw - ext4 /dev/nvme2n1 rw", "nvme2n1", ("pvc-1", POD)),
        # A device without a file system, as the kernel writes one of /dev that is bound to a file.
        (f"0:6 /nvme2n1 {BLOCK}/publish/pvc-1/{POD} rw,relatime - devtmpfs devtmpfs rw,mode=755", "nvme2n1", ("pvc-1", POD)),
        (f"0:6 /nvme2n1 {BLOCK}/pvc-1/dev/{POD} rw,relatime - devtmpfs devtmpfs rw,mode=755", "nvme2n1", ("pvc-1", POD)),
        (f"259:2 / {KUBELET}/plugins/kubernetes.io/csi/ebs.csi.aws.com/0123/globalmount rw - ext4 /dev/nvme2n1 rw", "nvme2n1", None),
        (f"0:6 /nvme2n1 {BLOCK}/staging/pvc-1 rw - devtmpfs devtmpfs rw", "nvme2n1", None),
        (f"0:6 /nvme2n1 {BLOCK}/publish/pvc-1 rw - devtmpfs devtmpfs rw", "nvme2n1", None),
        (f"0:6 /nvme2n1 {BLOCK}/pvc-1/dev rw - devtmpfs devtmpfs rw", "nvme2n1", None),
        (f"0:6 /null {BLOCK}/publish/pvc-1/{POD} rw - devtmpfs devtmpfs rw", None, None),
        (f"259:2 / /srv/pods/{POD}/volumes/kubernetes.io~csi/pvc-1/mount/below rw - ext4 /dev/nvme2n1 rw", "nvme2n1", None),
    ],
)  # fmt: skip
def test_a_volume_of_a_pod_has_the_names_that_the_path_of_kubelet_has(
    box: Box, mount: str, device: str | None, volume: tuple[str, str] | None
) -> None:
    root = "26 1 259:1 / / rw - xfs /dev/nvme1n1 rw\n"
    box.put("proc/1/mountinfo", f"{root}900 26 {mount}\n")
    page = box.starts().scrape()[1].decode()
    assert page.count("burstwatch_mount_info{") == (1 if device is None else 2)
    names = {
        (sample.labels["device"], sample.labels["persistentvolume"], sample.labels["pod_uid"])
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "burstwatch_kubernetes_volume_info"
    }
    assert names == (set() if volume is None else {(device, *volume)})


def test_a_volume_of_two_pods_has_a_series_for_each(box: Box) -> None:
    lines = ["26 1 259:1 / / rw - xfs /dev/nvme1n1 rw"]
    lines += [
        f"900 26 259:2 / {KUBELET}/pods/{pod}/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/nvme2n1 rw"
        for pod in (POD, OTHER_POD)
    ]
    box.put("proc/1/mountinfo", "".join(f"{line}\n" for line in lines))
    page = box.starts().scrape()[1].decode()
    assert page.count("burstwatch_kubernetes_volume_info{") == 2


def test_a_device_that_a_new_configuration_names_is_known_as_after_a_restart(box: Box) -> None:
    for name, text in {
        "size": f"{100 * 2**21}",
        "diskseq": "7",
        "dev": "8:16",
        "queue/iostats": "1",
    }.items():
        box.put(f"sys/block/sdb/{name}", f"{text}\n")
    box.put("udev/b8:16", "I:2500000\nS:disk/by-diskseq/7\n")
    box.counts("  8 16 sdb 10 0 320 0 0 0 0 0 0 0 0\n")
    box.config = EVERY_GP2
    exporter = box.starts()
    box.passes(exporter, 60)
    box.put("config.yml", EVERY_GP2 + "devices: {sdb: {type: gp2}}\n")
    exporter.reload()
    exporter.sample()
    page = exporter.scrape()[1].decode()
    assert value(page, "burstwatch_credit_interval_info", device="sdb", origin="appeared") == 1


@pytest.mark.parametrize("more", ["unit: MiB", "io_kib: 16"])
def test_what_a_credit_is_may_not_change_under_an_account(box: Box, more: str) -> None:
    bucket = "capacity: 54000, refill: 300, burst: 3000"
    box.config = f"devices: {{nvme1n1: {{bucket: {{{bucket}}}}}}}\n"
    exporter = box.starts()
    box.passes(exporter, 60)
    box.put("config.yml", f"devices: {{nvme1n1: {{bucket: {{{bucket}, {more}}}}}}}\n")
    exporter.reload()
    exporter.sample()
    page = exporter.scrape()[1].decode()
    origin = value(page, "burstwatch_credit_interval_info", device="nvme1n1", origin="resized")
    assert origin == 1


def test_a_text_file_has_nothing_of_the_process(box: Box, caplog: pytest.LogCaptureFixture) -> None:
    """node_exporter, which serves it, has metrics of these names itself."""
    path = box.root / "burstwatch.prom"
    options = {"textfile": str(path), "web.listen-address": ""}
    with Running(box.root, caplog, **options):
        until(path.exists)
    assert "burstwatch_volume_info" in path.read_text()
    assert "\nprocess_" not in path.read_text()


def test_the_libraries_own_debugging_is_not_logged(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    """It has the tokens of a session in it."""
    with Running(box.root, caplog, **{"log.level": "debug", "web.listen-address": ""}):
        until(lambda: logging.getLogger("burstwatch_exporter").isEnabledFor(logging.DEBUG))
        assert not logging.getLogger("botocore").isEnabledFor(logging.DEBUG)


def test_a_date_of_creation_narrows_what_was_saved(box: Box) -> None:
    """As the runbook of an unknown balance advises it."""
    shutil.rmtree(box.root / "udev")
    box.config, box.options = EVERY_GP2, {"state.file": str(box.root / "state.json")}
    exporter = box.starts()
    assert box.bounds(exporter) == (0, 1)
    exporter.save()
    made = datetime.fromtimestamp(box.hands.wall - 600, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    box.config = f'volumes: {{"*": {{type: gp2, created: {made}}}}}\n'
    low, high = box.bounds(box.starts())
    assert low > 0.6
    assert high == 1


@pytest.mark.parametrize("step_s", [1.9, 600.0])
def test_many_small_steps_of_the_clock_widen_as_much_as_one(box: Box, step_s: float) -> None:
    """An account of before the host was started is dated by the wall clock, which was behind."""
    box.config, box.options = EVERY_GP2, {"state.file": str(box.root / "state.json")}
    box.starts().save()
    box.put("proc/sys/kernel/random/boot_id", "boot-2\n")
    box.hands.boot = 30.0
    box.put(
        "udev/b259:1", "I:1500000\nS:disk/by-diskseq/1\nE:ID_SERIAL_SHORT=vol0aaaaaaaaaaaaaaa1\n"
    )
    exporter = box.starts()
    before, _ = box.bounds(exporter)
    for _ in range(round(600 / step_s)):
        box.hands.wall += step_s
        exporter.sample()
    after, _ = box.bounds(exporter)
    assert before - after >= 0.95 * 600 * (3_000 - 300) / 5_400_000


def test_where_no_more_files_can_be_opened_a_scrape_is_answered_and_the_log_stays_short(
    box: Box,
) -> None:
    """Of many connections that come at once, before any is counted."""
    log = box.root / "log"
    args = [f"--{name}={text}" for name, text in flags(box.root).items()]
    with log.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "burstwatch_exporter", "--web.listen-address=127.0.0.1:0", *args], stderr=err
        )  # fmt: skip
    try:
        until(lambda: b"serving on " in log.read_bytes())
        port = int(log.read_text().rpartition("serving on 127.0.0.1:")[2].split()[0])
        opened = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (opened + 6, opened + 6))
        with ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            until(lambda: is_answered(port))
            assert len(log.read_bytes().splitlines()) < 20
    finally:
        process.kill()
        process.wait()


def is_answered(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/healthy", timeout=5) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        return False

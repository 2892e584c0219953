"""The program as it runs: what SIGHUP, a folder that cannot be written and a log level do, and what is said of the process."""

import io
import logging
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest

from burstwatch.web.server import stop_on_signals
from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.main import run
from tests.exporter.box import Box
from tests.exporter.pages import flags


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
    logging.getLogger().setLevel(logging.WARNING)
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

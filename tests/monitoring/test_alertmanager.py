"""A real Alertmanager, with the configuration that is given: one page for one cause."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from demo.localcloud.cloud import free_port

pytestmark = pytest.mark.real
CONFIG = Path(__file__).parents[2] / "monitoring" / "prometheus" / "alertmanager.yml"


def test_amtool_has_nothing_to_say_of_the_configuration(program: Callable[[str], str]) -> None:
    command = [program("amtool"), "check-config", str(CONFIG)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def alertmanager(tmp_path: Path, program: Callable[[str], str]) -> Iterator[str]:
    url = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            program("prometheus-alertmanager"), f"--config.file={CONFIG}", f"--storage.path={tmp_path}",
            f"--web.listen-address={url}", "--cluster.listen-address=",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                ask(f"http://{url}/-/ready")
                break
            except OSError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield f"http://{url}"
    finally:
        process.terminate()
        process.wait(120)


def ask(url: str, body: object = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


def alert(name: str, severity: str, **labels: str) -> dict[str, Any]:
    # This is made when the tests are collected, and may be asked much later.
    ends = datetime.now(tz=UTC) + timedelta(days=1)
    return {
        "labels": {"alertname": name, "severity": severity, **labels},
        "endsAt": ends.isoformat(),
    }


DISK = {"instance": "db-1", "volume_id": "vol-1", "device": "nvme1n1"}
OTHER = {**DISK, "volume_id": "vol-2", "device": "nvme2n1"}
THIRD = {**DISK, "volume_id": "vol-3", "device": "nvme3n1"}
#: As YACE has it: one exporter for all, and no device.
OF_YACE = {"instance": "yace", "volume_id": "vol-4"}
FIRING = {
    "dry, critical": alert("BurstwatchRunsDry", "critical", **DISK),
    "dry, warning": alert("BurstwatchRunsDry", "warning", **DISK),
    "other, warning": alert("BurstwatchRunsDry", "warning", **OTHER),
    "third, throttled": alert("BurstwatchThrottledNow", "critical", **THIRD),
    "third, dry": alert("BurstwatchRunsDry", "critical", **THIRD),
    "third, limit": alert("BurstwatchLimitReached", "warning", limit="volume_iops", **THIRD),
    "yace, critical": alert("BurstwatchRunsDry", "critical", **OF_YACE),
    "yace, warning": alert("BurstwatchRunsDry", "warning", **OF_YACE),
    "yace, another": alert("BurstwatchRunsDry", "warning", **{**OF_YACE, "volume_id": "vol-5"}),
    # Somebody else's, without the labels that are compared: missing is not equal.
    "foreign, critical": alert("HighCpu", "critical"),
    "foreign, warning": alert("HighCpu", "warning"),
    "down": alert("BurstwatchExporterDown", "warning", instance="db-1"),
}


def muted(url: str) -> set[str]:
    """Which of the alerts that fire are inhibited."""
    found = json.loads(ask(f"{url}/api/v2/alerts"))
    by_labels = {
        tuple(sorted(one["labels"].items())): one["status"]["inhibitedBy"] for one in found
    }
    return {
        name for name, one in FIRING.items() if by_labels.get(tuple(sorted(one["labels"].items())))
    }


def eventually_muted(url: str, expected: set[str]) -> None:
    deadline = time.monotonic() + 120
    while muted(url) != expected and time.monotonic() < deadline:
        time.sleep(0.2)
    assert muted(url) == expected


def test_the_graver_alert_mutes_the_lesser_of_the_same_disk_and_of_no_other(
    alertmanager: str,
) -> None:
    ask(f"{alertmanager}/api/v2/alerts", list(FIRING.values()))
    lesser = {"dry, warning", "third, dry", "third, limit", "yace, warning"}
    eventually_muted(alertmanager, lesser)
    ask(f"{alertmanager}/api/v2/alerts", [alert("BurstwatchAbsent", "critical")])
    eventually_muted(alertmanager, {*lesser, "down"})

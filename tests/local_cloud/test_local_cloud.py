"""The real template, the real package and real delivery, on the local cloud. Minutes long.

The demo plays in one region, as `make demo` does. In another region of the same cloud
a second deployment has its schedule taken away, and must be missed.
"""

from __future__ import annotations

import json
import math
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest

from burstwatch.aws.fleet import fleet_metrics
from burstwatch.aws.session import Clients, Deadline
from burstwatch.aws.units import Units, UnitSpec
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from demo.__main__ import SETTINGS, run
from demo.localcloud.cloud import ROOT, RUNTIME_PYTHON, LocalCloud, free_port, local_cloud
from demo.stack import Stack
from tests.fake.aws import FakeAws
from tests.fake.server import FakeServer

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(1_500)]

REGION = "eu-west-1"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    log = tmp_path_factory.mktemp("cloud") / "cloud.log"
    with local_cloud(port=free_port(), log=log) as running:
        yield running


@pytest.fixture(scope="module")
def demo(cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Future[Any]]:
    """The demo, playing in the background while the other test watches another region."""
    out = tmp_path_factory.mktemp("demo")
    with ThreadPoolExecutor(1) as pool:

        def play() -> tuple[int, dict[str, Any]]:
            code = run(cloud, out, keep=False)
            return code, json.loads((out / "result.json").read_text())

        yield pool.submit(play)


@pytest.fixture
def cloud_env(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials that the local cloud takes, and no real account."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


@pytest.fixture
def denying() -> Iterator[str]:
    """The address of a strict fake that denies every call."""
    aws = FakeAws(clock=time.time, closed_regions={"ap-south-1"})
    server = FakeServer(aws)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.url
    server.shutdown()
    server.server_close()


def client(cloud: LocalCloud, service: str, region: str = REGION) -> Any:
    return boto3.client(
        service,
        endpoint_url=cloud.endpoint,
        region_name=region,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def eventually(check: Callable[[], bool], *, seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(3)


def test_a_monitor_whose_schedule_has_stopped_is_missed(
    cloud: LocalCloud, demo: Future[Any]
) -> None:
    assert not demo.done()
    stack = Stack(cloud, region=REGION, settings=SETTINGS)
    stack.synth()
    stack.bootstrap()
    outputs = stack.deploy()
    cloudwatch, events = client(cloud, "cloudwatch"), client(cloud, "events")

    def state() -> str:
        (alarm,) = cloudwatch.describe_alarms(
            AlarmNames=["burstwatch-burstwatch-no-completed-sweep"]
        )["MetricAlarms"]
        return str(alarm["StateValue"])

    def has_beaten() -> bool:
        metrics = cloudwatch.list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
        return bool(metrics["Metrics"])

    eventually(has_beaten, seconds=120, what="a completed sweep")
    # Disabling a rule does not stop the local cloud from firing it; taking its targets does.
    targets = events.list_targets_by_rule(Rule=outputs["RuleName"])["Targets"]
    events.remove_targets(Rule=outputs["RuleName"], Ids=[target["Id"] for target in targets])
    # The local cloud evaluates a five-minute alarm every five minutes and looks back seven.
    eventually(lambda: state() == "OK", seconds=420, what="the heartbeat is seen")
    eventually(lambda: state() == "ALARM", seconds=720, what="the heartbeat is missed")


def test_the_demo_keeps_every_promise(demo: Future[Any]) -> None:
    code, result = demo.result()
    assert code == 0
    dry = [volume for volume in result["volumes"] if volume["exhausted_at"] is not None]
    assert len(dry) >= 4
    assert "st1" in {volume["type"] for volume in dry}
    raised = {alarm["resource"]: alarm["changes"][0] for alarm in result["alarms"]}
    assert raised.keys() == {volume["id"] for volume in dry}
    for volume in dry:
        change = raised[volume["id"]]
        assert change["state"] == "ALARM"
        assert change["at"] < volume["exhausted_at"]
        assert change["time_to_empty_s"] == pytest.approx(change["true_time_to_empty_s"], rel=0.10)
    through = {message["through"] for message in result["messages"]}
    assert {"http", "sqs:page", "sqs:events"} <= through


def test_a_unit_that_denies_everything_costs_the_other_nothing(
    cloud: LocalCloud, cloud_env: None, denying: str
) -> None:
    """One unit on the local cloud, one on the strict fake; alarms and metrics on the local cloud."""
    assert cloud_env is None
    home = Clients("ap-south-1", endpoint_url=cloud.endpoint)
    member = UnitSpec(account="222222222222", region="ap-south-1")

    def connect(at_home: Clients, spec: UnitSpec, _deployment: str) -> tuple[Clients, float]:
        if spec == member:
            return Clients(spec.region, endpoint_url=denying), math.inf
        return at_home, math.inf

    units = Units(home=home, connect=connect)
    volume = home("ec2").create_volume(AvailabilityZone="ap-south-1a", Size=100, VolumeType="gp2")
    never = Deadline(lambda: 0.0, at=1.0)
    swept = {
        spec: units.sweep(spec, find_kinds().values(), Config(), now=time.time(), deadline=never)
        for spec in (member, UnitSpec())
    }
    assert fleet_metrics(swept[member]) == {"UnitsFailed": 1, "Problems": 1}
    assert swept[member].problems[0].part == "unit 222222222222/ap-south-1"
    assert "AccessDenied" in swept[member].problems[0].error
    assert swept[UnitSpec()].completed
    assert volume["VolumeId"] in swept[UnitSpec()].found.assessments
    beats = home("cloudwatch").list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
    found = {d["Value"] for m in beats["Metrics"] for d in m["Dimensions"] if d["Name"] == "Unit"}
    assert found == {"000000000000/ap-south-1"}


def start_demo(out: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "demo", "--out", str(out), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_stopped_leaves_nothing_running(
    tmp_path: Path, sign: signal.Signals
) -> None:
    port = free_port()
    process = start_demo(tmp_path, "--port", str(port))
    eventually((tmp_path / "endpoint.txt").exists, seconds=60, what="the cloud is up")
    time.sleep(2)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in errors
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert RUNTIME_PYTHON.exists()


def test_a_demo_that_is_killed_takes_its_cloud_along(tmp_path: Path) -> None:
    port = free_port()
    process = start_demo(tmp_path, "--port", str(port))
    eventually((tmp_path / "endpoint.txt").exists, seconds=60, what="the cloud is up")
    process.kill()
    process.communicate()

    def is_down() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) != 0

    eventually(is_down, seconds=30, what="the cloud is down")


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = start_demo(tmp_path, "--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "is taken" in errors

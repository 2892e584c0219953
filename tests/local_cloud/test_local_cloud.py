"""The real template, the real package and real delivery, on the local cloud. Minutes long."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from burstwatch.aws.client.session import Clients
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from demo.__main__ import BROKEN
from demo.localcloud.cloud import LocalCloud, free_port
from demo.localcloud.emulators import LOCALSTACK, ROOT, RUNTIME_PYTHON
from tests.local_cloud.conftest import REGION, REPETITIONS, Deployed, Played, eventually
from tests.local_cloud.denied import Denied

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


def test_a_monitor_whose_schedule_has_stopped_is_missed(
    missed: Future[list[str]],
) -> None:
    assert missed.result() == ["OK", "ALARM"]


def test_the_demo_keeps_every_promise(demo: Future[Played], demo_out: Path) -> None:
    played = demo.result()
    broken, result = demo_out / BROKEN, played.result
    if played.code and result["too_slow"]:
        pytest.skip(f"this machine was too slow, {1 + REPETITIONS} times: {result['too_slow']}")
    assert played.code == 0, broken.read_text() if broken.exists() else "it says no reason"
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


def test_every_process_of_the_demo_listens_on_this_machine_alone(demo: Future[Played]) -> None:
    """Its credentials are no secret, and the local cloud runs code for whoever reaches it."""
    assert demo.result().listening == {"127.0.0.1"}


def test_a_unit_that_denies_everything_is_counted_alarmed_and_named_and_the_other_works(
    denied_unit: Future[Denied],
) -> None:
    """One unit on the local cloud, one on the strict fake; alarms and metrics on the local cloud."""
    found = denied_unit.result()
    assert fleet_metrics(found.denied) == {"UnitsFailed": 1, "Problems": 1}
    assert found.denied.problems[0].part == "unit 222222222222/eu-west-1"
    assert "AccessDenied" in found.denied.problems[0].error
    assert found.alarm == ["OK", "ALARM"]
    assert {(one["unit"], one["completed"], one["UnitsFailed"]) for one in found.answers} == {
        ("222222222222/eu-west-1", False, 1)
    }
    assert found.other.completed
    assert found.volume in found.other.snapshot.assessments
    assert found.heartbeats == {"000000000000/eu-west-1"}


def test_a_member_account_is_read_through_the_role_that_its_template_makes(
    cloud: LocalCloud, deployed: Deployed
) -> None:
    """The template deployed there, and the deployed function asked as that unit's rule asks it."""
    account = "333333333333"
    credentials = {"aws_access_key_id": account, "aws_secret_access_key": "test"}
    member = Clients(REGION, endpoint_url=cloud.endpoint, credentials=credentials)
    template = (ROOT / "cdk" / "member-role.json").read_text()
    parameters = {"MonitoringAccountId": LOCALSTACK.account, "ExternalId": "watch-me"}
    member("cloudformation").create_stack(
        StackName="burstwatch-member",
        TemplateBody=template,
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
        Capabilities=["CAPABILITY_NAMED_IAM"],
    )
    stacks = member("cloudformation")
    stacks.get_waiter("stack_create_complete").wait(
        StackName="burstwatch-member", WaiterConfig={"Delay": 1}
    )
    (stack,) = stacks.describe_stacks(StackName="burstwatch-member")["Stacks"]
    (role,) = (output["OutputValue"] for output in stack["Outputs"])
    for _ in range(3):
        member("ec2").create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp2")
    unit = {"account": account, "region": REGION, "role_arn": role, "external_id": "watch-me"}
    reply = deployed.client("lambda").invoke(
        FunctionName=deployed.outputs["SweepFunctionName"], Payload=json.dumps({"unit": unit})
    )
    answer = json.loads(reply["Payload"].read())
    assert answer["unit"] == f"{account}/{REGION}"
    assert answer["completed"] is True
    assert answer["ResourcesSeen"] == 3


def start_demo(out: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "demo", "--out", str(out), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start_until(
    out: Path, is_up: Callable[[subprocess.Popen[str]], bool]
) -> tuple[subprocess.Popen[str], int]:
    """Start a demo, wait until it is up, and return it with its port.

    Somebody may take a port between its choice and its use: then another is tried. Any other end fails at once.
    """
    for _ in range(3):
        port = free_port()
        process = start_demo(out, "--full", "--port", str(port))

        def is_up_or_over(process: subprocess.Popen[str] = process) -> bool:
            return process.poll() is not None or is_up(process)

        eventually(is_up_or_over, seconds=600, what="the demo is up")
        if process.poll() is None:
            return process, port
        _, errors = process.communicate()
        assert "is taken" in errors, errors
    pytest.fail("three ports were taken")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_stopped_leaves_nothing_running(
    tmp_path: Path, sign: signal.Signals
) -> None:
    port = free_port()
    process = start_demo(tmp_path, "--port", str(port))
    eventually((tmp_path / "endpoint.txt").exists, seconds=300, what="the cloud is up")
    time.sleep(2)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in errors
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert RUNTIME_PYTHON.exists()


def test_a_demo_that_is_killed_takes_its_cloud_and_its_host_along(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    program("prometheus")

    def host_side(process: subprocess.Popen[str]) -> list[Path]:
        """The exporter and Prometheus that it has started."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(status.read_text().rpartition(")")[2].split()[1])
                command = (status.parent / "cmdline").read_bytes()
                if parent == process.pid and b"/hostside/" in command:
                    found.append(status.parent)
        return found

    process, port = start_until(tmp_path, lambda process: len(host_side(process)) == 2)
    theirs = host_side(process)
    process.kill()
    process.communicate()

    def is_down() -> bool:
        with socket.socket() as probe:
            cloud_is_down = probe.connect_ex(("127.0.0.1", port)) != 0
        return cloud_is_down and not any(path.exists() for path in theirs)

    eventually(is_down, seconds=120, what="the cloud and the host are down")


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = start_demo(tmp_path, "--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "is taken" in errors

"""Two units: one on the local cloud, one on the strict fake, which denies every call."""

import json
import math
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import UnitSpec
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from demo.localcloud.cloud import LocalCloud
from tests.fake.aws import FakeAws
from tests.fake.server import FakeServer

MEMBER = "222222222222"
ALARM = "burstwatch-burstwatch-unit-failed"
CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
EVERY_S, PATIENCE_S = 20.0, 720.0
NAME = "denied"
#: Not the deployment's own name, whose heartbeat another test waits to miss, and not its volumes.
CONFIG = Config(deployment="units", tag_filter=f"Name={NAME}")


@dataclass(kw_only=True)
class Denied:
    """The last sweep of each, the deployed alarm's states, the beats, and the function's answers."""

    denied: Sweep
    other: Sweep
    volume: str
    alarm: list[str] = field(default_factory=list)
    heartbeats: set[str] = field(default_factory=set)
    answers: list[dict[str, Any]] = field(default_factory=list)


def play_denied(cloud: LocalCloud, region: str, function: str) -> Denied:
    """Sweep both, and have the deployed function sweep the one that it cannot reach either.

    The function is asked as a rule of that unit would ask it, until its alarm has noticed.
    """
    server = FakeServer(FakeAws(clock=time.time, closed_regions={region}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = Clients(region, endpoint_url=cloud.endpoint, credentials=CREDENTIALS)
    member = UnitSpec(account=MEMBER, region=region)

    def connect(at_home: Clients, spec: UnitSpec, _deployment: str) -> tuple[Clients, float]:
        if spec == member:
            denying = Clients(region, endpoint_url=server.url, credentials=CREDENTIALS)
            return denying, math.inf
        return at_home, math.inf

    units = Units(home=home, connect=connect)
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": NAME}]}]
    made = home("ec2").create_volume(
        AvailabilityZone=f"{region}b", Size=100, VolumeType="gp2", TagSpecifications=tags
    )

    def sweep(spec: UnitSpec) -> Sweep:
        return units.sweep(
            spec, find_kinds().values(), CONFIG, now=time.time(),
            deadline=Deadline(lambda: 0.0, at=3_600.0),
        )  # fmt: skip

    found = Denied(denied=sweep(member), other=sweep(UnitSpec()), volume=made["VolumeId"])
    deadline = time.monotonic() + PATIENCE_S
    try:
        while "ALARM" not in found.alarm and time.monotonic() < deadline:
            (alarm,) = home("cloudwatch").describe_alarms(AlarmNames=[ALARM])["MetricAlarms"]
            if (
                alarm["StateValue"] != "INSUFFICIENT_DATA"
                and alarm["StateValue"] not in found.alarm
            ):
                found.alarm.append(alarm["StateValue"])
            if "OK" in found.alarm:
                found.denied, found.other = sweep(member), sweep(UnitSpec())
                found.answers.append(_invoke(home, function, member))
            time.sleep(EVERY_S)
    finally:
        server.shutdown()
        server.server_close()
    beats = home("cloudwatch").list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
    names = ({d["Name"]: d["Value"] for d in metric["Dimensions"]} for metric in beats["Metrics"])
    found.heartbeats = {
        one["Unit"] for one in names if one["Deployment"] == CONFIG.deployment and "Unit" in one
    }
    return found


def _invoke(home: Clients, function: str, member: UnitSpec) -> dict[str, Any]:
    event = {"unit": {"account": member.account, "region": member.region}}
    reply = home("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    answer: dict[str, Any] = json.loads(reply["Payload"].read())
    return answer

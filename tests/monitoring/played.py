"""Two volumes and an instance, one volume of which drains, looked at for some minutes by a real sweep on the strict fake."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.sweep import sweep
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from demo.fleet import SMALL, Spec, load_for
from demo.play import Feed, Volume, entries, take_until
from tests.conftest import NOW, Cloud
from tests.look.frames import Span
from tests.look.page import Looked, Wish, look
from tests.look.sources import CloudWatch
from tests.monitoring.burstable import Burstable, Instance
from tests.monitoring.burstable import entries as credit_entries
from tests.monitoring.rows import opened

FOLDER = Path(__file__).parents[2] / "monitoring" / "grafana"
BEFORE_S, MINUTES = 3 * 3600.0, 8
CONFIG = Config(page_topic_arn="arn:aws:sns:us-east-1:123456789012:page", lead_s=1800)


LARGE = "c7i-flex.16xlarge"


def board(name: str) -> dict[str, Any]:
    """A committed dashboard with its closed rows opened."""
    committed: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return {**committed, "panels": opened(committed["panels"])}


def play(cloud: Cloud) -> list[Volume]:
    cloud.aws.add_instance_type(
        SMALL, iops=18_750, mb_s=593.75, baseline_iops=3_600, baseline_mb_s=81.25
    )
    # One that is too large for AWS to publish a balance of.
    cloud.aws.add_instance_type(
        LARGE, iops=80_000, mb_s=2_500.0, baseline_iops=40_000, baseline_mb_s=1_250.0
    )
    cloud.aws.add_instance(LARGE)
    calm, drain = load_for(10_800, iops=200), load_for(10_800, iops=3_000)
    volumes = []
    for name, loads in (("calm", [calm, calm]), ("draining", [load_for(9_900, iops=200), drain])):
        spec = Spec(name=name, volume_type="gp2", size_gib=100, instance_type=SMALL)
        instance_id = cloud.aws.add_instance(SMALL)
        volume_id = cloud.aws.add_volume("gp2", 100, instance_id=instance_id, name=name)
        points = spec.simulation().play(loads, start_s=NOW - BEFORE_S)
        volumes.append(Volume(spec=spec, id=volume_id, instance_id=instance_id, feed=Feed(points)))
    agent = plant_agent(cloud)
    schedule = Memory()
    for _ in range(MINUTES):
        put(cloud, credit_entries(agent, agent.until(cloud.clock.now)))
        for volume in volumes:
            put_until(cloud, volume, cloud.clock.now)
        result = sweep(
            cloud.unit, find_kinds().values(), cloud.clients, cloud.clients, CONFIG, schedule,
            now=cloud.clock.now, deadline=cloud.never(),
        )  # fmt: skip
        for name, value in fleet_metrics(result).items():
            cloud.aws.put("Burstwatch", name, {"Deployment": "burstwatch"}, cloud.clock.now, value)
        cloud.clock.now += 60
    return volumes


def plant_agent(cloud: Cloud) -> Instance:
    """An instance with CPU credits that are spent an hour from now."""
    spec = Burstable(
        name="build-agent", instance_type="t2.small", calm=0.1, busy=0.95, left_s=3_600
    )
    points = spec.points(NOW)
    instance = Instance(
        burstable=spec, id="i-0aaaaaaaaaaaaaa77", points=points, newest=next(points)
    )
    item = {
        "InstanceId": instance.id, "InstanceType": spec.instance_type, "State": {"Name": "running"},
        "LaunchTime": datetime.fromtimestamp(NOW - 7 * 86_400, tz=UTC),
    }  # fmt: skip
    cloud.aws.add_item("ec2", "DescribeInstances", item)
    return instance


def put_until(cloud: Cloud, volume: Volume, end_s: float) -> None:
    put(cloud, entries(volume, take_until(volume, end_s), now=end_s))


def put(cloud: Cloud, data: Iterable[dict[str, Any]]) -> None:
    for datum in data:
        pairs = {pair["Name"]: pair["Value"] for pair in datum["Dimensions"]}
        at = datum["Timestamp"].timestamp()
        cloud.aws.put(datum["namespace"], datum["MetricName"], pairs, at, datum["Value"])


def looked_at(cloud: Cloud, name: str, **chosen: str) -> tuple[str, list[Looked]]:
    now = cloud.clock.now
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    wish = Wish(span=Span(start_s=now - 3_600, end_s=now + 1_800), now_s=now, chosen=chosen)
    return look(board(name), source, wish)

"""Keeps what the sweeps of a version leave behind, for the tests of the next: `python -m tests.aws.upgrade_state 0.2.0`.

A release runs it once, with its own code. What it wrote is never written anew: it is what a deployment has
when it is upgraded.
"""

import argparse
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from burstwatch.aws.look.memory import Memory
from tests.aws.standby import deploy_standby, watch_heartbeat
from tests.aws.sweeping import CONFIG, Disk, run_sweep
from tests.conftest import Cloud, fake_cloud

FOLDER = Path(__file__).parent / "upgrades"
#: How many volumes are in danger in each state: one, and as many as one alarm stands for.
COUNTS = {"one": 1, "many": 20}
#: Minutes of datapoints that are kept: as many as a sweep asks for at first.
KEPT_S = 35 * 60.0


def main() -> None:
    """Write the states of a version."""
    parser = argparse.ArgumentParser(prog="python -m tests.aws.upgrade_state", description=__doc__)
    parser.add_argument("version")
    version = parser.parse_args().version
    FOLDER.mkdir(exist_ok=True)
    for name, count in COUNTS.items():
        path = FOLDER / f"{version}-{name}.json"
        if path.exists():
            parser.error(
                f"{path} is there already, and what a version has left behind does not change"
            )
        path.write_text(
            json.dumps(state(count), sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8"
        )


def state(count: int) -> dict[str, Any]:
    """The account after volumes have drained for some minutes, with their episodes open."""
    with fake_cloud() as cloud:
        deploy_standby(cloud)
        watch_heartbeat(cloud, CONFIG.deployment, "123456789012/us-east-1")
        disks = [Disk(cloud, percent=25.0) for _ in range(count)]
        memory = Memory()
        for _ in range(4):
            burn(cloud, disks, iops=3_000)
            run_sweep(cloud, memory)
            cloud.aws.evaluate_alarms()
        region = cloud.aws.regions["us-east-1"]
        return {
            "now": cloud.clock.now,
            "disks": {disk.id: disk.percent for disk in disks},
            "volumes": _plain(region.volumes),
            "instances": _plain(region.instances),
            "alarms": _plain(region.alarms),
            "alarm_tags": _plain(region.alarm_tags),
            "metrics": [
                [
                    *key,
                    sorted(
                        (at, value)
                        for at, value in points.items()
                        if at >= cloud.clock.now - KEPT_S
                    ),
                ]
                for key, points in sorted(region.metrics.items())
            ],
        }


def restored(cloud: Cloud, path: Path) -> list[Disk]:
    """The account as a version has left it. Returns its disks."""
    state = json.loads(path.read_text(encoding="utf-8"))
    region = cloud.aws.regions["us-east-1"]
    cloud.clock.now = state["now"]
    cloud.aws.skip_ids(1_000)  # what comes later has ids of its own
    region.volumes, region.instances = state["volumes"], state["instances"]
    region.alarms = {name: _timed(alarm) for name, alarm in state["alarms"].items()}
    region.alarm_tags = state["alarm_tags"]
    for namespace, metric, dimensions, points in state["metrics"]:
        key = (namespace, metric, tuple(tuple(pair) for pair in dimensions))
        region.metrics[key] = dict(points)
    disks = []
    for volume_id, percent in state["disks"].items():
        disk = Disk.__new__(Disk)
        disk.cloud, disk.id, disk.percent = cloud, volume_id, percent
        disks.append(disk)
    return disks


def _timed(alarm: dict[str, Any]) -> dict[str, Any]:
    return {
        key: datetime.fromisoformat(value) if key.endswith("Timestamp") else value
        for key, value in alarm.items()
    }


def burn(cloud: Cloud, disks: list[Disk], *, iops: float) -> None:
    """One minute of every disk."""
    began = cloud.clock.now
    for disk in disks:
        cloud.clock.now = began
        disk.minute(iops=iops)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=_as_text))


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(value)


if __name__ == "__main__":
    main()

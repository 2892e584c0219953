"""The burstable instances of the demo: their CPU load, their credits, and what the report shows of them.

CloudWatch publishes CPU credits every five minutes. An instance that empties in hours cannot run
dry while the demo is watched, so the page comes for one that has an hour and a half left. They are
T2, which have no EBS buckets of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from burstwatch import bucket as tb
from burstwatch.formatting import span
from burstwatch.kinds import _cpu
from demo.fleet import DAY_S

PERIOD_S = _cpu.PERIOD_S
#: How far the time that was said may be off, as a share.
TOLERANCE = 0.10


@dataclass(frozen=True, kw_only=True)
class Burstable:
    """An instance with its load, in shares of all its vCPUs: calm at first, then ``busy`` for good."""

    name: str
    instance_type: str
    calm: float
    busy: float
    left_s: float | None = None

    @property
    def spec(self) -> _cpu.CpuSpec:
        """The credits of its type."""
        return _cpu.cpu_spec(self.instance_type)

    def points(self, live_at: float) -> Iterator["Credits"]:
        """A day before ``live_at`` and on; with ``left_s`` it is empty that long after."""
        spec, bucket = self.spec, self.spec.bucket
        busy = self.busy * spec.vcpus
        lasts_s = tb.time_to_empty(bucket, level=bucket.capacity, demand=busy)
        busy_from_s = live_at if self.left_s is None else live_at + self.left_s - lasts_s
        level, start_s = bucket.capacity, (live_at - DAY_S) // PERIOD_S * PERIOD_S
        while True:
            asked = busy if start_s >= busy_from_s else self.calm * spec.vcpus
            used = tb.spend_rate(bucket, level=level, demand=asked)
            level = tb.level_after(bucket, level=level, demand=used, seconds=PERIOD_S)
            yield Credits(
                start_s=start_s,
                balance=level / _cpu.CREDIT_S,
                used=used * PERIOD_S / _cpu.CREDIT_S,
                cpu_percent=100 * used / spec.vcpus,
                left_s=tb.time_to_empty(bucket, level=level, demand=busy),
            )
            start_s += PERIOD_S


@dataclass(frozen=True, kw_only=True)
class Credits:
    """Five minutes of an instance: credits left at their end, credits used in them, and the truth."""

    start_s: float
    balance: float
    used: float
    cpu_percent: float
    left_s: float


@dataclass(kw_only=True)
class Instance:
    """A burstable instance as it exists in the cloud."""

    burstable: Burstable
    id: str
    points: Iterator[Credits]
    newest: Credits
    pending: Credits | None = field(default=None)

    @property
    def resource(self) -> str:
        """Its id in burstwatch."""
        return f"{self.id}.cpu"

    def left_s(self, now_s: float) -> float | None:
        """The true time until it is empty; None for one that never is."""
        if self.burstable.left_s is None:
            return None
        return self.newest.left_s - (now_s - self.newest.start_s - PERIOD_S)

    def until(self, end_s: float) -> list[Credits]:
        """The points whose period has ended by then, each given once."""
        taken = []
        self.pending = self.pending or next(self.points)
        while self.pending.start_s + PERIOD_S <= end_s:
            taken.append(self.pending)
            self.newest, self.pending = self.pending, next(self.points)
        return taken


def build_burstable() -> list[Burstable]:
    """One that is paged, one that works within what it earns, and one that hardly works."""
    return [
        Burstable(name="build-agent", instance_type="t2.small", calm=0.1, busy=0.95, left_s=5400),
        Burstable(name="app", instance_type="t2.large", calm=0.25, busy=0.25),
        Burstable(name="vpn", instance_type="t2.micro", calm=0.05, busy=0.05),
    ]


def create_instances(ec2: Any, fleet: Sequence[Burstable], *, live_at: float) -> list[Instance]:  # noqa: ANN401 - boto3
    """Run each of them. Their root volumes are not of the fleet, and are deleted."""
    found = []
    for one in fleet:
        (ran,) = ec2.run_instances(
            ImageId="ami-12345678",
            InstanceType=one.instance_type,
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[
                {"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": one.name}]}
            ],
        )["Instances"]
        points = one.points(live_at)
        found.append(
            Instance(burstable=one, id=ran["InstanceId"], points=points, newest=next(points))
        )
    return found


def entries(instance: Instance, points: Sequence[Credits]) -> Iterator[dict[str, Any]]:
    """The data that CloudWatch would have of these points, each datum with its ``namespace``."""
    for point in points:
        values = {
            _cpu.BALANCE: point.balance,
            _cpu.USAGE: point.used,
            "CPUUtilization": point.cpu_percent,
        }
        for name, value in values.items():
            yield {
                "namespace": "AWS/EC2",
                "MetricName": name,
                "Dimensions": [{"Name": "InstanceId", "Value": instance.id}],
                "Timestamp": datetime.fromtimestamp(point.start_s, tz=UTC),
                "Value": value,
            }


def instance_results(
    instances: Sequence[Instance],
    scanned: Mapping[str, Mapping[str, Any]],
    paged: Sequence[str],
    *,
    now_s: float,
) -> list[dict[str, Any]]:
    """What was found of each instance. ``paged`` are the names of the alarms that paged."""
    return [
        {
            "id": one.id,
            "name": one.burstable.name,
            "type": one.burstable.instance_type,
            "credits": round(one.newest.balance, 1),
            "cpu_percent": round(one.newest.cpu_percent, 1),
            "state": scanned.get(one.resource, {}).get("state", "unknown"),
            "assessment": scanned.get(one.resource, {}).get("verdict", "unknown"),
            "time_to_empty_s": scanned.get(one.resource, {}).get("time_to_empty_s"),
            "true_time_to_empty_s": one.left_s(now_s),
            "paged": any(one.resource in name for name in paged),
        }
        for one in instances
    ]


def broken_on_instances(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name what did not hold: who is paged is the one that runs out, and its time is right."""
    broken = []
    for one in found:
        true_s, said_s = one["true_time_to_empty_s"], one["time_to_empty_s"]
        if one["paged"] != (true_s is not None):
            broken.append(f"{one['name']} was {'' if one['paged'] else 'not '}paged")
        if true_s is None:
            if one["assessment"] != "ok":
                broken.append(f"{one['name']} should be ok, is {one['assessment']}")
        elif said_s is None or abs(said_s - true_s) > TOLERANCE * true_s:
            broken.append(f"{one['name']}: {said_s} s are said to be left, true are {true_s:.0f}")
    return broken


def instance_rows(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The table of the instances, worst first."""
    worst_first = sorted(found, key=lambda one: (not one["paged"], one["time_to_empty_s"] or 0.0))
    return [
        (
            one["name"],
            one["id"],
            one["type"],
            f"{one['cpu_percent']:.0f}%",
            f"{one['credits']:.0f}",
            one["assessment"],
            "yes" if one["paged"] else "no",
            "-" if one["true_time_to_empty_s"] is None else span(one["true_time_to_empty_s"]),
            "-" if one["time_to_empty_s"] is None else span(one["time_to_empty_s"]),
        )
        for one in worst_first
    ]


#: The headings of ``instance_rows``.
HEADINGS = ("instance", "id", "type", "CPU", "credits", "verdict", "paged", "time left", "forecast")

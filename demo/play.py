"""Plays the fleet against the local cloud: volumes into EC2, datapoints into AWS/EBS.

Real CloudWatch takes nothing into ``AWS/EBS`` from outside; the local one does.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from burstwatch.aws.client.names import NAMESPACE
from burstwatch.backtest.simulate import Datapoint
from burstwatch.formatting import span
from demo.fleet import DAY_S, LARGE, MINUTE_S, Spec

#: History older than this is put in points of five minutes, as the demand profile needs no finer.
FINE_S = 3 * 3600.0
COARSE = 5
BATCH = 1000
#: On a machine that is fast enough, publishing a minute takes a second.
MOST_LATE_S = 20.0
#: A sweep is due each minute; a page is due four minutes before the credits run out.
MOST_APART_S = 180.0
#: A metric that each sweep publishes, whatever it could see.
OF_EACH_SWEEP = "UnitsFailed"
ZONE = "us-east-1a"
#: What an operation takes where nothing waits, and where the bucket is empty.
CALM_LATENCY_S, HELD_LATENCY_S = 0.0008, 0.030
#: I/O that waits where more is asked for than is served.
HELD_QUEUE = 32.0
#: What an instance that is hardly used has left of its own buckets, in percent.
INSTANCE_BALANCE = 99.0


class Feed:
    """The datapoints of one volume, each given once, when its period is over."""

    def __init__(self, points: Iterator[Datapoint]) -> None:
        """``points`` in order of time."""
        self._points, self._pending = points, next(points, None)

    def until(self, end_s: float) -> list[Datapoint]:
        """Those whose period has ended by then and that were not given before."""
        taken: list[Datapoint] = []
        while self._pending is not None and self._pending.start_s + self._pending.period_s <= end_s:
            taken.append(self._pending)
            self._pending = next(self._points, None)
        return taken


@dataclass(kw_only=True)
class Volume:
    """A volume of the fleet as it exists in the cloud, with its simulation under way."""

    spec: Spec
    id: str
    instance_id: str
    feed: Feed
    emptied: list[float] = field(default_factory=list)
    ratios: list[tuple[float, float]] = field(default_factory=list)


def create_fleet(ec2: Any, specs: Sequence[Spec], *, live_at: float) -> list[Volume]:  # noqa: ANN401 - boto3
    """Create each volume, attach it to an instance, and begin its simulation a day back."""
    instances: dict[str, str] = {}
    for name in sorted({spec.instance_type for spec in specs}):
        instances[name] = ec2.run_instances(
            ImageId="ami-12345678", InstanceType=name, MinCount=1, MaxCount=1
        )["Instances"][0]["InstanceId"]
    # The root volumes that come with the instances are not of the fleet.
    for root in ec2.describe_volumes()["Volumes"]:
        (attached,) = root["Attachments"]
        ec2.detach_volume(VolumeId=root["VolumeId"], InstanceId=attached["InstanceId"])
        ec2.delete_volume(VolumeId=root["VolumeId"])
    volumes = []
    for number, spec in enumerate(specs):
        volume_id = ec2.create_volume(
            AvailabilityZone=ZONE,
            Size=spec.size_gib,
            VolumeType=spec.volume_type,
            TagSpecifications=[
                {"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": spec.name}]}
            ],
        )["VolumeId"]
        instance_id = instances[spec.instance_type]
        ec2.attach_volume(
            VolumeId=volume_id, InstanceId=instance_id, Device=f"/dev/sd{chr(ord('f') + number)}"
        )
        points = spec.simulation().play(spec.loads(), start_s=live_at - DAY_S)
        volumes.append(Volume(spec=spec, id=volume_id, instance_id=instance_id, feed=Feed(points)))
    return volumes


def publish_until(
    cloudwatch: Any,  # noqa: ANN401 - boto3
    volumes: Sequence[Volume],
    end_s: float,
) -> int:
    """Put every datapoint whose period has ended by ``end_s``. Returns how many values."""
    by_namespace: dict[str, list[dict[str, Any]]] = {}
    for volume in volumes:
        for entry in entries(volume, take_until(volume, end_s), now=end_s):
            by_namespace.setdefault(entry.pop("namespace"), []).append(entry)
    for namespace, data in by_namespace.items():
        for start in range(0, len(data), BATCH):
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + BATCH])
    return sum(map(len, by_namespace.values()))


class Player(threading.Thread):
    """Puts each minute's datapoints a second after the minute has ended, until stopped."""

    def __init__(
        self,
        cloudwatch: Any,  # noqa: ANN401 - boto3
        volumes: Sequence[Volume],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(daemon=True)
        self._cloudwatch, self._clock, self._volumes = cloudwatch, clock, volumes
        self._stopping = threading.Event()
        self.error: Exception | None = None
        self._late_s = 0.0

    def run(self) -> None:
        """Play."""
        while not self._stopping.is_set():
            now = self._clock()
            due = now - now % MINUTE_S + MINUTE_S
            if self._stopping.wait(due - now + 1):
                return
            try:
                publish_until(self._cloudwatch, self._volumes, self._clock())
            except Exception as error:  # noqa: BLE001 - shown by the main thread, which decides
                self.error = error
                return
            self._late_s = max(self._late_s, self._clock() - due)

    def too_slow(self) -> str | None:
        """Say it if this machine published a minute's datapoints so late that no sweep can be in time."""
        if self._late_s <= MOST_LATE_S:
            return None
        return f"the datapoints of a minute were published {span(self._late_s)} late"

    def stop(self) -> None:
        """Stop after the current minute's datapoints."""
        self._stopping.set()
        self.join()


def sweeps_too_late(
    cloudwatch: Any,  # noqa: ANN401 - boto3
    start_s: float,
    end_s: float,
) -> str | None:
    """Say it if the local cloud let minutes pass without a sweep: no page can be in time then. A failed sweep counts.

    Without any sweep it says nothing: the machine is no excuse for that.
    """
    ended: set[float] = set()
    for metric in cloudwatch.list_metrics(Namespace=NAMESPACE, MetricName=OF_EACH_SWEEP)["Metrics"]:
        statistics = cloudwatch.get_metric_statistics(
            Namespace=NAMESPACE,
            MetricName=OF_EACH_SWEEP,
            Dimensions=metric["Dimensions"],
            StartTime=datetime.fromtimestamp(start_s, tz=UTC),
            EndTime=datetime.fromtimestamp(end_s, tz=UTC),
            Period=int(MINUTE_S),
            Statistics=["SampleCount"],
        )
        ended |= {point["Timestamp"].timestamp() for point in statistics["Datapoints"]}
    if not ended:  # that is no slow machine
        return None
    apart_s = max(after - before for before, after in pairwise([start_s, *sorted(ended), end_s]))
    if apart_s <= MOST_APART_S:
        return None
    return f"{span(apart_s)} passed without a sweep, where one a minute is due"


def take_until(volume: Volume, end_s: float) -> list[Datapoint]:
    """Take what happened to a volume by then, once; its balance is noted."""
    taken = volume.feed.until(end_s)
    for point in taken:
        volume.ratios.append((point.start_s + point.period_s, point.level_ratio))
        if point.emptied_at is not None:
            volume.emptied.append(point.emptied_at)
    return taken


def entries(volume: Volume, points: Sequence[Datapoint], *, now: float) -> Iterator[dict[str, Any]]:
    """The data that CloudWatch would have of these points, each datum with its ``namespace``."""
    if volume.spec.silent:
        return
    old = [point for point in points if point.start_s < now - FINE_S]
    for group in [old[i : i + COARSE] for i in range(0, len(old), COARSE)]:
        yield from _metrics(volume, group)
    for point in points[len(old) :]:
        yield from _metrics(volume, [point])
        yield from _waiting(volume, point)
        if volume.spec.instance_type != LARGE:
            yield from _instance(volume, point)


def _metrics(volume: Volume, group: Sequence[Datapoint]) -> Iterator[dict[str, Any]]:
    values = {
        "VolumeReadOps": sum(point.read_ops for point in group),
        "VolumeWriteOps": sum(point.write_ops for point in group),
        "VolumeReadBytes": sum(point.read_bytes for point in group),
        "VolumeWriteBytes": sum(point.write_bytes for point in group),
    }
    if volume.spec.spec.bucket is not None:  # AWS reports no balance where there is no bucket
        values["BurstBalance"] = round(100 * min(point.balance_minimum for point in group), 2)
    yield from _data(values, group[0].start_s, VolumeId=volume.id)


def _waiting(volume: Volume, point: Datapoint) -> Iterator[dict[str, Any]]:
    """Queue and times, and whether more was asked for than there is."""
    iops = (point.read_ops + point.write_ops) / point.period_s
    is_held = point.level_ratio <= 0
    latency_s = HELD_LATENCY_S if is_held else CALM_LATENCY_S
    values = {
        # By Little's law, where nothing is held back.
        "VolumeQueueLength": HELD_QUEUE if is_held else iops * latency_s,
        "VolumeTotalReadTime": point.read_ops * latency_s,
        "VolumeTotalWriteTime": point.write_ops * latency_s,
    }
    yield from _data(values, point.start_s, VolumeId=volume.id)
    exceeded = {
        "VolumeIOPSExceededCheck": float(is_held),
        "VolumeThroughputExceededCheck": 0.0,
    }
    yield from _data(exceeded, point.start_s, VolumeId=volume.id, InstanceId=volume.instance_id)


def _instance(volume: Volume, point: Datapoint) -> Iterator[dict[str, Any]]:
    """The metrics that AWS publishes of an instance with this one volume."""
    values = {
        "EBSIOBalance%": INSTANCE_BALANCE,
        "EBSByteBalance%": INSTANCE_BALANCE,
        "EBSReadOps": point.read_ops,
        "EBSWriteOps": point.write_ops,
        "EBSReadBytes": point.read_bytes,
        "EBSWriteBytes": point.write_bytes,
    }
    yield from _data(values, point.start_s, namespace="AWS/EC2", InstanceId=volume.instance_id)


def _data(
    values: Mapping[str, float], start_s: float, *, namespace: str = "AWS/EBS", **dimensions: str
) -> Iterator[dict[str, Any]]:
    """One datum for each value, with the namespace that it goes to."""
    at = datetime.fromtimestamp(start_s, tz=UTC)
    pairs = [{"Name": name, "Value": value} for name, value in dimensions.items()]
    for name, value in values.items():
        datum = {"MetricName": name, "Dimensions": pairs, "Timestamp": at, "Value": value}
        yield {"namespace": namespace, **datum}

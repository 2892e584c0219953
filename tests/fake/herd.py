"""A fleet of any size, reported by rule and not by record: nothing is stored for each minute."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

NAMESPACE = "AWS/EBS"
PREFIX = "vol-0a"
#: Every volume has these; those with a bucket have a balance too.
TRAFFIC = (
    "VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes", "VolumeIdleTime",
    "VolumeQueueLength", "VolumeTotalReadTime", "VolumeTotalWriteTime",
)  # fmt: skip
BALANCE = "BurstBalance"
SIZES_GIB = (20, 50, 100, 300, 500, 900)
IO_BYTES = 16_384
#: Every tenth instance, and its volumes, are of a service that AWS hides from listings that do not ask for them.
MANAGED_EVERY = 10
MANAGED = {"Operator": {"Managed": True, "Principal": "eks.amazonaws.com", "HiddenByDefault": True}}
MINUTE = 60
#: Of a hundred volumes: those with a bucket that is off full, and those with a full one. The
#: others are gp3.
OFF_FULL, FULL = 20, 30
#: One in so many of those off full drains; the others stand where they are.
DRAINING = 20


Fleet = Literal["mixed", "quiet", "bursty", "in trouble"]
FLEETS: tuple[Fleet, ...] = get_args(Fleet)
CAPACITY = 5_400_000.0
#: In a quiet fleet one in so many of those off full stands below it, and the others are full.
STANDING = 10


@dataclass(frozen=True)
class Wave:
    """A level that falls and rises again, over and over: percents, and seconds of each."""

    high: float
    low: float
    fall_s: float
    rise_s: float

    def level(self, at: float) -> float:
        """Percent at a time."""
        into = at % (self.fall_s + self.rise_s)
        if into < self.fall_s:
            return self.high - (self.high - self.low) * into / self.fall_s
        return self.low + (self.high - self.low) * (into - self.fall_s) / self.rise_s

    def spent(self, at: float) -> float:
        """Credits a second beyond those that come in."""
        into = at % (self.fall_s + self.rise_s)
        seconds = self.fall_s if into < self.fall_s else -self.rise_s
        return (self.high - self.low) / 100 * CAPACITY / seconds


@dataclass(frozen=True)
class Herd:
    """``count`` volumes, two to an instance, and what CloudWatch has of them.

    ``ends_s`` is the time at which the draining ones stand at their level, an hour after they
    began to drain. The ``fleet`` says what those off full do. *mixed*: one in twenty drains and the others stand
    where they are. *quiet*: a tenth stands, and the others are full. *bursty*: each falls for twenty minutes and
    rises for a hundred. *in trouble*: every second one runs out within six hours, and comes back.
    """

    count: int
    ends_s: float
    fleet: Fleet = "mixed"

    def volumes(self) -> Iterator[tuple[str, dict[str, object]]]:
        """As DescribeVolumes has them, by id."""
        for number in range(self.count):
            volume_id, instance_id = id_of(number), f"i-0a{number // 2:015x}"
            yield (
                volume_id,
                {
                    "VolumeId": volume_id,
                    "VolumeType": "gp2" if has_bucket(number) else "gp3",
                    "Size": size_of(number),
                    "State": "in-use",
                    "Tags": [{"Key": "Name", "Value": f"disk {number}"}],
                    **(MANAGED if number // 2 % MANAGED_EVERY == 0 else {}),
                    "Attachments": [
                        {"InstanceId": instance_id, "Device": "/dev/sdf", "State": "attached", "VolumeId": volume_id}
                    ],
                },
            )  # fmt: skip

    def instances(self) -> Iterator[tuple[str, dict[str, object]]]:
        """As DescribeInstances has them, by id."""
        for number in range((self.count + 1) // 2):
            name = f"i-0a{number:015x}"
            managed = MANAGED if number % MANAGED_EVERY == 0 else {}
            yield name, {"InstanceId": name, "InstanceType": "m5.large", **managed}

    def metrics(self) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
        """Every metric that there is."""
        for number in range(self.count):
            dimensions = (("VolumeId", id_of(number)),)
            for name in (*TRAFFIC, BALANCE) if has_bucket(number) else TRAFFIC:
                yield NAMESPACE, name, dimensions

    def has(self, namespace: str, name: str, volume_id: str) -> bool:
        """Whether there is such a metric."""
        number = number_of(volume_id)
        if namespace != NAMESPACE or number is None or number >= self.count:
            return False
        return has_bucket(number) if name == BALANCE else name in TRAFFIC

    def values(
        self, name: str, volume_id: str, start_s: float, end_s: float, period_s: int
    ) -> tuple[Sequence[float], Sequence[float]]:
        """The starts and the values of the periods from ``start_s`` up to ``end_s``."""
        number = number_of(volume_id)
        assert number is not None
        starts = starts_of(start_s, end_s, period_s)
        of_bytes = IO_BYTES if name.endswith("Bytes") else 1.0
        if (wave := self._wave(number)) is not None:
            phase_s = 60.0 * (number * 37 % 480)
            if name == BALANCE:
                return starts, [wave.level(start + phase_s) for start in starts]
            rates = [baseline_of(number) + wave.spent(start + phase_s) for start in starts]
            return starts, [max(0.0, rate) / 2 * of_bytes * period_s for rate in rates]
        is_full = self.fleet == "quiet" and number % (100 * STANDING) >= OFF_FULL
        if name != BALANCE:
            per_minute = 30.0 * (10.0 if is_full else rate_of(number))
            return starts, [per_minute * of_bytes * period_s / MINUTE] * len(starts)
        level = 100.0 if is_full else level_of(number)
        if self.fleet == "quiet":
            return starts, [level] * len(starts)
        if not is_draining(number):
            return starts, [level] * len(starts)
        fall = 100.0 * MINUTE * (rate_of(number) - baseline_of(number)) / CAPACITY
        return starts, [
            min(100.0, max(0.0, level + fall * (self.ends_s - start) / MINUTE)) for start in starts
        ]

    def _wave(self, number: int) -> Wave | None:
        """The wave of a volume, where it has one."""
        if self.fleet in {"mixed", "quiet"} or number % 100 >= OFF_FULL:
            return None
        if self.fleet == "in trouble" and number % 2:
            return Wave(high=90.0, low=0.0, fall_s=6 * 3_600.0, rise_s=2 * 3_600.0)
        rise_s = 6_000.0
        gained = 0.8 * 100 * baseline_of(number) * rise_s / CAPACITY
        high = min(95.0, level_of(number) + gained / 2)
        return Wave(high=high, low=max(5.0, high - gained), fall_s=1_200.0, rise_s=rise_s)


@lru_cache(maxsize=64)
def starts_of(start_s: float, end_s: float, period_s: int) -> list[float]:
    """The starts of the periods from ``start_s`` up to ``end_s``."""
    first = -(-start_s // period_s) * period_s
    return [first + n * period_s for n in range(max(0, math.ceil((end_s - first) / period_s)))]


def id_of(number: int) -> str:
    """The id of a volume of a herd: none that the fake gives to others."""
    return f"{PREFIX}{number:015x}"


def number_of(volume_id: str) -> int | None:
    """The number in an id, or None for one that is not of a herd."""
    if not volume_id.startswith(PREFIX):
        return None
    return int(volume_id.removeprefix(PREFIX), 16)


def has_bucket(number: int) -> bool:
    """Whether it is a gp2 volume that bursts."""
    return number % 100 < OFF_FULL + FULL


def is_draining(number: int) -> bool:
    """Whether it spends more than comes in."""
    return number % 100 < OFF_FULL and number // 100 % DRAINING == number % 100 % DRAINING


def size_of(number: int) -> int:
    """GiB."""
    return SIZES_GIB[number // 7 % len(SIZES_GIB)]


def baseline_of(number: int) -> float:
    """IOPS."""
    return float(max(100, 3 * size_of(number)))


def level_of(number: int) -> float:
    """Percent."""
    return 30.0 + number * 7 % 60 if number % 100 < OFF_FULL else 100.0


def rate_of(number: int) -> float:
    """IOPS, reads and writes by halves."""
    if is_draining(number):
        return baseline_of(number) + 200.0
    return baseline_of(number) if number % 100 < OFF_FULL else 10.0

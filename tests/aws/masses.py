"""Volumes that come into danger together."""

from burstwatch.config import Config
from tests.aws.sweeping import (
    EVENTS,
    NOTICE,
    TOPIC,
    Disk,
)
from tests.conftest import NOW, Cloud


def draining(cloud: Cloud, count: int, *, percent: float) -> list[Disk]:
    disks = []
    for _ in range(count):
        disk = Disk(cloud, percent=percent)
        for back in range(60):
            iops = 3_000 if back < 5 else 300
            disk.put(NOW - 60 * (back + 1), percent + 3 * min(5, back), iops=iops)
        disks.append(disk)
    return disks


def a_minute(cloud: Cloud, disks: list[Disk], *, iops: float) -> None:
    """One minute of each, and the clock at its end."""
    now = cloud.clock.now
    for disk in disks:
        cloud.clock.now = now
        disk.minute(iops=iops)


def with_mass(count: float) -> Config:
    return Config(
        page_topic_arn=TOPIC, notice_topic_arn=NOTICE, events_topic_arn=EVENTS, mass_from=count
    )

"""One look at volumes that drain."""

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot, look
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from tests.conftest import NOW, Cloud

MINUTES = 30


def take_look(
    cloud: Cloud, schedule: Memory | None = None, *, deadline: Deadline | None = None,
    tag_filter: str = "", kinds: str = "ebs_volume",
) -> UnitSnapshot:  # fmt: skip
    return look(
        cloud.unit,
        find_kinds(kinds).values(),
        cloud.clients,
        Config(tag_filter=tag_filter),
        schedule or Memory(),
        now=cloud.clock.now,
        deadline=deadline or cloud.never(),
    )


def drain(
    cloud: Cloud, volume_id: str, *, to_percent: float, per_minute: float, iops: float,
    until: float = NOW, statistic_shift: float = 0.0,
) -> None:  # fmt: skip
    """The last half hour of a volume that has just reached ``to_percent``."""
    for back in range(MINUTES):
        at = until - 60 * (back + 1)
        values = {
            "BurstBalance": min(100.0, to_percent + per_minute * back) + statistic_shift,
            "VolumeReadOps": iops * 30,
            "VolumeWriteOps": iops * 30,
            "VolumeReadBytes": iops * 30 * 16_384,
            "VolumeWriteBytes": iops * 30 * 16_384,
        }
        for name, value in values.items():
            cloud.aws.put("AWS/EBS", name, {"VolumeId": volume_id}, at, value)


# 100 GiB at 3,000 IOPS: 2,700 credits a second are 3 % a minute.
FULL_BURST = {"per_minute": 3.0, "iops": 3_000.0}

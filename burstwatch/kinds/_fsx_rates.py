"""What FSx file servers sustain and burst to, by throughput capacity, as AWS's tables have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from burstwatch.kinds import _fsx
from burstwatch.kinds.base import Item
from burstwatch.sources import Source

OPENZFS_PAGE = Source(
    url="https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance-ssd.html",
    read="2026-11",
    note="the tables of data access from disk; from a copy of the page",
)
ONTAP_PAGE = Source(
    url="https://docs.aws.amazon.com/fsx/latest/ONTAPGuide/performance.html",
    read="2026-11",
    note="of the second generation it has no burst from 3,072 MB/s on, as quoted by others",
)
ONTAP_METRICS_PAGE = Source(
    url="https://docs.aws.amazon.com/fsx/latest/ONTAPGuide/file-system-metrics.html",
    read="2026-11",
    note="the balances are valid for less than 512 MB/s; of the first generation, as quoted by others",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What a file server sustains of disk throughput (MB/s) and IOPS, and the most while it has credits: no more, where it has none."""

    mb_s: float
    burst_mb_s: float
    iops: float
    burst_iops: float

    @property
    def bursts(self) -> bool:
        """True if it has credits."""
        return self.burst_mb_s > self.mb_s or self.burst_iops > self.iops


def _bursting(iops_by_mb_s: Mapping[int, float], *, mb_s: float, iops: float) -> dict[int, Rates]:
    """The rates of capacities in MB/s that sustain so many IOPS, and burst to ``mb_s`` and ``iops`` where that is more."""
    return {
        capacity: Rates(
            mb_s=capacity,
            burst_mb_s=max(mb_s, capacity),
            iops=sustained,
            burst_iops=max(iops, sustained),
        )
        for capacity, sustained in iops_by_mb_s.items()
    }


WINDOWS_RATES = {
    32: Rates(mb_s=32, burst_mb_s=260, iops=2_000, burst_iops=12_000),
    64: Rates(mb_s=64, burst_mb_s=350, iops=4_000, burst_iops=16_000),
    128: Rates(mb_s=128, burst_mb_s=600, iops=6_000, burst_iops=20_000),
    256: Rates(mb_s=256, burst_mb_s=600, iops=10_000, burst_iops=20_000),
    # These do not burst.
    512: Rates(mb_s=512, burst_mb_s=512, iops=20_000, burst_iops=20_000),
    1_024: Rates(mb_s=1_024, burst_mb_s=1_024, iops=40_000, burst_iops=40_000),
    2_048: Rates(mb_s=2_048, burst_mb_s=2_048, iops=80_000, burst_iops=80_000),
}
_OPENZFS_1 = _bursting(
    {
        64: 2_500, 128: 5_000, 256: 10_000, 512: 20_000,
        1_024: 40_000, 2_048: 80_000, 3_072: 120_000, 4_096: 160_000,
    },
    mb_s=1_024, iops=40_000,
)  # fmt: skip
_OPENZFS_2 = _bursting(
    {
        160: 6_250, 320: 12_500, 640: 25_000, 1_280: 50_000,
        2_560: 100_000, 3_840: 150_000, 5_120: 200_000, 7_680: 300_000, 10_240: 400_000,
    },
    mb_s=3_125, iops=100_000,
)  # fmt: skip
#: In two zones: what it bursts to depends on the region.
_OPENZFS_IN_AFRICA_AND_UAE = _bursting(
    {
        160: 6_000, 320: 12_000, 640: 20_000, 1_280: 40_000,
        2_560: 80_000, 3_840: 120_000, 5_120: 160_000,
    },
    mb_s=1_250, iops=40_000,
)  # fmt: skip
_OPENZFS_ELSEWHERE = _bursting(
    {
        160: 5_000, 320: 10_000, 640: 20_000, 1_280: 40_000,
        2_560: 80_000, 3_840: 120_000, 5_120: 160_000,
    },
    mb_s=1_187, iops=40_000,
)  # fmt: skip
_FAST_REGIONS = frozenset(
    {
        "us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-west-1", "eu-south-2", "eu-central-1", "eu-north-1",
        "eu-central-2", "ca-central-1", "ap-south-1", "ap-northeast-1", "ap-northeast-2", "ap-southeast-2",
        "ap-southeast-1", "us-gov-west-1",
    }
)  # fmt: skip
#: Of these regions only what was made since then is as fast.
_FAST_SINCE = datetime(2024, 7, 9, tzinfo=UTC)
_FAST_LATER = frozenset({"ca-central-1", "ap-south-1"})
_AFRICA_AND_UAE = frozenset({"af-south-1", "me-central-1"})
IN_TWO_ZONES = "MULTI_AZ_1"
#: The deployment types of OpenZFS of which the tables are known. Those with HA have the rates of those without.
OPENZFS_TYPES = (
    "SINGLE_AZ_1",
    "SINGLE_AZ_HA_1",
    "SINGLE_AZ_2",
    "SINGLE_AZ_HA_2",
    IN_TWO_ZONES,
)


def openzfs_rates(item: Item, region: str) -> Mapping[int, Rates]:
    """The rates of an OpenZFS file system's deployment type by capacity in MB/s; none where they are not known."""
    deployment = (item.get("OpenZFSConfiguration") or {}).get("DeploymentType", "")
    if deployment not in OPENZFS_TYPES or item.get("StorageType", _fsx.SSD) != _fsx.SSD:
        return {}
    if deployment == IN_TWO_ZONES:
        return _in_two_zones(item, region)
    return _OPENZFS_1 if deployment.endswith("_1") else _OPENZFS_2


def _in_two_zones(item: Item, region: str) -> Mapping[int, Rates]:
    """The rates of a file system in two zones."""
    if region in _AFRICA_AND_UAE:
        return _OPENZFS_IN_AFRICA_AND_UAE
    created = item.get("CreationTime")
    is_slow = region in _FAST_LATER and created is not None and created < _FAST_SINCE
    return _OPENZFS_2 if region in _FAST_REGIONS and not is_slow else _OPENZFS_ELSEWHERE

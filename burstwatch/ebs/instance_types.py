"""Lists the EBS limits of some EC2 instance types, for hosts that may not ask EC2.

Most types are not here; an owner can say any type's limits, and EC2 itself
(DescribeInstanceTypes) knows them all.
"""

from types import MappingProxyType

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.volumes import InstanceLimits
from burstwatch.sources import Source

OPTIMIZED_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-optimized.html",
    read="2026-04",
    note="says how long the maximum lasts, not how large the bucket is",
)
BITS_PER_BYTE = 8
#: Maximum bandwidth in Mbps and maximum IOPS by type, from ``OPTIMIZED_PAGE``.
MAXIMA = MappingProxyType(
    {
        "t3.nano": (2_085, 11_800),
        "t3.micro": (2_085, 11_800),
        "t3.small": (2_085, 11_800),
        "t3.medium": (2_085, 11_800),
        "t3.large": (2_780, 15_700),
        "m5.large": (4_750, 18_750),
        "c5.large": (4_750, 20_000),
        "m6i.large": (10_000, 40_000),
        "m7g.large": (10_000, 40_000),
        "m6i.4xlarge": (10_000, 40_000),
    }
)


def limits_of(instance_type: str) -> InstanceLimits | None:
    """The limits of a type, or None where they are not known here."""
    maxima = MAXIMA.get(instance_type)
    if maxima is None:
        return None
    mbps, iops = maxima
    return InstanceLimits(iops=float(iops), mib_s=mbps / BITS_PER_BYTE * MIB_PER_MB)

"""Worked examples of the kind ``ec2_instance_cpu``."""

from datetime import UTC, datetime
from typing import Any

METRICS_PAGE = (
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html"
)
METRICS_READ = "2026-11"
DOCUMENTED_DIMENSIONS = {"InstanceId"}
DOCUMENTED_METRICS = {
    "CPUCreditUsage", "CPUCreditBalance", "CPUSurplusCreditBalance", "CPUSurplusCreditsCharged",
    "CPUUtilization",
}  # fmt: skip

STARTED = datetime(2026, 9, 1, tzinfo=UTC)


def _instance(number: int, instance_type: str) -> dict[str, Any]:
    return {
        "InstanceId": f"i-0aaaaaaaaaaaaaa{number:02d}",
        "InstanceType": instance_type,
        "State": {"Code": 16, "Name": "running"},
        "LaunchTime": STARTED,
    }


SIZES = ["nano", "micro", "small", "medium", "large", "xlarge", "2xlarge"]
ITEMS: list[dict[str, Any]] = [
    {**_instance(1, "t3.medium"), "Tags": [{"Key": "Name", "Value": "orders-db"}]},
    {**_instance(2, "t3.medium"), "Platform": "windows"},
    *(_instance(10 + at, f"t2.{size}") for at, size in enumerate(SIZES)),
    *(_instance(20 + at, f"t3.{size}") for at, size in enumerate(SIZES)),
    _instance(30, "t3a.large"),
    _instance(31, "t4g.large"),
    {**_instance(32, "t3.large"), "State": {"Code": 80, "Name": "stopped"}},
    # A new family, one that is newer than the table, a size without figures, and a type that does not burst.
    _instance(33, "t8i.medium"),
    _instance(34, "t9g.xlarge"),
    _instance(36, "t8i.large"),
    _instance(35, "m5.large"),
]
#: The second and the first t4g are in Unlimited mode; the last was once.
FOUND: dict[str, dict[str, dict[str, Any]]] = {
    "instance_types": {
        name: {"InstanceType": name, "BurstablePerformanceSupported": name != "m5.large"}
        for name in ("t8i.medium", "t3.medium", "m5.large")
    },
    "credit_specifications": {
        f"i-0aaaaaaaaaaaaaa{number:02d}": {
            "InstanceId": f"i-0aaaaaaaaaaaaaa{number:02d}",
            "CpuCredits": mode,
        }
        for number, mode in {2: "unlimited", 31: "unlimited", 30: "standard"}.items()
    },
}


def _bucket(vcpus: int, earned_h: float) -> tuple[float, float, float, float]:
    """Credits of a vCPU-minute as vCPU-seconds; the worst case is 15 % faster than the vCPUs."""
    refill, burst, capacity = earned_h / 60, 1.15 * vcpus, 24 * earned_h * 60
    return refill, burst, capacity, round(capacity / (burst - refill))


#: The table of credits in the EC2 user guide.
T2 = [(1, 3), (1, 6), (1, 12), (2, 24), (2, 36), (4, 54), (8, 81.6)]
T3 = [(2, 6), (2, 12), (2, 24), (2, 24), (2, 36), (4, 96), (8, 192)]
BUCKETS: dict[str, tuple[float, float, float, float] | None] = {
    "i-0aaaaaaaaaaaaaa01.cpu/CPUCreditBalance": (0.4, 2.3, 34_560, 18_189),
    "i-0aaaaaaaaaaaaaa02.cpu/CPUSurplusCreditBalance": (0.4, 2.3, 34_560, 18_189),
    **{
        f"i-0aaaaaaaaaaaaaa{10 + at}.cpu/CPUCreditBalance": _bucket(*row)
        for at, row in enumerate(T2)
    },
    **{
        f"i-0aaaaaaaaaaaaaa{20 + at}.cpu/CPUCreditBalance": _bucket(*row)
        for at, row in enumerate(T3)
    },
    "i-0aaaaaaaaaaaaaa30.cpu/CPUCreditBalance": _bucket(2, 36),
    "i-0aaaaaaaaaaaaaa31.cpu/CPUSurplusCreditBalance": _bucket(2, 36),
    "i-0aaaaaaaaaaaaaa33.cpu/CPUCreditBalance": _bucket(2, 24),
    "i-0aaaaaaaaaaaaaa34.cpu/CPUCreditBalance": _bucket(4, 96),
    # All that so many vCPUs could earn in a day, of which a day's share comes in.
    "i-0aaaaaaaaaaaaaa36.cpu/CPUCreditBalance": (2.0, 4.0, 172_800, 86_400),
}

#: The share of the first bucket that values of its level metric stand for.
LEVELS = {0.0: 0.0, 288.0: 0.5, 576.0: 1.0, 636.0: 1.0}
#: One minute of the first item, and the vCPUs that were busy in it.
VALUES = {"CPUCreditUsage": 1.2}
NOMINAL_PER_S = 1.2

#: By hand, with a load above what comes in.
SPEC = {"type": "t3.medium", "mode": "unlimited"}
LOAD = {"cpu_percent": 60}

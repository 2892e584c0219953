"""Holds what kinds of disks share: rates, demand, and the words for reads and writes."""

from collections.abc import Callable

from burstwatch.ebs.load import Traffic, io_load
from burstwatch.ebs.volumes import Charge
from burstwatch.formatting import number
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint
from burstwatch.kinds.base import Cause, Rates

IOPS, MIB_S = "IOPS", "MiB/s"
#: The unit of a rate, by the unit of a credit.
RATE_UNITS = {"io": IOPS, "MiB": MIB_S}
#: What holds a disk's I/O back, in words.
LIMITS = {
    "volume_iops": "the volume's IOPS",
    "volume_throughput": "the volume's throughput",
    "instance_iops": "the instance's IOPS",
    "instance_throughput": "the instance's throughput",
}


def rate_facts(baseline: float, burst: float) -> dict[str, str]:
    """The facts of a disk that bursts."""
    return {"baseline": f"{round(baseline, 1):g}", "burst": f"{round(burst, 1):g}"}


def demand_of(cost: Charge, start_s: float, period_s: float, binding: str) -> DemandPoint:
    """Credits a second of what one period has cost."""
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=cost.least / period_s,
        nominal=cost.nominal / period_s,
        most=cost.most / period_s,
        binding=binding,
    )


def cause_of(traffic: Traffic) -> Callable[[Resource, Rates], Cause | None]:
    """The reads and writes of the last minutes, in words."""

    def cause(resource: Resource, rates: Rates) -> Cause | None:
        load = io_load(traffic, rates)
        if load is None or not load.iops:
            return None
        size = f" of {number(load.io_kib)} KiB"
        text = (
            f"{load.direction}, {number(round(load.iops))} IOPS{size}, {number(load.mib_s)} MiB/s"
        )
        return Cause(text=text, rate=load.mib_s if resource.rate_unit == MIB_S else load.iops)

    return cause

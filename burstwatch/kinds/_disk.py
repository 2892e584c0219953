"""Holds what kinds of disks share: rates, demand, and the words for reads and writes."""

from collections.abc import Mapping
from typing import ClassVar

from burstwatch.ebs.load import MIB, Traffic, io_load
from burstwatch.ebs.volumes import KIB_PER_MIB
from burstwatch.formatting import number
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint
from burstwatch.kinds._spent import demand_point
from burstwatch.kinds.base import Cause, Kind, RatesByMetric, Totals

IOPS, MIB_S = "IOPS", "MiB/s"
DEFAULT_IO_KIB = 16.0
#: An estimate of a bucket's size may be wrong by this factor either way, so what an I/O
#: costs of it may be as well; the balance's own slope decides.
UNCERTAIN = 2.0
#: The unit of a rate, by the unit of a credit.
RATE_UNITS = {"io": IOPS, "MiB": MIB_S}
#: Limits that hold a disk's I/O back, in words.
LIMITS = {
    "volume_iops": "the volume's IOPS",
    "volume_throughput": "the volume's throughput",
    "instance_iops": "the instance's IOPS",
    "instance_throughput": "the instance's throughput",
}


def rate_facts(baseline: float, burst: float) -> dict[str, str]:
    """The facts of a disk that bursts."""
    return {"baseline": f"{round(baseline, 1):g}", "burst": f"{round(burst, 1):g}"}


class Disk(Kind):
    """A kind that reads and writes. ``traffic`` names its metrics; ``io_kib`` is the size of an I/O that nobody has stated."""

    traffic: ClassVar[Traffic]
    io_kib: ClassVar[float] = DEFAULT_IO_KIB

    def cause(self, resource: Resource, rates: RatesByMetric) -> Cause | None:
        """The reads and writes of the last minutes, in words."""
        load = io_load(self.traffic, rates)
        if load is None or not load.iops:
            return None
        size = f" of {number(load.io_kib)} KiB"
        text = (
            f"{load.direction}, {number(round(load.iops))} IOPS{size}, {number(load.mib_s)} MiB/s"
        )
        return Cause(text=text, rate=load.mib_s if resource.words.rate_unit == MIB_S else load.iops)

    def totals(self, resource: Resource, load: Mapping[str, float]) -> Totals:
        """The amounts of one second of a load described by hand: of iops, mib_s and io_kib two give the third."""
        size = load.get("io_kib", self.io_kib)
        mib_s = load.get("mib_s", load.get("iops", 0.0) * size / KIB_PER_MIB)
        return {
            self.traffic.read_ops: load.get("iops", mib_s * KIB_PER_MIB / size),
            self.traffic.write_ops: 0.0,
            self.traffic.read_bytes: mib_s * MIB,
            self.traffic.write_bytes: 0.0,
        }


class EstimatedDisk(Disk):
    """A disk with a bucket of operations or of bytes whose size AWS does not publish."""

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """Operations or MiB a second, of which what they cost is uncertain."""
        if not resource.terms.is_sized:
            return None  # what comes in is not known: the slope of the balance tells
        is_bytes = resource.words.rate_unit == MIB_S
        of_bytes = self.traffic.read_bytes, self.traffic.write_bytes
        of_ops = self.traffic.read_ops, self.traffic.write_ops
        reads, writes = (totals.get(name) for name in (of_bytes if is_bytes else of_ops))
        if reads is None or writes is None:
            return None
        rate = (reads + writes) / period_s / (MIB if is_bytes else 1)
        least, most = rate / UNCERTAIN, rate * UNCERTAIN
        return demand_point(resource, start_s, period_s, rate, least=least, most=most)

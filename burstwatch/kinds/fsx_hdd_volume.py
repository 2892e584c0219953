"""FSx for Windows with HDD storage: throughput credits of the disks, in MiB as for sc1."""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.volume_types import GIB_PER_TIB
from burstwatch.fixes.fix import Afterwards, Fix
from burstwatch.formatting import number
from burstwatch.history.observations import BucketTerms, Changes, Limit, Reporting, Resource, Words
from burstwatch.history.points import DemandPoint
from burstwatch.kinds import _fsx
from burstwatch.kinds._disk import MIB_S, Disk, rate_facts
from burstwatch.kinds._spent import demand_point
from burstwatch.kinds.base import (
    Example,
    Item,
    RatesByMetric,
    Related,
    Thing,
    Totals,
    float_in,
    terms_without,
)
from burstwatch.sources import Figure, Source

EARNED = Figure(value=12, unit="MiB/s per TiB", source=_fsx.PAGE)
BURST = Figure(value=80, unit="MiB/s per TiB", source=_fsx.PAGE)
CAPACITY = Figure(value=1024 * 1024, unit="MiB per TiB", source=_fsx.PAGE)
#: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html (2026-11)
SMALLEST_GIB, LARGEST_GIB = 2_000.0, 65_536.0
#: A growth names at least so much of the present size.
LEAST_GROWTH = Figure(
    value=1.1,
    unit="",
    source=Source(
        url="https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html",
        read="2026-11",
    ),
)
#: A file server of less cannot take more storage.
LEAST_SERVER = Figure(
    value=16,
    unit="MB/s",
    source=Source(
        url="https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html",
        read="2026-11",
    ),
)
#: Of a whole file system.
MOST = Figure(value=1024, unit="MiB/s", source=_fsx.PAGE)
HDD, SSD = "HDD", "SSD"
#: Storage without credits.
WITHOUT = frozenset({SSD, "INTELLIGENT_TIERING"})
#: Storage takes hours to grow, so its owner hears of it an hour before.
LEAD_S = 3_600.0
BALANCE = "DiskThroughputBalance"


def hdd_bucket(size_gib: float) -> Bucket:
    """The bucket of HDD storage of a size, in MiB."""
    tib = size_gib / GIB_PER_TIB
    burst = min(BURST.value * tib, MOST.value)
    return Bucket(capacity=CAPACITY.value * tib, refill=min(EARNED.value * tib, burst), burst=burst)


class FsxHddVolume(Disk):
    """The HDD storage of FSx for Windows."""

    traffic = _fsx.DISK_TRAFFIC
    io_kib = 1_024.0

    name = "fsx_hdd_volume"
    namespace = "AWS/FSx"
    dimensions = ("FileSystemId",)
    part = "hdd"
    inventory = _fsx.FILE_SYSTEMS
    tagging = _fsx.TAGGING
    level_metrics = (BALANCE,)
    demand_metrics = _fsx.DISK_METRICS
    console = _fsx.CONSOLE
    spenders = _fsx.OPEN_FILES
    limits = MappingProxyType({"volume_throughput": "the disks' throughput"})
    example = Example(
        spec={"size_gib": "the storage capacity"},
        load={"mib_s": "MiB per second"},
        unit="MiB",
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The bucket of the disks of one file system; none for other types and for SSD."""
        item = thing.item
        if item["FileSystemType"] != _fsx.WINDOWS:
            return
        storage = item.get("StorageType", "unstated")
        bucket = hdd_bucket(item["StorageCapacity"])
        is_hdd = storage == HDD
        yield Resource(
            kind=self.name,
            id=self.resource_id(thing.id),
            level_metric=BALANCE,
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=bucket if is_hdd else None,
            terms=BucketTerms() if is_hdd else terms_without("storage", storage, known=WITHOUT),
            limit=Limit(rate=bucket.burst, binding="volume_throughput"),
            reporting=Reporting(
                statistic="Average",
                in_use=_fsx.is_file_system_running(item),
                reports_when_idle=True,
            ),
            words=Words(
                rate_unit=MIB_S,
                facts={
                    "type": f"FSx {storage} {item['StorageCapacity']:g} GiB",
                    "size_gib": f"{item['StorageCapacity']:g}",
                    **rate_facts(bucket.refill, bucket.burst),
                },
            ),
            least_lead_s=LEAD_S,
            # The throughput capacity of its server in MB/s, where it is known.
            detail=item.get("WindowsConfiguration", {}).get("ThroughputCapacity"),
            changes=Changes(
                under_way=_fsx.unsettled_change(item, now) or _fsx.storage_wait(item, now)
            ),
            spec={"size_gib": f"{item['StorageCapacity']:g}"},
        )

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """MiB a second of one period; a random read of HDD may cost a whole MiB."""
        traffic = _fsx.DISK_TRAFFIC
        if not totals.keys() >= set(traffic.metrics):
            return None
        rate = (totals[traffic.read_bytes] + totals[traffic.write_bytes]) / MIB / period_s
        ops = (totals[traffic.read_ops] + totals[traffic.write_ops]) / period_s
        most = max(rate, min(ops, resource.limit.rate))
        return demand_point(resource, start_s, period_s, rate, most=most)

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """SSD storage, or more of HDD; their prices are not known here."""
        yield Fix(
            action="change to SSD storage",
            effect="its disks have no credits",
            takes="takes minutes to hours",
            is_for_good=True,
            commands=(_fsx.update(resource, {"StorageType": SSD}),),
            afterwards=Afterwards(bucket=None),
        )
        size_gib = float(resource.words.facts["size_gib"])
        needed_gib = demand / EARNED.value * GIB_PER_TIB
        grown_gib = math.ceil(max(needed_gib, size_gib * LEAST_GROWTH.value))
        server_mb_s: float | None = resource.detail
        may_grow = server_mb_s is None or server_mb_s >= LEAST_SERVER.value
        if grown_gib <= LARGEST_GIB and may_grow:
            yield Fix(
                action=f"grow the storage to {number(grown_gib)} GiB",
                effect="covers the current load; AWS takes the next growth after six hours at the earliest",
                takes="takes minutes to hours",
                is_for_good=True,
                commands=(_fsx.update(resource, {"StorageCapacity": grown_gib}),),
                afterwards=Afterwards(
                    bucket=hdd_bucket(grown_gib), rate=hdd_bucket(grown_gib).burst
                ),
            )

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """A file system of the stated size, of those that AWS makes."""
        listed = {
            "FileSystemId": "fs-example",
            "FileSystemType": _fsx.WINDOWS,
            "StorageType": HDD,
            "StorageCapacity": float_in(spec, "size_gib", low=SMALLEST_GIB, high=LARGEST_GIB),
        }
        return listed, {}


KIND = FsxHddVolume()

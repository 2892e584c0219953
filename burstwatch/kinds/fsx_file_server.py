"""FSx file servers: disk throughput and IOPS credits of the server in front of the disks.

AWS says that a server bursts "for 30 minutes a day" and not how large the bucket is. Half an hour
of the difference is what that needs at least. Others have measured one that was empty after 27
minutes and full again after 29, so this is close. The times are still called estimates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from burstwatch.bucket import Bucket, unsized_bucket
from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.fixes.fix import Afterwards, Fix
from burstwatch.formatting import number
from burstwatch.history.observations import BucketTerms, Changes, Limit, Reporting, Resource, Words
from burstwatch.kinds import _fsx
from burstwatch.kinds._disk import IOPS, MIB_S, EstimatedDisk, rate_facts
from burstwatch.kinds.base import Example, Item, RatesByMetric, Related, Thing, float_in
from burstwatch.sources import Figure

#: How long a full bucket lasts at the maximum.
FULL_LASTS = Figure(value=1_800, unit="s", source=_fsx.PAGE)
#: Baseline and maximum of disk throughput (MB/s) and IOPS, by throughput capacity (MB/s).
RATES: dict[int, tuple[float, float, float, float]] = {
    32: (32, 260, 2_000, 12_000),
    64: (64, 350, 4_000, 16_000),
    128: (128, 600, 6_000, 20_000),
    256: (256, 600, 10_000, 20_000),
}
#: Disk throughput (MB/s) and IOPS of the capacities that do not burst. From the same table.
SUSTAINED: dict[int, tuple[float, float]] = {
    512: (512, 20_000),
    1_024: (1_024, 40_000),
    2_048: (2_048, 80_000),
}
SMALLEST, LARGEST = min(RATES), max(RATES)
THROUGHPUT, OPERATIONS = "FileServerDiskThroughputBalance", "FileServerDiskIopsBalance"
PERIOD_S = 300.0
#: These publish the balances too. What their servers sustain is not in the table.
OTHERS = frozenset({"ONTAP", "OPENZFS"})
#: Its network and its disks burst too.
LUSTRE = "LUSTRE"


def _not_watched(base: Resource, why: str) -> Resource:
    return replace(base, terms=replace(base.terms, not_watched=why))


def server_bucket(baseline: float, burst: float) -> Bucket:
    """The bucket that lasts as long at its burst as AWS promises, by the two rates."""
    return Bucket(capacity=FULL_LASTS.value * (burst - baseline), refill=baseline, burst=burst)


def _sized(base: Resource, metric: str, baseline: float, burst: float, unit: str) -> Resource:
    """Give the file server its bucket for one metric, in MiB or in operations."""
    return replace(
        base,
        level_metric=metric,
        bucket=server_bucket(baseline, burst),
        limit=Limit(rate=burst, binding="throughput" if unit == MIB_S else "iops"),
        words=replace(
            base.words, rate_unit=unit, facts={**base.words.facts, **rate_facts(baseline, burst)}
        ),
    )


def _steady(capacity: int) -> tuple[float, float, float, float]:
    """Baseline and maximum of both rates, of a capacity that does not burst."""
    mb_s, iops = SUSTAINED[capacity]
    return mb_s, mb_s, iops, iops


def _raise_to(resource: Resource, capacity: int, sustained: float) -> Fix:
    """The change to another throughput capacity, which sustains MB/s or IOPS."""
    is_bytes = resource.words.rate_unit == MIB_S
    now = RATES[int(resource.spec["throughput_capacity"])]
    after = RATES[capacity] if capacity in RATES else _steady(capacity)
    lower = [
        f"from {number(now[most])} to {number(after[most])} {unit}"
        for most, unit in ((1, "MB/s"), (3, IOPS))
        if after[most] < now[most]
    ]
    effect = "never runs out at the current load"
    if lower:
        effect += f", but the peak drops {' and '.join(lower)}"
    unit_size = MIB_PER_MB if is_bytes else 1
    bucket = None
    if capacity in RATES:
        burst = RATES[capacity][1 if is_bytes else 3] * unit_size
        bucket = server_bucket(sustained * unit_size, burst)
    return Fix(
        action=f"raise the throughput capacity to {capacity} MB/s",
        effect=effect,
        takes="takes minutes to hours",
        commands=(
            _fsx.update(resource, {"WindowsConfiguration": {"ThroughputCapacity": capacity}}),
        ),
        afterwards=Afterwards(
            bucket=bucket, rate=bucket.burst if bucket else sustained * unit_size
        ),
    )


class FsxFileServer(EstimatedDisk):
    """FSx file servers."""

    traffic = _fsx.DISK_TRAFFIC
    io_kib = 1_024.0

    name = "fsx_file_server"
    namespace = "AWS/FSx"
    dimensions = ("FileSystemId",)
    inventory = _fsx.FILE_SYSTEMS
    tagging = _fsx.TAGGING
    level_metrics = (THROUGHPUT, OPERATIONS)
    demand_metrics = _fsx.DISK_METRICS
    console = _fsx.CONSOLE
    limits = MappingProxyType(
        {
            "throughput": "the file server's disk throughput",
            "iops": "the file server's disk IOPS",
        }
    )
    example = Example(
        spec={"throughput_capacity": "MB/s of throughput capacity"},
        load={"mib_s": "MiB per second", "iops": "operations per second"},
        unit="MiB",
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The two buckets of one file server, or why it has none or cannot be watched."""
        item = thing.item
        kind_of = item["FileSystemType"]
        if kind_of in OTHERS:
            yield from self._unsized(
                thing, f"what a file server of {kind_of} sustains is not known here"
            )
        if kind_of == LUSTRE:
            yield _not_watched(self._base(thing), "AWS publishes no balance of FSx for Lustre")
        if kind_of not in {*OTHERS, LUSTRE, _fsx.WINDOWS}:
            yield _not_watched(self._base(thing), f"FSx for {kind_of} is not known here")
        if kind_of != _fsx.WINDOWS:
            return
        capacity = item["WindowsConfiguration"]["ThroughputCapacity"]
        base = self._base(thing)
        if capacity > LARGEST:
            reason = f"{capacity:g} MB/s of throughput capacity do not burst"
            yield replace(base, terms=replace(base.terms, no_bucket_reason=reason))
        elif capacity < SMALLEST:
            reason = f"AWS publishes no balance under {SMALLEST} MB/s of throughput capacity"
            yield _not_watched(base, reason)
        elif capacity not in RATES:
            yield from self._unsized(
                thing, f"what {capacity:g} MB/s of throughput capacity sustain is not known here"
            )
        else:
            baseline, burst, base_iops, burst_iops = RATES[capacity]
            yield _sized(base, THROUGHPUT, baseline * MIB_PER_MB, burst * MIB_PER_MB, MIB_S)
            yield _sized(base, OPERATIONS, base_iops, burst_iops, IOPS)

    def _base(self, thing: Thing) -> Resource:
        """A file server without its buckets."""
        item = thing.item
        capacity_mb_s = item.get("WindowsConfiguration", {}).get("ThroughputCapacity")
        return Resource(
            kind=self.name,
            id=thing.id,
            level_metric=THROUGHPUT,
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=None,
            terms=BucketTerms(is_documented=False),
            limit=Limit(rate=0.0, binding="throughput"),
            reporting=Reporting(
                statistic="Average",
                in_use=_fsx.is_file_system_running(item),
                reports_when_idle=True,
                published_every_s=PERIOD_S,
            ),
            words=Words(rate_unit=MIB_S, facts={"type": f"FSx {item['FileSystemType']}"}),
            changes=Changes(under_way=_fsx.unsettled_change(item)),
            spec={} if capacity_mb_s is None else {"throughput_capacity": f"{capacity_mb_s}"},
        )

    def _unsized(self, thing: Thing, why: str) -> Iterator[Resource]:
        """The two buckets of a server of which only the balances are known."""
        base = self._base(thing)
        for metric, unit in ((THROUGHPUT, MIB_S), (OPERATIONS, IOPS)):
            bucket = unsized_bucket(FULL_LASTS.value)
            yield replace(
                base,
                level_metric=metric,
                bucket=bucket,
                terms=replace(base.terms, is_sized=False),
                limit=Limit(rate=bucket.burst, binding="throughput" if unit == MIB_S else "iops"),
                words=replace(base.words, rate_unit=unit, caveats=(why,)),
                spec={},
            )

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """The smallest throughput capacity that sustains it; its price is not known here."""
        is_bytes = resource.words.rate_unit == MIB_S
        needed = demand / MIB_PER_MB if is_bytes else demand
        present = int(resource.spec["throughput_capacity"])
        sustained_by_capacity = {
            capacity: rates[0 if is_bytes else 2] for capacity, rates in RATES.items()
        } | {capacity: rates[0 if is_bytes else 1] for capacity, rates in SUSTAINED.items()}
        for capacity, sustained in sustained_by_capacity.items():
            if capacity > present and sustained >= needed:
                yield _raise_to(resource, capacity, sustained)
                return

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """Build the answer of DescribeFileSystems for a stated example; raises ValueError for a capacity that AWS does not offer."""
        capacity = round(float_in(spec, "throughput_capacity"))
        if SMALLEST <= capacity <= LARGEST and capacity not in RATES:
            allowed = ", ".join(map(str, RATES))
            msg = f"a throughput capacity of {capacity} MB/s is unknown; allowed: {allowed}"
            raise ValueError(msg)
        listed = {
            "FileSystemId": "fs-example",
            "FileSystemType": _fsx.WINDOWS,
            "WindowsConfiguration": {"ThroughputCapacity": capacity},
        }
        return listed, {}


KIND = FsxFileServer()

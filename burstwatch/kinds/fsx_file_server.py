"""FSx file servers: disk throughput and IOPS credits of the server in front of the disks.

AWS says that a server bursts "for 30 minutes a day" and not how large the bucket is. Half an hour
of the difference is what that needs at least. Others have measured one that was empty after 27
minutes and full again after 29, so this is close. The times are still called estimates.

A file system of ONTAP has several servers, each with its balance, and of each pair one that only waits: what counts
is the lowest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from burstwatch.bucket import Bucket, unsized_bucket
from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.fixes.fix import Afterwards, Fix
from burstwatch.formatting import InputError, number
from burstwatch.history.observations import BucketTerms, Changes, Limit, Reporting, Resource, Words
from burstwatch.kinds import _fsx
from burstwatch.kinds._disk import IOPS, MIB_S, EstimatedDisk, rate_facts
from burstwatch.kinds._fsx_rates import OPENZFS_TYPES, WINDOWS_RATES, Rates, openzfs_rates
from burstwatch.kinds.base import Example, Item, RatesByMetric, Related, Thing, float_in
from burstwatch.sources import Figure

#: How long a full bucket lasts at the maximum.
FULL_LASTS = Figure(value=1_800, unit="s", source=_fsx.PAGE)
THROUGHPUT, OPERATIONS = "FileServerDiskThroughputBalance", "FileServerDiskIopsBalance"
PERIOD_S = 300.0
OPENZFS, ONTAP = "OPENZFS", "ONTAP"
#: Its network and its disks burst too.
LUSTRE = "LUSTRE"
NFS_CLIENTS = "its clients (`nfsiostat 5 3` on each)"
#: Where the settings of a file system are, by its type.
SETTINGS = {
    _fsx.WINDOWS: "WindowsConfiguration",
    OPENZFS: "OpenZFSConfiguration",
    ONTAP: "OntapConfiguration",
}
#: Throughput capacities of a pair of ONTAP's servers, in MB/s, from which on AWS publishes no balance of the first
#: generation, and from which on the later ones have no credits.
ONTAP_PUBLISHED_UNDER, ONTAP_STEADY_FROM = 512, 3_072
#: A region that has every capacity of OpenZFS.
MANY_CAPACITIES = "us-east-1"
WINDOWS_PUBLISHED_FROM = min(WINDOWS_RATES)
WINDOWS_BURSTS_TO = max(capacity for capacity, rates in WINDOWS_RATES.items() if rates.bursts)


#: Deployments of one server and no other that could stand in for it: a change of its capacity makes them "unavailable for
#: a few minutes". With two it "results in an automatic failover and failback".
#: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/managing-throughput-capacity.html,
#: https://docs.aws.amazon.com/fsx/latest/WindowsGuide/managing-throughput-capacity.html (2026-11)
OF_ONE_SERVER = frozenset({"SINGLE_AZ_1", "SINGLE_AZ_2"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """The throughput capacity of a file server in MB/s, the rates of all that it may have, and its deployment."""

    capacity: int
    rates_by_capacity: Mapping[int, Rates]
    deployment: str = ""

    @property
    def rates(self) -> Rates:
        """Its own rates."""
        return self.rates_by_capacity[self.capacity]


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


def _not_watched(base: Resource, why: str) -> Resource:
    return replace(base, terms=replace(base.terms, not_watched=why))


def _without_credits(base: Resource, capacity: float) -> Resource:
    """A file server of a capacity that does not burst."""
    reason = f"{capacity:g} MB/s of throughput capacity do not burst"
    return replace(base, terms=replace(base.terms, no_bucket_reason=reason))


def _unsized(base: Resource, why: str) -> Iterator[Resource]:
    """The two buckets of a server of which only the balances are known."""
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


def _with_credits(base: Resource, server: Server) -> Iterator[Resource]:
    """The buckets of a server whose rates are known: one for each rate that bursts."""
    rates = server.rates
    sized = replace(base, detail=server)
    if rates.burst_mb_s > rates.mb_s:
        burst_mib_s = rates.burst_mb_s * MIB_PER_MB
        yield _sized(sized, THROUGHPUT, rates.mb_s * MIB_PER_MB, burst_mib_s, MIB_S)
    if rates.burst_iops > rates.iops:
        yield _sized(sized, OPERATIONS, rates.iops, rates.burst_iops, IOPS)


def _ontap(base: Resource, settings: Item) -> Iterator[Resource]:
    """The two buckets of a file system of ONTAP, of whose servers the rates are not known; or why it has none."""
    # The capacity is that of one pair of servers.
    capacity = settings.get("ThroughputCapacityPerHAPair") or settings.get("ThroughputCapacity", 0)
    is_first = settings.get("DeploymentType", "").endswith("_1")
    if is_first and capacity >= ONTAP_PUBLISHED_UNDER:
        reason = (
            f"AWS publishes no balance from {ONTAP_PUBLISHED_UNDER} MB/s of throughput capacity on"
        )
        yield _not_watched(base, reason)
    elif capacity >= ONTAP_STEADY_FROM:
        yield _without_credits(base, capacity)
    else:
        yield from _unsized(base, "what a file server of ONTAP sustains is not known here")


def _rate_of(rates: Rates, unit: str) -> float:
    """What a server sustains, in MB/s or in operations a second."""
    return rates.mb_s if unit == MIB_S else rates.iops


def _raise_to(resource: Resource, capacity: int) -> Fix:
    """The change to another throughput capacity."""
    server: Server = resource.detail
    now, after = server.rates, server.rates_by_capacity[capacity]
    lower = [
        f"from {number(before)} to {number(then)} {unit}"
        for before, then, unit in (
            (now.burst_mb_s, after.burst_mb_s, "MB/s"),
            (now.burst_iops, after.burst_iops, IOPS),
        )
        if then < before
    ]
    effect = "never runs out at the current load"
    if lower:
        effect += f", but the peak drops {' and '.join(lower)}"
    is_bytes = resource.words.rate_unit == MIB_S
    sustained = after.mb_s * MIB_PER_MB if is_bytes else after.iops
    burst = after.burst_mb_s * MIB_PER_MB if is_bytes else after.burst_iops
    settings = SETTINGS[_type_of(resource)]
    is_alone = server.deployment in OF_ONE_SERVER
    if server.deployment and not is_alone:
        effect += "; it fails over to its other server and back"
    return Fix(
        action=f"raise the throughput capacity to {capacity} MB/s",
        effect=effect,
        takes="takes minutes to hours",
        has_downtime=is_alone or None,
        commands=(_fsx.update(resource, {settings: {"ThroughputCapacity": capacity}}),),
        afterwards=Afterwards(
            bucket=server_bucket(sustained, burst) if burst > sustained else None, rate=burst
        ),
    )


def _type_of(resource: Resource) -> str:
    """The type of a file system, as AWS names it."""
    return resource.words.facts["type"].removeprefix("FSx ")


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
    spenders = _fsx.OPEN_FILES
    limits = MappingProxyType(
        {
            "throughput": "the file server's disk throughput",
            "iops": "the file server's disk IOPS",
        }
    )
    example = Example(
        spec={
            "throughput_capacity": "MB/s of throughput capacity",
            "deployment": f"{_fsx.WINDOWS} (default), or of OpenZFS: {', '.join(OPENZFS_TYPES)}",
        },
        load={"mib_s": "MiB per second", "iops": "operations per second"},
        unit="MiB",
        defaults={"deployment": _fsx.WINDOWS},
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The two buckets of one file system, or why it has none or cannot be watched."""
        item = thing.item
        kind_of = item["FileSystemType"]
        base = self._base(thing, now)
        if kind_of == LUSTRE:
            yield _not_watched(base, "AWS publishes no balance of FSx for Lustre")
        elif kind_of not in SETTINGS:
            yield _not_watched(base, f"FSx for {kind_of} is not known here")
        elif kind_of == ONTAP:
            yield from _ontap(base, item.get(SETTINGS[ONTAP]) or {})
        elif kind_of == OPENZFS:
            region = thing.unit.rpartition("/")[2]
            yield from self._by_rates(base, item, openzfs_rates(item, region))
        else:
            yield from self._by_rates(base, item, WINDOWS_RATES)

    def _by_rates(
        self, base: Resource, item: Item, rates_by_capacity: Mapping[int, Rates]
    ) -> Iterator[Resource]:
        """The two buckets of a server by its throughput capacity, or why it has none."""
        kind_of = item["FileSystemType"]
        capacity = item[SETTINGS[kind_of]]["ThroughputCapacity"]
        rates = rates_by_capacity.get(capacity)
        if kind_of == _fsx.WINDOWS and capacity < WINDOWS_PUBLISHED_FROM:
            reason = f"AWS publishes no balance under {WINDOWS_PUBLISHED_FROM} MB/s of throughput capacity"
            yield _not_watched(base, reason)
        elif kind_of == _fsx.WINDOWS and capacity > WINDOWS_BURSTS_TO:
            yield _without_credits(base, capacity)
        elif rates is None:
            why = f"what {capacity:g} MB/s of throughput capacity sustain is not known here"
            yield from _unsized(base, why)
        elif not rates.bursts:
            yield _without_credits(base, capacity)
        else:
            server = Server(
                capacity=capacity,
                rates_by_capacity=rates_by_capacity,
                deployment=item[SETTINGS[kind_of]].get("DeploymentType", ""),
            )
            yield from _with_credits(base, server)

    def _base(self, thing: Thing, now: float) -> Resource:
        """A file system without its buckets."""
        item = thing.item
        kind_of = item["FileSystemType"]
        settings = (item.get(SETTINGS[kind_of]) if kind_of in SETTINGS else None) or {}
        capacity_mb_s = settings.get("ThroughputCapacity")
        deployment = settings.get("DeploymentType", "") if kind_of == OPENZFS else _fsx.WINDOWS
        spec = {"throughput_capacity": f"{capacity_mb_s}", "deployment": deployment}
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
                # Of several servers the one with the least.
                statistic="Average" if kind_of == _fsx.WINDOWS else "Minimum",
                in_use=_fsx.is_file_system_running(item),
                reports_when_idle=True,
                published_every_s=PERIOD_S,
            ),
            words=Words(rate_unit=MIB_S, facts={"type": f"FSx {kind_of}"}),
            changes=Changes(under_way=_fsx.unsettled_change(item, now)),
            spec={} if capacity_mb_s is None else spec,
        )

    def spenders_of(self, resource: Resource) -> str:
        """The users of SMB, or the clients of NFS."""
        return NFS_CLIENTS if _type_of(resource) == OPENZFS else self.spenders

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """The smallest throughput capacity that sustains it; its price is not known here."""
        unit = resource.words.rate_unit
        needed = demand / MIB_PER_MB if unit == MIB_S else demand
        server: Server = resource.detail
        for capacity, each in server.rates_by_capacity.items():
            if capacity > server.capacity and _rate_of(each, unit) >= needed:
                yield _raise_to(resource, capacity)
                return

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """Build the answer of DescribeFileSystems for a stated example; raises ValueError for a capacity that AWS does not offer."""
        capacity = round(float_in(spec, "throughput_capacity"))
        deployment = spec.get("deployment", _fsx.WINDOWS)
        if deployment not in {_fsx.WINDOWS, *OPENZFS_TYPES}:
            msg = f"must be {_fsx.WINDOWS} or {', '.join(OPENZFS_TYPES)}, got {deployment!r}"
            raise InputError(msg, name="deployment")
        listed: Item = {
            "FileSystemId": "fs-example",
            "FileSystemType": _fsx.WINDOWS,
            "WindowsConfiguration": {"ThroughputCapacity": capacity},
        }
        known = WINDOWS_RATES
        if deployment != _fsx.WINDOWS:
            settings = {"ThroughputCapacity": capacity, "DeploymentType": deployment}
            listed = {
                "FileSystemId": "fs-example",
                "FileSystemType": OPENZFS,
                SETTINGS[OPENZFS]: settings,
            }
            known = dict(openzfs_rates(listed, MANY_CAPACITIES))
        is_between = min(known) <= capacity <= max(known)
        if capacity not in known and (is_between or deployment != _fsx.WINDOWS):
            allowed = ", ".join(str(each) for each, rates in known.items() if rates.bursts)
            msg = f"a throughput capacity of {capacity} MB/s is unknown; allowed: {allowed}"
            raise ValueError(msg)
        return listed, {}


KIND = FsxFileServer()

"""I/O and byte credits of an instance for all its disks: what the kinds of EC2 and RDS share.

AWS says what an instance type sustains and what it reaches, and that it can hold the
maximum "for 30 minutes at least once every 24 hours". It does not say how large the buckets
are. Half an hour of the difference is what that sentence needs at least, so the worst
case here is an estimate and called so.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB, MIB_PER_MB
from burstwatch.ebs.volume_types import CreditUnit
from burstwatch.ebs.volumes import KIB_PER_MIB, Binding, VolumeSpec
from burstwatch.fixes.fix import STOPS, Fix
from burstwatch.formatting import InputError, number
from burstwatch.history.observations import BucketTerms, Limit, Resource
from burstwatch.history.points import NO_LIMIT, DemandPoint
from burstwatch.kinds._disk import LIMITS, MIB_S, RATE_UNITS, EstimatedDisk, rate_facts
from burstwatch.kinds.base import Example, Item, RatesByMetric, Related, Totals, float_in
from burstwatch.sources import Figure, Source

METRICS_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html",
    read="2026-04",
    note="the balances are published for some *.4xlarge and smaller, and with basic monitoring only: every five minutes",
)
OPTIMIZED_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-optimized.html",
    read="2026-04",
    note="says how long the maximum lasts, not how large the bucket is",
)
#: Of an EC2 instance. Its datapoints need not be on five-minute marks.
BASIC_PERIOD_S = 300.0
#: How long a full bucket sustains the maximum.
FULL_LASTS = Figure(value=1800.0, unit="s", source=OPTIMIZED_PAGE)
LARGEST_PUBLISHED = Figure(value=4, unit="xlarge", source=METRICS_PAGE)

#: The description of a type by hand: AWS's name of each number, and its help.
NUMBERS = {
    "baseline_iops": ("BaselineIops", "IOPS that the type sustains"),
    "maximum_iops": ("MaximumIops", "IOPS that the type reaches in a burst"),
    "baseline_mb_s": ("BaselineThroughputInMBps", "MB/s that the type sustains"),
    "maximum_mb_s": ("MaximumThroughputInMBps", "MB/s that the type reaches in a burst"),
}

#: AWS gives the IOPS of a type in I/O of this size, and does not say what a larger one counts as.
STATED_IO = Figure(value=16, unit="KiB", source=OPTIMIZED_PAGE)
#: AWS gives a range of rates for this type, so nobody knows the most.
MAGNETIC = "standard"

#: The lookups of the types that there are, and of the sizes of their families.
TYPES, SIZES = "instance_types", "sizes"
IO_BALANCE, BYTE_BALANCE = "EBSIOBalance%", "EBSByteBalance%"
#: Of a resource whose buckets are not known yet.
NO_RATE = Limit(rate=0.0, binding=NO_LIMIT)


def reach_of(disks: Sequence[VolumeSpec]) -> dict[str, float]:
    """The most that disks can ask of their instance, by the level metric: I/O and MiB a second. Empty if nobody can say.

    A larger I/O is taken to count as one for each 16 KiB that it begins, which is the most that it can be.
    """
    if not disks or any(disk.volume_type == MAGNETIC for disk in disks):
        return {}
    mib_s = math.fsum(disk.limit_mib_s for disk in disks)
    iops = math.fsum(disk.limit_iops for disk in disks)
    return {IO_BALANCE: iops + mib_s * KIB_PER_MIB / STATED_IO.value, BYTE_BALANCE: mib_s}


def has_buckets(instance_type: str, spec: Item | None) -> bool:
    """True if an instance of this type has balances, and AWS publishes them."""
    if spec is None or not rates_of(spec) or _is_larger_than_published(instance_type):
        return False
    return not _no_bucket_reason(instance_type, spec, spec["EbsInfo"]["EbsOptimizedInfo"])


def buckets_of(
    resource: Resource, instance_type: str, spec: Item | None, reach: Mapping[str, float]
) -> tuple[Resource, ...]:
    """The two buckets of an instance of a type, or the one reason why it has none or cannot be watched.

    ``reach`` is the most that its disks can ask of it, as ``reach_of`` says.

    Raises:
        ValueError: if the type's numbers are not known: then nothing can be said of it.
    """
    if spec is None:
        msg = f"instance type {instance_type!r} is not described"
        raise ValueError(msg)
    info = spec.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    if spec.get("Hypervisor") == "nitro" and not info:
        reason = f"AWS does not say what {instance_type} sustains"
        return (without_bucket(resource, not_watched=reason),)
    reason = _no_bucket_reason(instance_type, spec, info)
    if reason:
        return (without_bucket(resource, no_bucket_reason=reason),)
    if _is_larger_than_published(instance_type):
        reason = f"AWS publishes no balance for sizes above {LARGEST_PUBLISHED.value:g}xlarge"
        return (without_bucket(resource, not_watched=reason),)
    numbers = {name: f"{info[key]:.12g}" for name, (key, _) in NUMBERS.items()}
    resource = replace(resource, spec={"type": resource.words.facts["type"], **numbers})
    return tuple(
        _with_bucket(resource, metric, bucket, reach=reach.get(metric))
        for metric, rates in rates_of(spec).items()
        if (bucket := bursting(*rates)) is not None
    )


class Rates(NamedTuple):
    """What an instance type sustains and reaches: I/O or MiB a second."""

    sustained: float
    reached: float


def rates_of(spec: Item) -> dict[str, Rates]:
    """What AWS says that a type sustains and reaches, by the level metric; empty where it does not say all of it."""
    info = spec.get("EbsInfo", {}).get("EbsOptimizedInfo", {})
    if any(key not in info for key, _ in NUMBERS.values()):
        return {}
    return {
        IO_BALANCE: Rates(float(info["BaselineIops"]), float(info["MaximumIops"])),
        BYTE_BALANCE: Rates(
            info["BaselineThroughputInMBps"] * MIB_PER_MB,
            info["MaximumThroughputInMBps"] * MIB_PER_MB,
        ),
    }


def bursting(sustained: float, reached: float) -> Bucket | None:
    """The bucket that lasts as long at full rate as AWS promises; None for a type that sustains its maximum."""
    if sustained >= reached:
        return None
    return Bucket(
        capacity=(reached - sustained) * FULL_LASTS.value, refill=sustained, burst=reached
    )


def _no_bucket_reason(instance_type: str, spec: Item, info: Item) -> str:
    """Why an instance of this type does not burst, decided from the type alone."""
    if spec.get("Hypervisor") != "nitro":
        return f"{instance_type} is not of the types that burst"
    pairs = (
        ("BaselineIops", "MaximumIops"),
        ("BaselineThroughputInMBps", "MaximumThroughputInMBps"),
    )
    if all(info[baseline] >= info[maximum] for baseline, maximum in pairs):
        return f"{instance_type} sustains its maximum"
    return ""


def _is_larger_than_published(instance_type: str) -> bool:
    size = instance_type.rpartition(".")[2]
    multiple = size.partition("xlarge")[0]
    return size.startswith("metal") or (
        multiple.isdigit() and int(multiple) > LARGEST_PUBLISHED.value
    )


def without_bucket(
    resource: Resource, *, no_bucket_reason: str = "", not_watched: str = ""
) -> Resource:
    """The one resource of an instance that has no buckets, or whose buckets cannot be watched."""
    return replace(
        resource,
        level_metric=IO_BALANCE,
        terms=replace(
            resource.terms,
            no_bucket_reason=no_bucket_reason,
            not_watched=not_watched,
            is_documented=False,
        ),
        words=replace(resource.words, rate_unit=RATE_UNITS["io"]),
        reporting=replace(resource.reporting, statistic="Average"),
    )


def _with_bucket(
    resource: Resource, metric: str, bucket: Bucket, *, reach: float | None
) -> Resource:
    """Give the instance its bucket of I/O or of bytes."""
    of: CreditUnit = "io" if metric == IO_BALANCE else "MiB"
    binding: Binding = "instance_iops" if of == "io" else "instance_throughput"
    return replace(
        resource,
        level_metric=metric,
        bucket=bucket,
        terms=BucketTerms(is_documented=False, reach=reach),
        limit=Limit(rate=bucket.burst, binding=binding),
        words=replace(
            resource.words,
            rate_unit=RATE_UNITS[of],
            facts={**resource.words.facts, **rate_facts(bucket.refill, bucket.burst)},
        ),
        reporting=replace(resource.reporting, statistic="Average"),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A type of the same family, with what it sustains and reaches by the level metric.

    ``has_store`` is whether it has disks of its own, whose data is lost when it stops.
    """

    type: str
    has_store: bool
    rates: tuple[tuple[str, Rates], ...]


def families_of(types: Iterable[str], lists: Mapping[str, Sequence[Item]]) -> set[str]:
    """A filter for all sizes of each family of which one of the ``types`` has balances."""
    specs = {spec["InstanceType"]: spec for spec in lists.get(TYPES, ())}
    return {f"{name.partition('.')[0]}.*" for name in types if has_buckets(name, specs.get(name))}


def sizes_of(instance_type: str, related: Related) -> tuple[Size, ...]:
    """The sizes of the family of a type, with those of which AWS says what they sustain."""
    family = f"{instance_type.partition('.')[0]}."
    described = (
        Size(
            type=name,
            has_store=bool(spec.get("InstanceStorageSupported")),
            rates=tuple(rates_of(spec).items()),
        )
        for name, spec in related.get(SIZES, {}).items()
        if name.startswith(family) and not spec.get("BareMetal")
    )
    return _shared(tuple(size for size in described if size.rates))


@lru_cache(maxsize=256)
def _shared(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """The same object for the same sizes: a family has a thousand instances."""
    return sizes


def smallest_of(resource: Resource, demand: float) -> Size | None:
    """The smallest size of the family of a resource that sustains ``demand``; None where AWS lists none."""
    sizes: Sequence[Size] = resource.detail or ()
    metric = resource.level_metric
    enough = [size for size in sizes if dict(size.rates)[metric].sustained >= demand]
    return min(enough, key=lambda size: [rate.sustained for _, rate in size.rates], default=None)


class InstanceEbs(EstimatedDisk):
    """The credits of an instance for all its disks. ``word`` is what AWS calls the size of an instance."""

    word: ClassVar[str]
    level_metrics = (IO_BALANCE, BYTE_BALANCE)
    limits = MappingProxyType(LIMITS)
    example = Example(
        spec={
            "type": "an instance type, such as m5.large",
            **{name: text for name, (_, text) in NUMBERS.items()},
        },
        load={"iops": "operations per second", "mib_s": "MiB per second"},
        unit="io",
    )

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """Operations or MiB a second; an operation may cost one credit for each 16 KiB that it begins, as ``reach_of`` has it."""
        point = super().spent(resource, totals, start_s, period_s)
        if point is None or resource.words.rate_unit == MIB_S:
            return point
        moved = totals.get(self.traffic.read_bytes, 0.0) + totals.get(self.traffic.write_bytes, 0.0)
        pieces = moved / MIB * KIB_PER_MIB / STATED_IO.value / period_s
        return point._replace(most=max(point.most, point.nominal + pieces))

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """One that sustains it: which and at what price is not known here."""
        yield Fix(
            action=f"change to an instance {self.word} that sustains {number(demand)} {resource.words.rate_unit}",
            effect="never runs out at the current load",
            takes=STOPS,
        )

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """An instance by what its type sustains and what it reaches."""
        info = {key: float_in(spec, name) for name, (key, _) in NUMBERS.items()}
        for unit in ("iops", "mb_s"):
            sustained, reached = spec[f"baseline_{unit}"], spec[f"maximum_{unit}"]
            if float(reached) < float(sustained):
                msg = f"is {reached}; allowed: baseline_{unit} ({sustained}) or more"
                raise InputError(msg, name=f"maximum_{unit}")
        type_info = {"Hypervisor": "nitro", "EbsInfo": {"EbsOptimizedInfo": info}}
        types = {spec["type"].removeprefix("db."): type_info}
        return self.listed(spec["type"]), {"instance_types": types}

    @abstractmethod
    def listed(self, instance_type: str) -> Item:
        """What AWS would list of an instance of a type."""

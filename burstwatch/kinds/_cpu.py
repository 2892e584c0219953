"""CPU credits: what the kinds of burstable instances share.

AWS counts a credit as one vCPU for a minute. Here a bucket holds vCPU-seconds, so that its
rates are in vCPUs: a ``t3.medium`` earns 0.4 of its 2 vCPUs, which is a baseline of 20%.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from burstwatch.bucket import DAY_S, HOUR_S, Bucket, unsized_bucket
from burstwatch.fixes.fix import STOPS, Afterwards, Command, Fix, Takes
from burstwatch.fixes.surplus import charged_a_month
from burstwatch.formatting import number, span
from burstwatch.history.observations import BucketTerms, Limit, Reporting, Resource, Verdict, Words
from burstwatch.history.points import DemandPoint
from burstwatch.kinds._spent import demand_point
from burstwatch.kinds.base import (
    PERCENT,
    AtZero,
    Cause,
    DemandMetric,
    Example,
    Item,
    Kind,
    PastLoad,
    RatesByMetric,
    Related,
    Thing,
    Totals,
)
from burstwatch.sources import Figure, Source

CREDITS_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-credits-baseline-concepts.html",
    read="2026-04",
    note="the table of credits earned per hour; the limit is what is earned in 24 hours",
)
DOUBT_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/unlimited-mode-examples.html",
    read="2023-06",
    note="a t2.nano spends 72 credits in 67 minutes there, 12% faster than one vCPU can",
)
STANDARD_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-standard-mode-concepts.html",
    read="2026-11",
)
HOURS_KEPT = Figure(value=24, unit="h", source=CREDITS_PAGE)
#: The worst case takes credits to be spent this much faster than the vCPUs can.
ALLOWANCE = Figure(value=1.15, unit="", source=DOUBT_PAGE)
#: Credits of a T2 in Standard mode at its launch, for each vCPU. They come on top of what it can save up.
LAUNCHED = Figure(value=30, unit="", source=STANDARD_PAGE)
#: "Gradually lowered to the base performance level over a 15-minute interval": https://aws.amazon.com/ec2/faqs/ (2026-11)
SLOWED = "slowed down gradually, within 15 minutes"
#: The largest size of the T families.
LARGEST = "2xlarge"
CREDIT_S = 60.0
#: Metrics of CPU credits come every five minutes, even with detailed monitoring.
PERIOD_S = 300.0
#: A larger instance takes time to start, so its owner hears of it two hours before.
LEAD_S = 2 * HOUR_S

BALANCE, SURPLUS, USAGE = "CPUCreditBalance", "CPUSurplusCreditBalance", "CPUCreditUsage"
CHARGED = "CPUSurplusCreditsCharged"
VCPU = "vCPU"
#: The highest verdict of what only costs money at zero.
COSTS_MONEY: Verdict = "warning"

#: Every family with CPU credits so far; those from T3 on have had the same figures for a size.
_T_FAMILY = re.compile(r"t\d")
_LIKE_T3 = re.compile(r"t([3-9]|\d\d)")
#: vCPUs and the credits that all of them earn in an hour, by family and size.
EARNED: dict[str, dict[str, tuple[int, float]]] = {
    "t2": {
        "nano": (1, 3.0),
        "micro": (1, 6.0),
        "small": (1, 12.0),
        "medium": (2, 24.0),
        "large": (2, 36.0),
        "xlarge": (4, 54.0),
        "2xlarge": (8, 81.6),
    },
    "t3": {
        "nano": (2, 6.0),
        "micro": (2, 12.0),
        "small": (2, 24.0),
        "medium": (2, 24.0),
        "large": (2, 36.0),
        "xlarge": (4, 96.0),
        "2xlarge": (8, 192.0),
    },
}
EARNED["t3a"] = EARNED["t4g"] = EARNED["t3"]
# On sale since 2026-09-17; a medium is its largest.
EARNED["t8i"] = {size: EARNED["t3"][size] for size in ("nano", "micro", "small", "medium")}


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuSpec:
    """An instance type with CPU credits: its vCPUs, and the credits that they earn an hour.

    ``is_assumed`` is for a family that is newer than AWS's table as it was read: it has the figures of a T3 of its size.
    """

    family: str
    size: str
    vcpus: int
    earned_h: float
    is_assumed: bool = False

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is not certain of these figures, in words."""
        if not self.is_assumed:
            return ()
        return (
            f"AWS's figures of {self.family} were not read: taken to be those of t3.{self.size}",
        )

    @property
    def baseline(self) -> float:
        """Credits earned, in vCPUs."""
        return self.earned_h * CREDIT_S / HOUR_S

    @property
    def launch_ratio(self) -> float:
        """The share of the bucket that launch credits fill; AWS gives them to the first hundred starts of T2 in a day."""
        if self.family != "t2":
            return 0.0
        return min(1.0, LAUNCHED.value * self.vcpus / (self.earned_h * HOURS_KEPT.value))

    @property
    def bucket(self) -> Bucket:
        """The bucket in vCPU-seconds; its burst is what the vCPUs can spend, and ``ALLOWANCE`` more."""
        return Bucket(
            capacity=self.earned_h * HOURS_KEPT.value * CREDIT_S,
            refill=self.baseline,
            burst=self.vcpus * ALLOWANCE.value,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """The terms of a change of an instance: the price of a vCPU-hour of surplus, and the largest size that the service has.

    ``is_listed`` is whether AWS's list price of the type is the instance's: what its software costs is not in it.
    """

    usd_vcpu_h: Figure | None = None
    is_listed: bool = True
    may_be_unlimited: bool = True
    largest: str = LARGEST


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """Details of an instance for messages: its type, and what may become of it."""

    spec: CpuSpec
    terms: Terms


@dataclass(frozen=True, kw_only=True, slots=True)
class Instance:
    """An instance as a listing describes it: its type, when it started, and whether it runs."""

    type: str
    since_s: float | None
    in_use: bool


def least_lead_s(spec: CpuSpec) -> float:
    """Two hours, or half of what the worst case takes to empty a full bucket, where that is less."""
    bucket = spec.bucket
    return min(LEAD_S, bucket.capacity / (bucket.burst - bucket.refill) / 2)


def plain_type(instance_type: str) -> tuple[str, str]:
    """The family and the size of a type such as ``t3.medium``, ``db.t3.medium`` or ``cache.t3.medium``."""
    plain = instance_type.removeprefix("db.").removeprefix("cache.")
    family, _, size = plain.partition(".")
    return family, size


def cpu_spec(instance_type: str) -> CpuSpec:
    """The credits of an instance type.

    Raises:
        ValueError: for a type that is not in AWS's table.
    """
    family, size = plain_type(instance_type)
    entry = _sizes_of(family).get(size)
    if entry is None:
        families, sizes = ", ".join(EARNED), ", ".join(EARNED["t3"])
        msg = f"no CPU credits are known of type {instance_type!r}; allowed: {families} of {sizes}"
        raise ValueError(msg)
    vcpus, earned = entry
    return CpuSpec(
        family=family, size=size, vcpus=vcpus, earned_h=earned, is_assumed=family not in EARNED
    )


def _sizes_of(family: str) -> Mapping[str, tuple[int, float]]:
    """Return vCPUs and credits an hour of a family by size; of one that is not in AWS's table as it was read, those of T3."""
    return EARNED.get(family) or (EARNED["t3"] if _LIKE_T3.match(family) else {})


def is_burstable(instance_type: str, described: Item | None = None) -> bool:
    """True if a type has CPU credits: as AWS has ``described`` it, else by its family, t and a digit."""
    if described is not None and "BurstablePerformanceSupported" in described:
        return bool(described["BurstablePerformanceSupported"])
    return _T_FAMILY.match(plain_type(instance_type)[0]) is not None


def is_known(instance_type: str) -> bool:
    """True if the CPU credits of a type are known here."""
    family, size = plain_type(instance_type)
    return size in _sizes_of(family)


def _vcpus_of_size(size: str) -> int:
    """The vCPUs of a size as of every T family since T3; more do no harm where only a slope is judged."""
    multiple = size.partition("xlarge")[0]
    if "xlarge" not in size:
        return 2
    return 4 * int(multiple) if multiple.isdigit() else 4


def share(vcpus: float, of: int) -> str:
    """A load in words: ``60% of 2 vCPUs``."""
    return f"{vcpus / of:.0%} of {of} vCPU{'s' if of > 1 else ''}"


def _unsized(resource: Resource, instance_type: str) -> Resource:
    """The credits of a type without figures."""
    why = f"no figures of CPU credits are known here of type {instance_type}"
    if resource.level_metric == SURPLUS:
        return replace(
            resource,
            terms=replace(
                resource.terms, not_watched=f"{why}, and how much it may owe in Unlimited mode"
            ),
        )
    vcpus = _vcpus_of_size(plain_type(instance_type)[1])
    # More than any instance of this size can save up.
    capacity = vcpus * HOURS_KEPT.value * HOUR_S
    bucket = unsized_bucket(DAY_S, capacity=capacity)
    return replace(
        resource,
        bucket=bucket,
        limit=Limit(rate=bucket.burst, binding="cpu"),
        terms=replace(resource.terms, is_documented=False, is_sized=False, has_share=False),
        words=replace(resource.words, caveats=(why,)),
    )


def usd_vcpu_h_of(resource: Resource) -> float | None:
    """The price of a vCPU-hour of surplus; None where it is not known, as outside of a region's own zones."""
    detail: Detail | None = resource.detail
    if detail is None or detail.terms.usd_vcpu_h is None or resource.changes.place:
        return None
    return detail.terms.usd_vcpu_h.value


def _charge(resource: Resource, baseline: float) -> str:
    """Say what full load costs on an unlimited instance without credits."""
    usd_vcpu_h = usd_vcpu_h_of(resource)
    if usd_vcpu_h is None:
        return "price unknown"
    usd_h = usd_vcpu_h * (resource.limit.rate - baseline)
    return (
        f"{usd_h:.2f} USD an hour at full load ({usd_vcpu_h:g} USD a vCPU-hour over the baseline)"
    )


def _free_s(resource: Resource, bucket: Bucket) -> float:
    """Seconds of full load without credits until what is owed exceeds a day's earnings, which AWS does not bill."""
    return bucket.capacity / (resource.limit.rate - bucket.refill)


def surplus_usd_month(resource: Resource, past_load: PastLoad) -> float | None:
    """The price of the surplus in a month of such a load, by what AWS has charged where most of the time is known; None where either is not known."""
    charge, lasts_s = past_load.charge, len(past_load.asked) * past_load.period_s
    if charge is not None and charge.lasts_s >= lasts_s / 2 and charge.usd_month is not None:
        return charge.usd_month
    usd_vcpu_h, bucket = usd_vcpu_h_of(resource), resource.bucket
    if usd_vcpu_h is None or bucket is None or not past_load.asked:
        return None
    surplus = charged_a_month(bucket, past_load.asked, past_load.period_s)
    return usd_vcpu_h * surplus / HOUR_S


def larger_size(spec: CpuSpec, demand: float, largest: str = LARGEST) -> str:
    """The smallest size of the same family, up to ``largest``, that earns ``demand`` vCPUs, or nothing.

    Which sizes a family has that is not in the table, nobody knows.
    """
    for size, (_, earned) in EARNED.get(spec.family, {}).items():
        if earned * CREDIT_S / HOUR_S >= demand:
            return size
        if size == largest:
            break
    return ""


def cpu_example(
    help_text: str, *, defaults: Mapping[str, str] = MappingProxyType({}), **more: str
) -> Example:
    """The terms of an instance type with CPU credits."""
    return Example(
        spec={"type": help_text, **more},
        load={"cpu_percent": "the load in percent of all vCPUs"},
        unit="credit",
        unit_size=CREDIT_S,
        defaults=defaults,
    )


def larger_fix(
    detail: Detail,
    demand: float,
    *,
    without_credits: str,
    verb: str = "change to",
    prefix: str = "",
    takes: Takes = STOPS,
    usd_month: float | None = None,
    commands_for: Callable[[str], tuple[Command, ...]],
) -> Iterator[Fix]:
    """A larger instance of the family, or one ``without_credits``, in words, where none earns enough; nothing where it earns enough.

    ``verb`` is how the action begins, for what can be changed or has to be made anew. ``commands_for`` gives the commands of a change to a type. Which type has no credits and suits is a person's choice.
    """
    spec = detail.spec
    demand = min(demand, spec.vcpus)  # the worst case takes more than the vCPUs can spend
    if demand <= spec.baseline:
        return
    size = larger_size(spec, demand, detail.terms.largest)
    if not size:
        yield Fix(
            action=f"{verb} {without_credits}",
            effect="never slows down",
            takes=takes,
            afterwards=Afterwards(bucket=None),
        )
        return
    name = f"{prefix}{spec.family}.{size}"
    yield Fix(
        action=f"{verb} {name}",
        effect=f"covers the current load of {number(demand)} vCPU",
        takes=takes,
        usd_month=usd_month,
        commands=commands_for(name),
        afterwards=Afterwards(bucket=cpu_spec(name).bucket),
    )


class BurstableCpu(Kind):
    """A kind of instances with CPU credits: what they share."""

    is_percent = False
    demand_metrics = (DemandMetric(name=USAGE),)
    limits = MappingProxyType({"cpu": "its vCPUs"})

    def credits_of(
        self,
        thing: Thing,
        instance: Instance,
        *,
        metric: str,
        is_unlimited: bool,
        starts_empty: bool,
        terms: Terms = Terms(),
    ) -> Resource:
        """The credits of one instance, with ``metric`` as its level.

        Of a type that is not in AWS's table only the balance is judged. What such a one owes in
        Unlimited mode cannot be: how much may be owed is not known.
        """
        resource = Resource(
            kind=self.name,
            id=self.resource_id(thing.id),
            level_metric=metric,
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=None,
            limit=Limit(rate=0.0, binding="cpu"),
            terms=BucketTerms(
                highest_verdict=COSTS_MONEY if is_unlimited else "exhausted",
                starts_empty=starts_empty,
            ),
            reporting=Reporting(
                # No page says of which instant in its five minutes a balance is.
                statistic="Average",
                in_use=instance.in_use,
                in_use_since_s=instance.since_s,
                published_every_s=PERIOD_S,
                reports_when_idle=True,
                history_from_s=instance.since_s,
            ),
            least_lead_s=LEAD_S,
            words=Words(
                credit_name="free CPU credits" if is_unlimited else "CPU credits",
                spend_unit=VCPU,
                rate_unit=VCPU,
                facts={"type": instance.type, "instance_type": instance.type},
            ),
        )
        if not is_known(instance.type):
            return _unsized(resource, instance.type)
        spec = cpu_spec(instance.type)
        return replace(
            resource,
            bucket=spec.bucket,
            terms=replace(
                resource.terms,
                launch_ratio=spec.launch_ratio if resource.level_metric == BALANCE else 0.0,
            ),
            limit=Limit(rate=float(spec.vcpus), binding="cpu"),
            least_lead_s=least_lead_s(spec),
            words=replace(
                resource.words,
                facts={
                    **resource.words.facts,
                    "baseline": f"{spec.baseline:g}",
                    "burst": f"{spec.vcpus:g}",
                },
                caveats=spec.caveats,
            ),
            spec={"type": instance.type},
            detail=Detail(spec=spec, terms=terms),
        )

    def to_ratio(self, resource: Resource, value: float) -> float:
        """The share of the bucket of a balance in credits, or of a surplus that is owed.

        Launch credits of T2 come on top of a full bucket; they are left out, which is the safe side.
        """
        if resource.bucket is None:
            return 1.0
        ratio = value * CREDIT_S / resource.bucket.capacity
        return max(0.0, 1.0 - ratio) if resource.level_metric == SURPLUS else min(1.0, ratio)

    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """The credits that AWS has charged; of a type without figures the slope of the balance tells."""
        charged = totals.get(USAGE)
        if charged is None or not resource.terms.is_sized:
            return None
        return demand_point(resource, start_s, period_s, charged * CREDIT_S / period_s)

    def may_be_charged(self, resource: Resource) -> bool:
        """True for an instance that owes a surplus."""
        return bool(self.charge_metric) and resource.level_metric == SURPLUS

    def usd_credit(self, resource: Resource) -> float | None:
        """The price of a surplus credit, which is a vCPU for a minute."""
        usd_vcpu_h = usd_vcpu_h_of(resource)
        return None if usd_vcpu_h is None else usd_vcpu_h * CREDIT_S / HOUR_S

    def cause(self, resource: Resource, rates: RatesByMetric) -> Cause | None:
        """The CPU load of the last minutes, in words."""
        if USAGE not in rates or not resource.limit.rate or not resource.terms.is_sized:
            return None
        vcpus = rates[USAGE] * CREDIT_S
        return Cause(text=f"CPU at {share(vcpus, round(resource.limit.rate))}", rate=vcpus)

    def what_helps(
        self, resource: Resource, level: float, demand: float, rates: RatesByMetric
    ) -> tuple[Fix, ...]:
        """The soonest fixes; where nothing slows down they are for the money alone, which the first line says."""
        fixes = super().what_helps(resource, level, demand, rates)
        if resource.terms.is_throttled:
            return fixes
        return tuple(
            replace(fix, action=f"nothing slows down; to save money {fix.action}")
            if fix.is_less_load
            else fix
            for fix in fixes
        )

    def at_zero(self, resource: Resource) -> AtZero:
        """Say what is left at zero: the baseline, or in Unlimited mode everything, for money."""
        if resource.bucket is None:
            return AtZero()
        if not resource.terms.is_throttled:
            price = _charge(resource, resource.bucket.refill)
            if resource.level_metric == SURPLUS:
                return AtZero(short="extra CPU is billed", note=price)
            free_s = _free_s(resource, resource.bucket)
            note = "not slowed, uses surplus credits"
            return AtZero(
                short=f"billed after {span(free_s)} more",
                note=", ".join(filter(None, [note, price])),
            )
        baseline = share(resource.bucket.refill, round(resource.limit.rate))
        return AtZero(short=baseline, note=SLOWED)

    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """An instance of a type that must be in AWS's table."""
        if is_burstable(spec["type"]):
            cpu_spec(spec["type"])
        return self.listed(spec)

    @abstractmethod
    def listed(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """What AWS would list of an instance of the stated type."""

    def totals(self, resource: Resource, load: Mapping[str, float]) -> Totals:
        """The credits of one second of a load in percent of all vCPUs."""
        return {USAGE: load["cpu_percent"] / PERCENT * resource.limit.rate / CREDIT_S}

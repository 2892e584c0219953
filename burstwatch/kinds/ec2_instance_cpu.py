"""EC2 instances of the T families: CPU credits.

In Standard mode an instance without credits slows down to its baseline. In Unlimited mode it
goes on and owes a surplus, of which what exceeds a day's earnings is charged. That costs money
and harms nobody, so it never pages.

The surplus alone is the level of an Unlimited instance. Credits that it has saved as well make
the time longer than the one stated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from burstwatch.fixes import Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu
from burstwatch.kinds._ec2 import (
    INSTANCE_TYPES,
    INSTANCES,
    PAGE_SIZE,
    TAGGING,
    is_instance_running,
    is_restarted,
    started_at,
    types_in,
)
from burstwatch.kinds.base import (
    Item,
    Kind,
    Listing,
    Lookup,
    RatesByMetric,
    Related,
    Thing,
    identified_by,
)
from burstwatch.sources import Figure, Source

UNLIMITED_PAGE = Source(
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html",
    read="2023-06",
    note="Linux in us-east-1; Windows costs more. T4g as reported by users",
)
#: Price of a vCPU-hour of surplus credits, by family.
SURPLUS_USD: dict[str, Figure] = {
    "t2": Figure(value=0.05, unit="USD/vCPU-h", source=UNLIMITED_PAGE),
    "t3": Figure(value=0.05, unit="USD/vCPU-h", source=UNLIMITED_PAGE),
    "t3a": Figure(value=0.05, unit="USD/vCPU-h", source=UNLIMITED_PAGE),
    "t4g": Figure(value=0.04, unit="USD/vCPU-h", source=UNLIMITED_PAGE),
}
#: The price above holds in these regions.
PRICED_REGIONS = frozenset({"us-east-1"})
LIST_PRICE_PAGE = Source(
    url="https://aws.amazon.com/ec2/pricing/on-demand/",
    read="2018-08",
    note="Linux in us-east-1 at the launch of T3, as reported by others",
)
#: USD an hour by size of T3.
T3_USD: dict[str, Figure] = {
    size: Figure(value=value, unit="USD/h", source=LIST_PRICE_PAGE)
    for size, value in {
        "nano": 0.0052,
        "micro": 0.0104,
        "small": 0.0209,
        "medium": 0.0418,
        "large": 0.0835,
        "xlarge": 0.167,
        "2xlarge": 0.3341,
    }.items()
}
MODES, TYPES = "credit_specifications", "instance_types"
STANDARD, UNLIMITED = "standard", "unlimited"


#: Without ids it has those that are or were Unlimited; any other is in Standard mode.
CREDIT_SPECIFICATIONS = Listing(
    service="ec2",
    operation="DescribeInstanceCreditSpecifications",
    items="InstanceCreditSpecifications[]",
    identify=identified_by("InstanceId"),
    page_size=PAGE_SIZE,
)


def _has_credits(lists: Mapping[str, Sequence[Item]]) -> Callable[[Item], bool]:
    """Return a test of instances for a burstable type: of the others nobody asks for a mode."""
    types = {described.get("InstanceType"): described for described in lists[TYPES]}

    def is_burstable(instance: Item) -> bool:
        name = instance.get("InstanceType", "")
        return _cpu.is_burstable(name, types.get(name))

    return is_burstable


def describe(thing: Thing, related: Related, now: float) -> Iterator[Resource]:
    """The credits of one instance; none for a type without credits."""
    instance_type = thing.item["InstanceType"]
    if not _cpu.is_burstable(instance_type, related[TYPES].get(instance_type)):
        return
    family = instance_type.partition(".")[0]
    is_unlimited = related[MODES].get(thing.id, {}).get("CpuCredits") == UNLIMITED
    is_linux = not thing.item.get("Platform")
    is_priced = is_linux and thing.unit.rpartition("/")[2] in PRICED_REGIONS
    resource = _cpu.resource_of(
        thing,
        _cpu.Instance(
            type=instance_type,
            since_s=started_at(thing.item),
            in_use=is_instance_running(thing.item),
        ),
        kind=KIND,
        metric=_cpu.SURPLUS if is_unlimited else _cpu.BALANCE,
        is_unlimited=is_unlimited,
        # An Unlimited one owes nothing yet. T2 begins with launch credits, but only at the first hundred starts of
        # a day. The others keep what they have for seven days after a stop, so a start without credits is only
        # normal if it is the first.
        starts_empty=not is_unlimited and (family == "t2" or not is_restarted(thing.item)),
        usd_vcpu_h=SURPLUS_USD.get(family) if is_priced else None,
    )
    mode = UNLIMITED if is_unlimited else STANDARD
    yield replace(resource, spec={**resource.spec, "mode": mode} if resource.spec else {})


def fixes(resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
    """Unlimited mode with its price at this load, or a larger instance."""
    detail: _cpu.Detail = resource.detail
    spec, usd = detail.spec, detail.usd_vcpu_h
    beyond = min(demand, spec.vcpus) - spec.baseline
    if resource.level_metric == _cpu.BALANCE:
        yield Fix(
            action="switch to Unlimited mode",
            effect="the instance does not slow down, and AWS charges further vCPU-hours",
            takes="works at once",
            usd_month=None if usd is None else usd.value * beyond * _cpu.HOURS_A_MONTH,
        )
    yield _cpu.larger_fix(
        spec, demand, word="an instance type", usd_month=_more_usd(detail, demand)
    )


def _more_usd(detail: _cpu.Detail, demand: float) -> float | None:
    """Price difference of the larger instance in USD a month; None where it is not known."""
    spec = detail.spec
    size = _cpu.larger_size(spec, demand)
    if spec.family != "t3" or detail.usd_vcpu_h is None or not size:
        return None
    return (T3_USD[size].value - T3_USD[spec.size].value) * _cpu.HOURS_A_MONTH


def _item(spec: Mapping[str, str]) -> tuple[Item, Related]:
    mode = spec.get("mode", STANDARD)
    if mode not in {STANDARD, UNLIMITED}:
        msg = f"mode must be {STANDARD} or {UNLIMITED}, got {mode!r}"
        raise ValueError(msg)
    item = {"InstanceId": "i-example", "InstanceType": spec["type"]}
    return item, {TYPES: {}, MODES: {"i-example": {"CpuCredits": mode}}}


KIND = Kind(
    name="ec2_instance_cpu",
    namespace="AWS/EC2",
    dimensions=("InstanceId",),
    part="cpu",
    inventory=INSTANCES,
    tagging=TAGGING,
    lookups=(
        # Which types have credits.
        Lookup(name=TYPES, listing=INSTANCE_TYPES, find_ids=types_in("inventory")),
        Lookup(name=MODES, listing=CREDIT_SPECIFICATIONS, is_needed=True, concerns=_has_credits),
    ),
    level_metrics=(_cpu.BALANCE, _cpu.SURPLUS),
    demand_metrics=_cpu.DEMAND_METRICS,
    describe=describe,
    to_ratio=_cpu.to_ratio,
    spent=_cpu.spent,
    console="ec2/home?region={region}#InstanceDetails:instanceId={id}",
    limits=_cpu.LIMITS,
    cause=_cpu.cause,
    at_zero=_cpu.at_zero,
    fixes=fixes,
    example=_cpu.cpu_example(
        "an instance type, such as t3.medium", _item, mode="standard (default) or unlimited"
    ),
)

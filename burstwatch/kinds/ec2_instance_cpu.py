"""EC2 instances of the T families: CPU credits.

In Standard mode an instance without credits slows down to its baseline. In Unlimited mode it
goes on and owes a surplus, of which what exceeds a day's earnings is charged. That costs money
and harms nobody, so it never pages.

The surplus alone is the level of an Unlimited instance. Credits that it has saved as well make
the time longer than the one stated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from burstwatch.fixes.fix import STOPS, Afterwards, Command, Fix
from burstwatch.fixes.prices import HOURS_A_MONTH, price
from burstwatch.formatting import InputError
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu
from burstwatch.kinds._ec2 import (
    INSTANCE_TYPES,
    INSTANCES,
    PAGE_SIZE,
    TAGGING,
    is_instance_running,
    is_restarted,
    managed_by,
    place_of_instance,
    replaced_by,
    retyped,
    started_at,
    types_in,
)
from burstwatch.kinds.base import (
    Item,
    Listing,
    Lookup,
    PastLoad,
    RatesByMetric,
    Related,
    Thing,
    identified_by,
)
from burstwatch.shards import thing_id

SURPLUS, ON_DEMAND = "ec2_surplus", "ec2_linux"
#: "T3 instances with host tenancy do not support the unlimited CPU credit option":
#: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceCreditSpecificationRequest.html (2026-11)
DEDICATED_HOST = "host"
LINUX, WINDOWS = "Linux/UNIX", "Windows"
#: Software whose surplus costs the same.
SAME_SURPLUS = frozenset({LINUX, "Red Hat Enterprise Linux", "SUSE Linux"})
#: A type without credits with the same vCPUs, memory and architecture.
WITHOUT_CREDITS = {
    "t3.medium": "c5.large",
    "t3.large": "m5.large",
    "t3.xlarge": "m5.xlarge",
    "t3.2xlarge": "m5.2xlarge",
    "t3a.medium": "c5a.large",
    "t3a.large": "m5a.large",
    "t3a.xlarge": "m5a.xlarge",
    "t3a.2xlarge": "m5a.2xlarge",
    "t4g.medium": "c6g.large",
    "t4g.large": "m6g.large",
    "t4g.xlarge": "m6g.xlarge",
    "t4g.2xlarge": "m6g.2xlarge",
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


def _unlimited_fix(resource: Resource) -> Fix:
    """Unlimited mode, without its price.

    "at any time on a running or stopped instance":
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html (2026-11)
    """
    return Fix(
        action="switch to Unlimited mode",
        effect="nothing is throttled; AWS bills the surplus until it is Standard again",
        takes="works immediately",
        has_downtime=False,
        commands=(_unlimited(thing_id(resource.id), resource.region),),
        afterwards=Afterwards(bucket=None),
    )


def _priced_unlimited_fix(resource: Resource, past_load: PastLoad) -> Fix:
    """Unlimited mode with its price for a month of such a load, or of full load where nobody knows what it asks for."""
    fix = _unlimited_fix(resource)
    if past_load.asked:
        return replace(fix, usd_month=_cpu.surplus_usd_month(resource, past_load))
    full = replace(past_load, asked=[resource.limit.rate])
    usd_month = _cpu.surplus_usd_month(resource, full)
    return replace(
        fix,
        effect=f"{fix.effect}: the price is that of full load, as nobody knows what it would ask for",
        usd_month=usd_month,
    )


def _unlimited(instance_id: str, region: str) -> Command:
    """The command that switches an instance to Unlimited mode."""
    modes = [{"InstanceId": instance_id, "CpuCredits": UNLIMITED}]
    return Command(
        service="ec2",
        operation="ModifyInstanceCreditSpecification",
        region=region,
        parameters={"InstanceCreditSpecifications": modes},
    )


def _more_usd(resource: Resource, demand: float) -> float | None:
    """Price difference of the larger instance in USD a month; None where it is not known."""
    detail: _cpu.Detail = resource.detail
    spec = detail.spec
    size = _cpu.larger_size(spec, demand)
    present, larger = (
        price(ON_DEMAND, resource.region, f"{spec.family}.{name}") for name in (spec.size, size)
    )
    if not detail.terms.is_listed or present is None or larger is None:
        return None
    return (larger.value - present.value) * HOURS_A_MONTH


class Ec2InstanceCpu(_cpu.BurstableCpu):
    """EC2 instances with CPU credits, in either mode."""

    name = "ec2_instance_cpu"
    namespace = "AWS/EC2"
    dimensions = ("InstanceId",)
    part = "cpu"
    inventory = INSTANCES
    tagging = TAGGING
    lookups = (
        # Which types have credits.
        Lookup(name=TYPES, listing=INSTANCE_TYPES, find_ids=types_in("inventory")),
        Lookup(name=MODES, listing=CREDIT_SPECIFICATIONS, is_needed=True, concerns=_has_credits),
    )
    level_metrics = (_cpu.BALANCE, _cpu.SURPLUS)
    charge_metric = _cpu.CHARGED
    console = "ec2/home?region={region}#InstanceDetails:instanceId={id}"
    spenders = "its processes (`pidstat -u 5 3`)"
    example = _cpu.cpu_example(
        "an instance type, such as t3.medium",
        defaults={"mode": STANDARD},
        mode=f"{STANDARD} (default) or {UNLIMITED}",
    )

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The credits of one instance; none for a type without credits."""
        instance_type = thing.item["InstanceType"]
        if not _cpu.is_burstable(instance_type, related[TYPES].get(instance_type)):
            return
        family = instance_type.partition(".")[0]
        if managed_by(thing.item) and thing.id not in related[MODES]:
            # AWS does not say that the list of modes has what it hides, and Standard mode would page.
            msg = "a service of AWS manages it, and AWS does not list its credit mode"
            raise ValueError(msg)
        is_unlimited = related[MODES].get(thing.id, {}).get("CpuCredits") == UNLIMITED
        # Red Hat and others cost more, and are no Platform; their surplus costs the same.
        is_windows = bool(thing.item.get("Platform"))
        software = thing.item.get("PlatformDetails", WINDOWS if is_windows else LINUX)
        surplus = family if software in SAME_SURPLUS else f"{family} {software}"
        tenancy = thing.item.get("Placement", {}).get("Tenancy")
        resource = self.credits_of(
            thing,
            _cpu.Instance(
                type=instance_type,
                since_s=started_at(thing.item),
                in_use=is_instance_running(thing.item),
            ),
            metric=_cpu.SURPLUS if is_unlimited else _cpu.BALANCE,
            is_unlimited=is_unlimited,
            # An Unlimited one owes nothing yet. T2 begins with launch credits, but only at the first hundred starts of
            # a day. The others keep what they have for seven days after a stop, so a start without credits is only
            # normal if it is the first.
            starts_empty=not is_unlimited and (family == "t2" or not is_restarted(thing.item)),
            terms=_cpu.Terms(
                usd_vcpu_h=price(SURPLUS, thing.unit.rpartition("/")[2], surplus),
                is_listed=software == LINUX,
                may_be_unlimited=tenancy != DEDICATED_HOST,
            ),
        )
        mode = UNLIMITED if is_unlimited else STANDARD
        yield replace(
            resource,
            spec={**resource.spec, "mode": mode} if resource.spec else {},
            changes=replace(
                resource.changes,
                managed_by=managed_by(thing.item),
                replaced_by=replaced_by(thing.item),
                place=place_of_instance(thing.item, thing.unit),
            ),
        )

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """Unlimited mode with its price at this load, where AWS has it, or a larger instance; nothing for one that never slows down."""
        detail: _cpu.Detail = resource.detail
        if resource.level_metric == _cpu.SURPLUS:
            return
        beyond = min(demand, detail.spec.vcpus) - detail.spec.baseline
        if beyond > 0 and detail.terms.may_be_unlimited:
            usd_vcpu_h = _cpu.usd_vcpu_h_of(resource)
            usd_hour = None if usd_vcpu_h is None else usd_vcpu_h * beyond
            yield replace(_unlimited_fix(resource), usd_hour=usd_hour)
        yield from _cpu.larger_fix(
            detail,
            demand,
            without_credits="an instance type without CPU credits",
            usd_month=_more_usd(resource, demand),
            commands_for=partial(retyped, thing_id(resource.id), resource.region),
        )

    def usd_month(self, resource: Resource) -> float | None:
        """The price of an instance with Linux, without its surplus credits."""
        detail: _cpu.Detail | None = resource.detail
        figure = price(ON_DEMAND, resource.region, resource.words.facts["instance_type"])
        if detail is None or not detail.terms.is_listed or figure is None:
            return None
        return figure.value * HOURS_A_MONTH

    def savings(self, resource: Resource, past_load: PastLoad) -> Iterator[Fix]:
        """Unlimited mode at the price of such a month; a type without credits where the surplus costs more than that.

        A larger T size never costs less than the surplus: its price grows faster than its credits.
        """
        detail: _cpu.Detail | None = resource.detail
        if detail is None:
            return
        if resource.level_metric == _cpu.BALANCE:
            if detail.terms.may_be_unlimited:
                yield _priced_unlimited_fix(resource, past_load)
            return
        surplus_usd = _cpu.surplus_usd_month(resource, past_load)
        present_type = resource.words.facts["instance_type"]
        fixed_type = WITHOUT_CREDITS.get(present_type, "")
        now, fixed = (
            price(ON_DEMAND, resource.region, name) for name in (present_type, fixed_type)
        )
        if surplus_usd is None or not detail.terms.is_listed or now is None or fixed is None:
            return
        yield Fix(
            action=f"change to {fixed_type}",
            effect="has the same vCPUs and memory and no CPU credits; "
            f"its surplus costs {surplus_usd:,.2f} USD a month now",
            takes=STOPS,
            usd_month=(fixed.value - now.value) * HOURS_A_MONTH - surplus_usd,
            commands=retyped(thing_id(resource.id), resource.region, fixed_type),
            afterwards=Afterwards(bucket=None),
        )

    def listed(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """An instance in the stated mode."""
        mode = spec.get("mode", STANDARD)
        if mode not in {STANDARD, UNLIMITED}:
            msg = f"must be {STANDARD} or {UNLIMITED}, got {mode!r}"
            raise InputError(msg, name="mode")
        item = {"InstanceId": "i-example", "InstanceType": spec["type"]}
        return item, {TYPES: {}, MODES: {"i-example": {"CpuCredits": mode}}}


KIND = Ec2InstanceCpu()

"""The contract: what a resource type declares, so that one engine can watch it.

A kind is a class of data and pure functions, in one file of this folder. It owns the dialect of its
API. The engine in ``burstwatch/aws`` never sees a filter, a tag list or a percent: it
lists, reads, projects and alarms whatever is declared here. A conformance test holds every
name in a kind against AWS's own service models.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from burstwatch.fixes.fix import (
    Fix,
    applied_now,
    at_night,
    dashed,
    less_load,
    managed_fix,
    not_stopped,
    soonest,
    wait_fix,
)
from burstwatch.fixes.surplus import Charge
from burstwatch.formatting import InputError, number
from burstwatch.history.observations import BucketTerms, Resource
from burstwatch.history.points import AT_LIMIT, DemandPoint
from burstwatch.kinds._names import name_from_tags
from burstwatch.shards import WHOLE, Shard, thing_id

PERCENT = 100.0

Item: TypeAlias = dict[str, Any]  # one element of an AWS response
Arguments: TypeAlias = dict[str, Any]  # keyword arguments of an AWS call
#: Finds ids in the lists that have been read so far, by name.
IdFinder: TypeAlias = "Callable[[Mapping[str, Sequence[Item]]], set[str]]"
#: The items of each lookup, by id.
Related: TypeAlias = "Mapping[str, Mapping[str, Item]]"
#: Amounts of one period, by metric.
Totals: TypeAlias = "Mapping[str, float]"
#: Mean amounts a second of the last minutes, by metric.
RatesByMetric: TypeAlias = "Mapping[str, float]"


#: The unit of a resource that is described by hand.
BY_HAND = "example"


def is_by_hand(unit: str) -> bool:
    """True for the unit of a resource that is described by hand; a region may follow the word."""
    return unit.partition("/")[0] == BY_HAND


#: Far beyond any size or rate, and far from what a float cannot hold.
LARGEST = 1e9


def float_in(
    spec: Mapping[str, str], name: str, *, low: float = 0.0, high: float = LARGEST
) -> float:
    """A number of a description by hand: from ``low``, and above 0, to ``high``.

    Raises:
        ValueError: naming the value and what is allowed.
    """
    try:
        value = float(spec[name])
    except ValueError:
        value = -1.0
    if not (value > 0 and low <= value <= high):
        least = f"at least {low:g}" if low else "above 0"
        msg = f"must be {least} and at most {high:g}, got {spec[name]!r}"
        raise InputError(msg, name=name)
    return value


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The items that a read should return: with a tag, of a shard, with these ids or parents.

    A listing narrows its call by as much of it as its API can. The engine checks the rest itself,
    on the described resources.
    """

    tag: tuple[str, str] | None = None
    shard: Shard = WHOLE
    ids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    """One inventory item in the same shape for every API. ``item`` is AWS's own answer.

    ``name`` is what people call it. The engine fills in the ``unit``.
    """

    id: str
    name: str
    tags: Mapping[str, str]
    item: Item
    unit: str = ""


def identified_by(id_field: str, *, tags_field: str = "Tags") -> Callable[[Item], Thing]:
    """An ``identify`` for items with this id and a list of tags, which have the name."""

    def identify(item: Item) -> Thing:
        tags = {tag["Key"]: tag["Value"] for tag in item.get(tags_field, ())}
        return Thing(id=item[id_field], name=name_from_tags(tags), tags=tags, item=item)

    return identify


def terms_without(what: str, value: object, *, known: Collection[str]) -> BucketTerms:
    """The terms of a thing that has no credits because of a ``value``; one that is not ``known`` may have some."""
    if value in known:
        return BucketTerms(no_bucket_reason=f"{value} {what} has no burst credits")
    return BucketTerms(not_watched=f"whether {value} {what} has burst credits is not known here")


def waiting_changes(item: Item) -> tuple[str, ...]:
    """The names of the changes of a database or a node that wait for its maintenance window, as the AWS CLI has them."""
    pending = item.get("PendingModifiedValues") or {}
    return tuple(dashed(name) for name, value in pending.items() if value not in (None, "", [], {}))


def place_of(zone: str, unit: str, *, outpost: str = "") -> str:
    """The place of a thing outside of the zones of its region: an Outpost, a Local Zone, or a Wavelength Zone; else nothing.

    A zone of the region itself has its name and one letter:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-regions-availability-zones.html (2026-11)
    """
    region = unit.rpartition("/")[2]
    if outpost:
        return f"the Outpost {outpost.rpartition('/')[2]}"
    return zone if zone.startswith(region) and len(zone) > len(region) + 1 else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TagListing:
    """Where the tags of a listing's items come from, if its answers have none.

    ``listing`` has things whose id is an ARN; ``arn`` gives that of an item.
    """

    listing: "Listing"
    arn: Callable[[Item], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """One read operation: how to call it, and how to read its answer.

    ``operation`` is AWS's name (``DescribeVolumes``), ``items`` the path of the list in the
    answer (``Reservations[].Instances[]``). ``identify`` gives an item its common shape. ``arguments`` are those of the
    call for a scope; an API without filters takes none. ``ids_per_call`` is how many ids of
    a scope one call takes. ``page_size`` is what is asked for, 0 where AWS alone says how long a page is, and AWS refuses more than the
    operation allows; None is for an operation without pages. ``iam_prefix`` is for a service whose permissions have
    another name, ``tags`` for an API that lists things without their tags. ``has_names`` is for things whose ids people
    choose: those of two regions can be the same.
    """

    service: str
    operation: str
    items: str
    identify: Callable[[Item], Thing]
    arguments: Callable[[Scope], Arguments] = lambda _scope: {}
    ids_per_call: int = 100
    page_size: int | None
    iam_prefix: str = ""
    tags: TagListing | None = None
    has_names: bool = False

    @property
    def iam_action(self) -> str:
        """The permission that the call needs."""
        return f"{self.iam_prefix or self.service}:{self.operation}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """Further items that a resource's description needs, such as its parents.

    ``find_ids`` gives their ids from what has been found so far; without it the list is read whole.
    ``is_needed`` is for one without which nothing can be said of the items that it concerns: ``concerns``
    says which, by what has been found so far.
    """

    name: str
    listing: Listing
    find_ids: "IdFinder | None" = None
    is_needed: bool = False
    concerns: Callable[[Mapping[str, Sequence[Item]]], Callable[[Item], bool]] = lambda _lists: (
        lambda _item: True
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tagging:
    """The calls that put a tag on a thing and take it away.

    ``target`` gives the arguments that name the thing. ``removed`` gives those that name the tag to take away.
    ``arns`` are what the things' ARNs look like after the partition, as a policy names them.
    """

    service: str
    put_operation: str
    remove_operation: str
    arns: tuple[str, ...]
    target: Callable[[Thing], Arguments]
    removed: Callable[[str], Arguments] = lambda key: {"TagKeys": [key]}

    @property
    def put_action(self) -> str:
        """The permission to put a tag on a thing."""
        return f"{self._iam_prefix}:{self.put_operation}"

    @property
    def remove_action(self) -> str:
        """The permission to take a tag away."""
        return f"{self._iam_prefix}:{self.remove_operation}"

    @property
    def _iam_prefix(self) -> str:
        return self.arns[0].partition(":")[0]

    def put(self, thing: Thing, key: str, value: str) -> Arguments:
        """The arguments of the call that puts a tag on a thing."""
        return {**self.target(thing), "Tags": [{"Key": key, "Value": value}]}

    def remove(self, thing: Thing, key: str) -> Arguments:
        """The arguments of the call that takes a tag away."""
        return {**self.target(thing), **self.removed(key)}


@dataclass(frozen=True, kw_only=True, slots=True)
class DemandMetric:
    """A metric of what is spent. ``is_rate``: per second, rather than a total over the period."""

    name: str
    statistic: Literal["Sum", "Average"] = "Sum"
    is_rate: bool = False

    def total(self, value: float, period_s: float) -> float:
        """The amount over a period that a datapoint stands for."""
        return value * period_s if self.is_rate else value


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitCheck:
    """A metric of AWS that tells whether a limit is exceeded, and that limit in words.

    It is 1 while it is, or a percentage of the limit where ``is_percent``. ``dimensions`` gives those of a resource, or
    nothing for one that has no such metric. Where there is no datapoint nothing is known.
    """

    metric: str
    limit: str
    dimensions: Callable[[Resource], tuple[tuple[str, str], ...]]
    is_percent: bool = False

    def exceeded_share(self, values: Sequence[float]) -> float:
        """The share of some datapoints in which it was exceeded."""
        if self.is_percent:
            return sum(value >= AT_LIMIT * PERCENT for value in values) / len(values)
        return sum(values) / len(values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """The recent demand in words, and how much of it counts against the limit.

    ``rate`` is in the resource's ``rate_unit``.
    """

    text: str
    rate: float


#: The share of all periods that a size must serve. The rest are minutes of a fortnight.
SERVED_SHARE = 0.999


def peak(values: Iterable[float]) -> float:
    """The value that all but a thousandth of them do not exceed; 0 without any."""
    ordered = sorted(values)
    return ordered[math.ceil(SERVED_SHARE * len(ordered)) - 1] if ordered else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AtZero:
    """The rest that a resource has without credits, short enough for a title: ``300 of 3,000 IOPS``.

    ``note`` says more of it. Both are empty where there is no bucket.
    """

    short: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """All of it in one phrase."""
        return ", ".join(filter(None, [self.short, self.note]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """The terms in which a resource is described by hand, for `whatif` and `explain`.

    ``spec`` and ``load`` are names of values with their help; ``defaults`` are the values that need not be given, and
    ``optional`` the names that can be left out. ``unit`` is that of a credit as AWS counts it, which is ``unit_size``
    of the bucket's.
    """

    spec: Mapping[str, str]
    load: Mapping[str, str]
    unit: Literal["io", "MiB", "credit"]
    unit_size: float = 1.0
    defaults: Mapping[str, str] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    @property
    def needed(self) -> tuple[str, ...]:
        """The names without which a resource is not described."""
        return tuple(name for name in self.spec if name not in self.optional | self.defaults.keys())


@dataclass(frozen=True, kw_only=True, slots=True)
class PastLoad:
    """The load of many periods of ``period_s``, each as its rates by metric.

    ``asked`` are credits a second that each asked for, None where that is not known: an empty bucket serves less.
    ``charge`` is what AWS has charged for credits in this time, None where that is not known. ``is_enough`` where the
    reader wants no more than this load to be served, and not all that is served today.
    """

    periods: Sequence[RatesByMetric]
    asked: Sequence[float | None] = ()
    period_s: float = 0.0
    charge: Charge | None = None
    is_enough: bool = False


class Kind(ABC):
    """A resource type that has buckets: a class for each, which has no state.

    Names: ``namespace`` and ``dimensions`` are CloudWatch's. ``level_metrics`` say how much
    is left, in percent if ``is_percent``; ``demand_metrics`` what is spent. ``columns`` are the short names of metrics
    in the files that burstwatch writes.

    Identity: ``part`` is the suffix of its resources' ids, where another kind has the same things.

    Money: ``charge_metric`` counts the credits that AWS has charged for; most kinds have none.

    Inventory: ``inventory`` lists the things, ``tagging`` puts a tag on one, ``lookups`` list
    what their description needs besides.

    ``checks`` say which limit binds now; they are read only near a page, and for a person. ``limits`` names each
    binding limit. ``console`` is the path of a resource's page in AWS's console, with ``{region}`` and ``{id}``.
    ``example`` has the terms in which a resource is described that nobody has listed. ``spenders`` says where somebody
    sees who uses the credits: the end of a line that begins with *Look at*.
    """

    name: ClassVar[str]
    namespace: ClassVar[str]
    dimensions: ClassVar[tuple[str, ...]]
    part: ClassVar[str] = ""
    level_metrics: ClassVar[tuple[str, ...]]
    charge_metric: ClassVar[str] = ""
    is_percent: ClassVar[bool] = True
    demand_metrics: ClassVar[tuple[DemandMetric, ...]]
    columns: ClassVar[Mapping[str, str]] = MappingProxyType({})
    checks: ClassVar[tuple[LimitCheck, ...]] = ()
    inventory: ClassVar[Listing]
    tagging: ClassVar[Tagging]
    lookups: ClassVar[tuple[Lookup, ...]] = ()
    console: ClassVar[str]
    limits: ClassVar[Mapping[str, str]]
    example: ClassVar[Example]
    spenders: ClassVar[str]

    @abstractmethod
    def describe(self, thing: Thing, related: Related, now: float) -> Iterable[Resource]:
        """One resource for each bucket of a thing; ``related`` is what the lookups found.

        Raises:
            ValueError: for a thing of which nothing can be said.
        """

    def to_ratio(self, resource: Resource, value: float) -> float:
        """The share of the bucket that is left, 0 to 1, of a level's value."""
        return value / PERCENT

    @abstractmethod
    def spent(
        self, resource: Resource, totals: Totals, start_s: float, period_s: float
    ) -> DemandPoint | None:
        """Credits a second of one period's amounts, by metric name, or None where they do not tell."""

    @abstractmethod
    def cause(self, resource: Resource, rates: RatesByMetric) -> Cause | None:
        """What was asked for in the last minutes, in words; None where it is not known."""

    def spenders_of(self, resource: Resource) -> str:
        """Where somebody sees who uses the credits of one resource."""
        return self.spenders

    def at_zero(self, resource: Resource) -> AtZero:
        """What is left of a resource whose bucket is empty: here it is throttled to its baseline."""
        if resource.bucket is None:
            return AtZero()
        burst, baseline = number(resource.bucket.burst), number(resource.bucket.refill)
        return AtZero(short=f"{baseline} of {burst} {resource.words.rate_unit}")

    @abstractmethod
    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterable[Fix]:
        """The changes that serve ``demand`` credits a second, of those that AWS takes; ``rates`` are of the same load."""

    def may_be_charged(self, resource: Resource) -> bool:
        """True if AWS may charge for what a resource spends without credits, and publishes how much."""
        return False

    def usd_credit(self, resource: Resource) -> float | None:
        """The price of a credit that AWS has charged for; None where it is not known."""
        return None

    def usd_month(self, resource: Resource) -> float | None:
        """The list price of a resource; None where it is not known."""
        return None

    def savings(self, resource: Resource, past_load: PastLoad) -> Iterable[Fix]:
        """The changes that cost less at the load of the days before."""
        return ()

    @abstractmethod
    def item_by_hand(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """What AWS would list of a resource that is described by hand, with what the lookups would find.

        Raises:
            ValueError: naming the value that is out of range.
            KeyError: with the name that is missing.
        """

    @abstractmethod
    def totals(self, resource: Resource, load: Mapping[str, float]) -> Totals:
        """The amounts of one second of a load that is described by hand, by metric."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that the kind reads."""
        return (*self.level_metrics, *(metric.name for metric in self.demand_metrics))

    @property
    def listings(self) -> tuple[Listing, ...]:
        """Every operation that the kind reads."""
        tags = self.inventory.tags
        lookups = (lookup.listing for lookup in self.lookups)
        return (self.inventory, *([tags.listing] if tags else []), *lookups)

    def changes(
        self,
        resource: Resource,
        demand: float,
        rates: RatesByMetric,
        *,
        past_load: PastLoad | None = None,
    ) -> list[Fix]:
        """The changes that serve ``demand`` credits a second; or why AWS takes none now, and what there is to do.

        With a ``past_load`` also those that cost less.
        """
        fixes: list[Fix] = []
        if resource.bucket is not None and resource.terms.is_sized:
            fixes += self.fixes(resource, demand, rates)
        if past_load is not None:
            fixes += self.savings(resource, past_load)
        if fixes and resource.changes.managed_by:
            return [managed_fix(resource.changes.managed_by)]
        if fixes and resource.changes.under_way:
            return [wait_fix(resource.changes.under_way)]
        if resource.changes.place:
            fixes = [replace(fix, usd_month=None) for fix in fixes if not fix.names_type]
        if is_by_hand(resource.unit):  # nobody can change an example
            return [replace(fix, is_example=True) for fix in fixes]
        window, waiting = resource.changes.window, resource.changes.waiting
        return [
            applied_now(
                not_stopped(fix, resource.changes.replaced_by), window=window, waiting=waiting
            )
            for fix in fixes
        ]

    def may_be_advised(self, resource: Resource) -> bool:
        """True if a change of a resource could help: it has a bucket of a known size, or its rates may be lowered."""
        has_bucket = resource.bucket is not None and resource.terms.is_sized
        return has_bucket or (resource.bucket is None and self.present_usd(resource) is not None)

    def present_usd(self, resource: Resource) -> float | None:
        """The price of a resource for a month; None where it is not known, as outside of a region's own zones."""
        return None if resource.changes.place else self.usd_month(resource)

    def what_helps(
        self, resource: Resource, level: float, demand: float, rates: RatesByMetric
    ) -> tuple[Fix, ...]:
        """The soonest fixes when ``level`` credits are left at ``demand`` credits a second: less load, or a change.

        Of a change that cannot be undone it has no command.
        """
        bucket, unit = resource.bucket, resource.words.rate_unit
        if bucket is None or not resource.terms.is_sized:
            return ()
        less = less_load(bucket, level=level, demand=demand, unit=unit)
        return soonest([less, *at_night(self.changes(resource, demand, rates))])

    def resource_id(self, thing: str) -> str:
        """The id of the resource of a thing with this id."""
        return f"{thing}.{self.part}" if self.part else thing

    def dimensions_of(self, resource: Resource) -> tuple[tuple[str, str], ...]:
        """The CloudWatch dimensions of one resource, as pairs of name and value."""
        values = resource.dimensions or (thing_id(resource.id),)
        return tuple(zip(self.dimensions, values, strict=True))

"""What a resource type must declare, so that one engine can watch it.

A kind is data and pure functions, in one file of ``kinds/``. The engine in
``burstwatch/aws`` lists, queries and projects whatever is declared here; a
conformance test holds every name in it against AWS's own service models.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from burstwatch.ebs.fixes import Fix
    from burstwatch.ebs.load import Load, Traffic
    from burstwatch.history.observations import Resource
    from burstwatch.history.points import DemandPoint

Item = dict[str, Any]  # one element of an AWS response


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """One paged read operation and what is taken from its response.

    ``operation`` is AWS's name (``DescribeVolumes``), ``items`` the path of the
    list in the response (``Reservations[].Instances[]``), ``id_field`` the key of
    an item, ``fields`` every path inside an item that the kind's functions read.
    ``page_size`` is what is asked for; AWS refuses more than the operation allows.
    ``id_filter`` is the operation's filter by ``id_field``, for a unit that is read in shards.
    """

    service: str
    operation: str
    items: str
    id_field: str
    fields: tuple[str, ...]
    page_size: int = 500
    id_filter: str = ""

    @property
    def iam_action(self) -> str:
        """The permission it needs."""
        return f"{self.service}:{self.operation}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """Further items that a resource's description needs, such as its parents.

    ``wanted`` gives the ids from what has been found so far, and ``filter_name`` is
    the operation's filter for them; both are None for a list that is read whole.
    """

    name: str
    listing: Listing
    filter_name: str | None = None
    wanted: Callable[[Mapping[str, list[Item]]], set[str]] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A resource type that has buckets.

    ``level_metrics`` are the shares of its buckets left, in percent; the statistic is
    the resource's own. ``traffic`` names the sums over the period that its demand is made of.
    ``describe(item, found, unit, now)`` makes of an inventory item one ``Resource`` for
    each of its buckets; ``found`` has each lookup's items by id. ``spent(resource, sums, start_s,
    period_s)`` makes credits per second of one period's sums, by metric name, or
    None where they say nothing. ``fixes(resource, level, demand, load)`` are what helps
    when ``level`` credits are left at ``demand``. ``capacity_documented`` is whether AWS publishes
    the bucket's size; where it does not, the worst case is an estimate, and a resource
    is looked at again every ``look_period_s`` whatever it says.
    """

    name: str
    namespace: str
    dimension: str
    inventory: Listing
    level_metrics: tuple[str, ...]
    traffic: Traffic
    describe: Callable[[Item, Mapping[str, Mapping[str, Item]], str, float], tuple[Resource, ...]]
    spent: Callable[[Resource, Mapping[str, float], float, float], DemandPoint | None]
    fixes: Callable[[Resource, float, float, Load | None], Iterable[Fix]]
    capacity_documented: bool
    look_period_s: float = 300.0
    lookups: tuple[Lookup, ...] = ()
    tag_filter_name: Callable[[str], str] = field(default="tag:{}".format)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that the kind reads."""
        return (*self.level_metrics, *self.traffic.metrics)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """Every operation that the kind reads."""
        return (self.inventory, *(lookup.listing for lookup in self.lookups))

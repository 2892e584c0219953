"""Remembers a unit from sweep to sweep: it saves requests, and confirms what is gone.

Losing it costs requests, and up to two hours until the alarm of something deleted ends (``plan.py``).
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.inventory.inventory import Inventory, take_inventory
from burstwatch.aws.inventory.listings import ItemListing
from burstwatch.aws.inventory.watchlist import Watchlist, make_watchlist
from burstwatch.aws.look.budget import Budget
from burstwatch.config import Config
from burstwatch.formatting import DAY
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind, Scope
from burstwatch.polling.queries import Allowance
from burstwatch.polling.schedule import Schedule
from burstwatch.shards import WHOLE, Problem, Shard, Unit

#: EC2's request quota is shared with everyone in the account, and what is listed has to be read: an inventory of more
#: calls or resources than this is taken so often, and not at every sweep.
FEW_CALLS, FEW_RESOURCES = 10, 200
INVENTORY_S = 300.0
#: For so long a new memory asks for alarms of the names before, and then while there are any: each such listing is a
#: call, at one a minute 0.43 USD a month.
NAMES_BEFORE_S = 900.0
#: Number of inventories in a row that must lack a resource before it is gone.
GONE_AFTER = 3


@dataclass(frozen=True, kw_only=True)
class Stock:
    """One kind's inventory and what of it to watch, as of ``at``."""

    at: float
    inventory: Inventory
    watchlist: Watchlist

    @property
    def problems(self) -> list[Problem]:
        """The parts that could not be read or understood."""
        return [*self.inventory.problems, *self.watchlist.problems]


@dataclass(kw_only=True)
class Presence:
    """The resources that the last inventories of a kind had, by id: one that lacks some proves little.

    ``missing`` is how many inventories in a row lacked them.
    """

    listings: int = 0
    resources_by_id: dict[str, tuple[Resource, ...]] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)

    def confirmed(self, inventory: Inventory) -> Inventory:
        """The inventory with what it lacks, until ``GONE_AFTER`` in a row have lacked it."""
        self.listings += 1
        listed: dict[str, tuple[Resource, ...]] = {}
        for resource in inventory.resources:
            listed[resource.id] = (*listed.get(resource.id, ()), resource)
        gone = self.resources_by_id.keys() - listed.keys() - inventory.refused.keys()
        self.missing = Counter({resource_id: self.missing[resource_id] + 1 for resource_id in gone})
        kept = {
            resource_id: self.resources_by_id[resource_id]
            for resource_id in gone
            if self.missing[resource_id] < GONE_AFTER
        }
        self.resources_by_id = listed | kept
        more = (resource for resources in kept.values() for resource in resources)
        return replace(inventory, resources=(*inventory.resources, *more))


@dataclass(kw_only=True)
class Memory(Schedule):
    """The schedule of a unit, its inventories by kind, how fast it may be asked and for how much.

    Of a unit in shards, all that is of one of them.
    """

    shard: Shard = WHOLE
    #: The unit was found in an organisation, and has no alarm on a heartbeat of its own.
    is_found: bool = False
    #: The name of the unit's account, where an organisation says it.
    account_name: str = ""
    pace: Pace = field(init=False)
    budget: Budget | None = None
    #: When somebody heard both topics, and no rule muted an alarm.
    heard_at: float = -math.inf
    #: Until when alarms of the names before are listed in any case, None before the first sweep; and whether there are
    #: some, or no listing has said yet that there are none.
    names_before_until: float | None = None
    has_names_before: bool = True
    #: The end of the day of which the charges are read, the keys of the resources of which they are, and when they were last asked for.
    charged_until_s: float = -math.inf
    charges_read: set[str] = field(default_factory=set)
    charges_at: float = -math.inf
    #: The day of the last sweep that was whole.
    day: float = -math.inf
    stocks: dict[str, Stock] = field(default_factory=dict)
    presences: dict[str, Presence] = field(default_factory=dict)
    #: The kinds that could be listed here at some time; None where that is not known yet.
    listed_before: frozenset[str] | None = None
    #: True if the stack has an alarm on the heartbeat, whose tags keep the kinds that could be listed.
    has_heartbeat: bool = False
    #: The last inventory of each kind of which every call was answered.
    _whole: dict[str, Inventory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pace = Pace(shards=self.shard.count)

    def forget_future(self, now: float) -> None:
        """Drop what was seen in the future, by a clock that has been put back since."""
        super().forget_future(now)
        self.stocks = {kind: stock for kind, stock in self.stocks.items() if stock.at <= now}
        self.heard_at = min(self.heard_at, now)
        self.charged_until_s = min(self.charged_until_s, now)
        self.charges_at = min(self.charges_at, now)
        self.day = min(self.day, now // DAY)

    def lists_names_before(self, now: float) -> bool:
        """True while there may be alarms of the names before."""
        if self.names_before_until is None:
            self.names_before_until = now + NAMES_BEFORE_S
        return self.has_names_before or now < self.names_before_until

    def begins_day(self, now: float) -> bool:
        """True if this is the first sweep of a day in UTC; the next one is not."""
        before, self.day = self.day, now // DAY
        return before < self.day

    def is_settled(self, kind: Kind) -> bool:
        """True if enough inventories of a kind were read for what is in none of them to be gone."""
        return self._presence(kind).listings >= GONE_AFTER

    def _presence(self, kind: Kind) -> Presence:
        return self.presences.setdefault(kind.name, Presence())

    def seconds_since_heard(self, now: float) -> float:
        """How long ago somebody heard both topics; 0 at first, as whoever has just deployed it is still subscribing."""
        if math.isinf(self.heard_at):
            self.heard_at = now
        return now - self.heard_at

    def allowance(self, now: float) -> Allowance:
        """The number of metrics that may be asked for at this look."""
        return Allowance() if self.budget is None else Allowance(self.budget.refill(now))

    def stock(
        self,
        kind: Kind,
        clients: Clients,
        unit: Unit,
        config: Config,
        *,
        now: float,
        deadline: Deadline,
        listed: ItemListing,
    ) -> Stock:
        """The things of a kind: read again, unless that takes long and was done just now.

        ``listed`` is what this look has listed so far.
        """
        kept = self.stocks.get(kind.name)
        # Half a period's slack, as for everything that is due.
        if kept is not None and now - kept.at < INVENTORY_S - config.sweep_period_s / 2:
            return kept
        scope = Scope(tag=config.tag, shard=self.shard)
        inventory = take_inventory(
            kind,
            clients,
            unit,
            now=now,
            scope=scope,
            pace=self.pace,
            deadline=deadline,
            listed=listed,
        )
        if inventory.complete:
            inventory = self._presence(kind).confirmed(inventory)
        if inventory.is_answered:
            self._whole[kind.name] = inventory
        else:
            # A resource is judged for as long as nobody can say that it is gone.
            inventory = inventory.completed_by(self._whole.get(kind.name, inventory))
        new_stock = Stock(
            at=now, inventory=inventory, watchlist=make_watchlist(inventory.resources)
        )
        # Only a costly inventory, whole and without problems, serves the next sweeps too; any other is read anew.
        is_costly = inventory.calls > FEW_CALLS or len(inventory.resources) > FEW_RESOURCES
        if is_costly and inventory.complete and not inventory.problems:
            self.stocks[kind.name] = new_stock
        else:
            self.stocks.pop(kind.name, None)
        return new_stock

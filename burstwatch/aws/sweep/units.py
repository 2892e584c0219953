"""Accounts and regions that one deployment watches, each reached in its own way.

The metrics and alarms of all of them are kept at home, where the topics are. What cannot
be reached is one counted failure, and none of another unit.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from burstwatch.aws.client.names import part_name
from burstwatch.aws.client.session import AwsError, Deadline, describe_error
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.aws.sweep.sweep import Sweep, sweep
from burstwatch.aws.watched.units import Connections, UnitSpec
from burstwatch.config import Config
from burstwatch.kinds.base import Kind
from burstwatch.shards import Problem, Unit

#: Most resources that a function remembers for each MiB that it has: with a hundred thousand
#: it takes 1,280 MiB, of which a seventh does not grow with them.
KNOWN_PER_MIB = 60


@dataclass(kw_only=True)
class Units(Connections):
    """The clients and the memory of each unit, kept between sweeps.

    Beyond ``most_known`` resources the units that were not swept for longest are forgotten.
    """

    most_known: float = math.inf
    memories: dict[UnitSpec, Memory] = field(default_factory=dict)
    #: Until when every unit is asked for alarms of the names before, None before the first sweep; and the units that have none.
    names_before_until: float | None = None
    without_names_before: set[UnitSpec] = field(default_factory=set)

    def sweep(
        self,
        spec: UnitSpec,
        kinds: Iterable[Kind],
        config: Config,
        *,
        now: float,
        deadline: Deadline,
    ) -> Sweep:
        """Sweep one unit. One that cannot be reached is a failed sweep, and is named."""
        try:
            clients, unit = self.reach(spec, config.deployment, now)
        except AwsError as error:
            return self.leave_out(spec, describe_error(error), now=now)
        memory = self.memories.pop(spec, None) or self._new_memory(spec)
        self.memories[spec] = memory  # those swept last come last
        memory.account_name = spec.account_name
        swept = sweep(unit, kinds, clients, self.home, config, memory, now=now, deadline=deadline)
        self.names_before_until = self.names_before_until or memory.names_before_until
        if not memory.has_names_before:
            self.without_names_before.add(spec)
        self._forget()
        return swept

    def _new_memory(self, spec: UnitSpec) -> Memory:
        """The memory of a unit that was never swept here, or was forgotten."""
        return Memory(
            shard=spec.shard,
            is_found=spec.is_found,
            names_before_until=self.names_before_until,
            has_names_before=spec not in self.without_names_before,
        )

    def leave_out(self, spec: UnitSpec, reason: str, *, now: float) -> Sweep:
        """The sweep of a unit that is not made: nothing is known of it, and it is named."""
        unit = Unit(account=spec.account or "home", region=spec.region or self.home.region)
        problem = Problem(part=f"unit {part_name(unit, spec.shard)}", error=reason)
        nothing = UnitSnapshot(unit=unit, at=now, shard=spec.shard)
        return Sweep(snapshot=nothing, problems=(problem,), reached=False)

    def _forget(self) -> None:
        remembered = sum(len(memory.looks) for memory in self.memories.values())
        for spec in list(self.memories)[:-1]:
            if remembered > self.most_known:
                remembered -= len(self.memories.pop(spec).looks)

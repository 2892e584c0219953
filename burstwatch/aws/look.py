"""One look at one unit: inventory, what is due, its metrics, an assessment of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from burstwatch.aws.batches import ask
from burstwatch.aws.metrics import BUDGET_USED
from burstwatch.aws.round import Round
from burstwatch.aws.session import Problem
from burstwatch.forecast.policy import Assessment, assess
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import first_of
from burstwatch.history.background import Background
from burstwatch.history.observations import Limit, Observation, Resource
from burstwatch.messages.brief import make_brief
from burstwatch.polling.ranking import Assessed, with_parents, worst_of_each
from burstwatch.polling.schedule import Judged
from burstwatch.shards import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from burstwatch.aws.memory import Memory, Stock
    from burstwatch.aws.session import Clients, Deadline, Unit
    from burstwatch.config import Config
    from burstwatch.kinds.base import Kind
    from burstwatch.messages.brief import Brief
    from burstwatch.polling.schedule import Schedule
    from burstwatch.shards import Shard


@dataclass(frozen=True, kw_only=True)
class Look:
    """Every resource of one unit with its assessment, and what it cost to know.

    ``buckets`` are all of them, where a resource has several; ``backgrounds`` tell of those
    that are not well what led up to it, by id. ``kinds`` are those looked at, by name:
    ``complete`` ones have a whole inventory, ``incomplete`` ones have not. ``quiet`` are ids
    for which no new alarm is made now, and ``excluded`` is how many asked not to be watched.
    ``evaluated`` counts those asked at this look; the others kept what the last look at them
    found. ``metrics_refused`` were not asked for, as the budget was used up, at this look or
    at one before whose resource waits to be asked again. Of a unit in shards it is a look at
    ``shard``.
    """

    unit: Unit
    at: float
    assessments: Mapping[str, Assessed]
    buckets: tuple[Assessed, ...]
    backgrounds: Mapping[str, Background]
    kinds: Mapping[str, Kind]
    problems: tuple[Problem, ...]
    complete: frozenset[str]
    incomplete: frozenset[str]
    quiet: frozenset[str]
    excluded: int
    evaluated: int
    metrics_requested: int
    metrics_refused: int = 0
    shard: Shard = WHOLE

    def brief(self, resource_id: str) -> Brief:
        """What there is to say of one of them."""
        resource, assessment = self.assessments[resource_id]
        background = self.backgrounds.get(resource_id, Background())
        return make_brief(resource, assessment, self.kinds[resource.kind], background)


class Part:
    """One kind at one look: what there is of it, and what of that is due."""

    def __init__(
        self, *, kind: Kind, stock: Stock, memory: Memory, config: Config, now: float
    ) -> None:
        self.kind, self.inventory = kind, stock.inventory
        self.resources, self.quiet = stock.wanted.now(config, now)
        self.due = [r for r in self.resources if memory.is_due(r, now)]
        #: How many of those due were near when they were last looked at.
        self.near = sum(known.near for r in self.due if (known := memory.last_look(r)) is not None)


def look(
    unit: Unit,
    kinds: Iterable[Kind],
    clients: Clients,
    config: Config,
    memory: Memory,
    *,
    now: float,
    deadline: Deadline,
    demand_horizon_s: float = 0.0,
) -> Look:
    """Look at everything in ``unit``. A failed part is a problem, and the rest goes on.

    Whatever could be empty within ``demand_horizon_s`` is asked for its I/O too; the rest
    only where that can change the verdict. Nothing is asked for beyond the budget.
    """
    given = list(kinds)
    # All that there is before any of it is asked for: what there is no time for must be unknown.
    stocks = [
        memory.stock(kind, clients, unit, config, now=now, deadline=deadline) for kind in given
    ]
    parts = [
        Part(kind=kind, stock=stock, memory=memory, config=config, now=now)
        for kind, stock in zip(given, stocks, strict=True)
    ]
    problems = [problem for stock in stocks for problem in stock.problems]
    incomplete = frozenset(part.kind.name for part in parts if not part.inventory.complete)
    buckets: dict[str, Assessed] = {}
    evaluated = refused_before = 0
    allowance = memory.allowance(now)
    turns = _in_turn(parts, config, now)
    for turn, part in enumerate(turns):
        kind = part.kind
        round_ = Round(
            kind=kind,
            clients=clients,
            config=config,
            schedule=memory,
            now=now,
            deadline=deadline,
            demand_horizon_s=demand_horizon_s,
            pace=memory.pace,
            allowance=allowance,
            near_to_come=sum(later.near for later in turns[turn + 1 :]),
        )
        others = partial(_witnesses, part.resources, part.due, memory)
        answered = ask(round_, [r for r in part.due if r.can_spend], others)
        answered.judged += [_without_asking(r, config, now) for r in part.due if not r.can_spend]
        # An estimated worst case is no reason to look away.
        every_s = None if kind.capacity_documented else kind.look_period_s
        for one in answered.judged:
            memory.note(one, config, now, look_period_s=every_s)
        fresh = {one.resource.key: (one.resource, one.assessment) for one in answered.judged}
        kept = {
            r.key: (r, memory.known[r.key].assessment) for r in part.resources if r.key not in fresh
        }
        refused = {
            key: _not_understood(kind, key, reason, unit=unit, now=now)
            for key, reason in part.inventory.refused.items()
        }
        buckets |= kept | fresh | refused
        problems += answered.problems
        failed = [key for key in kept if memory.known[key].failed]
        problems += _still_failed([kept[key] for key in failed])
        refused_before += sum(kept[key][1].projection.reason == BUDGET_USED for key in failed)
        evaluated += len({resource.id for resource, _ in fresh.values()})
    if not incomplete:
        memory.forget_all_but(set(buckets))
    found = worst_of_each(buckets.values())
    return Look(
        unit=unit,
        at=now,
        kinds={kind.name: kind for kind in given},
        backgrounds={
            key: background
            for key, (resource, _) in found.items()
            if (background := memory.background_of(resource)) is not None
        },
        assessments=with_parents(found),
        buckets=tuple(buckets.values()),
        # Two kinds may ask the same of AWS, and be refused it in the same words.
        problems=tuple(dict.fromkeys(problems)),
        complete=frozenset(kind.name for kind in given) - incomplete,
        incomplete=incomplete,
        quiet=frozenset(one for part in parts for one in part.quiet),
        excluded=sum(stock.wanted.excluded + stock.inventory.excluded for stock in stocks),
        evaluated=evaluated,
        metrics_requested=allowance.taken,
        metrics_refused=allowance.refused + refused_before,
        shard=memory.shard,
    )


def _in_turn(parts: Sequence[Part], config: Config, now: float) -> Sequence[Part]:
    """Each kind is the first in its turn: what time or budget are too short for is another each time."""
    first = int(now // config.sweep_period_s) % max(1, len(parts))
    return [*parts[first:], *parts[:first]]


def _still_failed(kept: Iterable[Assessed]) -> Iterator[Problem]:
    """What failed before and waits to be asked again has not ceased to fail. By reason."""
    by_reason: dict[str, list[str]] = {}
    for resource, assessment in kept:
        by_reason.setdefault(assessment.projection.reason, []).append(resource.id)
    for reason, names in by_reason.items():
        yield Problem(part=f"metrics of {first_of(names)}", error=reason)


def _witnesses(
    resources: Sequence[Resource], due: Sequence[Resource], schedule: Schedule
) -> list[Resource]:
    """Those of a kind that are not due, last seen active first."""
    asked = {resource.key for resource in due}
    others = [r for r in resources if r.can_spend and r.key not in asked]
    return sorted(others, key=schedule.was_idle)


def _without_asking(resource: Resource, config: Config, now: float) -> Judged:
    """What is to be made of one that has no bucket, or that nothing can spend of now."""
    seen = Observation(resource=resource, at=now)
    return Judged(resource=resource, assessment=assess(seen, config))


def _not_understood(
    kind: Kind, resource_id: str, reason: str, *, unit: Unit, now: float
) -> tuple[Resource, Assessment]:
    """An item that exists and that the kind could not describe: unknown, and counted."""
    resource = Resource(
        kind=kind.name,
        id=resource_id,
        name="",
        unit=str(unit),
        bucket=None,
        limit=Limit(rate=0.0, binding="none"),
    )
    projection = Projection(state="unknown", reason=reason, at=now)
    return resource, Assessment(verdict="unknown", reason=reason, projection=projection)

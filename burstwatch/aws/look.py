"""One look at one unit: inventory, what is due, its metrics, an assessment of each."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from burstwatch.aws.listings import Listed
from burstwatch.aws.memory import Memory, Stock
from burstwatch.aws.metrics import BUDGET_USED
from burstwatch.aws.names import metric_id
from burstwatch.aws.reading import Reader, ask
from burstwatch.aws.session import Clients, Deadline
from burstwatch.config import Config
from burstwatch.forecast.policy import assess, not_known
from burstwatch.formatting import first_of
from burstwatch.history.background import Background
from burstwatch.history.observations import Limit, Observation, Resource
from burstwatch.history.points import NO_LIMIT
from burstwatch.kinds.base import Kind
from burstwatch.messages.brief import Brief, make_brief
from burstwatch.polling.allowance import Allowance
from burstwatch.polling.order import bystanders, in_turn, witnesses
from burstwatch.polling.ranking import Assessed, with_parents, worst_of_each
from burstwatch.polling.sampling import PASTS_PER_LOOK, Task
from burstwatch.polling.schedule import Judged
from burstwatch.polling.unit import Problem, Unit
from burstwatch.shards import WHOLE, Shard

#: Where asking fails for so many of those that have a bucket, nobody is watching.
BLIND_SHARE = 0.5
#: How the reason begins where resources are known and their metrics cannot be read.
CANNOT_BE_JUDGED = "cannot be judged"


@dataclass(frozen=True, kw_only=True)
class Look:
    """Every resource of one unit with its assessment, and what it cost to know.

    If the unit could not be asked, there is only the unit, the time and the shard.
    ``buckets`` are all of them, where a resource has several; ``backgrounds`` tell of those
    that are not well what led up to it, by id. ``kinds`` are those looked at, by name; for the
    ``incomplete`` ones the inventory was not read in full, for the ``unsettled`` ones not often
    enough for what it lacks to be gone. ``guessed`` are ids judged without the days before, which were
    not read yet. ``kind_problems`` are the parts of each kind that failed. ``blind`` says by kind why nobody watches it: its resources cannot be listed or described, or asking failed for
    half or more of those that could be spent from. Neither silence nor a budget that is used up is a failure. ``unlisted`` says
    the same of kinds that could never be listed here. ``quiet`` says by
    id why no new alarm is made now, and ``excluded`` is how many asked not to be watched.
    ``evaluated`` counts those asked at this look; the others kept what the last look at them
    found. ``metrics_refused`` were not asked for, as the budget was used up, at this look or
    at one before whose resource waits to be asked again. Of a unit in shards it is a look at
    ``shard``. ``foreign`` is the ``foreign_name`` of the unit, empty for the home unit.
    """

    unit: Unit
    at: float
    foreign: str = ""
    shard: Shard = WHOLE
    assessments: Mapping[str, Assessed] = field(default_factory=dict)
    buckets: tuple[Assessed, ...] = ()
    backgrounds: Mapping[str, Background] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    kind_problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    incomplete: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    guessed: frozenset[str] = frozenset()
    blind: Mapping[str, str] = field(default_factory=dict)
    unlisted: Mapping[str, str] = field(default_factory=dict)
    quiet: Mapping[str, str] = field(default_factory=dict)
    excluded: int = 0
    evaluated: int = 0
    metrics_requested: int = 0
    metrics_refused: int = 0

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts that failed, each once: two kinds may ask the same of AWS, and be refused it in the same words."""
        every = (problem for problems in self.kind_problems.values() for problem in problems)
        return tuple(dict.fromkeys(every))

    @property
    def is_blind(self) -> bool:
        """Whether nobody watches a kind that was watched before, or any kind at all."""
        return bool(self.blind) or (bool(self.kinds) and self.unlisted.keys() >= self.kinds.keys())

    def brief(self, resource_id: str) -> Brief:
        """Describe one of them in words."""
        resource, assessment = self.assessments[resource_id]
        background = self.backgrounds.get(resource_id, Background())
        return make_brief(
            resource,
            assessment,
            self.kinds[resource.kind],
            background,
            metric_id=metric_id(resource.kind, resource_id, self.foreign),
        )


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One kind at one look: what there is of it, and what of that is due."""

    kind: Kind
    stock: Stock
    resources: tuple[Resource, ...]
    quiet: Mapping[str, str]
    due: tuple[Resource, ...]
    #: How many of those due were near when they were last looked at.
    near: int


@dataclass(frozen=True, kw_only=True)
class _KindLook:
    """One look at one kind: its buckets by key, and what of that is new."""

    buckets: Mapping[str, Assessed]
    problems: tuple[Problem, ...]
    evaluated: int
    refused_before: int


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

    Whatever could be empty within ``demand_horizon_s`` is asked for its demand too; the rest
    only where that can change the verdict. Nothing is asked for beyond the budget.
    """
    # All that there is before any of it is asked for: what there is no time for must be unknown.
    listed: Listed = {}
    stocks = {
        kind.name: (
            kind,
            memory.stock(kind, clients, unit, config, now=now, deadline=deadline, listed=listed),
        )
        for kind in kinds
    }
    listed.clear()  # of a large fleet it is much
    parts = [_part(kind, stock, memory, config, now) for kind, stock in stocks.values()]
    reader = Reader(
        clients=clients,
        now=now,
        deadline=deadline,
        pace=memory.pace,
        allowance=memory.allowance(now),
    )
    looked: dict[str, _KindLook] = {}
    turns = in_turn(parts, config, now)
    for turn, part in enumerate(turns):
        task = Task(
            kind=part.kind,
            config=config,
            schedule=memory,
            now=now,
            demand_horizon_s=demand_horizon_s,
            # Whoever asks once gets all of it.
            pasts=Allowance(
                len(part.resources) if demand_horizon_s == math.inf else PASTS_PER_LOOK
            ),
        )
        near_to_come = sum(later.near for later in turns[turn + 1 :])
        looked[part.kind.name] = _look_at(
            part, task, reader, memory, unit, near_to_come=near_to_come
        )
    return _merged(unit, parts, looked, reader, memory)


def _part(kind: Kind, stock: Stock, memory: Memory, config: Config, now: float) -> _Part:
    resources, quiet = stock.watchlist.now(config, now)
    due = tuple(one for one in resources if memory.is_due(one, now))
    near = sum(known.near for one in due if (known := memory.last_look(one)) is not None)
    return _Part(kind=kind, stock=stock, resources=resources, quiet=quiet, due=due, near=near)


def _look_at(
    part: _Part, task: Task, reader: Reader, memory: Memory, unit: Unit, *, near_to_come: int
) -> _KindLook:
    """Ask for what is due of one kind, and remember it; the others keep their last look."""
    config, now = task.config, task.now
    answered = ask(
        task,
        reader,
        [one for one in part.due if one.can_spend],
        partial(witnesses, part.resources, part.due, memory),
        bystanders=bystanders(part.resources),
        near_to_come=near_to_come,
    )
    answered.judged += [_without_asking(one, config, now) for one in part.due if not one.can_spend]
    for one in answered.judged:
        memory.note(one, config, now)
    fresh = {one.resource.key: (one.resource, one.assessment) for one in answered.judged}
    kept = {
        one.key: (one, memory.known[one.key].assessment)
        for one in part.resources
        if one.key not in fresh
    }
    refused = {
        f"{part.kind.name}/{name}": _not_described(part.kind, name, reason, unit=unit, now=now)
        for name, reason in part.stock.inventory.refused.items()
    }
    failed = [kept[key] for key in kept if memory.known[key].failed]
    return _KindLook(
        buckets=kept | fresh | refused,
        problems=(*answered.problems, *_still_failed(failed)),
        evaluated=len({resource.id for resource, _ in fresh.values()}),
        refused_before=sum(found.projection.reason == BUDGET_USED for _, found in failed),
    )


def _merged(
    unit: Unit,
    parts: Sequence[_Part],
    looked: Mapping[str, _KindLook],
    reader: Reader,
    memory: Memory,
) -> Look:
    """The looks at all kinds, by name, as one."""
    in_order = [looked[part.kind.name] for part in parts]
    stocks = [part.stock for part in parts]
    kinds = {part.kind.name: part.kind for part in parts}
    incomplete = frozenset(p.kind.name for p in parts if not p.stock.inventory.complete)
    blind = {
        part.kind.name: why
        for part, kind_look in zip(parts, in_order, strict=True)
        if (why := _why_blind(part, kind_look, memory))
    }
    buckets = {key: entry for one in in_order for key, entry in one.buckets.items()}
    if not incomplete:
        memory.forget_all_but(set(buckets))
    found = worst_of_each(buckets.values())
    return Look(
        unit=unit,
        at=reader.now,
        kinds=kinds,
        backgrounds={
            key: background
            for key, (resource, _) in found.items()
            if (background := memory.background_of(resource)) is not None
        },
        assessments=with_parents(found),
        buckets=tuple(buckets.values()),
        kind_problems={
            part.kind.name: (*part.stock.problems, *looked[part.kind.name].problems)
            for part in parts
        },
        incomplete=incomplete,
        guessed=frozenset(
            resource.id for resource, _ in buckets.values() if memory.is_guess(resource, reader.now)
        ),
        unsettled=frozenset(p.kind.name for p in parts if not memory.is_settled(p.kind)),
        blind=blind,
        quiet={one: why for part in parts for one, why in part.quiet.items()},
        excluded=sum(stock.watchlist.excluded + stock.inventory.excluded for stock in stocks),
        evaluated=sum(one.evaluated for one in in_order),
        metrics_requested=reader.allowance.taken,
        metrics_refused=reader.allowance.refused + sum(one.refused_before for one in in_order),
        shard=memory.shard,
    )


def _why_blind(part: _Part, kind_look: _KindLook, memory: Memory) -> str:
    """Why nobody watches a kind now, or nothing where somebody does."""
    inventory = part.stock.inventory
    asked = [key for key, (resource, _) in kind_look.buckets.items() if resource.can_spend]
    if not inventory.complete and not asked:
        return f"cannot be listed: {inventory.first_error}"
    refused = 0 if inventory.is_answered else len(inventory.refused)
    if refused and len(asked) + refused <= refused / BLIND_SHARE:
        return f"cannot be described: {inventory.first_error}"
    # What there was no budget for was not asked; that has an alarm of its own.
    failed = [
        known.assessment.projection.reason
        for key in asked
        if (known := memory.known.get(key)) is not None
        and known.failed
        and known.assessment.projection.reason != BUDGET_USED
    ]
    if asked and len(asked) <= len(failed) / BLIND_SHARE:
        return f"{CANNOT_BE_JUDGED}: {failed[0]}"
    return ""


def _still_failed(kept: Iterable[Assessed]) -> Iterator[Problem]:
    """The problems of looks that failed before and wait to be asked again, by reason."""
    by_reason: dict[str, list[str]] = {}
    for resource, assessment in kept:
        by_reason.setdefault(assessment.projection.reason, []).append(resource.id)
    for reason, names in by_reason.items():
        yield Problem(part=f"metrics of {first_of(names)}", error=reason)


def _without_asking(resource: Resource, config: Config, now: float) -> Judged:
    """Judge a resource that has no bucket, or that nothing can spend from now."""
    seen = Observation(resource=resource, at=now)
    return Judged(resource=resource, assessment=assess(seen, config))


def _not_described(kind: Kind, thing: str, reason: str, *, unit: Unit, now: float) -> Assessed:
    """An item that exists and that the kind could not describe: unknown, and counted."""
    resource = Resource(
        kind=kind.name,
        id=kind.resource_id(thing),
        name="",
        unit=str(unit),
        bucket=None,
        limit=Limit(rate=0.0, binding=NO_LIMIT),
    )
    return resource, not_known(reason, now)

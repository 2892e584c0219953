"""One look at one unit: inventory, what is due, its metrics, an assessment of each."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from burstwatch.aws.client.names import metric_id
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.inventory.listings import ItemListing
from burstwatch.aws.look.memory import Memory, Stock
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.config import Config
from burstwatch.forecast.policy import assess, not_known
from burstwatch.formatting import first_of
from burstwatch.history.background import Background
from burstwatch.history.observations import Limit, Observation, Resource
from burstwatch.history.points import NO_LIMIT
from burstwatch.kinds.base import Kind
from burstwatch.messages.brief import Brief, make_brief
from burstwatch.messages.silence import Silence, logged
from burstwatch.polling.order import bystanders, in_turn, witnesses
from burstwatch.polling.queries import Allowance
from burstwatch.polling.ranking import Assessed, with_parents, worst_of_each
from burstwatch.polling.sampling import PASTS_PER_LOOK, Task
from burstwatch.polling.schedule import Judgement
from burstwatch.polling.told import ToldSeverity, contradicted
from burstwatch.shards import WHOLE, Cause, Problem, Shard, Unit

#: Where asking fails for so many of those that have a bucket, nobody is watching.
BLIND_SHARE = 0.5
#: What cannot be done with a kind that nobody watches.
Undone: TypeAlias = Literal["listed", "described", "judged"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Blindness:
    """Why nobody watches a kind: what cannot be done with it, the error, and what AWS means by that."""

    undone: Undone
    error: str
    cause: Cause = "other"

    @property
    def why(self) -> str:
        """The reason in words."""
        return f"cannot be {self.undone}: {self.error}"


@dataclass(frozen=True, kw_only=True)
class UnitSnapshot:
    """Every resource of one unit with its assessment, and what it cost to know.

    If the unit could not be asked, there is only the unit, the time and the shard.
    ``buckets`` are all of them, where a resource has several; ``backgrounds`` tell of those
    that are not well what led up to it, by id. ``kinds`` are those looked at, by name; for the
    ``incomplete`` ones the inventory was not read in full, for the ``unsettled`` ones not often
    enough for what it lacks to be gone. ``guessed`` are ids judged without the days before, which were
    not read yet. ``kind_problems`` are the parts of each kind that failed. ``blind`` says by kind why nobody watches it: its resources cannot be listed or described, or asking failed for
    half or more of those that could be spent from. Neither silence nor a budget that is used up is a failure. ``unlisted`` says
    the same of kinds that could never be listed here, and ``forbidden`` of those that the organisation forbids. ``quiet`` says by
    id why no new alarm is made now, ``excluded`` is how many asked not to be watched, and ``silences`` are those and the snoozed.
    ``judged`` are the ids judged at this look; the others keep what the last look at them
    found. ``metrics_refused`` were not asked for, as the budget was used up, at this look or
    at one before whose resource waits to be polled. Of a unit in shards it is a look at
    ``shard``. ``foreign`` is the ``foreign_name`` of the unit, empty for the home unit, and ``account_name`` its account's, where
    an organisation says it.
    """

    unit: Unit
    at: float
    foreign: str = ""
    account_name: str = ""
    shard: Shard = WHOLE
    assessments: Mapping[str, Assessed] = field(default_factory=dict)
    buckets: tuple[Assessed, ...] = ()
    backgrounds: Mapping[str, Background] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    kind_problems: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    incomplete: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    guessed: frozenset[str] = frozenset()
    blind: Mapping[str, Blindness] = field(default_factory=dict)
    unlisted: Mapping[str, str] = field(default_factory=dict)
    forbidden: Mapping[str, str] = field(default_factory=dict)
    quiet: Mapping[str, str] = field(default_factory=dict)
    excluded: int = 0
    silences: tuple[Silence, ...] = ()
    judged: frozenset[str] = frozenset()
    metrics_requested: int = 0
    metrics_refused: int = 0

    @property
    def evaluated(self) -> int:
        """How many were judged at this look."""
        return len(self.judged)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts that failed, each once: two kinds may ask the same of AWS, and be refused it in the same words."""
        every = (problem for problems in self.kind_problems.values() for problem in problems)
        return tuple(dict.fromkeys(every))

    @property
    def is_blind(self) -> bool:
        """True if nobody watches a kind that was watched before, or any kind at all."""
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
            account_name=self.account_name,
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
    near_count: int


@dataclass(frozen=True, kw_only=True)
class _KindLook:
    """One look at one kind: its buckets by key, the problems, the ids judged now, and how many were not paid for."""

    buckets: Mapping[str, Assessed]
    problems: tuple[Problem, ...]
    judged: frozenset[str]
    unpaid_before: int


def look(  # noqa: PLR0913 - what a sweep knows, and each is used at once
    unit: Unit,
    kinds: Iterable[Kind],
    clients: Clients,
    config: Config,
    memory: Memory,
    *,
    now: float,
    deadline: Deadline,
    demand_horizon_s: float = 0.0,
    told: ToldSeverity | None = None,
) -> UnitSnapshot:
    """Look at everything in ``unit``. A failed part is a problem, and the rest goes on.

    ``told`` is what alarms tell, where there are any: what the last look found otherwise is due now.

    Whatever could be empty within ``demand_horizon_s`` is asked for its demand too; the rest
    only where that can change the verdict. Nothing is asked for beyond the budget.
    """
    memory.forget_future(now)
    # Every kind is listed before metrics are read: what there is no time to ask for is then unknown, not missing.
    stocks = _take_stocks(kinds, memory, clients, unit, config, now=now, deadline=deadline)
    parts = [_part(kind, stock, memory, config, now, told) for kind, stock in stocks]
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
            told=told,
            quiet=part.quiet,
            # Whoever asks once gets all of it.
            pasts=Allowance(
                len(part.resources) if demand_horizon_s == math.inf else PASTS_PER_LOOK
            ),
        )
        near_to_come = sum(later.near_count for later in turns[turn + 1 :])
        looked[part.kind.name] = _look_at(
            part, task, reader, memory, unit, near_to_come=near_to_come
        )
    return _merged(unit, parts, looked, reader, memory)


def _take_stocks(
    kinds: Iterable[Kind],
    memory: Memory,
    clients: Clients,
    unit: Unit,
    config: Config,
    *,
    now: float,
    deadline: Deadline,
) -> list[tuple[Kind, Stock]]:
    """The things of each kind. What several kinds list is listed once, and let go at the end: of a large fleet it is much."""
    listed: ItemListing = {}
    return [
        (
            kind,
            memory.stock(kind, clients, unit, config, now=now, deadline=deadline, listed=listed),
        )
        for kind in kinds
    ]


def _part(
    kind: Kind,
    stock: Stock,
    memory: Memory,
    config: Config,
    now: float,
    told: ToldSeverity | None,
) -> _Part:
    """Choose which of a kind's resources are due now."""
    resources, quiet = stock.watchlist.now(config, now)
    anew = set[str]() if told is None else contradicted(resources, memory, told, now)
    anew -= quiet.keys()  # in a maintenance window nothing is told of them
    due = tuple(
        resource for resource in resources if resource.id in anew or memory.is_due(resource, now)
    )
    near_count = sum(
        last_look.judgement.is_near
        for resource in due
        if (last_look := memory.last_look(resource)) is not None
    )
    return _Part(
        kind=kind, stock=stock, resources=resources, quiet=quiet, due=due, near_count=near_count
    )


def _look_at(
    part: _Part, task: Task, reader: Reader, memory: Memory, unit: Unit, *, near_to_come: int
) -> _KindLook:
    """Ask for what is due of one kind, and remember it; the others keep their last look.

    ``near_to_come`` resources of later kinds are near their end, and the budget must reach for them too.
    """
    config, now = task.config, task.now
    answered = ask(
        task,
        reader,
        [resource for resource in part.due if resource.can_spend],
        partial(witnesses, part.resources, part.due, memory),
        bystanders=bystanders(part.resources),
        near_to_come=near_to_come,
    )
    answered.judgements += [
        _without_asking(resource, config, now) for resource in part.due if not resource.can_spend
    ]
    for outcome in answered.judgements:
        memory.note(outcome, config, now)
    judged_now = {
        outcome.resource.key: (outcome.resource, outcome.assessment)
        for outcome in answered.judgements
    }
    kept = {
        resource.key: (resource, memory.looks[resource.key].judgement.assessment)
        for resource in part.resources
        if resource.key not in judged_now
    }
    not_described = {
        f"{part.kind.name}/{name}": _not_described(part.kind, name, reason, unit=unit, now=now)
        for name, reason in part.stock.inventory.refused.items()
    }
    failed = [kept[key] for key in kept if memory.looks[key].judgement.failure]
    return _KindLook(
        buckets=kept | judged_now | not_described,
        problems=(*answered.problems, *_still_failed(failed)),
        judged=frozenset(resource.id for resource, _ in judged_now.values()),
        unpaid_before=sum(memory.looks[key].judgement.failure == "unpaid" for key in kept),
    )


def _merged(
    unit: Unit,
    parts: Sequence[_Part],
    looked: Mapping[str, _KindLook],
    reader: Reader,
    memory: Memory,
) -> UnitSnapshot:
    """The looks at all kinds, by name, as one."""
    in_order = [looked[part.kind.name] for part in parts]
    stocks = [part.stock for part in parts]
    kinds = {part.kind.name: part.kind for part in parts}
    incomplete = frozenset(p.kind.name for p in parts if not p.stock.inventory.complete)
    blindness = {
        part.kind.name: _blindness(part, kind_look, memory)
        for part, kind_look in zip(parts, in_order, strict=True)
    }
    buckets = {key: entry for kind_look in in_order for key, entry in kind_look.buckets.items()}
    if not incomplete:
        memory.forget_all_but(set(buckets))
    worst = worst_of_each(buckets.values())
    return UnitSnapshot(
        unit=unit,
        at=reader.now,
        kinds=kinds,
        backgrounds={
            key: background
            for key, (resource, _) in worst.items()
            if (background := memory.background_of(resource)) is not None
        },
        assessments=with_parents(worst),
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
        blind={kind: blind for kind, blind in blindness.items() if blind is not None},
        quiet={resource_id: why for part in parts for resource_id, why in part.quiet.items()},
        excluded=sum(len(stock.watchlist.unwatched) + stock.inventory.excluded for stock in stocks),
        silences=logged(
            silence for stock in stocks for silence in stock.watchlist.silences(reader.now)
        ),
        judged=frozenset[str]().union(*(kind_look.judged for kind_look in in_order)),
        metrics_requested=reader.allowance.taken,
        metrics_refused=reader.allowance.refused
        + sum(kind_look.unpaid_before for kind_look in in_order),
        shard=memory.shard,
    )


def _blindness(part: _Part, kind_look: _KindLook, memory: Memory) -> Blindness | None:
    """Why nobody watches a kind now; None where somebody does."""
    inventory = part.stock.inventory
    asked_keys = [key for key, (resource, _) in kind_look.buckets.items() if resource.can_spend]
    if not inventory.complete and not asked_keys:
        return Blindness(undone="listed", error=inventory.first_error, cause=inventory.cause)
    refused = 0 if inventory.is_answered else len(inventory.refused)
    if refused and len(asked_keys) + refused <= refused / BLIND_SHARE:
        return Blindness(undone="described", error=inventory.first_error, cause=inventory.cause)
    # Resources without budget were not polled; that has an alarm of its own.
    unanswered = [
        last_look.judgement
        for last_look in map(memory.looks.get, asked_keys)
        if last_look is not None and last_look.judgement.failure in {"unanswered", "forbidden"}
    ]
    if asked_keys and len(asked_keys) <= len(unanswered) / BLIND_SHARE:
        first = unanswered[0]
        cause: Cause = "forbidden" if first.failure == "forbidden" else "other"
        return Blindness(undone="judged", error=first.assessment.projection.reason, cause=cause)
    return None


def _still_failed(kept: Iterable[Assessed]) -> Iterator[Problem]:
    """The problems of looks that failed before and wait to be polled, by reason."""
    by_reason: dict[str, list[str]] = {}
    for resource, assessment in kept:
        by_reason.setdefault(assessment.projection.reason, []).append(resource.id)
    for reason, names in by_reason.items():
        yield Problem(part=f"metrics of {first_of(names)}", error=reason)


def _without_asking(resource: Resource, config: Config, now: float) -> Judgement:
    """Judge a resource that has no bucket, or that nothing can spend from now."""
    observation = Observation(resource=resource, at=now)
    return Judgement(resource=resource, assessment=assess(observation, config))


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

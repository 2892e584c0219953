"""Many resources in batches: some at a time, what matters most first, none kept longer than needed.

A batch is asked, judged and dropped before all of its neighbours are there, so that memory
holds the history of a few batches and not of a fleet. A batch that is silent altogether
waits until the others have shown whether the unit is blind.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from burstwatch.aws.asking import Asking
from burstwatch.aws.metrics import BUDGET_USED
from burstwatch.aws.session import LATE, Problem
from burstwatch.forecast.policy import SEVERITY, Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import first_of
from burstwatch.history.background import make_background
from burstwatch.history.cadence import FINE_S
from burstwatch.polling.depth import is_near
from burstwatch.polling.schedule import Judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from burstwatch.aws.round import Round
    from burstwatch.history.observations import Resource

#: As many balances as one call asks for.
BATCH = 500
#: Batches under way at once: their calls wait for CloudWatch, not for one another.
AT_ONCE = 4
#: What is asked of one resource before it can be judged: a glance, and what that leaves open.
QUESTIONS = 2
#: One batch in so many is of those that are not near, so that these do not wait for ever.
TURN = 4
#: So many resources that are not due are asked too when nothing due has fresh data.
WITNESSES = 10
#: By this share of those never looked at the starting point moves on from sweep to sweep.
GOLDEN = (math.sqrt(5) - 1) / 2

_Done = TypeVar("_Done")


@dataclass(kw_only=True)
class Answered:
    """What became of some resources.

    ``is_fresh`` is whether any of them had fresh data: what was not answered shows nothing.
    """

    is_fresh: bool = False
    judged: list[Judged] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, more: Answered) -> None:
        """Take in those of another batch."""
        self.is_fresh = self.is_fresh or more.is_fresh
        self.judged += more.judged
        self.problems += more.problems


def ask(
    round_: Round, due: Sequence[Resource], witnesses: Callable[[], Sequence[Resource]]
) -> Answered:
    """Ask for all of ``due`` and judge it. What is not done in time is unknown and counted.

    ``witnesses`` gives others of the kind, those last seen active first: where nothing due
    has fresh data, they tell silent from blind.
    """
    round_.clients("cloudwatch")  # made once, before several ask for it at once
    answered, silent = Answered(), list[Asking]()
    batches, refused = in_turn(round_, due)
    if refused:
        round_.allowance.refuse(len(refused))
        answered.add(_given_up(Asking(round_, refused), BUDGET_USED))
    for done in _at_once(round_, _first, [Asking(round_, batch) for batch in batches]):
        if isinstance(done, Asking):
            silent.append(done)
        else:
            answered.add(done)
    if silent:
        is_fresh = answered.is_fresh or _is_fresh(round_, witnesses, answered)
        for done in _at_once(round_, partial(_judge, unit_is_fresh=is_fresh), silent):
            answered.add(done)
    return answered


def _at_once(
    round_: Round, job: Callable[[Asking], _Done], items: Sequence[Asking]
) -> Iterator[_Done | Answered]:
    """The job done for each, a few at a time. One that fails or is late costs no other."""
    if not items:
        return
    # Not a context, which would wait for a call that hangs.
    pool = ThreadPoolExecutor(AT_ONCE)
    futures = [pool.submit(job, item) for item in items]
    done, _ = wait(futures, timeout=round_.deadline.left_s())
    pool.shutdown(wait=False, cancel_futures=True)
    for item, future in zip(items, futures, strict=True):
        if future not in done:
            yield _given_up(item, LATE)
        elif isinstance(error := future.exception(), Exception):
            yield _given_up(item, " ".join(f"{type(error).__name__}: {error}".split()))
        else:
            yield future.result()


def _first(asking: Asking) -> Asking | Answered:
    """A batch's balances, and all the rest unless it is silent altogether."""
    if not asking.ask_levels():
        return asking
    answered = _judge(asking, unit_is_fresh=True)
    answered.is_fresh = True
    return answered


def _judge(asking: Asking, *, unit_is_fresh: bool) -> Answered:
    answered = Answered()
    for seen in asking.observe(unit_is_fresh=unit_is_fresh):
        resource, assessment = seen.resource, asking.assess(seen)
        background = None
        if SEVERITY.get(assessment.verdict, 0) >= SEVERITY["warning"]:
            background = make_background(seen.history, asking.load(resource), asking.now)
        is_missing = seen.missing is not None
        near = resource.key in asking.near if is_missing else is_near(seen, asking.config)
        answered.judged.append(
            Judged(
                resource=resource,
                assessment=assessment,
                background=background,
                is_near=near,
                # Where the hours were not answered there are only those of the glance.
                levels=asking.levels(resource) if near and not is_missing else None,
                seen=asking.seen(resource, unit_is_fresh=unit_is_fresh),
                failed=is_missing,
            )
        )
    answered.problems += asking.answers.problems
    return answered


def _is_fresh(
    round_: Round, witnesses: Callable[[], Sequence[Resource]], answered: Answered
) -> bool:
    """Whether anything else has fresh data: as was seen lately, or by asking one and then more."""
    newest_s = round_.schedule.newest_s.get(round_.kind.name, 0.0)
    if newest_s >= round_.now - round_.config.max_data_age_s - FINE_S:
        return True
    others = witnesses()[:WITNESSES]
    for some in (others[:1], others[1:]):
        for done in _at_once(round_, _witness, [Asking(round_, some)] if some else []):
            # It was paid for, so it counts as a look; but none that failed takes the place of one before.
            done.judged = [one for one in done.judged if not one.failed]
            answered.add(done)
            if done.is_fresh:
                return True
    return False


def _witness(asking: Asking) -> Answered:
    """What is to be made of a batch if any of it is fresh, and else nothing."""
    done = _first(asking)
    return Answered(problems=done.answers.problems) if isinstance(done, Asking) else done


def _given_up(asking: Asking, reason: str) -> Answered:
    """Those of a batch of which nothing is known at this look."""
    resources = asking.resources
    projection = Projection(state="unknown", reason=reason, at=asking.now)
    unknown = Assessment(verdict="unknown", reason=reason, projection=projection)
    names = first_of([resource.id for resource in resources])
    return Answered(
        judged=[
            Judged(
                resource=resource,
                assessment=unknown,
                is_near=resource.key in asking.near,
                failed=True,
            )
            for resource in resources
        ],
        problems=[Problem(part=f"metrics of {names}", error=reason)],
    )


def in_turn(
    round_: Round, due: Sequence[Resource]
) -> tuple[Sequence[Sequence[Resource]], Sequence[Resource]]:
    """What is due in batches, and what the budget does not suffice for.

    First what is near, then what never was seen, then the rest; of each, what could be within
    its margin soonest comes first, so that what had to wait comes nearer to its turn by that.
    Those never seen begin elsewhere at each sweep. Time is for all: now and then a batch of
    the others comes between those that are near. A budget is for those that are near first,
    of other kinds as well, and what it could not pay for to the end is not begun.
    """
    near: list[tuple[float, Resource]] = []
    rest: list[tuple[float, Resource]] = []
    never: list[Resource] = []
    for resource in due:
        known = round_.schedule.last_look(resource)
        if known is None or known.seen is None:
            never.append(resource)
        else:
            (near if known.near else rest).append((known.late_at, resource))
    turn = round_.now / round_.config.sweep_period_s
    start = int(turn * GOLDEN % 1.0 * len(never))
    first, then = _soonest_first(near), [*never[start:], *never[:start], *_soonest_first(rest)]
    refused: list[Resource] = []
    if round_.allowance.is_limited:
        enough = int(round_.allowance.left / QUESTIONS)
        enough = max(min(enough, len(first)), enough - round_.near_to_come)
        refused = [*first, *then][enough:]
        first, then = first[:enough], then[: max(0, enough - len(first))]
    urgent, others = list(_batches(first)), list(_batches(then))
    mixed: list[Sequence[Resource]] = []
    while urgent and others:
        mixed += [*urgent[: TURN - 1], others[0]]
        del urgent[: TURN - 1], others[0]
    return [*mixed, *urgent, *others], refused


def _soonest_first(resources: list[tuple[float, Resource]]) -> list[Resource]:
    return [resource for _, resource in sorted(resources, key=itemgetter(0))]


def _batches(resources: Sequence[Resource]) -> Iterator[Sequence[Resource]]:
    return (resources[first : first + BATCH] for first in range(0, len(resources), BATCH))

"""In what order to ask: what is near its margin first, then what was never seen, then the rest."""

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TypeVar

from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.polling.queries import Allowance
from burstwatch.polling.schedule import Schedule

#: As many levels as one call asks for.
BATCH = 500
#: Metrics that one resource needs before it is judged: a glance, and the questions it leaves open.
QUESTIONS = 2
#: One batch in so many is of those that are not near, so that these do not wait without an end.
TURN = 4
#: By this share of those never seen the starting point moves on from sweep to sweep.
GOLDEN = (math.sqrt(5) - 1) / 2

_Part = TypeVar("_Part")


def in_turn(parts: Sequence[_Part], config: Config, now: float) -> Sequence[_Part]:
    """The parts, beginning with another one at each sweep, so that none is always cut off."""
    begin = int(now // config.sweep_period_s) % max(1, len(parts))
    return [*parts[begin:], *parts[:begin]]


def in_batches(
    due: Sequence[Resource],
    schedule: Schedule,
    config: Config,
    now: float,
    *,
    allowance: Allowance,
    near_to_come: int,
) -> tuple[Sequence[Sequence[Resource]], Sequence[Resource]]:
    """The resources that are due in batches, and those that the allowance cannot pay for.

    Of each group, what could be within its margin soonest comes first, so that what had to
    wait comes nearer to its turn. Those never seen begin elsewhere at each sweep. Time is
    shared: now and then a batch of the others comes between those that are near. A budget
    goes to those that are near first, the ``near_to_come`` of other kinds among them. What
    it could not pay for to the end is not begun.
    """
    near_resources: list[tuple[float, Resource]] = []
    far: list[tuple[float, Resource]] = []
    never: list[Resource] = []
    for resource in due:
        last_look = schedule.last_look(resource)
        if last_look is None or last_look.judgement.level_seen is None:
            never.append(resource)
        else:
            (near_resources if last_look.judgement.is_near else far).append(
                (last_look.late_at, resource)
            )
    start = int(now / config.sweep_period_s * GOLDEN % 1.0 * len(never))
    front, back = (
        _soonest_first(near_resources),
        [*never[start:], *never[:start], *_soonest_first(far)],
    )
    refused: list[Resource] = []
    if allowance.is_limited:
        enough = int(allowance.left / QUESTIONS)
        enough = max(min(enough, len(front)), enough - near_to_come)
        refused = [*front, *back][enough:]
        front, back = front[:enough], back[: max(0, enough - len(front))]
    urgent, unhurried = list(_batches(front)), list(_batches(back))
    mixed: list[Sequence[Resource]] = []
    while urgent and unhurried:
        mixed += [*urgent[: TURN - 1], unhurried[0]]
        del urgent[: TURN - 1], unhurried[0]
    return [*mixed, *urgent, *unhurried], refused


def witnesses(
    resources: Sequence[Resource], due: Sequence[Resource], schedule: Schedule
) -> list[Resource]:
    """Return resources of a kind that are not due, last seen active first: they tell silent from blind."""
    due_keys = {resource.key for resource in due}
    not_due = [
        resource for resource in resources if resource.can_spend and resource.key not in due_keys
    ]
    return sorted(not_due, key=schedule.was_idle)


def bystanders(resources: Sequence[Resource]) -> list[Resource]:
    """Return resources of a kind that are in use and have no bucket: their traffic shows that the unit can be seen."""
    return [
        resource for resource in resources if resource.reporting.in_use and resource.bucket is None
    ]


def _soonest_first(resources: list[tuple[float, Resource]]) -> list[Resource]:
    return [resource for _, resource in sorted(resources, key=itemgetter(0))]


def _batches(resources: Sequence[Resource]) -> Iterator[Sequence[Resource]]:
    return (resources[start : start + BATCH] for start in range(0, len(resources), BATCH))

"""One sweep of one unit: look, then publish, then reconcile the alarms."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from burstwatch.aws.alarms.episodes import close_episode
from burstwatch.aws.alarms.publish import publish_of_unit
from burstwatch.aws.alarms.reconcile import list_alarms, reconcile
from burstwatch.aws.alarms.told import Told
from burstwatch.aws.alarms.unheard import HEARING_S
from burstwatch.aws.client.names import HEARTBEAT_METRIC, foreign_name
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.budget import SPENT_METRIC, open_budget
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot, look
from burstwatch.aws.sweep.day_charges import charges_of_yesterday
from burstwatch.aws.sweep.listed_kinds import sort_out
from burstwatch.config import Config
from burstwatch.fixes.surplus import DayCharge
from burstwatch.history.observations import Verdict
from burstwatch.kinds.base import Kind
from burstwatch.messages.episode import Episode
from burstwatch.shards import Problem, Unit

#: Time after the deadline to publish what was found.
PUBLISH_S = 9.0
#: DescribeAlarms may take so long, or a quarter of the time: what is found can be published without its answer.
READ_ALARMS_S = 12.0
#: Episodes that are over are described until so long after the deadline.
CLOSE_EPISODES_S = 4.0


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The findings and actions of one sweep. ``problems`` are the parts that failed.

    ``throttled`` counts answers that asked for fewer calls, ``announced`` are ids that
    had an alarm before, ``reached`` is whether the unit could be asked at all.
    ``created`` are the alarms that it made, by resource id and severity, ``closed`` the
    episodes that ended, and ``charges`` what AWS charged for on the day before, once a day. ``is_first_of_day``
    is whether this is the first whole sweep of this memory on this day.
    """

    snapshot: UnitSnapshot
    problems: tuple[Problem, ...]
    created: tuple[tuple[str, Verdict], ...] = ()
    deleted: tuple[str, ...] = ()
    closed: tuple[Episode, ...] = ()
    charges: tuple[DayCharge, ...] = ()
    completed: bool = False
    announced: frozenset[str] = frozenset()
    throttled: int = 0
    reached: bool = True
    is_found: bool = False
    is_first_of_day: bool = False


def sweep(
    unit: Unit,
    kinds: Iterable[Kind],
    clients: Clients,
    home: Clients,
    config: Config,
    memory: Memory,
    *,
    now: float,
    deadline: Deadline,
) -> Sweep:
    """Sweep once. Harmless when it overlaps with another, or dies at any point.

    ``clients`` reach the unit, which is only looked at; ``home`` has the alarms and topics.
    Every ``HEARING_S`` it also asks whether anybody is subscribed. Alarms are read first, for ``READ_ALARMS_S`` at most.
    Reading metrics ends with the ``deadline``, and writing ``PUBLISH_S`` after it.
    """
    throttled_before = _throttled(clients, home)
    publisher = home.until(deadline.plus(PUBLISH_S))
    problems = _renew_budget(home.until(deadline), unit, memory, config, now=now)
    # First: what its alarms tell otherwise than the last look is looked at anew.
    reader = home.until(deadline.at_most(min(READ_ALARMS_S, deadline.left_s() / 4)))
    with_before = memory.lists_names_before(now)
    listed = list_alarms(
        reader, unit, memory.shard, config, is_home=clients is home, with_names_before=with_before
    )
    if with_before and not isinstance(listed, Problem):
        memory.has_names_before = listed.has_names_before
    # Where that is not known, the look goes by its own schedule, and what is not judged changes no alarm.
    told = None
    if not isinstance(listed, Problem) and not listed.problems:
        told = Told(listed.alarms).severity_unless_ending
    snapshot = look(
        unit, kinds, clients, config, memory, now=now, deadline=deadline, told=told
    )  # fmt: skip
    snapshot, not_kept = sort_out(home.until(deadline), snapshot, config, memory)
    problems += [*snapshot.problems, *not_kept]
    problems += _spend(publisher, snapshot, memory, config, snapshot.metrics_requested)
    foreign = "" if clients is home else foreign_name(unit)
    if not isinstance(listed, Problem):
        foreign = listed.foreign  # a role can lead to the home unit as well
    snapshot = replace(snapshot, foreign=foreign, account_name=memory.account_name)
    close = partial(close_episode, clients, snapshot, deadline=deadline.plus(CLOSE_EPISODES_S))
    is_hearing_due = memory.seconds_since_heard(now) >= HEARING_S
    reconciled = reconcile(
        publisher, snapshot, listed, config, close=close, is_hearing_due=is_hearing_due, now=now
    )
    memory.heard_at = now if reconciled.is_heard else memory.heard_at
    problems += reconciled.problems
    # A sweep that could not see everything, or make an alarm, is not complete, and its silence must alarm.
    completed = reconciled.is_complete and not snapshot.incomplete and not snapshot.is_blind
    if completed and not memory.is_found:  # what was found is counted with all others that were
        # Last: all before it was acknowledged.
        unpublished = publish_of_unit(publisher, snapshot, config, HEARTBEAT_METRIC, 1.0)
        problems += unpublished
        completed = not unpublished
    # After all that somebody waits for.
    allowance = memory.allowance(now)
    charges, unread = charges_of_yesterday(
        clients.until(deadline), snapshot, memory, allowance, deadline=deadline
    )
    problems += [*unread, *_spend(publisher, snapshot, memory, config, allowance.taken)]
    snapshot = replace(
        snapshot,
        metrics_requested=snapshot.metrics_requested + allowance.taken,
        metrics_refused=snapshot.metrics_refused + allowance.refused,
    )
    return Sweep(
        snapshot=snapshot,
        problems=tuple(problems),
        created=reconciled.created,
        deleted=reconciled.deleted,
        closed=reconciled.closed,
        charges=tuple(charges),
        completed=completed,
        announced=reconciled.announced,
        throttled=_throttled(clients, home) - throttled_before,
        is_found=memory.is_found,
        # A list without what could not be listed would end the silence of it.
        is_first_of_day=not snapshot.incomplete and memory.begins_day(now),
    )


def _spend(
    publisher: Clients, snapshot: UnitSnapshot, memory: Memory, config: Config, metrics: int
) -> list[Problem]:
    """Take metrics that were asked for from the budget, where there is one. Returns what failed."""
    if memory.budget is None or not metrics:
        return []
    memory.budget.spend(metrics)
    # A function that starts anew reads there what was spent before it.
    return publish_of_unit(publisher, snapshot, config, SPENT_METRIC, float(metrics))


def _renew_budget(
    home: Clients, unit: Unit, memory: Memory, config: Config, *, now: float
) -> list[Problem]:
    """Read what is left to spend, where a budget is set and what is remembered of it is old. Returns what failed."""
    is_known = memory.budget is not None and not memory.budget.is_stale(now)
    if math.isinf(config.budget_metrics_per_s) or is_known:
        return []
    opened, problems = open_budget(home, unit, memory.shard, config, now=now)
    memory.budget = memory.budget if memory.budget and problems else opened
    return problems


def _throttled(*clients: Clients) -> int:
    """Count the throttled calls of all clients, each once."""
    return sum(client.throttled for client in {id(client): client for client in clients}.values())

"""Polls the units of a fleet, each by the deadlines of its resources as a sweep does, and keeps what it found.

A unit is polled in a thread of its own at a time. One that hangs or fails costs no other: it is
polled again when its poll has ended.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from threading import Lock

from burstwatch.aws.client.session import AwsError, Clients, Deadline
from burstwatch.aws.look.budget import new_budget
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot, look
from burstwatch.aws.watched.units import Connections, UnitSpec
from burstwatch.config import Config
from burstwatch.fleet.reasons import stable_reason
from burstwatch.kinds.base import Kind
from burstwatch.shards import Problem, Unit

LOG = logging.getLogger("burstwatch")
#: Units polled at a time: they wait for AWS most of the time.
AT_ONCE = 16
#: A poll ends after so long; what it has not asked for by then is unknown.
POLL_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Totals of the polls of one unit since the start: metrics requested, answers of AWS, and how many of these asked for fewer calls."""

    metrics: int = 0
    answers: int = 0
    throttled: int = 0


@dataclass(frozen=True, kw_only=True)
class UnitReading:
    """One unit as of its newest poll.

    ``snapshot`` is the newest look that was answered, None before the first. ``error`` is why the
    newest poll reached nothing, and empty where it did. ``polled_at`` is when the newest poll began, in unix
    seconds and None before it, ``seconds`` how long it took.
    """

    unit: Unit
    snapshot: UnitSnapshot | None = None
    error: str = ""
    polled_at: float | None = None
    seconds: float = 0.0
    spent: Spent = Spent()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The parts of the newest poll that failed."""
        if self.error:
            return (Problem(part=f"unit {self.unit}", error=self.error),)
        return () if self.snapshot is None else self.snapshot.problems

    def has_ended(self, now: float, *, lasts_s: float) -> bool:
        """True if its newest answer is so old that nothing of it holds any more."""
        return self.snapshot is not None and now - self.snapshot.at > lasts_s


@dataclass(kw_only=True)
class _Member:
    """A unit of the fleet with what is remembered of it. Only the poll that is under way writes here."""

    spec: UnitSpec
    memory: Memory
    reading: UnitReading
    #: The clients of the last poll, and what they had counted by then.
    clients: Clients | None = None
    counted: tuple[int, int] = (0, 0)
    is_polling: bool = False


class Poller:
    """Every unit, and its newest reading."""

    def __init__(
        self,
        specs: Iterable[UnitSpec],
        connections: Connections,
        kinds: Sequence[Kind],
        config: Config,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``clock`` gives unix seconds. Nothing is asked before the first poll."""
        self._connections, self._kinds = connections, kinds
        self._config, self._clock = config, clock
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="poll")
        self._lock = Lock()
        self._members: list[_Member] = []
        self.watch(specs)

    def watch(self, specs: Iterable[UnitSpec]) -> None:
        """Poll these units from now on. Those that were polled before keep what is known of them; others are dropped."""
        with self._lock:
            members = {member.spec: member for member in self._members}
            self._members = [members.get(spec) or self._new_member(spec) for spec in specs]

    def readings(self) -> tuple[UnitReading, ...]:
        """The newest reading of each unit."""
        return tuple(member.reading for member in self._members)

    def start(self) -> list[Future[None]]:
        """Begin to poll every unit whose last poll has ended."""
        futures = []
        with self._lock:
            for member in self._members:
                if not member.is_polling:
                    member.is_polling = True
                    futures.append(self._pool.submit(self._poll, member))
        return futures

    def poll(self) -> None:
        """Poll every unit, and wait for all."""
        wait(self.start())

    def stop(self) -> None:
        """Begin no more polls. Those under way are left to themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _new_member(self, spec: UnitSpec) -> _Member:
        memory = Memory(shard=spec.shard)
        if not math.isinf(self._config.budget_metrics_per_s):
            memory.budget = new_budget(self._config, spec.shard, now=self._clock())
        unit = Unit(
            account=spec.account or "home", region=spec.region or self._connections.home.region
        )
        return _Member(spec=spec, memory=memory, reading=UnitReading(unit=unit))

    def _poll(self, member: _Member) -> None:
        now, began = self._clock(), time.monotonic()
        before = member.reading
        try:
            reading = self._read(member, now)
        except AwsError as error:
            reading = replace(before, error=str(error))
        except Exception as error:  # a mistake in one unit must not end the others, nor go untold
            LOG.exception("%s: the poll broke", before.unit)
            reading = replace(before, error=f"{type(error).__name__}: {error}")
        member.reading = replace(reading, polled_at=now, seconds=time.monotonic() - began)
        member.is_polling = False
        _log_news(before, member.reading)

    def _read(self, member: _Member, now: float) -> UnitReading:
        """The reading after one look.

        Raises:
            AwsError: if the unit cannot be reached.
        """
        clients, unit = self._connections.reach(member.spec, self._config.deployment, now)
        snapshot = look(
            unit,
            self._kinds,
            clients,
            self._config,
            member.memory,
            now=now,
            deadline=Deadline(time.monotonic, at=time.monotonic() + POLL_S),
        )
        if member.memory.budget is not None:
            member.memory.budget.spend(snapshot.metrics_requested)
        spent = member.reading.spent
        answers, throttled = member.counted if clients is member.clients else (0, 0)
        member.clients, member.counted = clients, (clients.answers, clients.throttled)
        return UnitReading(
            unit=unit,
            snapshot=snapshot,
            spent=Spent(
                metrics=spent.metrics + snapshot.metrics_requested,
                answers=spent.answers + clients.answers - answers,
                throttled=spent.throttled + clients.throttled - throttled,
            ),
        )


def _log_news(before: UnitReading, after: UnitReading) -> None:
    """Log the problems that are new, each once until it is gone, whichever resources it is of."""
    logged = {stable_reason(problem.error) for problem in before.problems}
    for problem in after.problems:
        if stable_reason(problem.error) not in logged:
            logged.add(stable_reason(problem.error))
            LOG.warning("%s: %s: %s", after.unit, problem.part, problem.error)
    if before.problems and not after.problems:
        LOG.info("%s: no problem any more", after.unit)

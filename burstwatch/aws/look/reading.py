"""Call CloudWatch for what the sampling asks next: a few batches at a time, each on its own.

A batch is asked, judged and dropped before all of its neighbours are there, so that memory
holds the history of a few batches and not of a fleet. A batch that is silent altogether
waits until the others have shown whether the unit is blind.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TypeVar

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import LATE, Clients, Deadline
from burstwatch.aws.look.metrics import BUDGET_USED, read_metrics
from burstwatch.history.observations import Resource
from burstwatch.history.points import FINE_S
from burstwatch.polling.order import in_batches
from burstwatch.polling.queries import (
    Allowance,
    Answers,
    Failure,
    Request,
    demand_queries,
    demand_query,
    make_request,
)
from burstwatch.polling.sampling import Batch, Steps, Task
from burstwatch.polling.schedule import Judgement
from burstwatch.shards import Problem

#: Batches under way at once: their calls wait for CloudWatch, not for one another.
AT_ONCE = 4
#: Most resources that are polled early when nothing due has fresh data.
WITNESSES = 10
#: Above this many silent resources their traffic is not asked for (four metrics each).
MOST_SILENT = 100

_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads metrics until the deadline, no faster than the pace and within the allowance."""

    clients: Clients
    now: float
    deadline: Deadline
    pace: Pace | None = None
    allowance: Allowance
    #: Answers are awaited together and judged one after the other: threads that compute only take turns.
    judging: Lock = field(default_factory=Lock)

    def run(self, steps: Steps[_Result]) -> _Result:
        """Answer each request of the steps, and return their result."""
        try:
            with self.judging:
                request = next(steps)
            while True:
                answers = self.read(request)
                with self.judging:
                    request = steps.send(answers)
        except StopIteration as end:
            result: _Result = end.value
            return result

    def read(self, request: Request) -> Answers:
        """Answer one request."""
        return read_metrics(
            self.clients,
            request.queries,
            start_s=self.now - request.back_s,
            end_s=self.now,
            period_s=request.period_s,
            deadline=self.deadline,
            pace=self.pace,
            allowance=self.allowance,
        )


@dataclass(kw_only=True)
class Answered:
    """The outcome of asking about some resources.

    ``is_fresh`` is whether any of them had fresh data: what was not answered shows nothing.
    """

    is_fresh: bool = False
    judgements: list[Judgement] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, more: "Answered") -> None:
        """Take in those of another batch."""
        self.is_fresh = self.is_fresh or more.is_fresh
        self.judgements += more.judgements
        self.problems += more.problems


def ask(
    task: Task,
    reader: Reader,
    due: Sequence[Resource],
    witnesses: Callable[[], Sequence[Resource]],
    *,
    bystanders: Sequence[Resource] = (),
    near_to_come: int = 0,
) -> Answered:
    """Ask for all of ``due`` and judge it. What is not done in time is unknown and counted.

    ``witnesses`` gives others of the kind, those last seen active first: where nothing due
    has fresh data, they tell silent from blind. ``bystanders`` have no bucket; their traffic tells
    it too.
    """
    reader.clients("cloudwatch")  # made once, before several ask for it at once
    answered, silent = Answered(), list[Batch]()
    batches, refused = in_batches(
        due,
        task.schedule,
        task.config,
        task.now,
        allowance=reader.allowance,
        near_to_come=near_to_come,
    )
    if refused:
        reader.allowance.refuse(len(refused))
        answered.add(_given_up(Batch(task, refused), BUDGET_USED, "unpaid"))
    read_first = partial(_first, reader)
    for done in _at_once(reader, read_first, [Batch(task, group) for group in batches]):
        if isinstance(done, Batch):
            silent.append(done)
        else:
            answered.add(done)
    if silent:
        is_fresh = (
            answered.is_fresh
            or _is_fresh(task, reader, witnesses, answered)
            or _only_they_are_silent(task, reader, silent, bystanders)
        )
        for done in _at_once(reader, partial(_judge, reader, unit_is_fresh=is_fresh), silent):
            answered.add(done)
    return answered


def _at_once(
    reader: Reader, job: Callable[[Batch], _Result], batches: Sequence[Batch]
) -> Iterator[_Result | Answered]:
    """The job done for each, a few at a time. One that fails or is late costs no other."""
    if not batches:
        return
    # Not a context, which would wait for a call that hangs.
    pool = ThreadPoolExecutor(AT_ONCE)
    futures = [pool.submit(job, batch) for batch in batches]
    done, _ = wait(futures, timeout=reader.deadline.left_s())
    pool.shutdown(wait=False, cancel_futures=True)
    for batch, future in zip(batches, futures, strict=True):
        if future not in done:
            yield _given_up(batch, LATE)
        elif isinstance(error := future.exception(), Exception):
            yield _given_up(batch, " ".join(f"{type(error).__name__}: {error}".split()))
        else:
            yield future.result()


def _first(reader: Reader, batch: Batch) -> Batch | Answered:
    """A batch's levels, and all the rest unless it is silent altogether."""
    if not reader.run(batch.read_levels()):
        return batch
    answered = _judge(reader, batch, unit_is_fresh=True)
    answered.is_fresh = True
    return answered


def _judge(reader: Reader, batch: Batch, *, unit_is_fresh: bool) -> Answered:
    judgements = reader.run(batch.judge(unit_is_fresh=unit_is_fresh))
    batch.samples = []  # the other batches are still to come, and the hours of this one are large
    return Answered(judgements=judgements, problems=batch.problems)


def _is_fresh(
    task: Task,
    reader: Reader,
    witnesses: Callable[[], Sequence[Resource]],
    answered: Answered,
) -> bool:
    """True if anything else has fresh data: as was seen lately, or by asking one and then more."""
    newest_s = task.schedule.newest_s.get(task.kind.name, 0.0)
    if newest_s >= task.now - task.config.max_data_age_s - FINE_S:
        return True
    candidates = witnesses()[:WITNESSES]
    for group in (candidates[:1], candidates[1:]):
        batches = [Batch(task, group)] if group else []
        for done in _at_once(reader, partial(_witness, reader), batches):
            # It was paid for, so it counts as a poll; but a failed one does not replace the poll before.
            done.judgements = [judgement for judgement in done.judgements if not judgement.failure]
            answered.add(done)
            if done.is_fresh:
                return True
    return False


def _only_they_are_silent(
    task: Task, reader: Reader, silent: Sequence[Batch], bystanders: Sequence[Resource]
) -> bool:
    """True if some that have no bucket have fresh traffic, and none of the silent ones has any.

    A silent volume with traffic is one whose level does not arrive.
    """
    silent_resources = [sample.resource for batch in silent for sample in batch.samples]
    if not bystanders or len(silent_resources) > MOST_SILENT:
        return False
    compared = bystanders[:WITNESSES]
    queries = [
        query for resource in silent_resources for query in demand_queries(task.kind, resource)
    ]
    queries += [
        demand_query(task.kind, bystander, task.kind.demand_metrics[0]) for bystander in compared
    ]
    late_s = task.config.max_data_age_s + FINE_S
    request = make_request(queries, back_s=late_s + FINE_S, period_s=int(FINE_S))
    try:
        answers = reader.deadline.wait_for(partial(reader.read, request))
    except Exception:  # noqa: BLE001 - without an answer they stay unknown
        return False
    if answers.failed:
        return False
    busy = {
        name
        for (name, _), series in answers.series.items()
        for at, value in series
        if at + FINE_S >= task.now - late_s and value > 0
    }
    return not busy.isdisjoint(bystander.id for bystander in compared) and busy.isdisjoint(
        resource.id for resource in silent_resources
    )


def _witness(reader: Reader, batch: Batch) -> Answered:
    """The judgement of a batch if any of it is fresh, else nothing."""
    done = _first(reader, batch)
    return Answered(problems=done.problems) if isinstance(done, Batch) else done


def _given_up(batch: Batch, reason: str, failure: Failure = "unanswered") -> Answered:
    return Answered(judgements=batch.given_up(reason, failure), problems=batch.problems)

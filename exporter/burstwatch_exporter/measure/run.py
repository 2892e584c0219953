"""Runs one step: starts its program, watches, ends it in time, and reads what it printed."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from burstwatch_exporter.measure.drain import ServedSample
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.outputs import Outcome, OutputError
from burstwatch_exporter.measure.programs import Place, start
from burstwatch_exporter.measure.watch import BUDGET_SPENT, Stop, StopCause, Watch

#: A program that is told to end has so long beside what it waits for, before it is killed.
ENDS_WITHIN_S = 1.0
#: And so long after that to write its result, where nothing is at stake.
RESULT_S = 10.0
#: Over its time by so much, it hangs.
OVERTIME_S = 30.0
#: The counters must show this share of what fio has moved; of a step of less than so much they need not.
COUNTED, LEAST_MIB = 0.9, 1.0
KIB_PER_MIB = 1024
#: Nothing is at stake; what it does while it ends is watched nevertheless.
AT_EASE: frozenset[StopCause | None] = frozenset({None, "interrupted"})
HUNG = Stop("hung", "it did not end")
HELD = Stop("held", "it cannot be killed, because it waits in the kernel")


@dataclass(frozen=True, kw_only=True)
class Run:
    """The outcome of a step. ``stopped`` is why it did not run its time, ``failed`` what went wrong.

    ``contradiction`` is how the counters of the volumes cannot be those of what it did. ``watched_s`` is
    the time that the rates of the devices are of.
    """

    ran_s: float
    spent: float
    samples: Sequence[ServedSample]
    device_iops: float
    device_mib_s: float
    watched_s: float = 0.0
    stopped: Stop | None = None
    failed: str = ""
    contradiction: str = ""
    outcome: Outcome | None = None


def run_step(
    step: Step,
    place: Place,
    watch: Watch,
    *,
    programs: dict[str, str],
    allowed: float,
    in_flight: float,
    patience_s: float,
    until: Callable[[Sequence[ServedSample]], bool] = lambda _: False,
) -> Run:
    """Run it until its time is over, the volumes have spent ``allowed`` in all, or ``until`` is so.

    ``in_flight`` is what it may spend after it is told to end, or while nobody watches; ``patience_s`` is how
    long an empty bucket takes to serve its last operations: fio ends when all have come back.
    """
    watch.begin(step.name, in_flight=in_flight)
    stopped: Stop | None = None
    is_enough = False
    with ExitStack() as stack:
        began = time.monotonic()
        program = start(step, place, programs, stack)
        try:
            while program.is_running() and not stopped and not is_enough:
                watch.pause()
                stopped = watch.reason(allowed)
                is_enough = until(watch.samples)
                if not stopped and time.monotonic() - began > step.runtime_s + OVERTIME_S:
                    stopped = HUNG
        finally:
            samples = list(watch.samples)
            patience_s += ENDS_WITHIN_S
            last = time.monotonic() + patience_s
            has_ended = program.end(
                patience_s,
                may_write=lambda: (
                    (stopped and stopped.cause) in AT_EASE
                    and time.monotonic() < last + RESULT_S
                    and not watch.passed(allowed)
                ),
            )
        ran_s = min(time.monotonic(), last) - began  # writing is not running
        watch.look()
        run = _run(step, watch, samples, ran_s=ran_s, stopped=stopped)
        if not has_ended:
            return replace(run, stopped=HELD, failed=f"{step.tool} cannot be ended")
        try:
            outcome = program.outcome(ran_s, was_stopped=bool(stopped) or is_enough)
        except OutputError as error:
            why = f"{error} (stopped: {run.stopped.why})" if run.stopped else str(error)
            return replace(run, failed=why)
    if run.stopped is None and not is_enough and _has_reached_its_bound(step, outcome):
        run = replace(run, stopped=BUDGET_SPENT)
    return replace(run, outcome=outcome, contradiction=_contradiction(step, run, outcome))


def _has_reached_its_bound(step: Step, outcome: Outcome) -> bool:
    """True if it ended by itself, because it had done all operations that it might."""
    if outcome.total_ios is None or step.most_ios_per_job is None:
        return False
    return outcome.total_ios >= step.most_ios_per_job * step.jobs


def _contradiction(step: Step, run: Run, outcome: Outcome) -> str:
    """How much more fio has done past the page cache than the counters of the volumes show, in words, or nothing.

    The kernel may merge requests, and no bytes. So the two are compared by bytes.
    """
    if outcome.total_ios is None or step.options.get("direct") != "1":
        return ""
    done_mib = outcome.total_ios * step.block_kib / KIB_PER_MIB
    counted_mib = run.device_mib_s * run.watched_s
    if counted_mib >= COUNTED * done_mib - LEAST_MIB:
        return ""
    return (
        f"fio has moved {done_mib:.0f} MiB, and the counters of the volumes show {counted_mib:.0f}, "
        "so nobody knows what was spent"
    )


def _run(
    step: Step, watch: Watch, samples: Sequence[ServedSample], *, ran_s: float, stopped: Stop | None
) -> Run:
    """The watch's view of a step that has ended."""
    is_spent = stopped is not None and stopped.cause == "budget"
    was_about_to_end = is_spent and ran_s >= step.runtime_s
    iops, mib_s = watch.rates
    return Run(
        ran_s=min(ran_s, watch.elapsed_s) or ran_s,
        spent=watch.spent,
        samples=samples,
        device_iops=iops,
        device_mib_s=mib_s,
        watched_s=watch.elapsed_s,
        stopped=None if was_about_to_end else stopped,
    )

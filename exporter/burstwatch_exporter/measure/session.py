"""One measurement from its plan to its record. What happens on the way ends it, and loses nothing."""

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch_exporter.measure import record as rec
from burstwatch_exporter.measure.drain import (
    ServedSample,
    estimate,
    has_fallen,
    refill_while_resting,
)
from burstwatch_exporter.measure.expect import DiskLimits
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.plan import Plan, StepPlan
from burstwatch_exporter.measure.process import UNWATCHED_S
from burstwatch_exporter.measure.profiles import Profile
from burstwatch_exporter.measure.programs import Place
from burstwatch_exporter.measure.record import iops_of, step_record, volume_record
from burstwatch_exporter.measure.run import Run, run_step
from burstwatch_exporter.measure.scratch import (
    lay_out,
    remove_left_behind,
    scratch_file,
    scratch_folder,
)
from burstwatch_exporter.measure.target import Target
from burstwatch_exporter.measure.verdict import Credits, judge
from burstwatch_exporter.measure.watch import Stop, StopCause, Watch

#: How long to wait for what is still on its way to the disk when all has ended; others may go on.
QUIET_S, LOOKS = 0.5, 10
#: What stops one step and no other.
ENDS_ITSELF_ALONE: frozenset[StopCause] = frozenset({"budget", "hung"})
#: A drain that takes so many times as long as it should is given up, and one that spends so many times as much.
LATE = 1.5


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """The place of the measurement, for whoever reads the record."""

    host: str
    kernel: str
    instance_type: str
    floor_ratio: float
    vcpus: int


class Session:
    """A measurement under way."""

    def __init__(
        self, profile: Profile, target: Target, plan: Plan, watch: Watch, about: About,
        *, programs: dict[str, str],
    ) -> None:  # fmt: skip
        """``profile`` says what load to make. ``watch`` has begun with what the volumes had before anything was written."""
        self._profile, self._target, self._plan, self._watch = profile, target, plan, watch
        self._about, self._programs = about, programs
        self._disk = disk_limits_of(target, vcpus=about.vcpus)
        self._steps: list[rec.StepRecord] = []
        self._drain: rec.DrainRecord | None = None
        self._stopped: Stop | None = None
        self._failed = ""
        self._drains = False
        # False once the counters contradict the tool: then nobody knows what was spent.
        self._is_counted = True

    def run(self, *, recover_s: float | None = None) -> rec.Record:
        """All steps; with ``recover_s`` it is a drain, with so long a rest after it."""
        self._drains = recover_s is not None
        directory, elsewhere = self._target.directory, Path(tempfile.gettempdir())
        for place_of in (directory, elsewhere):
            remove_left_behind(place_of)
        try:
            with scratch_file(directory) as fd, scratch_folder(elsewhere) as folder:
                place = Place(fd=fd, directory=directory, folder=folder)
                if self._lay_out(fd):
                    if recover_s is None:
                        self._run_all(place)
                    else:
                        self._run_drain(place, recover_s)
        except OSError as error:
            self._failed = f"{error.filename or directory}: {error.strerror or error}"
        self._settle()
        return self._record()

    def _lay_out(self, fd: int) -> bool:
        """Write the scratch file while the budget lasts; false if it was stopped."""
        self._watch.begin("scratch file")
        allowed = self._watch.bounds.budget

        def go_on(_: float) -> bool:
            self._stopped = self._watch.reason(allowed)
            return not self._stopped

        return self._plan.layout_mib == 0 or lay_out(fd, self._plan.layout_mib, go_on=go_on)

    def _run_all(self, place: Place) -> None:
        """Run each step with an even share of what is left of the budget.

        A step that fails ends no other; a contradiction, or a program that cannot be killed, ends all.
        """
        steps = self._plan.steps
        for i, planned in enumerate(steps):
            spent = self._watch.now.spent_most
            share = (self._watch.bounds.budget - spent) / (len(steps) - i)
            run = self._run(planned, planned.step, place, allowed=spent + share)
            if self._ends_all(run):
                return

    def _run(
        self, planned: StepPlan, step: Step, place: Place, *, allowed: float,
        until: Callable[[Sequence[ServedSample]], bool] = lambda _: False,
    ) -> Run:  # fmt: skip
        """Run one step and note what came of it, even if it could not be begun.

        The program itself ends when it has done what ``allowed`` pays for. dbench has no such bound, so what the
        volume can spend until the keeper ends it is kept back.
        """
        beyond = planned.in_flight
        if step.tool == "dbench" and self._plan.credit is not None:
            beyond += UNWATCHED_S * self._plan.credit.bucket.burst
        if planned.price > 0 and math.isfinite(allowed):
            left = max(0.0, allowed - self._watch.now.spent_most)
            step = replace(step, most_ios=min(step.most_ios, left / planned.price))
        try:
            run = run_step(
                step, place, self._watch, programs=self._programs, allowed=allowed,
                in_flight=beyond, patience_s=planned.last_ones_s, until=until,
            )  # fmt: skip
        except OSError as error:
            run = Run(
                ran_s=0.0, spent=self._watch.spent, samples=(), device_iops=0.0, device_mib_s=0.0,
                failed=f"{error.filename or step.tool}: {error.strerror or error}",
            )  # fmt: skip
        self._note(step, run)
        return run

    def _run_drain(self, place: Place, recover_s: float) -> None:
        """Run until the rate has fallen, rest, and run again for what came in."""
        (planned,) = self._plan.steps
        if self._plan.credit is None:
            return
        bucket, budget = self._plan.credit.bucket, self._watch.bounds.budget
        before = self._watch.now.intervals[self._target.views[0].disk.name]
        middle = (planned.credits_per_s + bucket.refill) / 2

        def is_over(samples: Sequence[ServedSample]) -> bool:
            # As is likely: the most that may have been charged is far above it where I/O is split.
            spent = math.fsum(sample.rate * sample.seconds for sample in samples)
            return spent > most or has_fallen(samples, below=middle)

        longest_s = min(planned.step.runtime_s, LATE * planned.runs_s)
        most = LATE * (before.high + bucket.refill * planned.runs_s)
        most_ios = most * planned.expected.best.iops / planned.credits_per_s
        step = replace(planned.step, runtime_s=longest_s, most_ios=most_ios)
        run = self._run(planned, step, place, allowed=budget, until=is_over)
        bucket_estimate = estimate(run.samples, interval=before, capacity=bucket.capacity)
        if self._ends_all(run) or run.failed or bucket_estimate is None:
            self._stopped = self._stopped or Stop("no knee", "no knee was found")
            return
        refill = None
        rested_s = self._rest(recover_s)
        if recover_s > 0 and not self._stopped:
            again = replace(step, name=f"{step.name}-after-rest")
            run = self._run(planned, again, place, allowed=budget, until=is_over)
            if not self._ends_all(run) and not run.failed:
                refill = refill_while_resting(run.samples, bucket_estimate.knee, rested_s=rested_s)
        self._drain = rec.DrainRecord(
            knee_s=bucket_estimate.knee.at,
            burst=bucket_estimate.knee.burst,
            baseline=bucket_estimate.knee.baseline,
            drained=bucket_estimate.drained,
            capacity=bucket_estimate.capacity,
            refill=refill,
            catalogue_burst=bucket.burst,
            catalogue_baseline=bucket.refill,
            catalogue_capacity=bucket.capacity,
        )

    def _rest(self, seconds: float) -> float:
        """Do nothing for so long; how long it was."""
        self._watch.begin("rest")
        while self._watch.elapsed_s < seconds and not self._stopped:
            self._watch.pause()
            self._stopped = self._watch.reason(self._watch.bounds.budget)
        return self._watch.elapsed_s

    def _ends_all(self, run: Run) -> bool:
        """True if what stopped a step stops all that would follow; why is noted.

        A step that has spent its share of the budget, or that had to be killed, ends itself alone. A program that
        cannot be killed would run beside the next step, and without counters nobody keeps the budget.
        """
        if run.contradiction:
            self._failed = run.contradiction
            self._is_counted = False
            return True
        if run.stopped is None or run.stopped.cause in ENDS_ITSELF_ALONE:
            return False
        self._stopped = run.stopped
        return True

    def _settle(self) -> None:
        """Wait for the I/O still under way: it is charged even if nobody waits for it."""
        before = self._watch.began.counters.in_flight
        for _ in range(LOOKS):
            self._watch.look()
            if self._watch.is_gone or self._watch.now.counters.in_flight <= before:
                break
            time.sleep(QUIET_S / LOOKS)

    def _note(self, step: Step, run: Run) -> None:
        """Judge a step that ran against its promise, and keep its record."""
        verdict = None
        is_judged = (
            step.tool != "dbench" and not self._drains and not run.failed and not run.contradiction
        )
        iops = iops_of(run)
        if iops is not None and is_judged:
            credits_left = self._credits()
            verdict = judge(step, self._disk, iops=iops, ran_s=run.ran_s, credits_left=credits_left)
        self._steps.append(step_record(step, run, verdict))

    def _credits(self) -> Credits | None:
        """The credits left on the volume that has the fewest."""
        shares = [
            Credits(
                low=interval.low / view.account.own_bucket.capacity,
                high=interval.high / view.account.own_bucket.capacity,
            )
            for view in self._target.views
            if view.account is not None
            for interval in [self._watch.now.intervals[view.disk.name]]
        ]
        return min(shares, key=lambda credits_left: credits_left.low, default=None)

    def _record(self) -> rec.Record:
        """Collect the record of the session."""
        watch, target = self._watch, self._target
        budget = watch.bounds.budget
        volumes = [
            volume_record(view, watch.began, watch.now, is_counted=self._is_counted)
            for view in target.views
        ]
        spent = [volume.credit.spent_most for volume in volumes if volume.credit is not None]
        return rec.Record(
            format=rec.FORMAT,
            profile=self._profile.name,
            host=self._about.host,
            kernel=self._about.kernel,
            instance_type=self._about.instance_type,
            directory=str(target.directory),
            device=target.device,
            fstype=target.fstype,
            stripe=""
            if target.stripe is None
            else f"{target.stripe.level} of {target.stripe.members}",
            began_s=watch.began.wall_s,
            ended_s=watch.now.wall_s,
            budget=budget if self._plan.credit is not None and math.isfinite(budget) else None,
            predicted=self._plan.spends,
            floor_ratio=self._about.floor_ratio,
            stopped=self._stopped.why if self._stopped else "",
            failed=self._failed,
            volumes=volumes,
            steps=self._steps,
            drain=self._drain,
            overspent=max([0.0, *(credits_spent - budget for credits_spent in spent)]),
        )


def disk_limits_of(target: Target, *, vcpus: int) -> DiskLimits:
    """The joint promise of the volumes under a directory. Those of a stripe are alike.

    Over several in another layout nobody knows it; what one promises is what it costs at the most.
    """
    spec = target.views[0].spec
    if spec is None:
        return DiskLimits()
    is_known = len(target.views) == target.members
    other_disk = OTHER_DISKS.get(spec.volume_spec.volume_type)
    if other_disk is not None:
        return DiskLimits(
            ways=other_disk.of_size(spec.volume_spec.size_gib),
            cap=other_disk.cap(vcpus),
            members=target.members,
            is_known=is_known,
        )
    return DiskLimits(
        is_known=is_known,
        volume_spec=spec.volume_spec,
        instance=spec.volume.instance,
        members=target.members,
        largest_kib=min(view.disk.largest_kib for view in target.views),
    )

"""A plan and a result as people read them: on a terminal, and as Markdown."""

import math

from burstwatch.bucket import MINUTE_S
from burstwatch.formatting import number, span, table
from burstwatch_exporter.measure.plan import Plan
from burstwatch_exporter.measure.profiles import Profile
from burstwatch_exporter.measure.record import DrainRecord, Record, StepRecord, VolumeRecord
from burstwatch_exporter.measure.verdict import LEAST_S

FEW_STEPS = 6
AS_EXPECTED = {"bursting", "as promised", "as asked", "too short"}
HEADINGS = ("step", "IOPS", "MiB/s", "mean", "p95", "promised", "verdict")


def plan_text(profile: Profile, plan: Plan, subject: str) -> str:
    """Write what it would cost, and what that leaves."""
    lines = [f"{profile.name} on {subject}: {profile.help}"]
    headings = ["step", "at most", "MiB/s", "needs", "runs", "credits", "full bucket lasts"]
    rows = [
        [
            step_plan.step.name,
            _rate(step_plan.expected.best.iops, "IOPS"),
            _rate(step_plan.expected.best.mib_s, ""),
            span(step_plan.step.runtime_s),
            span(step_plan.runs_s),
            number(step_plan.credits) if plan.credit else "-",
            span(step_plan.until_empty_s) if plan.credit else "-",
        ]
        for step_plan in plan.steps
    ]
    lines += [table(headings, rows)]
    if plan.credit is None:
        return "\n".join([*lines, "no credits to spend: it is limited by time alone", ""])
    bucket = plan.credit.bucket
    lines.append(
        f"all steps in full cost {number(plan.credits)} credits, {plan.credits / bucket.capacity:.1%} of the bucket of "
        f"{number(bucket.capacity)} ({number(plan.layout_credits)} of them for the scratch file)"
    )
    budget = (
        f"the budget is {number(plan.credit.budget)} ({plan.credit.budget / bucket.capacity:.1%}): "
    )
    if math.isinf(plan.credit.budget):
        budget = "it ends when the bucket is empty: "
    lines.append(f"{budget}at most {number(plan.spends)} will be spent, in {span(plan.seconds)}")
    short = sum(
        step_plan.runs_s < min(LEAST_S, step_plan.step.runtime_s) for step_plan in plan.steps
    )
    if short:
        lines.append(
            f"the budget is too small: {short} of {len(plan.steps)} steps get less than {LEAST_S:g} s, too short for a result"
        )
    interval = plan.credit.interval
    lines.append(
        f"balance {interval.low / bucket.capacity:.1%} to {interval.high / bucket.capacity:.1%}, after the run about "
        f"{plan.balance_after or 0:.1%}; at full burst it lasts {span(plan.left_s)} now, {span(plan.left_after_s)} after the run"
    )
    return "\n".join([*lines, ""])


def plan_json(profile: Profile, plan: Plan) -> dict[str, object]:
    """Return the plan for programs; null stands for never."""
    bucket = plan.credit.bucket if plan.credit else None
    return {
        "profile": profile.name,
        "seconds": plan.seconds,
        "credits": plan.credits if plan.credit else None,
        "budget": _finite(plan.credit.budget) if plan.credit else None,
        "spends": plan.spends if plan.credit else None,
        "layout_credits": plan.layout_credits if plan.credit else None,
        "capacity": bucket.capacity if bucket else None,
        "balance_low": plan.credit.interval.low / bucket.capacity
        if plan.credit and bucket
        else None,
        "balance_high": plan.credit.interval.high / bucket.capacity
        if plan.credit and bucket
        else None,
        "balance_after": plan.balance_after,
        "worst_time_to_empty_s": _finite(plan.left_s),
        "worst_time_to_empty_after_s": _finite(plan.left_after_s),
        "steps": [
            {
                "name": step_plan.step.name,
                "iops": _finite(step_plan.expected.best.iops),
                "mib_s": _finite(step_plan.expected.best.mib_s),
                "latency_s": step_plan.expected.best.latency_s,
                "binding": step_plan.expected.best.holds,
                "iops_when_empty": step_plan.expected.empty.iops
                if step_plan.expected.empty
                else None,
                "runtime_s": step_plan.step.runtime_s,
                "runs_s": step_plan.runs_s,
                "credits": step_plan.credits if plan.credit else None,
                "credits_per_s": step_plan.credits_per_s if plan.credit else None,
                "time_to_empty_s": _finite(step_plan.until_empty_s),
            }
            for step_plan in plan.steps
        ],
    }


def record_text(record: Record) -> str:
    """The result on a terminal."""
    results = table(HEADINGS, [step_cells(step) for step in record.steps])
    return "\n".join([heading(record), results, *remarks(record), ""])


def record_markdown(record: Record) -> str:
    """Return the result as Markdown."""
    rows = [HEADINGS, ["---"] * len(HEADINGS), *(step_cells(step) for step in record.steps)]
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    said = [f"- {line}" for line in remarks(record)]
    return "\n".join([f"# {heading(record)}", "", *lines, "", *said, ""])


def remarks(record: Record) -> list[str]:
    """The remarks beside the table, line by line: the verdicts' reasons first."""
    lines = [*_reasons(record), *(line for step in record.steps for line in minutes(step))]
    if record.drain is not None:
        lines += _drain_lines(record.drain, record.volumes[0].unit if record.volumes else "io")
    lines += [_spent_line(volume) for volume in record.volumes]
    if record.budget is not None and record.overspent > 0:
        lines.append(
            f"up to {number(record.overspent)} credits more than the budget of {number(record.budget)} were spent: other "
            "programs' I/O counts too"
        )
    return [*lines, *ends(record)]


def heading(record: Record) -> str:
    """Name what was measured, and where."""
    volumes = ", ".join(
        f"{volume.key} ({volume.volume_type or 'type unknown'} {volume.size_gib:.4g} GiB)"
        for volume in record.volumes
    )
    on = f" over {record.stripe}" if record.stripe else ""
    return f"{record.profile} on {volumes}{on}, {record.host}"


def step_cells(step: StepRecord) -> tuple[str, ...]:
    """One row of the table of results."""
    ways = [way for way in (step.read, step.write) if way is not None]
    tails = [way.percentiles_s["95"] for way in ways if "95" in way.percentiles_s]
    promised = step.verdict.promised_iops if step.verdict else None
    word = step.failed or (step.verdict.word if step.verdict else "")
    if step.files_mib_s is not None:
        word = f"{number(step.files_mib_s)} MiB/s given to the file system"
    if step.stopped:
        word = f"{word}, " if word else ""
        word += f"after {step.ran_s:.1f} of {step.wanted_s:g} s: {step.stopped}"
    return (
        step.name,
        _rate(step.iops, ""),
        _rate(step.mib_s, ""),
        _ms(step.mean_s),
        _ms(max(tails, default=None)),
        _rate(promised, ""),
        word,
    )


def _reasons(record: Record) -> list[str]:
    """Why each verdict is what it is; of many, those that are no good news."""
    return [
        f"{step.name}: {step.verdict.reason}"
        for step in record.steps
        if step.verdict and (len(record.steps) <= FEW_STEPS or step.verdict.word not in AS_EXPECTED)
    ]


def minutes(step: StepRecord) -> list[str]:
    """The readings of each whole minute, of a step that has several."""
    readings: list[str] = []
    until, ops, seconds = MINUTE_S, 0.0, 0.0
    before = 0.0
    for at, iops, _ in step.samples:
        ops, seconds, before = ops + iops * (at - before), seconds + at - before, at
        if at >= until:
            readings.append(number(ops / seconds))
            until, ops, seconds = until + MINUTE_S, 0.0, 0.0
    return (
        [f"{step.name}, IOPS minute by minute: {'; '.join(readings)}"] if len(readings) > 1 else []
    )


def _drain_lines(drain: DrainRecord, unit: str) -> list[str]:
    """Write the bucket as the run shows it, beside the catalogue's."""

    def beside(name: str, measured: float | None, said: float) -> str:
        if measured is None:
            return f"{name}: cannot be said; the catalogue has {number(said)}"
        return f"{name} {number(measured)}, the catalogue has {number(said)} ({measured / said - 1:+.1%})"

    per_s = "IOPS" if unit == "io" else "MiB/s"
    return [
        f"the speed fell to the baseline {span(drain.knee_s)} after the start; until then {number(drain.drained)} more credits were spent than came in",
        beside(f"burst ({per_s})", drain.burst, drain.catalogue_burst),
        beside(f"baseline ({per_s})", drain.baseline, drain.catalogue_baseline),
        beside("capacity (credits)", drain.capacity, drain.catalogue_capacity),
        beside("refill (credits a second at rest)", drain.refill, drain.catalogue_baseline),
    ]


def _spent_line(volume: VolumeRecord) -> str:
    """Say what the measurement spent of one volume's credits, with the balance before and after."""
    credit = volume.credit
    if not volume.is_counted:
        return f"{volume.key}: nobody knows how many credits were spent"
    if credit is None:
        return f"{volume.key}: no credits to spend"
    least, most = number(credit.spent_least), number(credit.spent_most)
    return (
        f"{volume.key}: {least} to {most} credits spent ({credit.spent_most / credit.capacity:.2%} at most, by all I/O "
        f"of the volume), balance {credit.before_low:.1%} to {credit.before_high:.1%} before, "
        f"{credit.after_low:.1%} to {credit.after_high:.1%} after"
    )


def ends(record: Record) -> list[str]:
    """Say how it ended, if not at its end."""
    return [
        f"{name}: {text}"
        for name, text in (("stopped", record.stopped), ("failed", record.failed))
        if text
    ]


def _rate(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{number(value)} {unit}".strip() if math.isfinite(value) else "not known"


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.3g} ms"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

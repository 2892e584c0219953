"""Refuses a measurement before anything is written, with all reasons at once."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burstwatch.ebs.load import MIB
from burstwatch.formatting import number, span
from burstwatch_exporter.config_file import MeasureRules
from burstwatch_exporter.credits.snapshot import View
from burstwatch_exporter.measure.drain import TOO_NEAR
from burstwatch_exporter.measure.plan import Plan
from burstwatch_exporter.measure.profiles import Profile
from burstwatch_exporter.measure.target import Target

#: A volume that runs out within this is nothing to measure on: what the sweep pages at.
SOON_S = 900.0
#: Of the free space of a file system, so much stays.
KEPT_FREE = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Circumstances:
    """The other facts that decide: who runs it, what the configuration allows, and which alarms are up.

    ``alarms`` are the names of those that are in ALARM, by volume id.
    """

    rules: MeasureRules
    is_root: bool
    allows_root: bool
    floor_ratio: float
    alarms: dict[str, str] = field(default_factory=dict)


def check(
    profile: Profile, target: Target, plan: Plan, at: Circumstances, *, drains: str | None = None
) -> None:
    """Let it go on, or not. ``drains`` is the volume that is confirmed to be emptied, if it is to be.

    Raises:
        ValueError: with every reason, each naming the value and what is allowed.
    """
    reasons = [*_place(target, at), *_space(target.directory, plan)]
    if profile.raid0 and target.members == 1:
        reasons.append(
            f"{profile.name} needs an md RAID0 of two volumes or more, {target.device} is none"
        )
    spec_ids = {view.spec.spec_id for view in target.views if view.spec is not None}
    if target.members > 1 and len(spec_ids) > 1:
        reasons.append(
            f"the volumes of {target.device} differ ({', '.join(sorted(spec_ids))}); allowed: volumes of one type and size: "
            "else the cost in credits is not known"
        )
    for view in target.views:
        reasons += _volume(view, at, drains=drains is not None)
    if drains is not None:
        reasons += _drain(target.views, at, drains)
    elif plan.credit is not None and plan.layout_credits >= plan.credit.budget:
        reasons.append(
            f"writing the scratch file costs {number(plan.layout_credits)} credits, "
            f"the budget is {number(plan.credit.budget)}: take a smaller --size-mib or a larger --budget-percent"
        )
    if reasons:
        raise ValueError("; ".join(reasons))


def _place(target: Target, at: Circumstances) -> list[str]:
    """Name what forbids writing in the directory."""
    reasons = []
    allowed = [directory.resolve() for directory in at.rules.directories]
    if not any(target.directory.is_relative_to(folder) for folder in allowed):
        names = (
            ", ".join(map(str, allowed)) or "none: name one in measure.directories of --config.file"
        )
        reasons.append(f"directory {target.directory} is not allowed; allowed: {names}")
    if at.is_root and not at.allows_root:
        reasons.append(
            "this is root, which may write anywhere: run it as another user, or with --allow-root"
        )
    if not os.access(target.directory, os.W_OK | os.X_OK):
        reasons.append(f"directory {target.directory} cannot be written to")
    return reasons


def _space(directory: Path, plan: Plan) -> list[str]:
    """Name the space that is missing; a tenth of what is free now stays free."""
    space = os.statvfs(directory)
    free = space.f_bavail * space.f_frsize / MIB
    needed = max(
        plan.layout_mib, max((step_plan.step.size_mib for step_plan in plan.steps), default=0.0)
    )
    if needed <= free * (1 - KEPT_FREE):
        return []
    reason = (
        f"the scratch file is {number(needed)} MiB, {directory} has {number(free)} MiB free "
        "of which a tenth stays: take a smaller --size-mib"
    )
    return [reason]


def _volume(view: View, at: Circumstances, *, drains: bool) -> list[str]:
    """Name what forbids spending a volume's credits now."""
    key, account = view.disk.key, view.account
    if view.spec is None:
        return [f"the type of {key} is not known, so its cost is not: name it in --config.file"]
    reasons = []
    if key in at.alarms:
        reasons.append(f"{key} is in alarm: {at.alarms[key]}")
    if account is None:
        return reasons
    projection = account.projection
    likely_s = projection.time_to_empty_s
    left_s = projection.low_s if likely_s is None else likely_s
    if projection.state == "exhausted":
        reasons.append(f"{key} has no credits left")
    elif left_s is not None and left_s < SOON_S:
        word = "may run" if likely_s is None else "runs"
        reasons.append(
            f"{key} {word} out in {span(left_s)} already; allowed: {span(SOON_S)} or more"
        )
    low, high = (
        part / account.own_bucket.capacity for part in (account.interval.low, account.interval.high)
    )
    if not drains and low < at.floor_ratio:
        reasons.append(
            f"the balance of {key} is from {low:.0%} to {high:.0%}; allowed: {at.floor_ratio:.0%} or more for certain"
        )
    return reasons


def _drain(views: Sequence[View], at: Circumstances, confirmed: str) -> list[str]:
    """Name what forbids draining the volume."""
    keys = [view.disk.key for view in views]
    reasons = [
        f"{key} may not be drained: name it in measure.drain of --config.file"
        for key in keys
        if key not in at.rules.drain
    ]
    if len(keys) > 1:
        reasons.append(f"{', '.join(keys)} would be drained together; allowed: one volume")
    elif confirmed not in keys:
        reasons.append(
            f"confirm-drain is {confirmed!r}; allowed: {keys[0]}, the volume under --directory"
        )
    for view in views:
        spec = view.spec
        if spec is not None and spec.bucket is not None:
            refill, burst = spec.bucket.refill, spec.bucket.burst
            if refill > TOO_NEAR * burst:
                reasons.append(
                    f"{view.disk.key} has a baseline of {number(refill)} and a burst of {number(burst)} here; allowed: a "
                    f"baseline of at most {TOO_NEAR:.0%} of the burst: else throttling cannot be seen"
                )
    reasons += [
        f"{view.disk.key} has no bucket to drain: {view.spec.volume_spec.no_bucket_reason}"
        for view in views
        if view.spec is not None and view.account is None
    ]
    return reasons

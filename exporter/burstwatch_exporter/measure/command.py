"""``burstwatch-exporter measure``: from the command line to the result."""

from __future__ import annotations

import json
import logging
import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from burstwatch.volume_types import CATALOGUE
from burstwatch.volumes import profile as promise_by_type
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.measure import report
from burstwatch_exporter.measure.expect import Given
from burstwatch_exporter.measure.guard import Circumstances, check
from burstwatch_exporter.measure.meter import Meter
from burstwatch_exporter.measure.picture import page
from burstwatch_exporter.measure.plan import Plan, Purse, make_plan
from burstwatch_exporter.measure.profiles import DRAINS, Profile, find_profile, profiles
from burstwatch_exporter.measure.record import Record, read_record, to_json, write_record
from burstwatch_exporter.measure.run import find_programs
from burstwatch_exporter.measure.session import About, Session, given_of
from burstwatch_exporter.measure.target import Target, find_target
from burstwatch_exporter.measure.watch import Bounds, Watch
from burstwatch_exporter.serve import Exporter
from burstwatch_exporter.state import put_in_place

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from burstwatch_exporter.clock import Clock
    from burstwatch_exporter.host import View
    from burstwatch_exporter.measure.jobs import Step
    from burstwatch_exporter.measure.meter import Seen
    from burstwatch_exporter.measure.settings import Wishes
    from burstwatch_exporter.measure.watch import Served
    from burstwatch_exporter.settings import Options

OK, PARTIAL = 0, 1
LOG = logging.getLogger("burstwatch_exporter")
#: Between two looks, from which what else is asked of the volume is known.
LOOK_S = 1.0


class WishError(ValueError):
    """Flags that do not go together."""


def measure(
    wishes: Wishes,
    switches: set[str],
    options: Options,
    *,
    clock: Clock,
    stop: Event,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """Do what is wished. Returns the exit code.

    Raises:
        ValueError: if it cannot or must not be done, before anything was.
        OSError: if a file cannot be read or written.
    """
    as_json = "json" in switches
    if "list" in switches:
        stdout.writelines(f"{one.name}: {one.help}\n" for one in profiles().values())
        return OK
    if wishes.source is not None:
        return _show(read_record(wishes.source), wishes, stdout, as_json=as_json)
    if wishes.volume_type:
        if "plan" not in switches:
            msg = "type is for --plan alone, a measurement needs --directory"
            raise WishError(msg)
        profile, given, purse, what = _imagined(wishes, drains="drain" in switches)
        _print_plan(
            profile, make_plan(_steps(profile, wishes), given, purse), what, stdout, as_json=as_json
        )
        return OK
    if wishes.directory is None:
        msg = "directory is missing: where to measure (or --type and --size-gib with --plan)"
        raise WishError(msg)
    exporter = Exporter(replace(options, sample_period_s=LOOK_S), clock)
    exporter.host.observe()
    if options.aws != "off":
        exporter.ask_aws()
    stop.wait(LOOK_S)
    target = find_target(wishes.directory, exporter.host.observe(), options.roots)
    drains = "drain" in switches
    profile = _profile(wishes, target.views[0], drains=drains)
    purse = _purse(target, wishes, drains=drains)
    given = given_of(target, vcpus=os.cpu_count() or 1)
    plan = make_plan(_steps(profile, wishes), given, purse)
    what = f"{target.directory} ({', '.join(view.disk.key for view in target.views)})"
    if "plan" in switches:
        _print_plan(profile, plan, what, stdout, as_json=as_json)
        return OK
    # Before anything is run, and never between the lines of what programs read.
    _print_plan(profile, plan, what, stderr if as_json else stdout, as_json=False)
    circumstances = Circumstances(
        rules=exporter.given.measure,
        is_root=os.geteuid() == 0,
        allows_root="allow-root" in switches,
        floor_ratio=wishes.floor_ratio,
        alarms=exporter.alarms_up() if options.aws != "off" else {},
    )
    check(profile, target, plan, circumstances, drains=wishes.confirmed if drains else None)
    programs = find_programs({step.step.tool for step in plan.steps})
    watch = Watch(
        Meter(target.views, options.roots, clock),
        _bounds(target, plan, wishes, drains=drains),
        stop=stop,
        told=_progress(plan, stderr) if stderr.isatty() else lambda *_: None,
    )
    uname = os.uname()
    about = About(
        host=uname.nodename,
        kernel=uname.release,
        instance_type=exporter.instance_type,
        floor_ratio=0.0 if drains else wishes.floor_ratio,
        vcpus=os.cpu_count() or 1,
    )
    session = Session(profile, target, plan, watch, about, programs=programs)
    record = session.run(recover_s=wishes.recover_s if drains else None)
    if options.measure_results is not None:
        options.measure_results.mkdir(parents=True, exist_ok=True)
        write_record(options.measure_results / record.filename, record)
    return _show(record, wishes, stdout, as_json=as_json)


def _show(record: Record, wishes: Wishes, stdout: TextIO, *, as_json: bool) -> int:
    """Print and draw a result. Returns the exit code."""
    stdout.write(to_json(record) + "\n" if as_json else report.record_text(record))
    if wishes.html is not None:
        put_in_place(wishes.html, lambda file: file.write(page(record)))
    if wishes.markdown is not None:
        put_in_place(wishes.markdown, lambda file: file.write(report.record_markdown(record)))
    for problem in [
        *report.ends(record),
        *(f"{one.name}: {one.failed}" for one in record.steps if one.failed),
    ]:
        LOG.error("%s", problem)
    return OK if record.is_whole else PARTIAL


def _profile(wishes: Wishes, view: View, *, drains: bool) -> Profile:
    if not drains:
        return find_profile(wishes.profile)
    unit = "io" if view.promise is None else view.promise.profile.unit
    return find_profile(DRAINS[unit])


def _steps(profile: Profile, wishes: Wishes) -> list[Step]:
    return [
        step.limited(
            runtime_s=wishes.runtime_s, size_mib=wishes.size_mib, rate_iops=wishes.rate_iops
        )
        for step in profile.steps
    ]


def _imagined(wishes: Wishes, *, drains: bool) -> tuple[Profile, Given, Purse | None, str]:
    """A volume that is not here, for a plan."""
    if wishes.size_gib is None:
        msg = f"size-gib is missing, for a type of {', '.join(CATALOGUE)}"
        raise WishError(msg)
    promise = promise_by_type(wishes.volume_type, wishes.size_gib)
    profile = find_profile(DRAINS[promise.unit] if drains else wishes.profile)
    members = max(2, wishes.members) if profile.raid0 else wishes.members
    what = f"{promise.volume_type} of {promise.size_gib:g} GiB"
    if members > 1:
        what = f"RAID0 of {members}, each {what}"
    given = Given(profile=promise, members=members)
    if promise.bucket is None:
        return profile, given, None, what
    level = wishes.balance_ratio * promise.bucket.capacity
    purse = Purse(
        bucket=promise.bucket,
        left=Interval(low=level, high=level, likely=level),
        budget=math.inf if drains else wishes.budget_ratio * promise.bucket.capacity,
    )
    return profile, given, purse, what


def _purse(target: Target, wishes: Wishes, *, drains: bool) -> Purse | None:
    """The bucket of the volume that has the least left of it."""
    purses = [
        Purse(
            bucket=replace(view.promise.own_bucket, burst=view.promise.bucket.burst),
            left=view.account.interval,
            budget=math.inf if drains else wishes.budget_ratio * view.promise.own_bucket.capacity,
            demand=0.0
            if view.account.projection.demand is None
            else view.account.projection.demand.likely,
        )
        for view in target.views
        if view.account is not None
        and view.promise is not None
        and view.promise.own_bucket is not None
        and view.promise.bucket is not None
    ]
    return min(purses, key=lambda one: one.left.low / one.bucket.capacity, default=None)


def _bounds(target: Target, plan: Plan, wishes: Wishes, *, drains: bool) -> Bounds:
    if drains or plan.purse is None:
        return Bounds(budget=math.inf, floors={})
    capacities = {
        view.disk.name: view.promise.own_bucket.capacity
        for view in target.views
        if view.promise is not None and view.promise.own_bucket is not None
    }
    return Bounds(
        budget=wishes.budget_ratio * min(capacities.values()),
        floors={name: wishes.floor_ratio * capacity for name, capacity in capacities.items()},
    )


def _print_plan(profile: Profile, plan: Plan, what: str, stdout: TextIO, *, as_json: bool) -> None:
    if as_json:
        stdout.write(json.dumps(report.plan_json(profile, plan), allow_nan=False) + "\n")
    else:
        stdout.write(report.plan_text(profile, plan, what))
    stdout.flush()


def _progress(plan: Plan, terminal: TextIO) -> Callable[[str, Seen, Served | None], None]:
    """One line that is written over, of what is going on."""
    budget = plan.purse.budget if plan.purse else math.inf

    def tell(step: str, now: Seen, served: Served | None) -> None:
        if served is None:
            return
        spent = f", {now.spent_most / budget:.0%} of the budget" if 0 < budget < math.inf else ""
        terminal.write(f"\r\033[K{step} {served.at:.0f} s: {served.iops:,.0f} IOPS{spent}")
        terminal.flush()

    return tell

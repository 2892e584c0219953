"""``burstwatch-exporter measure``: from the command line to the result."""

import json
import logging
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.files import put_in_place
from burstwatch_exporter.clock import World
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.measure import report
from burstwatch_exporter.measure.drain import ServedSample
from burstwatch_exporter.measure.guard import Circumstances, check
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.meter import Meter, MeterReading
from burstwatch_exporter.measure.picture import page
from burstwatch_exporter.measure.plan import Plan, bounds_of, credit_budget_of, imagined, make_plan
from burstwatch_exporter.measure.profiles import DRAINS, Profile, find_profile, profiles
from burstwatch_exporter.measure.programs import find_programs
from burstwatch_exporter.measure.record import Record, read_result, result_json, write_record
from burstwatch_exporter.measure.session import About, Session, disk_limits_of
from burstwatch_exporter.measure.settings import AGAINST_DRAIN, BESIDE_FROM, MeasureOptions
from burstwatch_exporter.measure.target import find_target
from burstwatch_exporter.measure.watch import Watch
from burstwatch_exporter.settings import Options

OK, PARTIAL = 0, 1
LOG = logging.getLogger("burstwatch_exporter")
#: Between two looks, from which what else is asked of the volume is known.
LOOK_S = 1.0


def measure(flags: MeasureOptions, switches: set[str], options: Options, world: World) -> int:
    """Run ``measure``. Returns the exit code.

    Raises:
        ValueError: if it cannot or must not be done, before anything was.
        OSError: if a file cannot be read or written.
    """
    as_json, stdout = "json" in switches, world.stdout
    if "list" in switches:
        _refuse_beside("list", ("list",), flags, switches)
        stdout.writelines(f"{profile.name}: {profile.help}\n" for profile in profiles().values())
        return OK
    if flags.source is not None:
        _refuse_beside("from", BESIDE_FROM, flags, switches)
        _check_drawings(flags)
        return _show(read_result(flags.source), flags, None, stdout, as_json=as_json)
    drains = "drain" in switches
    ignored = [name for name in AGAINST_DRAIN if name in flags.stated]
    if drains and ignored:
        msg = f"--drain empties the bucket, so {_flags(ignored)} would be ignored"
        raise ValueError(msg)
    drawn = [name for name in ("html", "markdown") if getattr(flags, name) is not None]
    if "plan" in switches and drawn:
        msg = f"{_flags(drawn)} would be ignored: --plan has no result to draw"
        raise ValueError(msg)
    if flags.volume_type:
        if "plan" not in switches:
            msg = "--type is for --plan alone, a measurement needs --directory"
            raise ValueError(msg)
        profile, plan, subject = _imagined(flags, drains=drains)
        _print_plan(profile, plan, subject, stdout, as_json=as_json)
        return OK
    return _measure_here(flags, switches, options, world)


def _measure_here(flags: MeasureOptions, switches: set[str], options: Options, world: World) -> int:
    """Plan for the directory and what lies under it; then, unless that is all, measure."""
    if flags.directory is None:
        msg = "--directory is missing: where to measure (or --type and --size-gib with --plan)"
        raise ValueError(msg)
    as_json, drains = "json" in switches, "drain" in switches
    budget_ratio, vcpus = _budget_ratio(flags, drains=drains), os.cpu_count() or 1
    stdout, stderr = world.stdout, world.stderr
    exporter = Exporter(replace(options, sample_period_s=LOOK_S), world.clock)
    exporter.host.observe()
    if options.aws != "off":
        exporter.ask_aws()
    world.stop.wait(LOOK_S)
    target = find_target(flags.directory, exporter.host.observe(), options.roots)
    spec = target.views[0].spec
    unit = "io" if spec is None else spec.volume_spec.unit
    profile = find_profile(DRAINS[unit] if drains else flags.profile)
    credit = credit_budget_of(target, budget_ratio=budget_ratio)
    plan = make_plan(_steps(profile, flags), disk_limits_of(target, vcpus=vcpus), credit)
    subject = f"{target.directory} ({', '.join(view.disk.key for view in target.views)})"
    if "plan" in switches:
        _print_plan(profile, plan, subject, stdout, as_json=as_json)
        return OK
    # Before anything is run, and never between the lines of what programs read.
    _print_plan(profile, plan, subject, stderr if as_json else stdout, as_json=False)
    circumstances = Circumstances(
        rules=exporter.config.measure,
        is_root=os.geteuid() == 0,
        allows_root="allow-root" in switches,
        floor_ratio=flags.floor_ratio,
        alarms=exporter.cloud.alarms_up() if options.aws != "off" else {},
    )
    check(profile, target, plan, circumstances, drains=flags.confirmed if drains else None)
    _check_drawings(flags)
    programs = find_programs({step.step.tool for step in plan.steps})
    results = options.measure_results
    if results is not None:
        results.mkdir(parents=True, exist_ok=True)
        _check_places([results])
    looked_at = world.clock.boot()
    target = find_target(flags.directory, exporter.host.observe(), options.roots)
    watch = Watch(
        Meter(target.views, options.roots, world.clock, looked_at=looked_at),
        bounds_of(target, budget_ratio=budget_ratio, floor_ratio=flags.floor_ratio),
        stop=world.stop,
        on_sample=_progress(plan, stderr) if stderr.isatty() else lambda *_: None,
    )
    uname = os.uname()
    about = About(
        host=uname.nodename,
        kernel=uname.release,
        instance_type=exporter.known_type,
        floor_ratio=0.0 if drains else flags.floor_ratio,
        vcpus=vcpus,
    )
    session = Session(profile, target, plan, watch, about, programs=programs)
    record = session.run(recover_s=flags.recover_s if drains else None)
    return _show(record, flags, results, stdout, as_json=as_json)


def _show(
    record: Record, flags: MeasureOptions, results: Path | None, stdout: TextIO, *, as_json: bool
) -> int:
    """Print, keep and draw a result. Returns the exit code; what cannot be written hides nothing."""
    stdout.write(result_json(record) + "\n" if as_json else report.record_text(record))
    stdout.flush()
    problems = [*report.ends(record)] if as_json else []
    problems += [f"{step.name}: {step.failed}" for step in record.steps if step.failed]
    outputs: list[tuple[Path | None, Callable[[Path], None]]] = [
        (results and results / record.filename, lambda path: write_record(path, record)),
        (flags.html, lambda path: _write(path, page(record))),
        (flags.markdown, lambda path: _write(path, report.record_markdown(record))),
    ]
    code = OK if record.is_whole else PARTIAL
    for path, write in outputs:
        try:
            if path is not None:
                write(path)
        except (OSError, ValueError) as error:
            problems.append(f"{path} cannot be written: {error}")
            code = PARTIAL
    for problem in problems:
        LOG.error("%s", problem)
    return code


def _write(path: Path, text: str) -> None:
    put_in_place(path, lambda file: file.write(text))


def _refuse_beside(
    name: str, allowed: Sequence[str], flags: MeasureOptions, switches: set[str]
) -> None:
    """Refuse flags that would be ignored beside one.

    Raises:
        ValueError: naming them.
    """
    ignored = sorted({*flags.stated, *switches} - {*allowed})
    if ignored:
        msg = f"{_flags(ignored)} would be ignored: --{name} does not measure"
        raise ValueError(msg)


def _flags(names: Sequence[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def _check_drawings(flags: MeasureOptions) -> None:
    """Check that drawings have a place to go, which is not the result that they are made of.

    Raises:
        ValueError: naming the file.
        OSError: naming the folder.
    """
    targets = {"html": flags.html, "markdown": flags.markdown}
    written = {name: path for name, path in targets.items() if path is not None}
    for name, path in written.items():
        source = flags.source
        if path.is_dir() or (
            source and path.exists() and source.exists() and path.samefile(source)
        ):
            problem = (
                "which is a folder" if path.is_dir() else "the input, which is never overwritten"
            )
            msg = f"{name} is {path}, {problem}: choose another file"
            raise ValueError(msg)
    if flags.html is not None and flags.html == flags.markdown:
        msg = f"html and markdown are both {flags.html}; allowed: a file for each"
        raise ValueError(msg)
    _check_places(path.parent for path in written.values())


def _check_places(folders: Iterable[Path]) -> None:
    """Check that the result has a place to go, before it is paid for.

    Raises:
        OSError: naming the place that it could not go to.
    """
    for folder in folders:
        if not os.access(folder, os.W_OK | os.X_OK):
            msg = f"cannot write the result: {folder} is not writable"
            raise OSError(msg)


def _budget_ratio(flags: MeasureOptions, *, drains: bool) -> float:
    """The share of a bucket that may be spent: without end where it is to be emptied."""
    return math.inf if drains else flags.budget_ratio


def _imagined(flags: MeasureOptions, *, drains: bool) -> tuple[Profile, Plan, str]:
    """A plan for a volume that is not here."""
    if flags.size_gib is None:
        msg = "--size-gib is missing or 0: --type needs a size above 0 GiB"
        raise ValueError(msg)
    unit = CATALOGUE[flags.volume_type].unit if flags.volume_type in CATALOGUE else "io"
    profile = find_profile(DRAINS[unit] if drains else flags.profile)
    members = max(2, flags.members) if profile.raid0 else flags.members
    disk, credit = imagined(
        flags.volume_type,
        flags.size_gib,
        members=members,
        balance_ratio=flags.balance_ratio,
        budget_ratio=_budget_ratio(flags, drains=drains),
        vcpus=os.cpu_count() or 1,
    )
    subject = f"{flags.volume_type} of {flags.size_gib:g} GiB"
    if members > 1:
        subject = f"RAID0 of {members}, each {subject}"
    return profile, make_plan(_steps(profile, flags), disk, credit), subject


def _steps(profile: Profile, flags: MeasureOptions) -> list[Step]:
    """The profile's steps with the limits of the flags.

    Raises:
        ValueError: if fio cannot keep the rate.
    """
    rate = flags.rate_iops
    for step in profile.steps:
        if rate is not None and step.tool != "fio":
            msg = f"rate-iops is for fio, {profile.name} runs {step.tool}"
            raise ValueError(msg)
        if rate is not None and rate < step.least_rate:
            msg = f"rate-iops is {rate:g}, {step.name} of {profile.name} cannot do less than {step.least_rate:g}"
            raise ValueError(msg)
    return [
        step.limited(runtime_s=flags.runtime_s, size_mib=flags.size_mib, rate_iops=flags.rate_iops)
        for step in profile.steps
    ]


def _print_plan(
    profile: Profile, plan: Plan, subject: str, stdout: TextIO, *, as_json: bool
) -> None:
    if as_json:
        stdout.write(json.dumps(report.plan_json(profile, plan), allow_nan=False) + "\n")
    else:
        stdout.write(report.plan_text(profile, plan, subject))
    stdout.flush()


def _progress(
    plan: Plan, terminal: TextIO
) -> Callable[[str, MeterReading, ServedSample | None], None]:
    """One line that is written over, of what is going on."""
    budget = plan.credit.budget if plan.credit else math.inf

    def tell(step: str, now: MeterReading, served: ServedSample | None) -> None:
        if served is None:
            return
        spent = f", {now.spent_most / budget:.0%} of the budget" if 0 < budget < math.inf else ""
        terminal.write(f"\r\033[K{step} {served.at:.0f} s: {served.iops:,.0f} IOPS{spent}")
        terminal.flush()

    return tell

"""Score paging rules on recorded workloads, or on an account's own history.

It plays each workload on each volume size at each load. Every rule gets the datapoints that CloudWatch
would have had. The result counts pages in time, false pages, and how long alarms lasted.
"""

import math
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from burstwatch.backtest.evaluate import FEEDS, score_trial
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.scores import (
    Result,
    as_numbers,
    draw_scores,
    positions_of,
    report,
    score_totals,
)
from burstwatch.backtest.trials import Trial, make_trial, recorded_trial
from burstwatch.backtest.workloads import COLUMNS as WORKLOAD_COLUMNS
from burstwatch.backtest.workloads import is_workload, read_workload
from burstwatch.cli.account import add_account_arguments, kinds_of, make_clients
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import Terminal
from burstwatch.cli.progress import end_with_parent, track
from burstwatch.cli.recorded import (
    FORMATS,
    add_spec_arguments,
    conventions_of,
    place_recorded,
    spec_of,
    tell_doubts,
)
from burstwatch.cli.targets import check_target
from burstwatch.formatting import DAY, InputError, span
from burstwatch.history.points import MINUTES_KEPT
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from burstwatch.recordings.reading import STDIN, read_file

WORKLOAD_TYPE, WORKLOAD_SIZES, RHOS = "gp2", "100,200,500", "0.5,0.8,0.95"
LOWEST_LEAD_S, HIGHEST_LEAD_S = 60.0, 7_200.0


@dataclass(frozen=True, kw_only=True)
class Job:
    """One trial to play, perhaps in another process. A workload is read there, so its ``trial`` is a call; a recording is sent over."""

    trial: Trial | partial[Trial]
    view: str
    policies: tuple[str, ...]
    lead_s: float


GROUP = "recordings"
EXAMPLE = "burstwatch backtest volume.csv --size-gib 100"


def add_arguments(parser: ArgumentParser) -> None:
    """The workloads, the volumes, the views of the data and the rules."""
    parser.epilog = f"FILE is a workload (a file with the columns {','.join(WORKLOAD_COLUMNS)}) or a recording. {FORMATS}"
    parser.add_argument("series", nargs="*", metavar="FILE", help="workloads or recorded series")
    parser.add_argument(
        "--from-account",
        nargs="+",
        metavar="ID",
        help="score the history of these resources of the account, instead of files",
    )
    add_account_arguments(parser)
    add_spec_arguments(parser)
    parser.add_argument(
        "--type", help=f"the volume type; for workloads the default is {WORKLOAD_TYPE}"
    )
    parser.add_argument(
        "--size-gib",
        help=f"for workloads: the sizes to play them on, default {WORKLOAD_SIZES}; for a recording: its size",
    )
    parser.add_argument(
        "--rho",
        help=f"for workloads: the mean loads, each divided by the baseline of the volume, default {RHOS}",
    )
    parser.add_argument(
        "--view",
        default="fresh",
        choices=sorted(FEEDS),
        help="how late datapoints come: fresh (each minute, immediately), mid (each minute, 3 min late) or stale (each 5 min, 5 min late); default fresh",
    )
    parser.add_argument(
        "--policy",
        action="append",
        help="score only this rule; can be repeated (default: all rules)",
    )
    parser.add_argument(
        "--lead-s",
        type=float,
        default=900.0,
        help="how many seconds before the credits run out a page must come, default 900",
    )
    parser.add_argument(
        "--jobs", type=int, default=0, help="the number of processes, default one for each core"
    )
    parser.add_argument(
        "--picture",
        metavar="FILE.svg",
        help="draw a chart: run-outs announced against false pages",
    )
    parser.add_argument("--json", action="store_true", help="print one object")


def run(args: Namespace, terminal: Terminal) -> int:
    """Play and print. A file that cannot be read ends it: half a fleet is another question."""
    if not LOWEST_LEAD_S <= args.lead_s <= HIGHEST_LEAD_S:
        msg = f"must be {LOWEST_LEAD_S:g} to {HIGHEST_LEAD_S:g}, got {args.lead_s:g}"
        raise InputError(msg, name="lead_s")
    if args.jobs < 0:
        msg = f"must be 0 (one a core) or more, got {args.jobs}"
        raise InputError(msg, name="jobs")
    if args.picture:
        check_target(args.picture, inputs=args.series)
    names = _policy_names(args.policy)
    jobs = list(_jobs(args, names, terminal))
    if not jobs:
        msg = "nothing to play: name files of workloads or series, or --from-account"
        raise ValueError(msg)
    played = _played(jobs, args.jobs)
    results = list(track(played, total=len(jobs), label="backtest", stderr=terminal.stderr))
    summed = score_totals(results)
    if args.picture:
        Path(args.picture).write_text(
            draw_scores(positions_of(summed), title=f"{args.view} data, lead {span(args.lead_s)}"),
            encoding="utf-8",
        )
    if args.json:
        text = _json(args, results, at=terminal.clock())
    else:
        rules = find_policies()
        text = "\n".join(
            [report(summed, results), *(f"{name}: {rules[name].help}" for name in names)]
        )
    print(text, file=terminal.stdout)
    return 0


def _policy_names(chosen: Sequence[str] | None) -> tuple[str, ...]:
    policies = find_policies()
    for name in chosen or ():
        if name not in policies:
            msg = f"unknown policy {name!r}; allowed: {', '.join(policies)}"
            raise ValueError(msg)
    return tuple(chosen or policies)


def _jobs(args: Namespace, names: tuple[str, ...], terminal: Terminal) -> Iterator[Job]:
    """Make the jobs: each workload at each rho and size, each recording, each resource of the account."""
    job = partial(Job, view=args.view, policies=names, lead_s=args.lead_s)
    sizes = _numbers(args.size_gib or WORKLOAD_SIZES, "size_gib")
    rhos = _numbers(args.rho or RHOS, "rho")
    for path in map(Path, args.series):
        if str(path) != STDIN and is_workload(path):
            _refuse(
                args,
                ("kind", "spec", "only"),
                f"{path} is a workload, which is played on EBS volumes",
            )
            type_ = args.type or WORKLOAD_TYPE
            for rho in rhos:
                for size in sizes:
                    yield job(trial=partial(_of_workload, path, type_, size, rho))
            continue
        _refuse(args, ("rho",), f"{path} is a recording, which has a load of its own")
        yield job(trial=_of_file(path, args, terminal))
    if args.from_account:
        if not args.series:
            _refuse(
                args,
                ("type", "size_gib", "rho", "spec", "only"),
                "a resource of the account has a type, a size and a load of its own",
            )
        clients = make_clients(args, terminal.env)
        from burstwatch.aws.look.recording import record  # noqa: PLC0415 - boto3 takes long to import

        for resource_id in args.from_account:
            recorded = record(
                clients,
                kinds_of(args),
                resource_id,
                now=terminal.clock(),
                back_s=MINUTES_KEPT.value * DAY,
            )
            trial = recorded_trial(
                recorded.samples,
                recorded.resource,
                name=resource_id,
                step_s=recorded.period_s,
                kind=recorded.kind,
            )
            yield job(trial=trial)


def _refuse(args: Namespace, names: Sequence[str], why: str) -> None:
    """Refuse an argument that would be ignored."""
    for name in names:
        if getattr(args, name):
            msg = f"--{name.replace('_', '-')} would be ignored: {why}"
            raise ValueError(msg)


def _of_file(path: Path, args: Namespace, terminal: Terminal) -> Trial:
    """A recording as a trial: its own balance says when it ran out."""
    contents = read_file(str(path), stdin=terminal.stdin, conventions=conventions_of(args))
    is_described = contents.about.spec or args.spec or args.kind not in {None, EBS_VOLUME.name}
    sizes = _numbers(args.size_gib, "size_gib") if args.size_gib else []
    if len(sizes) > 1 or not (sizes or is_described):
        msg = f"{path} is a recording of one volume: give its one size, for example --size-gib 100"
        raise ValueError(msg)
    type_ = args.type or (sizes and contents.about.spec.get("type", WORKLOAD_TYPE))
    sized = {"type": type_} if type_ else {}
    if sizes:
        sized["size_gib"] = f"{sizes[0]}"
    kind, spec = spec_of(args, contents, sized, command="backtest")
    recorded = place_recorded(
        contents,
        kind,
        spec,
        name=str(path),
        only=args.only,
        period_s=None,
        delay_s=0.0,
    )
    tell_doubts(recorded, terminal, is_strict=args.strict)
    return recorded_trial(
        recorded.samples, recorded.resource, name=path.stem, step_s=recorded.period_s, kind=kind
    )


def _of_workload(path: Path, volume_type: str, size_gib: float, rho: float) -> Trial:
    return make_trial(read_workload(path), volume_type=volume_type, size_gib=size_gib, rho=rho)


def _numbers(text: str, name: str) -> list[float]:
    """Parse a list of numbers above 0 with commas between; raises ValueError that names the option."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(0 < value < math.inf for value in values):
        msg = f"is {text!r}; allowed: numbers above 0 with commas between"
        raise InputError(msg, name=name)
    return values


def _played(jobs: Sequence[Job], processes: int) -> Iterator[Result]:
    if processes == 1 or len(jobs) == 1:
        yield from map(play, jobs)
        return
    processes = min(processes or os.cpu_count() or 1, len(jobs))
    with ProcessPoolExecutor(processes, initializer=end_with_parent) as pool:
        yield from pool.map(play, jobs)


def play(job: Job) -> Result:
    """Score the policies on one trial, in whatever process this is."""
    trial = job.trial if isinstance(job.trial, Trial) else job.trial()
    policies = find_policies()
    chosen = [policies[name] for name in job.policies]
    scores = score_trial(trial, FEEDS[job.view], chosen, lead_s=job.lead_s)
    return Result(name=trial.name, group=trial.group, scenario=trial.scenario, scores=scores)


def _json(args: Namespace, results: Sequence[Result], *, at: float) -> str:
    """Write the totals of each policy and the scores of each trial as JSON."""
    return as_document(
        "scores",
        {
            "view": args.view,
            "lead_s": args.lead_s,
            "policies": {name: as_numbers(score) for name, score in score_totals(results).items()},
            "trials": [
                {
                    "name": result.name,
                    "group": result.group,
                    "scenario": result.scenario,
                    "policies": {n: as_numbers(score) for n, score in result.scores.items()},
                }
                for result in results
            ],
        },
        at=at,
    )

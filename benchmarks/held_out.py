"""The backtest of the README: every policy on the recordings, ours on machines and families it has not seen.

Each machine is played with a model that was fitted without it and with one that was fitted without
its whole family (``folds.json``, from `make fit`). Nothing is sampled: every recording, every
scenario, every moment. `make backtest` prints the tables and keeps them in ``benchmarks/results``.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.record import keep, record_of
from benchmarks.recordings import Recording, made_up, recorded, vms
from benchmarks.rules import RULES
from burstwatch.backtest.evaluate import FEEDS, Policy, score_trial
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.policies.baselines import static
from burstwatch.backtest.policies.burstwatch import Burstwatch
from burstwatch.backtest.policies.linear import linear
from burstwatch.backtest.scores import (
    Result,
    as_numbers,
    intervals,
    report,
    score_totals,
)
from burstwatch.backtest.trials import make_trial
from burstwatch.forecast.chance import MODEL, Model, parse_model

LEAD_S = 900.0
HERE = Path(__file__).parent
FOLDS = HERE / "folds.json"
VIEWS = ("fresh", "stale")
#: Beside the policies that ship: the curves of the two baselines, to compare where they announce as much.
STATIC_CURVE = (15, 25, 30, 60)
LINEAR_CURVE = (90, 720)
UNSEEN = "burstwatch, family left out"


@dataclass(frozen=True, kw_only=True)
class Play:
    """One recording at one size and load, in one view, with the models that have not seen it."""

    recording: Recording
    view: str
    rho: float
    size_gib: float
    machine_out: Model
    family_out: Model
    only_ours: bool


def main() -> None:
    """Play each set that is named, in both views."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", help="servers, services, vm, made-up, nab or one with a view: vm-stale"
    )
    parser.add_argument("--vm", type=Path, metavar="DIR", help="the folder rnd: see vm_disks.py")
    parser.add_argument(
        "--ours",
        action="store_true",
        help="only our own policy: the others' figures stay as they are on record",
    )
    args = parser.parse_args()
    known = {family: recorded(family) for family in ("servers", "services", "nab")}
    known["made-up"] = made_up()
    if args.vm is not None:
        known["vm"] = vms(args.vm)
    names = args.sets or [*known]
    for name in names:
        family, _, view = name.partition("-") if name != "made-up" else (name, "", "")
        if family not in known or view not in {"", *VIEWS}:
            parser.error(f"unknown set {name!r}; allowed: {', '.join(known)} (vm needs --vm)")
        for one in VIEWS if not view else (view,):
            results = _played(known[family], one, only_ours=args.ours)
            _publish(f"{family}-{one}", results, only_ours=args.ours)


def play(one: Play) -> Result:
    """One trial under every policy."""
    trial = make_trial(one.recording.read(), volume_type="gp2", size_gib=one.size_gib, rho=one.rho)
    policies: list[Policy] = [
        Burstwatch(model=one.machine_out),
        Burstwatch(name=UNSEEN, model=one.family_out),
    ]
    if not one.only_ours:
        policies += [
            *RULES,
            *(policy for name, policy in find_policies().items() if name != "burstwatch"),
            *map(static, STATIC_CURVE),
            *map(linear, LINEAR_CURVE),
        ]
    scores = score_trial(trial, FEEDS[one.view], policies, lead_s=LEAD_S)
    return Result(
        name=trial.name, group=one.recording.machine, scenario=trial.scenario, scores=scores
    )


def _played(chosen: Sequence[Recording], view: str, *, only_ours: bool) -> list[Result]:
    """Every recording in every scenario. The two of nab were never fitted on."""
    folds = {name: parse_model(one) for name, one in json.loads(FOLDS.read_text("utf-8")).items()}
    plays = [
        Play(
            recording=one,
            view=view,
            rho=rho,
            size_gib=size_gib,
            machine_out=MODEL if one.family == "nab" else folds[one.fold],
            family_out=MODEL if one.family == "nab" else folds[one.family],
            only_ours=only_ours,
        )
        for one in chosen
        for rho, size_gib in one.scenarios
    ]
    results = []
    with ProcessPoolExecutor() as pool:
        for number, result in enumerate(pool.map(play, plays), start=1):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{view} {number}/{len(plays)}\033[K", end="", file=sys.stderr)
    return results


def _publish(name: str, results: Sequence[Result], *, only_ours: bool) -> None:
    """Print the table, and keep the figures of all policies that were played."""
    summed = score_totals(results)
    shown = {
        key: score
        for key, score in summed.items()
        if key in find_policies() or key in {UNSEEN, "R", "R8"}
    }
    print(f"\n{name}\n{report(shown, results)}", flush=True)
    played = {
        key: {**as_numbers(score), "intervals": intervals(results, key)}
        for key, score in summed.items()
    }
    others = record_of(f"backtest-{name}")["policies"] if only_ours else {}
    record: dict[str, object] = {
        "set": name,
        "lead_s": LEAD_S,
        "policies": {**others, **played},
    }
    if name.startswith("servers"):
        record["machines"] = _by_machine(results)
    keep(f"backtest-{name}", record)


def _by_machine(results: Sequence[Result]) -> dict[str, object]:
    """The policy's own figures on each machine."""
    by_machine: dict[str, list[Result]] = {}
    for result in results:
        by_machine.setdefault(result.group, []).append(result)
    return {
        machine: as_numbers(score_totals(of_machine)["burstwatch"])
        for machine, of_machine in by_machine.items()
    }


if __name__ == "__main__":
    main()

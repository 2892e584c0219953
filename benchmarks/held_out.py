"""The backtest of the README: every policy on the recordings, ours on machines it has not seen.

Each machine is played with weights that were fitted without it (``folds.json``, from
`make fit`). The few constants of the policy and its threshold are the same for all, and were
chosen on all server disks together. Nothing is
sampled: every recording, every scenario, every moment. `make backtest` prints the tables
and keeps them in ``benchmarks/results``.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.recordings import RHOS, SIZES_GIB, machine_of, recordings
from burstwatch.backtest.evaluate import FEEDS, Policy, score_trial
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.policies.baselines import static
from burstwatch.backtest.policies.burstwatch import Burstwatch
from burstwatch.backtest.policies.linear import linear
from burstwatch.backtest.score_chart import draw_scores
from burstwatch.backtest.scores import Result, as_numbers, intervals, report, totals
from burstwatch.backtest.trials import make_trial
from burstwatch.backtest.workloads import read_workload
from burstwatch.forecast.hazard_weights import MODELS, Model

LEAD_S = 900.0
HERE = Path(__file__).parent
FOLDS = HERE / "folds.json"
RESULTS = HERE / "results"
DOCS = HERE.parent / "docs"
#: Beside the policies that ship: the curves of the two baselines, to compare at equal recall.
STATIC_CURVE = (10, 15, 25, 30, 35, 45, 60)
LINEAR_CURVE = (30, 90, 360, 720, 1_440)


@dataclass(frozen=True, kw_only=True)
class Play:
    """One recording at one size and load, in one view."""

    path: Path
    view: str
    size_gib: float
    rho: float
    models: tuple[Model, ...]


def main(sets: Sequence[str]) -> None:
    """Play the sets named, or those of the docs: fresh and stale server disks, and both of nab."""
    RESULTS.mkdir(exist_ok=True)
    folds = json.loads(FOLDS.read_text(encoding="utf-8"))
    for name in sets or ("fresh", "stale", *_nab()):
        paths = recordings("nab") if name.startswith("nab") else recordings("smd")
        chosen = [path for path in paths if not name.startswith("nab") or machine_of(path) == name]
        view = "stale" if name.startswith("nab") else name
        plays = list(_plays(chosen, view, folds))
        with ProcessPoolExecutor() as pool:
            results = []
            for number, result in enumerate(pool.map(play, plays), start=1):
                results.append(result)
                if sys.stderr.isatty():
                    print(f"\r{name} {number}/{len(plays)}\033[K", end="", file=sys.stderr)
        _publish(name, results)


def play(one: Play) -> Result:
    """One trial under every policy."""
    trial = make_trial(
        read_workload(one.path), volume_type="gp2", size_gib=one.size_gib, rho=one.rho
    )
    policies: list[Policy] = [
        Burstwatch(models=one.models),
        *(policy for name, policy in find_policies().items() if name != "burstwatch"),
        *map(static, STATIC_CURVE),
        *map(linear, LINEAR_CURVE),
    ]
    scores = score_trial(trial, FEEDS[one.view], policies, lead_s=LEAD_S)
    return Result(name=trial.name, group=trial.group, scenario=trial.scenario, scores=scores)


def fold_models(fold: dict[str, dict[str, object]]) -> tuple[Model, ...]:
    """The weights that were fitted without one machine."""
    return tuple(
        Model(
            period_s=float(str(one["period_s"])),
            intercept=float(str(one["intercept"])),
            weights=tuple(one["weights"]),  # type: ignore[arg-type]  # a list of numbers
        )
        for one in fold.values()
    )


def _nab() -> list[str]:
    return [machine_of(path) for path in recordings("nab")]


def _plays(
    paths: Sequence[Path], view: str, folds: dict[str, dict[str, dict[str, object]]]
) -> Iterator[Play]:
    for path in paths:
        # The two of nab were never fitted on; a server without its fold is an error.
        is_server = path.parent.name == "smd"
        models = fold_models(folds[machine_of(path)]) if is_server else MODELS
        for rho in RHOS:
            for size_gib in SIZES_GIB:
                yield Play(path=path, view=view, size_gib=size_gib, rho=rho, models=models)


def _publish(name: str, results: Sequence[Result]) -> None:
    summed = totals(results)
    shown = {key: score for key, score in summed.items() if key in find_policies()}
    print(f"\n{name}\n{report(shown, results)}")
    machines = sorted({result.group for result in results})
    for machine in machines:
        score = totals([result for result in results if result.group == machine])["burstwatch"]
        recall = "-" if score.recall is None else f"{score.recall:.2f}"
        print(
            f"  {machine}: {score.events} events, {recall} in time, {score.false_per_week:.2f} false/week"
        )
    record = {
        "set": name,
        "lead_s": LEAD_S,
        "policies": {
            key: {**as_numbers(score), "intervals": intervals(results, key)}
            for key, score in summed.items()
        },
        "machines": {
            machine: as_numbers(
                totals([result for result in results if result.group == machine])["burstwatch"]
            )
            for machine in machines
        },
        "scenarios": {
            scenario: as_numbers(
                totals([result for result in results if result.scenario == scenario])["burstwatch"]
            )
            for scenario in dict.fromkeys(result.scenario for result in results)
        },
    }
    (RESULTS / f"backtest-{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    if name in FEEDS:
        (DOCS / f"backtest-{name}.svg").write_text(
            draw_scores(shown, title=f"{name} data, lead 15 min"), encoding="utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])

"""Whether the balance alone pages as well as with the operations behind it: on a part of the recordings.

A sweep asks for operations only when somebody is about to be told, for each is billed. Here the policy sees
every recording twice: as CloudWatch has it, and without the operations and bytes.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.record import keep
from benchmarks.recordings import RHOS, recordings
from burstwatch.backtest.evaluate import FEEDS, score_trial
from burstwatch.backtest.policies import find_policies
from burstwatch.backtest.scores import Result, as_numbers, score_totals
from burstwatch.backtest.trials import Trial, make_trial
from burstwatch.backtest.workloads import read_workload

LEAD_S = 900.0
#: Every so many of the recordings, and the sizes that each is played at.
EVERY, SIZES_GIB = 3, (100.0, 500.0)
VIEW = "mid"
WITH_IO, WITHOUT_IO = "balance and operations", "balance alone"


@dataclass(frozen=True, kw_only=True)
class Play:
    """One recording at one size and load."""

    path: Path
    size_gib: float
    rho: float


def main() -> None:
    """Print and keep the totals of both."""
    plays = [
        Play(path=path, size_gib=size, rho=rho)
        for path in recordings("smd")[::EVERY]
        for size in SIZES_GIB
        for rho in RHOS
    ]
    results = []
    with ProcessPoolExecutor() as pool:
        for number, result in enumerate(pool.map(play, plays), start=1):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{number}/{len(plays)}\033[K", end="", file=sys.stderr)
    summed = score_totals(results)
    records = [
        {"seen": name, "trials": len(plays), **as_numbers(score)} for name, score in summed.items()
    ]
    for one in records:
        print(f"{one['seen']:24} {one}")
    keep("balance_alone", records)


def play(one: Play) -> Result:
    """One trial, seen in both ways."""
    trial = make_trial(
        read_workload(one.path), volume_type="gp2", size_gib=one.size_gib, rho=one.rho
    )
    policy = find_policies()["burstwatch"]
    scores = {
        name: score_trial(seen, FEEDS[VIEW], [policy], lead_s=LEAD_S)[policy.name]
        for name, seen in ((WITH_IO, trial), (WITHOUT_IO, without_io(trial)))
    }
    return Result(name=trial.name, group=trial.group, scenario=trial.scenario, scores=scores)


def without_io(trial: Trial) -> Trial:
    """The same, of which nobody has asked for more than the balance."""
    level = trial.resource.level_metric
    rows = [replace(row, values={level: row.values[level]}) for row in trial.rows]
    return replace(trial, rows=rows)


if __name__ == "__main__":
    main()

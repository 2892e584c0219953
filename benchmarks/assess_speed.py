"""Measures what the model costs a sweep: milliseconds per volume, from datapoints to verdict.

Real recordings in all scenarios of the backtest, looked at at many moments with an empty memory each time,
as a sweep that has lost it would. `make bench` keeps the figures in ``benchmarks/results``.
"""

import gc
import statistics
import time
from itertools import product

from benchmarks.record import keep
from benchmarks.recordings import RHOS, SIZES_GIB, recordings
from burstwatch.backtest.trials import Trial, make_trial
from burstwatch.backtest.workloads import read_workload
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.history.observations import observe
from burstwatch.history.past import to_past
from burstwatch.history.track import LOOK_BACK_S
from burstwatch.polling.sampling import is_near
from burstwatch.recordings.samples import to_points

PAST_S = 8 * 86_400.0
MOMENTS = 12


def main() -> None:
    """Print and keep the figures."""
    by_kind: dict[str, list[float]] = {"far": [], "near": []}
    for path in recordings("smd"):
        workload = read_workload(path)
        for size_gib, rho in product(SIZES_GIB, RHOS):
            trial = make_trial(workload, volume_type="gp2", size_gib=size_gib, rho=rho)
            gc.collect()
            gc.freeze()  # a function that sweeps does not drag a month of recordings along
            for kind, ms in _measure(trial):
                by_kind[kind].append(ms)
    everything = [ms for times in by_kind.values() for ms in times]
    record = {
        name: {
            "looks": len(times),
            "mean_ms": statistics.fmean(times),
            "p99_ms": sorted(times)[int(0.99 * len(times))],
        }
        for name, times in {**by_kind, "all": everything}.items()
        if times
    }
    keep("assess_speed", record)
    for name, one in record.items():
        print(
            f"{name:5} {one['looks']:5} looks  {one['mean_ms']:.3f} ms mean  {one['p99_ms']:.3f} ms p99"
        )


def _measure(trial: Trial) -> list[tuple[str, float]]:
    """Each moment first by its newest balance alone; with I/O and days back only where that is near."""
    levels, demand = to_points(trial.rows, trial.resource, trial.step_s)
    config, found = Config(), []
    step = len(trial.rows) // MOMENTS
    for index in range(step, len(trial.rows), step):
        now = trial.rows[index].t_s + trial.step_s
        first = max(0, index + 1 - round(LOOK_BACK_S / trial.step_s))
        past_first = max(0, index + 1 - round(PAST_S / trial.step_s))
        past = to_past(demand[past_first : index + 1])  # kept between sweeps: not timed
        seen_levels, seen_demand = levels[first : index + 1], demand[first : index + 1]
        began = time.perf_counter()
        near = is_near(observe(trial.resource, now, seen_levels[-1:]), config)
        known = (seen_demand, past) if near else ((), None)
        seen = observe(trial.resource, now, seen_levels, known[0], past=known[1])
        assess(seen, config)
        found.append(("near" if near else "far", 1_000 * (time.perf_counter() - began)))
    return found


if __name__ == "__main__":
    main()

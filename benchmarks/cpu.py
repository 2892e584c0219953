"""The policy on CPU credits: recorded CPU load, played through T3 instances in Standard mode.

The load of each machine is rescaled to half, four fifths and nineteen twentieths of what an
instance earns. Each instance is judged at the lead of its kind. A page is right for twelve hours.
The static threshold that announces as much is found by trying all of them.
"""

import csv
import gzip
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from benchmarks.record import keep
from benchmarks.recordings import RHOS, WORKLOADS
from burstwatch import bucket as tb
from burstwatch.backtest.evaluate import Feed, Policy, Truth, score_trial
from burstwatch.backtest.policies.baselines import static
from burstwatch.backtest.policies.burstwatch import Burstwatch
from burstwatch.backtest.scores import Result, as_numbers, intervals, report, score_totals
from burstwatch.backtest.trials import Trial, incidents
from burstwatch.bucket import HOUR_S
from burstwatch.history.observations import Observation, Resource, Verdict
from burstwatch.kinds import _cpu
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.ec2_instance_cpu import KIND
from burstwatch.recordings.samples import Sample

SIZES = ("nano", "micro", "small", "medium", "large")
STEP_S = _cpu.PERIOD_S
FORESIGHT_S = 12 * HOUR_S
#: AWS publishes CPU credits every five minutes, some minutes late.
FEED = Feed(period_s=STEP_S, delay_s=STEP_S)
STATIC_CURVE = (10, 15, *range(20, 31), 40)


@dataclass(frozen=True, kw_only=True)
class AtHourlyRate:
    """A rule of one line: empty within some hours at the mean rate of the last hour."""

    name: str = "3 h at the last hour's rate"
    help: str = "empty within three hours at the mean rate of the last hour"
    within_s: float = 3 * HOUR_S

    def judge(self, seen: Observation, known: Truth) -> Verdict:
        """Critical, where the rule holds."""
        del known
        history = seen.history
        if history is None or history.newest_slot() < 0:
            return "ok"
        rate = history.likely.mean(history.size, history.slots(HOUR_S))
        left = history.levels[history.newest_slot()] * history.bucket.capacity
        runs_out_s = tb.time_to_empty(history.bucket, level=left, demand=rate)
        return "critical" if runs_out_s < self.within_s else "ok"


@dataclass(frozen=True, kw_only=True)
class Play:
    """One machine's load on one instance type, at one mean."""

    path: Path
    size: str
    rho: float

    @property
    def machine(self) -> str:
        """The machine that was recorded."""
        return self.path.name.removesuffix(".csv.gz")


def main() -> None:
    """Play every machine on every size at every load; print the table and keep the figures."""
    paths = sorted((WORKLOADS / "cpu").glob("*.csv.gz"))
    plays = [
        Play(path=path, size=size, rho=rho) for path in paths for rho in RHOS for size in SIZES
    ]
    results = []
    with ProcessPoolExecutor() as pool:
        for number, result in enumerate(pool.map(play, plays), start=1):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{number}/{len(plays)}\033[K", end="", file=sys.stderr)
    summed = score_totals(results)
    print(report(summed, results))
    record = {
        "foresight_s": FORESIGHT_S,
        "lead_s": {size: _cpu.least_lead_s(_cpu.cpu_spec(f"t3.{size}")) for size in SIZES},
        "policies": {
            name: {**as_numbers(score), "intervals": intervals(results, name)}
            for name, score in summed.items()
        },
    }
    keep("backtest-cpu", record)


def play(one: Play) -> Result:
    """One trial under every policy."""
    trial = make_trial(one)
    policies: list[Policy] = [Burstwatch(), AtHourlyRate(), *map(static, STATIC_CURVE)]
    lead_s = trial.resource.least_lead_s
    scores = score_trial(trial, FEED, policies, lead_s=lead_s, foresight_s=FORESIGHT_S)
    return Result(name=trial.name, group=trial.group, scenario=trial.scenario, scores=scores)


def make_trial(one: Play) -> Trial:
    """An instance under a machine's load whose mean is a share of what it earns."""
    (resource,) = described_by_hand(KIND, {"type": f"t3.{one.size}"})
    bucket = resource.bucket
    if bucket is None:
        raise TypeError(resource)
    rows, steps, level = [], [], bucket.capacity
    for number, load in enumerate(_loads(one, resource)):
        empty_s = tb.time_to_empty(bucket, level=level, demand=load)
        turned_empty = level > 0 and empty_s <= STEP_S
        spent_s = min(STEP_S, empty_s)
        used = load * spent_s + min(load, bucket.refill) * (STEP_S - spent_s)
        level = tb.level_after(bucket, level=level, demand=load, seconds=STEP_S)
        steps.append(((number + 1) * STEP_S, turned_empty, level / bucket.capacity))
        values = {_cpu.BALANCE: level / _cpu.CREDIT_S, _cpu.USAGE: used / _cpu.CREDIT_S}
        rows.append(Sample(t_s=number * STEP_S, values=values))
    return Trial(
        name=one.machine,
        group=one.machine,
        scenario=f"t3.{one.size} at {one.rho:g}",
        resource=resource,
        rows=rows,
        step_s=STEP_S,
        events=incidents(steps),
        kind=KIND.name,
    )


def _loads(one: Play, resource: Resource) -> list[float]:
    """The load in vCPUs by step. What is cut off at all vCPUs is made up for elsewhere."""
    with gzip.open(one.path, "rt", encoding="utf-8") as file:
        ratios = [float(row["cpu_ratio"] or math.nan) for row in csv.DictReader(file)]
    # The recorder missed a step, the machine did not stop.
    ratios = list(accumulate(ratios, _or_before))
    spec: _cpu.CpuSpec = resource.detail.spec
    most, mean = resource.limit.rate, one.rho * spec.baseline
    factor = mean / (sum(ratios) / len(ratios))
    for _ in range(20):
        loads = [min(most, factor * ratio) for ratio in ratios]
        factor *= mean / (sum(loads) / len(loads))
    return loads


def _or_before(before: float, now: float) -> float:
    return before if math.isnan(now) else now


if __name__ == "__main__":
    main()

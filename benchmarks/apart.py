"""The backtest where balance and load disagree: recorded load through a bucket that is charged for other I/O than is published.

In the backtest itself they always agree. Here the volume is charged as before, and CloudWatch's counters show what the
guest would have counted: less or more than was charged, or nothing of it for hours. Beside each disagreement the same
recordings with the balance column alone: load that does not explain the balance must not make it worse than that.
`python -m benchmarks.apart` keeps the figures in ``benchmarks/results``.
"""

import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.record import keep
from benchmarks.recordings import DIAGONAL, Recording, recorded
from burstwatch.backtest.evaluate import FEEDS, score_trial
from burstwatch.backtest.policies.baselines import static
from burstwatch.backtest.policies.burstwatch import Burstwatch
from burstwatch.backtest.scores import Result, as_numbers, intervals, score_totals
from burstwatch.backtest.trials import Trial, make_trial
from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.recordings.samples import VOLUME_COLUMNS, Sample

LEAD_S, VIEW = 900.0, "stale"
#: The metrics of a volume's I/O.
IO = tuple(metric for name, metric in VOLUME_COLUMNS.items() if name != "balance_percent")
#: A backup in these hours of each day is charged, and in no counter.
BACKUP_HOURS = (2.0, 5.0)
SEED = 7


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """``published`` gives the share of the charged I/O that the counters show at a time of the recording."""

    name: str
    help: str
    published: Callable[[float], float]


def _constant(share: float, _t_s: float) -> float:
    return share


def _during_backups(t_s: float) -> float:
    hour = t_s % DAY_S / HOUR_S
    return 0.0 if BACKUP_HOURS[0] <= hour < BACKUP_HOURS[1] else 1.0


def _by_hour(t_s: float) -> float:
    """The share of an hour whose I/O has sizes of its own: from four times as many small ones to half as many large ones."""
    drawn = random.Random(f"{SEED}/{t_s // HOUR_S:.0f}")  # noqa: S311 - the same each time
    return float(2.0 ** drawn.uniform(-1.0, 2.0))


DISAGREEMENTS = (
    Disagreement(name="agree", help="as published", published=partial(_constant, 1.0)),
    Disagreement(
        name="merged", help="two published operations cost one credit", published=partial(_constant, 2.0)
    ),
    Disagreement(
        name="split", help="a published operation costs three credits", published=partial(_constant, 1 / 3)
    ),
    Disagreement(
        name="hidden", help="nothing is published from 02:00 to 05:00, as of a backup", published=_during_backups
    ),
    Disagreement(
        name="sizes mixed", help="an operation costs a quarter to two credits, other ones each hour", published=_by_hour
    ),
    Disagreement(
        name="four stripes", help="the balance is that of one of four stripes, the I/O of all", published=partial(_constant, 4.0)
    ),
)  # fmt: skip


def disagreeing(trial: Trial, disagreement: Disagreement) -> Trial:
    """The trial with other counters; what it was charged for, and when it ran out, stays."""
    rows = [_scaled(row, disagreement.published(row.t_s)) for row in trial.rows]
    return replace(trial, rows=rows)


def _scaled(row: Sample, share: float) -> Sample:
    values = {
        name: value * share if name in IO else value
        for name, value in row.values.items()
        if share or name not in IO
    }
    return Sample(t_s=row.t_s, values=values)


def balance_alone(trial: Trial) -> Trial:
    """The trial without any counters."""
    return replace(trial, rows=[_scaled(row, 0.0) for row in trial.rows])


def play(recording: Recording) -> dict[str, list[Result]]:
    """One recording in all its scenarios, by disagreement."""
    results: dict[str, list[Result]] = {each.name: [] for each in DISAGREEMENTS}
    workload = recording.read()
    for rho, size_gib in DIAGONAL:
        trial = make_trial(workload, volume_type="gp2", size_gib=size_gib, rho=rho)
        alone = score_trial(
            balance_alone(trial), FEEDS[VIEW], [Burstwatch(name="balance alone")], lead_s=LEAD_S
        )
        for each in DISAGREEMENTS:
            policies = [Burstwatch(), static(20), static(50)]
            scores = score_trial(disagreeing(trial, each), FEEDS[VIEW], policies, lead_s=LEAD_S)
            results[each.name].append(
                Result(
                    name=trial.name, group=recording.machine, scenario=trial.scenario,
                    scores={**scores, **alone},
                )
            )  # fmt: skip
    return results


def main() -> None:
    """Play the servers, and keep the figures of each disagreement."""
    by_name: dict[str, list[Result]] = {each.name: [] for each in DISAGREEMENTS}
    with ProcessPoolExecutor() as pool:
        for results in pool.map(play, recorded("servers")):
            for name, some in results.items():
                by_name[name] += some
    record = {}
    for each in DISAGREEMENTS:
        totals = score_totals(by_name[each.name])
        record[each.name] = {
            "help": each.help,
            "policies": {
                name: {**as_numbers(score), "intervals": intervals(by_name[each.name], name)}
                for name, score in totals.items()
            },
        }
        for name, score in totals.items():
            print(each.name, name, score.announced, score.needless_per_week, score.precision)
    keep("apart", record)


if __name__ == "__main__":
    main()

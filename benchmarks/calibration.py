"""Counts how often the truth lies between the low and the high time to empty.

Over the moments with the worst case within an hour. The truth is "never" where the
bucket does not run out within six hours; a high time of "never" covers it.
"""

import math
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.record import keep
from benchmarks.recordings import recordings, trials_of
from burstwatch.backtest.evaluate import FEEDS
from burstwatch.backtest.replay import Played
from burstwatch.forecast.projection import project
from burstwatch.recordings.samples import at_period

LEAD_S = 900.0
NEAR_S = 3_600.0
FORESIGHT_S = 6 * 3_600.0
#: Every so many moments one is looked at: minutes beside one another say the same.
STRIDE = 11


@dataclass(kw_only=True)
class Tally:
    """Counts that add up. ``ratios`` are likely over true in the last hour."""

    moments: int = 0
    covered: int = 0
    too_early: int = 0  # it ran out before the low time
    too_late: int = 0  # it ran out after the high time, or never
    never: int = 0
    said_dry: int = 0  # moments with credits left whose likely time is within six hours
    said_dry_covered: int = 0
    last_hour: int = 0
    last_hour_covered: int = 0
    ratios: list[float] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count both together."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def tally(args: tuple[Path, str]) -> Tally:
    """One recording in all scenarios."""
    path, view_name = args
    view, found = FEEDS[view_name], Tally()
    for trial in trials_of(path):
        rows, period_s = at_period(trial.rows, trial.step_s, view.period_s)
        played = Played(rows, trial.resource, period_s)
        config = view.config(LEAD_S)
        empties = [point.emptied_at for point in trial.points if point.emptied_at is not None]
        empty_ends = {one.start_s + one.period_s for one in trial.points if one.level_ratio <= 0}
        upcoming = 0
        for row in rows[::STRIDE]:
            now = row.t_s + period_s + view.delay_s
            if now + FORESIGHT_S > rows[-1].t_s:
                break
            projection = project(played.at(now, view.delay_s, config), max_data_age_s=3_600.0)
            low, high, worst = projection.low_s, projection.high_s, projection.worst_s
            if low is None or high is None or worst is None or worst >= NEAR_S:
                continue
            while upcoming < len(empties) and empties[upcoming] < now:
                upcoming += 1
            if now in empty_ends:
                truth = 0.0
            else:
                truth = empties[upcoming] - now if upcoming < len(empties) else math.inf
            truth = truth if truth <= FORESIGHT_S else math.inf
            _count(found, truth=truth, low=low, high=high, likely=projection.time_to_empty_s)
    return found


def _count(found: Tally, *, truth: float, low: float, high: float, likely: float | None) -> None:
    # What is said to last longer than anybody looks is "never" as well.
    high = math.inf if high > FORESIGHT_S else high
    covered = low <= truth <= high or (math.isinf(truth) and math.isinf(high))
    found.moments += 1
    found.covered += covered
    found.too_early += truth < low
    found.too_late += truth > high
    found.never += math.isinf(truth)
    if likely is not None and 0 < likely <= FORESIGHT_S:
        found.said_dry += 1
        found.said_dry_covered += covered
    if 0 < truth <= NEAR_S:
        found.last_hour += 1
        found.last_hour_covered += covered
        if likely is not None:
            found.ratios.append(min(likely, 1e9) / truth)


def main(names: Sequence[str]) -> None:
    """Print and keep a line for each view."""
    record = {}
    for name in names or ("fresh", "stale"):
        total = Tally()
        with ProcessPoolExecutor() as pool:
            for one in pool.map(tally, [(path, name) for path in recordings("smd")]):
                total.add(one)
        record[name] = {
            "moments": total.moments,
            "covered": total.covered / total.moments,
            "ran_dry_before_low": total.too_early / total.moments,
            "ran_dry_after_high": total.too_late / total.moments,
            "never_ran_dry": total.never / total.moments,
            "said_dry": total.said_dry,
            "said_dry_covered": total.said_dry_covered / total.said_dry,
            "last_hour_covered": total.last_hour_covered / total.last_hour,
            "last_hour_median_of_likely_by_true": statistics.median(total.ratios),
        }
        print(name, *(f"{key} {value:.3g}" for key, value in record[name].items()), sep="  ")
    keep("calibration", record)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Fits the chance on several families of recordings, and says on what.

Writes ``burstwatch/forecast/chance.json`` (fitted on everything) and ``benchmarks/folds.json`` (one model without each
family, one without each server, and one without each fifth of the services and of the VMs). What pages they would have
made where they have not seen the machine, and how true their chances were, is in ``benchmarks/results/chance.json``.
"""

import argparse
import json
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize

from benchmarks.record import keep
from benchmarks.recordings import Recording, made_up, recorded, vms
from burstwatch.backtest.evaluate import FEEDS, Scorer
from burstwatch.backtest.replay import Played
from burstwatch.backtest.scores import Score, as_numbers
from burstwatch.backtest.trials import Incident, Trial
from burstwatch.config import Config
from burstwatch.forecast.chance import FEATURES, FORESIGHT_S, evidence
from burstwatch.forecast.judge import BACK_RATIO, RELAPSE_S
from burstwatch.forecast.margins import WARNING_MARGINS
from burstwatch.recordings.samples import at_period

LEAD_S, DAY_S, WEEK_S = 900.0, 86_400.0, 604_800.0
VIEWS = ("fresh", "stale")
#: How much a family counts beside the others in how likely a sum is; what is made up counts for less.
SHARES = {"servers": 1.0, "services": 1.0, "vm": 1.0, "made-up": 0.3}
#: And in what tells moments apart. With services in it, servers had up to two run-outs of a hundred fewer announced at as
#: many false pages on late data, and the services themselves less than one more.
SHARES_OF_PARTS = {**SHARES, "services": 0.0}
#: From which chance somebody is paged. Chosen on the machines that were left out (docs/backtest.md).
PAGED_FROM = {"early": 0.25, "balanced": 0.33, "sure": 0.55}
DEMAND = (-1.0, -0.4, -0.15, 0.0, 0.2, 0.5, 1.0, 2.0)
#: Lower values. They tell an idle volume from one that does little, if little is left.
IDLE = (-4.0, -2.5, -1.5)
#: Between these values each part is linear.
KNOTS: dict[str, tuple[float, ...]] = dict.fromkeys(FEATURES[:3], IDLE + DEMAND) | {
    "highest_15_of_day": DEMAND,
    "alike": (-8.0, -6.0, -4.5, -3.0, -1.5, 0.0, 2.0),
    "same_hours": (0.0, 0.1, 0.3, 0.6, 0.9),
}
#: And between these sums of the parts the log-odds are. Above the last they are flat: too few moments get there, for
#: the parts are scaled so that this share of all moments is below.
SUMS = tuple(map(float, range(16)))
SCALED_TO = 0.995
#: Between them a larger sum always has the higher chance, by this much of a slope at least.
LEAST_SLOPE = 0.02
#: The weight of the ridge penalty.
RIDGE = 1e-5
#: A visit of the danger zone counts by its length to the power of 1 - this: a long one for little more than a short one.
VISIT_POWER, VISIT_GAP_S = 0.8, 1_800.0
#: Where the pages are counted: for each way to page, and for what a page at the worst case alone makes.
THRESHOLDS = (*PAGED_FROM.values(), 0.0)
PAGE_ON = (*PAGED_FROM, "worst")
#: The chance is compared with what came true in five bins, from these on; one with fewer moments says nothing.
BINS, FEWEST = (0.0, 0.1, 0.25, 0.4, 0.6, 1.0), 50
ROOT = Path(__file__).parent.parent

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, kw_only=True)
class Moments:
    """One trial in one view: every moment, and the evidence of those with the worst case near.

    ``near`` are places in ``at``; ``holds`` is whether a page that came before goes on there,
    ``broken`` whether an incident is seen there. ``spent`` is whether the bucket was empty after the
    newest datapoint and within the horizon: with late data that may lie before ``at``; ``ran_out`` whether it was
    within two hours.
    """

    recording: Recording
    size_gib: float
    view: str
    at: Array
    near: Array
    holds: Array
    broken: Array
    rows: Array
    spent: Array
    ran_out: Array
    period_s: float
    span: tuple[float, float]
    events: list[Incident]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A model: the slope of each segment of ``KNOTS``, the log-odds without any, and a slope for each of ``SUMS``."""

    slopes: Array
    intercept: float
    log_slopes: Array

    def risks_of(self, rows: Array) -> Array:
        """The chance at each moment."""
        sums = (segments(rows) @ self.slopes)[:, None]
        log_odds = self.intercept + segments(sums, [SUMS]) @ self.log_slopes
        found: Array = 1 / (1 + np.exp(-log_odds))
        return found

    def as_data(self) -> dict[str, object]:
        """The model as it is kept."""
        slopes = iter(self.slopes.tolist())
        return {
            "parts": {name: _part(at, slopes) for name, at in KNOTS.items()},
            "log_odds": _part(SUMS, iter(self.log_slopes.tolist()), first=self.intercept),
        }


def _part(at: Sequence[float], slopes: Iterator[float], first: float = 0.0) -> dict[str, object]:
    adds = [round(first, 4)]
    for low, high in pairwise(at):
        adds.append(round(adds[-1] + next(slopes) * (high - low), 4))
    return {"at": list(at), "adds": adds}


def gather(args: tuple[Recording, str]) -> list[Moments]:
    """The moments of one recording in every scenario."""
    recording, view = args
    trials = zip(recording.trials(), recording.scenarios, strict=True)
    return [_moments(trial, recording, size_gib, view) for trial, (_, size_gib) in trials]


def _moments(trial: Trial, recording: Recording, size_gib: float, view_name: str) -> Moments:
    view = FEEDS[view_name]
    rows, period_s = at_period(trial.rows, trial.step_s, view.period_s)
    config = Config(lead_s=LEAD_S, sweep_period_s=max(60.0, period_s), alarm_path_s=60.0)
    played, horizon_s = Played(rows, trial.resource, period_s), config.margin_s + view.delay_s
    wide_s = WARNING_MARGINS * config.margin_s + view.delay_s
    at, near, holds, broken, found, spent, ran_out = [], [], [], [], [], [], []
    empties = [*(event.empty_s for event in trial.events), np.inf]
    for place, row in enumerate(rows):
        now = row.t_s + period_s + view.delay_s
        history = played.at(now, view.delay_s, config).history
        is_known = history is not None and history.newest_slot() >= 0
        worst_s = history.worst_s() if history and is_known else np.inf
        ratio = history.levels[history.newest_slot()] if history and is_known else 1.0
        is_broken = history is not None and is_known and history.since_empty() is not None
        at.append(now)
        holds.append(worst_s < wide_s and ratio < BACK_RATIO)
        broken.append(is_broken)
        if history and worst_s < horizon_s and ratio < BACK_RATIO and not is_broken and now > DAY_S:
            near.append(place)
            found.append(evidence(history, horizon_s))
            following_s = empties[bisect_right(empties, now - view.delay_s)]
            spent.append(following_s <= now + config.margin_s)
            ran_out.append(following_s <= now + FORESIGHT_S)
    return Moments(
        recording=recording,
        size_gib=size_gib,
        view=view_name,
        at=np.array(at),
        near=np.array(near, dtype=int),
        holds=np.array(holds, dtype=bool),
        broken=np.array(broken, dtype=bool),
        rows=np.array(found).reshape(len(found), len(FEATURES)),
        spent=np.array(spent, dtype=bool),
        ran_out=np.array(ran_out, dtype=bool),
        period_s=period_s,
        span=(rows[0].t_s + WEEK_S, rows[-1].t_s + period_s),
        events=trial.events,
    )


def segments(rows: Array, knots: Iterable[Sequence[float]] = tuple(KNOTS.values())) -> Array:
    """Each value as the lengths of the segments between the ``knots`` of its column that it covers."""
    return np.column_stack(
        [
            np.clip(rows[:, place], low, high) - low
            for place, at in enumerate(knots)
            for low, high in pairwise(at)
        ]
    )


def visit_weights(moments: Moments) -> Array:
    """Each visit of the danger zone weighs its length in minutes to the power of 1 - VISIT_POWER."""
    at = moments.at[moments.near]
    weights: Array = np.ones(len(at))
    ends = np.flatnonzero(np.diff(at) > VISIT_GAP_S) + 1
    for some in np.split(np.arange(len(at)), ends):
        minutes = len(some) * moments.period_s / 60
        if len(some):
            weights[some] = minutes**-VISIT_POWER * moments.period_s / 60
    return weights


def fit(some: Sequence[Moments]) -> Fitted:
    """Fit without a negative slope, so that nothing that is worse can lower the chance."""
    x = segments(np.vstack([one.rows for one in some]))
    spent = np.concatenate([one.spent for one in some]).astype(float)
    # What tells moments apart is learnt by visit: a volume that stays for days has one story to tell.
    by_visit = np.concatenate([visit_weights(one) for one in some])
    _, steep = _logistic(x, spent, _balanced(some, by_visit, SHARES_OF_PARTS), least=0.0)
    slopes = steep * SUMS[-1] / np.quantile(x @ steep, SCALED_TO)
    # How likely each sum is, is learnt by time: of all families' hours that say .3, three in ten have to be right.
    sums = segments((x @ slopes)[:, None], [SUMS])
    ran_out = np.concatenate([one.ran_out for one in some]).astype(float)
    seconds = np.concatenate([np.full(len(one.rows), one.period_s) for one in some])
    intercept, log_slopes = _logistic(
        sums, ran_out, _balanced(some, seconds, SHARES), least=LEAST_SLOPE
    )
    return Fitted(slopes=slopes, intercept=intercept, log_slopes=log_slopes)


def _balanced(some: Sequence[Moments], weights: Array, shares: Mapping[str, float]) -> Array:
    """The weights with which each family counts by its share in each view."""
    names = np.concatenate([np.full(len(m.rows), f"{m.recording.family}/{m.view}") for m in some])
    found: Array = weights.copy()
    for name in np.unique(names):
        of = names == name
        found[of] *= shares[str(name).partition("/")[0]] / found[of].sum()
    return found / found.sum()


def _logistic(x: Array, y: Array, weights: Array, *, least: float) -> tuple[float, Array]:
    """Intercept and slopes by maximum likelihood; no slope is under ``least``, and small ones are preferred."""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = (x - mean) / spread

    def loss(beta: Array) -> tuple[float, Array]:
        score = beta[0] + z @ beta[1:]
        error = weights * (1 / (1 + np.exp(-score)) - y)
        value = (weights * (np.logaddexp(0, score) - y * score)).sum()
        slope = np.concatenate([[error.sum()], z.T @ error + 2 * RIDGE * beta[1:]])
        return value + RIDGE * (beta[1:] ** 2).sum(), slope

    lowest = least * spread
    bounds = [(None, None), *((one, None) for one in lowest)]
    found = minimize(loss, [0.0, *lowest], jac=True, bounds=bounds, method="L-BFGS-B")
    slopes = found.x[1:] / spread
    return float(found.x[0] - (slopes * mean).sum()), slopes


def score_at(args: tuple[Moments, Array]) -> list[Score]:
    """The counts at each threshold, paging as the policy does: held, and while an incident lasts."""
    moments, risks = args
    judged = Scorer(
        period_s=moments.period_s,
        events=moments.events,
        span=moments.span,
        lead_s=LEAD_S,
        fastest_s=0.0,
    )
    place = np.arange(len(moments.at))
    is_near = np.isin(place, moments.near)
    incident = np.maximum.accumulate(np.where(moments.broken, place, -len(place) * 10))
    found = []
    for threshold in THRESHOLDS:
        acted = np.full(len(place), -len(place) * 10)
        acted[moments.near[risks >= threshold]] = moments.near[risks >= threshold]
        last = np.maximum.accumulate(acted)
        is_held = (place - last) * moments.period_s < Config().hold_s
        # An incident that has just ended, on a bucket that is not far from empty.
        is_fresh = is_near & ((place - incident) * moments.period_s < max(RELAPSE_S, LEAD_S))
        on = (
            (place == last)
            | is_held & moments.holds & (last > incident)
            | moments.broken
            | is_fresh
        )
        found.append(judged.score(moments.at[on].tolist()))
    return found


def fit_all(found: Sequence[Moments], families: Sequence[str]) -> Iterator[tuple[str, Fitted]]:
    """The models by what they have not seen; the whole one has an empty name."""
    seen = [one for one in found if len(one.rows)]
    yield "", fit(seen)
    for family in families:
        yield family, fit([one for one in seen if one.recording.family != family])
    for name in sorted({one.recording.fold for one in seen} - set(families)):
        yield name, fit([one for one in seen if one.recording.fold != name])


def chances(some: Sequence[Moments], models: dict[str, Fitted], what: str) -> list[Array]:
    """The chance at each moment by the model that has not seen its ``machine``, or its ``family``."""
    names = [one.recording.family if what == "family" else one.recording.fold for one in some]
    return [
        models.get(name, models[""]).risks_of(one.rows) if len(one.rows) else np.zeros(0)
        for name, one in zip(names, some, strict=True)
    ]


def count_pages(some: Sequence[Moments], said: Sequence[Array]) -> dict[str, list[Score]]:
    """The counts at each threshold by family and view, in all and by size."""
    summed: dict[str, list[Score]] = {}
    with ProcessPoolExecutor() as pool:
        jobs = zip(some, said, strict=True)
        for one, scores in zip(some, pool.map(score_at, jobs, chunksize=8), strict=True):
            name = f"{one.recording.family} {one.view}"
            for key in (name, f"{name} {one.size_gib:g} GiB"):
                before = summed.get(key, [Score()] * len(THRESHOLDS))
                summed[key] = [a + b for a, b in zip(before, scores, strict=True)]
    return summed


def calibration(some: Sequence[Moments], said: Sequence[Array]) -> dict[str, object]:
    """What was said and what came true by family and view, in five bins; a bin with few moments is left out."""
    bins: dict[str, object] = {}
    names = np.concatenate([np.full(len(m.rows), f"{m.recording.family} {m.view}") for m in some])
    chance, came = np.concatenate(said), np.concatenate([m.ran_out for m in some])
    for name in dict.fromkeys(names.tolist()):
        by_bin = {}
        for low, high in pairwise(BINS):
            of = (names == name) & (chance >= low) & (chance < high)
            if of.sum() >= FEWEST:
                by_bin[f"{low:g} to {high:g}"] = {
                    "moments": int(of.sum()),
                    "said": round(float(chance[of].mean()), 3),
                    "came_true": round(float(came[of].mean()), 3),
                }
        bins[name] = by_bin
    return bins


def main() -> None:
    """Fit everything, write it, and print the curves that the settings are made of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vm", type=Path, metavar="DIR", help="the folder rnd: see vm_disks.py")
    parser.add_argument("--without-vm", action="store_true", help="fit on fewer families")
    args = parser.parse_args()
    if args.vm is None and not args.without_vm:
        parser.error(
            "the committed parts were fitted on the disks of VMs too, which may not be kept here: get them as "
            "benchmarks/vm_disks.py says and name their folder with --vm, or fit on less with --without-vm"
        )
    chosen = [
        *recorded("servers"), *recorded("services"), *recorded("nab"), *made_up(),
        *(vms(args.vm) if args.vm else ()),
    ]  # fmt: skip
    with ProcessPoolExecutor() as pool:
        jobs = [(one, view) for view in VIEWS for one in chosen]
        found = []
        for number, some in enumerate(pool.map(gather, jobs), start=1):
            found += some
            if sys.stderr.isatty():
                print(f"\r{number}/{len(jobs)}\033[K", end="", file=sys.stderr)
    learn(found)


def learn(found: Sequence[Moments]) -> None:
    """Fit with and without each family and machine, and write what came of it."""
    seen = [one for one in found if one.recording.family in SHARES]
    models = dict(fit_all(seen, sorted({one.recording.family for one in seen})))
    record: dict[str, dict[str, object]] = {"pages": {}, "calibration": {}}
    for what in ("machine", "family"):
        said = chances(found, models, what)
        counted = count_pages(found, said)
        record["pages"][what] = {
            name: {page_on: _row(score) for page_on, score in zip(PAGE_ON, scores, strict=True)}
            for name, scores in counted.items()
        }
        record["calibration"][what] = calibration(found, said)
    keep("chance", record)
    whole = models.pop("")
    folds = {name: model.as_data() for name, model in models.items()}
    (ROOT / "benchmarks" / "folds.json").write_text(json.dumps(folds) + "\n")
    fitted = ROOT / "burstwatch" / "forecast" / "chance.json"
    fitted.write_text(json.dumps(_data(whole, seen), indent=1) + "\n")


def _row(score: Score) -> dict[str, object]:
    """One way to page on some recordings."""
    names = ("events", "announced", "paged_in_time", "needless_per_week", "precision")
    numbers = as_numbers(score)
    return {name: numbers[name] for name in names}


def _data(whole: Fitted, seen: Sequence[Moments]) -> dict[str, object]:
    families = {one.recording.family: set[str]() for one in seen}
    for one in seen:
        families[one.recording.family].add(one.recording.machine)
    counted = ", ".join(f"{len(names)} of {family}" for family, names in sorted(families.items()))
    moments = sum(len(one.rows) for one in seen)
    return {
        "note": f"Written by `make fit`, never by hand. Fitted on {moments:,} moments of machines by family: {counted}.",
        "paged_from": PAGED_FROM,
        **whole.as_data(),
    }


if __name__ == "__main__":
    main()

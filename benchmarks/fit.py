"""Fit the weights of the risk score on the recorded workloads, and say on what.

Writes ``burstwatch/forecast/hazard_weights.json`` (fitted on all machines) and
``benchmarks/folds.json`` (one set for each machine, fitted without it).
"""

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.recordings import machine_of, recordings, trials_of
from burstwatch.backtest.evaluate import FEEDS, Feed, score_firing
from burstwatch.backtest.replay import Played
from burstwatch.backtest.scores import Score
from burstwatch.backtest.series import at_period
from burstwatch.backtest.trials import Event, Trial
from burstwatch.config import Config
from burstwatch.forecast.hazard import FEATURES, features
from burstwatch.forecast.policy import OFTEN
from burstwatch.forecast.precedents import harmless_before

LEAD_S = 900.0
DAY_S = 86_400.0
#: What each set of weights looks at. With data every five minutes the shape of the last
#: quarter of an hour says more; with data every minute it only repeats the short windows.
PLAIN = (
    "mean_1", "mean_3", "mean_5", "mean_15", "mean_60", "mean_180", "quantile_90_of_hour",
    "highest_5_of_hour", "highest_15_of_day", "refill_of_burst", "repeats",
)  # fmt: skip
FITS: dict[str, tuple[str, ...]] = {"fresh": PLAIN, "stale": FEATURES}
#: The inverse of the ridge penalty.
STRENGTH = {"fresh": 0.02, "stale": 0.1}
#: A moment counts as a hit if the bucket runs dry between the lead and so much later: these
#: are the last moments at which a page is still in time.
HIT_S = {"fresh": 108.0, "stale": 432.0}
HIT_WEIGHT = 0.1
#: Added to the score, so that one threshold announces about as many exhaustions with both.
SHIFT = {"fresh": 0.0, "stale": 0.4}
#: One visit of the danger zone counts as one, however long it lasts; this much of its length.
VISIT_POWER = 0.8
VISIT_GAP_S = 1_800.0
#: Where the curve of thresholds is measured. At 0 only the worst case decides.
THRESHOLDS = (0.0, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.115, 0.13, 0.145, 0.16, 0.2, 0.25, 0.32)
CONVERGED = 1e-8
ROOT = Path(__file__).parent.parent


Array: TypeAlias = "np.ndarray[Any, Any]"
Weights: TypeAlias = tuple[float, list[float]]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """One view's weights, on all machines and without each, and its curve by THRESHOLDS."""

    whole: Weights
    folds: dict[str, Weights]
    curve: list[Score]
    moments: int


@dataclass(frozen=True, kw_only=True)
class Moments:
    """One trial's moments with the worst case near, outside incidents."""

    machine: str
    scenario: str
    at: Array  # seconds
    rows: Array  # by FEATURES
    harmless: Array  # whether the week before says so
    to_empty_s: Array
    span: tuple[float, float]
    events: list[Event]
    period_s: float


def gather(args: tuple[Path, str]) -> list[Moments]:
    """The moments of one recording in every scenario."""
    path, view_name = args
    return [_moments(trial, FEEDS[view_name], machine_of(path)) for trial in trials_of(path)]


def _moments(trial: Trial, view: Feed, machine: str) -> Moments:
    rows, period_s = at_period(trial.rows, trial.step_s, view.period_s)
    config = view.config(LEAD_S)
    played = Played(rows, trial.resource, period_s)
    horizon_s = config.margin_s + view.delay_s
    found, times, lefts, harmless = [], [], [], []
    upcoming = 0
    for row in rows:
        now = row.t_s + period_s + view.delay_s
        while upcoming < len(trial.events) and trial.events[upcoming].recovered_s <= now:
            upcoming += 1
        event = trial.events[upcoming] if upcoming < len(trial.events) else None
        if (event and event.empty_s <= now) or now < DAY_S:
            continue
        history = played.at(now, view.delay_s, config).history
        if history is None or history.newest_level() < 0:
            continue
        if history.worst_s() >= horizon_s:
            continue
        found.append(features(history, horizon_s))
        harmless.append(harmless_before(history, horizon_s) > 0)
        times.append(now)
        lefts.append(event.empty_s - now if event else np.inf)
    return Moments(
        machine=machine,
        scenario=trial.scenario,
        at=np.array(times),
        rows=np.array(found).reshape(len(found), len(FEATURES)),
        harmless=np.array(harmless, dtype=bool),
        to_empty_s=np.array(lefts),
        span=(rows[0].t_s + 7 * DAY_S, rows[-1].t_s + period_s),
        events=trial.events,
        period_s=period_s,
    )


def visit_weights(moments: Moments) -> Array:
    """Each visit of the danger zone weighs its length in minutes to the power of 1 - VISIT_POWER."""
    weights: Array = np.ones(len(moments.at))
    ends = np.flatnonzero(np.diff(moments.at) > VISIT_GAP_S) + 1
    for some in np.split(np.arange(len(moments.at)), ends):
        minutes = len(some) * moments.period_s / 60
        if len(some):
            weights[some] = minutes**-VISIT_POWER * moments.period_s / 60
    return weights


def fit(view_name: str, some: list[Moments]) -> Weights:
    """Intercept and weights by FEATURES, of a ridge logistic regression (Newton's method)."""
    rows = np.vstack([m.rows for m in some])
    left = np.concatenate([m.to_empty_s for m in some])
    weights = np.concatenate([visit_weights(m) for m in some])
    usable = left >= LEAD_S - 60
    hit = left <= LEAD_S + HIT_S[view_name]
    weights = np.where(hit, HIT_WEIGHT * some[0].period_s / 60, weights)[usable]
    chosen = [FEATURES.index(name) for name in FITS[view_name]]
    x, y = rows[usable][:, chosen], hit[usable].astype(float)
    mean, spread = x.mean(0), x.std(0) + 1e-12
    z = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    penalty = np.diag([0.0] + [1 / STRENGTH[view_name]] * len(chosen))
    beta = np.zeros(len(chosen) + 1)
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ beta))
        gradient = z.T @ (weights * (p - y)) + penalty @ beta
        hessian = (z * (weights * p * (1 - p))[:, None]).T @ z + penalty
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < CONVERGED:
            break
    slopes = beta[1:] / spread
    by_feature = [0.0] * len(FEATURES)
    for index, slope in zip(chosen, slopes, strict=True):
        by_feature[index] = float(slope)
    return SHIFT[view_name] + float(beta[0] - (slopes * mean).sum()), by_feature


def risks_of(model: Weights, moments: Moments) -> Array:
    """The risk at each moment."""
    found: Array = 1 / (1 + np.exp(-(model[0] + moments.rows @ np.array(model[1]))))
    return found


def score_at(threshold: float, risks: Array, moments: Moments) -> Score:
    """The counts at one threshold, paging as the policy does: held, and while an incident lasts."""
    on = (risks >= threshold) & ~moments.harmless | (
        moments.rows[:, FEATURES.index("repeats")] >= OFTEN
    )
    period_s = moments.period_s
    firing: set[float] = set()
    for at in moments.at[on].tolist():
        firing.update(at + period_s * n for n in range(int(Config().hold_s / period_s)))
    first = moments.at[0] % period_s if len(moments.at) else 0.0
    for event in moments.events:
        end_s = min(event.recovered_s, moments.span[1])
        at = np.ceil((event.empty_s - first) / period_s) * period_s + first
        firing.update(np.arange(at, end_s, period_s).tolist())
    return score_firing(sorted(firing), period_s, moments.events, span=moments.span, lead_s=LEAD_S)


def fit_view(view_name: str) -> Fitted:
    """Gather, fit with and without each machine, and measure the curve of thresholds."""
    with ProcessPoolExecutor() as pool:
        jobs = [(path, view_name) for path in recordings("smd")]
        found = [moments for some in pool.map(gather, jobs) for moments in some]
    machines = sorted({one.machine for one in found})
    folds = {m: fit(view_name, [one for one in found if one.machine != m]) for m in machines}
    curves = {
        machine: [
            sum(
                (
                    score_at(threshold, risks_of(folds[machine], one), one)
                    for one in found
                    if one.machine == machine
                ),
                Score(),
            )
            for threshold in THRESHOLDS
        ]
        for machine in machines
    }
    pooled = [sum(scores, Score()) for scores in zip(*curves.values(), strict=True)]
    return Fitted(
        whole=fit(view_name, found), folds=folds, curve=pooled,
        moments=sum(len(one.at) for one in found),
    )  # fmt: skip


def main() -> None:
    """Fit both sets of weights, write them, and print the curve that the settings are made of."""
    fitted = {name: fit_view(name) for name in FITS}
    rows = [
        tuple(
            round(value or 0.0, 3)
            for name in FITS
            for value in (fitted[name].curve[i].false_per_week, fitted[name].curve[i].recall)
        )
        for i in range(len(THRESHOLDS))
    ]
    print("threshold  fresh: false/week, recall  stale: false/week, recall")
    for threshold, row in zip(THRESHOLDS, rows, strict=True):
        print(f"{threshold:9.3f}  {row[0]:.3f} {row[1]:.3f}  {row[2]:.3f} {row[3]:.3f}")
    folds = {
        machine: {
            name: {
                "period_s": FEEDS[name].period_s,
                "intercept": fitted[name].folds[machine][0],
                "weights": fitted[name].folds[machine][1],
            }
            for name in FITS
        }
        for machine in fitted["fresh"].folds
    }
    (ROOT / "benchmarks" / "folds.json").write_text(json.dumps(folds, indent=1) + "\n")
    weights = ROOT / "burstwatch" / "forecast" / "hazard_weights.json"
    weights.write_text(json.dumps(_data(fitted, rows), indent=1) + "\n")


def _data(fitted: dict[str, Fitted], rows: list[tuple[float, ...]]) -> dict[str, object]:
    moments = " and ".join(f"{fitted[name].moments:,} ({name})" for name in FITS)
    return {
        "note": "Written by `make fit`, never by hand. Fitted on the server recordings in "
        f"demo/workloads/smd: {len(fitted['fresh'].folds)} machines; sizes 100, 200 and 500 GiB; mean "
        f"load 0.5, 0.8 and 0.95 of the baseline; {moments} moments. The levels are what the weights "
        "did on machines that they were not fitted on.",
        "models": [
            {
                "period_s": FEEDS[name].period_s,
                "intercept": round(fitted[name].whole[0], 4),
                "weights": {
                    feature: round(weight, 4)
                    for feature, weight in zip(FEATURES, fitted[name].whole[1], strict=True)
                },
            }
            for name in FITS
        ],
        "levels": [
            {"threshold": threshold, "needless_per_week": row[0], "recall": row[1]}
            for threshold, row in zip(THRESHOLDS, rows, strict=True)
        ],
    }


if __name__ == "__main__":
    main()

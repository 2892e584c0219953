"""Evaluates a paging rule on recorded workloads.

An *event* is a bucket that turns empty; its incident lasts until the level is back at
20%. A *page* is the onset of a rule's alarm, and a repeat every four hours while it
goes on, so that a stuck alarm is not free; a *warning* is an onset alone. The first week
warms up and is not counted.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from burstwatch.backtest.replay import Played
from burstwatch.backtest.scores import WEEK_S, Score
from burstwatch.backtest.trials import Incident, Trial
from burstwatch.config import Config
from burstwatch.forecast.chance import FORESIGHT_S
from burstwatch.forecast.policy import PAGED
from burstwatch.formatting import DAY
from burstwatch.history.observations import Observation, Verdict
from burstwatch.kinds import find_kinds
from burstwatch.recordings.samples import at_period

WARM_UP_S = WEEK_S
REPEAT_S = 4 * 3_600.0
#: A warning is of use if it was on this long before the page.
WARNED_S = 1_800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """A rule's view of the data: the period of its datapoints, and how late they come."""

    period_s: float
    delay_s: float

    def config(self, lead_s: float) -> Config:
        """Settings of a sweep that looks once a period, with a page that takes a minute."""
        return Config(
            lead_s=lead_s,
            sweep_period_s=max(60.0, self.period_s),
            alarm_path_s=60.0,
            max_data_age_s=max(300.0, self.delay_s),
        )


FEEDS = {
    "fresh": Feed(period_s=60.0, delay_s=0.0),
    "mid": Feed(period_s=60.0, delay_s=180.0),
    "stale": Feed(period_s=300.0, delay_s=300.0),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """The facts that a rule may use beside the observation. Only the oracle looks at ``events``."""

    config: Config
    events: Sequence[Incident]


class Policy(Protocol):
    """A paging rule: a pure function of what can be seen now. One file of ``policies/``."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def help(self) -> str:
        """Its description in a line."""

    def judge(self, observation: Observation, truth: Truth) -> Verdict:
        """The verdict: critical or exhausted is a page, and warning a warning."""


def score_trial(
    trial: Trial,
    view: Feed,
    policies: Sequence[Policy],
    *,
    lead_s: float,
    foresight_s: float = FORESIGHT_S,
) -> dict[str, Score]:
    """Each policy's counts on one trial, by name. A page is right for ``foresight_s``.

    A trial that is coarser than the view is seen in its own period.

    Raises:
        ValueError: if the trial is over with its warm-up.
    """
    kind, resource = find_kinds()[trial.kind], trial.resource
    statistic, end_s = resource.reporting.statistic, trial.rows[-1].t_s + trial.step_s
    rows, period_s = at_period(
        trial.rows, trial.step_s, view.period_s, kind=kind, level_statistic=statistic
    )
    span_s = end_s - trial.rows[0].t_s
    if span_s <= WARM_UP_S or not rows:
        msg = (
            f"{trial.name} lasts {span_s / DAY:.1f} days, needed is more than {WARM_UP_S / DAY:g}: "
            "these first days are history and are not scored"
        )
        raise ValueError(msg)
    played = Played(rows, resource, period_s, kind)
    config = replace(view, period_s=max(view.period_s, period_s)).config(lead_s)
    truth = Truth(config=config, events=trial.events)
    paging: dict[str, list[float]] = {policy.name: [] for policy in policies}
    warning: dict[str, list[float]] = {policy.name: [] for policy in policies}
    first_s = rows[0].t_s + period_s + view.delay_s
    for moment in range(round((rows[-1].t_s - rows[0].t_s) / period_s) + 1):
        now = first_s + moment * period_s
        observation = played.at(now, view.delay_s, config)
        for policy in policies:
            verdict = policy.judge(observation, truth)
            if verdict in PAGED:
                paging[policy.name].append(now)
            elif verdict == "warning":
                warning[policy.name].append(now)
    scorer = Scorer(
        period_s=period_s,
        events=trial.events,
        span=(rows[0].t_s + WARM_UP_S, end_s),
        lead_s=lead_s,
        fastest_s=config.margin_s + view.delay_s,
        foresight_s=foresight_s,
    )
    return {name: scorer.score(paging[name], warning[name]) for name in paging}


@dataclass(frozen=True, kw_only=True, slots=True)
class Scorer:
    """The incidents and limits that a policy is scored against, in seconds.

    ``fastest_s`` is the least time from full to empty in which a page can come ``lead_s`` before.
    """

    period_s: float
    events: Sequence[Incident]
    span: tuple[float, float]
    lead_s: float
    fastest_s: float
    foresight_s: float = FORESIGHT_S

    def score(self, paging: Sequence[float], warning: Sequence[float] = ()) -> Score:
        """Counts from the moments at which a page or a warning was on; each holds until the next moment."""
        start_s, end_s = self.span
        runs = _runs(paging, self.period_s)
        announced_runs = _runs(sorted([*paging, *warning]), self.period_s)
        pages = [at for begin, last in runs for at in _pages(begin, last)]
        counted = [event for event in self.events if start_s <= event.empty_s < end_s]
        leads = [_lead_s(runs, event) for event in counted]
        right, needless = self._right_and_needless(pages)
        return Score(
            events=len(counted),
            announced_events=sum(_is_on(runs, event.empty_s - self.lead_s) for event in counted),
            paged_events=sum(
                any(
                    event.empty_s - self.foresight_s <= p <= event.empty_s - self.lead_s
                    for p in pages
                )
                for event in counted
            ),
            one_page_events=sum(self._is_one_episode(runs, event) for event in counted),
            right_pages=len(right),
            needless_pages=len(needless),
            warned_pages=sum(_is_on(announced_runs, page - WARNED_S) for page in right + needless),
            needless_warnings=len(
                self._right_and_needless([begin for begin, _ in announced_runs])[1]
            ),
            warning_s=len(warning) * self.period_s,
            alarm_s=sum(max(0.0, min(last, end_s) - max(begin, start_s)) for begin, last in runs),
            seconds=end_s - start_s,
            leads_s=tuple(leads),
            fast_leads_s=tuple(
                lead
                for lead, event in zip(leads, counted, strict=True)
                if event.empty_s - event.full_s < self.fastest_s
            ),
        )

    def _right_and_needless(self, onsets: Sequence[float]) -> tuple[list[float], list[float]]:
        """The onsets outside incidents: those before a run-out soon enough, and the others."""
        start_s, end_s = self.span
        empties = [event.empty_s for event in self.events]
        right, needless = [], []
        for at in onsets:
            if not start_s <= at < end_s or _in_incident(self.events, at):
                continue
            following = bisect_left(empties, at)
            if following < len(empties) and empties[following] - at <= self.foresight_s:
                right.append(at)
            elif at + self.foresight_s <= end_s:  # what comes after the recording is not known
                needless.append(at)
        return right, needless

    def _is_one_episode(self, runs: Sequence[tuple[float, float]], event: Incident) -> bool:
        """True if exactly one alarm was on between ``foresight_s`` before the run-out and the recovery."""
        begin_s = event.empty_s - self.foresight_s
        return sum(last > begin_s and begin <= event.recovered_s for begin, last in runs) == 1


def _lead_s(runs: Sequence[tuple[float, float]], event: Incident) -> float:
    since = [begin for begin, last in runs if begin <= event.empty_s < last]
    return event.empty_s - since[-1] if since else 0.0


def _runs(times: Sequence[float], period_s: float) -> list[tuple[float, float]]:
    """Runs of consecutive moments as (begin, end): from the first moment to one period after the last."""
    runs: list[tuple[float, float]] = []
    for now in times:
        if runs and now <= runs[-1][1] + period_s / 2:
            runs[-1] = (runs[-1][0], now + period_s)
        else:
            runs.append((now, now + period_s))
    return runs


def _pages(begin: float, last: float) -> list[float]:
    return [begin + REPEAT_S * n for n in range(math.ceil((last - begin) / REPEAT_S))]


def _is_on(runs: Sequence[tuple[float, float]], at: float) -> bool:
    index = bisect_right(runs, (at, math.inf)) - 1
    return index >= 0 and at < runs[index][1]


def _in_incident(events: Sequence[Incident], at: float) -> bool:
    return any(event.empty_s <= at < event.recovered_s for event in events)

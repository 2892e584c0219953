"""Decides what to ask next about some resources: levels first, more only where it matters.

CloudWatch bills by metric and not by datapoint, but datapoints have a quota and take time.
So every level gets a glance. Where a level is near the margin, its last hours are asked
for, and the demand of the days before. Where somebody is about to be told, the demand of
those hours. What the last look saw is not asked for again.

Everything here is a function of what is known and answered: the steps yield a ``Request``
and are sent its ``Answers``. ``burstwatch/aws/look/reading.py`` makes the calls.
"""

import math
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.forecast.margins import margins_of
from burstwatch.forecast.policy import (
    LAG_STEP_S,
    SEVERITY,
    Assessment,
    assess,
    not_known,
)
from burstwatch.formatting import DAY, first_of
from burstwatch.history.background import make_background
from burstwatch.history.observations import Observation, Resource
from burstwatch.history.past import PAST_PERIOD_S, Past, renewed_past, with_recent
from burstwatch.history.points import COARSE_S, FINE_S, MINUTES_KEPT
from burstwatch.kinds.base import Kind
from burstwatch.polling.queries import (
    Allowance,
    Answers,
    Failure,
    Query,
    Request,
    check_queries,
    demand_queries,
    exceeded_shares,
    level_query,
    make_request,
)
from burstwatch.polling.samples import Demand, LevelSample
from burstwatch.polling.schedule import DaysBefore, Judgement, Schedule, fingerprint
from burstwatch.polling.told import ToldSeverity, alarm_severity
from burstwatch.shards import Problem


def worst_now_s(observation: Observation) -> float:
    """Seconds from now to empty at full burst by the newest level; infinite where none is known."""
    if observation.history is None or observation.history.newest_slot() < 0:
        return math.inf
    return max(0.0, observation.history.worst_s() - observation.history.level_age_s(observation.at))


def is_full(observation: Observation) -> bool:
    """True if there is so much in the bucket that nothing else matters."""
    return _newest_ratio(observation) >= BACK_RATIO


def is_near(observation: Observation, config: Config) -> bool:
    """True if what was before the newest level can matter: a hold, a chance, an incident."""
    if observation.history is None or is_full(observation):
        return False
    # The judge rounds the lag up.
    near_s = margins_of(observation.resource, config).warning_s + LAG_STEP_S
    return (
        worst_now_s(observation) < near_s
        or _newest_ratio(observation) < observation.history.track.recovered_ratio
    )


def _newest_ratio(observation: Observation) -> float:
    """The newest level, 0 to 1; full where none is known, for nothing can be asked of that."""
    if observation.history is None or observation.history.newest_slot() < 0:
        return 1.0
    return observation.history.levels[observation.history.newest_slot()]


_Result = TypeVar("_Result")
#: Requests in turn, each sent its answers, with a result at the end.
Steps: TypeAlias = Generator[Request, Answers, _Result]

#: How far back the past is asked for: the days that the chance is compared with, and one more.
PAST_S = 8.0 * DAY
#: Where they are kept, only the last hours are asked for, and some of what is kept again: data may have been late.
PAST_RENEWED_S, PAST_OVERLAP_S = 6.0 * 3_600.0, 3_600.0
#: The days before are asked for of so many resources at one look: they are an extra, and large.
PASTS_PER_LOOK = 10
#: As far back as CloudWatch has minutes; a slower bucket is not full by then either.
LONGEST_BACK_S = MINUTES_KEPT.value * DAY
#: Limits that were exceeded in the last so many seconds are told.
EXCEEDED_WINDOW_S = 600.0
NOTHING_EXCEEDED: Mapping[str, float] = MappingProxyType({})
#: Resources that are asked for their demand together: one call answers four metrics of six hours.
PIECE = 69


@dataclass(frozen=True, kw_only=True)
class Task:
    """One look at one kind: what is known before and told, and how deep to look. Of those in ``quiet`` nothing new is told.

    Whatever could be empty within ``demand_horizon_s`` is asked for its demand too; the
    days before are asked for while ``pasts`` lasts.
    """

    kind: Kind
    config: Config
    schedule: Schedule
    now: float
    demand_horizon_s: float = 0.0
    told: ToldSeverity | None = None
    quiet: Collection[str] = ()
    pasts: Allowance = field(default_factory=lambda: Allowance(PASTS_PER_LOOK))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Near:
    """A resource whose hours matter. ``assessment`` is None where only its demand can tell."""

    sample: LevelSample
    observation: Observation
    past: Past | None
    assessment: Assessment | None


class Batch:
    """Some resources of one kind, asked and judged together."""

    def __init__(self, task: Task, resources: Sequence[Resource]) -> None:
        """Nothing is asked yet."""
        self.task, self.resources = task, resources
        self.samples = [
            LevelSample(resource, task.kind, task.schedule, task.config, task.now)
            for resource in resources
        ]
        self.problems: list[Problem] = []
        #: Keys of the resources whose hours matter.
        self.near: set[str] = set()

    def read_levels(self) -> Steps[bool]:
        """Ask for every level. The result is whether any is fresh, which tells idle from blind."""
        wants_all = self.task.demand_horizon_s == math.inf
        depths: dict[float, list[LevelSample]] = {}
        for sample in self.samples:
            depths.setdefault(sample.depth_s(wants_all=wants_all), []).append(sample)
        yield from self._read_levels(depths)
        for sample in self.samples:
            sample.recall()
        return any(sample.is_fresh for sample in self.samples)

    def judge(self, *, unit_is_fresh: bool) -> Steps[list[Judgement]]:
        """Ask as deep as it matters. The result is what to make of each."""
        if unit_is_fresh:
            yield from self._read_last_levels()
        judgements: list[Judgement] = []
        near_samples: list[LevelSample] = []
        for sample in self.samples:
            glance = sample.observation(unit_is_fresh=unit_is_fresh, newest_only=True)
            if self._matters(glance):
                near_samples.append(sample)
            else:
                observation = sample.observation(unit_is_fresh=unit_is_fresh)
                judgements.append(self._judged(sample, observation, unit_is_fresh=unit_is_fresh))
        self.near = {sample.resource.key for sample in near_samples}
        depths: dict[float, list[LevelSample]] = {}
        for sample in near_samples:
            if not sample.is_deep:
                depths.setdefault(sample.look_back_s, []).append(sample)
        yield from self._read_levels(depths)
        for start in range(0, len(near_samples), PIECE):
            judgements += yield from self._judge_near(
                near_samples[start : start + PIECE], unit_is_fresh=unit_is_fresh
            )
        return judgements

    def given_up(self, reason: str, failure: Failure) -> list[Judgement]:
        """All of them, where nothing is known of them at this look."""
        names = first_of([resource.id for resource in self.resources])
        self.problems = [Problem(part=f"metrics of {names}", error=reason)]
        return [
            Judgement(
                resource=resource,
                assessment=not_known(reason, self.task.now),
                is_near=resource.key in self.near,
                failure=failure,
            )
            for resource in self.resources
        ]

    def _judge_near(
        self, near_samples: Sequence[LevelSample], *, unit_is_fresh: bool
    ) -> Steps[list[Judgement]]:
        """Judge those whose hours matter: with the days before, and the demand of some."""
        task = self.task
        observed = [
            (sample, sample.observation(unit_is_fresh=unit_is_fresh)) for sample in near_samples
        ]
        # A full bucket has nothing to fear that the days before could tell.
        wanting = [sample.resource for sample, observation in observed if not is_full(observation)]
        pasts, new = yield from self._pasts(wanting)
        for resource in wanting:
            if resource.key not in new:
                task.schedule.want_past(resource, task.now)
        near: list[_Near] = []
        for sample, bare in observed:
            past = pasts.get(sample.resource.key)
            observation = bare if past is None else _with_past(bare, past)
            assessment = self._without_demand(observation)
            near.append(
                _Near(sample=sample, observation=observation, past=past, assessment=assessment)
            )
        busy = [member.sample for member in near if member.assessment is None]
        queries = [query for sample in busy for query in demand_queries(task.kind, sample.resource)]
        asked_ids = {sample.resource.id for sample in busy}
        for sample, bare in observed:
            if sample.resource.id in asked_ids:
                queries += self._checks(sample.resource, bare)
        back_s = max((sample.look_back_s for sample in busy), default=0.0)
        request = make_request(queries, back_s=back_s, period_s=int(FINE_S))
        answers = yield from self._read(request)
        judgements = [
            self._judge_member(member, asked_ids, answers, unit_is_fresh=unit_is_fresh)
            for member in near
        ]
        return [_with_new_days(judgement, new, task.now) for judgement in judgements]

    def _judge_member(
        self, near: _Near, asked_ids: set[str], answers: Answers, *, unit_is_fresh: bool
    ) -> Judgement:
        """Judge one whose hours are known, with its demand if that was asked for."""
        sample = near.sample
        if near.assessment is None:
            return self._judge_busy(sample, near.past, answers, unit_is_fresh=unit_is_fresh)
        # An answer about one bucket of a thing serves its other bucket too.
        is_asked = sample.resource.id in asked_ids
        demand = Demand(self.task.kind, sample.resource, answers) if is_asked else None
        return self._judged(
            sample, near.observation, near.assessment, demand=demand, unit_is_fresh=unit_is_fresh
        )

    def _judge_busy(
        self, sample: LevelSample, past: Past | None, answers: Answers, *, unit_is_fresh: bool
    ) -> Judgement:
        """Judge one with its demand, and with the limits that it has exceeded."""
        task = self.task
        demand = Demand(task.kind, sample.resource, answers)
        points = demand.points()
        observation = sample.observation(
            unit_is_fresh=unit_is_fresh,
            demand=points,
            past=None if past is None else with_recent(past, points),
        )
        since_s = task.now - EXCEEDED_WINDOW_S
        return self._judged(
            sample,
            observation,
            demand=demand,
            exceeded=exceeded_shares(task.kind, sample.resource, answers, since_s=since_s),
            unit_is_fresh=unit_is_fresh,
        )

    def _checks(self, resource: Resource, observation: Observation) -> list[Query]:
        """The queries for which limit binds, of a resource that somebody is told about."""
        if not self.task.kind.checks:
            return []
        is_told = alarm_severity(assess(observation, self.task.config).verdict)
        return check_queries(self.task.kind, resource) if is_told else []

    def _judged(
        self,
        sample: LevelSample,
        observation: Observation,
        assessment: Assessment | None = None,
        *,
        demand: Demand | None = None,
        exceeded: Mapping[str, float] = NOTHING_EXCEEDED,
        unit_is_fresh: bool,
    ) -> Judgement:
        """Assess the sample and note what its next poll needs to know."""
        task = self.task
        assessment = assessment or assess(observation, task.config)
        background = None
        if SEVERITY.get(assessment.verdict, 0) >= SEVERITY["warning"]:
            rates = demand.rates() if demand is not None else {}
            background = replace(
                make_background(observation.history, rates, task.now), exceeded=exceeded
            )
        failure = sample.failure_kind if observation.missing else None
        stays_near = (
            sample.resource.key in self.near if failure else is_near(observation, task.config)
        )
        return Judgement(
            resource=sample.resource,
            assessment=assessment,
            background=background,
            is_near=stays_near,
            level_seen=sample.seen(unit_is_fresh=unit_is_fresh),
            failure=failure,
        )

    def _matters(self, glance: Observation) -> bool:
        """True if more than its newest level decides what to make of it."""
        task = self.task
        return is_near(glance, task.config) or worst_now_s(glance) < task.demand_horizon_s

    def _without_demand(self, observation: Observation) -> Assessment | None:
        """The assessment, or None where the demand is worth its price.

        A falling level tells what is spent as well as the demand does. Who is told about a
        resource must also know what the demand is made of.
        """
        task = self.task
        if worst_now_s(observation) < task.demand_horizon_s:
            return None
        assessment = assess(observation, task.config)
        severity = alarm_severity(assessment.verdict)
        return None if severity and severity != self._told(observation.resource) else assessment

    def _told(self, resource: Resource) -> int | None:
        """The severity that is told of a resource: by alarms, or by the last look where nobody has alarms."""
        if self.task.told is not None and resource.id not in self.task.quiet:
            return self.task.told(resource.id)
        last_look = self.task.schedule.last_look(resource)
        return None if last_look is None else alarm_severity(last_look.judgement.assessment.verdict)

    def _read(self, request: Request) -> Steps[Answers]:
        if not request.queries:
            return Answers()
        answers = yield request
        self.problems += answers.problems
        return answers

    def _read_levels(self, depths: dict[float, list[LevelSample]]) -> Steps[None]:
        for back_s, samples in depths.items():
            queries = [level_query(self.task.kind, sample.resource) for sample in samples]
            request = make_request(queries, back_s=back_s, period_s=int(FINE_S))
            answers = yield from self._read(request)
            for sample in samples:
                sample.take_levels(answers, back_s)

    def _read_last_levels(self) -> Steps[None]:
        """A silent resource's last level decides how full it is by now, so look for it.

        As far back as an empty bucket takes to fill, before the time that may be late: before
        that, nothing matters.
        """
        silent = [
            sample
            for sample in self.samples
            if sample.is_silent
            and sample.before is None
            and sample.resource.bucket is not None
            and not sample.resource.reporting.reports_when_idle
        ]
        if not silent:
            return
        longest_s = min(LONGEST_BACK_S, max(sample.fill_s for sample in silent))
        back_s = longest_s + self.task.config.max_data_age_s + COARSE_S
        queries = [level_query(self.task.kind, sample.resource) for sample in silent]
        request = make_request(queries, back_s=back_s, period_s=int(COARSE_S))
        answers = yield from self._read(request)
        for sample in silent:
            sample.take_last_level(answers, back_s)

    def _ask_pasts(
        self, resources: Sequence[Resource], back_s: float
    ) -> Steps[dict[str, Past | None]]:
        """The demand of the days before, by key, where it was answered; of so many seconds, before which it is kept."""
        kind, schedule = self.task.kind, self.task.schedule
        queries = (query for resource in resources for query in demand_queries(kind, resource))
        request = make_request(queries, back_s=back_s, period_s=int(PAST_PERIOD_S))
        answers = yield from self._read(request)
        new: dict[str, Past | None] = {}
        for resource in resources:
            demand = Demand(kind, resource, answers, PAST_PERIOD_S)
            if demand.is_whole:
                kept = schedule.past_of(resource) if back_s < PAST_S else None
                new[resource.key] = renewed_past(kept, demand.points(), back_s=PAST_S)
        return new

    def _pasts(
        self, resources: Sequence[Resource]
    ) -> Steps[tuple[dict[str, Past], dict[str, Past | None]]]:
        """The demand of the days before: asked for now and then, kept in between.

        Returns all that is known, and what is new of it, both by key.
        """
        schedule, now = self.task.schedule, self.task.now
        stale = [resource for resource in resources if schedule.past_is_stale(resource, now)]
        stale = stale[: self.task.pasts.take(len(stale))]
        by_depth: dict[float, list[Resource]] = {}
        for resource in stale:
            age_s = schedule.past_age_s(resource, now)
            is_short = age_s < PAST_RENEWED_S - PAST_OVERLAP_S
            by_depth.setdefault(PAST_RENEWED_S if is_short else PAST_S, []).append(resource)
        new: dict[str, Past | None] = {}
        for back_s, asked_together in by_depth.items():
            new |= yield from self._ask_pasts(asked_together, back_s)
        pasts = {
            resource.key: new[resource.key] if resource.key in new else schedule.past_of(resource)
            for resource in resources
        }
        return {key: past for key, past in pasts.items() if past is not None}, new


def _with_new_days(judgement: Judgement, new: Mapping[str, Past | None], now: float) -> Judgement:
    """A judgement with the days before, where they were asked for at this look."""
    resource = judgement.resource
    if resource.key not in new:
        return judgement
    days = DaysBefore(past=new[resource.key], at=now, of=fingerprint(resource))
    return replace(judgement, days_before=days)


def _with_past(observation: Observation, past: Past) -> Observation:
    """An observation with the days before."""
    history = observation.history
    return observation if history is None else replace(observation, history=history.with_past(past))

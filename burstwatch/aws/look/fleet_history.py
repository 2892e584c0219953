"""Reads the history of every resource of a unit, a batch at a time, within CloudWatch's quotas."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import NEVER, Clients
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.aws.inventory.listings import ItemListing
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.aws.look.recording import samples_of
from burstwatch.backtest.replay import Recorded
from burstwatch.history.observations import Resource
from burstwatch.history.points import COARSE_S
from burstwatch.kinds.base import Kind
from burstwatch.polling.queries import (
    Answers,
    Query,
    charge_queries,
    charge_since,
    check_queries,
    demand_queries,
    exceeded_shares,
    level_query,
)
from burstwatch.recordings.samples import lowest_bucket, to_points
from burstwatch.shards import Problem

#: Resources that are read together: their datapoints fit into memory.
BATCH = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A resource with its buckets, all of which share one load. ``asks_extras`` is whether AWS's checks of limits and its charges are asked for."""

    kind: Kind
    buckets: tuple[Resource, ...]
    asks_extras: bool

    @property
    def key(self) -> str:
        """The identity of a subject within the unit."""
        return f"{self.kind.name} {self.buckets[0].id}"

    @property
    def queries(self) -> list[Query]:
        """The metrics to ask for: the level of each bucket, the load, AWS's checks of limits, and what it has charged for."""
        levels = [level_query(self.kind, bucket) for bucket in self.buckets if bucket.bucket]
        of_load = demand_queries(self.kind, self.buckets[0])
        checks = check_queries(self.kind, self.buckets[0]) if self.asks_extras else ()
        charges = charge_queries(self.kind, self.buckets[0]) if self.asks_extras else ()
        return [*levels, *of_load, *checks, *charges]


@dataclass(kw_only=True)
class Fleet:
    """The subjects of a unit, and what could not be listed."""

    subjects: list[Subject] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def list_subjects(
    clients: Clients,
    kinds: Sequence[Kind],
    *,
    now: float,
    tag: tuple[str, str] | None = None,
    asks_extras: bool = True,
) -> Fleet:
    """List the resources of which something can be advised: those with a bucket, and those that may cost less.

    With a ``tag``, a key and a value, only those that have it.
    """
    unit, fleet, pace = clients.unit(), Fleet(), Pace()
    listed: ItemListing = {}
    for kind in kinds:
        inventory = take_inventory(kind, clients, unit, now=now, pace=pace, listed=listed)
        fleet.problems += inventory.problems
        by_id: dict[str, list[Resource]] = {}
        for resource in inventory.resources:
            is_wanted = tag is None or resource.tags.get(tag[0]) == tag[1]
            may_be_advised = resource.reporting.in_use and not resource.terms.not_watched
            if is_wanted and may_be_advised and kind.may_be_advised(resource):
                by_id.setdefault(resource.id, []).append(resource)
        fleet.subjects += [
            Subject(kind=kind, buckets=tuple(buckets), asks_extras=asks_extras)
            for buckets in by_id.values()
        ]
    return fleet


def read_histories(
    clients: Clients,
    subjects: Sequence[Subject],
    *,
    now: float,
    back_s: float,
    pace: Pace | None = None,
) -> Iterator[tuple[Subject, Recorded | str]]:
    """Each subject with its history in periods of five minutes, or why that is not known.

    The bucket of a subject that was lowest is the one that is read on.
    """
    pace = pace or Pace()
    for start in range(0, len(subjects), BATCH):
        batch = subjects[start : start + BATCH]
        answers = read_metrics(
            clients,
            [query for subject in batch for query in subject.queries],
            start_s=now - back_s,
            end_s=now,
            period_s=int(COARSE_S),
            deadline=NEVER,
            pace=pace,
        )
        for subject in batch:
            yield subject, _history_of(subject, answers)


def _history_of(subject: Subject, answers: Answers) -> Recorded | str:
    """The history of one subject, or why it is not known."""
    kind = subject.kind
    for query in subject.queries:
        if query.key in answers.failed and query.metric in kind.metrics:
            return answers.failed[query.key]
    series = {
        query.metric: dict(answers.series.get(query.key, ()))
        for query in subject.queries
        if query.metric in kind.metrics
    }
    samples = samples_of(series, kind, COARSE_S)
    if not samples:
        return f"CloudWatch has no datapoint of {subject.buckets[0].id}"
    with_bucket = [bucket for bucket in subject.buckets if bucket.bucket is not None]
    resource = lowest_bucket(kind, with_bucket, samples) if with_bucket else subject.buckets[0]
    return Recorded(
        name=resource.id,
        kind=kind,
        resource=resource,
        samples=samples,
        points=to_points(samples, resource, COARSE_S, kind),
        period_s=COARSE_S,
        exceeded=exceeded_shares(kind, subject.buckets[0], answers),
        charge=charge_since(kind, subject.buckets[0], answers, COARSE_S),
    )

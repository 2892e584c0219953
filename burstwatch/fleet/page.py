"""Writes the readings of a fleet as a page of metrics, made anew for each scrape: what is gone leaves no series."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

import burstwatch
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.ebs.watching_prices import usd_of
from burstwatch.fleet import metrics as m
from burstwatch.fleet.poller import UnitReading
from burstwatch.fleet.reasons import stable_reason
from burstwatch.formatting import printable
from burstwatch.history.observations import Resource, Verdict
from burstwatch.polling.ranking import Assessed, urgency
from burstwatch.shards import Unit
from burstwatch.web.exposition import Page, encode

#: Verdicts that say nothing of the credits; the reason is a label.
WITHOUT_ANSWER: frozenset[Verdict] = frozenset({"unknown", "not_watched"})
#: Periods without an answer after which nothing is known of a unit any more.
LASTS_PERIODS = 5
NO_ANSWER = "its account and region has not answered for five periods"

OPENMETRICS = "application/openmetrics-text; version=1.0.0"

#: Resources that have series of their own, by unit and id; None for all.
Shown = frozenset[tuple[Unit, str]] | None


class PageSource(Protocol):
    """Something that adds metrics of its own to the page."""

    def add_to(self, page: Page, /) -> None:
        """Add its samples."""


class FleetCollector(Collector):
    """All that is known of a fleet, at the time of the scrape."""

    def __init__(
        self,
        readings: Callable[[], Sequence[UnitReading]],
        *,
        clock: Callable[[], float],
        period_s: float,
        tags: Sequence[str] = (),
        most_resources: int,
        more: Iterable[PageSource] = (),
    ) -> None:
        """``clock`` gives unix seconds, ``period_s`` is that of the polls. ``tags`` of resources become labels."""
        self._readings, self._clock = readings, clock
        self._lasts_s = LASTS_PERIODS * period_s
        self._tags, self._most_resources, self._more = tags, most_resources, more

    def collect(self) -> Iterator[Metric]:
        """Write everything as of now."""
        page, now = Page(m.served_metrics(self._tags)), self._clock()
        page.add(m.BUILD_INFO, (burstwatch.__version__,), 1)
        readings = self._readings()
        shown = self._most_urgent(readings)
        for reading in readings:
            ended = reading.has_ended(now, lasts_s=self._lasts_s)
            _add_unit(page, reading, shown, has_ended=ended)
            _add_cost(page, reading, has_ended=ended)
            if reading.snapshot is not None:
                add_resources(
                    page, reading.snapshot, self._tags, now=now, shown=shown, has_ended=ended
                )
        for source in self._more:
            source.add_to(page)
        return page.families()

    def _most_urgent(self, readings: Iterable[UnitReading]) -> Shown:
        """The resources that have series of their own, or None where all have."""
        ranked = [
            ((reading.unit, resource_id), assessed)
            for reading in readings
            if reading.snapshot is not None
            for resource_id, assessed in reading.snapshot.assessments.items()
        ]
        if len(ranked) <= self._most_resources:
            return None
        worst = heapq.nsmallest(self._most_resources, ranked, key=lambda entry: urgency(entry[1]))
        return frozenset(key for key, _ in worst)


def add_resources(
    page: Page,
    snapshot: UnitSnapshot,
    tags: Sequence[str],
    *,
    now: float,
    shown: Shown = None,
    has_ended: bool = False,
) -> None:
    """Add the series of each resource of a unit, as of ``now``.

    ``shown`` are those that have any, None for all. Where ``has_ended``, the answers are too old and each is unknown.
    """
    unit, info = snapshot.unit, m.resource_info(tags)
    for resource_id, (resource, assessment) in snapshot.assessments.items():
        if shown is not None and (unit, resource_id) not in shown:
            continue
        labels = labels_of(resource, unit)
        described = (resource.words.facts.get("type", ""), printable(resource.words.place))
        its_tags = tuple(printable(resource.tags.get(tag, "")) for tag in tags)
        page.add(info, (*labels, *described, *its_tags), 1)
        verdict: Verdict = "unknown" if has_ended else assessment.verdict
        page.add(m.VERDICT, (*labels, verdict), 1)
        if verdict in WITHOUT_ANSWER:
            reason = NO_ANSWER if has_ended else stable_reason(assessment.reason)
            page.add(m.UNKNOWN, (*labels, reason), 1)
    for resource, assessment in snapshot.buckets:
        is_shown = shown is None or (unit, resource.id) in shown
        if is_shown and resource.bucket is not None and not has_ended:
            _add_bucket(page, (resource, assessment), unit, now)


def _add_bucket(page: Page, assessed: Assessed, unit: Unit, now: float) -> None:
    """Add one bucket: what is not known is left out."""
    resource, assessment = assessed
    projection, bucket = assessment.projection, resource.bucket
    labels = (*labels_of(resource, unit), resource.level_metric)
    page.add(m.JUDGED_AT, labels, projection.at)
    if projection.data_age_s is not None:
        page.add(m.DATA_AT, labels, projection.at - projection.data_age_s)
    if bucket is not None and resource.terms.is_sized:
        page.add(m.LIMIT, labels, resource.limit.rate)
        page.add(m.REFILL, labels, bucket.refill)
        if projection.demand is not None:
            page.add(m.DEMAND, labels, projection.demand.likely)
    if assessment.verdict in WITHOUT_ANSWER:
        return
    if assessment.chance is not None:
        page.add(m.CHANCE, labels, assessment.chance)
    level = projection.level
    if level is not None and resource.terms.has_share:
        for bound, ratio in (("low", level.low), ("likely", level.likely), ("high", level.high)):
            page.add(m.BALANCE, (*labels, bound), ratio)
    for bound, seconds in (
        ("low", projection.low_s),
        ("likely", projection.time_to_empty_s),
        ("worst", projection.worst_s),
    ):
        left_s = projection.left_s(seconds, now)
        if left_s is not None:
            page.add(m.TIME_LEFT, (*labels, bound), left_s)


def _add_unit(page: Page, reading: UnitReading, shown: Shown, *, has_ended: bool) -> None:
    """Add whether an account and region answers, and its resources in numbers."""
    unit, snapshot = _unit_labels(reading), reading.snapshot
    if reading.polled_at is not None:
        page.add(m.UNIT_UP, unit, not reading.error and not _is_blind(snapshot))
        page.add(m.UNIT_PROBLEMS, unit, len(reading.problems))
    if snapshot is None:
        return
    page.add(m.UNIT_POLLED_AT, unit, snapshot.at)
    counts = Counter(
        (resource.kind, "unknown" if has_ended else assessment.verdict)
        for resource, assessment in snapshot.assessments.values()
    )
    for (kind, verdict), count in sorted(counts.items()):
        page.add(m.UNIT_RESOURCES, (*unit, kind, verdict), count)
    if has_ended:
        return
    left_out = 0
    if shown is not None:
        left_out = sum((reading.unit, key) not in shown for key in snapshot.assessments)
    page.add(m.UNIT_LEFT_OUT, unit, left_out)
    reasons = {kind: blindness.why for kind, blindness in snapshot.blind.items()}
    for kind, reason in sorted({**snapshot.unlisted, **reasons}.items()):
        page.add(m.KIND_UNWATCHED, (*unit, kind, stable_reason(reason)), 1)


def _is_blind(snapshot: UnitSnapshot | None) -> bool:
    """True if nothing in a unit can be watched."""
    return (
        snapshot is not None
        and {**snapshot.blind, **snapshot.unlisted}.keys() >= snapshot.kinds.keys()
    )


def _add_cost(page: Page, reading: UnitReading, *, has_ended: bool) -> None:
    """Add what it has cost to know."""
    unit, spent = _unit_labels(reading), reading.spent
    if reading.polled_at is not None:
        page.add(m.UNIT_SECONDS, unit, reading.seconds)
    if reading.snapshot is not None and not has_ended:
        page.add(m.REFUSED, unit, reading.snapshot.metrics_refused)
    page.add(m.REQUESTED, unit, spent.metrics)
    page.add(m.REQUESTED_USD, unit, usd_of("metric_request", spent.metrics))
    page.add(m.CALLS, unit, spent.answers)
    page.add(m.THROTTLED, unit, spent.throttled)


def _unit_labels(reading: UnitReading) -> tuple[str, str]:
    return reading.unit.account, reading.unit.region


class _Finished(Collector):
    """A page that is written already."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def collect(self) -> Iterator[Metric]:
        return self._page.families()


def scan_page(
    readings: Iterable[UnitReading], *, shown: frozenset[tuple[Unit, str]], now: float
) -> str:
    """One scan in the format of OpenMetrics, for the textfile collector of node_exporter.

    ``shown`` are the resources that were asked for, by unit and id.
    """
    page = Page(m.scan_metrics())
    for reading in readings:
        _add_unit(page, reading, None, has_ended=False)
        if reading.snapshot is not None:
            add_resources(page, reading.snapshot, (), now=now, shown=shown)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Finished(page))
    return encode(registry, OPENMETRICS)[1].decode()


def labels_of(resource: Resource, unit: Unit) -> tuple[str, ...]:
    """The values of ``RESOURCE``: what tells a resource from all others, and its name."""
    return (unit.account, unit.region, resource.kind, resource.id, printable(resource.name))

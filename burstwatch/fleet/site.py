"""Answers for `burstwatch serve`: the metrics, whether it is ready, and a page for people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from prometheus_client import CollectorRegistry

import burstwatch
from burstwatch.drawing.pages import document, table_of
from burstwatch.fleet.poller import UnitReading
from burstwatch.formatting import number, printable, span, time_left
from burstwatch.history.observations import Verdict
from burstwatch.polling.ranking import WORST_FIRST, Assessed, urgency
from burstwatch.web.exposition import encode

#: The table has a sentence beside five columns.
PAGE_WIDTH = 1_600.0
#: Rows of the table of resources; the metrics have all.
MOST_ROWS = 50
LINKS = '<p><a href="/metrics">metrics</a> · <a href="/-/healthy">healthy</a> · <a href="/-/ready">ready</a></p>'
RESOURCE_HEADINGS = ("runs out in", "worst case", "verdict", "resource", "where", "why")
UNIT_HEADINGS = ("account and region", "answered", "resources", "metrics requested", "problem")


class FleetSite:
    """The content of the endpoint."""

    def __init__(
        self,
        registry: CollectorRegistry,
        readings: Callable[[], Sequence[UnitReading]],
        *,
        clock: Callable[[], float],
    ) -> None:
        """``clock`` gives unix seconds."""
        self._registry, self._readings, self._clock = registry, readings, clock

    def scrape(self, accept: str, /) -> tuple[str, bytes]:
        """The content type and the metrics, in the format that is accepted."""
        return encode(self._registry, accept)

    def is_ready(self) -> bool:
        """True once every unit was polled, and one of them has answered."""
        readings = self._readings()
        are_polled = all(reading.polled_at is not None for reading in readings)
        return are_polled and any(reading.snapshot is not None for reading in readings)

    def landing(self) -> str:
        """The page for people, as HTML: the resources in the most danger, and each account and region."""
        readings, now = self._readings(), self._clock()
        body = "".join(
            (
                f"<p>{escape(_summary(readings))}</p>",
                _resources(readings, now),
                "<h2>Accounts and regions</h2>",
                table_of(
                    UNIT_HEADINGS,
                    [_unit_row(reading, now) for reading in readings],
                    sentences={"problem"},
                ),
                LINKS,
                f"<p>burstwatch {burstwatch.__version__}</p>",
            )
        )
        head = _head(readings, now)
        return document(
            head.title, body, figure=head.figure, verdict=head.verdict, width=PAGE_WIDTH
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Head:
    """What the page begins with: a sentence, and the least time that is left, where a resource is in danger."""

    title: str = "Burst credits of this fleet"
    figure: str = ""
    verdict: Verdict = "ok"


def _head(readings: Sequence[UnitReading], now: float) -> _Head:
    everything = [entry for reading in readings for entry in _assessed(reading).values()]
    if not everything:
        return _Head()
    resource, worst = min(everything, key=urgency)
    name = printable(resource.name) or resource.id
    if worst.verdict == "exhausted":
        return _Head(title=f"{name} is out of burst credits", figure="out", verdict=worst.verdict)
    left_s = worst.projection.left_s(worst.projection.time_to_empty_s, now)
    if worst.verdict not in {"critical", "warning"} or left_s is None:
        return _Head()
    title = f"{name} runs out of burst credits next"
    return _Head(title=title, figure=f"{time_left(left_s)} left", verdict=worst.verdict)


def _summary(readings: Sequence[UnitReading]) -> str:
    counts: dict[str, int] = {}
    for reading in readings:
        for _, assessment in _assessed(reading).values():
            counts[assessment.verdict] = counts.get(assessment.verdict, 0) + 1
    said = ", ".join(
        f"{number(counts[verdict])} {verdict.replace('_', ' ')}"
        for verdict in WORST_FIRST
        if verdict in counts
    )
    without = sum(bool(reading.error) for reading in readings)
    failed = f"; {without} did not answer" if without else ""
    places = (
        str(readings[0].unit) if len(readings) == 1 else f"{len(readings)} accounts and regions"
    )
    return f"{number(sum(counts.values()))} resources ({said or 'none'}) in {places}{failed}"


def _resources(readings: Sequence[UnitReading], now: float) -> str:
    """The table of the resources in the most danger."""
    everything = [(entry, reading) for reading in readings for entry in _assessed(reading).values()]
    everything.sort(key=lambda pair: urgency(pair[0]))
    rows: list[tuple[str, ...]] = []
    for (resource, assessment), reading in everything[:MOST_ROWS]:
        projection = assessment.projection
        name = printable(resource.name)
        rows.append(
            (
                time_left(projection.left_s(projection.time_to_empty_s, now)),
                time_left(projection.left_s(projection.worst_s, now)),
                assessment.verdict.replace("_", " "),
                f"{name} ({resource.id})" if name else resource.id,
                str(reading.unit),
                assessment.reason,
            )
        )
    headings: tuple[str, ...] = RESOURCE_HEADINGS
    if len(readings) == 1:  # it stands in the sentence above
        where = headings.index("where")
        headings = (*headings[:where], *headings[where + 1 :])
        rows = [(*row[:where], *row[where + 1 :]) for row in rows]
    hidden = len(everything) - len(rows)
    more = f"<p>and {number(hidden)} more, in less danger</p>" if hidden > 0 else ""
    verdicts = [assessment.verdict for (_, assessment), _ in everything[:MOST_ROWS]]
    return table_of(headings, rows, sentences={"why"}, classes=verdicts) + more


def _unit_row(reading: UnitReading, now: float) -> tuple[str, ...]:
    snapshot, problems = reading.snapshot, reading.problems
    answered = "not yet" if snapshot is None else f"{span(now - snapshot.at)} ago"
    error = "" if not problems else f"{problems[0].part}: {problems[0].error}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return (
        str(reading.unit),
        answered,
        number(len(_assessed(reading))),
        number(reading.spent.metrics),
        error + more,
    )


def _assessed(reading: UnitReading) -> Mapping[str, Assessed]:
    return {} if reading.snapshot is None else reading.snapshot.assessments

"""Keeps what `burstwatch top` shows: the newest look at each resource, and its levels since the start.

Knows no terminal. Times left count down between two looks.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from burstwatch.drawing.braille import area, lowest_of_parts
from burstwatch.ebs.watching_prices import usd_of
from burstwatch.forecast.policy import Assessment
from burstwatch.formatting import clock_time, inert, number, span, spark, time_left
from burstwatch.history.background import LEVELS_S, Background
from burstwatch.history.observations import Resource, Verdict
from burstwatch.kinds import find_kinds
from burstwatch.messages.brief import make_brief
from burstwatch.polling.ranking import WORST_FIRST, Assessed, urgency

#: How many levels a sparkline has, how long a bar is, and how high a chart.
SPARK_WIDTH, BAR_WIDTH, CHART_ROWS = 12, 10, 4
#: The mark in the head of the view: a drop with its level.
MARK = "◒"
FULL, EMPTY = "█", "░"
NOT_KNOWN = "-"


@dataclass(frozen=True, kw_only=True)
class ShownResource:
    """One resource as a line of the table, in text. ``key`` tells it apart from those of other regions."""

    key: str
    name: str
    type: str
    verdict: Verdict
    balance: str
    spark: str
    time_left: str
    worst: str


@dataclass(kw_only=True)
class Board:
    """Everything that was seen in this session.

    ``levels`` are shares of each bucket with their times, of the last hours: of those that are not well as AWS has published
    them, and of the others as this session has seen them. ``place`` is its account and region. ``requested`` is how many metrics were asked for, which AWS bills.
    """

    assessed: dict[str, Assessed] = field(default_factory=dict)
    levels: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    requested: int = 0
    looked_at: float | None = None
    place: str = ""

    def take(
        self,
        assessments: Mapping[str, Assessed],
        *,
        at: float,
        place: str,
        requested: int,
        problems: tuple[str, ...],
        backgrounds: Mapping[str, Background] = MappingProxyType({}),
    ) -> None:
        """Take one look: what is gone from the account is gone from here."""
        self.assessed = dict(assessments)
        self.levels = {
            key: self._levels(key, assessment, backgrounds.get(key, Background()), at)
            for key, (_, assessment) in assessments.items()
        }
        self.looked_at, self.problems, self.place = at, problems, place
        self.requested += requested

    def _levels(
        self, key: str, assessment: Assessment, background: Background, at: float
    ) -> list[tuple[float, float]]:
        """The levels of the last hours, with that of this look."""
        before = background.levels or self.levels.get(key, ())
        level = assessment.projection.level
        newest = [] if level is None else [(at, level.likely)]
        return [(then, ratio) for then, ratio in before if at - LEVELS_S < then < at] + newest

    def chart(self, key: str, now: float, columns: int) -> str:
        """The levels of the last hours as a picture; empty where there are none."""
        levels = self.levels.get(key, ())
        resource, _ = self.assessed[key]
        if not levels or not resource.terms.has_share:
            return ""
        lines = area(levels, since=now - LEVELS_S, until=now, columns=columns, rows=CHART_ROWS)
        axis = f"{span(LEVELS_S)} ago".ljust(columns - 3) + "now"
        return "\n".join([*lines, axis])

    def lines(self, now: float, query: str = "") -> list[ShownResource]:
        """The lines that match, the worst first."""
        entries = sorted(self.assessed.items(), key=lambda entry: urgency(entry[1]))
        return [
            self._line(key, assessed, now)
            for key, assessed in entries
            if is_wanted(assessed[0], query)
        ]

    def summary(self, now: float) -> str:
        """Counts, the age of the look, and what the session has cost."""
        if self.looked_at is None:
            return f"{MARK} burstwatch: looking for the first time ..."
        counts: dict[Verdict, int] = defaultdict(int)
        for _, assessment in self.assessed.values():
            counts[assessment.verdict] += 1
        worst_first = sorted(counts.items(), key=lambda pair: WORST_FIRST.index(pair[0]))
        said = ", ".join(f"{count} {word_of(verdict)}" for verdict, count in worst_first)
        cost = usd_of("metric_request", self.requested)
        clock = clock_time(self.looked_at, now=now)
        return (
            f"{MARK} {self.place}, {clock}: {len(self.assessed)} resources ({said or 'none'}); looked {span(now - self.looked_at)} ago; "
            f"{number(self.requested)} metrics requested, {cost:.4f} USD"
        )

    def command(self, key: str) -> str:
        """The command of the first change that helps a resource; empty where there is none."""
        resource, assessment = self.assessed[key]
        brief = make_brief(resource, assessment, find_kinds()[resource.kind], Background())
        return next((fix.command for fix in brief.fixes if fix.command), "")

    def detail(self, key: str) -> str:
        """Everything about one resource, for a person."""
        resource, assessment = self.assessed[key]
        facts = "\n".join(
            f"{name}: {value}" for name, value in resource.words.facts.items() if value
        )
        tags = ", ".join(f"{name}={value}" for name, value in resource.tags.items())
        caveats = "\n".join(resource.words.caveats)
        brief = make_brief(resource, assessment, find_kinds()[resource.kind], Background())
        is_well = assessment.verdict in {"ok", "unknown", "not_watched"}
        helps = "" if is_well else "\n".join(fix.text for fix in brief.fixes)
        command = "" if is_well else self.command(key)
        parts = [
            f"{inert(resource.name) or resource.id} ({resource.id}, {resource.kind}, {resource.unit})",
            f"{word_of(assessment.verdict)}: {assessment.reason}",
            f"what helps, the soonest first:\n{helps}" if helps else "",
            command,
            facts,
            caveats,
            f"tags: {inert(tags)}" if tags else "",
        ]
        return "\n\n".join(part for part in parts if part)

    def _line(self, key: str, assessed: Assessed, now: float) -> ShownResource:
        """One resource as a line of the table: its level as a bar, its times as they are left at ``now``."""
        resource, assessment = assessed
        projection = assessment.projection
        level = projection.level
        return ShownResource(
            key=key,
            name=inert(resource.name) or resource.id,
            type=resource.words.facts.get("type", resource.kind),
            verdict=assessment.verdict,
            balance=NOT_KNOWN
            if level is None or not resource.terms.has_share
            else bar(level.likely, is_out=assessment.verdict == "exhausted"),
            spark=self._spark(key, now) if resource.terms.has_share else "",
            time_left=time_left(projection.left_s(projection.time_to_empty_s, now)),
            worst=time_left(projection.left_s(projection.worst_s, now)),
        )

    def _spark(self, key: str, now: float) -> str:
        levels = self.levels.get(key, ())
        parts = lowest_of_parts(levels, since=now - LEVELS_S, until=now, parts=SPARK_WIDTH)
        return "".join(" " if ratio is None else spark(ratio) for ratio in parts)


def word_of(verdict: Verdict) -> str:
    """A verdict as people read it."""
    return verdict.replace("_", " ")


def is_wanted(resource: Resource, query: str) -> bool:
    """True if each word is in the id, name, kind, region, type or tags of a resource."""
    tags = (f"{name}={value}" for name, value in resource.tags.items())
    text = " ".join(
        (
            resource.id,
            resource.name,
            resource.kind,
            resource.region,
            *resource.words.facts.values(),
            *tags,
        )
    ).lower()
    return all(word in text for word in query.lower().split())


def bar(ratio: float, *, is_out: bool = False) -> str:
    """A level as a bar with its percent. Credits that are out have the most ink, and not the least."""
    if is_out:
        return f"{FULL * BAR_WIDTH}  OUT"
    full = round(ratio * BAR_WIDTH)
    return f"{FULL * full}{EMPTY * (BAR_WIDTH - full)} {ratio:4.0%}"

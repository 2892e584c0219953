"""Scores a paging rule, in counts that add up, and as a table."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

from burstwatch.formatting import DAY, span, table

WEEK_S = 7.0 * DAY
#: How often groups are drawn anew for an interval, and from which seed.
DRAWS, SEED = 500, 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """Counts of one policy over some trials. They add up."""

    events: int = 0
    in_time: int = 0
    paged_in_time: int = 0
    one_episode: int = 0
    true_pages: int = 0
    false_pages: int = 0
    firing_s: float = 0.0
    seconds: float = 0.0
    leads_s: tuple[float, ...] = ()

    def __add__(self, other: "Score") -> "Score":
        """Both together."""
        return Score(
            **{
                field.name: getattr(self, field.name) + getattr(other, field.name)
                for field in fields(self)
            }
        )

    @property
    def recall(self) -> float | None:
        """Share of events for which it was firing the lead before."""
        return self.in_time / self.events if self.events else None

    @property
    def strict_recall(self) -> float | None:
        """Share of events with a page between two hours and the lead before."""
        return self.paged_in_time / self.events if self.events else None

    @property
    def episodes_once(self) -> float | None:
        """Share of events with exactly one onset and one resolve."""
        return self.one_episode / self.events if self.events else None

    @property
    def precision(self) -> float | None:
        """Share of the pages outside incidents after which the bucket ran dry within 2 h."""
        pages = self.true_pages + self.false_pages
        return self.true_pages / pages if pages else None

    @property
    def pages_per_event(self) -> float | None:
        """Pages outside incidents, for each event."""
        return (self.true_pages + self.false_pages) / self.events if self.events else None

    @property
    def false_per_week(self) -> float | None:
        """Pages outside incidents with no exhaustion within two hours, per volume and week."""
        return self.false_pages * WEEK_S / self.seconds if self.seconds else None

    @property
    def firing_share(self) -> float | None:
        """Share of the time in alarm."""
        return self.firing_s / self.seconds if self.seconds else None


@dataclass(frozen=True, kw_only=True)
class Result:
    """One trial's scores by policy."""

    name: str
    group: str
    scenario: str
    scores: dict[str, Score]


def totals(results: Sequence[Result]) -> dict[str, Score]:
    """The counts of each policy over all trials."""
    names = results[0].scores if results else {}
    return {name: sum((result.scores[name] for result in results), Score()) for name in names}


def report(summed: Mapping[str, Score], results: Sequence[Result]) -> str:
    """The table for people, one row a policy."""
    rows = []
    for name, score in summed.items():
        groups = _by_group(results, name)
        rows.append(
            (
                name,
                _ranged(score.recall, resample(groups, lambda s: s.recall)),
                _share(score.strict_recall),
                _ranged(
                    score.false_per_week,
                    resample(groups, lambda s: s.false_per_week),
                ),
                _share(score.precision),
                "-" if score.pages_per_event is None else f"{score.pages_per_event:.1f}",
                *(span(_quantile(score.leads_s, q)) for q in (0.1, 0.5, 0.9)),
                _share(score.episodes_once),
                "-" if score.firing_share is None else f"{score.firing_share:.1%}",
            )
        )
    events = max((score.events for score in summed.values()), default=0)
    weeks = max((score.seconds for score in summed.values()), default=0.0) / (7 * 86_400)
    heading = (
        "policy", "in time", "strict", "false/week", "precision", "pages/event",
        "lead p10", "p50", "p90", "one page", "in alarm",
    )  # fmt: skip
    return f"{table(heading, rows)}\n{events} exhaustions in {weeks:.0f} volume-weeks"


def as_numbers(score: Score) -> dict[str, object]:
    """A score with its ratios, for machines. None is "not defined"."""
    return {
        "events": score.events,
        "recall": score.recall,
        "strict_recall": score.strict_recall,
        "one_episode": score.episodes_once,
        "true_pages": score.true_pages,
        "false_pages": score.false_pages,
        "false_pages_per_volume_week": score.false_per_week,
        "precision": score.precision,
        "pages_per_event": score.pages_per_event,
        "firing_share": score.firing_share,
        "volume_weeks": score.seconds / (7 * 86_400),
        "lead_s": {str(q): _quantile(score.leads_s, q) for q in (0.1, 0.5, 0.9)},
    }


def _quantile(values: Sequence[float], q: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else None


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _ranged(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return _share(value)
    return f"{value:.2f} ({interval[0]:.2f}-{interval[1]:.2f})"


def intervals(results: Sequence[Result], name: str) -> dict[str, tuple[float, float] | None]:
    """The 90 % intervals of one policy's ratios, from drawing machines anew."""
    groups = _by_group(results, name)
    return {
        "recall": resample(groups, lambda score: score.recall),
        "strict_recall": resample(groups, lambda score: score.strict_recall),
        "one_episode": resample(groups, lambda score: score.episodes_once),
        "false_pages_per_volume_week": resample(groups, lambda score: score.false_per_week),
    }


def _by_group(results: Sequence[Result], name: str) -> list[Score]:
    groups: dict[str, Score] = {}
    for result in results:
        groups[result.group] = groups.get(result.group, Score()) + result.scores[name]
    return list(groups.values())


def resample(
    groups: Sequence[Score], value: Callable[[Score], float | None]
) -> tuple[float, float] | None:
    """The 90 % interval of ``value`` when whole groups (machines) are drawn anew."""
    drawn = random.Random(SEED)  # noqa: S311 - nothing secret
    found = []
    for _ in range(DRAWS):
        total = sum((drawn.choice(groups) for _ in groups), Score())
        one = value(total)
        if one is not None:
            found.append(one)
    if not found:
        return None
    found.sort()
    return found[int(0.05 * len(found))], found[min(len(found) - 1, int(0.95 * len(found)))]

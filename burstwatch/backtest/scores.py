"""Scores a paging rule, in counts that add up, and as a table."""

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

from burstwatch.drawing.charts import BLUE, GREEN, GREY, RED, Chart, picture
from burstwatch.formatting import DAY, span, table

WEEK_S = 7.0 * DAY
#: How often groups are drawn anew for an interval, and from which seed.
DRAWS, SEED = 500, 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """Counts of one policy over some trials. They add up.

    ``leads_s`` has for each event the seconds from the beginning of its alarm, ``fast_leads_s`` only
    those of events that went from full to empty faster than a page can come the lead before.
    """

    events: int = 0
    announced_events: int = 0
    paged_events: int = 0
    one_page_events: int = 0
    right_pages: int = 0
    needless_pages: int = 0
    warned_pages: int = 0
    needless_warnings: int = 0
    warning_s: float = 0.0
    alarm_s: float = 0.0
    seconds: float = 0.0
    leads_s: tuple[float, ...] = ()
    fast_leads_s: tuple[float, ...] = ()

    def __add__(self, added: "Score") -> "Score":
        """Both together."""
        return Score(
            **{
                field.name: getattr(self, field.name) + getattr(added, field.name)
                for field in fields(self)
            }
        )

    @property
    def announced(self) -> float | None:
        """Share of the events; ``COLUMNS`` explains this figure and those below. None is "not defined"."""
        return _share(self.announced_events, self.events)

    @property
    def paged_in_time(self) -> float | None:
        """Share of the events."""
        return _share(self.paged_events, self.events)

    @property
    def one_page(self) -> float | None:
        """Share of the events."""
        return _share(self.one_page_events, self.events)

    @property
    def precision(self) -> float | None:
        """Share of the pages."""
        return _share(self.right_pages, self.right_pages + self.needless_pages)

    @property
    def warned(self) -> float | None:
        """Share of the pages; not defined for a rule that never warns."""
        pages = self.right_pages + self.needless_pages
        return _share(self.warned_pages, pages) if self.warning_s else None

    @property
    def needless_per_week(self) -> float | None:
        """Pages in a week of one volume."""
        return _share(self.needless_pages * WEEK_S, self.seconds)

    @property
    def needless_warnings_per_week(self) -> float | None:
        """Warnings in a week of one volume; not defined for a rule that never warns."""
        return _share(self.needless_warnings * WEEK_S, self.seconds) if self.warning_s else None

    @property
    def in_alarm(self) -> float | None:
        """Share of the time."""
        return _share(self.alarm_s, self.seconds)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One figure of a policy: the property of ``Score`` that it is, and its name and meaning in tables."""

    key: str
    name: str
    help: str
    has_interval: bool = False

    def of(self, score: Score) -> float | None:
        """The figure of one policy."""
        figure: float | None = getattr(score, self.key)
        return figure


#: The figures of `burstwatch backtest` and of docs/backtest.md, with the same names in both.
COLUMNS = (
    Column(
        key="announced",
        name="announced",
        help="share of the run-outs whose page alarm was on one lead (15 minutes by default) before",
        has_interval=True,
    ),
    Column(
        key="paged_in_time",
        name="paged in time",
        help="share of the run-outs with a page at most two hours and at least one lead before. The start of an "
        "alarm counts as a page, and so does each further four hours of it. An alarm that started yesterday is not a new page",
        has_interval=True,
    ),
    Column(
        key="needless_per_week",
        name="false pages/week",
        help="pages with no run-out in the next two hours, for each volume and week. Pages during an incident are not "
        "counted",
        has_interval=True,
    ),
    Column(
        key="precision",
        name="precision",
        help="share of the pages outside incidents that were not false",
    ),
    Column(
        key="one_page",
        name="one page",
        help="share of the run-outs that had exactly one alarm from two hours before it until the recovery",
        has_interval=True,
    ),
    Column(
        key="warned",
        name="warned",
        help="share of the pages for which a warning or a page alarm was already on 30 minutes earlier. Pages during an incident are not "
        "counted",
    ),
    Column(
        key="needless_warnings_per_week",
        name="false warnings/week",
        help="alarms (a warning, or a page that had no warning) with no run-out in the next two hours, for each volume "
        "and week. Alarms that begin during an incident are not counted",
    ),
    Column(key="in_alarm", name="in alarm", help="share of the time with the page's alarm on"),
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """One trial's scores by policy."""

    name: str
    group: str
    scenario: str
    scores: dict[str, Score]


def score_totals(results: Sequence[Result]) -> dict[str, Score]:
    """The counts of each policy over all trials."""
    names = results[0].scores if results else {}
    return {name: sum((result.scores[name] for result in results), Score()) for name in names}


def report(summed: Mapping[str, Score], results: Sequence[Result]) -> str:
    """The table for people, one row a policy, and a line for each of its columns."""
    rows = []
    for name, score in summed.items():
        ranges = intervals(results, name)
        cells = (_cell(column.of(score), ranges.get(column.key)) for column in COLUMNS)
        rows.append((name, *cells, span(_quantile(score.leads_s, 0.5))))
    score = max(summed.values(), key=lambda score: score.events, default=Score())
    lines = [
        table(("policy", *(column.name for column in COLUMNS), "lead"), rows),
        f"{score.events} run-outs in {score.seconds / WEEK_S:.0f} volume-weeks",
        *_fast(summed),
        "",
        *(f"{column.name}: {column.help}" for column in COLUMNS),
        "lead: median time from the beginning of the alarm to the run-out",
    ]
    return "\n".join(lines)


def _fast(summed: Mapping[str, Score]) -> list[str]:
    """Say how early the pages of those came for which nobody can page the lead before."""
    leads_by_policy = {
        name: score.fast_leads_s for name, score in summed.items() if score.fast_leads_s
    }
    if not leads_by_policy:
        return []
    number = max(len(leads) for leads in leads_by_policy.values())
    medians = ", ".join(
        f"{name} {span(_quantile(leads, 0.5))}" for name, leads in leads_by_policy.items()
    )
    text = "went from full to empty faster than the lead: no page can be in time. Median time from alarm to empty:"
    return [f"{number} of them {text} {medians}"]


def as_numbers(score: Score) -> dict[str, object]:
    """A score with its ratios, for machines. None is "not defined"."""
    return {
        "events": score.events,
        **{column.key: column.of(score) for column in COLUMNS},
        "right_pages": score.right_pages,
        "needless_pages": score.needless_pages,
        "volume_weeks": score.seconds / WEEK_S,
        "lead_s": {str(q): _quantile(score.leads_s, q) for q in (0.1, 0.5, 0.9)},
        "fast_events": len(score.fast_leads_s),
        "fast_lead_s": _quantile(score.fast_leads_s, 0.5),
    }


def _quantile(values: Sequence[float], q: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else None


def _cell(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return "-"
    return (
        f"{value:.2f}" if interval is None else f"{value:.2f} ({interval[0]:.2f}-{interval[1]:.2f})"
    )


def intervals(results: Sequence[Result], name: str) -> dict[str, tuple[float, float] | None]:
    """The 90% intervals of one policy's ratios, from drawing machines anew."""
    groups = _by_group(results, name)
    return {column.key: resample(groups, column.of) for column in COLUMNS if column.has_interval}


def _by_group(results: Sequence[Result], name: str) -> list[Score]:
    groups: dict[str, Score] = {}
    for result in results:
        groups[result.group] = groups.get(result.group, Score()) + result.scores[name]
    return list(groups.values())


def resample(
    groups: Sequence[Score], value: Callable[[Score], float | None]
) -> tuple[float, float] | None:
    """The 90% interval of ``value`` when whole groups (machines) are drawn anew."""
    drawn = random.Random(SEED)  # noqa: S311 - nothing secret
    figures = []
    for _ in range(DRAWS):
        total = sum((drawn.choice(groups) for _ in groups), Score())
        figure = value(total)
        if figure is not None:
            figures.append(figure)
    if not figures:
        return None
    figures.sort()
    return figures[int(0.05 * len(figures))], figures[
        min(len(figures) - 1, int(0.95 * len(figures)))
    ]


COLORS = {"burstwatch": RED, "oracle": GREEN, "guarantee": BLUE}
#: A rule with a number to tune, such as ``static 20 %``: its dots are joined in the order of that number.
_TUNED = re.compile(r"(static|predict_linear) (\d+) (?:%|min)")
#: In pixels: a line of small text, a letter of it, and how far a label stands from its dot.
LINE, LETTER, FROM_DOT = 15.0, 6.9, 12.0
#: Places of a label that are tried: lines above or below its dot, the nearest first.
LINES_AWAY = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5)


def positions_of(scores: Mapping[str, Score]) -> dict[str, tuple[float | None, float | None]]:
    """Where ``draw_scores`` puts each policy: its false pages a volume-week, and the share that it announced."""
    return {name: (score.needless_per_week, score.announced) for name, score in scores.items()}


def draw_scores(positions: Mapping[str, tuple[float | None, float | None]], *, title: str) -> str:
    """Run-outs announced against false pages a volume-week, one dot a policy, as SVG.

    ``positions`` are false pages a volume-week and the share announced, by the policy's name.
    """
    points = {n: (x, y) for n, (x, y) in positions.items() if x is not None and y is not None}
    right = max((x for x, _ in points.values()), default=1.0)
    low = min((y for _, y in points.values()), default=0.0)
    chart = Chart(
        title=f"Announced, against false pages: {title}. Better is up and to the left",
        x_range=(0.0, max(0.5, math.ceil(right * 5) / 5)),
        y_range=(max(0.0, math.floor(low * 10) / 10), 1.0),
        height=420.0,
        right=170.0,
    )
    chart.axes(
        x_text=lambda value: f"{value:.2g}",
        y_text=lambda value: f"{value:.0%}",
        x_name="false pages per volume and week",
    )
    for family in ("static", "predict_linear"):
        chart.line(_tuned(points, family), GREY)
    for name, (x, y) in points.items():
        is_ours = name == "burstwatch"
        chart.dot(x, y, COLORS.get(name, GREY), radius=9 if is_ours else 5)
    _label(chart, points)
    return picture([chart])


def _tuned(points: Mapping[str, tuple[float, float]], family: str) -> list[tuple[float, float]]:
    """The dots of a rule with a number to tune, in the order of that number."""
    tuned = {
        int(match[2]): place
        for name, place in points.items()
        if (match := _TUNED.fullmatch(name)) and match[1] == family
    }
    return [tuned[number] for number in sorted(tuned)]


def _label(chart: Chart, points: Mapping[str, tuple[float, float]]) -> None:
    """Name each dot where there is room, ours first. A line leads from a name that stands apart to its dot."""
    taken = [
        (chart.x(x) - 6, chart.y(y) - 6, chart.x(x) + 6, chart.y(y) + 6) for x, y in points.values()
    ]
    for name in sorted(points, key=lambda policy: (policy not in COLORS, policy)):
        dot_x, dot_y = chart.x(points[name][0]), chart.y(points[name][1])
        text, color = name.replace(" %", "%"), COLORS.get(name, GREY)
        width = LETTER * len(text)
        places = (
            (dot_x + side, dot_y + lines * LINE, lines)
            for lines in LINES_AWAY
            for side in (FROM_DOT, -FROM_DOT - width)
        )
        free = (place for place in places if _is_free(chart, place, width, taken))
        left_x, middle, lines = next(free, (0.0, 0.0, None))
        if lines is None:
            continue  # its dot is in a crowd, and the table has its figures
        taken.append((left_x, middle - LINE / 2, left_x + width, middle + LINE / 2))
        if lines:
            end = left_x if left_x > dot_x else left_x + width
            chart.leader((dot_x, dot_y), (end, middle))
        chart.text(left_x, middle + 4, text, anchor="start", small=True, color=color)


def _is_free(
    chart: Chart,
    place: tuple[float, float, int],
    width: float,
    taken: Sequence[tuple[float, float, float, float]],
) -> bool:
    """True if a label at that place is inside the chart and over nothing else."""
    left_x, middle, _ = place
    top, bottom, end = middle - LINE / 2, middle + LINE / 2, left_x + width
    is_inside = left_x > chart.x(chart.x_range[0]) and top > chart.y(1.0) - LINE
    return is_inside and not any(
        left_x < label[2] and label[0] < end and top < label[3] and label[1] < bottom
        for label in taken
    )

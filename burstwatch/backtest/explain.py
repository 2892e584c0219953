"""Explains a bucket's past: the levels, and each verdict at its time, on one page with one picture.

Three panels over the same time: the balance with every page's projection fan and each
exhaustion, the spending against baseline and limit, and the verdicts as coloured bars.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from burstwatch.backtest.replay import Moment
from burstwatch.charts import BLUE, GREEN, GREY, ORANGE, RED, Chart, picture, ticks
from burstwatch.formatting import recorded_time, span
from burstwatch.history.observations import Resource
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.owner_tags import read_owner_tags
from burstwatch.recordings.samples import Points, Sample

COLORS = {
    "ok": GREEN,
    "watch": BLUE,
    "warning": ORANGE,
    "critical": RED,
    "exhausted": "#641e16",
    "unknown": GREY,
}
PAGES = frozenset({"critical", "exhausted"})
SPARKS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 72
HOUR_S = 3_600.0


@dataclass(frozen=True, kw_only=True)
class Story:
    """One series with what was said at each moment of it."""

    name: str
    resource: Resource
    samples: Sequence[Sample]
    points: Points
    moments: Sequence[Moment]
    period_s: float

    @property
    def start_s(self) -> float:
        """The first row's time."""
        return self.samples[0].t_s

    @property
    def end_s(self) -> float:
        """The end of the last row."""
        return self.samples[-1].t_s + self.period_s

    @property
    def balance(self) -> list[tuple[float, float]]:
        """(end of period, share of the bucket), where CloudWatch had one."""
        levels, _ = self.points
        return [(point.start_s + self.period_s, point.ratio) for point in levels]

    @property
    def emptied(self) -> list[float]:
        """The ends of the periods in which the balance first showed 0."""
        return [
            after[0]
            for before, after in pairwise(self.balance)
            if before[1] > EMPTY_RATIO >= after[1]
        ]

    @property
    def turns(self) -> list[Moment]:
        """The moments at which the verdict changed, the first among them."""
        turned = [b for a, b in pairwise(self.moments) if a.assessment != b.assessment]
        return [*self.moments[:1], *turned]

    @property
    def pages(self) -> list[Moment]:
        """The moments at which somebody would have been woken."""
        spans = [("", None), *((moment.assessment, moment) for moment in self.moments)]
        return [
            moment
            for (before, _), (verdict, moment) in pairwise(spans)
            if verdict in PAGES and before not in PAGES and moment is not None
        ]


def as_text(story: Story) -> str:
    """The story in words: the balance as a line of blocks, each change, each page and its truth."""
    at = _clock(story)
    lines = [
        f"{story.name}: {_volume(story.resource)}, {span(story.end_s - story.start_s)} in periods of {story.period_s:g} s",
        _balance_line(story),
        "",
        *(f"{at(moment.t_s)}  {moment.assessment:9}  {moment.reason}" for moment in story.turns),
        "",
    ]
    lines += [
        f"paged at {at(page.t_s)}: said {_forecast(page)}; {_truth(story, page)}"
        for page in story.pages
    ]
    if not story.pages:
        lines.append("nobody was paged")
    lines += [f"ran dry at {at(t)}" for t in story.emptied]
    snooze = read_owner_tags(story.resource.tags).snooze
    if snooze is not None and snooze.until_s > story.end_s:
        lines.append(snooze.note(story.end_s))
    return "\n".join(lines)


def as_html(story: Story) -> str:
    """The story as a page of its own, with nothing to load."""
    body = escape(as_text(story))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(story.name)}</title>"
        "<style>body{font-family:sans-serif;max-width:920px;margin:2em auto}"
        "pre{white-space:pre-wrap;font-size:12px;background:#f6f6f6;padding:1em}</style>"
        f"<h1>{escape(story.name)}</h1>{as_svg(story)}<pre>{body}</pre></html>\n"
    )


def as_svg(story: Story) -> str:
    """The three panels."""
    return picture([_balance_panel(story), _rate_panel(story), _verdict_panel(story)])


def _balance_panel(story: Story) -> Chart:
    chart = _chart(story, "Balance, with what each page said (fan) and when it ran dry (dot)", 1.0)
    chart.axes(x_text=_axis(story), x_ticks=_hours(story), y_text=lambda value: f"{value:.0%}")
    for page in story.pages:
        _fan(chart, page)
    chart.line(story.balance, BLUE)
    for at in story.emptied:
        chart.dot(at, 0.0, RED)
    return chart


def _fan(chart: Chart, page: Moment) -> None:
    """Draw a page's projection: from the balance down to where it might reach 0: soonest, likely, latest."""
    if page.balance_ratio is None:
        return
    end_s = chart.x_range[1]
    for seconds, dashes in ((page.low_s, "2 3"), (page.time_to_empty_s, ""), (page.high_s, "2 3")):
        if seconds is None:
            continue
        # What never comes, or not on this page, runs on to its edge.
        reached = page.t_s + seconds
        share = 0.0
        if reached > end_s:
            left = 1.0 if math.isinf(seconds) else 1 - (end_s - page.t_s) / seconds
            reached, share = end_s, page.balance_ratio * left
        chart.line([(page.t_s, page.balance_ratio), (reached, share)], ORANGE, dashes=dashes)


def _rate_panel(story: Story) -> Chart:
    bucket = story.resource.bucket
    _, demand = story.points
    rates = [(point.end_s, point.nominal) for point in demand]
    burst = bucket.burst if bucket else max((rate for _, rate in rates), default=1.0)
    top = max(1.0, 1.1 * max([burst, *(rate for _, rate in rates)]))
    chart = _chart(
        story, f"Served, in {story.resource.rate_unit}, against baseline and limit (dashed)", top
    )
    chart.axes(x_text=_axis(story), x_ticks=_hours(story), y_text=lambda value: f"{value:g}")
    chart.line(rates, BLUE)
    if bucket is not None:
        for level in (bucket.refill, bucket.burst):
            chart.line([(story.start_s, level), (story.end_s, level)], GREY, dashes="6 4")
    return chart


def _verdict_panel(story: Story) -> Chart:
    chart = _chart(story, "Said at the time", 1.0, height=110.0)
    chart.axes(
        x_text=_axis(story),
        x_ticks=_hours(story),
        y_text=lambda _: "",
        x_name="hours from the first row",
    )
    turns = story.turns
    ends = [*(turn.t_s for turn in turns[1:]), story.end_s]
    for turn, end_s in zip(turns, ends, strict=True):
        chart.box((turn.t_s, end_s), (0.0, 1.0), COLORS[turn.assessment], opacity=0.8)
    for number, (verdict, color) in enumerate(COLORS.items()):
        chart.text(300 + 90 * number, 18, verdict, anchor="start", small=True, color=color)
    return chart


def _chart(story: Story, title: str, top: float, *, height: float = 220.0) -> Chart:
    return Chart(
        title=title, x_range=(story.start_s, story.end_s), y_range=(0.0, top), height=height
    )


def _axis(story: Story) -> Callable[[float], str]:
    return lambda at: f"{(at - story.start_s) / HOUR_S:.3g}"


def _hours(story: Story) -> list[float]:
    """Round hours from the first row on."""
    span_h = (story.end_s - story.start_s) / HOUR_S
    return [story.start_s + hour * HOUR_S for hour in ticks(0.0, span_h)]


def _clock(story: Story) -> Callable[[float], str]:
    """Times as dates, or in hours and minutes from the first row where it counts from 0."""
    is_dated = recorded_time(story.start_s).endswith("Z")

    def text(at: float) -> str:
        return recorded_time(at) if is_dated else f"{recorded_time(at - story.start_s):>9}"

    return text


def _forecast(moment: Moment) -> str:
    low, high = span(moment.low_s), span(moment.high_s)
    return f"dry in {span(moment.time_to_empty_s)} ({low} to {high})"


def _truth(story: Story, page: Moment) -> str:
    """Say what came after a page."""
    if page.assessment == "exhausted":
        return "it was dry already"
    dry = next((at for at in story.emptied if at >= page.t_s), None)
    return "never ran dry after" if dry is None else f"ran dry {span(dry - page.t_s)} later"


def _sparks(story: Story) -> str:
    """The lowest balance of each of 72 parts of the time, as a line of blocks."""
    lowest = [math.inf] * SPARK_WIDTH
    for at, ratio in story.balance:
        part = (at - story.start_s) / (story.end_s - story.start_s) * SPARK_WIDTH
        index = min(SPARK_WIDTH - 1, int(part))
        lowest[index] = min(lowest[index], ratio)
    return "".join(
        " " if ratio == math.inf else SPARKS[min(len(SPARKS) - 1, int(ratio * len(SPARKS)))]
        for ratio in lowest
    )


def _balance_line(story: Story) -> str:
    if not story.balance:
        return "CloudWatch had no balance"
    return f"balance {_sparks(story)} {min(ratio for _, ratio in story.balance):.0%} lowest"


def _volume(resource: Resource) -> str:
    return resource.facts.get("type", resource.kind)

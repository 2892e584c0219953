"""Draws the explanation of a bucket's past as a page of HTML: the incident, and then the whole time.

Three panels over the whole time: the balance with every page's projection fan and each
run-out, the spending against baseline and limit, and the verdicts as coloured bars.
"""

from collections.abc import Callable
from datetime import datetime
from html import escape

from burstwatch.backtest.explain import answer_of, as_text
from burstwatch.backtest.scene import draw_projection, draw_scene, label_times, scene_of
from burstwatch.backtest.story import Story, page_for, refilled_at, type_of
from burstwatch.bucket import HOUR_S
from burstwatch.drawing import palette
from burstwatch.drawing.charts import BLUE, GREY, RED, WIDTH, Chart, picture, ticks
from burstwatch.drawing.pages import document
from burstwatch.formatting import is_dated, number, span
from burstwatch.history.observations import Verdict

COLORS = {verdict: colour.light for verdict, colour in palette.VERDICTS.items()}
#: The lanes of the verdicts, the calm ones first.
LANES = ("unknown", "not_watched", "ok", "watch", "warning", "critical", "exhausted")


def as_html(story: Story) -> str:
    """The story as a page of its own, with nothing to load. Its title says what happened."""
    whole = picture([_balance_panel(story), _rate_panel(story), _verdict_panel(story)])
    parts = [f"<p>{escape(story.recorded.name)}</p>"]
    scene = scene_of(story)
    if scene is not None:
        chart = draw_scene(story, scene, width=WIDTH)
        parts += [f"<figure>{picture([chart])}</figure>", "<h2>The whole time</h2>"]
    parts += [
        f"<figure>{whole}</figure>",
        f"<details><summary>Each change of the verdict, each page, and what would have helped</summary><pre>{escape(as_text(story))}</pre></details>",
    ]
    figure, verdict = _figure(story)
    title = f"{type_of(story.recorded.resource)}: {answer_of(story)}"
    return document(title, "".join(parts), figure=figure, verdict=verdict)


def _figure(story: Story) -> tuple[str, Verdict]:
    """The number that matters, with a verdict for its colour: for how long it was warned of, or else for how long it was empty."""
    if not story.emptied:
        return "", "ok"
    emptied_s = story.emptied[0]
    page = page_for(story, emptied_s)
    if page is not None and page.t_s < emptied_s:
        return f"{span(emptied_s - page.t_s)} before", "warning"
    back_s = refilled_at(story, emptied_s)
    return f"{span((back_s or story.end_s) - emptied_s)} empty", "exhausted"


def _balance_panel(story: Story) -> Chart:
    """Draw the balance over time, with each page's projection and each time it ran out."""
    chart = _chart(story, "Balance, with what each page said (fan) and when it ran out (dot)", 1.0)
    chart.axes(x_text=_axis(story), x_ticks=_times(story), y_text=lambda value: f"{value:.0%}")
    for page in story.pages:
        draw_projection(chart, story, page)
    chart.line(story.balance, BLUE)
    for at in story.emptied:
        chart.dot(at, 0.0, RED)
    return chart


def _rate_panel(story: Story) -> Chart:
    """Draw the served rate over time, beside the baseline and the limit."""
    bucket = story.recorded.resource.bucket
    _, demand = story.recorded.points
    rates = [(point.end_s, point.nominal) for point in demand]
    burst = bucket.burst if bucket else max((rate for _, rate in rates), default=1.0)
    top = max(1.0, 1.1 * max([burst, *(rate for _, rate in rates)]))
    chart = _chart(
        story,
        f"Served, in {story.recorded.resource.words.rate_unit}, against baseline and limit (dashed)",
        top,
    )
    chart.axes(x_text=_axis(story), x_ticks=_times(story), y_text=number)
    chart.line(rates, BLUE)
    if bucket is not None:
        for level in (bucket.refill, bucket.burst):
            chart.line([(story.start_s, level), (story.end_s, level)], GREY, dashes="6 4")
    return chart


def _verdict_panel(story: Story) -> Chart:
    """Each verdict in a lane of its own, so that nobody needs to tell the colours apart."""
    lanes = {verdict: number for number, verdict in enumerate(LANES)}
    chart = _chart(story, "Verdict at the time", float(len(lanes)), height=190.0)
    chart.axes(
        x_text=_axis(story),
        x_ticks=_times(story),
        y_ticks=[number + 0.5 for number in lanes.values()],
        y_text=lambda value: list(lanes)[int(value)].replace("_", " "),
        x_name="" if is_dated(story.start_s) else "hours from the first row",
    )
    turns = story.turns
    ends = [*(turn.t_s for turn in turns[1:]), story.end_s]
    for turn, end_s in zip(turns, ends, strict=True):
        lane = lanes[turn.assessment]
        span_y = (lane + 0.1, lane + 0.9)
        chart.box((turn.t_s, end_s), span_y, COLORS[turn.assessment], opacity=1.0)
    return chart


def _chart(story: Story, title: str, top: float, *, height: float = 220.0) -> Chart:
    return Chart(
        title=title, x_range=(story.start_s, story.end_s), y_range=(0.0, top), height=height
    )


def _axis(story: Story) -> Callable[[float], str]:
    """Days and hours of the clock, or hours from the first row where it counts from 0."""
    if is_dated(story.start_s):
        return lambda at: f"{datetime.fromtimestamp(at, tz=story.zone):%a %d %b %H:%M}"
    return lambda at: f"{(at - story.start_s) / HOUR_S:.3g}"


def _times(story: Story) -> list[float]:
    """The times that have a label."""
    if is_dated(story.start_s):
        return label_times(story.start_s, story.end_s, since_s=0.0)
    span_h = (story.end_s - story.start_s) / HOUR_S
    return [story.start_s + hour * HOUR_S for hour in ticks(0.0, span_h)]

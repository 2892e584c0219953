"""Draws one incident: the balance, the page with what it expected, and when the credits ran out."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from burstwatch.backtest.replay import Moment
from burstwatch.backtest.story import Story, clock_of, page_for
from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.drawing.charts import BLUE, ORANGE, RED, Chart
from burstwatch.formatting import hour_of, is_dated, span

#: As much as the incident lasts is shown before and after it, and so many seconds at least.
LEAST_AROUND_S = 600.0
#: Steps between the labels of the time, and how many labels there may be.
STEPS_S = (
    60.0,
    300.0,
    600.0,
    900.0,
    1_800.0,
    *(hours * HOUR_S for hours in (1, 2, 6, 12, 24, 72, 168, 720)),
)
MOST_LABELS = 5
#: The longest name of a mark, in pixels. It stands on the right where it fits.
NAME_PX = 100.0


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A page, a time without credits, or both: ``page`` or ``emptied_s`` can be None. Seconds."""

    page: Moment | None
    emptied_s: float | None
    start_s: float
    end_s: float


def scene_of(story: Story) -> Scene | None:
    """The first time without credits and its page, or else the last page; None if there was neither."""
    emptied_s, page = None, None
    if story.emptied:
        emptied_s = story.emptied[0]
        page = page_for(story, emptied_s)
        marks = [emptied_s]
    elif story.pages:
        page = story.pages[-1]
        marks = [page.t_s + _finite(page.time_to_empty_s)]
    else:
        return None
    if page is not None:
        marks += [page.t_s, page.t_s - (page.data_age_s or 0.0)]
    around_s = max(LEAST_AROUND_S, max(marks) - min(marks))
    start_s = max(story.start_s, min(marks) - around_s)
    end_s = max(*marks, min(story.end_s, max(marks) + around_s))
    return Scene(page=page, emptied_s=emptied_s, start_s=start_s, end_s=end_s)


def draw_scene(story: Story, scene: Scene, *, width: float) -> Chart:
    """The balance around the incident. Its title says how long before the end somebody was paged."""
    chart = Chart(
        title=scene_title(story, scene),
        x_range=(scene.start_s, scene.end_s),
        y_range=(0.0, 1.0),
        width=width,
        height=270.0,
        axis_x=52.0,
    )
    chart.axes(
        x_text=_dated(scene) if is_dated(story.start_s) else lambda at: clock_of(story)(at).strip(),
        x_ticks=label_times(
            scene.start_s, scene.end_s, since_s=0.0 if is_dated(story.start_s) else story.start_s
        ),
        y_text=lambda value: f"{value:.0%}",
        y_ticks=[0.0, 0.25, 0.5, 0.75, 1.0],
    )
    if scene.page is not None:
        draw_projection(chart, story, scene.page)
        _name_latest(chart, story, scene.page)
        chart.line([(scene.page.t_s, 0.0), (scene.page.t_s, 1.0)], ORANGE)
        _name(chart, scene.page.t_s, 0.93, "page", ORANGE)
    chart.line(_within(story.balance, scene), BLUE)
    if scene.emptied_s is not None:
        chart.dot(scene.emptied_s, 0.0, RED)
        _name(chart, scene.emptied_s, 0.06, "out of credits", RED)
    return chart


def _name(chart: Chart, at: float, ratio: float, name: str, color: str) -> None:
    """Write the name of a mark on its right where it fits, or else on its left."""
    x = chart.x(at)
    if x + NAME_PX <= chart.width:
        chart.text(x + 8, chart.y(ratio), name, anchor="start", color=color)
    else:
        chart.text(x - 8, chart.y(ratio), name, anchor="end", color=color)


def scene_title(story: Story, scene: Scene) -> str:
    """The answer: how the page and the time without credits lie."""
    page, emptied_s = scene.page, scene.emptied_s
    if emptied_s is not None and emptied_s <= story.first_end_s:
        return "Empty at the beginning"
    if page is None:
        return "The credits ran out, and nobody would have been paged"
    if emptied_s is None:
        ends = page.t_s + (page.time_to_empty_s or 0.0)
        if ends > story.end_s and math.isfinite(ends):
            return "Paged, and the recording ends before the credits would have run out"
        return "Paged, and the credits did not run out"
    return f"Paged {_compared(page.t_s, emptied_s)} the credits ran out"


def _compared(paged_s: float, emptied_s: float) -> str:
    """How a page lies beside the moment in which the credits ran out."""
    if paged_s == emptied_s:
        return "when"
    if paged_s > emptied_s:
        return f"{span(paged_s - emptied_s)} after"
    return f"{span(emptied_s - paged_s)} before"


def draw_projection(chart: Chart, story: Story, page: Moment) -> None:
    """Draw a page's projection from the newest datapoint that it knew, down to where it might reach 0."""
    points = [point for point in story.balance if point[0] <= page.t_s - (page.data_age_s or 0.0)]
    if not points:
        return
    since_s, ratio = points[-1]
    end_s = chart.x_range[1]
    for seconds, dashes in ((page.low_s, "2 3"), (page.time_to_empty_s, ""), (page.high_s, "2 3")):
        if seconds is None:
            continue
        # A line whose end is never, or beyond this page, goes on to its edge.
        reached, share = page.t_s + seconds, 0.0
        if reached > end_s:
            share_left = 1.0 if math.isinf(seconds) else 1 - (end_s - since_s) / (reached - since_s)
            reached, share = end_s, ratio * share_left
        chart.line([(since_s, ratio), (reached, share)], ORANGE, dashes=dashes)


def _name_latest(chart: Chart, story: Story, page: Moment) -> None:
    """Write what the dotted line of the latest time is, where that leaves the picture."""
    points = [point for point in story.balance if point[0] <= page.t_s - (page.data_age_s or 0.0)]
    latest_s, end_s = page.high_s, chart.x_range[1]
    if latest_s is None or not points or page.t_s + latest_s <= end_s:
        return
    since_s, ratio = points[-1]
    share_left = (
        1.0 if math.isinf(latest_s) else 1 - (end_s - since_s) / (page.t_s + latest_s - since_s)
    )
    text = "if the load stops" if math.isinf(latest_s) else "at the latest"
    chart.text(chart.width - chart.right - 4, chart.y(ratio * share_left) - 18, text, anchor="end", color=ORANGE, small=True)  # fmt: skip


def _dated(scene: Scene) -> Callable[[float], str]:
    """Times of the day, or days where it is longer than one."""
    if scene.end_s - scene.start_s <= DAY_S:
        return hour_of
    return lambda at: f"{datetime.fromtimestamp(at, tz=UTC):%d %b %HZ}"


def _finite(seconds: float | None) -> float:
    return 0.0 if seconds is None or math.isinf(seconds) else seconds


def _within(points: list[tuple[float, float]], scene: Scene) -> list[tuple[float, float]]:
    return [point for point in points if scene.start_s <= point[0] <= scene.end_s]


def label_times(start_s: float, end_s: float, *, since_s: float) -> list[float]:
    """The times that get a label: each a whole number of steps after ``since_s``.

    The step is the shortest round one with which they have room.
    """
    length_s = end_s - start_s
    step_s = next((step for step in STEPS_S if length_s / step <= MOST_LABELS), length_s)
    first = math.ceil((start_s - since_s) / step_s)
    last = math.floor((end_s - since_s) / step_s)
    return [since_s + steps * step_s for steps in range(first, last + 1)]

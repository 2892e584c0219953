"""One picture of a backtest: how many exhaustions are announced, at how many needless pages."""

import math
from collections.abc import Mapping

from burstwatch.backtest.scores import Score
from burstwatch.charts import BLUE, GREEN, GREY, RED, Chart, picture

COLORS = {"burstwatch": RED, "oracle": GREEN, "guarantee": BLUE}


def draw_scores(totals: Mapping[str, Score], *, title: str) -> str:
    """Exhaustions announced over needless pages a volume-week, one dot a policy, as SVG."""
    positions = {name: (score.needless_per_week, score.announced) for name, score in totals.items()}
    points = {n: (x, y) for n, (x, y) in positions.items() if x is not None and y is not None}
    right = max((x for x, _ in points.values()), default=1.0)
    low = min((y for _, y in points.values()), default=0.0)
    chart = Chart(
        title=f"Announced, against needless pages: {title}",
        x_range=(0.0, max(0.5, math.ceil(right * 5) / 5)),
        y_range=(max(0.0, math.floor(low * 10) / 10), 1.0),
        height=420.0,
        right=170.0,
    )
    chart.axes(
        x_text=lambda value: f"{value:.2g}",
        y_text=lambda value: f"{value:.0%}",
        x_name="needless pages per volume and week",
    )
    taken: list[float] = []
    for name, (x, y) in sorted(points.items(), key=lambda item: -item[1][1]):
        color = COLORS.get(name, GREY)
        chart.dot(x, y, color, radius=6)
        at = chart.y(y) + 4
        while any(abs(at - place) < 13 for place in taken):  # noqa: PLR2004 - a line of text
            at += 4
        taken.append(at)
        chart.text(chart.x(x) + 10, at, name, anchor="start", small=True, color=color)
    return picture([chart])

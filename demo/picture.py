"""The demo in one picture: each balance, the page, and the moment it ran out. SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

from burstwatch.charts import BLUE, RED, Chart, picture
from demo.fleet import MINUTE_S
from demo.play import Volume
from demo.report import first_alarm

BEFORE_S = 300.0
#: Only what is low enough to be interesting is drawn to scale.
TOP_RATIO = 0.6


def draw(volumes: Sequence[Volume], result: Mapping[str, Any], *, end_s: float) -> str:
    """The picture as text."""
    live_at: float = result["live_at"]
    start_s = live_at - BEFORE_S
    alarms = {alarm["resource"]: first_alarm(alarm) for alarm in result["alarms"]}
    chart = Chart(
        title="Burst balance of the fleet: paged (triangle) before it runs out (dot)",
        x_range=(start_s, end_s),
        y_range=(0.0, TOP_RATIO),
        height=420.0,
        right=150.0,
    )
    minutes = range(-4, int((end_s - live_at) // MINUTE_S) + 1, 2)
    chart.axes(
        x_text=lambda at: f"{(at - live_at) / MINUTE_S:.0f}",
        x_ticks=[live_at + minute * MINUTE_S for minute in minutes],
        y_text=lambda ratio: f"{ratio:.0%}",
        x_name="minutes",
    )
    named: list[tuple[float, str, str]] = []
    for volume in volumes:
        curve = [(at, ratio) for at, ratio in volume.ratios if start_s <= at <= end_s]
        if not curve or min(ratio for _, ratio in curve) >= TOP_RATIO:
            continue
        color = RED if volume.emptied else BLUE
        chart.line(curve, color)
        named.append((curve[-1][1], f"{volume.spec.name} ({volume.spec.volume_type})", color))
        raised = alarms.get(volume.id)
        if raised is not None:
            level = next(ratio for at, ratio in reversed(curve) if at <= raised["at"])
            chart.triangle(raised["at"], level, color)
        for dry in volume.emptied[:1]:
            chart.dot(dry, 0.0, color)
    chart.names(named)
    return picture([chart])

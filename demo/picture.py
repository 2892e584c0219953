"""The demo in one picture: each balance, the page, and the moment it ran dry. SVG."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from demo.play import Volume
from demo.report import first_alarm

WIDTH, HEIGHT = 860, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 150, 48, 44
BEFORE_S = 300.0
#: Only what is low enough to be interesting is drawn to scale.
TOP_RATIO = 0.6
DRY, CLOSE = "#c0392b", "#2471a3"
STYLE = (
    "text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}"
    ".grid{stroke:#ddd}.curve{fill:none;stroke-width:2}"
)


def draw(volumes: Sequence[Volume], result: Mapping[str, Any], *, end_s: float) -> str:
    """The picture as text."""
    live_at: float = result["live_at"]
    start_s = live_at - BEFORE_S
    alarms = {alarm["resource"]: first_alarm(alarm) for alarm in result["alarms"]}

    def x(at: float) -> float:
        return LEFT + (at - start_s) / (end_s - start_s) * float(WIDTH - LEFT - RIGHT)

    def y(ratio: float) -> float:
        return TOP + (1 - min(ratio, TOP_RATIO) / TOP_RATIO) * (HEIGHT - TOP - BOTTOM)

    parts = [*_axes(x, y, start_s, end_s, live_at)]
    labels: list[tuple[float, str, str]] = []
    for volume in volumes:
        curve = [(at, ratio) for at, ratio in volume.ratios if start_s <= at <= end_s]
        if not curve or min(ratio for _, ratio in curve) >= TOP_RATIO:
            continue
        color = DRY if volume.emptied else CLOSE
        points = " ".join(f"{x(at):.1f},{y(ratio):.1f}" for at, ratio in curve)
        parts.append(f'<polyline class="curve" stroke="{color}" points="{points}"/>')
        labels.append((y(curve[-1][1]), f"{volume.spec.name} ({volume.spec.volume_type})", color))
        raised = alarms.get(volume.id)
        if raised is not None:
            level = next(ratio for at, ratio in reversed(curve) if at <= raised["at"])
            cx, cy = x(raised["at"]), y(level)
            parts.append(f'<path d="M{cx:.1f} {cy - 7:.1f}l7 12h-14z" fill="{color}"/>')
        parts += [
            f'<circle cx="{x(dry):.1f}" cy="{y(0):.1f}" r="5" fill="{color}"/>'
            for dry in volume.emptied[:1]
        ]
    parts += _labels(labels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _axes(x: Any, y: Any, start_s: float, end_s: float, live_at: float) -> list[str]:  # noqa: ANN401 - two local functions
    parts = [
        f'<text x="{LEFT}" y="22">Burst balance of the fleet: paged (triangle) before it runs dry (dot)</text>'
    ]
    for percent in range(0, int(TOP_RATIO * 100) + 1, 20):
        at = y(percent / 100)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text class="small" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{percent} %</text>'
        )
    minute = int((start_s - live_at) // 60)
    while live_at + 60 * minute <= end_s:
        if minute % 2 == 0 and live_at + 60 * minute >= start_s:
            at = x(live_at + 60 * minute)
            parts.append(
                f'<text class="small" x="{at:.1f}" y="{HEIGHT - 22}" text-anchor="middle">{minute}</text>'
            )
        minute += 1
    parts.append(
        f'<text class="small" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">minutes</text>'
    )
    return parts


def _labels(labels: list[tuple[float, str, str]]) -> list[str]:
    """Names at the ends of the curves, moved apart until none covers another."""
    parts, lowest = [], HEIGHT - BOTTOM + 4.0
    for at, text, color in sorted(labels, reverse=True):
        at = min(at + 4, lowest)  # noqa: PLW2901 - the place that is left
        lowest = at - 14
        parts.append(
            f'<text class="small" x="{WIDTH - RIGHT + 8}" y="{at:.1f}" style="fill:{color}">{escape(text)}</text>'
        )
    return parts

"""Lines over time as HTML that fits any width: only lines are SVG, and every word is text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Literal

from monitoring.look.frames import Span
from monitoring.look.style import color
from monitoring.look.units import axis_ticks, written

Point = tuple[float, float]
#: The drawing's own units: it is stretched to its place.
SIDE = 1000.0
#: Without a point for so long a line is broken.
GAP_S = 600.0
#: So near the end a label has no room.
AT_THE_END = 0.06
#: Round steps of a time axis, in minutes.
STEPS_MIN = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line; ``down_to`` is the line that the room below it is filled to."""

    name: str
    points: Sequence[Point]
    color: str
    dashed: bool = False
    down_to: Sequence[Point] = ()
    is_hidden: bool = False
    is_stacked: bool = False


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something that happened: a page, a bucket that ran dry, an end."""

    at: float
    value: float
    kind: Literal["page", "dot", "over"]
    color: str
    text: str


def chart(
    curves: Sequence[Curve], span: Span, *, unit: str, bounds: tuple[float, float],
    steps: Sequence[tuple[float, str]] = (), marks: Sequence[Mark] = (), now_s: float | None = None,
    columns: int = 12,
) -> str:  # fmt: skip
    """The chart without its legend.

    ``steps`` are values with a line of their own colour, ``columns`` is how much of the grid's 24 it has.
    """
    place = _Place(span, bounds)
    low, high = bounds
    ticks = axis_ticks(low, high, unit)
    paths = [f'<path class="grid" d="M0 {place.y(tick):.1f}H{SIDE:g}"/>' for tick in ticks]
    paths += [
        _path(f"M0 {place.y(value):.1f}H{SIDE:g}", name, "step")
        for value, name in steps
        if low < value < high
    ]
    if now_s is not None and span.start_s < now_s < span.end_s:
        paths.append(f'<path class="now" d="M{place.x(now_s):.1f} 0V{SIDE:g}"/>')
    for curve in curves:
        paths += _curve(curve, place)
    words = [written(tick, unit) for tick in ticks]
    widest = max(words, key=len, default="")
    y_axis = f"<b>{escape(widest)}</b>" + "".join(
        f'<span style="top:{place.y(tick) / SIDE:.2%}">{escape(word)}</span>'
        for tick, word in zip(ticks, words, strict=True)
    )
    x_axis = "".join(
        f'<span style="left:{place.x(at) / SIDE:.2%}">{datetime.fromtimestamp(at, tz=UTC):%H:%M}</span>'
        for at in time_ticks(span, most=max(3, columns // 2))
    )
    dots = "".join(
        f'<i class="{mark.kind}" style="--c:{color(mark.color)};left:{place.x(mark.at) / SIDE:.2%};'
        f'top:{place.y(mark.value) / SIDE:.2%}" title="{escape(mark.text)}"></i>'
        for mark in marks
    )
    return (
        f'<div class="chart"><div class="y">{y_axis}</div><div class="area">'
        f'<svg viewBox="0 0 {SIDE:g} {SIDE:g}" preserveAspectRatio="none" aria-hidden="true">{"".join(paths)}</svg>'
        f'{dots}</div><div class="x">{x_axis}</div></div>'
    )


def legend(curves: Sequence[Curve], *, columns: int) -> str:
    """The names of the lines, as far as two rows have room for them; Grafana lets one scroll."""
    most = max(2, columns * 2 // 3)
    items = "".join(
        f'<li style="--c:{color(curve.color)}">{escape(curve.name)}</li>' for curve in curves[:most]
    )
    more = f"<li class=more>and {len(curves) - most} more</li>" if len(curves) > most else ""
    return f'<ul class="legend">{items}{more}</ul>'


def time_ticks(span: Span, *, most: int) -> list[float]:
    """Round instants within a range, without those at its end whose label would leave it."""
    minutes = span.seconds / 60
    step_s = 60 * next((one for one in STEPS_MIN if minutes / one <= most), STEPS_MIN[-1])
    first = -(-span.start_s // step_s) * step_s
    count = int((span.end_s - first) // step_s) + 1
    every = [first + n * step_s for n in range(count)]
    return [at for at in every if at <= span.end_s - AT_THE_END * span.seconds]


@dataclass(frozen=True)
class _Place:
    span: Span
    bounds: tuple[float, float]

    def x(self, at: float) -> float:
        return SIDE * min(1.0, max(0.0, (at - self.span.start_s) / self.span.seconds))

    def y(self, value: float) -> float:
        low, high = self.bounds
        share = (value - low) / ((high - low) or 1.0)
        return SIDE * (1 - min(1.0, max(0.0, share)))

    def line(self, points: Sequence[Point]) -> str:
        return "L".join(f"{self.x(at):.1f} {self.y(value):.1f}" for at, value in points)


def _curve(curve: Curve, place: _Place) -> list[str]:
    paths = []
    if curve.down_to and curve.points:
        ring = place.line([*curve.points, *reversed(curve.down_to)])
        paths.append(_path(f"M{ring}Z", curve.color, "fill"))
    if curve.is_hidden:
        return paths
    for run in runs(curve.points):
        # A lone point is a short line.
        ends = run if len(run) > 1 else [run[0], (run[0][0] + place.span.seconds / 200, run[0][1])]
        if curve.is_stacked:
            floor = f"V{place.y(place.bounds[0]):.1f}H{place.x(ends[0][0]):.1f}Z"
            paths.append(_path(f"M{place.line(ends)}{floor}", curve.color, "stack"))
        else:
            name = "dashed" if curve.dashed else "line"
            paths.append(_path(f"M{place.line(ends)}", curve.color, name))
    return paths


def _path(d: str, name: str, kind: str) -> str:
    return f'<path class="{kind}" style="--c:{color(name)}" d="{d}"/>'


def runs(points: Sequence[Point]) -> list[list[Point]]:
    """The parts of a line that are not broken by a gap."""
    found: list[list[Point]] = []
    for point in points:
        if not found or point[0] - found[-1][-1][0] > GAP_S:
            found.append([])
        found[-1].append(point)
    return found

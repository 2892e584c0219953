"""Small charts as SVG text: what reports and explanations draw with."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from burstwatch.drawing import palette

STYLE = (
    f"text{{font:14px sans-serif;fill:{palette.TEXT.light}}}.small{{font-size:13px;fill:{palette.GREY.light}}}"
    f".grid{{stroke:{palette.EDGE.light}}}.curve{{fill:none;stroke-width:1.6}}"
    # In the dark a picture is inverted, and its hues are turned back.
    "@media(prefers-color-scheme:dark){.picture{filter:invert(.93) hue-rotate(180deg)}}"
)
LEFT, RIGHT, TOP, BOTTOM = 96.0, 16.0, 34.0, 36.0
WIDTH = 860.0
#: A curve of more points has no words for them: its page stays small.
MOST_NAMED_POINTS = 2_000
#: Half of a letter of a label, in pixels.
HALF_LETTER = 3.8
#: Pictures are drawn on a light ground.
BLUE, RED, GREY, ORANGE, GREEN, PURPLE = (
    colour.light
    for colour in (
        palette.BLUE,
        palette.RED,
        palette.GREY,
        palette.ORANGE,
        palette.GREEN,
        palette.PURPLE,
    )
)


@dataclass(kw_only=True)
class Chart:
    """One panel: an x and a y axis in the data's own units, and marks in the order drawn."""

    title: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    width: float = WIDTH
    height: float = 240.0
    axis_x: float = LEFT
    right: float = RIGHT
    marks: list[str] = field(default_factory=list)
    #: What a page that is pointed at says of the place: the axes' own words.
    x_text: Callable[[float], str] | None = None
    y_text: Callable[[float], str] | None = None

    def x(self, value: float) -> float:
        """The place of ``value`` in pixels; outside the axis at its end."""
        low, high = self.x_range
        share = (min(high, max(low, value)) - low) / ((high - low) or 1.0)
        return self.axis_x + share * (self.width - self.axis_x - self.right)

    def y(self, value: float) -> float:
        """The place of ``value`` in pixels; outside the axis at its end."""
        low, high = self.y_range
        share = (min(high, max(low, value)) - low) / ((high - low) or 1.0)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)

    def axes(
        self,
        *,
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
        x_name: str = "",
        x_ticks: Sequence[float] | None = None,
        y_ticks: Sequence[float] | None = None,
    ) -> None:
        """Grid lines and labels, at round values or where ``x_ticks`` and ``y_ticks`` say."""
        self.x_text, self.y_text = x_text, y_text
        for value in ticks(*self.y_range) if y_ticks is None else y_ticks:
            at = self.y(value)
            self.marks.append(
                f'<path class="grid" d="M{self.axis_x:g} {at:.1f}H{self.width - self.right:g}"/>'
            )
            self.text(self.axis_x - 8, at + 4, y_text(value), anchor="end", small=True)
        for value in ticks(*self.x_range) if x_ticks is None else x_ticks:
            at, anchor = self.x(value), "middle"
            if at + len(x_text(value)) * HALF_LETTER > self.width:
                at, anchor = self.width - 1, "end"
            self.text(at, self.height - BOTTOM + 16, x_text(value), anchor=anchor, small=True)
        middle = (self.axis_x + self.width - self.right) / 2
        self.text(middle, self.height - 4, x_name, small=True)

    def line(self, points: Iterable[tuple[float, float]], color: str, *, dashes: str = "") -> None:
        """A polyline, broken where a value is not finite."""
        for run in _runs(points):
            path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in run)
            dash = f' stroke-dasharray="{dashes}"' if dashes else ""
            self.marks.append(
                f'<polyline class="curve" stroke="{color}"{dash}{self._values_of(run) if not dashes else ""} points="{path}"/>'
            )

    def _values_of(self, run: Sequence[tuple[float, float]]) -> str:
        """The points in words, which a page shows where it is pointed at; of long curves none, for they would be most of the page."""
        if self.x_text is None or self.y_text is None or not 1 < len(run) <= MOST_NAMED_POINTS:
            return ""
        words = "|".join(f"{self.x_text(x).strip()}: {self.y_text(y)}" for x, y in run)
        return f' data-words="{escape(words)}"'

    def box(
        self, x: tuple[float, float], y: tuple[float, float], color: str, *, opacity: float
    ) -> None:
        """A filled rectangle."""
        left_x, right = self.x(x[0]), self.x(x[1])
        top, bottom = self.y(y[1]), self.y(y[0])
        self.marks.append(
            f'<rect x="{left_x:.1f}" y="{top:.1f}" width="{max(0.5, right - left_x):.1f}" '
            f'height="{bottom - top:.1f}" fill="{color}" opacity="{opacity:g}"/>'
        )

    def dot(self, x: float, y: float, color: str, *, radius: float = 5) -> None:
        """A filled circle."""
        self.marks.append(
            f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius:g}" fill="{color}"/>'
        )

    def leader(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """A thin line between two places in pixels, from a dot to its name."""
        self.marks.append(
            f'<path class="grid" d="M{begin[0]:.1f} {begin[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'
        )

    def triangle(self, x: float, y: float, color: str) -> None:
        """A filled triangle."""
        self.marks.append(
            f'<path d="M{self.x(x):.1f} {self.y(y) - 7:.1f}l7 12h-14z" fill="{color}"/>'
        )

    def names(self, named: Iterable[tuple[float, str, str]]) -> None:
        """Names at the right of the values that curves end with, in their colors, none over another."""
        lowest = self.height - BOTTOM + 4.0
        for value, text, color in sorted(named):
            at = min(self.y(value) + 4, lowest)
            lowest = at - 16
            text_x = self.width - self.right + 8
            self.text(text_x, at, text, anchor="start", small=True, color=color)

    def text(
        self, x: float, y: float, text: str, *, anchor: str = "middle", small: bool = False,
        color: str = "",
    ) -> None:  # fmt: skip
        """Words at a place in pixels."""
        style = f' style="fill:{color}"' if color else ""
        name = ' class="small"' if small else ""
        self.marks.append(
            f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
        )

    def svg(self, *, top: float = 0.0) -> str:
        """The panel as a group, moved down by ``top``."""
        title = f'<text x="{self.axis_x:g}" y="18">{escape(self.title)}</text>'
        return f'<g transform="translate(0 {top:g})">{title}{"".join(self.marks)}</g>'


def picture(charts: Sequence[Chart]) -> str:
    """The panels below one another, as one SVG document."""
    tops, height = [], 0.0
    for chart in charts:
        tops.append(height)
        height += chart.height
    width = max(chart.width for chart in charts)
    panels = "".join(chart.svg(top=top) for chart, top in zip(charts, tops, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">'
        f'<style>{STYLE}</style><g class="picture"><rect width="100%" height="100%" fill="{palette.PAGE.light}"/>{panels}</g></svg>\n'
    )


def ticks(low: float, high: float, *, most: int = 7) -> list[float]:
    """Round values within a range: steps of 1, 2 or 5 times a power of ten."""
    span = high - low
    if span <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * n for n in (1, 2, 5, 10) if span / (power * n) <= most)
    begin = math.ceil(low / step - 1e-9)
    return [n * step for n in range(begin, math.floor(high / step + 1e-9) + 1)]


def _runs(points: Iterable[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]

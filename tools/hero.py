"""Draws the picture at the top of the README: a page, the end of the credits, and an alarm on a percentage. Run by `make gen`.

A volume of 100 GiB is simulated, and the page is the one of the golden messages. There is a wide picture and one for a phone, each for a light and a dark ground.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.drawing import palette
from burstwatch.drawing.pages import mark
from burstwatch.drawing.palette import Colour
from burstwatch.ebs.volumes import volume_spec
from burstwatch.formatting import hour_of, number, span
from tools.reference import GOLDEN

DOCS = Path(__file__).parents[1] / "docs"
NAME, SIZE_GIB, FULL_BURST = "orders-db", 100.0, 3_000.0
#: Credits that are not touched, then full burst until after the end.
CALM_S, BUSY_S, PERIOD_S = 14 * 60.0, 42 * 60.0, 60.0
START = datetime(2026, 9, 21, 14, 0, tzinfo=UTC)
#: What many people alarm on.
USUAL_ALARM = 0.2


@dataclass(frozen=True, kw_only=True)
class Incident:
    """What is drawn: (seconds, share) of the balance, and when each thing was."""

    balance: Sequence[tuple[float, float]]
    paged_s: float
    emptied_s: float
    usual_s: float
    baseline: float


@dataclass(frozen=True, kw_only=True)
class Format:
    """A size in pixels, with that of the words in it. A wide picture has its words beside the curve."""

    name: str
    width: float
    height: float
    words: float
    numeral: float


FORMATS = (
    Format(name="hero", width=838, height=330, words=15, numeral=34),
    Format(name="hero-phone", width=390, height=330, words=14, numeral=26),
)


def main() -> None:
    """Write the mark and the pictures."""
    blue = palette.BLUE
    themed = mark("currentColor", "currentColor").replace(
        "<path",
        f"<style>svg{{color:{blue.light}}}@media(prefers-color-scheme:dark){{svg{{color:{blue.dark}}}}}</style><path",
        1,
    )
    (DOCS / "mark.svg").write_text(themed, encoding="utf-8")
    incident = simulate()
    for shape in FORMATS:
        for theme in ("light", "dark"):
            text = draw(incident, shape, is_dark=theme == "dark")
            (DOCS / f"{shape.name}-{theme}.svg").write_text(text, encoding="utf-8")


def simulate() -> Incident:
    """The volume under full burst."""
    spec = volume_spec("gp2", SIZE_GIB)
    bucket = spec.bucket
    if bucket is None:
        raise AssertionError
    loads = [
        Phase(seconds=CALM_S, read_iops=0, write_iops=0.5 * spec.baseline),
        Phase(seconds=BUSY_S, read_iops=0, write_iops=FULL_BURST),
    ]
    simulation = Simulation(spec=spec, bucket=bucket, period_s=PERIOD_S)
    points = list(simulation.play(loads, start_s=START.timestamp()))
    emptied_s = next(point.emptied_at for point in points if point.emptied_at is not None)
    usual_s = emptied_s - USUAL_ALARM * bucket.capacity / (FULL_BURST - bucket.refill)
    return Incident(
        balance=[
            (START.timestamp(), 1.0),
            *((point.start_s + point.period_s, point.level_ratio) for point in points),
        ],
        paged_s=_paged_s(),
        emptied_s=emptied_s,
        usual_s=usual_s,
        baseline=spec.baseline,
    )


def _paged_s() -> float:
    """When a whole sweep paged for such a volume, by the golden messages."""
    match = re.search(r"paged (\S+Z)", GOLDEN.read_text(encoding="utf-8"))
    if match is None:
        raise AssertionError
    return datetime.fromisoformat(match[1]).timestamp()


@dataclass(kw_only=True)
class Drawing:
    """Marks in the order drawn, on a ground of one theme."""

    shape: Format
    is_dark: bool
    marks: list[str] = field(default_factory=list)

    def colour(self, colour: Colour) -> str:
        """The colour on this ground."""
        return colour.dark if self.is_dark else colour.light

    def words(self, x: float, y: float, text: str, colour: Colour, *, anchor: str = "start", size: float = 0.0, is_bold: bool = False) -> None:  # fmt: skip
        """Words at a place."""
        weight = ' font-weight="700"' if is_bold else ""
        self.marks.append(
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size or self.shape.words:g}"{weight} fill="{self.colour(colour)}">{escape(text)}</text>'
        )

    def line(self, points: Iterable[tuple[float, float]], colour: Colour, *, width: float = 2.0, dashes: str = "") -> None:  # fmt: skip
        """A line through places."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.marks.append(
            f'<polyline fill="none" stroke="{self.colour(colour)}" stroke-width="{width:g}"{dash} points="{path}"/>'
        )

    def svg(self, title: str) -> str:
        """The picture as a document of its own."""
        width, height = self.shape.width, self.shape.height
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
            f'font-family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif"><title>{escape(title)}</title>'
            f'<rect width="100%" height="100%" rx="8" fill="{self.colour(palette.PAGE)}"/>{"".join(self.marks)}</svg>\n'
        )


def draw(incident: Incident, shape: Format, *, is_dark: bool) -> str:
    """The balance as an area; between the page and the end stand the minutes that are left."""
    drawing = Drawing(shape=shape, is_dark=is_dark)
    is_wide = shape.name == "hero"
    left, right, top, bottom = 20.0, shape.width - 20.0, 92.0, shape.height - 40.0
    since_s, until_s = incident.balance[0][0], incident.balance[-1][0]

    def x(at: float) -> float:
        return left + (at - since_s) / (until_s - since_s) * (right - left)

    def y(ratio: float) -> float:
        return bottom - ratio * (bottom - top)

    words, small = shape.words, shape.words - 1
    drawing.words(left, 28, f"{NAME} uses {number(FULL_BURST)} IOPS", palette.TEXT, size=words + 3, is_bold=True)  # fmt: skip
    drawing.words(left, 52, f"its burst credits, gp2 of {number(SIZE_GIB)} GiB", palette.GREY)
    curve = [(x(at), y(ratio)) for at, ratio in incident.balance]
    area = " ".join(f"{px:.1f},{py:.1f}" for px, py in [(left, bottom), *curve, (right, bottom)])
    drawing.marks.append(
        f'<polygon fill="{drawing.colour(palette.BLUE)}" fill-opacity="0.16" points="{area}"/>'
    )
    drawing.line(curve, palette.BLUE, width=3)
    drawing.line([(left, bottom), (right, bottom)], palette.EDGE)
    # The usual alarm, which knows no time.
    usual_x, usual_y = x(incident.usual_s), y(USUAL_ALARM)
    drawing.line([(left, usual_y), (usual_x, usual_y)], palette.GREY, width=1.5, dashes="4 4")
    usual_left = span(incident.emptied_s - incident.usual_s)
    alarm = f"an alarm at {USUAL_ALARM:.0%}"
    drawing.words(left + 6, usual_y - 8, f"{alarm} would leave {usual_left}" if is_wide else f"{alarm}: {usual_left}", palette.GREY, size=small)  # fmt: skip
    # The page, the end, and the minutes between them.
    page_x, end_x = x(incident.paged_s), x(incident.emptied_s)
    drawing.line([(page_x, top - 8), (page_x, bottom)], palette.ORANGE, width=2)
    drawing.line([(end_x, top - 8), (end_x, bottom)], palette.RED, width=2)
    drawing.line([(page_x, top - 4), (end_x, top - 4)], palette.ORANGE, width=2, dashes="2 3")
    middle, left_s = (page_x + end_x) / 2, incident.emptied_s - incident.paged_s
    drawing.words(middle, top + 34, span(left_s), palette.ORANGE, anchor="middle", size=shape.numeral, is_bold=True)  # fmt: skip
    drawing.words(page_x - 8, top + 12, "paged", palette.ORANGE, anchor="end", is_bold=True)
    drawing.words(end_x + 8, top + 12, "out", palette.RED, is_bold=True)
    drawing.words(end_x + 8, top + 14 + words, f"{number(incident.baseline)} IOPS", palette.RED, size=small)  # fmt: skip
    drawing.marks.append(
        f'<circle cx="{end_x:.1f}" cy="{bottom:.1f}" r="6" fill="{drawing.colour(palette.RED)}"/>'
    )
    ticks = ((incident.paged_s, palette.ORANGE), (incident.emptied_s, palette.RED))
    for at, colour in ticks:
        drawing.words(x(at), bottom + 24, hour_of(at), colour, anchor="middle", size=small)
    drawing.words(left, bottom + 24, hour_of(since_s), palette.GREY, size=small)
    return drawing.svg(title_of(incident))


def title_of(incident: Incident) -> str:
    """What the picture says, for whoever does not see it."""
    left = span(incident.emptied_s - incident.paged_s)
    return (
        f"The burst credits of {NAME}: paged at {hour_of(incident.paged_s)}, {left} before they run out at {hour_of(incident.emptied_s)}; "
        f"an alarm at {USUAL_ALARM:.0%} would leave {span(incident.emptied_s - incident.usual_s)}"
    )


if __name__ == "__main__":
    main()

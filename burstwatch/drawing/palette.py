"""The colours of burstwatch: one for each verdict, on a light and on a dark background. Pages, pictures and reports take them from here.

As text each has a contrast of at least 4.5 on its background, which a test measures.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.history.observations import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Colour:
    """One colour as CSS, for a ``light`` and a ``dark`` background."""

    light: str
    dark: str


GREEN = Colour(light="#1a7431", dark="#73bf69")
BLUE = Colour(light="#1f60c4", dark="#7aa6ff")
ORANGE = Colour(light="#a14a00", dark="#ff9830")
RED = Colour(light="#c4162a", dark="#ff7383")
PURPLE = Colour(light="#7c2ea3", dark="#d29bea")
GREY = Colour(light="#5d6269", dark="#a0a4ac")
#: The grounds of pages and of what lies on them.
PAGE = Colour(light="#ffffff", dark="#111217")
PANEL = Colour(light="#f4f5f5", dark="#181b1f")
EDGE = Colour(light="#d8d9da", dark="#2c3036")
GRID = Colour(light="#e6e7e8", dark="#2a2e34")
TEXT = Colour(light="#24292e", dark="#d5d6da")
VERDICTS: Mapping[Verdict, Colour] = {
    "ok": GREEN,
    "watch": BLUE,
    "warning": ORANGE,
    "critical": RED,
    "exhausted": PURPLE,
    "unknown": GREY,
    "not_watched": GREY,
}
COLOURS: Mapping[str, Colour] = {
    "green": GREEN, "blue": BLUE, "orange": ORANGE, "red": RED, "purple": PURPLE, "grey": GREY,
    "page": PAGE, "panel": PANEL, "edge": EDGE, "grid": GRID, "text": TEXT,
}  # fmt: skip


def variables() -> str:
    """The colours as variables of CSS, by whether the reader has chosen light or dark."""
    light = "".join(f"--{name}:{colour.light};" for name, colour in COLOURS.items())
    dark = "".join(f"--{name}:{colour.dark};" for name, colour in COLOURS.items())
    return f":root{{color-scheme:light dark;{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"

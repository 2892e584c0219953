"""One palette: every colour of pages and pictures stands in one file, and can be read on both grounds."""

import re
from pathlib import Path

import pytest

from burstwatch.drawing import palette

ROOT = Path(__file__).parents[2]
HEX = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
#: Where Grafana's own colours are compared, and what others draw.
OTHERS = ("burstwatch/drawing/palette.py", "docs/pictures/", "monitoring/grafana/", "demo/out/")


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("ground", ["page", "panel"])
@pytest.mark.parametrize("name", ["green", "blue", "orange", "red", "purple", "grey", "text"])
def test_a_text_in_any_colour_can_be_read_on_both_grounds(name: str, ground: str) -> None:
    colour, behind = palette.COLOURS[name], palette.COLOURS[ground]
    assert contrast(colour.light, behind.light) >= 4.5
    assert contrast(colour.dark, behind.dark) >= 4.5


def test_the_verdicts_that_page_and_warn_have_colours_of_their_own() -> None:
    colours = [
        palette.VERDICTS[verdict]
        for verdict in ("ok", "watch", "warning", "critical", "exhausted", "unknown")
    ]
    assert len({(colour.light, colour.dark) for colour in colours}) == len(colours)


def test_no_other_colour_is_written_anywhere() -> None:
    folders = ("burstwatch", "exporter", "demo", "docs", "monitoring", "tools", "benchmarks")
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".svg", ".css", ".ts", ".html"}
    ]
    known = {
        part.lower() for colour in palette.COLOURS.values() for part in (colour.light, colour.dark)
    }
    strange = {
        (name, colour)
        for path in files
        if not (name := path.relative_to(ROOT).as_posix()).startswith(OTHERS)
        for colour in HEX.findall(path.read_text(encoding="utf-8"))
        if colour.lower() not in known
    }
    assert strange == set()

"""The picture at the top of the README is what the code says, agrees with the page below it, and has words that a phone can read."""

import re
from pathlib import Path

import pytest

from tools.hero import DOCS, FORMATS, Format, draw, simulate, title_of

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PICTURES = [(shape, theme) for shape in FORMATS for theme in ("light", "dark")]


@pytest.mark.parametrize(("shape", "theme"), PICTURES, ids=lambda part: getattr(part, "name", part))
def test_what_is_committed_is_what_the_code_draws(shape: Format, theme: str) -> None:
    drawn = draw(simulate(), shape, is_dark=theme == "dark")
    assert (DOCS / f"{shape.name}-{theme}.svg").read_text() == drawn
    assert f"docs/{shape.name}-{theme}.svg" in README


def test_it_shows_the_page_that_the_readme_has() -> None:
    left, empty_at = re.findall(r"CRITICAL (\d+ min) left \((\d\d:\d\dZ)\)", README)[0]  # fmt: skip
    assert f"{left} before they run out at {empty_at}" in title_of(simulate())


@pytest.mark.parametrize(("shape", "theme"), PICTURES, ids=lambda part: getattr(part, "name", part))
def test_its_words_have_twelve_pixels_where_it_is_shown(shape: Format, theme: str) -> None:
    drawn = draw(simulate(), shape, is_dark=theme == "dark")
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', drawn)]
    assert min(sizes) >= 12
    assert shape.width <= 838

"""The browser finds what is wrong with a page; without that, a page that passes says nothing."""

import pytest

from monitoring.look.charts import Curve, chart, legend
from monitoring.look.frames import Span
from monitoring.look.style import page
from tests.conftest import find_program
from tools.looks import look_at

pytestmark = pytest.mark.real
SPAN = Span(start_s=0, end_s=3_600)
CURVE = Curve(name="a line", points=[(0, 1.0), (1_800, 2.0), (3_600, 1.0)], color="blue")
CHART = chart([CURVE], SPAN, unit="s", bounds=(0, 3)) + legend([CURVE], columns=12)
WHOLE, LOW, NARROW = (
    "1/span 12;grid-row:1/span 8",
    "1/span 12;grid-row:1/span 2",
    "1/span 2;grid-row:1/span 8",
)


def panel(inside: str, *, values: int = 3, place: str = WHOLE) -> str:
    return f'<section class="panel" style="grid-column:{place}" data-values="{values}"><h3>A panel</h3>{inside}</section>'


#: A page by its name, and what must be said of it; nothing for one that is well.
PAGES = {
    "well": (panel(CHART), ""),
    "wide": (panel('<p style="white-space:nowrap">' + "wide " * 300 + "</p>"), "px wide"),
    "tall": (panel("<div>tall<br></div>" * 60), "leaves its panel"),
    "faint": (panel('<p style="color:#777;background:#888">faint</p>'), "contrast"),
    "nothing": (panel(CHART, values=0), "has no values"),
    "lineless": (panel(chart([], SPAN, unit="s", bounds=(0, 3))), "draws no line"),
    "empty": (panel(""), "is empty"),
    "low": (panel(CHART, place=LOW), "leaves its panel"),
    "narrow": (panel(CHART, place=NARROW), "cover one another"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    find_program("chromium")
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in PAGES}
    for name, (inside, _) in PAGES.items():
        paths[name].write_text(page("a page", f"<main class=board>{inside}</main>"))
    return look_at(paths)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_wrong_with_a_page_is_said_in_light_and_dark_and_of_nothing_else(
    name: str, said: list[str]
) -> None:
    _, named = PAGES[name]
    mine = [one for one in said if one.startswith(f"{name} (")]
    if not named:
        assert mine == []
    for theme in ("light", "dark") if named else ():
        assert any(named in one for one in mine if f"({theme}, 1280 px)" in one), mine

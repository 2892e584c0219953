"""Every page of HTML has the same head, needs nothing from elsewhere, and says the values of its curves."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from burstwatch.cli.main import run
from burstwatch.drawing import pages
from burstwatch.drawing.pages import document, mark, prose
from tests.terminals import Screen

ROOT = Path(__file__).parents[2]


def written(tmp_path: Path, command: str) -> str:
    path = tmp_path / "page.html"
    out = Screen()
    assert run([command, "--example", "--html", str(path)], stdout=out, stderr=out, env={}, clock=lambda: 0.0) == 0  # fmt: skip
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["explain", "advise"])
def test_a_report_begins_with_the_mark_a_number_and_a_sentence_and_is_small(
    tmp_path: Path, command: str
) -> None:
    page = written(tmp_path, command)
    head = re.search(r'<header class="of-page"><svg.*?</svg><p class="figure \w+">[^<]+</p><h1>(?:[^<]|</?span[^>]*>)+</h1></header>', page)  # fmt: skip
    assert head
    assert len(page.encode()) < 300_000
    assert not re.search(r'(?:src|href)="(?!data:|https://docs\.aws\.amazon\.com/)', page)


def test_each_point_of_a_curve_has_its_words(tmp_path: Path) -> None:
    page = written(tmp_path, "explain")
    curves = re.findall(r'<polyline[^>]*data-words="([^"]*)" points="([^"]*)"', page)
    assert curves
    for words, points in curves:
        assert len(points.split(" ")) == len(words.split("|"))
        assert re.match(r"[^|]+: [\d.,]+%?(\||$)", words)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("ran out Fri 2014-04-11 18:45Z; and", ["Fri 2014-04-11 18:45Z"]),
        ("2014-04-11, then 2014-04-12 03:00 CEST", ["2014-04-11", "2014-04-12 03:00 CEST"]),
        ("opened 2026-09-21T14:28:00Z, paged 2026-09-21T14:30:00Z", ["2026-09-21T14:28:00Z", "2026-09-21T14:30:00Z"]),
        ("vol-0aaaaaaaaaaaaaaa1 at 18:45Z", []),
    ],
)  # fmt: skip
def test_a_date_with_its_time_stays_in_one_line(text: str, whole: list[str]) -> None:
    assert re.findall(r'<span class="at">(.*?)</span>', prose(f"<{text}>")) == whole
    assert "&lt;" in prose(f"<{text}>")


def test_a_page_without_curves_has_no_script() -> None:
    assert "<script>" not in document("a page", "<p>words</p>")
    assert "<script>" in document("a page", '<figure><svg><polyline data-words="1: 2|3: 4"/></svg></figure>')  # fmt: skip


def test_what_is_said_of_a_page_is_text() -> None:
    page = document("<b>title</b>", "", figure="<i>1</i>")
    assert "<b>" not in page
    assert "<i>" not in page


def test_the_mark_is_valid_svg_and_the_icon_of_every_page() -> None:
    ET.fromstring(mark("#1f60c4", "#1f60c4"))  # noqa: S314 - our own
    assert pages.ICON in document("a page", "")


def test_every_page_of_the_product_is_made_by_one_function() -> None:
    """The demo's report has a design of its own. tests/monitoring/test_boards_drawn.py draws each of these."""
    folders = ("burstwatch", "exporter", "demo")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    makers = {path.name for path in files if "<!doctype html>" in path.read_text(encoding="utf-8")}
    assert makers == {"pages.py", "page.py"}
    users = {path.stem for path in files if re.search(r"drawing\.pages import .*document", path.read_text(encoding="utf-8"))}  # fmt: skip
    drawn = (ROOT / "tests" / "monitoring" / "test_boards_drawn.py").read_text(encoding="utf-8")
    named = {"explain_page": "explained", "advised": "advised", "site": "served", "picture": "measured", "landing": "unwell"}  # fmt: skip
    assert users == named.keys()
    assert all(f'": {function}' in drawn for function in named.values())

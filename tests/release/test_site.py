"""The site is whole: every link, anchor and picture in it is there, and it asks no other host."""

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools.dist import ROOT
from tools.site import as_github_reads_it, pages, rewritten

SITE = ROOT / "site"
PLACES = {"README.md": "index.md", "docs/a.md": "a.md", "monitoring/runbooks/b.md": "runbooks/b.md"}


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("README.md", "[a](docs/a.md#x)", "[a](a.md#x)"),
        ("docs/a.md", "[b](../monitoring/runbooks/b.md)", "[b](runbooks/b.md)"),
        ("monitoring/runbooks/b.md", "[a](../../docs/a.md)", "[a](../a.md)"),
        ("docs/a.md", "[c](#here) [d](https://e.org/x.md)", "[c](#here) [d](https://e.org/x.md)"),
        ("README.md", '<img src="docs/drain.svg">', '<img src="drain.svg">'),
        (
            "docs/a.md",
            "[u](../exporter/systemd)",
            "[u](https://github.com/burstwatch/burstwatch/blob/main/exporter/systemd)",
        ),
    ],
)
def test_links_between_pages_stay_and_links_to_code_become_addresses(
    source: str, text: str, expected: str
) -> None:
    assert rewritten(text, source, PLACES) == expected


class Page(HTMLParser):
    """The links, what is loaded, and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        #: What a browser asks for by itself.
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        for name in ("href", "src", "srcset"):
            if found.get(name) and tag != "base":
                self.links.append(str(found[name]))
                if tag in {"script", "link", "img", "source"} and found.get("rel") != "canonical":
                    self.loaded.append(str(found[name]))
        for name in ("id", "name"):
            if found.get(name):
                self.anchors.add(str(found[name]))


def blocks_of(text: str) -> tuple[int, int, int]:
    """How many blocks of code, tables and items of lists a page has, as GitHub shows it."""
    code = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
    words = code.sub("", text)
    tables = re.findall(r"^\|(?: ?:?-+:? ?\|)+$", words, re.MULTILINE)
    items = re.findall(r"^ *(?:[-*]|\d+\.) ", words, re.MULTILINE)
    return len(code.findall(text)), len(tables), len(items)


def test_code_in_a_list_is_indented_as_the_site_needs_it() -> None:
    page = "1. Stop it:\n\n   ```console\n   stop\n   ```\n\nAfter it.\n\n```text\n- no list\n   as it is\n```\n"
    assert as_github_reads_it(page) == page.replace("   ```", "    ```").replace(
        "   stop", "    stop"
    )


@pytest.mark.slow
def test_the_site_is_whole_without_a_server() -> None:
    subprocess.run(["/usr/bin/make", "-s", "docs"], cwd=ROOT, check=True)
    built: dict[Path, Page] = {}
    for path in SITE.rglob("*.html"):
        built[path] = Page()
        built[path].feed(path.read_text())
    assert {SITE / place.replace(".md", ".html") for place in pages().values()} <= built.keys()
    for source, place in pages().items():
        text = (ROOT / source).read_text()
        html = (SITE / place.replace(".md", ".html")).read_text()
        article = html[html.index("<article") : html.index("</article>")]
        assert blocks_of(text) == (
            article.count("<pre"), article.count("<table"), article.count("<li>"),
        ), source  # fmt: skip
    for path, page in built.items():
        if path.name == "404.html":  # for servers: it is shown below any address
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in {"https", "data", "mailto"}, (path, link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), (path, link)
            if parts.fragment and target in built:
                assert unquote(parts.fragment) in built[target].anchors, (path, link)
    asked = {link for page in built.values() for link in page.loaded if urlsplit(link).netloc}
    assert asked == set()
    assert "heartbeat" in (SITE / "search" / "search_index.json").read_text()

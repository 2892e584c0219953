"""Lays the Markdown of the repository out as the sources of a site. `make docs` builds it.

The pages are the ones that people read in the repository. A link between pages stays one;
a link to code becomes an address of the repository.
"""

import fnmatch
import os
import re
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import yaml

from burstwatch.drawing import palette
from burstwatch.drawing.pages import mark

ROOT = Path(__file__).parents[1]
TARGET = ROOT / ".cache" / "site"
REPOSITORY = "https://github.com/burstwatch/burstwatch/blob/main"
#: Folders whose files are served beside the pages.
MEDIA = ("docs/pictures", "docs/examples")
#: The marker of an item of a list that begins at the margin.
ITEM = re.compile(r"(?:[-*]|\d+\.) +")
LIST_INDENT = 4
LINK = re.compile(r"""(\]\(|(?:src|href|srcset)=")([^)\s"#]+)""")
#: A name such as ``burstwatch_exporter_build_info`` is not broken in a word: a table that is too wide is scrolled.
STYLE = Path("names.css")
#: The icon of the site, and its logo on the bar at the top.
ICON, LOGO = Path("icon.svg"), Path("logo.svg")
NAMES_STAY_WHOLE = (
    ".md-typeset table code{word-break:normal;overflow-wrap:normal}\n"
    # A chart is scrolled on a phone: its words would be too small there.
    '.md-typeset p:has(> img[src$=".svg"]){overflow-x:auto}\n'
    '.md-typeset p>img[src$=".svg"]{max-width:max(100%,800px)}\n'
    # A message has long lines; a command keeps its own.
    ".md-typeset .language-text pre>code{white-space:pre-wrap}\n"
    ".md-typeset picture img{width:100%;height:auto}\n"
    "@media(max-width:44em){.md-typeset table:not([class]) :is(th,td){min-width:0;padding:.4em .6em}}\n"
)
#: By what somebody comes for: to begin, to do something, to look something up, to understand.
NAVIGATION = [
    {
        "Start": [
            {"Overview": "index.md"},
            {"On call": "for-on-call.md"},
            {"After an incident": "for-incidents.md"},
            {"Platform": "for-platform.md"},
            {"Performance": "for-performance.md"},
            {"First day": "live-checklist.md"},
            {"Troubleshooting": "faq.md"},
        ]
    },
    {
        "How to": [
            {"Install": "installing.md"},
            {"CDK construct": "construct.md"},
            {"Many accounts": "accounts.md"},
            {"Cost and large fleets": "fleets.md"},
            {"Alerts": "alerting.md"},
            {"Prometheus and Grafana": "monitoring.md"},
            {"Serve a fleet": "serving.md"},
            {"Host exporter": "exporter.md"},
            {"Measure a disk": "measuring.md"},
            {"Recordings": "recordings.md"},
            {"Advice": "advice.md"},
            {"Upgrade and remove": "upgrading.md"},
        ]
    },
    {
        "Reference": [
            {"Kinds": "kinds.md"},
            {"Settings and tags": "settings.md"},
            {"JSON": "json.md"},
            {"Security": "security.md"},
            {"Glossary": "glossary.md"},
        ]
    },
    {
        "Explanation": [
            {"How it works": "how-it-works.md"},
            {"How good is a page?": "backtest.md"},
            {"Architecture": "architecture.md"},
            {"Engineering notes": "engineering-notes.md"},
            {"Decisions": "decisions/*"},
        ]
    },
    {
        "Runbooks": [
            {"Resources": ["runbooks/resource-*", "runbooks/mass.md", "runbooks/floor.md"]},
            {"Hosts": "runbooks/host-*"},
            {"burstwatch itself": "runbooks/*"},
        ]
    },
    {
        "Project": [
            {"Contributing": "contributing.md"},
            {"A new kind": "new-kind.md"},
            {"Release": "releasing.md"},
            {"Changes": "changelog.md"},
        ]
    },
]


def pages() -> dict[str, str]:
    """Each page's place in the site by its place in the repository."""
    found = {
        "README.md": "index.md",
        "CONTRIBUTING.md": "contributing.md",
        "CHANGELOG.md": "changelog.md",
    }
    for folder in ("", "decisions/"):
        for path in sorted((ROOT / "docs" / folder).glob("*.md")):
            found[f"docs/{folder}{path.name}"] = f"{folder}{path.name}".replace("README", "index")
    for path in sorted((ROOT / "monitoring" / "runbooks").glob("*.md")):
        found[f"monitoring/runbooks/{path.name}"] = f"runbooks/{path.name}"
    return found


def rewritten(text: str, source: str, places: Mapping[str, str]) -> str:
    """A page's text with its links as they are in the site."""
    here = Path(source).parent

    def replace(match: re.Match[str]) -> str:
        before, link = match[1], match[2]
        if "://" in link or link.startswith("mailto:"):
            return match[0]
        target = os.path.normpath(here / link)
        if target in places:
            return before + os.path.relpath(places[target], Path(places[source]).parent)
        if target.startswith("docs/") and (ROOT / target).is_file():
            return before + os.path.relpath(
                target.removeprefix("docs/"), Path(places[source]).parent
            )
        return f"{before}{REPOSITORY}/{target}"

    return LINK.sub(replace, text)


def as_github_reads_it(text: str) -> str:
    """A page's text for Python's Markdown, which wants four columns of indent in a list where GitHub takes the marker's.

    What opens to show more has Markdown in it on both.
    """
    lines: list[str] = []
    width, is_code = 0, False
    for line in text.replace("<details>", '<details markdown="1">').splitlines():
        marker = ITEM.match(line)
        inside = width > 0 and line.startswith(" " * width)
        if line.startswith("```"):
            is_code, width = not is_code, 0
        elif marker and not is_code:
            if lines and lines[-1].strip() == "```":
                lines.append("")  # an item right after code is one on GitHub alone
            width = len(marker[0])
        elif inside:
            line = " " * LIST_INDENT + line[width:]  # noqa: PLW2901 - the line as it is written
        elif line and lines and not lines[-1]:
            width = 0  # a paragraph after the list
        lines.append(line)
    return "\n".join(lines) + "\n"


def navigation(places: Mapping[str, str]) -> list[object]:
    """The navigation. A pattern stands for the pages that it fits and that have no place before it."""
    placed: set[str] = set()

    def fill(entry: object) -> object:
        if isinstance(entry, dict):
            return {name: fill(within) for name, within in entry.items()}
        if isinstance(entry, list):
            filled = [fill(within) for within in entry]
            return [
                page for part in filled for page in (part if isinstance(part, list) else [part])
            ]
        if "*" in str(entry):
            chosen = sorted(set(fnmatch.filter(places.values(), str(entry))) - placed)
            placed.update(chosen)
            return chosen
        placed.add(str(entry))
        return entry

    return [fill(entry) for entry in NAVIGATION]


def main() -> None:
    """Write the pages, what they show, and the configuration."""
    shutil.rmtree(TARGET, ignore_errors=True)
    places, sources = pages(), TARGET / "docs"
    for source, place in places.items():
        target = sources / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / source).read_text(encoding="utf-8")
        page = as_github_reads_it(rewritten(text, source, places))
        target.write_text(page, encoding="utf-8")
    for folder in MEDIA:
        shutil.copytree(ROOT / folder, sources / folder.removeprefix("docs/"))
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, sources)
    (sources / STYLE.name).write_text(NAMES_STAY_WHOLE + colours(), encoding="utf-8")
    blue = palette.BLUE.dark
    (sources / ICON.name).write_text(mark(blue, blue), encoding="utf-8")
    (sources / LOGO.name).write_text(mark("white", "white"), encoding="utf-8")
    (TARGET / "mkdocs.yml").write_text(yaml.safe_dump(configuration(places)), encoding="utf-8")


def colours() -> str:
    """The colours of burstwatch in the words of the theme, for a light and a dark ground."""
    bar = palette.BLUE.light
    themes = {"default": (palette.BLUE.light, palette.PAGE.light), "slate": (palette.BLUE.dark, palette.PAGE.dark)}  # fmt: skip
    return "".join(
        f'[data-md-color-scheme="{scheme}"]{{--md-primary-fg-color:{bar};--md-primary-bg-color:white;--md-accent-fg-color:{link};'
        f"--md-typeset-a-color:{link};--md-default-bg-color:{ground}}}\n"
        for scheme, (link, ground) in themes.items()
    )


def configuration(places: Mapping[str, str]) -> dict[str, object]:
    """MkDocs's own: strict about links and anchors, and everything it needs comes along."""
    return {
        "site_name": "burstwatch",
        "site_description": "How long AWS burst credits last, and a page before they run out",
        "docs_dir": "docs",
        "site_dir": str(ROOT / "site"),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "logo": LOGO.name,
            "favicon": ICON.name,
            "features": [
                "navigation.tabs",
                "navigation.top",
                "content.code.copy",
                "search.suggest",
            ],
            "palette": [
                _palette("light", "default", turns_to="dark", icon="weather-night"),
                _palette("dark", "slate", turns_to="light", icon="weather-sunny"),
            ],
        },
        "extra_css": [STYLE.name],
        # The theme would ask GitHub for its stars, and its search from a folder another server for a script.
        "copyright": f'burstwatch {version("burstwatch")}, Apache-2.0, <a href="{REPOSITORY.partition("/blob/")[0]}">source</a>',
        "plugins": ["search"],
        "markdown_extensions": [
            "tables",
            # Code within a list too, as GitHub shows it.
            "pymdownx.superfences",
            "attr_list",
            "md_in_html",
            {"toc": {"permalink": True}},
        ],
        "validation": {
            "omitted_files": "warn",
            "absolute_links": "warn",
            "unrecognized_links": "warn",
            "anchors": "warn",
        },
        "nav": navigation(places),
    }


def _palette(colors: str, scheme: str, *, turns_to: str, icon: str) -> dict[str, object]:
    """The colors that the reader's system asks for, and the button to the others."""
    return {
        "media": f"(prefers-color-scheme: {colors})",
        "scheme": scheme,
        "primary": "custom",
        "accent": "custom",
        "toggle": {"icon": f"material/{icon}", "name": f"{turns_to} colors"},
    }


if __name__ == "__main__":
    main()

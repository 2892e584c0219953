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
    # On a phone a row is a card: each cell stands under the heading of its column.
    "@media(max-width:44em){.md-typeset table:not([class]){display:block;border:0}"
    ".md-typeset table:not([class]) :is(tbody,tr,td){display:block;width:100%}.md-typeset table:not([class]) thead{display:none}"
    ".md-typeset table:not([class]) tr{border:.05rem solid var(--md-typeset-table-color);border-radius:.2rem;margin:0 0 .6rem;padding:.3rem 0}"
    ".md-typeset table:not([class]) td{border:0;padding:.15rem .6rem;min-width:0}"
    ".md-typeset table:not([class]) td[data-heading]:not([data-heading=''])::before"
    "{content:attr(data-heading);display:block;font-size:.6rem;color:var(--md-default-fg-color--light)}}\n"
    # The way in.
    ".ways{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.8rem;margin:1rem 0}"
    ".ways>div{border:.05rem solid var(--md-default-fg-color--lightest);border-radius:.3rem;padding:0 .9rem .6rem}"
    ".ways h2{margin:.7rem 0 .2rem;font-size:1rem;font-weight:700}.ways p{margin:.2rem 0}\n"
)
#: Gives each cell of a table the heading of its column, which a phone shows above it.
CARDS, LABELLED = (
    Path("cards.js"),
    """document.querySelectorAll('.md-typeset table:not([class])').forEach((table) => {
  const headings = [...table.querySelectorAll('th')].map((cell) => cell.textContent.trim());
  table.querySelectorAll('tbody tr').forEach((row) =>
    [...row.cells].forEach((cell, column) => cell.setAttribute('data-heading', headings[column] ?? '')));
});
""",
)
#: The first page: what it is for in one look, and the three ways in.
LANDING = """---
hide: [navigation, toc]
---
# How many minutes of burst credits are left?

burstwatch says it for every EBS volume, instance, database and file system of your AWS accounts, and pages somebody before they run out.

{hero}

<div class="ways" markdown>
<div markdown>
## Paged?
The message says how long is left and what to do. [On call](for-on-call.md) explains it, and each message links to its [runbook](runbooks/resource-critical.md).
</div>
<div markdown>
## At risk?
`burstwatch scan` lists every bucket of an account, the worst first. It only reads. [Try it](overview.md#try-it), or [deploy](overview.md#deploy).
</div>
<div markdown>
## What happened?
`burstwatch explain` says whether credits caused last night's outage, and what would end it. [After an incident](for-incidents.md).
</div>
</div>

Without an AWS account:

{install}

[Overview](overview.md) · [How good is a page?](overview.md#how-well-does-it-page) · [What it costs](fleets.md#what-it-costs) · [Permissions](security.md)
"""
#: By what somebody comes for: to begin, to do something, to look something up, to understand.
NAVIGATION = [
    {
        "Start": [
            {"burstwatch": "index.md"},
            {"Overview": "overview.md"},
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
            {"Beside other tools": "with-*"},
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
            {"Architecture": "contributing/architecture.md"},
            {"A new kind": "contributing/new-kind.md"},
            {"Claims": "contributing/claims.md"},
            {"Backtest in detail": "contributing/backtest.md"},
            {"Permissions one by one": "contributing/permissions.md"},
            {"Engineering notes": "contributing/engineering-notes.md"},
            {"Decisions": "contributing/decisions/*"},
            {"Release": "contributing/releasing.md"},
            {"Changes": "changelog.md"},
        ]
    },
]


def pages() -> dict[str, str]:
    """Each page's place in the site by its place in the repository."""
    found = {
        "README.md": "overview.md",
        "CONTRIBUTING.md": "contributing.md",
        "CHANGELOG.md": "changelog.md",
    }
    for folder in ("", "contributing/", "contributing/decisions/"):
        for path in sorted((ROOT / "docs" / folder).glob("*.md")):
            found[f"docs/{folder}{path.name}"] = f"{folder}{path.name}".replace("README", "index")
    for path in sorted((ROOT / "monitoring" / "runbooks").glob("*.md")):
        found[f"monitoring/runbooks/{path.name}"] = f"runbooks/{path.name}"
    return found


def landing() -> str:
    """The first page of the site, with the picture and the lines of installing of the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (hero,) = re.findall(r"<picture>.*?</picture>", readme, re.DOTALL)
    _, tried = readme.split("## Try it", 1)
    commands = next(iter(re.findall(r"```sh\n(.*?)```", tried, re.DOTALL)))
    wanted = [
        line
        for line in commands.splitlines()
        if line.startswith(("git clone", "pipx install", "burstwatch explain"))
    ]
    install = "\n".join(["```sh", *(line.partition(" #")[0].rstrip() for line in wanted), "```"])
    return LANDING.format(hero=rewritten(hero, "README.md", pages()), install=install)


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
    (sources / "index.md").write_text(landing(), encoding="utf-8")
    (sources / CARDS.name).write_text(LABELLED, encoding="utf-8")
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
        "extra_javascript": [CARDS.name],
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

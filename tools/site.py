"""Lays the Markdown of the repository out as the sources of a site. `make docs` builds it.

The pages are the ones that people read in the repository. A link between pages stays one;
a link to code becomes an address of the repository.
"""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
TARGET = ROOT / ".cache" / "site"
REPOSITORY = "https://github.com/burstwatch/burstwatch/blob/main"
#: Folders whose files are served beside the pages.
MEDIA = ("docs/pictures", "docs/examples")
LINK = re.compile(r"""(\]\(|(?:src|href|srcset)=")([^)\s"#]+)""")
NAVIGATION = [
    {"Start": "index.md"},
    {
        "For you": [
            {"On call": "for-on-call.md"},
            {"Platform": "for-platform.md"},
            {"Advice": "advice.md"},
            {"Performance": "for-performance.md"},
            {"After an incident": "for-incidents.md"},
        ]
    },
    {
        "Install": [
            "installing.md",
            "construct.md",
            "accounts.md",
            "live-checklist.md",
            "fleets.md",
        ],
    },
    {"Alarms": ["alerting.md", {"Runbooks": "runbooks"}]},
    {"Dashboards": ["monitoring.md"]},
    {"Hosts": ["exporter.md", "measuring.md"]},
    {"Prometheus for a fleet": ["serving.md"]},
    {"Recordings": ["recordings.md", "backtest.md"]},
    {"JSON": "json.md"},
    {"Security": ["security.md"]},
    {"Words": ["glossary.md"]},
    {
        "Project": [
            "contributing.md",
            "architecture.md",
            "new-kind.md",
            {"Decisions": "decisions"},
            "releasing.md",
            "changelog.md",
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


def navigation(places: Mapping[str, str]) -> list[object]:
    """The navigation with every page of a folder that is named in it."""

    def fill(entry: object) -> object:
        if entry in ("runbooks", "decisions"):
            return sorted(place for place in places.values() if place.startswith(f"{entry}/"))
        if isinstance(entry, dict):
            return {name: fill(one) for name, one in entry.items()}
        return [fill(one) for one in entry] if isinstance(entry, list) else entry

    return [fill(entry) for entry in NAVIGATION]


def main() -> None:
    """Write the pages, what they show, and the configuration."""
    shutil.rmtree(TARGET, ignore_errors=True)
    places, sources = pages(), TARGET / "docs"
    for source, place in places.items():
        target = sources / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / source).read_text(encoding="utf-8")
        target.write_text(rewritten(text, source, places), encoding="utf-8")
    for folder in MEDIA:
        shutil.copytree(ROOT / folder, sources / folder.removeprefix("docs/"))
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, sources)
    (TARGET / "mkdocs.yml").write_text(yaml.safe_dump(configuration(places)), encoding="utf-8")


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
            "features": [
                "navigation.tabs",
                "navigation.top",
                "content.code.copy",
                "search.suggest",
            ],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "plugins": ["search", "offline"],
        "markdown_extensions": [
            "tables",
            "fenced_code",
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


if __name__ == "__main__":
    main()

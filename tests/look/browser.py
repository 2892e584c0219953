"""Pages in a real browser: what is wrong with them, and their pictures.

``python -m tests.look.browser FOLDER`` looks at what the demo wrote, and renews the pictures that the docs have.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
PATIENCE_S = 600


class BrowserError(RuntimeError):
    """There is no browser, or it failed; the message says how."""


def pages_of(folder: Path) -> dict[str, Path]:
    """The pages of the demo, by the names of the pictures."""
    names = ("fleet", "volume", "resource")
    return {"report": folder / "report.html"} | {
        name: folder / "dashboards" / f"{name}.html" for name in names
    }


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a browser saw: what is wrong with the pages, and what each panel of a dashboard shows, in each theme and width."""

    wrong: Sequence[str]
    panels: Sequence[Mapping[str, Any]]


def look_at(
    pages: Mapping[str, Path], *, pictures: Path | None = None,
    empty: Collection[str] = (), once: Collection[str] = (),
) -> Seen:  # fmt: skip
    """Look at the pages in light and dark, at 390, 1,280 and 1,920 pixels, or only once.

    Those in ``empty`` may have panels without values.

    Raises:
        BrowserError: without a browser, or if it fails.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        msg = "chromium is not installed (Debian's package chromium)"
        raise BrowserError(msg)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
    job = {
        "chromium": chromium,
        "out": None if pictures is None else str(pictures),
        "pages": [
            {
                "name": name,
                "path": str(path),
                "may_be_empty": name in empty,
                "once": name in once,
            }
            for name, path in pages.items()
        ],
    }
    done = subprocess.run(
        ["node", "--import", "tsx", "tests/look/browser.ts"],  # noqa: S607 - Node is where PATH says
        cwd=ROOT,
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    if done.returncode:
        raise BrowserError(done.stderr[-2_000:])
    found = json.loads(done.stdout)
    wrong = [
        f"{one['page']} ({one['theme']}, {one['width']} px): {one['what']}"
        for one in found["findings"]
    ]
    return Seen(wrong=wrong, panels=found["panels"])


def main() -> int:
    """0 when nothing is wrong with the pages."""
    folder = Path(sys.argv[1])
    taken = folder / "pictures"
    # The demo has volumes alone.
    wrong = look_at(pages_of(folder), pictures=taken, empty={"fleet", "resource"}).wrong
    for one in wrong:
        print(one, file=sys.stderr)
    in_docs = sorted(PICTURES.glob("*.png"))
    for picture in in_docs:
        shutil.copyfile(taken / picture.name, picture)
    print(f"took pictures into {taken}, and renewed the {len(in_docs)} of them in {PICTURES}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

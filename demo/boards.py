"""The dashboards of ``monitoring/grafana``, looked at while the demo plays."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from demo.hostside import SCRAPE_S, HostSide
from demo.localcloud.emulators import ROOT
from demo.play import Volume
from demo.style import page
from monitoring.look.frames import LookError, Span
from monitoring.look.page import Wish, look, problems
from monitoring.look.sources import CloudWatch, Prometheus, Source

#: The demo lasts minutes, and dashboards show hours.
BEFORE_S, AHEAD_S, HOST_BEFORE_S = 1500.0, 600.0, 270.0
#: The volume that is shown: a recorded workload on gp2, which runs out.
SHOWN = "database"
NAMES = ("fleet", "volume", "resource", "host")
#: What the pages load: Grafana's components in one script and its style (``make`` builds them).
BUNDLE = ROOT / ".cache" / "grafana"
BUNDLED = ("look.js", "look.css")


def copy_bundle(folder: Path) -> list[str]:
    """Put what the pages load beside them. Returns what is missing."""
    missing = [name for name in BUNDLED if not (BUNDLE / name).exists()]
    for name in BUNDLED:
        if name not in missing:
            shutil.copy(BUNDLE / name, folder / name)
    return [f"{BUNDLE / name} is not built: make .cache/grafana/look.js" for name in missing]


@dataclass(frozen=True, kw_only=True)
class Boards:
    """The dashboards and their data; ``host`` is None where there is no Prometheus."""

    cloudwatch: Any
    region: str
    host: HostSide | None
    volumes: Sequence[Volume]

    def draw(
        self, name: str, *, now_s: float, chosen: Mapping[str, str] | None = None, refresh_s: int | None = None
    ) -> tuple[str, list[str]]:  # fmt: skip
        """A dashboard's page, and its panels that failed or have nothing."""
        if name == "host" and self.host is None:
            message = "There is no Prometheus on this machine (Debian's package prometheus), so nobody scrapes the host."
            return page("burstwatch / Host", f"<p>{message}</p>", refresh_s=refresh_s), []
        board = json.loads(
            (ROOT / "monitoring" / "grafana" / f"burstwatch-{name}.json").read_text()
        )
        source, span, given = self._asked(name, now_s)
        wish = Wish(span=span, now_s=now_s, chosen={**given, **(chosen or {})})
        note = "The data are the demo's: minutes instead of days."
        try:
            html, looked = look(board, source, wish, note=note, refresh_s=refresh_s)
        except LookError as error:  # nothing is there yet
            return page(board["title"], f"<p>{escape(str(error))}</p>", refresh_s=refresh_s), [
                str(error)
            ]
        return html, problems(looked)

    def write(self, folder: Path, *, now_s: float) -> list[str]:
        """All pages into a folder. Returns what is wrong with them."""
        folder.mkdir(parents=True, exist_ok=True)
        wrong = []
        for name in NAMES:
            html, found = self.draw(name, now_s=now_s)
            (folder / f"{name}.html").write_text(html, encoding="utf-8")
            wrong += [f"dashboard {name}: {one}" for one in found]
        return wrong

    def _asked(self, name: str, now_s: float) -> tuple[Source, Span, dict[str, str]]:
        """The data of a dashboard, the range that is shown, and what is chosen."""
        if name == "host" and self.host is not None:
            source: Source = Prometheus(url=self.host.prometheus, scrape_s=SCRAPE_S)
            return source, Span(start_s=now_s - HOST_BEFORE_S, end_s=now_s), {}
        source = CloudWatch(client=self.cloudwatch, region=self.region)
        if name in {"fleet", "resource"}:
            return source, Span(start_s=now_s - BEFORE_S, end_s=now_s), {}
        shown = next(volume for volume in self.volumes if volume.spec.name == SHOWN)
        span = Span(start_s=now_s - BEFORE_S, end_s=now_s + AHEAD_S)
        return source, span, {"volume": shown.id}

"""The exporter's metrics and its page for people, of a host that is given as a tree of files. `make gen` keeps some."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from burstwatch_exporter.clock import Clock
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options

TREES = Path(__file__).parent / "trees"
#: Results of measurements, as they were written on a disk that the kernel throttled.
MEASURED = Path(__file__).parent / "measured"
#: A host that has been up for 25 hours, and is looked at twice, a minute apart.
UP_S, WALL_S, LATER_S = 90_000.0, 1_790_000_040.0, 60.0


@dataclass
class Hands:
    """The hands of clocks that only move when they are moved."""

    boot: float = UP_S
    wall: float = WALL_S
    asleep_s: float = 0.0

    @property
    def clock(self) -> Clock:
        """The clocks of a host that slept for ``asleep_s`` of its time."""
        return Clock(
            boot=lambda: self.boot,
            awake=lambda: self.boot - self.asleep_s,
            wall=lambda: self.wall,
        )

    def move(self, seconds: float) -> None:
        """All of them."""
        self.boot += seconds
        self.wall += seconds


def plant(files: dict[str, str], root: Path) -> None:
    """Write a tree's files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def flags(root: Path, **more: str) -> dict[str, str]:
    """The settings of an exporter that looks at a tree."""
    return {
        "path.procfs": str(root / "proc"),
        "path.sysfs": str(root / "sys"),
        "path.udev.data": str(root / "udev"),
        **more,
    }


def page(tree: Path) -> str:
    """The metrics that are scraped a minute after the first reading."""
    with _observed(tree) as exporter:
        return exporter.scrape()[1].decode()


def landing_page(tree: Path) -> str:
    """The page for people, a minute after the first reading."""
    with _observed(tree) as exporter:
        exporter.scrape()
        return exporter.landing()


@contextmanager
def _observed(tree: Path) -> Iterator[Exporter]:
    content = yaml.safe_load(tree.read_text(encoding="utf-8"))
    hands = Hands()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant({**content["files"], "config.yml": content["config"]}, root)
        (root / "measured").mkdir()
        for name in content.get("measured", []):
            shutil.copy(MEASURED / name, root / "measured")
        given = {"config.file": str(root / "config.yml"), "measure.results": str(root / "measured")}
        given |= content.get("flags", {})
        options = parse_options(flags(root, **given), {})
        exporter = make_exporter(options, hands.clock)
        exporter.host.observe()
        plant(content["later"], root)
        hands.move(LATER_S)
        yield exporter

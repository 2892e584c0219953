"""The dashboard of a fleet, drawn with what `burstwatch serve` says of an hour, by a real Prometheus."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from demo.localcloud.cloud import free_port
from tests.aws.sweeping import Disk
from tests.conftest import NOW, Cloud
from tests.fake.herd import Herd, id_of
from tests.fake.mixed import Mixed
from tests.fleet.fleets import fleet_of, page_of
from tests.look.frames import Span
from tests.look.page import Wish, look, problems
from tests.look.sources import Prometheus

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
BOARD = ROOT / "monitoring" / "grafana" / "burstwatch-fleet-prometheus.json"
TARGET = 'instance="monitor:10048",job="burstwatch-fleet"'
MINUTES, PATIENCE_S = 60, 60.0


def an_hour(cloud: Cloud) -> str:
    """Every minute of an hour in the format of OpenMetrics: a volume runs out, and some calls are refused at the end."""
    cloud.aws.add_herd(Herd(20, NOW))
    cloud.aws.add_mixed(Mixed(20))
    disk = Disk(cloud, percent=70.0)
    fleet = fleet_of(cloud)
    samples: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    for minute in range(MINUTES):
        if minute == MINUTES - 10:
            cloud.aws.denied.add("DescribeFileSystems")
            cloud.aws.failing_series[id_of(0)] = "Forbidden"
        fleet.poll()
        at = cloud.clock.now
        for family in text_string_to_metric_families(page_of(cloud, fleet)):
            types[family.name] = family.type
            for sample in family.samples:
                labels = ",".join(
                    f'{name}="{value}"' for name, value in sorted(sample.labels.items())
                )
                inner = ",".join(filter(None, (labels, TARGET)))
                line = f"{sample.name}{{{inner}}} {sample.value} {at:.0f}"
                samples.setdefault(family.name, []).append(line)
        disk.minute(iops=3_000)
    parts = [
        f"# TYPE {name} {types[name]}\n" + "\n".join(sorted(lines, key=_series_and_time))
        for name, lines in samples.items()
    ]
    return "\n".join(parts) + "\n# EOF\n"


def _series_and_time(line: str) -> tuple[str, float]:
    series, _, at = line.rpartition(" ")
    return series.rpartition(" ")[0], float(at)


@contextmanager
def prometheus_with(page: str, folder: Path, program: Callable[[str], str]) -> Iterator[str]:
    """The address of a Prometheus that has these samples."""
    (folder / "page.txt").write_text(page)
    made = subprocess.run(
        [program("promtool"), "tsdb", "create-blocks-from", "openmetrics", folder / "page.txt", folder / "tsdb"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    (folder / "prometheus.yml").write_text("{}\n")
    address = f"127.0.0.1:{free_port()}"
    child = subprocess.Popen(
        [program("prometheus"), f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'tsdb'}",
         "--storage.tsdb.retention.time=100y", f"--web.listen-address={address}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            try:
                with urlopen(f"http://{address}/-/ready", timeout=5):
                    break
            except (URLError, OSError):
                time.sleep(0.2)
        yield f"http://{address}"
    finally:
        child.kill()
        child.wait()


def test_every_panel_has_data_of_a_fleet_in_trouble(
    cloud: Cloud, tmp_path: Path, program: Callable[[str], str]
) -> None:
    page = an_hour(cloud)
    ends_s = cloud.clock.now - 60
    board = json.loads(BOARD.read_text())
    with prometheus_with(page, tmp_path, program) as url:
        wish = Wish(span=Span(start_s=ends_s - 3_000, end_s=ends_s), now_s=ends_s, chosen={})
        html, looked = look(board, Prometheus(url=url, scrape_s=60.0), wish)
    assert problems(looked) == []
    assert len(looked) >= 16
    assert "vol-" in html

"""A volume that empties pages before it is empty, whatever its interval rests on: the real exporter, and the real rules."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.history.points import LevelPoint
from burstwatch_exporter.credits.ledger import Origin
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.exporter import Exporter
from tests.exporter.box import VOLUMES, Box
from tests.exporter.writers import WRITTEN

RULES = Path("monitoring/prometheus").resolve()
NAME = "nvme1n1"
VOLUME = VOLUMES[NAME]
SCRAPE_S = 30.0
#: 100 GiB gp2, from full at 3,000 IOPS.
CAPACITY, REFILL, BURST = 5_400_000.0, 300.0, 3_000.0
LASTS_S = CAPACITY / (BURST - REFILL)
#: udev's record of a disk, as it wrote it.
RECORDED_DEVNO = "7:0"
RECORD: str = yaml.safe_load((WRITTEN / "host.yml").read_text())["files"][f"udev/b{RECORDED_DEVNO}"]
#: The exporter with a state file.
SAVES = {"state.file": "state.json"}


def appeared(box: Box) -> Exporter:
    return box.starts()


def recorded(box: Box) -> Exporter:
    """The disk has the number and the sequence of one that systemd-udevd has recorded, and its record to the letter."""
    (sequence,) = re.findall(r"^S:disk/by-diskseq/(\d+)$", RECORD, re.MULTILINE)
    box.devnos[NAME] = RECORDED_DEVNO
    box.disk(NAME, VOLUME, sequence=int(sequence))
    box.put(f"udev/b{RECORDED_DEVNO}", RECORD)
    box.counts()
    return box.starts()


def unknown(box: Box) -> Exporter:
    shutil.rmtree(box.root / "udev")
    return box.starts()


def created(box: Box) -> Exporter:
    shutil.rmtree(box.root / "udev")
    box.config = 'volumes: {"*": {type: gp2, created: 2026-09-21T12:00:00Z}}\n'
    return box.starts()


def restored(box: Box) -> Exporter:
    saved(box)
    return box.starts()


def saved(box: Box) -> None:
    box.options = {name: str(box.root / file) for name, file in SAVES.items()}
    box.starts().save()
    box.hands.move(60)


def reattached(box: Box) -> Exporter:
    saved(box)
    box.disk(NAME, VOLUME, sequence=9)
    return box.starts()


def rebooted(box: Box) -> Exporter:
    saved(box)
    box.put("proc/sys/kernel/random/boot_id", "boot-2\n")
    box.hands.boot = 30.0
    return box.starts()


def resized(box: Box) -> Exporter:
    box.put(f"sys/block/{NAME}/size", f"{50 * 2**21}\n")
    saved(box)
    box.put(f"sys/block/{NAME}/size", f"{100 * 2**21}\n")
    return box.starts()


def doubted(box: Box) -> Exporter:
    exporter = box.starts()
    box.put(f"sys/block/{NAME}/queue/iostats", "0\n")
    box.passes(exporter, 1_500)
    box.put(f"sys/block/{NAME}/queue/iostats", "1\n")
    box.passes(exporter, 20)
    return exporter


def contradicted(box: Box) -> Exporter:
    exporter = box.starts()
    box.passes(exporter, 20)
    box.ops[NAME] += 20_000_000
    box.counts()
    box.passes(exporter, 10)
    return exporter


def published(box: Box) -> Exporter:
    """Nothing is known until CloudWatch has published the balance of a minute that the host has seen."""
    shutil.rmtree(box.root / "udev")
    box.options = {"aws": "cloudwatch"}
    exporter = box.starts()
    box.passes(exporter, 120)
    point = LevelPoint(start_s=box.hands.wall - 90, period_s=60.0, ratio=1.0, statistic="Minimum")
    exporter.host.apply(CloudAnswer(specs={}, balances={VOLUME: point}, ahead_s=0.0))
    return exporter


#: How an interval begins.
STARTS: dict[str, Callable[[Box], Exporter]] = {
    "appeared": appeared,
    "appeared, by the real record": recorded,
    "published": published,
    "unknown": unknown,
    "created": created,
    "restored": restored,
    "reattached": reattached,
    "rebooted": rebooted,
    "resized": resized,
    "doubted": doubted,
    "contradicted": contradicted,
}


def played(box: Box, exporter: Exporter, iops: float, seconds: float) -> dict[str, list[str]]:
    """The series that are scraped of the volume under a load, each with its values."""
    series: dict[str, list[str]] = {}
    count = round(seconds / SCRAPE_S)
    for number in range(count):
        box.hands.move(SCRAPE_S)
        box.ops[NAME] += round(iops * SCRAPE_S)
        box.counts()
        exporter.sample()
        for family in text_string_to_metric_families(exporter.scrape()[1].decode()):
            for sample in family.samples:
                if sample.labels.get("device") == NAME:
                    labels = {**sample.labels, "instance": "db-1:10047", "job": "burstwatch"}
                    words = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
                    name = f"{sample.name}{{{words}}}"
                    values = series.setdefault(name, ["_"] * count)
                    values[number] = f"{sample.value:g}"
    return series


def pages(name: str, series: dict[str, list[str]], expected: dict[float, bool]) -> dict[str, Any]:
    """A case for promtool: whether anybody is paged at these seconds."""
    firing = f'count(ALERTS{{severity="critical",alertstate="firing",device="{NAME}"}})'
    return {
        "name": name,
        "interval": f"{SCRAPE_S:.0f}s",
        "input_series": [
            {"series": text, "values": " ".join(values)} for text, values in series.items()
        ],
        "promql_expr_test": [
            {
                "expr": f"{firing} > bool 0",
                "eval_time": f"{at:.0f}s",
                "exp_samples": [{"labels": "{}", "value": 1}] if is_paged else [],
            }
            for at, is_paged in expected.items()
        ],
    }


def test_every_origin_has_its_start() -> None:
    assert {name.partition(",")[0] for name in STARTS} == {*get_args(Origin)}


@pytest.mark.parametrize("origin", STARTS)
def test_a_start_has_the_origin_that_it_is_named_for(origin: str, tmp_path: Path) -> None:
    exporter = STARTS[origin](Box(tmp_path))
    (view,) = (one for one in exporter.host.observe().views if one.disk.name == NAME)
    assert view.account is not None
    assert view.account.origin == origin.partition(",")[0]


@pytest.mark.real
def test_a_volume_that_empties_pages_before_it_is_empty_and_a_calm_one_never(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    cases = []
    for origin, start in STARTS.items():
        box = Box(tmp_path / origin / "drains")
        series = played(box, start(box), BURST, LASTS_S)
        cases.append(pages(f"{origin} drains", series, {LASTS_S - 300: True}))
        calm = Box(tmp_path / origin / "calm")
        series = played(calm, start(calm), 0.7 * REFILL, LASTS_S)
        cases.append(
            pages(f"{origin} is calm", series, dict.fromkeys((600.0, 1200.0, LASTS_S), False))
        )
    names = ("burstwatch.rules.yml", "burstwatch.alerts.yml", "burstwatch-exporter.alerts.yml")
    case = tmp_path / "cases.yml"
    case.write_text(
        yaml.safe_dump({
            "rule_files": [str(RULES / name) for name in names],
            "evaluation_interval": "30s",
            "tests": cases,
        })
    )  # fmt: skip
    command = [program("promtool"), "test", "rules", str(case)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

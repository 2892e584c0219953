"""The cases of ``promtool test rules``, replayed: what a real exporter says of a simulated disk.

Nothing in them is made up: a host of files is read by the exporter once a minute, and what it says
of the metrics that the rules name is the case's input. ``make gen`` writes them.
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.simulate import Simulation
from burstwatch.volumes import profile
from burstwatch_exporter.ebs_stats import parse_stats
from burstwatch_exporter.serve import Exporter
from burstwatch_exporter.settings import parse_options
from demo.fleet import load_for
from demo.host import Disk, PlayedHost
from tools.pages import Hands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstwatch.simulate import Load

FOLDER = Path(__file__).parents[1] / "monitoring" / "prometheus"
CASES = FOLDER / "tests"
RULES = ("burstwatch.rules.yml", "burstwatch.alerts.yml")
MINUTE_S = 60.0
#: How often the exporter reads the counters between two scrapes.
SAMPLES = 3
#: YACE's period, and how late CloudWatch is.
YACE_S, LATE_S = 300.0, 300.0
TARGET = {"instance": "db-1:10047", "job": "burstwatch"}
VOLUME = "vol-0aaaaaaaaaaaaaaa1"
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What the disk bears, when the exporter is not scraped or begins anew, and what must follow.

    Minutes count from the first scrape. A disk that is not full (``ratio``) at first is one of which nothing is known. ``unseen`` are scrapes that fail, ``restarts`` minutes at which the
    exporter begins anew, with its state or without. ``expected`` are instants with how many alerts of a name and
    severity fire, ``never`` those that must not have fired at any minute.
    """

    text: str
    loads: Sequence[Load]
    minutes: int
    size_gib: int = 100
    ratio: float = 1.0
    unseen: range = range(0)
    restarts: Mapping[int, bool] | None = None
    expected: Sequence[tuple[int, str, str, int]] = ()
    never: Sequence[tuple[str, str]] = ()


def load(minutes: float, iops: float) -> Load:
    """So many minutes at a rate."""
    return load_for(60 * minutes, iops=iops)


DRY, THROTTLED = "BurstwatchRunsDry", "BurstwatchThrottledNow"
PAGES = ((DRY, "critical"), (THROTTLED, "critical"))
CASES_BY_NAME = {
    "drain": Case(
        text="A calm hour, then a full burst: it is empty after 93 minutes, and paged a quarter of an hour before.",
        loads=[load(60, 100), load(60, 3000)],
        minutes=110,
        expected=[(60, DRY, "critical", 0), (78, DRY, "critical", 1), (92, DRY, "critical", 1),
                  (92, THROTTLED, "critical", 0), (96, THROTTLED, "critical", 1)],
    ),
    "slow-drain": Case(
        text="Little more than the baseline for hours: a warning within the day, and no page while hours are left.",
        size_gib=500,
        loads=[load(60, 500), load(120, 1900)],
        minutes=165,
        expected=[(60, DRY, "warning", 0), (150, DRY, "warning", 1), (150, DRY, "critical", 0)],
    ),
    "burst": Case(
        text="Five minutes of full burst each hour, which the bucket gets back: nobody is woken.",
        loads=[load(55, 100), load(5, 3000)] * 4,
        minutes=190,
        never=[*PAGES, (DRY, "warning")],
    ),
    "recovery": Case(
        text="A drain that is stopped in time: the page comes, and resolves within a quarter of an hour of the end.",
        loads=[load(60, 100), load(25, 3000), load(60, 50)],
        minutes=140,
        expected=[(84, DRY, "critical", 1), (105, DRY, "critical", 0), (139, DRY, "critical", 0)],
        never=[(THROTTLED, "critical")],
    ),
    "restart": Case(
        text="The exporter begins anew twice, first without its state and then with it, under a load that is harmless.",
        loads=[load(240, 250)],
        minutes=170,
        restarts={60: False, 120: True},
        never=[*PAGES, (DRY, "warning"), ("BurstwatchExporterDown", "warning")],
    ),
    "unknown": Case(
        text="A disk of which nobody knows how full it was: no time is said, but that it is served just its baseline.",
        ratio=0.9,
        loads=[load(10, 100), load(60, 3000)],
        minutes=65,
        expected=[(35, "BurstwatchServedAtBaseline", "warning", 0), (60, "BurstwatchServedAtBaseline", "warning", 1)],
        never=[(DRY, "critical")],
    ),
    "gap": Case(
        text="Half an hour without a scrape, under a load that is harmless: no page, but it is said that nobody watched.",
        loads=[load(55, 100), load(5, 3000)] * 4,
        minutes=140,
        unseen=range(70, 100),
        expected=[(73, "BurstwatchExporterDown", "warning", 0), (80, "BurstwatchExporterDown", "warning", 1),
                  (80, "BurstwatchAbsent", "critical", 1), (110, "BurstwatchExporterDown", "warning", 0),
                  (110, "BurstwatchAbsent", "critical", 0)],
        never=PAGES,
    ),
}  # fmt: skip


#: The cases of those who have other exporters: which rules stand in, and how their series are made.
OTHERS = {
    "yace-drain": (
        "from-yace.rules.yml",
        Case(
            text="What YACE would export of a drain, ten minutes late: the page comes, later than with the exporter.",
            size_gib=500,
            loads=[load(60, 500), load(120, 3000)],
            minutes=135,
            expected=[(60, DRY, "critical", 0), (105, DRY, "critical", 1), (130, THROTTLED, "critical", 1)],
        ),
    ),
    "yace-burst": (
        "from-yace.rules.yml",
        Case(
            text="What YACE would export of bursts that the bucket gets back: nobody is woken.",
            loads=[load(55, 100), load(5, 3000)] * 4,
            minutes=190,
            never=PAGES,
        ),
    ),
    "ebs-csi-throttled": (
        "from-ebs-csi.rules.yml",
        Case(
            text="What the EBS CSI driver would export of a drain: nothing before, and that the limit is reached after.",
            loads=[load(60, 100), load(60, 3000)],
            minutes=115,
            expected=[(92, "BurstwatchLimitReached", "warning", 0), (112, "BurstwatchLimitReached", "warning", 1)],
            never=[(DRY, "critical")],
        ),
    ),
}  # fmt: skip


def cases() -> dict[str, str]:
    """The text of each file."""
    own = {name: render(case, replay(case)) for name, case in CASES_BY_NAME.items()}
    return own | {name: render_other(name) for name in OTHERS}


def write_cases() -> None:
    """All of them, to where promtool is told to look."""
    CASES.mkdir(exist_ok=True)
    for name, text in cases().items():
        (CASES / f"{name}.yml").write_text(text, encoding="utf-8")


def render_other(name: str) -> str:
    """A case of somebody else's exporter."""
    rules, case = OTHERS[name]
    series = _yace(case) if "yace" in rules else _ebs_csi(case)
    return render(case, series, rules=(rules, RULES[1]))


def render(case: Case, series: Mapping[str, Sequence[str]], *, rules: Sequence[str] = RULES) -> str:
    """A file for ``promtool test rules``."""
    content = {
        "rule_files": [f"../{name}" for name in rules],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": " ".join(values)} for name, values in series.items()
                ],
                "promql_expr_test": [
                    *(_fires(minute, name, severity, count) for minute, name, severity, count in case.expected),
                    *(_never(case.minutes - 1, name, severity) for name, severity in case.never),
                ],
            }
        ],
    }  # fmt: skip
    text = yaml.safe_dump(content, sort_keys=False, width=10**6)
    return f"# {case.text} Written by `make gen`.\n{text}"


def replay(case: Case) -> dict[str, list[str]]:
    """Each series that the rules name with its value a minute, as promtool writes them."""
    names = {
        name
        for rules in RULES
        for name in re.findall(r"\bburstwatch_\w+", (FOLDER / rules).read_text(encoding="utf-8"))
    }
    scrapes: list[Mapping[str, float] | None] = []
    hands = Hands(wall=1_790_000_000.0)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        disk = Disk(
            name="nvme1n1",
            volume_id=VOLUME,
            volume_type="gp2",
            size_gib=case.size_gib,
            loads=case.loads,
            ratio=case.ratio,
        )
        host = PlayedHost(root, [disk], start_s=hands.wall, step_s=MINUTE_S / SAMPLES)
        exporter = _exporter(host, hands)
        for minute in range(case.minutes):
            if minute in (case.restarts or {}):
                if (case.restarts or {})[minute]:
                    exporter.save()
                else:
                    (root / "state.json").unlink(missing_ok=True)
                exporter = _exporter(host, hands)
            exporter.sample()
            scrapes.append(None if minute in case.unseen else _scrape(exporter, names))
            for _ in range(SAMPLES):
                hands.move(MINUTE_S / SAMPLES)
                host.move_to(hands.wall)
                exporter.sample()
    every = sorted({name for scrape in scrapes if scrape for name in scrape})
    series = {
        name: _values([None if scrape is None else scrape.get(name) for scrape in scrapes])
        for name in every
    }
    up = f'up{{instance="{TARGET["instance"]}",job="{TARGET["job"]}"}}'
    return {up: [str(int(scrape is not None)) for scrape in scrapes], **series}


def _yace(case: Case) -> dict[str, list[str]]:
    """BurstBalance as YACE exports it: the newest whole five minutes that CloudWatch has by then."""
    promise = profile("gp2", case.size_gib)
    if promise.bucket is None:
        msg = f"gp2 of {case.size_gib} GiB has no bucket"
        raise ValueError(msg)
    played = Simulation(promise=promise, bucket=promise.bucket, period_s=YACE_S)
    points = list(played.play(case.loads))
    shown: list[float | None] = []
    for minute in range(case.minutes):
        seen = [one for one in points if one.start_s + YACE_S + LATE_S <= minute * MINUTE_S]
        shown.append(round(100 * seen[-1].balance_minimum, 2) if seen else None)
    arn = f"arn:aws:ec2:eu-west-1:123456789012:volume/{VOLUME}"
    labels = (
        f'account_id="123456789012",dimension_VolumeId="{VOLUME}",name="{arn}",region="eu-west-1"'
    )
    return {f"aws_ebs_burst_balance_minimum{{{labels}}}": _values(shown)}


def _ebs_csi(case: Case) -> dict[str, list[str]]:
    """The driver's counter of exceeded IOPS, out of the disk's own log page."""
    shown: list[float | None] = []
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(
            name="nvme1n1",
            volume_id=VOLUME,
            volume_type="gp2",
            size_gib=case.size_gib,
            loads=case.loads,
        )
        host = PlayedHost(Path(folder), [disk], start_s=0.0, step_s=MINUTE_S)
        for minute in range(case.minutes):
            host.move_to(minute * MINUTE_S)
            shown.append(parse_stats(host.log_page(disk.name)).exceeded_iops_s)
    labels = f'instance_id="i-0aaaaaaaaaaaaaaa1",volume_id="{VOLUME}"'
    return {f"aws_ebs_csi_exceeded_iops_seconds_total{{{labels}}}": _values(shown)}


def _exporter(host: PlayedHost, hands: Hands) -> Exporter:
    more = {
        "state.file": str(host.root / "state.json"),
        "sample.period": f"{MINUTE_S / SAMPLES:g}",
    }
    exporter = Exporter(parse_options({**host.flags, **more}, {}), hands.clock)
    exporter.host.observe()
    return exporter


def _scrape(exporter: Exporter, names: set[str]) -> dict[str, float]:
    found = {}
    for family in text_string_to_metric_families(exporter.page().text()):
        for sample in family.samples:
            if sample.name in names:
                labels = sorted({**sample.labels, **TARGET}.items())
                inner = ",".join(f'{key}="{value}"' for key, value in labels)
                found[f"{sample.name}{{{inner}}}"] = sample.value
    return found


def _values(values: Sequence[float | None]) -> list[str]:
    """As Prometheus stores them: what is gone from a page, or a page itself, is stale at once."""
    written, was_there = [], False
    for value in values:
        if value is None:
            written.append("stale" if was_there else "_")
        elif math.isinf(value):
            written.append("inf")
        else:
            written.append(f"{value:.10g}")
        was_there = value is not None
    return written


def _fires(minute: int, name: str, severity: str, count: int) -> dict[str, Any]:
    selector = f'ALERTS{{alertname="{name}",severity="{severity}",alertstate="firing"}}'
    return {
        "expr": f"count({selector}) or vector(0)",
        "eval_time": f"{minute}m",
        "exp_samples": [{"labels": "{}", "value": count}],
    }


def _never(minute: int, name: str, severity: str) -> dict[str, Any]:
    selector = f'ALERTS{{alertname="{name}",severity="{severity}",alertstate="firing"}}'
    return {
        "expr": f"count_over_time({selector}[{minute + 1}m])",
        "eval_time": f"{minute}m",
        "exp_samples": [],
    }


if __name__ == "__main__":
    write_cases()

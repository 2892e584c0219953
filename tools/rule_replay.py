"""Renders an exporter's metrics of a simulated disk, a value a minute, for ``promtool test rules``.

Nothing is made up: a host of files is read by the real exporter. What YACE and the EBS CSI driver would export is made of
the same simulated disk.
"""

import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.bucket import level_after, time_to_empty
from burstwatch.ebs.volumes import volume_spec
from burstwatch.history.points import LevelPoint
from burstwatch.kinds._cpu import cpu_spec
from burstwatch.web.exposition import Page
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.cloud import CloudAnswer
from burstwatch_exporter.cpu import TICKS, CpuSource
from burstwatch_exporter.ebs_stats import parse_stats
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.metrics import METRICS
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import Roots, parse_options
from burstwatch_exporter.snapshot import Snapshot
from burstwatch_exporter.sources import Attempt
from demo.host import Disk, PlayedHost
from tools.pages import MEASURED, Hands

FOLDER = Path(__file__).parents[1] / "monitoring" / "prometheus"
RULES = ("burstwatch.rules.yml", "burstwatch.alerts.yml", "burstwatch-exporter.alerts.yml")
MINUTE_S, START_S = 60.0, 1_790_000_000.0
#: How often the exporter reads the counters between two scrapes.
SAMPLES = 3
#: YACE's period, and how late CloudWatch is.
YACE_S, LATE_S = 300.0, 300.0
TARGET = {"instance": "db-1:10047", "job": "burstwatch"}
VOLUME = "vol-0aaaaaaaaaaaaaaa1"
Series = dict[str, list[str]]


@dataclass(kw_only=True)
class Played:
    """The host, its exporter and its clocks; what may be done to them stands below."""

    host: PlayedHost
    hands: Hands
    exporter: Exporter

    @property
    def results(self) -> Path:
        """The folder of measurements."""
        return self.host.root / "results"


def restart(*, with_state: bool) -> Callable[[Played], None]:
    """The exporter begins anew."""

    def act(played: Played) -> None:
        if with_state:
            played.exporter.save()
        else:
            (played.host.root / "state.json").unlink(missing_ok=True)
        played.exporter = _exporter(played.host, played.hands)

    return act


def configure(config: Mapping[str, object]) -> Callable[[Played], None]:
    """The exporter begins anew, with its state and another configuration."""

    def act(played: Played) -> None:
        (played.host.root / "config.yml").write_text(json.dumps(config), encoding="utf-8")
        restart(with_state=True)(played)

    return act


def measured(name: str, *, age_s: float, failed: str = "") -> Callable[[Played], None]:
    """A measurement was made so long ago, and went to its end or not."""

    def act(played: Played) -> None:
        record = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
        later_s = played.hands.wall - age_s - record["ended_s"]
        record |= {"began_s": record["began_s"] + later_s, "ended_s": record["ended_s"] + later_s}
        text = json.dumps({**record, "failed": failed})
        (played.results / f"{name}.json").write_text(text, encoding="utf-8")

    return act


def published(ratio: float) -> Callable[[Played], None]:
    """CloudWatch has a balance of five minutes ago."""

    def act(played: Played) -> None:
        point = LevelPoint(start_s=played.hands.wall - 360, period_s=60, ratio=ratio)
        played.exporter.host.apply(CloudAnswer(specs={}, balances={VOLUME: point}, ahead_s=0.0))

    return act


def move(name: str, to: str) -> Callable[[Played], None]:
    """A file of the kernel's is elsewhere."""

    def act(played: Played) -> None:
        (played.host.root / name).rename(played.host.root / to)

    return act


def several(*acts: Callable[[Played], None]) -> Callable[[Played], None]:
    """One after the other."""

    def act(played: Played) -> None:
        for one in acts:
            one(played)

    return act


def replay(
    disk: Disk, minutes: int, *, unseen: range, acts: Mapping[int, Callable[[Played], None]]
) -> Series:
    """Each series that the rules name with its value a minute, as promtool writes them."""
    names = {
        name
        for rules in RULES
        for name in re.findall(r"\bburstwatch_\w+", (FOLDER / rules).read_text(encoding="utf-8"))
    }
    scrapes: list[Mapping[str, float] | None] = []
    hands = Hands(wall=START_S)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        host = PlayedHost(root, [disk], start_s=hands.wall, step_s=MINUTE_S / SAMPLES)
        (root / "results").mkdir()
        played = Played(host=host, hands=hands, exporter=_exporter(host, hands))
        for minute in range(minutes):
            if minute in acts:
                acts[minute](played)
            played.exporter.sample()
            scrapes.append(None if minute in unseen else _scrape(played.exporter, names))
            for _ in range(SAMPLES):
                hands.move(MINUTE_S / SAMPLES)
                host.move_to(hands.wall)
                played.exporter.sample()
    every = sorted({name for scrape in scrapes if scrape for name in scrape})
    series = {
        name: written([None if scrape is None else scrape.get(name) for scrape in scrapes])
        for name in every
    }
    up = f'up{{instance="{TARGET["instance"]}",job="{TARGET["job"]}"}}'
    return {up: [str(int(scrape is not None)) for scrape in scrapes], **series}


def replay_cpu(
    instance_type: str, loads: Sequence[tuple[int, float]], *, level: float, skipped: int
) -> Series:
    """The CPU series of an instance: minutes at a load in vCPUs, from a level of its bucket on.

    The first minutes are ``skipped``: the interval narrows in them.

    A host of one file is read by the exporter's own source. What an empty bucket does not serve is stolen.
    """
    spec = cpu_spec(instance_type)
    bucket, left = spec.bucket, level * spec.bucket.capacity
    at = used = stolen = 0.0
    shown: dict[str, list[float | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = CpuSource(
            instance_type,
            spec,
            roots=Roots(procfs=root, sysfs=root, udev=root),
            clock=Clock(boot=lambda: at, awake=lambda: at, wall=lambda: START_S + at),
            slot_s=MINUTE_S,
        )
        for minute, vcpus in enumerate(v for minutes, v in loads for _ in range(minutes)):
            served_s = min(MINUTE_S, time_to_empty(bucket, level=left, demand=vcpus))
            served = vcpus * served_s + min(vcpus, bucket.refill) * (MINUTE_S - served_s)
            left = level_after(bucket, level=left, demand=vcpus, seconds=MINUTE_S)
            at, used, stolen = at + MINUTE_S, used + served, stolen + vcpus * MINUTE_S - served
            text = f"cpu  {used * TICKS:.0f} 0 0 0 0 0 0 {stolen * TICKS:.0f} 0 0\n"
            (root / "stat").write_text(text, encoding="ascii")
            page = Page(METRICS)
            source.add_to(page, Snapshot(at=0.0, views=(), stacked=(), mounts=()), Attempt())
            for family in page.families():
                for sample in family.with_samples().samples:
                    labels = sorted({**sample.labels, **TARGET}.items())
                    inner = ",".join(f'{key}="{value}"' for key, value in labels)
                    values = shown.setdefault(f"{sample.name}{{{inner}}}", [None] * minute)
                    values.append(sample.value)
            for values in shown.values():
                values.extend([None] * (minute + 1 - len(values)))
    wanted = ("burstwatch_cpu_time_to_exhaustion_seconds", "burstwatch_cpu_held_back")
    return {
        name: written(values[skipped:]) for name, values in shown.items() if name.startswith(wanted)
    }


def replay_yace(disk: Disk, minutes: int, *, unseen: range) -> Series:
    """BurstBalance as YACE exports it: the newest whole five minutes that CloudWatch has by then, or NaN."""
    spec = volume_spec(disk.volume_type, disk.size_gib)
    if spec.bucket is None:
        msg = f"{disk.volume_type} of {disk.size_gib} GiB has no bucket"
        raise ValueError(msg)
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=YACE_S)
    points = list(simulation.play(disk.loads))
    shown: list[float | None] = []
    for minute in range(minutes):
        seen = [one for one in points if one.start_s + YACE_S + LATE_S <= minute * MINUTE_S]
        value = round(100 * seen[-1].balance_minimum, 2) if seen else None
        shown.append(math.nan if minute in unseen else value)
    arn = f"arn:aws:ec2:eu-west-1:123456789012:volume/{VOLUME}"
    labels = (
        f'account_id="123456789012",dimension_VolumeId="{VOLUME}",name="{arn}",region="eu-west-1"'
    )
    return {f"aws_ebs_burst_balance_minimum{{{labels}}}": written(shown)}


def replay_ebs_csi(disk: Disk, minutes: int) -> Series:
    """The driver's counter of exceeded IOPS, out of the disk's own log page."""
    shown: list[float | None] = []
    with tempfile.TemporaryDirectory() as folder:
        host = PlayedHost(Path(folder), [disk], start_s=0.0, step_s=MINUTE_S)
        for minute in range(minutes):
            host.move_to(minute * MINUTE_S)
            shown.append(parse_stats(host.log_page(disk.name)).exceeded_iops_s)
    labels = f'instance_id="i-0aaaaaaaaaaaaaaa1",volume_id="{VOLUME}"'
    return {f"aws_ebs_csi_exceeded_iops_seconds_total{{{labels}}}": written(shown)}


def written(values: Sequence[float | None]) -> list[str]:
    """As Prometheus stores them: what is gone from a page, or a page itself, is stale at once."""
    texts, was_there = [], False
    for value in values:
        if value is None:
            texts.append("stale" if was_there else "_")
        elif math.isinf(value):
            texts.append("inf")
        else:
            texts.append("NaN" if math.isnan(value) else f"{value:.10g}")
        was_there = value is not None
    return texts


def volume(loads: Sequence[Phase], *, size_gib: int, ratio: float) -> Disk:
    """The disk of all cases; one that is not full at first is one of which nothing is known."""
    return Disk(
        name="nvme1n1", volume_id=VOLUME, volume_type="gp2", size_gib=size_gib, loads=loads, ratio=ratio
    )  # fmt: skip


def _exporter(host: PlayedHost, hands: Hands) -> Exporter:
    more = {
        "state.file": str(host.root / "state.json"),
        "sample.period": f"{MINUTE_S / SAMPLES:g}",
        "measure.results": str(host.root / "results"),
        "aws": "cloudwatch",  # no request goes out; the values that the case gives are used
    }
    exporter = make_exporter(parse_options({**host.flags, **more}, {}), hands.clock)
    exporter.host.observe()
    return exporter


def _scrape(exporter: Exporter, names: set[str]) -> dict[str, float]:
    found = {}
    for family in text_string_to_metric_families(exporter.scrape()[1].decode()):
        for sample in family.samples:
            if sample.name in names:
                labels = sorted({**sample.labels, **TARGET}.items())
                inner = ",".join(f'{key}="{value}"' for key, value in labels)
                # To promtool the first minute is the epoch.
                shift_s = START_S if sample.name.endswith("_timestamp_seconds") else 0.0
                found[f"{sample.name}{{{inner}}}"] = sample.value - shift_s
    return found

"""Writes the golden files: what on-call reads, whole. Run by `make gen`, compared by a test."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from burstwatch.aws.drill.steps import take_step
from burstwatch.aws.look.memory import Memory
from burstwatch.kinds import find_kinds
from tests.aws.sweeping import CONFIG, Disk, run_sweep
from tests.conftest import Cloud, fake_cloud
from tests.kinds.life import live
from tools.pages import TREES, landing_page, page

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
SETTINGS = replace(
    CONFIG,
    dashboard_url="https://grafana.example.org/d/burstwatch-volume?var-volume={resource_id}&from={from_ms}&to={to_ms}",
)


def messages(play: Callable[[Cloud], object]) -> str:
    """Everything that people receive while an episode is played: alarms, e-mails and chat messages."""
    with fake_cloud() as cloud:
        play(cloud)
        return "\n".join([*_alarms(cloud), *_events(cloud)])


def _alarms(cloud: Cloud) -> Iterator[str]:
    told = zip(cloud.aws.notifications, cloud.aws.descriptions, strict=True)
    for (topic, name, state), text in told:
        yield f"==== {state} to {_last(topic)}: {name}\n{text}\n"


def _events(cloud: Cloud) -> Iterator[str]:
    for sent in cloud.aws.published:
        attributes = {name: one["StringValue"] for name, one in sent["MessageAttributes"].items()}
        to = f"{attributes['event']} to {_last(sent['TopicArn'])}"
        yield f"==== {to}, e-mail\nSubject: {sent['Subject']}\n\n{sent['Email']}"
        chat: Mapping[str, Any] = json.loads(sent["Message"])
        yield f"==== {to}, chat\n{json.dumps(chat, indent=2, ensure_ascii=False)}\n"


def _last(arn: str) -> str:
    return arn.rpartition(":")[2]


def mass(cloud: Cloud) -> None:
    """Twenty volumes drain at once, and three hours later all is well."""
    disks = [Disk(cloud, percent=25) for _ in range(20)]
    memory = Memory()
    well = [(100.0, 50, 0)] * 6
    for percent, iops, wait_s in ((25.0, 3_000, 0), (20.0, 3_000, 0), (14.0, 3_000, 10_800), *well):
        began = cloud.clock.now
        for disk in disks:
            cloud.clock.now = began
            disk.percent = percent
            disk.minute(iops=iops)
        run_sweep(cloud, memory, config=SETTINGS)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += wait_s


def drill(cloud: Cloud) -> None:
    """The steps of a drill."""
    for step in ("begin", "alarm", "event", "end", "remove"):
        asked = {"id": "drill-1", "severity": "critical", "step": step}
        take_step(asked, cloud.clients, SETTINGS, now=cloud.clock.now)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60


#: What is played, by the name of the file.
CASES: Mapping[str, Callable[[Cloud], object]] = {
    **{name: partial(live, kind=kind, config=SETTINGS) for name, kind in find_kinds().items()},
    "mass": mass,
    "drill": drill,
}


def golden_path(name: str) -> Path:
    """The path of a case's golden file."""
    return FOLDER / f"{name}.txt"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case, play in CASES.items():
        golden_path(case).write_text(messages(play), encoding="utf-8")
    for tree in sorted(TREES.glob("*.yml")):
        tree.with_suffix(".prom").write_text(page(tree), encoding="utf-8")
        tree.with_suffix(".html").write_text(landing_page(tree), encoding="utf-8")

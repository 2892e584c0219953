"""Writes the golden files: what on-call reads, whole. Run by `make gen`, compared by a test."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from burstwatch.aws.drill.steps import take_step
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.watched.units import Connections, UnitSpec, connect
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.kinds import find_kinds
from burstwatch.web.exposition import encode
from tests.aws.sweeping import CONFIG, Disk, run_sweep
from tests.conftest import NOW, Cloud, fake_cloud
from tests.exporter.pages import TREES, landing_page, page
from tests.fake.herd import Herd
from tests.fake.mixed import Mixed
from tests.kinds.life import live

FOLDER = Path(__file__).parent / "golden"
FLEET_PAGE = Path(__file__).parent / "fleet" / "page.prom"
REFUSED_ROLE = "arn:aws:iam::222222222222:role/burstwatch-member"
SETTINGS = replace(
    CONFIG,
    dashboard_url="https://grafana.example.org/d/{board}&from={from_ms}&to={to_ms}",
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
    for disk in disks[3:]:
        stack = {"Key": "aws:cloudformation:stack-name", "Value": "orders-nightly"}
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"].append(stack)
    memory = Memory()
    well = [(100.0, 50, 0)] * 6
    # A minute at full burst takes three percent of each.
    for percent, iops, wait_s in ((25.0, 3_000, 0), (22.0, 3_000, 0), (19.0, 3_000, 10_800), *well):
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


def fleet_page() -> str:
    """What Prometheus gets of a fleet: a volume that drains, things of other kinds, and an account that does not answer."""
    with fake_cloud() as cloud:
        disk = Disk(cloud, percent=40.0)
        for _ in range(5):
            disk.minute(iops=3_000)
        cloud.aws.add_herd(Herd(6, NOW))
        cloud.aws.add_mixed(Mixed(20))
        refused = UnitSpec(account="222222222222", region="eu-west-1", role_arn=REFUSED_ROLE)
        fleet = Poller(
            [UnitSpec(region="us-east-1"), refused],
            Connections(home=cloud.clients, connect=connect),
            [*find_kinds().values()],
            SETTINGS,
            clock=cloud.clock,
        )
        fleet.poll()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(
            FleetCollector(
                fleet.readings,
                clock=cloud.clock,
                period_s=60.0,
                tags=["Name"],
                most_resources=1_000,
            )
        )
        text = encode(registry, "")[1].decode()
    # How long a poll took is another figure each time.
    return re.sub(
        r"^(burstwatch_unit_poll_duration_seconds\{.*\}) .*$", r"\1 0.0", text, flags=re.MULTILINE
    )


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
    FLEET_PAGE.write_text(fleet_page(), encoding="utf-8")
    for tree in sorted(TREES.glob("*.yml")):
        tree.with_suffix(".prom").write_text(page(tree), encoding="utf-8")
        tree.with_suffix(".html").write_text(landing_page(tree), encoding="utf-8")

"""Renders what `burstwatch serve` says of a fleet, a value a minute, for ``promtool test rules``.

Nothing is made up: the poller asks the strict fake, and its page is what Prometheus would scrape.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.aws.watched.units import Connections, UnitSpec, connect
from burstwatch.config import Config
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.kinds import find_kinds
from burstwatch.web.exposition import encode
from tests.aws.sweeping import Disk
from tests.conftest import NOW, Cloud, fake_cloud
from tests.fake.herd import PREFIX, Herd
from tools.rule_replay import FOLDER, Series, written

FLEET_RULES = "burstwatch-fleet.alerts.yml"
TARGET = {"instance": "monitor:10048", "job": "burstwatch-fleet"}
MEMBER = "222222222222"
ROLE = f"arn:aws:iam::{MEMBER}:role/burstwatch-member"
UNITS = (
    UnitSpec(region="us-east-1"),
    UnitSpec(account=MEMBER, region="us-east-1", role_arn=ROLE, external_id="watch-me"),
)


@dataclass(frozen=True, kw_only=True)
class FleetLoad:
    """The IOPS of one volume by the minute, and what befalls the fleet.

    ``acts`` change the account at a minute. ``herd`` volumes rest beside. ``unseen`` are scrapes that fail.
    """

    iops: Sequence[float]
    acts: Mapping[int, Callable[[Cloud], None]] = field(default_factory=dict)
    herd: int = 0
    most_resources: int = 20_000
    config: Config = field(default_factory=lambda: replace(Config(), kinds="ebs_volume"))
    unseen: range = range(0)


def minutes_at(*phases: tuple[int, float]) -> list[float]:
    """The load by the minute, of minutes with their IOPS."""
    return [iops for minutes, iops in phases for _ in range(minutes)]


def deny(*operations: str) -> Callable[[Cloud], None]:
    """AWS refuses these calls from now on, and no others."""

    def act(cloud: Cloud) -> None:
        cloud.aws.denied = set(operations)

    return act


def close_role(cloud: Cloud) -> None:
    """The role of the member account is gone, and the credentials that it gave have ended."""
    cloud.aws.roles.clear()
    cloud.aws.denied.add("GetCallerIdentity")


def open_role(cloud: Cloud) -> None:
    """The role of the member account is there again, and every call is allowed."""
    cloud.aws.roles[ROLE] = "watch-me"
    cloud.aws.denied.clear()


def shrink(cloud: Cloud) -> None:
    """All volumes but the one with a load are deleted."""
    region = cloud.aws.regions["us-east-1"]
    region.volumes = {key: item for key, item in region.volumes.items() if PREFIX not in key}
    region.instances = {key: item for key, item in region.instances.items() if "i-0a" not in key}


def replay_fleet(load: FleetLoad, minutes: int) -> Series:
    """Each series that the rules name with its value a minute, as promtool writes them."""
    names = set(re.findall(r"\bburstwatch_\w+", (FOLDER / FLEET_RULES).read_text(encoding="utf-8")))
    scrapes: list[Mapping[str, float] | None] = []
    with fake_cloud() as cloud:
        open_role(cloud)
        if load.herd:
            cloud.aws.add_herd(Herd(load.herd, NOW))
        disk = Disk(cloud, percent=60.0)
        fleet = Poller(
            UNITS,
            Connections(home=cloud.clients, connect=connect),
            [*find_kinds(load.config.kinds).values()],
            load.config,
            clock=cloud.clock,
        )
        registry = CollectorRegistry(auto_describe=False)
        registry.register(
            FleetCollector(
                fleet.readings,
                clock=cloud.clock,
                period_s=load.config.sweep_period_s,
                most_resources=load.most_resources,
            )
        )
        for minute in range(minutes):
            if minute in load.acts:
                load.acts[minute](cloud)
            fleet.poll()
            scrapes.append(None if minute in load.unseen else _scrape(registry, names))
            disk.minute(iops=load.iops[minute])
    every = sorted({name for scrape in scrapes if scrape for name in scrape})
    series = {
        name: written([None if scrape is None else scrape.get(name) for scrape in scrapes])
        for name in every
    }
    up = f'up{{instance="{TARGET["instance"]}",job="{TARGET["job"]}"}}'
    return {up: [str(int(scrape is not None)) for scrape in scrapes], **series}


def _scrape(registry: CollectorRegistry, names: set[str]) -> dict[str, float]:
    values = {}
    for family in text_string_to_metric_families(encode(registry, "")[1].decode()):
        for sample in family.samples:
            if sample.name in names:
                labels = sorted({**sample.labels, **TARGET}.items())
                inner = ",".join(f'{key}="{value}"' for key, value in labels)
                # To promtool the first minute is the epoch.
                shift_s = NOW if sample.name.endswith("_timestamp_seconds") else 0.0
                values[f"{sample.name}{{{inner}}}"] = sample.value - shift_s
    return values

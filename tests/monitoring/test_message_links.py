"""The dashboard that a message links to shows the resource that the message is about."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from burstwatch.aws.client.session import Clients
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import UnitSpec, connect
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from monitoring.dashboards.parts import RESOURCE_BOARD
from tests.conftest import Cloud, fake_cloud
from tests.goldens import CASES, SETTINGS, golden_path
from tests.kinds._rds import instance
from tests.kinds.life import live
from tests.look.frames import Frame, Span
from tests.look.page import Wish, resolved
from tests.look.sources import CloudWatch, Source, filled

pytestmark = pytest.mark.slow

BOARDS = Path(__file__).parents[2] / "monitoring" / "grafana"


def board_of(url: str) -> tuple[dict[str, Any], dict[str, str], Span]:
    """The dashboard of an address, the values of its variables, and the time that it shows."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    uid = parts.path.rpartition("/")[2]
    board: dict[str, Any] = json.loads((BOARDS / f"{uid}.json").read_text())
    assert board["uid"] == uid
    variables = {
        name.removeprefix("var-"): value for name, value in query.items() if name.startswith("var-")
    }
    span = Span(start_s=float(query["from"]) / 1000, end_s=float(query["to"]) / 1000)
    return board, variables, span


@dataclass(frozen=True, kw_only=True)
class Regions:
    """A source that asks in the region of each query, as Grafana does."""

    home: CloudWatch
    there: CloudWatch

    def query(
        self, targets: Sequence[Mapping[str, Any]], variables: Mapping[str, str], span: Span
    ) -> list[Frame]:
        regions = {filled(target["region"], variables) for target in targets}
        (region,) = regions  # metric math needs all of a panel in one
        source = self.there if region == self.there.region else self.home
        return source.query(targets, variables, span)

    def values(
        self, query: Mapping[str, Any], variables: Mapping[str, str], span: Span
    ) -> list[str]:
        return self.home.values(query, variables, span)


def panels_of(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in board["panels"]:
        yield from panel.get("panels", []) or [panel]


def titles_of(board: dict[str, Any]) -> set[str]:
    return {panel["title"] for panel in panels_of(board) if panel["type"] != "row"}


def drawn_panels(
    board: dict[str, Any], source: Source, chosen: dict[str, str], span: Span
) -> dict[str, set[str]]:
    """What each panel shows, by its title up to a comma. Variables that the link leaves out are found as Grafana does."""
    # AWS publishes the instance of a volume on Nitro alone.
    wish = Wish(span=span, now_s=span.end_s, chosen={"instance": "none", **chosen})
    values = resolved(board, source, wish)
    variables = {name: found[0] for name, found in values.items()}
    drawn: dict[str, set[str]] = {}
    for panel in panels_of(board):
        targets = panel.get("targets", [])
        frames = source.query(targets, variables, span) if targets else []
        names = {frame.name.partition(" ")[0] for frame in frames if frame.known}
        if names:
            drawn[panel["title"].partition(",")[0]] = names
    return drawn


def drain_in(cloud: Cloud, region: str, *, is_database: bool) -> Callable[[], None]:
    """Make a volume or a database of a region, which is at its limit. What is returned puts the metrics of its last hour."""
    if is_database:
        database = instance("orders-db", "postgres", storage_type="gp2")
        cloud.aws.add_item("rds", "DescribeDBInstances", database, region=region)
        names = {"DBInstanceIdentifier": "orders-db"}
        namespace, loads = "AWS/RDS", {"WriteIOPS": 3_000.0, "WriteThroughput": 3_000 * 16_384.0}
    else:
        host = cloud.aws.add_instance("m3.medium", region=region)
        names = {"VolumeId": cloud.aws.add_volume("gp2", 100, instance_id=host, region=region)}
        namespace = "AWS/EBS"
        loads = {"VolumeWriteOps": 180_000.0, "VolumeWriteBytes": 180_000 * 16_384.0}
    empty_at = cloud.clock.now + 420
    times = list(range(int(cloud.clock.now) - 3_600, int(empty_at), 60))

    def put() -> None:
        while times[0] <= cloud.clock.now - 60:
            at = times.pop(0)
            values = {"BurstBalance": min(90.0, 0.05 * (empty_at - at)), **loads}
            for name, value in values.items():
                cloud.aws.put(namespace, name, names, at, value, region=region)

    return put


@pytest.mark.parametrize("name", CASES)
def test_every_dashboard_link_sets_variables_that_its_dashboard_has(name: str) -> None:
    urls = re.findall(r"Dashboard: (\S+)", golden_path(name).read_text())
    assert urls
    for url in urls:
        board, variables, _ = board_of(url)
        assert {*variables} <= {entry["name"] for entry in board["templating"]["list"]}
        assert variables["region"] == "us-east-1"
        assert variables["deployment"] == "burstwatch"


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind.name in {"ebs_volume", "rds_storage"} else pytest.param(kind, marks=pytest.mark.slow)
        for kind in find_kinds().values()
    ],
    ids=lambda kind: kind.name,
)  # fmt: skip
def test_the_dashboard_of_a_message_has_the_level_and_the_time_left_of_its_resource(
    kind: Kind,
) -> None:
    with fake_cloud() as cloud:
        live(cloud, kind=kind, config=SETTINGS)
        mails = [sent["Email"] for sent in cloud.aws.published]
        (url, *_) = [link for mail in mails for link in re.findall(r"Dashboard: (\S+)", mail)]
        board, variables, span = board_of(url)
        source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
        drawn = drawn_panels(board, source, variables, span)
    assert {"Time left", "State"} <= drawn.keys()
    if board["uid"] == RESOURCE_BOARD:  # it is for all kinds, and has no panel of one alone
        assert drawn.keys() == titles_of(board)
        assert drawn["Credits"] <= {*kind.level_metrics}
        assert drawn["Load"] == {metric.name for metric in kind.demand_metrics}
    else:
        assert "Balance" in drawn


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
@pytest.mark.parametrize("thing", ["a volume", "a database"])
def test_a_message_of_another_region_links_to_its_metrics_there_and_to_burstwatchs_at_home(
    thing: str, region: str
) -> None:
    with fake_cloud() as cloud:
        units = Units(home=cloud.clients, connect=connect)
        kinds = find_kinds().values()
        drain = drain_in(cloud, region, is_database=thing == "a database")
        for _ in range(3):
            drain()
            swept = units.sweep(
                UnitSpec(region=region),
                kinds,
                SETTINGS,
                now=cloud.clock.now,
                deadline=cloud.never(),
            )
            assert swept.completed
            cloud.clock.now += 60
        (mail, *_) = [sent["Email"] for sent in cloud.aws.published]
        (url,) = re.findall(r"Dashboard: (\S+)", mail)
        board, variables, span = board_of(url)
        there = Clients(region)("cloudwatch")
        source = Regions(
            home=CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1"),
            there=CloudWatch(client=there, region=region),
        )
        drawn = drawn_panels(board, source, variables, span)
    assert variables["region"] == "us-east-1"
    assert {"Time left", "State"} <= drawn.keys()
    if board["uid"] == RESOURCE_BOARD:
        assert variables["aws_region"] == region
        assert drawn.keys() == titles_of(board)
    else:
        assert region == "us-east-1"

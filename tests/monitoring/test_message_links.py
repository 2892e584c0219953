"""The dashboard that a message links to shows the resource that the message is about."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from monitoring.dashboards.parts import RESOURCE_BOARD
from monitoring.look.frames import Span
from monitoring.look.sources import CloudWatch
from tests.conftest import fake_cloud
from tests.kinds.life import live
from tools.golden import CASES, SETTINGS, golden_path

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


def panels_of(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in board["panels"]:
        yield from panel.get("panels", []) or [panel]


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
        drawn = set()
        for panel in panels_of(board):
            targets = panel.get("targets", [])
            frames = source.query(targets, variables, span) if targets else []
            if any(frame.known for frame in frames):
                drawn.add(panel["title"].partition(",")[0])
    assert {"Time left", "State"} <= drawn
    assert drawn & {"Balance", "Credits"}
    if (
        board["uid"] == RESOURCE_BOARD
    ):  # one for all kinds: none of its panels is another kind's alone
        assert drawn == {panel["title"] for panel in panels_of(board) if panel["type"] != "row"}

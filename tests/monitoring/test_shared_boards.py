"""The dashboards as grafana.com takes them: each asks for its data source, and says what it needs."""

import json
from pathlib import Path

import pytest

from monitoring.dashboards.boards import dashboards
from monitoring.dashboards.shared import DRAWN, PICTURES, shared
from tests.monitoring.rows import opened

SHARED = shared()
NAMES = sorted(dashboards())


@pytest.mark.parametrize("name", NAMES)
def test_a_board_asks_for_its_data_source_and_names_each_panel_that_it_uses(name: str) -> None:
    board, own = json.loads(SHARED[name]), json.loads(dashboards()[name])
    (asked,) = board["__inputs"]
    (variable,) = (one for one in board["templating"]["list"] if one["type"] == "datasource")
    assert variable["query"] == asked["pluginId"]
    assert variable["current"]["value"] == f"${{{asked['name']}}}"
    needed = {(one["type"], one["id"]) for one in board["__requires"]}
    kinds = {panel["type"] for panel in opened(own["panels"])} - {"row"}
    assert {one for kind, one in needed if kind == "panel"} == kinds
    assert ("datasource", asked["pluginId"]) in needed
    assert ("grafana", "grafana") in needed
    assert board["id"] is None


@pytest.mark.parametrize("name", NAMES)
def test_it_is_else_the_board_of_the_repository(name: str) -> None:
    board, own = json.loads(SHARED[name]), json.loads(dashboards()[name])
    for key in ("__inputs", "__requires", "id"):
        del board[key]
    for variable in board["templating"]["list"]:
        if variable["type"] == "datasource":
            del variable["current"]
    assert board == own


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_page_with_what_publishes_its_metrics(name: str) -> None:
    page = SHARED[name.replace(".json", ".md")]
    assert json.loads(dashboards()[name])["description"] in page
    assert "The metrics come from" in page


def test_the_pictures_are_there() -> None:
    folder = Path(__file__).parents[2] / "docs" / "pictures"
    for drawn in DRAWN.values():
        assert (folder / f"{drawn}-light-1280.png").exists()
    assert PICTURES.endswith("/docs/pictures")

"""Every link that a person is sent opens on a phone: a complete address, and never a placeholder."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.goldens import FOLDER as GOLDEN

ROOT = Path(__file__).parents[1]
RULES = sorted((ROOT / "monitoring" / "prometheus").glob("*.alerts.yml"))
BOARDS = sorted((ROOT / "monitoring" / "grafana").glob("*.json"))
PLACEHOLDER = re.compile(r"TODO|CHANGEME|example\.com|\bYOUR[-_ ]|<[a-z][a-z-]+>", re.IGNORECASE)


def links_of(board: Any) -> Iterator[str]:
    """The links at any depth of a dashboard."""
    if isinstance(board, dict):
        if isinstance(board.get("url"), str):
            yield board["url"]
        for one in board.values():
            yield from links_of(one)
    elif isinstance(board, list):
        for one in board:
            yield from links_of(one)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_an_alert_of_prometheus_links_to_complete_addresses(path: Path) -> None:
    found = [
        rule["annotations"]
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
    ]
    assert found
    for notes in found:
        links = {name: text for name, text in notes.items() if name.endswith("_url")}
        assert links.keys() == {"runbook_url"}
        assert links["runbook_url"].startswith("https://")
        assert not PLACEHOLDER.search(json.dumps(notes))


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.name)
def test_a_dashboard_links_to_another_of_the_same_grafana_or_to_a_complete_address(
    path: Path,
) -> None:
    links = list(links_of(json.loads(path.read_text())))
    # Grafana puts its own address before a path that begins with /d/.
    assert all(link.startswith(("https://", "/d/burstwatch-")) for link in links)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.name)
def test_no_message_has_a_placeholder_or_a_bare_path(path: Path) -> None:
    text = path.read_text()
    assert not PLACEHOLDER.search(text)
    assert not re.search(r"(?<![\w/])(?:monitoring|docs)/\w", text)

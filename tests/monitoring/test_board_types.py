"""The dashboards are what Grafana's own schema allows, by the types of its package ``@grafana/schema``."""

import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from monitoring.dashboards.boards import dashboards

ROOT = Path(__file__).parents[2]
BOARDS = {name.removesuffix(".json"): json.loads(text) for name, text in dashboards().items()}


def planted(kind: str, *path: str | int, value: object = 1) -> dict[str, Any]:
    """A board with a value planted at a place in its first panel of a kind."""
    board: dict[str, Any] = copy.deepcopy(
        next(one for one in BOARDS.values() if any(p["type"] == kind for p in one["panels"]))
    )
    place: Any = next(panel for panel in board["panels"] if panel["type"] == kind)
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return board


PLANTED = {
    "option_of_a_stat": planted("stat", "options", "colourMode"),
    "value_of_an_option": planted("stat", "options", "colorMode", value="rainbow"),
    "field_of_a_graph": planted("timeseries", "fieldConfig", "defaults", "custom", "lineWith"),
    "option_of_a_table": planted("table", "options", "sortedBy"),
    "property_of_an_override": planted(
        "table", "fieldConfig", "overrides", 0, "properties", 0, "id", value="custom.cellOption"
    ),
    "field_of_a_query": planted("stat", "targets", 0, "metricsName"),
    "kind_of_panel": planted("stat", "type", value="statt"),
    "key_of_a_panel": planted("timeseries", "descriptoin"),
    "option_of_words": planted("text", "options", "contents"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the compiler says of each board, those that are right and those with something planted."""
    folder = tmp_path_factory.mktemp("boards")
    names = []
    for name, board in {**BOARDS, **PLANTED}.items():
        path = folder / f"{name}.ts"
        types = ROOT / "tests" / "monitoring" / "board_types.ts"
        path.write_text(
            f"import type {{ Board }} from '{types}';\nexport const board: Board = {json.dumps(board, indent=1)};\n"
        )
        names.append(path)
    options = "--noEmit --strict --skipLibCheck --target es2022 --module nodenext --allowImportingTsExtensions --pretty false"
    done = subprocess.run(
        [ROOT / "node_modules" / ".bin" / "tsc", "--ignoreConfig", *options.split(), *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        match = re.match(r"([^ (]+)\.ts\(", line)
        if match:
            found.setdefault(Path(match[1]).name, []).append(line)
    assert found or done.returncode == 0, done.stdout + done.stderr
    assert "board_types" not in found, found["board_types"]
    return found


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_is_what_grafana_allows(name: str, said: dict[str, list[str]]) -> None:
    assert said.get(name, []) == []


@pytest.mark.parametrize("name", PLANTED)
def test_what_grafana_does_not_know_is_refused(name: str, said: dict[str, list[str]]) -> None:
    assert said.get(name), name

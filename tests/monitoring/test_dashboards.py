"""Rules that every dashboard keeps, and that what is committed is what the code says."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from burstwatch.aws.client.names import alarm_name
from burstwatch.fleet.metrics import served_metrics
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.polling.bill import FLEET_METRICS, RARE_METRICS
from burstwatch.polling.cost import RESOURCE_METRICS
from burstwatch.shards import thing_id
from burstwatch_exporter.page.metrics import METRICS
from monitoring.dashboards.boards import dashboards
from monitoring.dashboards.parts import NO_BREAK
from tests.monitoring.rows import opened

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "monitoring" / "grafana"
BOARDS = {name: json.loads(text) for name, text in dashboards().items()}
#: What AWS documents, by namespace.
AWS: dict[str, set[str]] = {}
for kind in find_kinds().values():
    documented = import_module(f"tests.kinds.{kind.name}").DOCUMENTED_METRICS
    AWS[kind.namespace] = AWS.get(kind.namespace, set()) | documented
#: Published for a resource while it is warned of (see burstwatch.aws.alarms.publish).
OF_RESOURCES = {*RESOURCE_METRICS}
#: What Grafana itself fills in.
BUILT_IN = {"__rate_interval", "__range", "__value", "__all"}
EXPORTED = {metric.printed for metric in METRICS} | {
    f"{metric.name}_{part}"
    for metric in METRICS
    if metric.type == "histogram"
    for part in ("bucket", "sum", "count")
}
EXPORTED |= {metric.printed for metric in served_metrics()}


def panels(board: dict[str, Any]) -> list[Mapping[str, Any]]:
    return [panel for panel in opened(board["panels"]) if panel["type"] not in {"row", "text"}]


EVERY_PANEL = [
    pytest.param(panel, id=f"{name}: {panel['title']}")
    for name, board in BOARDS.items()
    for panel in panels(board)
]


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def used(value: object) -> set[str]:
    """Every variable that is named, except in dynamic labels of CloudWatch."""
    found: set[str] = set()
    for text in strings(value):
        plain = re.sub(r"\$\{PROP\('[^']+'\)\}", "", text)
        found |= {a or b for a, b in re.findall(r"\$(?:\{(\w+)|(\w+))", plain)}
    return found


def test_what_is_committed_is_what_the_code_says() -> None:
    assert {path.name: path.read_text() for path in FOLDER.glob("*.json")} == dashboards()


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_can_be_imported_anywhere(name: str) -> None:
    board = BOARDS[name]
    assert board["uid"] == name.removesuffix(".json")
    assert board["title"].startswith("burstwatch / ")
    assert board["description"]
    assert board["tags"] == ["burstwatch"]
    assert board["editable"] is False
    assert "id" not in board
    assert "version" not in board
    assert "__inputs" not in board
    assert board["schemaVersion"] >= 36
    assert re.fullmatch(r"now-\d+h", board["time"]["from"])
    assert any(
        link["type"] == "dashboards" and link["tags"] == ["burstwatch"] for link in board["links"]
    )


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_names_no_account_and_no_place(name: str) -> None:
    for text in strings(BOARDS[name]):
        assert not re.search(r"\b\d{12}\b", text), text
        assert not re.search(r"\b(?:us|eu|ap|sa|ca)-[a-z]+-\d\b", text), text
        assert not re.search(r"\b(?:vol|i)-[0-9a-f]{8,}", text), text


@pytest.mark.parametrize("name", BOARDS)
def test_every_variable_is_used_and_every_use_has_its_variable(name: str) -> None:
    board = BOARDS[name]
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert next(iter(variables)) == "datasource"
    assert variables["datasource"]["type"] == "datasource"
    for variable in variables.values():
        assert variable["label"]
        if variable["type"] == "query":
            assert variable["refresh"] == 2  # on a change of the time range
            assert variable["datasource"]["uid"] == "${datasource}"
    assert used(board) - BUILT_IN == variables.keys()


@pytest.mark.parametrize("name", BOARDS)
def test_panels_cover_the_grid_without_overlap(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    every = opened(BOARDS[name]["panels"])
    ids = [panel["id"] for panel in every]
    assert len(ids) == len(set(ids))
    for panel in every:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
    by_row = {y: sum(1 for _, other in taken if other == y) for _, y in taken}
    assert set(by_row.values()) == {24}, "a row is not filled"


@pytest.mark.parametrize("panel", EVERY_PANEL)
def test_a_panel_says_what_it_shows_and_asks_the_data_source_that_is_chosen(
    panel: dict[str, Any],
) -> None:
    assert panel["title"]
    assert panel["title"] == panel["title"].strip().rstrip(".")
    assert len(panel["description"]) > 20
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"]
    names = [target["refId"] for target in panel["targets"]]
    assert len(names) == len(set(names))
    for source in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
        assert source == {"type": panel["datasource"]["type"], "uid": "${datasource}"}


@pytest.mark.parametrize("panel", EVERY_PANEL)
def test_a_counter_is_rated_over_grafanas_own_interval(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        text = target.get("expr", "")
        for window in re.findall(r"(?:rate|increase|irate)\([^[]*\[([^]]+)\]", text):
            assert window == "$__rate_interval", text
        for counter in re.findall(r"\bburstwatch_\w+_total\b", text):
            assert re.search(rf"rate\({counter}\b", text), text


@pytest.mark.parametrize("panel", EVERY_PANEL)
def test_a_metric_that_is_shown_is_one_that_is_published(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        found = set(re.findall(r"\bburstwatch_\w+", target.get("expr", "")))
        assert found <= EXPORTED, found - EXPORTED
        for namespace, metric in named(target):
            if namespace == "Burstwatch":
                assert metric in {*FLEET_METRICS, *RARE_METRICS, *OF_RESOURCES}, metric
            else:
                assert metric in AWS[namespace], metric


def label_values(pages: Iterable[str]) -> dict[str, dict[str, set[str]]]:
    """What real exporters have said: the values of each label, by metric."""
    found: dict[str, dict[str, set[str]]] = {}
    for line in itertools.chain.from_iterable(page.splitlines() for page in pages):
        if sample := re.match(r"(burstwatch_\w+)\{(.*)\} ", line):
            for label, value in re.findall(r'(\w+)="([^"]*)"', sample[2]):
                found.setdefault(sample[1], {}).setdefault(label, set()).add(value)
    return found


TESTS = Path(__file__).parents[1]
PAGES = [*(TESTS / "exporter" / "trees").glob("*.prom"), TESTS / "fleet" / "page.prom"]
SAID = label_values(page.read_text() for page in PAGES)


@pytest.mark.parametrize("panel", EVERY_PANEL)
def test_a_bound_or_bucket_that_is_shown_is_one_that_the_exporter_says(
    panel: dict[str, Any],
) -> None:
    for target in panel["targets"]:
        for metric, matchers in re.findall(
            r"\b(burstwatch_\w+)\{([^}]*)\}", target.get("expr", "")
        ):
            for label, value in re.findall(r'(\w+)="([^"$]+)"', matchers):
                if label in {"bound", "bucket", "type_source"}:
                    assert value in SAID[metric][label], f"{metric}{{{label}={value!r}}}"


def named(target: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Namespace and name of every metric that a CloudWatch query reads."""
    if target.get("metricName"):
        yield target["namespace"], target["metricName"]
    for schema, metric in re.findall(
        r"\{([^,}]+)[^}]*\} MetricName=\"([^\"]+)\"", target.get("expression", "")
    ):
        yield schema, metric
    for metric, schema in re.findall(
        r"\w+\((\w+)\) FROM SCHEMA\((\w+)", target.get("sqlExpression", "")
    ):
        yield schema, metric


@pytest.mark.parametrize("panel", EVERY_PANEL)
def test_an_override_is_of_a_series_that_the_panel_has(panel: dict[str, Any]) -> None:
    shown = {target.get("label") or target.get("legendFormat", "") for target in panel["targets"]}
    for step in panel.get("transformations", []):
        shown |= set(step["options"].get("renameByName", {}).values())
    for override in panel["fieldConfig"]["overrides"]:
        matcher = override["matcher"]
        if matcher["id"] == "byRegexp":
            pattern = matcher["options"].strip("/")
            assert any(re.search(pattern, text) for text in shown), pattern
        else:
            assert matcher["options"] in shown, matcher


def units_of(table: dict[str, Any]) -> dict[str, str]:
    return {
        override["matcher"]["options"]: part["value"]
        for override in table["fieldConfig"]["overrides"]
        for part in override["properties"]
        if part["id"] == "unit"
    }


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(panel, id=f"{name}: {panel['title']}")
        for name, board in BOARDS.items()
        for panel in panels(board)
        if panel["type"] == "table"
    ],
)
def test_a_name_or_an_account_in_a_table_is_a_text(table: dict[str, Any]) -> None:
    (organized,) = (t for t in table["transformations"] if t["id"] == "organize")
    renamed = organized["options"]["renameByName"]
    texts = {name for key, name in renamed.items() if not re.match(r"Value #|Last\b", key)}
    assert texts
    assert {units_of(table).get(name) for name in texts} == {"string"}


def test_the_board_of_resources_asks_aws_for_the_thing_that_has_the_credits() -> None:
    (variable,) = (
        one
        for one in BOARDS["burstwatch-resource.json"]["templating"]["list"]
        if one["name"] == "thing"
    )
    pattern = re.compile(variable["regex"].strip("/"))
    # A node of a cache is named after its cluster, in which CloudWatch has its nodes.
    ids = {"i-0123456789abcdef0.cpu", "sessions.0001", "orders.ebs", "fs-0123456789abcdef0.hdd"}
    found = {match[1] for one in ids if (match := pattern.search(one))}
    assert found == {thing_id(one) for one in ids}
    assert found == {"i-0123456789abcdef0", "sessions", "orders", "fs-0123456789abcdef0"}


def test_what_provisions_them_is_of_the_kinds_that_they_ask() -> None:
    folder = FOLDER / "provisioning"
    sources = yaml.safe_load((folder / "datasources" / "burstwatch.yml").read_text())
    kinds = {panel["datasource"]["type"] for board in BOARDS.values() for panel in panels(board)}
    assert {source["type"] for source in sources["datasources"]} == kinds
    (provider,) = yaml.safe_load((folder / "dashboards" / "burstwatch.yml").read_text())[
        "providers"
    ]
    assert provider["type"] == "file"
    assert provider["options"]["path"]


def _empty_states() -> dict[tuple[str, str], tuple[str, str]]:
    """What each number says without data, and in which colour."""
    found = {}
    for board in BOARDS.values():
        for panel in panels(board):
            if panel["type"] == "stat":
                (one,) = [
                    m
                    for m in panel["fieldConfig"]["defaults"]["mappings"]
                    if m["type"] == "special"
                ]
                assert one["options"]["match"] == "null+nan"
                said = one["options"]["result"]
                found[board["uid"], panel["title"]] = (
                    said["text"].replace(NO_BREAK, " "),
                    said["color"],
                )
    return found


def test_a_number_without_data_is_red_or_orange_only_where_nobody_looks() -> None:
    states = _empty_states()
    assert states["burstwatch-fleet", "Sweeps in 5 min"] == ("no sweep", "dark-red")
    assert states["burstwatch-host", "Exporter up"] == ("not scraped", "dark-red")
    always_published = {
        "Exhausted",
        "Paging",
        "Warnings",
        "Unknown",
        "Out within 1 h",
    }
    for (_, title), (text, color) in states.items():
        if title in always_published:
            assert (text, color) == ("no data", "super-light-orange")
        elif color != "dark-red":
            assert color == "transparent", title
    assert "green" not in {color for _, color in states.values()}


def unit_of(panel: Mapping[str, Any], line: str) -> str:
    """The unit of a line, by the overrides whose pattern its name fits."""
    unit = str(panel["fieldConfig"]["defaults"]["unit"])
    for override in panel["fieldConfig"]["overrides"]:
        if re.search(override["matcher"]["options"].strip("/"), line):
            units = [entry["value"] for entry in override["properties"] if entry["id"] == "unit"]
            unit = units[-1] if units else unit
    return unit


@pytest.mark.parametrize("kind", find_kinds().values(), ids=lambda kind: kind.name)
def test_each_metric_of_a_kind_has_its_unit_on_the_board_of_resources(kind: Kind) -> None:
    by_title = {panel["title"]: panel for panel in panels(BOARDS["burstwatch-resource.json"])}
    for name in kind.level_metrics:
        amount = "bytes" if name == "BurstCreditBalance" else "short"  # CPU credits
        for line in (name, f"{name} 0001"):
            expected = "percent" if kind.is_percent else amount
            assert unit_of(by_title["Credits"], line) == expected, line
    for metric in kind.demand_metrics:
        is_moved = re.search("Bytes|Throughput", metric.name)
        is_counted = re.search("Ops|Operations|IOPS", metric.name)
        expected = "binBps" if is_moved else "iops" if is_counted else "short"
        assert unit_of(by_title["Load"], metric.name) == expected, metric.name


def test_the_link_to_the_alarms_finds_those_of_every_form() -> None:
    board = json.loads((FOLDER / "burstwatch-fleet.json").read_text())
    (url,) = (one["url"] for one in board["links"] if "alarmsV2" in one.get("url", ""))
    searched = url.partition("search~'")[2].rstrip(")").replace("${deployment}", "prod")
    names = [
        alarm_name("db", "vol-1", "critical", deployment="prod"),
        alarm_name("db", "vol-1", "critical", deployment="prod", foreign="222222222222.eu-west-1"),
        "burstwatch/prod/db/vol-1/critical",
    ]
    assert all(searched in name for name in names), searched

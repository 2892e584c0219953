"""The dashboards as Grafana's own components draw them, in a browser: full, with one value, and with nothing."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from burstwatch.cli.main import run
from burstwatch.fleet.site import FleetSite
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.measure.picture import page as record_page
from burstwatch_exporter.measure.record import read_result
from burstwatch_exporter.page.landing import landing
from demo.page import report
from tests.aws.sweeping import Disk
from tests.conftest import NOW, fake_cloud, find_program
from tests.exporter.pages import MEASURED, TREES
from tests.fake.herd import Herd
from tests.fleet.fleets import fleet_of
from tests.look.boards import BUNDLE
from tests.look.browser import Seen, look_at
from tests.look.frames import Field, Frame, Span, series
from tests.look.page import Wish, look
from tests.monitoring.played import board, looked_at, play
from tests.monitoring.playing import LIVE_AT, playing
from tests.monitoring.rows import opened

pytestmark = pytest.mark.real
ROOT = Path(__file__).parents[2]
#: Every board that there is.
NAMES = tuple(
    sorted(
        path.stem.removeprefix("burstwatch-")
        for path in (ROOT / "monitoring" / "grafana").glob("burstwatch-*.json")
    )
)
#: The boards of a whole fleet.
FLEETS = ("fleet", "fleet-prometheus")
#: What a source may give where it has nothing: no frame, frames without rows, or nulls.
EMPTY = ("none", "rows", "nulls")
#: The widest text of each label of a table. No digit of an id is as wide as 4 in the font of Grafana.
WIDEST = {
    "volume_id": f"vol-{'4' * 17}",
    "account_id": "004444444444",
    "region": "ap-southeast-4",
    "name": "007",
    "resource_id": f"vol-{'4' * 17}",
    "instance": "10.244.244.244:9101",
    "device": "nvme44n1",
    "bucket": "throughput",
    "profile": "dd-drain-raid0",
    "step": "write512",
}
#: How many resources a large fleet has in danger, a quarter of each verdict; and how many of them a query asks for.
MANY, LIMITED = 300, re.compile(r"LIMIT (\d+)|(?:bottomk|topk)\((\d+)|(?:ASC|DESC), (\d+)\)")
#: Grafana's named colours as it writes them.
HEX = {
    ("light", "dark-red"): "#AD0317", ("dark", "dark-red"): "#C4162A",
    ("light", "super-light-orange"): "#FFB357", ("dark", "super-light-orange"): "#FFCB7D",
    ("light", "transparent"): "none", ("dark", "transparent"): "none",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """A source whose every query gives the same: nothing of one sort, one value of what ``labels`` name, or one of each of ``MANY``."""

    gives: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def query(
        self, targets: Sequence[Mapping[str, Any]], variables: Mapping[str, str], span: Span
    ) -> list[Frame]:
        del variables
        shown = [target for target in targets if not target.get("hide")]
        tables = sum(target.get("format") == "table" for target in targets)
        if self.gives == "many":
            return [frame for one in shown for frame in self._many(one, span, is_alone=tables == 1)]
        return [frame for one in shown for frame in self._frames(one, span, is_alone=tables == 1)]

    def values(
        self, query: Mapping[str, Any], variables: Mapping[str, str], span: Span
    ) -> list[str]:
        del variables, span
        if str(query.get("query", "")).startswith("query_result"):
            return ['{device="one"} 1 1000']
        return ["us-east-1"] if query.get("queryType") == "regions" else ["one"]

    def _many(self, target: Mapping[str, Any], span: Span, *, is_alone: bool) -> list[Frame]:
        """As many of the worst as the query asks for, each a row of the table or a line of its own."""
        query = str(target.get("expr") or target.get("sqlExpression") or target.get("expression"))
        limit = LIMITED.search(query)
        if limit is None and not query.startswith(("SEARCH", "count by")):
            return self._frames(target, span, is_alone=is_alone)
        numbers = range(min(MANY, int(next(filter(None, limit.groups()))) if limit else MANY))
        ids = [f"vol-{number:017x}" for number in numbers]
        are_verdicts = '"Severity"' in query or query.startswith("(4 *")
        values: list[float | None] = [
            4.0 - number // (MANY / 4) if are_verdicts else 60.0 * number for number in numbers
        ]
        if "balance" in query:
            values = [number / MANY for number in numbers]
        if query.endswith("/ 60"):
            values = [float(number) for number in numbers]  # minutes
        name = target["refId"]
        if target.get("format") == "table":
            grouped = re.findall(r"by \(([^)]+)\)", query)[0].split(", ")
            labels = [
                Field(
                    name=label,
                    type="string",
                    values=ids
                    if label == "resource_id"
                    else [self.labels.get(label, "one")] * len(ids),
                )
                for label in grouped
            ]
            last = Field(
                name="Value" if is_alone else f"Value #{name}", type="number", values=values
            )
            times = Field(name="Time", type="time", values=[span.end_s - 60] * len(ids))
            return [Frame(query=name, fields=[times, *labels, last])]
        return [
            Frame(query=name, name=one, fields=[time, _with(value, [given])])
            for one, given in zip(ids, values, strict=True)
            for time, value in [series(name, one, [(span.end_s - 60, 1.0)]).fields]
        ]

    def _frames(self, target: Mapping[str, Any], span: Span, *, is_alone: bool) -> list[Frame]:
        name = target["refId"]
        is_prometheus = "expr" in target
        if self.gives == "none":
            return [Frame(query=name)] if is_prometheus else []
        times = [] if self.gives == "rows" else [span.end_s - 60]
        only = {"nulls": None, "zero": 0.0}.get(self.gives, 1.0)
        values = [] if self.gives == "rows" else [only]
        if target.get("format") != "table":
            label = target.get("label") or target.get("legendFormat")
            label = label or self.labels.get("volume_id", name)
            label = re.sub(r"\{\{\w+\}\}", "nvme1n1", label)
            first = series(name, label, [(at, 1.0) for at in times])
            time, value = first.fields
            return [Frame(query=name, name=label, fields=[time, _with(value, values)])]
        (grouped,) = set(re.findall(r"by \(([^)]+)\)", target["expr"]))
        labels = [
            Field(name=label, type="string", values=[self.labels.get(label, "one")] * len(times))
            for label in grouped.split(", ")
        ]
        heading = "Value" if is_alone else f"Value #{name}"
        last = Field(name=heading, type="number", values=values)
        return [Frame(query=name, fields=[Field(name="Time", type="time", values=times), *labels, last])]  # fmt: skip


def _with(column: Field, values: list[float | None]) -> Field:
    return Field(
        name=column.name, type=column.type, values=values, labels=column.labels, shown_as=column.shown_as
    )  # fmt: skip


def drawn(name: str, gives: str, *, changed: Mapping[str, Any] | None = None) -> str:
    span = Span(start_s=NOW - 3_600, end_s=NOW)
    wish = Wish(span=span, now_s=NOW, chosen={})
    source = Scripted(gives=gives, labels=WIDEST if gives in {"widest", "many"} else {})
    return look(changed or board(f"burstwatch-{name}"), source, wish)[0]


def broken(what: str) -> dict[str, Any]:
    """A dashboard with something in it that Grafana does not know."""
    changed = board("burstwatch-volume" if what == "axis" else "burstwatch-fleet")
    panel: dict[str, Any] = next((one for one in changed["panels"] if one["type"] == "table"), {})
    if what == "unit":
        panel["fieldConfig"]["defaults"]["unit"] = "parsecs"
    elif what == "kind":
        panel["type"] = "rainbow"
    elif what == "axis":
        graphs = [one for one in changed["panels"] if one["type"] == "timeseries"]
        left = next(
            one for one in graphs if "scaleDistribution" in one["fieldConfig"]["defaults"]["custom"]
        )
        left["fieldConfig"]["defaults"]["custom"]["scaleDistribution"]["type"] = "log"
    elif what == "transformation":
        panel["transformations"] = [{"id": "pivot", "options": {}}]
    else:
        panel["title"] = "A title that is too long for its panel " * 12
    return changed


def shown_color(color: str) -> str:
    """A colour as Grafana wrote it; of one without opacity nothing is seen."""
    is_clear = re.fullmatch(r"#[0-9a-f]{6}00|rgba\(.*, ?0\)", color, flags=re.IGNORECASE)
    return "none" if is_clear else color.upper()


def unwell() -> str:
    """The exporter's page of a host without volumes, which has something to say."""
    return landing(
        Snapshot(at=0.0, views=(), stacked=(), mounts=()),
        problems=["nvme: /dev/nvme1: permission denied: run burstwatch-nvme-helper as root (docs/exporter.md)"],
        hints=["no EBS volume is attached to this host: " + "a word and another, " * 12],
    )  # fmt: skip


def explained() -> str:
    """The example that ships with ``burstwatch explain``."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "page.html"
        arguments = ["explain", "--example", "--html", str(target)]
        assert run(arguments, stdout=StringIO(), stderr=StringIO(), env={}, clock=lambda: NOW) == 0
        return target.read_text()


def advised() -> str:
    """The advice for the example."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "page.html"
        arguments = ["advise", "--example", "--html", str(target)]
        assert run(arguments, stdout=StringIO(), stderr=StringIO(), env={}, clock=lambda: NOW) == 0
        return target.read_text()


def served() -> str:
    """The page of a fleet: one volume drains, and another cannot be judged."""
    with fake_cloud() as cloud:
        cloud.aws.add_herd(Herd(6, NOW))
        disk = Disk(cloud, percent=40.0)
        for _ in range(15):
            disk.minute(iops=3_000)
        fleet = fleet_of(cloud)
        fleet.poll()
        site = FleetSite(CollectorRegistry(), fleet.readings, clock=cloud.clock)
        return site.landing()


def measured() -> str:
    return record_page(read_result(max(MEASURED.glob("*.json"))))


#: Pages that are not dashboards.
PAGES: Mapping[str, Callable[[], str]] = {
    "report": lambda: report(*playing(), now_s=LIVE_AT + 480),
    "explain": explained,
    "advise": advised,
    "serve": served,
    "measured": measured,
    "exporter": (TREES / "nitro.html").read_text,
    "unwell": unwell,
}

#: A page by its name, and what must be said of it; nothing for one that is well.
PLANTED = {
    "well": ("<p>words</p>", ""),
    "wide": ('<p style="white-space:nowrap">' + "wide " * 600 + "</p>", "px wide"),
    "tall": ('<div style="height:10px"><p>tall</p><p>tall</p></div>', "leaves its panel"),
    "faint": ('<p style="color:#777;background:#888">faint</p>', "contrast"),
    "cut": ('<p style="width:20px;overflow:hidden;white-space:nowrap">cut off</p>', "is cut"),
    "broken": (
        '<p style="width:20px;overflow-wrap:anywhere">stops</p>',
        '"stops" is broken over two lines',
    ),
    "failed": ('<p class="error">it failed</p>', "it failed"),
    "lineless": ("<canvas></canvas>", "draws no line"),
    "lost": (
        '<div class="uplot" data-lost="likely"><canvas></canvas></div>',
        "likely has values and no line",
    ),
    "empty": ("", "is empty"),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Every page, looked at in one browser."""
    find_program("chromium")
    bundled = list(BUNDLE.glob("look.*"))
    if not bundled:
        pytest.fail("the bundle is not built: make .cache/grafana/look.js")
    folder = tmp_path_factory.mktemp("pages")
    for path in bundled:
        shutil.copy(path, folder)
    texts = {
        f"{name}-{gives}": drawn(name, gives)
        for name in NAMES
        for gives in (*EMPTY, "one", "zero", "widest")
    }
    texts |= {f"{name}-many": drawn(name, "many") for name in FLEETS}
    with fake_cloud() as cloud:
        _, draining = play(cloud)
        chosen = {"volume": draining.id, "instance": draining.instance_id}
        texts["fleet-full"], _ = looked_at(cloud, "burstwatch-fleet")
        texts["volume-full"], _ = looked_at(cloud, "burstwatch-volume", **chosen)
        texts["resource-full"], _ = looked_at(
            cloud, "burstwatch-resource", resource="i-0aaaaaaaaaaaaaa77.cpu"
        )
    texts |= {name: draw() for name, draw in PAGES.items()}
    for what in ("unit", "kind", "transformation", "title", "axis"):
        gives = "zero" if what == "axis" else "one"
        texts[f"broken-{what}"] = drawn(
            "volume" if what == "axis" else "fleet", gives, changed=broken(what)
        )
    for name, (inside, _) in PLANTED.items():
        texts[name] = (
            '<!doctype html><html lang="en"><title>a page</title><style>section{height:60px}</style>'
            f'<main><section data-panel="A panel" data-values="3"><h3>A panel</h3>{inside}</section></main>'
        )
    pages = {name: folder / f"{name}.html" for name in texts}
    for name, text in texts.items():
        pages[name].write_text(text)
    every_size = {*PLANTED, *PAGES}
    once = {
        name for name in pages if not name.endswith(("-none", "-one", "-widest", "-many", "-full"))
    }
    return look_at(
        pages,
        empty={name for name in pages if name.endswith(EMPTY)},
        once=once - every_size,
    )


#: A host and a fleet of Prometheus are not played; tests/fleet/test_fleet_board.py draws that.
DRAWN = [
    (name, gives)
    for name in NAMES
    for gives in ("none", "rows", "nulls", "zero", "one", "widest", "full")
    if (name, gives) not in {("host", "full"), ("fleet-prometheus", "full")}
] + [(name, "many") for name in FLEETS]


@pytest.mark.parametrize(("name", "gives"), DRAWN)
def test_a_dashboard_fits_and_can_be_read_in_light_and_dark_on_a_phone_and_on_a_desk(
    name: str, gives: str, seen: Seen
) -> None:
    assert [one for one in seen.wrong if one.startswith(f"{name}-{gives} ")] == []
    assert any(one["page"] == f"{name}-{gives}" for one in seen.panels)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_can_be_read_in_light_and_dark_on_a_phone_and_on_a_desk(
    name: str, seen: Seen
) -> None:
    assert [one for one in seen.wrong if one.startswith(f"{name} ")] == []


@pytest.mark.parametrize("gives", EMPTY)
@pytest.mark.parametrize("name", NAMES)
def test_a_number_without_data_says_so_in_the_colour_of_what_that_means(
    name: str, gives: str, seen: Seen
) -> None:
    stats = {
        one["title"]: one for one in board(f"burstwatch-{name}")["panels"] if one["type"] == "stat"
    }
    shown = [
        one
        for one in seen.panels
        if one["page"] == f"{name}-{gives}" and one["panel"] in stats and one["numbers"]
    ]
    assert {one["panel"] for one in shown} == stats.keys()
    for one in shown:
        mappings = stats[one["panel"]]["fieldConfig"]["defaults"]["mappings"]
        (nothing,) = (each["options"]["result"] for each in mappings if each["type"] == "special")
        (number,) = one["numbers"]
        assert number["text"] == nothing["text"], one
        assert shown_color(number["color"]) == HEX[one["theme"], nothing["color"]], one


def test_a_fleet_shows_the_worst_in_one_table_and_leads_to_it(seen: Seen) -> None:
    table = next(
        one
        for one in seen.panels
        if one["page"] == "fleet-full" and one["panel"] == "In danger" and one["width"] == 1280
    )
    heads, *rows = table["rows"]
    assert heads == ["verdict", "time left", "resource"]
    by_resource = {resource: (verdict, left) for verdict, left, resource in rows}
    (volume,) = (resource for resource in by_resource if resource.startswith("vol-"))
    assert "i-0aaaaaaaaaaaaaa77.cpu" in by_resource
    for verdict, left in by_resource.values():
        assert verdict in {"warning", "critical", "exhausted"}
        assert re.fullmatch(r"\d+\.\d mins", left)
    assert volume.startswith("vol-0")
    assert any("resource-critical.md" in link for link in table["links"] if link)
    # A cell with several links opens a menu of them.
    (panel,) = (one for one in board("burstwatch-fleet")["panels"] if one["title"] == "In danger")
    (resource,) = (
        one["properties"]
        for one in panel["fieldConfig"]["overrides"]
        if one["matcher"]["options"] == "resource"
    )
    (menu,) = (one["value"] for one in resource if one["id"] == "links")
    assert [link["url"].partition("?")[0] for link in menu] == [
        "/d/burstwatch-resource",
        "/d/burstwatch-volume",
    ]
    assert all("${__value.text}" in link["url"] for link in menu)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("unit", "Grafana has no unit parsecs"),
        ("kind", "a panel of the kind rainbow is not drawn here"),
        ("transformation", "Grafana has no transformation pivot"),
        ("title", "is cut"),
        ("axis", "has values and no line"),
    ],
)
def test_what_grafana_does_not_know_is_named_and_hides_no_other_panel(
    what: str, said: str, seen: Seen
) -> None:
    mine = [one for one in seen.wrong if one.startswith(f"broken-{what} ")]
    assert mine
    assert all(said in one for one in mine), mine
    panels = [one for one in seen.panels if one["page"] == f"broken-{what}"]
    assert len(panels) == sum(one["type"] != "row" for one in opened(broken(what)["panels"]))


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_wrong_with_a_page_is_said_in_light_and_dark_and_of_nothing_else(
    name: str, seen: Seen
) -> None:
    _, named = PLANTED[name]
    mine = [one for one in seen.wrong if one.startswith(f"{name} (")]
    if not named:
        assert mine == []
    for theme in ("light", "dark") if named else ():
        assert any(named in one for one in mine if f"({theme}, 1280 px)" in one), mine


def test_a_value_that_json_lacks_reaches_grafana() -> None:
    frame = series("A", "left", [(1.0, float("inf")), (2.0, float("nan")), (3.0, 5.0)])
    data = json.loads(json.dumps(frame.as_json(), allow_nan=False))["data"]
    assert data["values"] == [[1000.0, 2000.0, 3000.0], [None, None, 5.0]]
    assert data["entities"] == [None, {"NaN": [1], "Inf": [0], "NegInf": []}]


@pytest.mark.parametrize("name", ["fleet", "host"])
def test_a_cell_without_a_value_has_no_colour_of_a_threshold(name: str) -> None:
    tables = [one for one in board(f"burstwatch-{name}")["panels"] if one["type"] == "table"]
    columns = [
        {each["id"]: each["value"] for each in override["properties"]}
        for table in tables
        for override in table["fieldConfig"]["overrides"]
    ]
    coloured = [one for one in columns if "custom.cellOptions" in one]
    assert coloured
    for one in coloured:
        (nothing,) = [each for each in one["mappings"] if each["type"] == "special" and "null" in each["options"]["match"]]  # fmt: skip
        assert nothing["options"]["result"]["color"] == "transparent"

"""The dashboards as grafana.com takes them: with inputs for their data sources, what they need, and a page each."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from monitoring.dashboards.boards import dashboards

#: Grafana's names of plugins.
NAMES = {
    "cloudwatch": "CloudWatch", "prometheus": "Prometheus", "stat": "Stat", "table": "Table",
    "text": "Text", "timeseries": "Time series",
}  # fmt: skip
#: The oldest Grafana whose documentation has all that the boards use.
GRAFANA = "10.0.0"
PICTURES = "https://raw.githubusercontent.com/burstwatch/burstwatch/main/docs/pictures"
#: Boards of which there is a picture.
DRAWN = {"burstwatch-fleet": "fleet", "burstwatch-volume": "volume"}
#: What publishes the metrics of a board, and the page that says how.
PUBLISHERS = {
    "burstwatch-fleet": ("the deployed function", "installing.md"),
    "burstwatch-volume": ("the deployed function", "installing.md"),
    "burstwatch-resource": ("the deployed function", "installing.md"),
    "burstwatch-fleet-prometheus": ("`burstwatch serve`", "serving.md"),
    "burstwatch-host": ("`burstwatch-exporter`", "exporter.md"),
}
DOCS = "https://github.com/burstwatch/burstwatch/blob/main/docs"


def shared() -> Mapping[str, str]:
    """Each file by its name: a dashboard, and its page."""
    found: dict[str, str] = {}
    for name, text in dashboards().items():
        board: dict[str, Any] = json.loads(text)
        found[name] = json.dumps(_with_inputs(board), indent=2, sort_keys=True) + "\n"
        found[name.replace(".json", ".md")] = _page(board)
    return found


def _with_inputs(board: dict[str, Any]) -> dict[str, Any]:
    """As Grafana's *Export for sharing externally* writes it: the import asks for each data source."""
    (variable,) = (one for one in board["templating"]["list"] if one["type"] == "datasource")
    plugin = variable["query"]
    name = f"DS_{plugin.upper()}"
    variable["current"] = {"selected": False, "text": NAMES[plugin], "value": f"${{{name}}}"}
    asked = {"name": name, "label": NAMES[plugin], "type": "datasource", "pluginId": plugin, "pluginName": NAMES[plugin], "description": ""}  # fmt: skip
    panels = sorted({panel["type"] for panel in _every(board["panels"])} - {"row"})
    needed = [{"type": "grafana", "id": "grafana", "name": "Grafana", "version": GRAFANA}]
    needed += [{"type": "datasource", "id": plugin, "name": NAMES[plugin], "version": "1.0.0"}]
    needed += [{"type": "panel", "id": one, "name": NAMES[one], "version": ""} for one in panels]
    return {**board, "id": None, "__inputs": [asked], "__requires": needed}


def _every(panels: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for panel in panels:
        yield panel
        yield from panel.get("panels") or ()


def _page(board: dict[str, Any]) -> str:
    """What grafana.com shows of a dashboard."""
    publisher, page = PUBLISHERS[board["uid"]]
    rows = [panel["title"] for panel in board["panels"] if panel["type"] == "row"]
    drawn = DRAWN.get(board["uid"])
    picture = f"\n![{board['title']}]({PICTURES}/{drawn}-light-1280.png)\n" if drawn else ""
    return (
        f"# {board['title']}\n\n{board['description']}\n{picture}\nRows: {', '.join(rows)}.\n\n"
        f"The metrics come from {publisher}: [set it up]({DOCS}/{page}). "
        f"The other dashboards, rules and runbooks: [dashboards and rules]({DOCS}/monitoring.md).\n"
    )

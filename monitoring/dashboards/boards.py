"""All dashboards by the names of their files."""

import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from monitoring.dashboards import fleet, fleet_prometheus, host, resource, volume


def dashboards() -> Mapping[str, str]:
    """The text of each file, as it is committed."""
    return {
        f"{board['uid']}.json": json.dumps(board, indent=2, sort_keys=True) + "\n"
        for board in map(_plain, (fleet, fleet_prometheus, volume, resource, host))
    }


def _plain(module: ModuleType) -> dict[str, Any]:
    """As Grafana saves it: without what the SDK writes and Grafana does not know, or knows in another place."""
    plain: dict[str, Any] = json.loads(json.dumps(module.build(), cls=JSONEncoder))
    plain["annotations"] = {"list": list(module.ANNOTATIONS)}
    for link in plain["links"]:
        del link["placement"]  # a menu, where nobody sees it
    for variable in plain["templating"]["list"]:
        for name in ("auto", "auto_count", "auto_min"):  # of a variable with intervals
            variable.pop(name, None)
    for row in plain["panels"]:
        for panel in (row, *(row.get("panels") or ())):
            panel.get("options", {}).pop("footer", None)
    return plain

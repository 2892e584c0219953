"""All dashboards by the names of their files."""

import json
from collections.abc import Mapping
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as dm

from monitoring.dashboards import fleet, host, volume


def dashboards() -> Mapping[str, str]:
    """The text of each file, as it is committed."""
    return {
        f"{board.uid}.json": json.dumps(_plain(board), indent=2, sort_keys=True) + "\n"
        for board in (module.build() for module in (fleet, volume, host))
    }


def _plain(board: dm.Dashboard) -> dict[str, Any]:
    """As Grafana saves it; the SDK puts every link into a menu, where nobody sees it."""
    plain: dict[str, Any] = json.loads(json.dumps(board, cls=JSONEncoder))
    for link in plain["links"]:
        del link["placement"]
    return plain

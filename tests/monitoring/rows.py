"""Dashboards with their closed rows opened, as somebody sees them who opens all."""

from collections.abc import Mapping, Sequence
from typing import Any


def opened(panels: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The panels of a board with every closed row open; what is below one moves down."""
    shown: list[Mapping[str, Any]] = []
    down = 0
    for panel in panels:
        inside = [{**one, "gridPos": _moved(one, down)} for one in panel.get("panels") or ()]
        shown += [{**panel, "gridPos": _moved(panel, down), "panels": []}, *inside]
        ends = [one["gridPos"]["y"] + one["gridPos"]["h"] for one in inside]
        down += max(ends) - (panel["gridPos"]["y"] + down + 1) if ends else 0
    return shown


def _moved(panel: Mapping[str, Any], down: int) -> dict[str, int]:
    place = panel["gridPos"]
    return {**place, "y": place["y"] + down}

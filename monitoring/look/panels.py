"""Each kind of panel as HTML, as its JSON says: units, colours, thresholds, overrides."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from monitoring.look.charts import Curve, chart, legend
from monitoring.look.frames import Cell, Frames, Line, LookError, Span, Table
from monitoring.look.style import PALETTE, color
from monitoring.look.transform import REDUCERS, in_order, transformed
from monitoring.look.units import written

#: A row of the grid with its gap, what a table needs above and below its rows, and a row of it.
GRID_ROW_PX, TABLE_HEAD_PX, TABLE_ROW_PX = 38, 90, 25


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A panel's inside, and of how many values it is made."""

    html: str
    values: int


def draw(
    panel: Mapping[str, Any], frames: Sequence[Frames], span: Span, *,
    now_s: float, link: Callable[[str, str], str],
) -> Drawn:  # fmt: skip
    """A panel with what its queries gave. ``link`` makes an address of a data link and a cell's text.

    Raises:
        LookError: for a kind of panel that is not known here.
    """
    kinds: dict[str, Callable[[], Drawn]] = {
        "stat": lambda: _number(panel, _lines(frames)),
        "timeseries": lambda: _graph(panel, _lines(frames), span, now_s),
        "table": lambda: _table(panel, transformed(frames, panel["transformations"]), link),
    }
    if panel["type"] not in kinds:
        msg = f"a panel of the kind {panel['type']} is not known here"
        raise LookError(msg)
    return kinds[panel["type"]]()


def _lines(frames: Sequence[Frames]) -> list[Line]:
    return [line for frame in frames if not isinstance(frame, Table) for line in frame]


def _number(panel: Mapping[str, Any], lines: Sequence[Line]) -> Drawn:
    defaults = panel["fieldConfig"]["defaults"]
    (calculation,) = panel["options"]["reduceOptions"]["calcs"]
    values = [value for line in lines for _, value in line.points]
    if not values:
        (nothing,) = (one for one in defaults["mappings"] if one["type"] == "special")
        said = nothing["options"]["result"]
        html = f'<div class="number words" style="color:{color(said["color"])}">{escape(said["text"])}</div>'
        return Drawn(html=html, values=0)
    value = REDUCERS[calculation][1]([value for _, value in lines[-1].points] or values)
    text, name = written(value, defaults["unit"], _decimals(defaults)), step_color(defaults, value)
    for mapping in defaults["mappings"]:
        said = mapping["options"].get(f"{value:g}")
        if said:
            text, name = said["text"], said["color"]
    html = f'<div class="number" style="color:{color(name)}">{escape(text)}</div>'
    return Drawn(html=html, values=len(values))


def _graph(panel: Mapping[str, Any], lines: Sequence[Line], span: Span, now_s: float) -> Drawn:
    defaults = panel["fieldConfig"]["defaults"]
    curves = _curves(panel, [line for line in lines if line.points])
    shown = [value for curve in curves for _, value in curve.points]
    if not shown:
        return Drawn(html='<div class="none">no data in this range</div>', values=0)
    low, high = defaults.get("min"), defaults.get("max")
    low = min(shown) if low is None else low
    high = max(shown) * 1.05 if high is None else high
    if high <= low:
        high = low + 1
    drawn_steps = defaults["custom"].get("thresholdsStyle", {}).get("mode", "off") != "off"
    steps = [
        (step["value"], step["color"])
        for step in defaults["thresholds"]["steps"]
        if step["value"] is not None
    ]
    picture = chart(
        curves, span, unit=defaults["unit"], bounds=(low, high),
        steps=steps if drawn_steps else (), now_s=now_s, columns=panel["gridPos"]["w"],
    )  # fmt: skip
    return Drawn(html=picture + legend(curves, columns=panel["gridPos"]["w"]), values=len(shown))


def _curves(panel: Mapping[str, Any], lines: Sequence[Line]) -> list[Curve]:
    by_name = {line.name: line for line in lines}
    stacking = panel["fieldConfig"]["defaults"]["custom"].get("stacking", {})
    is_stacked = stacking.get("mode", "none") == "normal"
    curves: list[Curve] = []
    below: dict[float, float] = {}
    for number, line in enumerate(lines):
        look = _overrides(panel, line.name)
        points = list(line.points)
        if is_stacked:
            points = [(at, value + below.get(at, 0.0)) for at, value in points]
            below.update(points)
        down_to = by_name.get(look.get("custom.fillBelowTo", ""))
        curves.append(
            Curve(
                name=line.name,
                points=points,
                color=look.get("color", {}).get("fixedColor", PALETTE[number % len(PALETTE)]),
                dashed=look.get("custom.lineStyle", {}).get("fill") == "dash",
                down_to=down_to.points if down_to is not None else (),
                is_hidden=look.get("custom.lineWidth") == 0,
                is_stacked=is_stacked,
            )
        )
    return list(reversed(curves)) if is_stacked else curves


def _table(panel: Mapping[str, Any], table: Table, link: Callable[[str, str], str]) -> Drawn:
    defaults = panel["fieldConfig"]["defaults"]
    table = in_order(table, panel["options"]["sortBy"])
    fitting = int((panel["gridPos"]["h"] * GRID_ROW_PX - TABLE_HEAD_PX) / TABLE_ROW_PX)
    looks = [_overrides(panel, name) for name in table.columns]
    numeric = [
        any(isinstance(row[i], float) for row in table.rows) for i in range(len(table.columns))
    ]
    head = "".join(
        f"<th{' class=n' if is_number else ''}>{escape(name)}</th>"
        for name, is_number in zip(table.columns, numeric, strict=True)
    )

    def cell(value: Cell, look: Mapping[str, Any], *, is_number: bool) -> str:
        if not isinstance(value, float):
            text = escape(value or "-")
            if value and "links" in look:
                text = f'<a href="{escape(link(look["links"][0]["url"], value))}">{text}</a>'
            return f"<td{' class=n' if is_number else ''}>{text}</td>"
        text = escape(written(value, look.get("unit", defaults["unit"]), _decimals(defaults)))
        if look.get("custom.cellOptions", {}).get("type") == "color-text":
            return f'<td class="n" style="color:{color(step_color(defaults, value))}">{text}</td>'
        return f'<td class="n">{text}</td>'

    body = "".join(
        "<tr>"
        + "".join(
            cell(value, look, is_number=is_number)
            for value, look, is_number in zip(row, looks, numeric, strict=True)
        )
        + "</tr>"
        for row in table.rows[:fitting]
    )
    if len(table.rows) > fitting:
        body += (
            f"<tr><td colspan={len(table.columns)}>and {len(table.rows) - fitting} more</td></tr>"
        )
    if not table.rows:
        return Drawn(html='<div class="none">nothing to show</div>', values=0)
    html = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    return Drawn(html=html, values=sum(isinstance(one, float) for row in table.rows for one in row))


def _overrides(panel: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for override in panel["fieldConfig"]["overrides"]:
        matcher = override["matcher"]
        if (matcher["id"] == "byName" and matcher["options"] == name) or (
            matcher["id"] == "byRegexp" and re.search(matcher["options"].strip("/"), name)
        ):
            found |= {one["id"]: one["value"] for one in override["properties"]}
    return found


def step_color(defaults: Mapping[str, Any], value: float) -> str:
    """The colour of the threshold that a value has reached."""
    reached = [
        step["color"]
        for step in defaults["thresholds"]["steps"]
        if step["value"] is None or value >= step["value"]
    ]
    return str(reached[-1])


def _decimals(defaults: Mapping[str, Any]) -> int | None:
    return int(defaults["decimals"]) if "decimals" in defaults else None

"""A dashboard's JSON as a page: its variables resolved, its queries run, and their frames handed to Grafana's components."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from tests.look.frames import Frame, LookError, Span
from tests.look.sources import Source, filled

COLUMNS = 24
_RANGE = re.compile(r"(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One panel with what its queries gave, and the variables as it has them.

    ``answers`` has how many values each query gave that is shown, ``error`` why the source did not answer.
    """

    panel: Mapping[str, Any]
    variables: Mapping[str, str]
    span: Span
    frames: Sequence[Frame]
    error: str
    answers: Mapping[str, int]

    @property
    def title(self) -> str:
        """With its variables filled in."""
        return filled(self.panel["title"], self.variables)

    def as_json(self) -> dict[str, Any]:
        """As the bundle reads it."""
        return {
            "panel": {**self.panel, "title": self.title},
            "variables": dict(self.variables),
            "range": {"from": 1000 * self.span.start_s, "to": 1000 * self.span.end_s},
            "frames": [frame.as_json() for frame in self.frames],
            "error": self.error,
            "values": 1 if self.panel["type"] == "text" else sum(self.answers.values()),
        }


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The range to look at, when *now* is, and values for variables that are not to be the first found."""

    span: Span
    now_s: float
    chosen: Mapping[str, str]


def look(board: Mapping[str, Any], source: Source, wish: Wish, *, note: str = "", refresh_s: int | None = None) -> tuple[str, list[Looked]]:  # fmt: skip
    """The page, and each panel with its data. A panel that fails says why, and hides no other.

    What is in a closed row is not on the page, and is looked at all the same.
    """
    values = resolved(board, source, wish)
    looked = _look_at_all(board["panels"], values, source, wish)
    closed = [panel for row in board["panels"] for panel in row.get("panels") or ()]
    unseen = _look_at_all(closed, values, source, wish)
    named = "; ".join(
        f"{name} {', '.join(found)}" for name, found in values.items() if name != "datasource"
    )
    when = f"{datetime.fromtimestamp(wish.now_s, tz=UTC):%Y-%m-%d %H:%M:%S} UTC"
    said = f"Drawn with Grafana 13 components from the dashboard's own JSON and queries at {when}: {named}. {note}"
    html = page(board, looked, note=said.strip(), refresh_s=refresh_s)
    return html, [one for one in (*looked, *unseen) if one.panel["type"] != "row"]


def _look_at_all(
    panels: Sequence[Mapping[str, Any]],
    values: Mapping[str, Sequence[str]],
    source: Source,
    wish: Wish,
) -> list[Looked]:
    return [
        _look_at(panel, source, variables, wish) for panel, variables in repeated(panels, values)
    ]


def page(
    board: Mapping[str, Any], looked: Sequence[Looked], *, note: str, refresh_s: int | None = None
) -> str:
    """The document. It loads the bundle, ``look.js`` and ``look.css``, from beside itself."""
    data = {
        "title": board["title"],
        "description": board["description"],
        "note": note,
        "panels": [one.as_json() for one in looked],
    }
    refresh = f'<meta http-equiv="refresh" content="{refresh_s}">' if refresh_s else ""
    # Inside of a script only this ends it.
    text = json.dumps(data, allow_nan=False).replace("</", "<\\/")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'{refresh}<title>{escape(board["title"])}</title><link rel="stylesheet" href="look.css"><style>body{{margin:0}}</style></head>'
        f'<body><div id="look"></div><script type="application/json" id="board">{text}</script>'
        '<script src="look.js"></script></body></html>\n'
    )


def resolved(board: Mapping[str, Any], source: Source, wish: Wish) -> dict[str, list[str]]:
    """Each variable's values: what is chosen, all of them, or the first that is found. A custom one has its first.

    Raises:
        LookError: if a query of a variable finds nothing.
    """
    values: dict[str, list[str]] = {"datasource": ["here"]}
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "datasource":
            continue
        if variable["type"] == "custom":
            values[name] = [wish.chosen.get(name, variable["current"]["value"])]
            continue
        found = source.values(variable["query"], _texts(values), wish.span)
        if variable.get("regex"):
            pattern = re.compile(variable["regex"].strip("/"))
            found = [
                match[min(1, pattern.groups)] for one in found if (match := pattern.search(one))
            ]
        if name in wish.chosen:
            values[name] = [wish.chosen[name]]
        elif not found:
            msg = f"the variable {name} has no value: {variable['query']}"
            raise LookError(msg)
        else:
            values[name] = found if variable["multi"] else found[:1]
    return values


def repeated(
    panels: Sequence[Mapping[str, Any]], values: Mapping[str, Sequence[str]]
) -> list[tuple[Mapping[str, Any], dict[str, str]]]:
    """Each panel with the variables that it has, as often as it is repeated; what is below moves down."""
    found: list[tuple[Mapping[str, Any], dict[str, str]]] = []
    down = 0
    for panel in panels:
        place = {**panel["gridPos"], "y": panel["gridPos"]["y"] + down}
        over = values.get(panel.get("repeat", ""), [])
        if not over:
            found.append(({**panel, "gridPos": place}, _texts(values)))
            continue
        per_row = min(len(over), int(panel["maxPerRow"]))
        width = COLUMNS // per_row
        for number, value in enumerate(over):
            row, column = divmod(number, per_row)
            at = {**place, "x": column * width, "w": width, "y": place["y"] + row * place["h"]}
            found.append(({**panel, "gridPos": at}, {**_texts(values), panel["repeat"]: value}))
        down += ((len(over) - 1) // per_row) * place["h"]
    return found


def _texts(values: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """As they stand in a query: one value as it is, several as a pattern."""
    return {name: found[0] if len(found) == 1 else _all_of(found) for name, found in values.items()}


def _all_of(found: Sequence[str]) -> str:
    """A pattern inside a quoted string of PromQL, where a backslash is written as two."""
    every = "|".join(map(re.escape, found)).replace("\\", "\\\\")
    return f"({every})"


def _look_at(
    panel: Mapping[str, Any], source: Source, variables: Mapping[str, str], wish: Wish
) -> Looked:
    span = wish.span
    if "timeFrom" in panel:  # a range of the panel's own ends now
        span = Span(start_s=wish.now_s - seconds_of(panel["timeFrom"]), end_s=wish.now_s)
    targets = panel.get("targets", ())
    frames: Sequence[Frame] = ()
    error = ""
    try:
        frames = source.query(targets, variables, span) if targets else ()
    except LookError as failure:
        error = str(failure)
    shown = [target["refId"] for target in targets if not target.get("hide")]
    answers = {name: sum(frame.known for frame in frames if frame.query == name) for name in shown}
    return Looked(
        panel=panel,
        variables=variables,
        span=span,
        frames=frames,
        error=error,
        answers={} if error else answers,
    )


def seconds_of(text: str) -> int:
    """The length of ``15m``."""
    match = _RANGE.fullmatch(text)
    if match is None:
        msg = f"not a range: {text}"
        raise LookError(msg)
    return int(match[1]) * _SECONDS[match[2]]


def problems(looked: Sequence[Looked]) -> list[str]:
    """Panels that failed or have nothing, and queries that found nothing in any repetition of their panel.

    A graph that says what it means to have nothing may have nothing. So may one of several searches for what may not be there.
    """
    promised = [
        one
        for one in looked
        if one.panel["type"] != "text"
        if one.panel["type"] != "timeseries"
        or not one.panel["fieldConfig"]["defaults"].get("noValue")
    ]
    wrong = [f"{one.title}: {one.error}" for one in looked if one.error]
    wrong += [
        f"{one.title}: no data"
        for one in promised
        if not one.error and not any(one.answers.values())
    ]
    answers: dict[tuple[int, str], int] = {}
    for one in promised:
        searches = _searches(one.panel)
        for query, values in one.answers.items():
            if query in searches:
                continue
            key = one.panel["id"], query
            answers[key] = answers.get(key, 0) + values
    titles = {one.panel["id"]: one.title for one in looked}
    silent = [
        f"{titles[panel]}: {query} finds nothing"
        for (panel, query), values in answers.items()
        if not values
    ]
    return [*wrong, *silent]


def _searches(panel: Mapping[str, Any]) -> set[str]:
    """The queries of a panel that look for whatever there is."""
    return {
        target["refId"]
        for target in panel.get("targets", ())
        if str(target.get("expression", "")).startswith("SEARCH(")
    }

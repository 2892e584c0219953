"""A dashboard's JSON as a page: its variables resolved, its queries run, its panels drawn."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from monitoring.look.frames import Frames, LookError, Span, Table
from monitoring.look.panels import Drawn, draw
from monitoring.look.sources import Source, filled
from monitoring.look.style import page

COLUMNS = 24
_RANGE = re.compile(r"(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, kw_only=True)
class Looked:
    """One panel as it came out; ``answers`` has how many values each query gave that is shown."""

    id: int
    title: str
    kind: str
    html: str
    values: int
    error: str
    answers: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The range to look at, when *now* is, and values for variables that are not to be the first found."""

    span: Span
    now_s: float
    chosen: Mapping[str, str]


def look(board: Mapping[str, Any], source: Source, wish: Wish, *, note: str = "", refresh_s: int | None = None) -> tuple[str, list[Looked]]:  # fmt: skip
    """The page, and how each panel came out. A panel that fails says why, and hides no other."""
    values = resolved(board, source, wish.chosen)
    looked, parts = [], []
    for panel, own in repeated(board["panels"], values):
        if panel["type"] == "row":
            parts.append(f'<h2 style="{_place(panel)}">{escape(panel["title"])}</h2>')
            continue
        one = _look_at(panel, source, own, wish)
        looked.append(one)
        parts.append(
            f'<section class="panel" style="{_place(panel)}" data-kind="{one.kind}" data-values="{one.values}">'
            f'<h3 title="{escape(panel["description"])}">{escape(one.title)}</h3>{one.html}</section>'
        )
    named = "; ".join(
        f"{name} {', '.join(found)}" for name, found in values.items() if name != "datasource"
    )
    when = f"{datetime.fromtimestamp(wish.now_s, tz=UTC):%Y-%m-%d %H:%M:%S} UTC"
    body = (
        f"<header><h1>{escape(board['title'])}</h1><p>{escape(board['description'])}</p>"
        f'<p class="note">Drawn from the dashboard\'s own JSON and queries at {when}, without a Grafana server: '
        f"{escape(named)}. {escape(note)}</p></header><main class=board>{''.join(parts)}</main>"
    )
    return page(escape(board["title"]), body, refresh_s=refresh_s), looked


def resolved(
    board: Mapping[str, Any], source: Source, chosen: Mapping[str, str]
) -> dict[str, list[str]]:
    """Each variable's values: what is chosen, all of them, or the first that is found.

    Raises:
        LookError: if a query of a variable finds nothing.
    """
    values: dict[str, list[str]] = {"datasource": ["here"]}
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "datasource":
            continue
        found = source.values(variable["query"], _texts(values))
        if name in chosen:
            values[name] = [chosen[name]]
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
    answers: dict[str, int] = {}
    try:
        frames = source.query(panel["targets"], variables, span)
        answers = _answers(panel["targets"], frames)
        drawn = draw(panel, frames, span, now_s=wish.now_s, link=_linker(variables))
        error = ""
    except LookError as failure:
        error = str(failure)
        drawn = Drawn(html=f'<div class="error">{escape(error)}</div>', values=0)
    return Looked(
        id=panel["id"],
        title=filled(panel["title"], variables),
        kind=panel["type"],
        html=drawn.html,
        values=drawn.values,
        error=error,
        answers=answers,
    )


def _answers(targets: Sequence[Mapping[str, Any]], frames: Sequence[Frames]) -> dict[str, int]:
    return {
        target["refId"]: len(frame.rows)
        if isinstance(frame, Table)
        else sum(len(one.points) for one in frame)
        for target, frame in zip(targets, frames, strict=True)
        if not target.get("hide")
    }


def _linker(variables: Mapping[str, str]) -> Callable[[str, str], str]:
    def link(url: str, text: str) -> str:
        return filled(url.replace("${__value.text}", text), variables)

    return link


def _place(panel: Mapping[str, Any]) -> str:
    at = panel["gridPos"]
    return f"grid-column:{at['x'] + 1}/span {at['w']};grid-row:{at['y'] + 1}/span {at['h']}"


def seconds_of(text: str) -> int:
    """The length of ``15m``."""
    match = _RANGE.fullmatch(text)
    if match is None:
        msg = f"not a range: {text}"
        raise LookError(msg)
    return int(match[1]) * _SECONDS[match[2]]


def problems(looked: Sequence[Looked]) -> list[str]:
    """Panels that failed or have nothing, and queries that found nothing in any repetition of their panel."""
    wrong = [
        f"{one.title}: {one.error or 'no data'}" for one in looked if one.error or not one.values
    ]
    answers: dict[tuple[int, str], int] = {}
    for one in looked:
        for query, values in one.answers.items():
            answers[one.id, query] = answers.get((one.id, query), 0) + values
    titles = {one.id: one.title for one in looked}
    silent = [
        f"{titles[panel]}: {query} finds nothing"
        for (panel, query), values in answers.items()
        if not values
    ]
    return [*wrong, *silent]

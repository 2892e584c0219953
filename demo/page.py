"""The demo as one page that needs nothing else: the fleet, each curve with its alarms, what on-call received."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from burstwatch.drawing import palette
from burstwatch.drawing.charts import Chart
from burstwatch.drawing.pages import prose
from burstwatch.formatting import span as words_for
from demo.play import Volume
from demo.report import error_of, first_alarm

BEFORE_S = 300.0
#: The states of a projection in words.
STATES = {
    "finite": "runs out", "infinite": "does not run out", "not_applicable": "no burst credits", "idle": "does not run out",
    "unknown": "not known",
}  # fmt: skip
#: A card's chart, in pixels: it is stretched to its card.
CARD_WIDTH, CARD_HEIGHT = 420.0, 190.0
#: So much of a message is shown at once: name and action stand there.
SHOWN = 240
#: A balance under this is worth a look, and its curve is drawn in another colour.
LOW_RATIO = 0.6


def _color(name: str) -> str:
    """A named colour as CSS."""
    return f"var(--{name})"


STYLE = f"""
{palette.variables()}
*{{box-sizing:border-box}}
body{{margin:0;padding:16px;background:var(--panel);color:var(--text);font:14px/1.4 Inter,system-ui,"Segoe UI","DejaVu Sans",sans-serif}}
header{{margin:0 0 12px}} h1{{font-size:20px;margin:0 0 4px}} h2{{font-size:15px;margin:18px 0 8px;font-weight:600}}
p{{margin:0 0 8px}} .note{{color:var(--grey);max-width:110ch}} a{{color:var(--blue);text-underline-offset:2px}}
.numbers{{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:8px}}
.cards{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:8px}}
.panel{{background:var(--page);border:1px solid var(--edge);border-radius:4px;padding:8px 10px;min-width:0}}
.panel h3{{font-size:13px;font-weight:600;margin:0 0 8px;overflow-wrap:anywhere}}
.number{{text-align:center;font-weight:600;font-size:26px;line-height:1.3}}
.none{{padding:40px 0;text-align:center;color:var(--grey)}}
.chart{{display:block;width:100%}} .chart text{{font:12px sans-serif;fill:var(--grey)}} .chart .grid{{stroke:var(--grid)}} .chart .curve{{fill:none;stroke-width:2}}
table{{border-collapse:collapse;width:100%;font-size:13px}} th{{text-align:left;color:var(--grey);font-weight:600}} td,th{{padding:3px 12px 3px 0;border-bottom:1px solid var(--grid);vertical-align:top}}
td.s,span.at{{white-space:nowrap}} td.w{{width:26%}} td{{overflow-wrap:anywhere}}
details{{display:inline}} summary{{display:inline;color:var(--blue);cursor:pointer;list-style:none}} details[open] summary{{display:none}}
@media (max-width:900px){{
thead{{display:none}} table,tbody,tr,td{{display:block;width:100%}} tr{{padding:6px 0;border-bottom:1px solid var(--grid)}}
td,td.w{{display:grid;grid-template-columns:8em 1fr;width:100%;padding:1px 0;border:0;white-space:normal}} td::before{{content:attr(data-name);color:var(--grey)}} td:first-child{{font-weight:600}} td.e{{display:none}}
}}
""".strip()


def _document(title: str, body: str) -> str:
    """A whole document that needs nothing else."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def report(
    volumes: Sequence[Volume], result: Mapping[str, Any], *, now_s: float, links: Sequence[tuple[str, str]] = ()
) -> str:  # fmt: skip
    """The page. ``links`` are further pages, by their words and addresses."""
    found = score(result)
    order = sorted(result["volumes"], key=lambda one: _urgency(one, result))
    by_id = {volume.id: volume for volume in volumes}
    cards = "".join(_card(by_id[one["id"]], one, result, now_s) for one in order)
    others = " ".join(f'<a href="{escape(url)}">{escape(text)}</a>' for text, url in links)
    body = (
        f"<header><h1>{escape(found.answer(len(volumes)))}</h1>"
        f"<p>{escape(found.others())}</p>"
        f'<p class="note">The demo of burstwatch, as of {_clock(now_s)} UTC. The real CDK app on a local cloud, a fleet of {len(volumes)} volumes that '
        f"serve recorded and published loads, real alarms and real messages. {others}</p></header>"
        f'<main class="numbers">{_numbers(result, found)}</main>'
        f"<h2>The fleet, worst first</h2>{_fleet(order, result)}"
        "<h2>Each balance, worst first</h2>"
        f'<p class="note">A triangle is the page, a dot the moment at which the bucket is empty, a ring the end of the alarm.</p>'
        f'<div class="cards">{cards}</div>'
        f"<h2>What on-call received</h2>{_messages(result)}"
    )
    return _document("burstwatch: the demo", body)


def _urgency(volume: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[float, float, float]:
    """The order: what ran out, then what is paged, then what has least left."""
    dry_at = volume["exhausted_at"]
    raised = first_alarm(_alarm(volume, result))
    return (
        float("inf") if dry_at is None else dry_at,
        float("inf") if raised is None else raised["at"],
        volume["lowest_balance_ratio"],
    )


def _alarm(volume: Mapping[str, Any], result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((one for one in result["alarms"] if one["resource"] == volume["id"]), None)


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of a fleet: how many ran out, how long before each of those was paged, false pages, and who came close."""

    emptied: int
    leads: tuple[float, ...]
    false_pages: int
    close: int

    def answer(self, volumes: int) -> str:
        """The title of the page, of so many ``volumes``."""
        ran_out = f"{self.emptied} of {volumes} volumes ran out of credits"
        unpaged = self.emptied - len(self.leads)
        if unpaged:
            was = "was" if unpaged == 1 else "were"
            return f"{ran_out}; {unpaged} of them {was} not paged before"
        if not self.emptied:
            return f"None of {volumes} volumes has run out of credits yet"
        whose = "it" if self.emptied == 1 else "each"
        return f"{ran_out}; {whose} was paged at least {words_for(min(self.leads))} before"

    def others(self) -> str:
        """What is said of the others."""
        return f"{self.close} came close and did not run out. False pages: {self.false_pages or 'none'}."


def score(result: Mapping[str, Any]) -> Score:
    """Of what the demo showed."""
    dry = {
        one["id"]: one["exhausted_at"]
        for one in result["volumes"]
        if one["exhausted_at"] is not None
    }
    raised = {one["resource"]: first_alarm(one) for one in result["alarms"]}
    leads = [dry[name] - change["at"] for name, change in raised.items() if change and name in dry]
    return Score(
        emptied=len(dry),
        leads=tuple(lead for lead in leads if lead > 0),
        false_pages=len(raised.keys() - dry.keys()),
        close=sum(
            one["id"] not in dry and one["lowest_balance_ratio"] < LOW_RATIO
            for one in result["volumes"]
        ),
    )


def _numbers(result: Mapping[str, Any], found: Score) -> str:
    in_time = len(found.leads)
    figures = [
        ("Volumes", str(len(result["volumes"])), "text"),
        ("Ran out", str(found.emptied), "red" if found.emptied else "green"),
        ("Of them paged before", str(in_time), "green" if in_time == found.emptied else "red"),
        ("Shortest warning", words_for(min(found.leads)) if found.leads else "none yet", "orange"),
        ("False pages", str(found.false_pages), "red" if found.false_pages else "green"),
        ("Messages received", str(len(result["messages"])), "blue"),
    ]
    return "".join(
        f'<section class="panel" data-values="1">'
        f'<h3>{name}</h3><div class="number" style="color:{_color(tone)}">{value}</div></section>'
        for name, value, tone in figures
    )


def _fleet(order: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> str:
    headings = (
        "volume",
        "id",
        "type, GiB",
        "state",
        "lowest",
        "now",
        "paged",
        "ran out",
        "time left",
        "forecast",
        "off by",
    )
    rows = []
    for volume in order:
        raised = first_alarm(_alarm(volume, result))
        error = error_of(raised) if raised else None
        cells = (
            volume["name"], volume["id"], f"{volume['type']} {volume['size_gib']}", STATES.get(volume["state"], volume["state"]),
            f"{volume['lowest_balance_ratio']:.0%}", f"{volume['last_balance_ratio']:.0%}",
            _clock(raised["at"]) if raised else "-", _clock(volume["exhausted_at"]),
            _span(raised["true_time_to_empty_s"]) if raised else "-", _span(raised["time_to_empty_s"]) if raised else "-",
            "-" if error is None else f"{error:.1%}",
        )  # fmt: skip
        rows.append(cells)
    return _table("Seconds matter: times in UTC", headings, rows)


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-name="{heading}"{" class=e" if cell == "-" else ""}>{escape(cell)}</td>'
            for heading, cell in zip(headings, cells, strict=True)
        )
        + "</tr>"
        for cells in rows
    )
    return (
        f'<section class="panel" data-values="{len(rows)}"><h3>{title}</h3>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></section>"
    )


def _card(volume: Volume, found: Mapping[str, Any], result: Mapping[str, Any], now_s: float) -> str:
    start_s = result["live_at"] - BEFORE_S
    points = [(at, ratio) for at, ratio in volume.ratios if start_s <= at <= now_s]
    if volume.spec.spec.bucket is None:
        drawn = '<div class="none">no bucket: nothing to run out of</div>'
    elif not points:
        drawn = '<div class="none">no data yet</div>'
    else:
        changes = (_alarm(found, result) or {"changes": []})["changes"]
        drawn = _curve(volume, found, points, changes, (start_s, now_s))
    title = f"{volume.spec.name} ({volume.spec.volume_type} {volume.spec.size_gib} GiB): {STATES.get(found['state'], found['state'])}"
    return f'<section class="panel" data-values="{len(points)}"><h3>{escape(title)}</h3>{drawn}</section>'


def _curve(
    volume: Volume, found: Mapping[str, Any], points: Sequence[tuple[float, float]],
    changes: Sequence[Mapping[str, Any]], span: tuple[float, float],
) -> str:  # fmt: skip
    """The balance, with its pages (triangles), the ends of its alarms (rings) and when it ran out (dots)."""
    low = found["lowest_balance_ratio"] < LOW_RATIO
    tone = "red" if volume.emptied else "orange" if low else "blue"
    chart = Chart(title="", x_range=span, y_range=(0.0, 1.0), width=CARD_WIDTH, height=CARD_HEIGHT)
    minute = 60.0 * max(1, round((span[1] - span[0]) / 60 / 5))
    chart.axes(
        x_text=lambda at: _clock(at)[:5],
        x_ticks=[at for n in range(1, 6) if (at := span[0] // 60 * 60 + n * minute) <= span[1]],
        y_text=lambda ratio: f"{ratio:.0%}",
        y_ticks=(0.0, 0.5, 1.0),
    )
    chart.line(points, _color(tone))
    for change in changes:
        level = next((ratio for at, ratio in reversed(points) if at <= change["at"]), points[0][1])
        if change["state"] == "ALARM":
            chart.triangle(change["at"], level, _color("purple"))
        else:
            chart.dot(change["at"], level, _color("purple"))
            chart.dot(change["at"], level, _color("panel"), radius=3)
    for at in volume.emptied[:1]:
        chart.dot(at, 0.0, _color("red"))
    return (
        f'<svg class="chart" viewBox="0 0 {CARD_WIDTH:g} {CARD_HEIGHT:g}" role="img" '
        f'aria-label="balance of {escape(volume.spec.name)} over time">{chart.svg()}</svg>'
    )


def _messages(result: Mapping[str, Any]) -> str:
    rows = []
    for message in result["messages"]:
        if message["through"] == "http":  # the same pages, delivered twice
            continue
        what, text = _told(message["body"])
        topic = message["through"].removeprefix("sqs:")
        rows.append(
            f'<tr><td class="s" data-name="at">{_clock(message["at"])}</td><td class="s" data-name="topic">{escape(topic)}</td>'
            f'<td class="w" data-name="what">{escape(what)}</td><td data-name="text"><div>{_folded(text)}</div></td></tr>'
        )
    if not rows:
        rows.append('<tr><td data-name="what">nothing yet</td></tr>')
    return (
        f'<section class="panel" data-values="{len(rows)}"><h3>By the queues at the three topics</h3><table><thead><tr><th>at</th>'
        f"<th>topic</th><th>what</th><th>text</th></tr></thead><tbody>{''.join(rows)}</tbody></table></section>"
    )


def _folded(text: str) -> str:
    """The part that a phone shows, and the rest on request."""
    if len(text) <= SHOWN:
        return _lines(text)
    cut = max(text.rfind("\n", 0, SHOWN), text.rfind(" ", 0, SHOWN) if "\n" not in text else -1)
    return f"{_lines(text[:cut])} <details><summary>and the rest</summary>{_lines(text[cut:].strip())}</details>"


def _lines(text: str) -> str:
    return prose(text).replace("\n", "<br>")


def _told(body: str) -> tuple[str, str]:
    """A message in short and in full."""
    envelope = json.loads(body)
    inner = json.loads(envelope["Message"])
    if "AlarmName" in inner:
        return f"{inner['NewStateValue']} {inner['AlarmName']}", str(
            inner.get("AlarmDescription") or ""
        )
    content = inner["content"]
    return str(content["title"]), str(content["description"])


def _span(seconds: float | None) -> str:
    return "-" if seconds is None else words_for(seconds)


def _clock(at: float | None) -> str:
    return "-" if at is None else f"{datetime.fromtimestamp(at, tz=UTC):%H:%M:%S}"

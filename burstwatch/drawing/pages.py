"""Pages of HTML that need nothing else: one head with a sentence and a number, tables that are cards on a phone, and values where a curve is pointed at."""

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Sequence
from html import escape
from pathlib import Path

from burstwatch.drawing import palette
from burstwatch.history.observations import Verdict

#: A drop with its level.
DROP = "M12 2.2C8.3 7 5 10.8 5 14.8a7 7 0 0 0 14 0C19 10.8 15.7 7 12 2.2Z"
LEVEL = "M5.1 13.6a7 7 0 1 0 13.8 0c-2.2 1.4-4.4 1.4-6.9 0s-4.7-1.4-6.9 0Z"


def mark(drop: str, level: str) -> str:
    """The mark of burstwatch as SVG, in two colours."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true"><path d="{DROP}" fill="none" stroke="{drop}" stroke-width="1.8"/>'
        f'<path d="{LEVEL}" fill="{level}"/></svg>'
    )


#: The mark as the icon of a page.
ICON = f"data:image/svg+xml;base64,{b64encode(mark(palette.BLUE.dark, palette.BLUE.dark).encode()).decode()}"
#: Shows the nearest value of a curve where it is pointed at, or touched.
SCRIPT = (Path(__file__).parent / "values.js").read_text(encoding="utf-8")
#: A picture that is wider than a phone is scrolled in its place, so that its smallest words are of 12 px there too.
PAGE_STYLE = (
    f"""
{palette.variables()}
""".strip()
    + """
:root{background:var(--page);color:var(--text)}
body{background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;overflow-wrap:anywhere}
h1{font-size:1.3em} h2{font-size:1.1em}
a{color:var(--blue)}
figure{margin:1em 0;background:var(--page);border-radius:6px;overflow-x:auto}
svg{display:block;min-width:800px;width:100%;height:auto}
pre{white-space:pre-wrap;font-size:13px;padding:1em;border-radius:6px;background:color-mix(in srgb,currentColor 8%,transparent)}
.wide{overflow-x:auto} table{border-collapse:collapse;width:100%} td,th{text-align:left;vertical-align:top;white-space:nowrap;padding:.25em .6em;border-bottom:1px solid var(--edge)}
td.text{white-space:normal;min-width:8em}
header.of-page{display:flex;flex-wrap:wrap;gap:.2em 1.2em;align-items:center;margin:0 0 1em}
header.of-page svg{min-width:0;width:28px;height:28px} header.of-page h1{flex:1 1 20em;margin:0}
.figure{font-size:2.6em;font-weight:700;line-height:1.1;margin:0;white-space:nowrap}
.figure.critical{color:var(--red)}.figure.exhausted{color:var(--purple)}.figure.warning{color:var(--orange)}.figure.ok{color:var(--green)}
span.at{white-space:nowrap} details{margin:1em 0} summary{cursor:pointer}
figure{position:relative} .value{position:absolute;pointer-events:none;background:var(--panel);border:1px solid var(--edge);border-radius:4px;padding:.1em .4em;font-size:13px;white-space:nowrap}
@media print{body{max-width:none;font-size:11pt} figure,table,pre{break-inside:avoid} .wide{overflow:visible} td,th{white-space:normal}}
tr.critical td:first-child{border-left:4px solid var(--red)} tr.exhausted td:first-child{border-left:4px solid var(--purple)}
tr.warning td:first-child{border-left:4px solid var(--orange)} tr.unknown td:first-child{border-left:4px solid var(--grey)}
@media (max-width:640px){thead,td.nothing{display:none} tr{display:block;margin:1em 0 0}
tr td,tr td.text{display:block;white-space:normal;min-width:0;border-bottom:0;padding:.1em .6em}
td[data-of]::before{content:attr(data-of) ": "}}
""".strip()
)


#: An instant as ``day_and_time``, ``recorded_time`` and messages write it.
INSTANT = re.compile(r"([A-Z][a-z]{2} )?\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?(Z| [A-Z]{3,5})?)?")


def prose(text: str) -> str:
    """Text as HTML, in which a date stays in one line."""
    return INSTANT.sub(r'<span class="at">\g<0></span>', escape(text))


def document(
    title: str, body: str, *, figure: str = "", verdict: Verdict = "ok", width: float = 920.0
) -> str:
    """A page of HTML, light or dark as the reader chose. ``body`` is HTML, all else is text, and ``width`` is the most that it takes.

    ``figure`` is the number that matters, such as ``17 min``, in the colour of ``verdict``.
    """
    number = f'<p class="figure {verdict}">{escape(figure)}</p>' if figure else ""
    script = f"<script>{SCRIPT}</script>" if "data-words" in body else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="icon" href="{ICON}"><style>{PAGE_STYLE} body{{max-width:{width:g}px}}</style></head><body>'
        f'<header class="of-page">{mark("var(--blue)", "var(--blue)")}{number}<h1>{prose(title)}</h1></header>{body}{script}</body></html>\n'
    )


def table_of(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    sentences: Collection[str] = (),
    classes: Sequence[str] = (),
) -> str:
    """A table as HTML, of text. On a phone each row is a card, and its cells say what they are.

    ``sentences`` are the columns whose text is folded; the others stay in one line. ``classes`` are the verdicts of the rows.
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    drawn = []
    for n, row in enumerate(rows):
        cells = "".join(
            f'<td data-of="{escape(heading)}"{_class("text" if heading in sentences else "")}>{prose(cell)}</td>'
            for heading, cell in zip(headings, row, strict=True)
        )
        drawn.append(f"<tr{_class(classes[n] if classes else '')}>{cells}</tr>")
    body = "".join(drawn)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _class(name: str) -> str:
    return f' class="{escape(name)}"' if name else ""

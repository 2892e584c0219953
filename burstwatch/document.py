"""Writes pages of HTML that need nothing else: light or dark as the reader chose, for a desk and for a phone."""

from html import escape

#: Pictures keep their white ground: their colours are chosen for it. What is wider than a phone is scrolled in its place.
STYLE = """
:root{color-scheme:light dark;background:Canvas;color:CanvasText}
body{background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif;max-width:920px;margin:0 auto;padding:1em;overflow-wrap:anywhere}
h1{font-size:1.3em} h2{font-size:1.1em}
figure{margin:1em 0;background:#fff;border-radius:6px;overflow-x:auto}
svg{display:block;min-width:560px;width:100%}
pre{white-space:pre-wrap;font-size:13px;padding:1em;border-radius:6px;background:color-mix(in srgb,currentColor 8%,transparent)}
.wide{overflow-x:auto} table{border-collapse:collapse;width:100%} td,th{text-align:left;white-space:nowrap;padding:.25em .6em;border-bottom:1px solid}
""".strip()


def document(title: str, body: str) -> str:
    """A whole document. ``title`` is text, ``body`` is HTML."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )

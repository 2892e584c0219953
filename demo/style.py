"""Styles the demo's report, light and dark as the reader chose, on a desk and on a phone."""

#: Text in these colours has a contrast of at least 4.5 on a panel; a test measures it.
_LIGHT = {
    "page": "#f4f5f5", "panel": "#ffffff", "edge": "#d8d9da", "grid": "#e6e7e8", "text": "#24292e", "dim": "#5d6269",
    "red": "#c4162a", "orange": "#a14a00", "green": "#1a7431", "blue": "#1f60c4", "purple": "#7c2ea3",
}  # fmt: skip
_DARK = {
    "page": "#111217", "panel": "#181b1f", "edge": "#2c3036", "grid": "#2a2e34", "text": "#d5d6da", "dim": "#a0a4ac",
    "red": "#ff7383", "orange": "#ff9830", "green": "#73bf69", "blue": "#7aa6ff", "purple": "#d29bea",
}  # fmt: skip


def color(name: str) -> str:
    """A named colour as CSS."""
    return f"var(--{name})"


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colors.items())


STYLE = f"""
:root{{color-scheme:light dark;{_variables(_LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}
*{{box-sizing:border-box}}
body{{margin:0;padding:16px;background:var(--page);color:var(--text);font:14px/1.4 Inter,system-ui,"Segoe UI","DejaVu Sans",sans-serif}}
header{{margin:0 0 12px}} h1{{font-size:20px;margin:0 0 4px}} h2{{font-size:15px;margin:18px 0 8px;font-weight:600}}
p{{margin:0 0 8px}} .note{{color:var(--dim);max-width:110ch}} a{{color:var(--blue);text-underline-offset:2px}}
.numbers{{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:8px}}
.cards{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:8px}}
.panel{{background:var(--panel);border:1px solid var(--edge);border-radius:4px;padding:8px 10px;min-width:0}}
.panel h3{{font-size:13px;font-weight:600;margin:0 0 8px;overflow-wrap:anywhere}}
.number{{text-align:center;font-weight:600;font-size:26px;line-height:1.3}}
.none{{padding:40px 0;text-align:center;color:var(--dim)}}
.chart{{display:block;width:100%}} .chart text{{font:12px sans-serif;fill:var(--dim)}} .chart .grid{{stroke:var(--grid)}} .chart .curve{{fill:none;stroke-width:2}}
table{{border-collapse:collapse;width:100%;font-size:13px}} th{{text-align:left;color:var(--dim);font-weight:600}} td,th{{padding:3px 12px 3px 0;border-bottom:1px solid var(--grid);vertical-align:top}}
td.s{{white-space:nowrap}} td.w{{width:26%}} td{{overflow-wrap:anywhere}}
details{{display:inline}} summary{{display:inline;color:var(--blue);cursor:pointer;list-style:none}} details[open] summary{{display:none}}
@media (max-width:900px){{
thead{{display:none}} table,tbody,tr,td{{display:block;width:100%}} tr{{padding:6px 0;border-bottom:1px solid var(--grid)}}
td,td.w{{display:grid;grid-template-columns:8em 1fr;width:100%;padding:1px 0;border:0;white-space:normal}} td::before{{content:attr(data-name);color:var(--dim)}} td:first-child{{font-weight:600}} td.e{{display:none}}
}}
""".strip()


def page(title: str, body: str, *, refresh_s: int | None = None) -> str:
    """A whole document that needs nothing else; it loads itself anew where it is served live."""
    refresh = f'<meta http-equiv="refresh" content="{refresh_s}">' if refresh_s else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"{refresh}<title>{title}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )

"""Styles pages, light and dark as the reader chose."""

#: Text in these colours has a contrast of at least 4.5 on a panel; a test measures it.
_LIGHT = {
    "page": "#f4f5f5", "panel": "#ffffff", "edge": "#d8d9da", "grid": "#e6e7e8", "text": "#24292e", "dim": "#5d6269",
    "red": "#c4162a", "orange": "#a14a00", "green": "#1a7431", "blue": "#1f60c4", "purple": "#7c2ea3", "grey": "#5d6269",
    "yellow": "#7a5c00", "teal": "#0b6e75",
}  # fmt: skip
_DARK = {
    "page": "#111217", "panel": "#181b1f", "edge": "#2c3036", "grid": "#2a2e34", "text": "#d5d6da", "dim": "#a0a4ac",
    "red": "#ff7383", "orange": "#ff9830", "green": "#73bf69", "blue": "#7aa6ff", "purple": "#d29bea", "grey": "#a0a4ac",
    "yellow": "#f2cc0c", "teal": "#5ecfd6",
}  # fmt: skip
#: Series without a colour of their own, in turn.
PALETTE = ("blue", "orange", "green", "purple", "teal", "red", "yellow", "grey")


def color(name: str) -> str:
    """A named colour as CSS; Grafana's name for the colour of text is grey here."""
    return f"var(--{'grey' if name == 'text' else name})"


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colors.items())


STYLE = f"""
:root{{color-scheme:light dark;{_variables(_LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}
*{{box-sizing:border-box}}
body{{margin:0;padding:16px;background:var(--page);color:var(--text);font:14px/1.4 Inter,system-ui,"Segoe UI","DejaVu Sans",sans-serif}}
header{{margin:0 0 12px}} h1{{font-size:20px;margin:0 0 4px}} h2{{font-size:15px;margin:0;align-self:end;font-weight:600}}
p{{margin:0 0 8px}} .note{{color:var(--dim);max-width:110ch}} a{{color:var(--blue);text-underline-offset:2px}}
.board{{display:grid;grid-template-columns:repeat(24,minmax(0,1fr));grid-auto-rows:30px;gap:8px}}
.panel{{background:var(--panel);border:1px solid var(--edge);border-radius:4px;padding:6px 10px 8px;display:flex;flex-direction:column;min-width:0;min-height:0}}
.panel h3{{font-size:13px;font-weight:600;margin:0 0 8px;overflow-wrap:anywhere}}
.number{{flex:1;display:flex;align-items:center;justify-content:center;text-align:center;font-weight:600;font-size:26px;line-height:1.1;overflow-wrap:anywhere}}
.number.words{{font-size:17px}}
.none,.error{{flex:1;display:flex;align-items:center;justify-content:center;text-align:center;color:var(--dim)}}
.error{{color:var(--red);overflow-wrap:anywhere}}
.chart{{flex:1;min-height:60px;display:grid;grid-template-columns:auto minmax(0,1fr);grid-template-rows:minmax(0,1fr) 16px;column-gap:6px;font-size:11px;color:var(--dim)}}
.chart .y{{position:relative;text-align:right;white-space:nowrap}} .chart .y b{{visibility:hidden;font-weight:400}}
.chart .y span{{position:absolute;right:0;transform:translateY(-50%);line-height:1}}
.chart .area{{position:relative;border-left:1px solid var(--edge);border-bottom:1px solid var(--edge)}}
.chart svg{{position:absolute;inset:0;width:100%;height:100%;overflow:hidden}}
.chart .x{{grid-column:2;position:relative;height:16px}} .chart .x span{{position:absolute;transform:translateX(-50%);white-space:nowrap;top:3px;line-height:1}}
.chart i{{position:absolute;width:11px;height:11px;transform:translate(-50%,-50%)}}
.dot{{border-radius:50%;background:var(--c)}} .page{{background:var(--c);clip-path:polygon(50% 0,100% 100%,0 100%)}} .over{{border-radius:50%;border:2px solid var(--c);background:var(--panel)}}
path{{fill:none;stroke:var(--c);stroke-width:2;vector-effect:non-scaling-stroke;stroke-linejoin:round}}
path.grid{{stroke:var(--grid);stroke-width:1}} path.dashed{{stroke-dasharray:7 5}} path.step{{stroke-width:1;stroke-dasharray:5 5;opacity:.8}}
path.fill{{fill:var(--c);stroke:none;opacity:.18}} path.stack{{fill:var(--c);opacity:.45;stroke-width:1}} path.now{{stroke:var(--dim);stroke-width:1;stroke-dasharray:2 4}}
.legend{{display:flex;flex-wrap:wrap;gap:1px 12px;list-style:none;margin:4px 0 0;padding:0;font-size:11px;color:var(--dim)}}
.legend li:not(.more)::before{{content:"";display:inline-block;width:12px;height:3px;margin-right:5px;vertical-align:middle;background:var(--c)}}
.scroll{{flex:1;min-height:0;overflow:hidden}}
table{{border-collapse:collapse;width:100%;font-size:12px}} th{{text-align:left;color:var(--dim);font-weight:600}} td,th{{padding:3px 10px 3px 0;border-bottom:1px solid var(--grid);vertical-align:top}}
td.n,th.n{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}} td{{overflow-wrap:anywhere}} td.s{{white-space:nowrap}} td.w{{width:26%}}
details{{display:inline}} summary{{display:inline;color:var(--blue);cursor:pointer;list-style:none}} details[open] summary{{display:none}}
""".strip()


def page(title: str, body: str, *, refresh_s: int | None = None) -> str:
    """A whole document that needs nothing else; it loads itself anew where it is served live."""
    refresh = f'<meta http-equiv="refresh" content="{refresh_s}">' if refresh_s else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"{refresh}<title>{title}</title><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )

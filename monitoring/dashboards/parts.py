"""Shares parts between dashboards: panels with everything the rules ask for, and their grid.

The rules are in ``tests/monitoring/test_dashboards.py``: every panel has a title, a description,
a unit and the data source variable. So a panel cannot be made here without them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grafana_foundation_sdk.builders import common as c
from grafana_foundation_sdk.builders import dashboard as d
from grafana_foundation_sdk.builders import stat, table, timeseries
from grafana_foundation_sdk.builders import text as texts
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as cm
from grafana_foundation_sdk.models import dashboard as dm
from grafana_foundation_sdk.models import text as tm

from burstwatch.config import Config
from burstwatch.forecast.margins import WARNING_MARGINS

TAG = "burstwatch"
FLEET, VOLUME, HOST = "burstwatch-fleet", "burstwatch-volume", "burstwatch-host"
RESOURCE_BOARD = "burstwatch-resource"
FLEET_PROMETHEUS = "burstwatch-fleet-prometheus"
COLUMNS = 24
#: A column with the widest id of a volume (``vol-`` and 17 times ``4``), in pixels.
ID_WIDTH = 200
#: A column with an address and a port, in pixels.
HOST_WIDTH = 160
MINUTE_S = 60.0
#: A bucket that does not drain has an infinite time left, which Grafana writes as so many years.
NEVER: Mapping[str, object] = {
    "type": "range",
    "options": {"from": 1e10, "to": None, "result": {"text": "never"}},
}
#: Grafana makes a number as large as one line of it may be, and then breaks it at a space.
NO_BREAK = "\u00a0"
#: A number that is not news.
SMALL_PX = 28
#: So many of a panel that is repeated stand side by side.
PER_ROW = 3
#: A disk pages within its margin, and warns within twice of it. Other kinds have longer leads, so a time of any kind has
#: no colour.
PAGED_S = Config().margin_s
#: A time, on a tile as in a column: *17.2 mins*, *1.5 hours*. Of *00:17:10* readers asked whether it was a time of the day.
DURATION, DURATION_DECIMALS = "duration", 1
#: Grafana's name of a unit of ours.
UNITS = {DURATION: "s"}
RED, ORANGE, GREEN, BLUE, PURPLE, GREY, WELL = (
    "red",
    "dark-orange",
    "semi-dark-green",
    "blue",
    "purple",
    "text",
    "green",
)
#: Figures stand on a colour, on which Grafana writes in black or white: 4.5 to 1 in light and in dark. No shade of
#: orange can be read on both. What is well, or means nothing, has no colour: only what needs somebody does, and the one line
#: that says that all is well.
GROUNDS = {
    RED: "dark-red",
    ORANGE: "super-light-orange",
    PURPLE: "dark-purple",
    GREEN: "transparent",
    BLUE: "transparent",
    GREY: "transparent",
    WELL: "super-light-green",
}
Steps = tuple[tuple[float | None, str], ...]
#: Each from the value named on; None is what comes before.
TIME_LEFT: Steps = ((None, RED), (PAGED_S, ORANGE), (WARNING_MARGINS * PAGED_S, GREEN))
#: An axis of the next hour: who is paged for more?
HOUR_MINUTES = 60.0
#: In minutes, because Grafana labels an axis of seconds with 16.7 minutes. From none to a day.
LEAST_MINUTES, MOST_MINUTES = 0.0, 24 * 60.0
#: An axis from a minute to a day has twelve labels, which a lower panel crowds.
DOUBLING_HEIGHT = 10
BALANCE: Steps = ((None, RED), (0.2, ORANGE), (0.5, GREEN))
NONE_IS_WELL: Steps = ((None, GREEN), (1, RED))
NONE_IS_BEST: Steps = ((None, GREEN), (1, ORANGE))
#: Where AWS gives percent.
BALANCE_PERCENT: Steps = tuple((None if v is None else 100 * v, color) for v, color in BALANCE)
SOME_IS_WELL: Steps = ((None, RED), (1, GREEN))
PLAIN: Steps = ((None, BLUE),)


def in_minutes(steps: Steps) -> Steps:
    """The same steps of a time, for an axis of minutes."""
    return tuple((None if v is None else v / MINUTE_S, color) for v, color in steps)


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """What a number shows without data, and in which colour."""

    text: str
    color: str


#: The source has nothing to say, which is not news of either kind.
CALM = GREY
#: What is always there where somebody looks is not there.
NOBODY_LOOKS = Nothing(text="no data", color=ORANGE)
NO_DATA = Nothing(text="no data", color=CALM)


def episodes(*tags: str) -> Mapping[str, object]:
    """Closed episodes with all tags, as ``burstwatch episodes --annotations`` gives them to Grafana."""
    return {
        "name": "Episodes",
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "iconColor": ORANGE,
        "target": {"type": "tags", "tags": [TAG, *tags], "matchAny": False, "limit": 100},
    }


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A panel and its size in the grid of 24 columns."""

    builder: Any  # stat, table and time series have no class in common
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class SeriesStyle:
    """The style of a series or a column, by its name or by a pattern between slashes.

    Cells with ``steps`` stand on the colour of the threshold that they have reached; ``links`` are titles with URLs.
    ``on_the_right`` is an axis of its own there, which ends at ``most`` where that is given. A column has a ``width`` in pixels, or is ``wrapped``.
    """

    color: str = ""
    dashed: bool = False
    fill_to: str = ""
    unit: str = ""
    hidden_line: bool = False
    steps: Steps = ()
    links: Sequence[tuple[str, str]] = ()
    on_the_right: bool = False
    wrapped: bool = False
    width: int = 0
    most: float = 0.0
    #: Words for values, each with its colour: such a cell stands on it.
    names: Mapping[float, tuple[str, str]] = field(default_factory=dict)


def source(kind: str) -> cm.DataSourceRef:
    """The data source variable; ``kind`` is Grafana's name of the plugin."""
    return cm.DataSourceRef(type_val=kind, uid="${datasource}")


def number(
    title: str, text: str, *, kind: str, unit: str, targets: Sequence[Builder[Dataquery]],
    steps: Steps, width: int = 4, height: int = 4, calculation: str = "lastNotNull", none: Nothing = NO_DATA,
    decimals: int | None = None, names: Mapping[float, tuple[str, str]] | None = None,
    since: str = "", is_small: bool = False,
) -> Panel:  # fmt: skip
    """One number, as large as its panel unless it ``is_small``. ``names`` are words for values.

    ``since`` is a range of its own that ends now: what is hours old is not now. ``none`` is what stands there
    without data: Grafana would give it the colour of the lowest threshold, which may be that of good or of bad news.
    """
    words = none.text.replace(" ", NO_BREAK)
    nothing = dm.ValueMappingResult(text=words, color=GROUNDS[none.color])
    mappings: list[dm.ValueMap | dm.SpecialValueMap] = [
        dm.SpecialValueMap(
            options=dm.DashboardSpecialValueMapOptions(
                match=dm.SpecialValueMatch.NULL_AND_NAN, result=nothing
            )
        )
    ]
    panel = (
        _filled(
            stat.Panel(),
            title,
            text,
            kind=kind,
            unit=unit,
            targets=targets,
            steps=tuple((value, GROUNDS[color]) for value, color in steps),
        )
        .reduce_options(c.ReduceDataOptions().calcs([calculation]))
        .color_mode(cm.BigValueColorMode.BACKGROUND_SOLID)
        .graph_mode(cm.BigValueGraphMode.NONE)
        .no_value(words)
    )
    if since:
        panel = panel.time_from(since)
    if unit == DURATION:
        panel = panel.decimals(DURATION_DECIMALS)
    if decimals is not None:
        panel = panel.decimals(decimals)
    if is_small:
        panel = panel.text(c.VizTextDisplayOptions().value_size(SMALL_PX))
    if names:
        options = {
            f"{value:g}": dm.ValueMappingResult(text=word, color=GROUNDS[color])
            for value, (word, color) in names.items()
        }
        mappings.append(dm.ValueMap(options=options))
    panel = panel.mappings(mappings)
    return Panel(builder=panel, width=width, height=height)


def graph(
    title: str, text: str, *, kind: str, unit: str, targets: Sequence[Builder[Dataquery]],
    width: int = 12, height: int = 8, looks: Mapping[str, SeriesStyle] | None = None,
    steps: Steps = (), most: float | None = None, least: float | None = 0.0, label: str = "",
    stacked: bool = False, repeat: str = "", doubling: bool = False, none: str = "",
    soft_most: float | None = None, shades: bool = False,
) -> Panel:  # fmt: skip
    """Lines over time. ``steps`` are drawn as lines too, ``most`` and ``least`` end the axis.

    ``repeat`` is a variable for each value of which there is such a panel, three in a row. On an axis that is
    ``doubling`` each step is twice the one before, so that minutes can be told apart beside a day. The axis reaches to ``soft_most``
    at least. ``none`` is said without data. Lines that no look is for are ``shades`` of one colour that means
    nothing, or have the classic palette, which begins with green.
    """
    panel = _filled(
        timeseries.Panel(), title, text, kind=kind, unit=unit, targets=targets, steps=steps or PLAIN
    )
    panel = (
        panel.color_scheme(_colors(shades=shades))
        .line_width(2)
        .fill_opacity(30 if stacked else 0)
        .show_points(cm.VisibilityMode.AUTO)  # a lone value is a point
        .point_size(5)
        .span_nulls(600_000)
        .legend(
            c.VizLegendOptions()
            .display_mode(cm.LegendDisplayMode.LIST)
            .placement(cm.LegendPlacement.BOTTOM)
            .show_legend(show_legend=True)
            .calcs([])
        )
        .tooltip(
            c.VizTooltipOptions()
            .mode(cm.TooltipDisplayMode.MULTI)
            .sort(cm.SortOrder.ASCENDING)
        )
    )  # fmt: skip
    if repeat:
        panel = panel.repeat(repeat).repeat_direction("h").max_per_row(PER_ROW)
    if stacked:
        panel = panel.stacking(c.StackingConfig().mode(cm.StackingMode.NORMAL))
    if steps:
        panel = panel.thresholds_style(
            c.GraphThresholdsStyleConfig().mode(cm.GraphThresholdsStyleMode.DASHED)
        )
    if none:
        panel = panel.no_value(none)
    if soft_most is not None:
        panel = panel.axis_soft_max(soft_most)
    panel = _with_axis(panel, least, most, label, doubling=doubling)
    for name, look in (looks or {}).items():
        values = _properties(look)
        if name.startswith("/"):
            panel = panel.override_by_regexp(name, values)
        else:
            panel = panel.override_by_name(name, values)
    return Panel(builder=panel, width=width, height=height)


def _colors(*, shades: bool) -> d.FieldColor:
    if shades:
        return d.FieldColor().mode(dm.FieldColorModeId.SHADES).fixed_color(BLUE)
    return d.FieldColor().mode(dm.FieldColorModeId.PALETTE_CLASSIC)


def _with_axis(
    panel: timeseries.Panel, least: float | None, most: float | None, label: str, *, doubling: bool
) -> timeseries.Panel:
    if doubling:
        # Under a minute it is linear, so that none left has a place.
        doubles = (
            c.ScaleDistributionConfig().type(cm.ScaleDistribution.SYMLOG).log(2).linear_threshold(1)
        )
        panel = panel.scale_distribution(doubles)
    if most is not None:
        panel = panel.max(most)
    if least is not None:
        panel = panel.min(least)
    return panel.axis_label(label) if label else panel


def listing(
    title: str, text: str, *, kind: str, unit: str, targets: Sequence[Builder[Dataquery]],
    texts: Mapping[str, SeriesStyle], columns: Mapping[str, SeriesStyle],
    transformations: Sequence[dm.DataTransformerConfig], sort: str, steps: Steps = PLAIN, width: int = 12, height: int = 9, since: str = "",
    none: str = "",
) -> Panel:  # fmt: skip
    """A table, smallest of ``sort`` first: for time, balance and share that is the worst. ``since`` is as in ``number``, and ``none`` is said without data.

    The columns of ``texts`` are names and ids: without that unit Grafana writes an account as 123 Bil and a name such as 007 as 7.
    """
    panel = (
        _filled(table.Panel(), title, text, kind=kind, unit=unit, targets=targets, steps=steps)
        .transformations(list(transformations))
        .show_header(show_header=True)
        .min_width(80)
        .sort_by([c.TableSortByFieldState().display_name(sort).desc(desc=False)])
    )
    if none:
        panel = panel.no_value(none)
    as_texts = {name: replace(look, unit="string") for name, look in texts.items()}
    for name, look in {**as_texts, **columns}.items():
        panel = panel.override_by_name(name, _properties(look))
    if since:
        panel = panel.time_from(since)
    return Panel(builder=panel, width=width, height=height)


def words(title: str, description: str, markdown: str, *, width: int = COLUMNS, height: int = 6) -> Panel:  # fmt: skip
    """A panel of words; variables in them are filled in."""
    panel = (
        texts.Panel()
        .title(title)
        .description(description)
        .mode(tm.TextMode.MARKDOWN)
        .content(markdown)
    )
    return Panel(builder=panel, width=width, height=height)


def board(
    uid: str, title: str, text: str, *, variables: Sequence[Builder[dm.VariableModel]],
    rows: Sequence[tuple[str, Sequence[Panel]]], links: Sequence[d.DashboardLink] = (),
    time_from: str = "now-8h", time_to: str = "now", closed: Collection[str] = (),
) -> dm.Dashboard:  # fmt: skip
    """A dashboard: rows of panels from left to right, laid out here and not by the importer.

    The ``closed`` rows are opened by a click. What is below them stands where it is while they are closed.
    """
    built = (
        d.Dashboard(title)
        .uid(uid)
        .description(text)
        .tags([TAG])
        .time(time_from, time_to)
        .refresh("1m")
        .timezone("browser")  # whoever is on call reads local time; messages have UTC
        .tooltip(dm.DashboardCursorSync.CROSSHAIR)
        .variables(list(variables))
    )
    others = (
        d.DashboardLink("burstwatch")
        .type(dm.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(as_dropdown=False)
        .include_vars(include_vars=True)
        .keep_time(keep_time=True)
    )
    for link in (others, *links):
        built = built.link(link)
    number_of, y = 1, 0
    for row_title, panels in rows:
        is_closed = row_title in closed
        row = d.Row(row_title).id(number_of).grid_pos(dm.GridPos(x=0, y=y, w=COLUMNS, h=1))
        row = row.collapsed(collapsed=is_closed)
        placed, below = _in_rows(panels, number_of + 1, y + 1)
        if is_closed:
            for panel in placed:
                row = row.with_panel(panel)
        built = built.with_row(row)
        if not is_closed:
            for panel in placed:
                built = built.with_panel(panel)
        number_of, y = number_of + 1 + len(panels), y + 1 if is_closed else below
    dashboard: dm.Dashboard = built.build()
    dashboard.editable = False
    return dashboard


def _in_rows(panels: Sequence[Panel], number_of: int, y: int) -> tuple[list[Any], int]:
    """The panels with their numbers and places from a line of the grid on, and the line below them."""
    placed: list[Any] = []
    x, tallest = 0, 0
    for panel in panels:
        if x + panel.width > COLUMNS:
            y, x, tallest = y + tallest, 0, 0
        tallest = max(tallest, panel.height)
        place = dm.GridPos(x=x, y=y, w=panel.width, h=panel.height)
        placed.append(panel.builder.id(number_of + len(placed)).grid_pos(place))
        x += panel.width
    return placed, y + tallest


def transform(name: str, *, of: str = "", **options: object) -> dm.DataTransformerConfig:
    """A transformation of Grafana's, by its id; ``of`` is the one query that it is for."""
    only = dm.MatcherConfig(id_val="byRefId", options=of) if of else None
    return dm.DataTransformerConfig(id_val=name, options=options, filter_val=only)


def data_source(kind: str) -> d.DatasourceVariable:
    """The variable that every panel asks."""
    return d.DatasourceVariable("datasource").label("Data source").type(kind)


def query_variable(
    name: str, label: str, text: str, *, kind: str, query: str | dict[str, object],
    several: bool = False,
) -> d.QueryVariable:  # fmt: skip
    """A variable whose values the data source knows; ``several`` begins with all of them."""
    variable = (
        d.QueryVariable(name)
        .label(label)
        .description(text)
        .datasource(source(kind))
        .query(query)
        .refresh(dm.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dm.VariableSort.ALPHABETICAL_ASC)
    )
    if not several:
        return variable
    everything = dm.VariableOption(text="All", value="$__all")
    return variable.multi(multi=True).include_all(include_all=True).current(everything)


def link(title: str, url: str) -> d.DashboardLink:
    """A link out of a dashboard."""
    return (
        d.DashboardLink(title)
        .type(dm.DashboardLinkType.LINK)
        .url(url)
        .target_blank(target_blank=True)
    )


def _filled(
    panel: Any, title: str, text: str, *, kind: str, unit: str,  # noqa: ANN401 - see Panel
    targets: Sequence[Builder[Dataquery]], steps: Steps,
) -> Any:  # fmt: skip  # noqa: ANN401
    panel = (
        panel.title(title).description(text).datasource(source(kind)).unit(UNITS.get(unit, unit))
    )
    for target in targets:
        panel = panel.with_target(target)
    thresholds = [dm.Threshold(value=value, color=color) for value, color in steps]
    return panel.thresholds(d.ThresholdsConfig().mode(dm.ThresholdsMode.ABSOLUTE).steps(thresholds))


def _properties(look: SeriesStyle) -> list[dm.DynamicConfigValue]:
    grounds = [{"value": value, "color": GROUNDS[color]} for value, color in look.steps]
    # A value that is not there is not the lowest one.
    nothing = {
        "type": "special",
        "options": {"match": "null+nan", "result": {"text": "no data", "color": "transparent"}},
    }
    has_ground = bool(look.steps or look.names)
    names = {
        f"{value:g}": {"text": word, "color": GROUNDS[color]}
        for value, (word, color) in look.names.items()
    }
    mappings = [
        *([NEVER] if look.unit == DURATION else []),
        *([nothing] if has_ground else []),
        *([{"type": "value", "options": names}] if names else []),
    ]
    wished: dict[str, tuple[object, object]] = {
        "color": (look.color, {"mode": "fixed", "fixedColor": look.color}),
        "custom.lineStyle": (look.dashed, {"fill": "dash", "dash": [10, 6]}),
        "custom.fillBelowTo": (look.fill_to, look.fill_to),
        "custom.fillOpacity": (look.fill_to, 20),
        "custom.lineWidth": (look.hidden_line, 0),
        "unit": (look.unit, UNITS.get(look.unit, look.unit)),
        "decimals": (look.unit == DURATION, DURATION_DECIMALS),
        "mappings": (mappings, mappings),
        "thresholds": (look.steps, {"mode": "absolute", "steps": grounds}),
        "custom.cellOptions": (has_ground, {"type": "color-background", "mode": "basic"}),
        "links": (look.links, [{"title": title, "url": url} for title, url in look.links]),
        "custom.axisPlacement": (look.on_the_right, "right"),
        "custom.wrapText": (look.wrapped, look.wrapped),
        "custom.width": (look.width, look.width),
        "max": (look.most, look.most),
    }
    return [
        dm.DynamicConfigValue(id_val=name, value=value)
        for name, (is_wished, value) in wished.items()
        if is_wished
    ]

"""Queries of Grafana's Prometheus data source, by the exporter's own definitions of its metrics."""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.builders import dashboard as d
from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.models import prometheus as pm

from burstwatch.web.exposition import Definition
from monitoring.dashboards.parts import (
    Panel,
    SeriesStyle,
    listing,
    query_variable,
    source,
    transform,
)

KIND = "prometheus"
#: A disk in a legend.
DISK = "{{device}}"
HOSTS = 'job=~"$job",instance=~"$instance"'
DISKS = f'{HOSTS},device=~"$device"'


def one(metric: Definition, *, of: str = DISKS, suffix: str = "", **labels: str) -> str:
    """A selector; a label's value that begins with ~ is a pattern.

    Raises:
        ValueError: for a label that the metric does not have.
    """
    wrong = set(labels) - set(metric.labels)
    if wrong:
        msg = f"{metric.printed} has no label {min(wrong)}, it has {', '.join(metric.labels)}"
        raise ValueError(msg)
    pairs = [
        f'{name}=~"{value[1:]}"' if value.startswith("~") else f'{name}="{value}"'
        for name, value in labels.items()
    ]
    return f"{metric.printed}{suffix}{{{','.join([of, *pairs])}}}"


def rate(metric: Definition, *, of: str = DISKS, suffix: str = "", **labels: str) -> str:
    """The rate of a counter, over a window long enough that one missed scrape does not empty it."""
    return f"rate({one(metric, of=of, suffix=suffix, **labels)}[$__rate_interval])"


def series(name: str, expression: str, legend: str) -> prometheus.Dataquery:
    """Over the whole range."""
    return _query(name, expression).range().legend_format(legend)


def now(name: str, expression: str, legend: str) -> prometheus.Dataquery:
    """At the end of the range, for a number: what is gone by then is not shown."""
    return _query(name, expression).instant().legend_format(legend)


def latest(name: str, expression: str) -> prometheus.Dataquery:
    """At the end of the range, one row for each series."""
    return _query(name, expression).instant().format(pm.PromQueryFormat.TABLE)


def compared(
    title: str, text: str, *, labels: Mapping[str, tuple[str, SeriesStyle]], columns: Mapping[str, tuple[str, SeriesStyle]],
    sort: str, width: int, height: int = 9, first: Sequence[str] = (),
) -> Panel:  # fmt: skip
    """A table with a column for each query, and a row for each set of labels, which all queries share.

    ``labels`` has the headings of the labels, ``columns`` those of the queries, each with how it looks. Columns that are
    ``first`` stand before the labels.
    """
    letters = [chr(ord("A") + i) for i in range(len(columns))]
    names = {f"Value #{letter}": name for letter, name in zip(letters, columns, strict=True)}
    leading = [value for value, name in names.items() if name in first]
    order = [*leading, *labels, *(value for value in names if value not in leading)]
    queries = zip(letters, columns.values(), strict=True)
    return listing(
        title, text, kind=KIND, unit="short", width=width, height=height, sort=sort,
        targets=[latest(letter, query) for letter, (query, _) in queries],
        texts=dict(labels.values()),
        columns={name: look for name, (_, look) in columns.items()},
        transformations=[
            transform("merge"),
            transform(
                "organize",
                excludeByName={"Time": True},
                indexByName={name: i for i, name in enumerate(order)},
                renameByName={**{label: name for label, (name, _) in labels.items()}, **names},
            ),
        ],
    )  # fmt: skip


def values_of(
    name: str, label: str, text: str, *, metric: str, matching: str = "", several: bool = False
) -> d.QueryVariable:
    """A variable with the values that a label has."""
    query = f"label_values({metric}{{{matching}}}, {name})"
    asked: dict[str, object] = {"query": query, "qryType": 1, "refId": f"values of {name}"}
    return query_variable(name, label, text, kind=KIND, query=asked, several=several)


def _query(name: str, expression: str) -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .datasource(source(KIND))
        .ref_id(name)
        .expr(expression)
        .editor_mode(pm.QueryEditorMode.CODE)
    )

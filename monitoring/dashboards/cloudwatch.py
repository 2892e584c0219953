"""Queries of Grafana's CloudWatch data source."""

from collections.abc import Mapping

from grafana_foundation_sdk.builders import cloudwatch
from grafana_foundation_sdk.builders import dashboard as d
from grafana_foundation_sdk.models import cloudwatch as cm
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.aws.client.names import NAMESPACE
from monitoring.dashboards.parts import query_variable, source

KIND = "cloudwatch"
EBS, EC2 = "AWS/EBS", "AWS/EC2"
#: The region of all queries, which is the deployment's: burstwatch's own metrics are there.
REGION = "$region"


def metric(
    name: str, namespace: str, metric_name: str, statistic: str, dimensions: Mapping[str, str],
    *, label: str = "", period_s: int = 60, hidden: bool = False,
) -> cloudwatch.MetricsQuery:  # fmt: skip
    """One metric. ``name`` is its id for expressions, and begins with a small letter."""
    by_name: dict[str, str | list[str]] = dict(dimensions)
    return (
        _query(name, label, period_s, hidden=hidden)
        .metric_editor_mode(cm.MetricEditorMode.BUILDER)
        .namespace(namespace)
        .metric_name(metric_name)
        .dimensions(by_name)
        .match_exact(match_exact=True)
        .statistic(statistic)
    )


def math(
    name: str, expression: str, *, label: str = "", period_s: int = 60, hidden: bool = False
) -> cloudwatch.MetricsQuery:
    """Metric math, or a SEARCH."""
    return (
        _query(name, label, period_s, hidden=hidden)
        .metric_editor_mode(cm.MetricEditorMode.CODE)
        .namespace("")
        .statistic("Average")
        .expression(expression)
    )


def insights(
    name: str, sql: str, *, label: str = "", period_s: int = 60
) -> cloudwatch.MetricsQuery:
    """A Metrics Insights query."""
    return (
        _query(name, label, period_s, hidden=False)
        .metric_query_type(cm.MetricQueryType.INSIGHTS)
        .metric_editor_mode(cm.MetricEditorMode.CODE)
        .namespace("")
        .statistic("Average")
        .sql_expression(sql)
    )


def region(
    name: str = "region", label: str = "Region", text: str = "The region that is looked at."
) -> d.QueryVariable:
    """The region of all queries, or of some."""
    return query_variable(name, label, text, kind=KIND, query={"queryType": "regions"}).current(
        dm.VariableOption(text="default", value="default")
    )


def values_of(
    name: str, label: str, text: str, *, namespace: str, metric_name: str, dimension: str,
    of: Mapping[str, str] | None = None,
) -> d.QueryVariable:  # fmt: skip
    """A variable with the values that a dimension of a metric has, ``of`` those with other dimensions so."""
    query: dict[str, object] = {
        "queryType": "dimensionValues",
        "region": REGION,
        "namespace": namespace,
        "metricName": metric_name,
        "dimensionKey": dimension,
        "dimensionFilters": dict(of or {}),
    }
    return query_variable(name, label, text, kind=KIND, query=query)


def deployment() -> d.QueryVariable:
    """The deployment whose metrics are shown."""
    return values_of(
        "deployment", "Deployment", "The deployment of burstwatch that watches.",
        namespace=NAMESPACE, metric_name="ResourcesSeen", dimension="Deployment",
    )  # fmt: skip


def _query(name: str, label: str, period_s: int, *, hidden: bool) -> cloudwatch.MetricsQuery:
    return (
        cloudwatch.MetricsQuery()
        .datasource(source(KIND))
        .query_mode(cm.QueryMode.METRICS)
        .metric_query_type(cm.MetricQueryType.SEARCH)
        .ref_id(name)
        .id(name)
        .region(REGION)
        .period(str(period_s))
        .label(label)
        .hide(hidden)
    )

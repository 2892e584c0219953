"""*Resource*: one resource of any kind and region, its time left, its credits and what spends them. CloudWatch."""

import re
from collections.abc import Iterable

from grafana_foundation_sdk.builders.cloudwatch import MetricsQuery
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.aws.client.names import NAMESPACE, TIME_METRIC
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import DemandMetric, Kind
from monitoring.dashboards.cloudwatch import KIND, deployment, math, region, values_of
from monitoring.dashboards.parts import (
    RESOURCE_BOARD,
    Panel,
    SeriesStyle,
    board,
    data_source,
    episodes,
    graph,
)
from monitoring.dashboards.verdict import Verdict

ANNOTATIONS = (episodes("$resource"),)
#: Volumes of the deployment's own region have a dashboard of their own as well.
KINDS = tuple(find_kinds().values())
VERDICT = Verdict(kind="$kind", resource="$resource")
#: AWS publishes what these are made of every five minutes.
PERIOD_S = 300
#: ``i-0123456789abcdef0`` of ``i-0123456789abcdef0.cpu``, as in burstwatch.shards.thing_id.
#: In another unit, a name begins with that unit: ``222222222222.eu-west-1/orders-db.cpu``.
THING = r"/^(?:\d{12}\.[^/]+\/)?([^.]+)/"


def build() -> dm.Dashboard:
    """The dashboard. Which kinds there are comes from the kinds themselves."""
    of_deployment = {"Deployment": "$deployment"}
    of_resource = {**of_deployment, "ResourceId": "$resource"}
    return board(
        RESOURCE_BOARD,
        "burstwatch / Resource",
        "One resource of any kind and region: how long is left, its credits, and what spends them.",
        variables=[
            data_source(KIND),
            region(),
            region("aws_region", "Region of the resource", "The region of AWS's own metrics, which may be another than the deployment's."),
            deployment(),
            values_of(
                "resource", "Resource", "The resource that is looked at. Those that burstwatch warned of in the last two weeks.",
                namespace=NAMESPACE, metric_name=TIME_METRIC, dimension="ResourceId", of=of_deployment,
            ),
            values_of(
                "kind", "Kind", "The kind of its credits.",
                namespace=NAMESPACE, metric_name=TIME_METRIC, dimension="Kind", of=of_resource,
            ),
            values_of(
                "thing", "Id in AWS", "The id as AWS writes it: i-0123, not i-0123.cpu.",
                namespace=NAMESPACE, metric_name=TIME_METRIC, dimension="ResourceId", of=of_resource,
            ).regex(THING),
        ],
        time_from="now-12h",
        rows=[
            ("Now", VERDICT.tiles(width=8, state_width=8)),
            ("How long is left", [_credits(), VERDICT.time_left(width=10)]),
            ("Load", [_demand()]),
        ],
    )  # fmt: skip


def _credits() -> Panel:
    """One graph for every kind, for a kind that has none of another's metrics would leave theirs empty."""
    levels = [(kind, name) for kind in KINDS for name in kind.level_metrics]
    in_percent = sorted({name for kind, name in levels if kind.is_percent})
    return graph(
        "Credits", "What AWS publishes: percent of a full bucket for EBS and FSx, CPU credits of which each is one vCPU for a minute, bytes for EFS.",
        kind=KIND, unit="short", width=14, height=10, shades=True,
        targets=_searches((kind, DemandMetric(name=name, statistic="Average", is_rate=True)) for kind, name in levels),
        looks={
            _of(in_percent): SeriesStyle(unit="percent", most=100),
            _of(["BurstCreditBalance"]): SeriesStyle(unit="bytes"),
        },
    )  # fmt: skip


def _demand() -> Panel:
    demands = [(kind, metric) for kind in KINDS for metric in kind.demand_metrics]
    names = {metric.name for _, metric in demands}
    operations = sorted(name for name in names if re.search("Ops|Operations|IOPS", name))
    moved = sorted(name for name in names if re.search("Bytes|Throughput", name))
    return graph(
        "Load",
        "Operations a second, and bytes a second on the right, of which EFS meters a read as a third. For CPU credits: vCPUs in use, each of "
        "which spends one credit a minute.",
        kind=KIND, unit="short", width=24, height=9, shades=True, targets=_searches(demands),
        looks={
            _of(operations): SeriesStyle(unit="iops"),
            _of(moved): SeriesStyle(unit="binBps", on_the_right=True, dashed=True),
        },
    )  # fmt: skip


def _of(metrics: Iterable[str]) -> str:
    """The lines of these metrics, by the pattern of their names."""
    return f"/^({'|'.join(metrics)})( |$)/"


def _searches(wanted: Iterable[tuple[Kind, DemandMetric]]) -> list[MetricsQuery]:
    """A search for each metric, which finds those of this resource and else nothing. Totals become rates."""
    searches: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, one in wanted:
        schema = ",".join((kind.namespace, *kind.dimensions))
        terms = f'MetricName="{one.name}" {kind.dimensions[0]}="$thing"'
        found = f"SEARCH('{{{schema}}} {terms}', '{one.statistic}', {PERIOD_S})"
        per_unit_s = 60 if "Credit" in one.name else 1
        rate = found if one.is_rate else f"{found} * {per_unit_s} / {PERIOD_S}"
        # A cluster has several nodes.
        parts = (f"${{PROP('Dim.{dimension}')}}" for dimension in kind.dimensions[1:])
        searches[schema, one.name] = " ".join((one.name, *parts)), rate
    return [
        math(f"q{i}", found, label=label, period_s=PERIOD_S).region("$aws_region")
        for i, (label, found) in enumerate(searches.values())
    ]

"""*Resource*: one resource of any other kind, its time left, its credits and what spends them. CloudWatch."""

import re
from collections.abc import Iterable

from grafana_foundation_sdk.builders.cloudwatch import MetricsQuery
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.aws.client.names import NAMESPACE, TIME_METRIC
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import DemandMetric, Kind, from_percent
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from monitoring.dashboards.cloudwatch import KIND, deployment, math, region, values_of
from monitoring.dashboards.parts import (
    BALANCE_PERCENT,
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
OTHERS = [kind for kind in find_kinds().values() if kind.name != EBS_VOLUME.name]
VERDICT = Verdict(kind="$kind", resource="$resource")
#: AWS publishes what these are made of every five minutes.
PERIOD_S = 300
#: Volumes have a dashboard of their own.
NO_VOLUME = "/^(?!vol-).+/"
#: What a graph says that has nothing to show for this kind.
OF_ANOTHER_KIND = "no data: this resource has other credits"
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
        "One instance, database, file system or cache: how long is left, its credits, and what spends them.",
        variables=[
            data_source(KIND),
            region(),
            deployment(),
            values_of(
                "resource", "Resource", "The resource that is looked at. Those that burstwatch warned of in the last two weeks.",
                namespace=NAMESPACE, metric_name=TIME_METRIC, dimension="ResourceId", of=of_deployment,
            ).regex(NO_VOLUME),
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
            ("How long is left", [*_balances(), VERDICT.time_left(width=8)]),
            ("What spends it", _demand()),
        ],
    )  # fmt: skip


def _balances() -> list[Panel]:
    def levels(*, in_percent: bool) -> list[MetricsQuery]:
        return _found(
            (kind, DemandMetric(name=name, statistic="Average", is_rate=True))
            for kind in OTHERS
            if (kind.to_ratio is from_percent) is in_percent
            for name in kind.level_metrics
        )

    return [
        graph(
            "Balance", "What AWS publishes in percent: EBS credits of instances and databases, storage of RDS, disks of FSx.",
            kind=KIND, unit="percent", most=100, steps=BALANCE_PERCENT, width=8, height=10, shades=True,
            targets=levels(in_percent=True), none=OF_ANOTHER_KIND,
        ),
        graph(
            "Credits", "What AWS publishes as an amount: CPU credits, each of which is one vCPU for a minute, and bytes of EFS on the right.",
            kind=KIND, unit="short", width=8, height=10, shades=True, targets=levels(in_percent=False), none=OF_ANOTHER_KIND,
            looks={"BurstCreditBalance": SeriesStyle(unit="bytes", on_the_right=True)},
        ),
    ]  # fmt: skip


def _demand() -> list[Panel]:
    def spent(pattern: str) -> list[MetricsQuery]:
        return _found(
            (kind, one)
            for kind in OTHERS
            for one in kind.demand_metrics
            if re.search(pattern, one.name)
        )

    return [
        graph(
            "vCPUs in use", "CPU credits that are spent, of which a full vCPU spends one a minute.",
            kind=KIND, unit="short", width=8, targets=spent("CPU"), none=OF_ANOTHER_KIND,
        ),
        graph(
            "Operations", "Reads and writes a second.",
            kind=KIND, unit="iops", width=8, targets=spent("Ops|Operations|IOPS"), none=OF_ANOTHER_KIND,
        ),
        graph(
            "Throughput", "Bytes a second, read and written. EFS meters a read as a third.",
            kind=KIND, unit="binBps", width=8, targets=spent("Bytes|Throughput"), none=OF_ANOTHER_KIND,
        ),
    ]  # fmt: skip


def _found(wanted: Iterable[tuple[Kind, DemandMetric]]) -> list[MetricsQuery]:
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
        math(f"q{i}", found, label=label, period_s=PERIOD_S)
        for i, (label, found) in enumerate(searches.values())
    ]

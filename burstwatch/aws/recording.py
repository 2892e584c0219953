"""Reads what CloudWatch still has of some resources, as rows that can be played again."""

import time
from collections.abc import Sequence

from burstwatch.aws.inventory import take_inventory
from burstwatch.aws.metrics import read_metrics
from burstwatch.aws.session import AwsError, Clients, Deadline
from burstwatch.backtest.series import PERCENT, Row, at_period
from burstwatch.history.cadence import cadence_s
from burstwatch.history.observations import Resource
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.polling.queries import Answers, demand_queries, level_query

#: CloudWatch keeps datapoints of 60 s for fifteen days.
KEPT_S = 15 * 86_400.0
PERIOD_S = 60.0
BUDGET_S = 120.0


def record(
    clients: Clients, volume_ids: Sequence[str], *, now: float, back_s: float = KEPT_S
) -> list[tuple[Resource, list[Row], float]]:
    """Each volume with its rows in time order, and the seconds per row.

    Raises:
        AwsError: naming a volume that is not there, or a series that could not be read.
    """
    inventory = take_inventory(KIND, clients, clients.unit(), now=now)
    known = {resource.id: resource for resource in inventory.resources}
    for volume_id in volume_ids:
        if volume_id not in known:
            why = "; ".join(f"{p.part}: {p.error}" for p in inventory.problems)
            msg = f"no volume {volume_id!r} in {clients.unit()}{f' ({why})' if why else ''}"
            raise AwsError(msg)
    chosen = [known[volume_id] for volume_id in volume_ids]
    queries = [
        query
        for resource in chosen
        for query in (level_query(KIND, resource), *demand_queries(KIND, resource))
    ]
    answers = read_metrics(
        clients,
        queries,
        start_s=now - min(back_s, KEPT_S),
        end_s=now,
        period_s=int(PERIOD_S),
        deadline=Deadline(time.monotonic, at=time.monotonic() + BUDGET_S),
    )
    for (resource_id, metric), why in answers.failed.items():
        msg = f"{metric} of {resource_id}: {why}"
        raise AwsError(msg)
    return [(resource, *_rows(answers, resource)) for resource in chosen]


def _rows(answers: Answers, resource: Resource) -> tuple[list[Row], float]:
    series = {
        metric: dict(answers.series.get((resource.id, metric), ())) for metric in KIND.metrics
    }
    starts = sorted({start for points in series.values() for start in points})
    if not starts:
        msg = f"CloudWatch has no datapoint of {resource.id}"
        raise AwsError(msg)
    level = series[resource.level_metric]
    # A row for each minute: one without any datapoint is silence, and not blindness.
    minutes = round((starts[-1] - starts[0]) / PERIOD_S) + 1
    rows = [
        Row(
            t_s=start,
            balance_percent=min(PERCENT, max(0.0, level[start])) if start in level else None,
            read_ops=series["VolumeReadOps"].get(start),
            write_ops=series["VolumeWriteOps"].get(start),
            read_bytes=series["VolumeReadBytes"].get(start),
            write_bytes=series["VolumeWriteBytes"].get(start),
        )
        for start in (starts[0] + PERIOD_S * n for n in range(minutes))
    ]
    # A balance that comes every five minutes is known at the end of its five, not before.
    period_s = cadence_s(sorted(level) or starts)
    return list(at_period(rows, PERIOD_S, period_s)[0]), period_s

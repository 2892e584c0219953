"""Reads what CloudWatch still has of a resource, as samples that can be played again."""

import time
from collections.abc import Mapping, Sequence

from burstwatch.aws.client.session import AwsError, Clients, Deadline
from burstwatch.aws.inventory.inventory import find_thing, take_inventory
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.backtest.replay import Recorded
from burstwatch.formatting import DAY
from burstwatch.history.observations import Resource
from burstwatch.history.points import (
    COARSE_S,
    FINE_S,
    FIVE_MINUTES_KEPT,
    MINUTES_KEPT,
    cadence_s,
)
from burstwatch.kinds.base import Kind, Scope
from burstwatch.polling.queries import (
    charge_queries,
    charge_since,
    check_queries,
    demand_queries,
    exceeded_shares,
    level_query,
)
from burstwatch.recordings.samples import Sample, at_period, lowest_bucket, to_points
from burstwatch.shards import thing_id

BUDGET_S = 120.0


def record(
    clients: Clients, kinds: Sequence[Kind], resource_id: str, *, now: float, back_s: float
) -> Recorded:
    """Download the last ``back_s`` seconds from CloudWatch, in the finest period that it keeps so long.

    Of a resource with several buckets it is the one that was lowest, with the samples of all.

    Raises:
        AwsError: if no kind has such a resource, or a series could not be read.
    """
    kind, buckets = _find_named(clients, kinds, resource_id, now=now)
    is_fine = back_s <= MINUTES_KEPT.value * DAY
    period_s = int(FINE_S if is_fine else COARSE_S)
    queries = [
        *(level_query(kind, bucket) for bucket in buckets),
        *demand_queries(kind, buckets[0]),
        *check_queries(kind, buckets[0]),
        *charge_queries(kind, buckets[0]),
    ]
    answers = read_metrics(
        clients,
        queries,
        start_s=now - min(back_s, FIVE_MINUTES_KEPT.value * DAY),
        end_s=now,
        period_s=period_s,
        deadline=Deadline(time.monotonic, at=time.monotonic() + BUDGET_S),
    )
    for (_, metric), why in answers.failed.items():
        if metric not in kind.metrics:
            continue  # it is an extra
        msg = f"{metric} of {resource_id}: {why}"
        raise AwsError(msg)
    series = {
        metric: dict(points)
        for (_, metric), points in answers.series.items()
        if metric in kind.metrics
    }
    samples = samples_of(series, kind, float(period_s))
    if not samples:
        why = buckets[0].terms.no_bucket_reason
        msg = f"CloudWatch has no datapoint of {resource_id}{f', and {why}' if why else ''}"
        raise AwsError(msg)
    resource = lowest_bucket(kind, buckets, samples)
    wide, step_s = _at_cadence(samples, resource, kind, period_s)
    if not wide:
        msg = f"{resource_id} has datapoints of {samples[-1].t_s + period_s - samples[0].t_s:.0f} s only, needed is one period of {step_s:g} s"
        raise AwsError(msg)
    is_id = thing_id(resource_id) == thing_id(resource.id)
    return Recorded(
        name=resource_id if is_id else f"{resource_id} ({resource.id})",
        kind=kind,
        resource=resource,
        samples=wide,
        points=to_points(wide, resource, step_s, kind),
        period_s=step_s,
        exceeded=exceeded_shares(kind, buckets[0], answers),
        charge=charge_since(kind, buckets[0], answers, period_s),
    )


def _at_cadence(
    samples: Sequence[Sample], resource: Resource, kind: Kind, period_s: int
) -> tuple[Sequence[Sample], float]:
    """Merge samples to the cadence of the level: one that comes every five minutes is known at the end of its five."""
    levels = sorted(sample.t_s for sample in samples if resource.level_metric in sample.values)
    # The last level covers the whole time between two datapoints, so it may end after the last sample.
    level_ends = [start + resource.reporting.published_every_s for start in levels[-1:]]
    return at_period(
        samples,
        float(period_s),
        max(cadence_s(levels or [samples[0].t_s]), resource.reporting.published_every_s),
        kind=kind,
        level_statistic=resource.reporting.statistic,
        end_s=max([samples[-1].t_s + period_s, *level_ends]),
    )


def _find_named(
    clients: Clients, kinds: Sequence[Kind], id_or_name: str, *, now: float
) -> tuple[Kind, list[Resource]]:
    """The kind and the buckets of a resource, by an id or by the name that people use."""
    try:
        return _find(clients, kinds, id_or_name, now=now)
    except AwsError:
        _, thing = find_thing(clients, kinds, id_or_name)
        if thing.name != id_or_name:  # then the name was not the reason
            raise
        return _find(clients, kinds, thing.id, now=now)


def _find(
    clients: Clients, kinds: Sequence[Kind], resource_id: str, *, now: float
) -> tuple[Kind, list[Resource]]:
    """The kind and the buckets of a resource, by its id or by that of its thing.

    One without credits is found where there is no other: it may have had some until an hour ago.
    """
    unit = clients.unit()
    scope = Scope(ids=(thing_id(resource_id),))
    matches: dict[str, tuple[Kind, list[Resource]]] = {}
    without: dict[str, tuple[Kind, list[Resource]]] = {}
    failed: dict[str, None] = {}
    for kind in kinds:
        inventory = take_inventory(kind, clients, unit, now=now, scope=scope)
        failed |= {f"{problem.part}: {problem.error}": None for problem in inventory.problems}
        for resource in inventory.resources:
            if resource_id in {resource.id, thing_id(resource.id)}:
                of_this = matches if resource.bucket else without
                of_this.setdefault(resource.id, (kind, []))[1].append(resource)
    matches = matches or without
    if resource_id in matches:
        return matches[resource_id]
    if len(matches) == 1:
        return next(iter(matches.values()))
    why = f" ({'; '.join(failed)})" if failed else ""
    if matches:
        msg = f"{resource_id} has several kinds of credits: use one of these ids: {', '.join(matches)}"
    else:
        msg = f"no resource {resource_id!r} with credits in {unit}{why}"
    raise AwsError(msg)


def samples_of(
    series: Mapping[str, Mapping[float, float]], kind: Kind, period_s: float
) -> list[Sample]:
    """Turn series by metric into one sample a period, from the first datapoint to the last; none without any."""
    starts = sorted({start for points in series.values() for start in points})
    if not starts:
        return []
    # A sample for each period: one without any datapoint is silence, and not blindness.
    count = round((starts[-1] - starts[0]) / period_s) + 1
    times = (starts[0] + period_s * n for n in range(count))
    return [
        Sample(
            t_s=at,
            values={name: series[name][at] for name in kind.metrics if at in series.get(name, ())},
        )
        for at in times
    ]

"""Measures what AWS does not say: how often and how late datapoints come, and which statistics exist.

``docs/live-checklist.md`` lists the questions. The answers are those of the resources that are there.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from burstwatch.aws.client.session import Clients
from burstwatch.aws.doctor.checks import Datapoints, Finding, read_points
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.bucket import HOUR_S
from burstwatch.formatting import span
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind

#: Most resources of a kind that are measured: each costs some requests.
RESOURCES_MEASURED = 5
BACK_S = 3 * HOUR_S
STATISTICS = ("Minimum", "Average", "Maximum")


def measure_cadence(clients: Clients, kind: Kind, *, now: float) -> Iterator[Finding]:
    """The answers of a kind: one finding for each question."""
    inventory = take_inventory(kind, clients, clients.unit(), now=now)
    # Resized ones first, because they are rare.
    usable = sorted(
        (resource for resource in inventory.resources if resource.can_spend),
        key=lambda resource: resource.reporting.history_from_s is None,
    )[:RESOURCES_MEASURED]
    if not usable:
        nothing = "no resource in use here has a credit bucket"
        detail = "; ".join(problem.error for problem in inventory.problems) or nothing
        yield Finding(check=f"{kind.name} measured", state="unknown", detail=detail)
        return
    levels = {
        name: [_read_levels(clients, kind, resource, name, now) for resource in usable]
        for name in STATISTICS
    }
    yield _cadence(kind, levels, now)
    yield _statistics(kind, usable, levels)
    yield _future(clients, kind, usable[0], levels, now)
    if kind.charge_metric:
        yield _surplus(clients, kind, inventory.resources, now)
    for number, resource in enumerate(usable):
        yield from _resize(kind, resource, levels[resource.reporting.statistic][number])


def _read_levels(
    clients: Clients, kind: Kind, resource: Resource, statistic: str, now: float, *, ahead_s: float = 0.0
) -> Datapoints:  # fmt: skip
    """Ask CloudWatch for a resource's newest balances, in a time range that may end in the future."""
    return read_points(
        clients,
        (kind.namespace, resource.level_metric),
        dict(kind.dimensions_of(resource)),
        statistic,
        start_s=now - BACK_S,
        end_s=now + ahead_s,
    )


def _cadence(kind: Kind, levels: dict[str, list[Datapoints]], now: float) -> Finding:
    """How far datapoints are apart, and how long after its period's end the newest is there."""
    series = [times for points in levels.values() for times, _ in points if len(times) > 1]
    check = f"{kind.name} cadence and lateness"
    if not series:
        detail = "no datapoints in three hours"
        return Finding(check=check, state="unknown", detail=detail, do="run it while there is I/O")
    gaps = [later - before for times in series for before, later in pairwise(times)]
    every_s = median(gaps)
    late_s = min(now - times[-1] - every_s for times in series)
    detail = (
        f"one datapoint every {span(every_s)}, longest gap {span(max(gaps))}, "
        f"delay of the newest {span(max(0.0, late_s))}"
    )
    return Finding(check=check, state="ok", detail=detail)


def _statistics(
    kind: Kind, resources: Sequence[Resource], levels: dict[str, list[Datapoints]]
) -> Finding:
    """Check that the statistic that we ask for is published."""
    counts = {name: sum(bool(times) for times, _ in levels[name]) for name in STATISTICS}
    missing = [
        resource.id
        for number, resource in enumerate(resources)
        if not levels[resource.reporting.statistic][number][0]
        and any(levels[s][number][0] for s in STATISTICS)
    ]
    if not any(counts.values()):
        return Finding(check=f"{kind.name} statistics", state="unknown", detail="no datapoints")
    figures = ", ".join(f"{count} have {name}" for name, count in counts.items())
    return Finding(
        check=f"{kind.name} statistics",
        state="failed" if missing else "ok",
        detail=f"of {len(resources)} resources, {figures}",
        do=f"report it: {missing[0]} lacks the statistic that is asked for" if missing else "",
    )


def _future(
    clients: Clients,
    kind: Kind,
    resource: Resource,
    levels: dict[str, list[Datapoints]],
    now: float,
) -> Finding:
    """Check that a range that ends in the future leaves the datapoints of the past as they are."""
    check = f"{kind.name} query that ends in the future"
    plain, _ = levels[resource.reporting.statistic][0]
    if not plain:
        return Finding(check=check, state="unknown", detail="no datapoints")
    ahead, _ = _read_levels(
        clients, kind, resource, resource.reporting.statistic, now, ahead_s=HOUR_S
    )
    is_same = set(plain) <= set(ahead)
    return Finding(
        check=check,
        state="ok" if is_same else "failed",
        detail="returns the same datapoints" if is_same else "returns other datapoints",
        do="" if is_same else "report it",
    )


def _surplus(clients: Clients, kind: Kind, resources: Sequence[Resource], now: float) -> Finding:
    """How many in Unlimited mode are judged by their surplus, and of how many of these AWS publishes what it charges for."""
    check = f"{kind.name} surplus"
    unlimited = [r for r in resources if r.can_spend and not r.terms.is_throttled]
    owing = [resource for resource in unlimited if kind.may_be_charged(resource)]
    if not unlimited:
        return Finding(check=check, state="ok", detail="none is in Unlimited mode")
    measured = owing[:RESOURCES_MEASURED]
    charges = [
        read_points(
            clients,
            (kind.namespace, kind.charge_metric),
            dict(kind.dimensions_of(resource)),
            "Sum",
            start_s=now - BACK_S,
            end_s=now,
        )
        for resource in measured
    ]
    published = sum(bool(times) for times, _ in charges)
    detail = (
        f"of {len(unlimited)} in Unlimited mode, {len(owing)} are judged by their surplus and "
        f"{len(unlimited) - len(owing)} by their balance; {published} of {len(measured)} have {kind.charge_metric}"
    )
    return Finding(
        check=check, state="ok" if published == len(measured) else "unknown", detail=detail
    )


def _resize(kind: Kind, resource: Resource, level: Datapoints) -> Iterator[Finding]:
    """The level before and after a resize or retype of the last hours, if there was one."""
    changed_s = resource.reporting.history_from_s
    if changed_s is None:
        return
    points = list(zip(*level, strict=True))
    before = [value for at, value in points if at < changed_s]
    after = [value for at, value in points if at >= changed_s]
    if before and after:
        yield Finding(
            check=f"{kind.name} resize of {resource.id}",
            state="ok",
            detail=f"level {before[-1]:g} before, {after[0]:g} after",
        )

"""`scan --cost`: what watching would cost a month, by type."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from burstwatch.cli.documents import as_document
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import usd_of
from burstwatch.forecast.policy import SEVERITY
from burstwatch.formatting import table
from burstwatch.polling.bill import ONE_UNIT, Extent, deployment_lines
from burstwatch.polling.cost import (
    MOST_ALARMS,
    RESOURCE_METRICS,
    Cost,
    usd_an_hour_warned_of,
    watching_cost,
)

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.look.snapshot import UnitSnapshot

#: The resources of a type, and the cost of each of its buckets.
CostGroup = tuple[set[str], list[Cost]]


def cost_report(
    looks: "Sequence[UnitSnapshot]", config: Config, extent: Extent, *, columns: int | None
) -> str:
    """A table for people."""
    groups = _by_type(looks, config)
    rows = [
        (name, f"{len(ids):,}", *_figures(costs))
        for name, (ids, costs) in sorted(groups.items(), key=lambda entry: -_total(entry[1][1]))
        if _total(costs)
    ]
    if not rows:
        text = f"nothing here can run out: to poll it is free\n{_deployment(config, extent)}"
        return f"{text}\n{_in_all((), 0, config, extent)}"
    everything = [cost for _, costs in groups.values() for cost in costs]
    rows.append(("all", f"{sum(len(ids) for ids, _ in groups.values()):,}", *_figures(everything)))
    headings = (
        "type",
        "resources",
        "metrics a month",
        "USD if all are full",
        "USD as they are now",
    )
    lines = [table(headings, rows, columns=columns)]
    free = sum(len(ids) for ids, costs in groups.values() if not _total(costs))
    if free:
        lines.append(f"at no cost: {free} without a bucket, or attached to nothing")
    out_of_reach = sum(cost.out_of_reach for cost in everything)
    if out_of_reach:
        lines.append(
            f"out of reach: {out_of_reach} resources whose full bucket lasts less than the margin. burstwatch asks for "
            "them at every sweep and cannot page a whole lead before. Shorten lead_s or their tag burstwatch:lead_s"
        )
    warned = sum(
        SEVERITY.get(a.verdict, 0) >= SEVERITY["warning"] for f in looks for _, a in f.buckets
    )
    lines.append(
        f"warned of now: {warned}; each costs at most {usd_an_hour_warned_of():.4f} USD more in every hour with a "
        f"warning ({len(RESOURCE_METRICS)} metrics, {MOST_ALARMS} alarms)"
    )
    lines.append(_deployment(config, extent))
    lines.append(_in_all(everything, sum(len(ids) for ids, _ in groups.values()), config, extent))
    return "\n".join(lines)


def _in_all(costs: Sequence[Cost], resources: int, config: Config, extent: Extent) -> str:
    """One number: what all of this costs a month now. The free tier has no requests of GetMetricData."""
    usd, paid_usd = _totals(costs, config, extent)
    watched = f" for {resources:,} resources" if resources else ""
    return f"in all: {usd:.2f} USD a month now ({paid_usd:.2f} after AWS's free tier){watched}"


def _totals(costs: Sequence[Cost], config: Config, extent: Extent) -> tuple[float, float]:
    """USD a month now, before and after AWS's free tier."""
    asking_usd = usd_of("metric_request", _total(costs))
    lines = deployment_lines(config, extent)
    return (
        asking_usd + sum(line.usd for line in lines),
        asking_usd + sum(line.paid_usd for line in lines),
    )


def _deployment(config: Config, extent: Extent) -> str:
    """Say what the deployment itself costs a month."""
    lines = deployment_lines(config, extent)
    named = ", ".join(f"{line.name} {line.usd:.2f}" for line in lines)
    total = sum(line.usd for line in lines)
    paid = sum(line.paid_usd for line in lines)
    return (
        f"the deployment itself: {total:.2f} USD a month ({named}), {paid:.2f} after AWS's free tier, if "
        "nothing else in the account uses it; `cdk synth` prints the price for your settings"
    )


def cost_json(
    looks: "Sequence[UnitSnapshot]",
    config: Config,
    *,
    at: float,
    account: str,
    extent: Extent = ONE_UNIT,
) -> str:
    """One document a type, then one for each line of the deployment's own bill."""
    types = [
        as_document(
            "cost",
            {
                "type": name,
                "resource_count": len(ids),
                "metrics_month": sum(cost.now for cost in costs),
                "usd_month": usd_of("metric_request", sum(cost.now for cost in costs)),
                "usd_month_if_full": usd_of("metric_request", sum(cost.full for cost in costs)),
                "out_of_reach_count": sum(cost.out_of_reach for cost in costs),
            },
            at=at,
            account=account,
        )
        for name, (ids, costs) in sorted(_by_type(looks, config).items())
    ]
    lines = [
        as_document(
            "cost_line",
            {
                "cost_line": line.name,
                "quantity": line.quantity,
                "usd_month": line.usd,
                "usd_month_after_free_tier": line.paid_usd,
            },
            at=at,
            account=account,
        )
        for line in deployment_lines(config, extent)
    ]
    everything = [cost for _, costs in _by_type(looks, config).values() for cost in costs]
    usd, paid_usd = _totals(everything, config, extent)
    in_all = {"cost_line": "all", "usd_month": usd, "usd_month_after_free_tier": paid_usd}
    lines.append(as_document("cost_line", in_all, at=at, account=account))
    return "\n".join([*types, *lines])


def _by_type(looks: "Sequence[UnitSnapshot]", config: Config) -> Mapping[str, CostGroup]:
    groups: dict[str, CostGroup] = defaultdict(lambda: (set(), []))
    for snapshot in looks:
        for resource, assessment in snapshot.buckets:
            ids, costs = groups[resource.words.facts.get("type", resource.kind)]
            ids.add(resource.id)
            kind = snapshot.kinds[resource.kind]
            costs.append(watching_cost(kind, resource, assessment, config))
    return groups


def _figures(costs: Sequence[Cost]) -> tuple[str, str, str]:
    full, now = sum(cost.full for cost in costs), sum(cost.now for cost in costs)
    return (
        f"{now:,.0f}",
        f"{usd_of('metric_request', full):.2f}",
        f"{usd_of('metric_request', now):.2f}",
    )


def _total(costs: Sequence[Cost]) -> float:
    return sum(cost.now for cost in costs)

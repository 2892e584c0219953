"""Makes the demand of one period: credits a second of its amounts."""

from burstwatch.ebs.volumes import Charge
from burstwatch.history.observations import Resource
from burstwatch.history.points import AT_LIMIT, NO_LIMIT, DemandPoint


def binding_of(resource: Resource, rate: float) -> str:
    """Return what holds a rate back: the resource's limit where the rate reaches it."""
    is_held_back = rate >= AT_LIMIT * resource.limit.rate > 0
    return resource.limit.binding if is_held_back else NO_LIMIT


def demand_point(
    resource: Resource,
    start_s: float,
    period_s: float,
    rate: float,
    *,
    least: float | None = None,
    most: float | None = None,
) -> DemandPoint:
    """One period's rate in credits a second, throttled where it reaches the resource's limit."""
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=rate if least is None else least,
        nominal=rate,
        most=rate if most is None else most,
        binding=binding_of(resource, rate),
    )


def demand_of(cost: Charge, start_s: float, period_s: float, binding: str) -> DemandPoint:
    """Credits a second of what one period has cost."""
    return DemandPoint(
        start_s=start_s,
        period_s=period_s,
        least=cost.least / period_s,
        nominal=cost.nominal / period_s,
        most=cost.most / period_s,
        binding=binding,
    )

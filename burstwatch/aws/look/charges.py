"""Reads what AWS has charged for surplus CPU credits, by resource."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.fixes.surplus import Charge
from burstwatch.formatting import HOUR
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from burstwatch.polling.queries import Allowance, charge_of, charge_queries
from burstwatch.shards import Problem


@dataclass(frozen=True, kw_only=True)
class Charges:
    """What AWS has charged for, by the key of each resource, and what could not be read.

    ``answered`` are the keys of all that were answered. One of which AWS publishes nothing has no charge.
    """

    by_key: Mapping[str, Charge]
    answered: frozenset[str]
    problems: tuple[Problem, ...]


def read_charges(
    clients: Clients,
    kinds: Mapping[str, Kind],
    resources: Iterable[Resource],
    *,
    start_s: float,
    end_s: float,
    deadline: Deadline,
    allowance: Allowance,
) -> Charges:
    """Ask what AWS has charged for. A resource that is never charged for is not asked for."""
    asked = {
        resource.key: (kinds[resource.kind], resource, query)
        for resource in resources
        for query in charge_queries(kinds[resource.kind], resource)
    }
    answers = read_metrics(
        clients,
        [query for _, _, query in asked.values()],
        start_s=start_s,
        end_s=end_s,
        period_s=int(HOUR),
        deadline=deadline,
        allowance=allowance,
    )
    charges = {
        key: charge
        for key, (kind, resource, _) in asked.items()
        if (charge := charge_of(kind, resource, answers, HOUR)) is not None
    }
    answered = (key for key, (_, _, query) in asked.items() if query.key in answers.series)
    return Charges(by_key=charges, answered=frozenset(answered), problems=tuple(answers.problems))

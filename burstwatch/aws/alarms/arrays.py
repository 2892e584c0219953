"""Finds the arrays of a look: equal volumes of one host whose balances are alike, such as a RAID 0.

AWS does not know which volumes a host has joined to one. Those that are of one size and drain alike have one cause and
one repair, so one alarm tells of them all.
"""

from collections.abc import Sequence

from burstwatch.aws.client.names import ARRAY, plain_part
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.history.observations import Resource
from burstwatch.polling.ranking import urgency
from burstwatch.shards import thing_id

#: Balances of an array's volumes are apart by no more than this share of a full bucket.
ALIKE = 0.05


def find_arrays(snapshot: UnitSnapshot) -> dict[str, str]:
    """The name of the array of each resource that is in one, by id.

    Of a host's equal volumes these are the worst one, and those with about as much left. What is in maintenance has no part.
    """
    ratios: dict[str, dict[str, float]] = {}
    for resource, assessment in sorted(snapshot.assessments.values(), key=urgency):
        level = assessment.projection.level
        if level is None or not resource.can_spend:
            continue
        if resource.parents and resource.id not in snapshot.quiet:
            ratios.setdefault(_name_of(resource), {})[resource.id] = level.likely
    return {
        resource_id: name
        for name, by_id in ratios.items()
        if len(alike := _alike(by_id)) > 1
        for resource_id in alike
    }


def _name_of(resource: Resource) -> str:
    """The host, and what its volumes of this array are. A dot would end the name of a group."""
    type_ = plain_part(resource.words.facts.get("type", resource.kind)).replace(".", "-")
    return f"{ARRAY}{thing_id(resource.parents[0])}_{type_}"


def _alike(ratios: dict[str, float]) -> Sequence[str]:
    """The ids of those with about as much left as the first, which is the worst."""
    worst_ratio = next(iter(ratios.values()))
    return [
        resource_id for resource_id, ratio in ratios.items() if abs(ratio - worst_ratio) <= ALIKE
    ]

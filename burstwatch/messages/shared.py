"""Names what many resources share, where one cause is likely to hit them together."""

from collections.abc import Callable, Sequence

from burstwatch.formatting import plain_name
from burstwatch.history.observations import Resource
from burstwatch.kinds._names import CLUSTER_PREFIX, CLUSTER_TAGS, STACK, cluster_of, stack_of

#: The number of shared places and tags that are named, the narrowest first.
MOST_SHARED = 2
#: Tags that say what each resource is, or what another part of the message says.
NOT_SHARED = ("Name", "burstwatch:", "aws:", CLUSTER_PREFIX, *CLUSTER_TAGS, STACK)

#: Places that a resource can share with others, from the narrowest, each as words or nothing.
_PLACES: tuple[Callable[[Resource], str], ...] = (
    lambda resource: f"the instance {resource.parents[0]}" if resource.parents else "",
    lambda resource: _named("the cluster", cluster_of(resource.tags)),
    lambda resource: _named("the stack", stack_of(resource.tags)),
    lambda resource: _named("the zone", resource.words.facts.get("zone", "")),
)


def shared_by(resources: Sequence[Resource]) -> str:
    """The instance, cluster, stack, zone and tags that all of the resources have in common, or nothing."""
    if len(resources) < 2:  # noqa: PLR2004 - one shares nothing
        return ""
    shared = list[str]()
    for place in _PLACES:
        places = {place(resource) for resource in resources}
        if len(places) == 1:
            shared += filter(None, places)
    tags = set.intersection(*(set(resource.tags.items()) for resource in resources))
    shared += [
        f"the tag {plain_name(key)}={plain_name(text)}"
        for key, text in sorted(tags)
        if text and not key.startswith(NOT_SHARED)
    ]
    return " and ".join(shared[:MOST_SHARED])


def _named(place: str, name: str) -> str:
    return f"{place} {plain_name(name)}" if name else ""

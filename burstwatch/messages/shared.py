"""Names what many resources share, where one cause is likely to hit them together."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from burstwatch.formatting import plain_name
from burstwatch.history.observations import Resource
from burstwatch.kinds._names import CLUSTER_PREFIX, CLUSTER_TAGS, STACK, cluster_of, stack_of

#: The number of shared places and tags that are named, the narrowest first.
MOST_SHARED = 3
#: The share of the resources that are most of them: one cause seldom spares a quarter.
MOST = 0.75
#: Tags that say what each resource is, or what another part of the message says.
NOT_SHARED = ("Name", "burstwatch:", "aws:", CLUSTER_PREFIX, *CLUSTER_TAGS, STACK)


def _tags_of(resource: Resource) -> Iterator[str]:
    for key, text in sorted(resource.tags.items()):
        if text and not key.startswith(NOT_SHARED):
            yield f"the tag {plain_name(key)}={plain_name(text)}"


def _named(place: str, name: str) -> Iterator[str]:
    if name:
        yield f"{place} {plain_name(name)}"


#: What a resource can have in common with others, the narrowest first, each as words.
_COMMONS: tuple[Callable[[Resource], Iterable[str]], ...] = (
    lambda resource: _named("the name", resource.name),
    lambda resource: (f"the instance {parent}" for parent in resource.parents[:1]),
    lambda resource: _named("the cluster", cluster_of(resource.tags)),
    lambda resource: _named("the stack", stack_of(resource.tags)),
    _tags_of,
    lambda resource: _named("the zone", resource.words.facts.get("zone", "")),
)


def shared_by(resources: Sequence[Resource]) -> str:
    """The name, instance, cluster, stack, tags and zone that all of the resources, or most of them, have in common, or nothing.

    What most have says of how many: ``the stack orders (17 of 20)``.
    """
    if len(resources) < 2:  # noqa: PLR2004 - one shares nothing
        return ""
    commons = [common for each in _COMMONS for common in _of_most(resources, each)]
    *firsts, last = commons[:MOST_SHARED] or [""]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def _of_most(
    resources: Sequence[Resource], each: Callable[[Resource], Iterable[str]]
) -> Iterator[str]:
    """What most of the resources have, by what each has."""
    counts = Counter(common for resource in resources for common in each(resource))
    for common, count in counts.most_common():
        if count == len(resources):
            yield common
        elif count >= MOST * len(resources):
            yield f"{common} ({count} of {len(resources)})"

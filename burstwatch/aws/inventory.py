"""What there is: a kind's listing and lookups, read page by page, in full."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from botocore import xform_name

from burstwatch.aws.session import AWS_ERRORS, LateError, Problem, describe_error
from burstwatch.formatting import first_of
from burstwatch.owner_tags import read_wishes
from burstwatch.shards import WHOLE, Shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from burstwatch.aws.session import Clients, Deadline, Unit
    from burstwatch.history.observations import Resource
    from burstwatch.kinds.base import Item, Kind, Listing, Lookup

#: EC2 takes up to 200 values in a filter.
FILTER_VALUES = 200
#: What a kind raises for an item of a shape or value that it does not know.
NOT_UNDERSTOOD = (KeyError, ValueError, TypeError, AttributeError)
Filter = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """The resources of one kind in one unit.

    ``complete`` is whether every page was read: only then does a resource that is
    not here no longer exist. ``refused`` are items that could not be understood, with
    the reason: they exist, and nothing is known of them; ``excluded`` is how many of such
    asked by tag not to be watched. ``problems`` also holds lookups that failed;
    ``is_answered`` is whether every call was answered. ``calls`` is how many it took.
    """

    resources: tuple[Resource, ...]
    refused: Mapping[str, str]
    excluded: int
    problems: tuple[Problem, ...]
    complete: bool
    is_answered: bool
    calls: int

    def completed_by(self, before: Inventory) -> Inventory:
        """The same with what an earlier one knew of it, and of what was not listed this time.

        A volume whose instance could not be looked up is not described as well as it was, and
        all that is remembered of it would be lost.
        """
        known = {resource.key: resource for resource in before.resources}
        listed = {resource.key for resource in self.resources}
        found = [known.get(resource.key, resource) for resource in self.resources]
        if not self.complete:
            found += [resource for key, resource in known.items() if key not in listed]
        return replace(self, resources=tuple(found))


def take_inventory(
    kind: Kind,
    clients: Clients,
    unit: Unit,
    *,
    now: float,
    tag_filter: str = "",
    only: Sequence[Filter] = (),
    shard: Shard = WHOLE,
    deadline: Deadline | None = None,
) -> Inventory:
    """Everything of one kind, or of a shard of it. A failed part is a problem, and the rest goes on.

    ``only`` are filters of the listing beside the one of the tag. What is not answered before
    the ``deadline`` is such a part.
    """
    problems: list[Problem] = []
    read = partial(_read, clients=clients, deadline=deadline, problems=problems)
    filters = [*_tag_filters(kind, tag_filter), *only]
    own = _shard_filters(kind.inventory, shard)
    items, complete, calls = read(kind.inventory, [*filters, *own])
    if own and complete and not items:
        # A filter that lets nothing through is not believed: blindness would look the same.
        items, complete, taken = read(kind.inventory, filters)
        calls += taken
    items = [item for item in items if shard.owns(str(item.get(kind.inventory.id_field, "")))]
    lists: dict[str, list[Item]] = {"inventory": items}
    for lookup in kind.lookups:
        lists[lookup.name] = []
        try:
            for filters in _lookup_filters(lookup, lists):
                more, _, taken = read(lookup.listing, filters)
                lists[lookup.name] += more
                calls += taken
        except NOT_UNDERSTOOD as error:
            problems.append(Problem(part=lookup.listing.operation, error=describe_error(error)))
    is_answered = not problems
    found = {
        lookup.name: {
            item[lookup.listing.id_field]: item
            for item in lists[lookup.name]
            if lookup.listing.id_field in item
        }
        for lookup in kind.lookups
    }
    resources: list[Resource] = []
    excluded = 0
    refused: dict[str, str] = {}
    for item in items:
        try:
            described = kind.describe(item, found, str(unit), now)
            resources += described if kind.capacity_documented else map(_estimated, described)
        except NOT_UNDERSTOOD as error:
            if not _is_wanted(item):
                excluded += 1
                continue
            name = str(item.get(kind.inventory.id_field, "?"))
            refused[name] = describe_error(error)
    problems += _by_reason(kind, refused)
    return Inventory(
        resources=tuple(resources),
        refused=refused,
        excluded=excluded,
        problems=tuple(problems),
        complete=complete,
        is_answered=is_answered,
        calls=calls,
    )


def _is_wanted(item: Item) -> bool:
    """Whether its owner wants it watched, as far as its tags can be read."""
    tags = {str(tag.get("Key")): str(tag.get("Value")) for tag in item.get("Tags", ())}
    return read_wishes(tags).watch


def _by_reason(kind: Kind, refused: Mapping[str, str]) -> Iterator[Problem]:
    """One problem for each reason: a type that is not known may be that of a thousand items."""
    for reason in dict.fromkeys(refused.values()):
        names = first_of([name for name, its in refused.items() if its == reason])
        yield Problem(part=f"{kind.name} {names}", error=reason)


def _estimated(resource: Resource) -> Resource:
    if resource.bucket is None:
        return resource
    caveat = "AWS does not publish this bucket's size, so the worst case is an estimate"
    return replace(resource, caveats=(*resource.caveats, caveat))


def _read(
    listing: Listing,
    filters: list[Filter],
    *,
    clients: Clients,
    deadline: Deadline | None,
    problems: list[Problem],
) -> tuple[list[Item], bool, int]:
    """The items, whether that is all of them, and how many calls it took."""
    items: list[Item] = []
    calls = 0
    try:
        paginator = clients(listing.service).get_paginator(xform_name(listing.operation))
        arguments: dict[str, object] = {"Filters": filters} if filters else {}
        pages = iter(
            paginator.paginate(PaginationConfig={"PageSize": listing.page_size}, **arguments)
        )
        while (
            page := deadline.wait_for(partial(next, pages, None)) if deadline else next(pages, None)
        ):
            calls += 1
            items += _at_path(page, listing.items)
    except (*AWS_ERRORS, LateError) as error:
        problems.append(Problem(part=listing.operation, error=describe_error(error)))
        return items, False, calls
    return items, True, calls


def _at_path(page: Item, path: str) -> list[Item]:
    """The items at a path such as ``Reservations[].Instances[]``."""
    found = [page]
    for step in path.split("."):
        found = [inner for outer in found for inner in outer.get(step.removesuffix("[]"), ())]
    return found


def _tag_filters(kind: Kind, tag_filter: str) -> list[Filter]:
    if not tag_filter:
        return []
    key, _, value = tag_filter.partition("=")
    return [{"Name": kind.tag_filter_name(key), "Values": [value]}]


def _shard_filters(listing: Listing, shard: Shard) -> list[Filter]:
    if shard.is_whole:
        return []
    return [{"Name": listing.id_filter, "Values": [f"*{digit}" for digit in shard.digits]}]


def _lookup_filters(lookup: Lookup, lists: dict[str, list[Item]]) -> Iterator[list[Filter]]:
    """The filters of each call that the lookup needs: none, one or several."""
    if lookup.wanted is None:
        yield []  # also for a shard: what a filter held back would pass for not being there
        return
    wanted = sorted(lookup.wanted(lists))
    for values in chunks(wanted, FILTER_VALUES):
        yield [{"Name": lookup.filter_name, "Values": list(values)}]


def chunks(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """``values`` in order, in pieces of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]

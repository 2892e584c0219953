"""Takes the inventory of a kind: its things, what was looked up of them, and what could not be read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeAlias

from botocore import xform_name

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    NEVER,
    AwsError,
    Clients,
    Deadline,
    describe_error,
    problem_of,
)
from burstwatch.aws.inventory.listings import ItemListing, ListingReader
from burstwatch.formatting import first_of, inert
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import (
    IdFinder,
    Item,
    Kind,
    Listing,
    Lookup,
    Related,
    Scope,
    TagListing,
    Thing,
)
from burstwatch.owner_tags import read_owner_tags
from burstwatch.shards import Cause, Problem, Shard, Unit, thing_id

#: Errors that a kind raises for an item of a shape or value that it does not know.
NOT_UNDERSTOOD = (KeyError, ValueError, TypeError, AttributeError)
#: The items of a kind's inventory and of the lookups so far, by name.
Lists: TypeAlias = dict[str, Sequence[Item]]
#: The list of the things themselves.
INVENTORY = "inventory"
ELSEWHERE = "AWS may not have every type there, and its prices are not known here"
ESTIMATED = "AWS does not publish the size of this credit bucket, so the times are estimates"


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

    @property
    def first_error(self) -> str:
        """Name the first call that failed, with AWS's answer."""
        return next((f"{problem.part}: {problem.error}" for problem in self.problems), "no answer")

    @property
    def cause(self) -> Cause:
        """What AWS means by the first call that failed."""
        return self.problems[0].cause if self.problems else "other"

    def completed_by(self, before: "Inventory") -> "Inventory":
        """Return a copy completed by an earlier inventory: its details, and the resources that were not listed this time.

        A volume whose instance could not be looked up is not described as well as it was, and
        all that is remembered of it would be lost.
        """
        earlier = {resource.key: resource for resource in before.resources}
        listed = {resource.key for resource in self.resources}
        resources = [earlier.get(resource.key, resource) for resource in self.resources]
        resources += [
            resource
            for key, resource in earlier.items()
            if key not in listed and (not self.complete or thing_id(resource.id) in self.refused)
        ]
        ids = {thing_id(resource.id) for resource in resources}
        refused = {name: why for name, why in self.refused.items() if name not in ids}
        return replace(self, resources=tuple(resources), refused=refused)


def take_inventory(
    kind: Kind,
    clients: Clients,
    unit: Unit,
    *,
    now: float,
    scope: Scope | None = None,
    pace: Pace | None = None,
    deadline: Deadline = NEVER,
    listed: ItemListing | None = None,
) -> Inventory:
    """Everything of one kind in ``scope``. A failed part is a problem, and the rest goes on.

    It is asked no faster than ``pace`` allows, and nothing after the ``deadline``. What is in
    ``listed`` is not asked for again.
    """
    scope = scope or Scope()
    reader = ListingReader(
        clients=clients.until(deadline),
        pace=pace or Pace(),
        deadline=deadline,
        listed={} if listed is None else listed,
    )
    items, complete = reader.read_in_scope(kind.inventory, scope)
    things, refused = _things(kind.inventory, items, unit)
    things, is_tagged = _tagged(kind.inventory, things, unit, reader)
    complete = complete and is_tagged  # a tag filter would find nothing
    if scope.shard.number > 1:  # what has no id is of the first shard
        refused = {}
    lists: Lists = {INVENTORY: [thing.item for thing in things]}
    for lookup in kind.lookups:
        lists[lookup.name], left_out = _look_up_for(lookup, things, lists, scope.shard, reader)
        refused |= {name: why for name, why in left_out.items() if scope.shard.owns(name)}
        things = [thing for thing in things if thing.id not in left_out]
    is_answered = not reader.problems
    related = {
        lookup.name: {
            thing.id: thing.item for thing in _things(lookup.listing, lists[lookup.name], unit)[0]
        }
        for lookup in kind.lookups
    }
    remaining_scope = _left_to_check(kind.inventory, scope)
    resources, wrong, excluded = _described(kind, things, related, remaining_scope, now)
    refused |= wrong
    return Inventory(
        resources=tuple(resources),
        refused=refused,
        excluded=excluded,
        problems=(*reader.problems, *_by_reason(kind, refused)),
        complete=complete,
        is_answered=is_answered,
        calls=reader.calls,
    )


def _described(
    kind: Kind, things: Sequence[Thing], related: Related, remaining_scope: Scope, now: float
) -> tuple[list[Resource], dict[str, str], int]:
    """The resources of the things in ``remaining_scope``, why some could not be described, and how many such are not watched."""
    resources: list[Resource] = []
    refused: dict[str, str] = {}
    excluded = 0
    for thing in things:
        try:
            described = [
                resource
                for resource in kind.describe(thing, related, now)
                if _is_in(remaining_scope, resource.id, resource.tags)
                and _is_child(remaining_scope, resource)
            ]
            resources += map(_with_caveats, described)
        except NOT_UNDERSTOOD as error:
            if not _is_in(remaining_scope, thing.id, thing.tags):
                continue
            if read_owner_tags(thing.tags).watch:
                refused[thing.id] = describe_error(error)
            else:
                excluded += 1
    return resources, refused, excluded


def list_things(
    kind: Kind, clients: Clients, unit: Unit, scope: Scope
) -> tuple[list[Thing], list[Problem]]:
    """The things of one kind in ``scope``, without their description, and what could not be read."""
    reader = ListingReader(clients=clients, pace=Pace(), deadline=NEVER)
    items, _ = reader.read_in_scope(kind.inventory, scope)
    things = _things(kind.inventory, items, unit)[0]
    return _tagged(kind.inventory, things, unit, reader)[0], reader.problems


def _things(
    listing: Listing, items: Sequence[Item], unit: Unit
) -> tuple[list[Thing], dict[str, str]]:
    """The items in their common shape, each once, and the reasons of those that have none."""
    things: dict[str, Thing] = {}
    refused: dict[str, str] = {}
    unit_name = str(unit)
    for item in items:
        try:
            thing = listing.identify(item)
        except NOT_UNDERSTOOD as error:
            refused[f"item {len(refused) + 1}"] = describe_error(error)
            continue
        things[thing.id] = Thing(
            id=thing.id, name=thing.name, tags=thing.tags, item=thing.item, unit=unit_name
        )
    return list(things.values()), refused


def _tagged(
    listing: Listing, things: list[Thing], unit: Unit, reader: ListingReader
) -> tuple[list[Thing], bool]:
    """Add tags to the things of a listing that has none. Returns also whether all tags could be read."""
    tags = listing.tags
    if tags is None or not things:
        return things, True
    items, is_whole = reader.read_in_scope(tags.listing, Scope())
    by_arn = {thing.id: thing.tags for thing in _things(tags.listing, items, unit)[0]}
    with_tags = [(thing, by_arn.get(_arn_of(tags, thing), {})) for thing in things]
    tagged = [
        replace(thing, tags=thing_tags, name=thing_tags.get("Name", thing.name))
        for thing, thing_tags in with_tags
    ]
    return tagged, is_whole


def _arn_of(tags: TagListing, thing: Thing) -> str:
    """The ARN of a thing; empty where it has none."""
    try:
        return tags.arn(thing.item)
    except NOT_UNDERSTOOD:
        return ""


def _look_up_for(
    lookup: Lookup, things: Sequence[Thing], lists: Lists, shard: Shard, reader: ListingReader
) -> tuple[list[Item], dict[str, str]]:
    """Run a lookup. Returns its items, and why some things cannot be described without them."""
    if not lookup.is_needed:
        return _look_up(lookup, lists, shard, reader), {}
    is_concerned = lookup.concerns(lists)
    concerned = [thing.id for thing in things if is_concerned(thing.item)]
    if not concerned:
        return [], {}
    problems_before = len(reader.problems)
    items = _look_up(lookup, lists, shard, reader)
    if len(reader.problems) == problems_before:
        return items, {}
    why = f"{lookup.listing.operation} failed, and nothing can be said without it"
    return items, dict.fromkeys(concerned, why)


def _look_up(
    lookup: Lookup, lists: Mapping[str, Sequence[Item]], shard: Shard, reader: ListingReader
) -> list[Item]:
    """List what a kind's resources refer to, by id where the lists name ids, else all in scope."""
    listing = lookup.listing
    if lookup.find_ids is None:
        return reader.read_in_scope(listing, Scope(shard=shard))[0]
    wanted_ids = sorted(_ids_for(lookup, lists, reader))
    size = listing.ids_per_call
    chunks = (wanted_ids[start : start + size] for start in range(0, len(wanted_ids), size))
    return [item for ids in chunks for item in reader.read(listing, Scope(ids=tuple(ids)))[0]]


def _ids_for(
    lookup: Lookup, lists: Mapping[str, Sequence[Item]], reader: ListingReader
) -> set[str]:
    """The ids that a lookup wants. An item that is not understood asks for none, and hides no other's."""
    find_ids = lookup.find_ids or (lambda _lists: set())
    try:
        wanted = find_ids(lists)
    except NOT_UNDERSTOOD as error:
        understood = {name: _understood(find_ids, lists, name) for name in lists}
        # What is wrong with an item of the inventory, its own description says.
        if any(len(understood[name]) < len(lists[name]) for name in lists if name != INVENTORY):
            reader.problems.append(problem_of(lookup.listing.operation, error))
        wanted = find_ids(understood)
    return {wanted_id for wanted_id in wanted if isinstance(wanted_id, str)}


def _understood(
    find_ids: IdFinder, lists: Mapping[str, Sequence[Item]], name: str
) -> Sequence[Item]:
    """The items of one list in which ids can be looked for."""
    nothing: dict[str, Sequence[Item]] = dict.fromkeys(lists, ())
    items = []
    for item in lists[name]:
        with suppress(*NOT_UNDERSTOOD):
            find_ids({**nothing, name: [item]})
            items.append(item)
    return items


def _left_to_check(listing: Listing, scope: Scope) -> Scope:
    """The part of a scope that the call does not narrow by. The shard is always checked, as that is free."""
    arguments = listing.arguments(scope)
    by_tag = arguments != listing.arguments(replace(scope, tag=None))
    by_parents = arguments != listing.arguments(replace(scope, parents=()))
    return Scope(
        shard=scope.shard,
        tag=None if by_tag else scope.tag,
        parents=() if by_parents else scope.parents,
    )


def _is_in(scope: Scope, own_id: str, tags: Mapping[str, str]) -> bool:
    """True if something with this id and these tags is in a scope.

    A resource's own id decides the shard: its alarm is found again by that id alone.
    """
    if not scope.shard.owns(own_id):
        return False
    if scope.tag is None:
        return True
    key, value = scope.tag
    return key in tags and _pattern(value).fullmatch(tags[key]) is not None


def _is_child(scope: Scope, resource: Resource) -> bool:
    return not scope.parents or bool({*scope.parents} & {*resource.parents})


@lru_cache(maxsize=16)
def _pattern(value: str) -> re.Pattern[str]:
    """A tag's value as in EC2's own filters: ``*`` and ``?`` are wildcards, but not after a backslash."""
    wild = {"*": ".*", "?": "."}
    parts = re.findall(r"\\.|.", value, re.DOTALL)
    return re.compile("".join(wild.get(part) or re.escape(part[-1]) for part in parts), re.DOTALL)


def _with_caveats(resource: Resource) -> Resource:
    """A copy that says what is not certain of it, whatever its kind: the size of its bucket, or what AWS has where it is."""
    if resource.bucket is None:
        return resource
    place = resource.changes.place
    caveats = (
        *resource.words.caveats,
        *(() if resource.terms.is_documented else (ESTIMATED,)),
        *((f"it is in {place}: {ELSEWHERE}",) if place else ()),
    )
    return replace(resource, words=replace(resource.words, caveats=caveats))


def _by_reason(kind: Kind, refused: Mapping[str, str]) -> Iterator[Problem]:
    """One problem for each reason: a type that is not known may be that of a thousand items."""
    for reason in dict.fromkeys(refused.values()):
        names = first_of([name for name, refusal in refused.items() if refusal == reason])
        yield Problem(part=f"{kind.name} {names}", error=reason)


def find_thing(clients: Clients, kinds: Sequence[Kind], id_or_name: str) -> tuple[Kind, Thing]:
    """The thing that a resource is a part of, by its id or by the name that people use, and the first kind that lists it.

    Raises:
        AwsError: if there is none in the account and region, with what could not be asked, or several of this name.
    """
    unit, wanted_id = clients.unit(), thing_id(id_or_name)
    problems: dict[Problem, None] = {}
    names = set[str]()
    for scope in (Scope(ids=(wanted_id,)), Scope()):  # an id needs one call, a name the whole list
        named: dict[str, tuple[Kind, Thing]] = {}
        for kind in kinds:
            things, failed = list_things(kind, clients, unit, scope)
            problems |= dict.fromkeys(failed)
            for thing in things:
                if _is_id_of(kind, thing, id_or_name):
                    return kind, thing
                names.add(thing.name)
                if thing.name == id_or_name:
                    named.setdefault(thing.id, (kind, thing))
        if len(named) > 1:
            ids = ", ".join(f"{thing.id} ({kind.name})" for kind, thing in named.values())
            msg = f"{id_or_name} is the name of several resources: use one of these ids: {ids}"
            raise AwsError(msg)
        if named and not scope.ids:
            return next(iter(named.values()))
    unasked = "".join(f"; {problem.part} failed: {problem.error}" for problem in problems)
    suggestions = get_close_matches(id_or_name, sorted(names - {""}), n=2)
    hint = (
        f", did you mean {' or '.join(repr(inert(name)) for name in suggestions)}?"
        if suggestions
        else ""
    )
    msg = (
        f"{id_or_name} is no resource with credits in {unit}, by its id or its name{hint}{unasked}"
    )
    raise AwsError(msg)


def _is_id_of(kind: Kind, thing: Thing, text: str) -> bool:
    """True if a text is the id of a thing, of its resource, or of one of its nodes; a name may have dots as well."""
    owner, _, part = text.rpartition(".")
    is_node = owner == thing.id and part.isdigit()
    return is_node or text in {thing.id, kind.resource_id(thing.id)}


def put_tag(clients: Clients, kind: Kind, thing: Thing, key: str, value: str) -> None:
    """Put one tag on a thing, in place of its last value.

    Raises:
        AwsError: if AWS refuses.
    """
    tagging = kind.tagging
    _call(clients, tagging.service, tagging.put_operation, tagging.put(thing, key, value))


def remove_tag(clients: Clients, kind: Kind, thing: Thing, key: str) -> None:
    """Take one tag off a thing.

    Raises:
        AwsError: if AWS refuses.
    """
    tagging = kind.tagging
    _call(clients, tagging.service, tagging.remove_operation, tagging.remove(thing, key))


def _call(clients: Clients, service: str, operation: str, arguments: dict[str, object]) -> None:
    try:
        getattr(clients(service), xform_name(operation))(**arguments)
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error

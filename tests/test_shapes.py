"""Every member of AWS's answers absent, null, of each value it may have and of one that is new: nothing is called well for it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.model import ListShape, Shape, StructureShape

from burstwatch.aws.inventory.inventory import NOT_UNDERSTOOD, Inventory, take_inventory
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Item, Kind, Listing
from burstwatch.shards import thing_id
from tests.conftest import NOW, Cloud
from tests.kinds.playing import examples_of, item_shape, put_examples

KINDS = list(find_kinds().values())
#: A value that no version of AWS has yet.
NEW = "of-next-year"
ABSENT = object()
#: Which instance it is: its mode, and what is published of it, are looked up by it.
IDENTITY = {"InstanceId", "DBInstanceIdentifier"}
#: So many variants of a kind's examples there are at the least.
MANY = 100
#: Members below these are of things that are not read, and nested without end.
DEPTH = 3
Path = tuple[str, ...]
#: What a known value of these says of a thing is so: it is of another kind, has no credits, or is not in use.
DECIDES = {
    "Attachments.State", "FileSystemType", "InstanceType", "Lifecycle", "State.Name", "StorageType", "ThroughputMode",
    "VolumeType",
}  # fmt: skip
#: What these mean where there are none, or by how a name is made.
BY_RULE = {
    "Attachments absent", "Attachments []",  # it is not attached
    "CacheNodeType of-next-year", "DBInstanceClass of-next-year", "InstanceType of-next-year",  # no name of a T class
    "Engine of-next-year",  # an engine is of RDS unless it is DocumentDB's or Neptune's
    "StorageType gp3", "StorageType io1", "StorageType io2", "StorageType standard",
}  # fmt: skip


def paths_of(shape: Shape, depth: int = DEPTH) -> Iterator[tuple[Path, Shape]]:
    """Each member of an item, with its path; of a list the members of its entries."""
    inner = shape.member if isinstance(shape, ListShape) else shape
    if not isinstance(inner, StructureShape) or not depth:
        return
    for name, member in inner.members.items():
        yield (name,), member
        for path, below in paths_of(member, depth - 1):
            yield (name, *path), below


def values_of(shape: Shape, present: Any) -> Iterator[Any]:
    """What stands in a member's place: nothing, null, each value of its enumeration, and a new one."""
    yield None
    if present is not ABSENT:
        yield ABSENT
    if shape.type_name == "string":
        yield from (value for value in list(getattr(shape, "enum", ()))[:40] if value != present)
        yield NEW
    elif shape.type_name == "boolean":
        yield not present if isinstance(present, bool) else True
    elif shape.type_name == "list":
        yield []
    elif shape.type_name == "structure":
        yield {}


def put(item: Item, path: Path, value: Any) -> Item | None:
    """A copy of an item with a value at a path; None where the example has nothing on the way."""
    result = copy.deepcopy(dict(item))
    here: Any = result
    for name in path[:-1]:
        here = here.get(name)
        if isinstance(here, list):
            here = here[0] if here and isinstance(here[0], dict) else None
        if not isinstance(here, dict):
            return None
    if value is ABSENT:
        here.pop(path[-1], None)
    else:
        here[path[-1]] = value
    return result


def at(item: Item, path: Path) -> Any:
    here: Any = item
    for name in path:
        here = here[0] if isinstance(here, list) and here else here
        if not isinstance(here, dict) or name not in here:
            return ABSENT
        here = here[name]
    return here


def variants(item: Item, listing: Listing) -> Iterator[tuple[str, Item]]:
    for path, shape in paths_of(item_shape(listing)):
        for value in values_of(shape, at(item, path)):
            changed = put(item, path, value)
            if changed is not None:
                name = ".".join(path)
                said = f"{name} {'absent' if value is ABSENT else value}"
                is_known = value in list(getattr(shape, "enum", ()))
                is_said = (name in DECIDES and is_known) or said in BY_RULE
                if not is_said and path[-1] not in IDENTITY:
                    yield said, changed


def described(kind: Kind, item: Item, related: Any) -> list[Resource] | str:
    """The resources of an item, or the reason why it is not understood."""
    try:
        thing = kind.inventory.identify(item)
        return list(kind.describe(thing, related, NOW))
    except NOT_UNDERSTOOD as error:
        return f"{type(error).__name__}: {error}"


def wrong(before: list[Resource], after: list[Resource] | str) -> str:
    """What is said with certainty of a thing that is not known as well as before."""
    if isinstance(after, str):
        return ""  # it is unknown, with the reason
    watched = {resource.level_metric for resource in before if resource.bucket}
    now = {resource.level_metric for resource in after if resource.bucket}
    excused = any(resource.terms.not_watched for resource in after)
    if watched - now and not excused:
        reasons = [resource.terms.no_bucket_reason for resource in after] or ["no resource at all"]
        return f"is no longer watched: {reasons}"
    in_use = {r.level_metric: r.reporting.in_use for r in before}
    idle = [r.level_metric for r in after if not r.reporting.in_use and in_use.get(r.level_metric)]
    return f"is called not in use: {idle}" if idle else ""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_member_that_is_absent_null_or_new_makes_a_thing_well(kind: Kind) -> None:
    examples = examples_of(kind)
    faults: dict[str, str] = {}
    tried = 0
    for item in examples.ITEMS:
        before = described(kind, item, examples.FOUND)
        if isinstance(before, str) or not any(resource.bucket for resource in before):
            continue
        for name, changed in variants(item, kind.inventory):
            tried += 1
            if kind.name == "fsx_hdd_volume" and name.startswith("FileSystemType"):
                continue  # the file server of the same file system says so
            fault = wrong(before, described(kind, changed, examples.FOUND))
            if fault and name not in faults:
                faults[name] = fault
    assert tried > MANY
    assert not faults, "\n".join(f"{name}: {fault}" for name, fault in faults.items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_thing_that_is_not_understood_hides_no_other(kind: Kind, cloud: Cloud) -> None:
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)

    def taken() -> Inventory:
        return take_inventory(kind, cloud.clients, cloud.unit, now=NOW)

    whole = {resource.key: resource for resource in taken().resources}
    assert whole
    listing = kind.inventory
    there = cloud.aws.regions["us-east-1"]
    bare = {"DescribeVolumes": there.volumes, "DescribeInstances": there.instances}.get(
        listing.operation
    )
    for name in set(item_shape(listing).members) - {
        "VolumeId",
        "InstanceId",
    }:  # without it nothing is listed
        broken = put(examples.ITEMS[0], (name,), ABSENT)
        assert broken is not None
        if bare is None:
            there.items[listing.service, listing.operation].append(broken)
        else:
            bare["broken"] = broken
        after = taken()
        mine = {listing.identify(examples.ITEMS[0]).id}
        lost = [
            key
            for key in whole
            if thing_id(key.partition("/")[0]) not in mine
            and key not in {r.key for r in after.resources}
        ]
        assert lost == [], name
        if bare is None:
            there.items[listing.service, listing.operation].pop()
        else:
            del bare["broken"]


def test_an_instance_without_a_type_costs_no_other_volume_its_limits(cloud: Cloud) -> None:
    kind = find_kinds()["ebs_volume"]
    hosts = [cloud.aws.add_instance("m5.large") for _ in range(3)]
    for host in hosts:
        cloud.aws.add_volume("gp2", 100, instance_id=host)
    del cloud.aws.regions["us-east-1"].instances[hosts[0]]["InstanceType"]
    inventory = take_inventory(kind, cloud.clients, cloud.unit, now=NOW)
    caveats = [resource.words.caveats for resource in inventory.resources]
    assert sorted(map(len, caveats)) in ([0, 0], [0, 0, 1])
    assert inventory.problems != ()

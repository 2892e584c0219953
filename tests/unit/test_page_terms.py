"""What a page says of a change: that it is made now, what is made with it, what it costs a day, and that it stays."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from burstwatch.fixes.fix import Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind, Thing
from burstwatch.messages.episode import lasting_fix

NOW = dt.datetime(2026, 9, 21, 14, tzinfo=dt.UTC)
UNIT = "123456789012/us-east-1"
WINDOW = "sun:05:00-sun:06:00"
WAITING = {"EngineVersion": "8.0.40", "MasterUserPassword": "****", "NumCacheNodes": None}


def described() -> Iterator[tuple[Kind, Resource]]:
    """Each bucket of each example of every kind."""
    for kind in find_kinds().values():
        examples = import_module(f"tests.kinds.{kind.name}")
        for item in examples.ITEMS:
            thing = replace(kind.inventory.identify(item), unit=UNIT)
            for resource in kind.describe(thing, examples.FOUND, NOW.timestamp()):
                if resource.bucket is not None and resource.terms.is_sized:
                    yield kind, resource


def resource_of(kind_name: str, item: dict[str, Any]) -> Resource:
    """The resource that a kind makes of what AWS lists."""
    thing = Thing(id="orders", name="", tags={}, item=item, unit=UNIT)
    related: dict[str, dict[str, Any]] = defaultdict(dict)
    return next(iter(find_kinds()[kind_name].describe(thing, related, NOW.timestamp())))


def storage(**more: object) -> dict[str, Any]:
    """A database with gp2 storage, as AWS lists it."""
    return {
        "DBInstanceIdentifier": "orders", "DBInstanceClass": "db.m6g.large", "Engine": "mysql",
        "StorageType": "gp2", "AllocatedStorage": 300, "DBInstanceStatus": "available", **more,
    }  # fmt: skip


def database(engine: str, instance_class: str = "db.t2.medium") -> dict[str, Any]:
    """A database with CPU credits that slows down without them."""
    return {**storage(), "Engine": engine, "DBInstanceClass": instance_class}


NODE = {
    "CacheClusterId": "orders", "CacheNodeType": "cache.t3.micro", "Engine": "redis",
    "CacheClusterStatus": "available", "CacheNodes": [{"CacheNodeId": "0001"}],
}  # fmt: skip
#: Each kind whose changes could wait for a maintenance window.
WITH_WINDOW = [
    ("rds_storage", storage()),
    ("rds_instance_cpu", database("mysql")),
    ("elasticache_node_cpu", NODE),
]


def changes_of(kind_name: str, resource: Resource) -> list[Fix]:
    """The changes for a load that is as high as the limit."""
    return find_kinds()[kind_name].changes(resource, resource.limit.rate, {})


@pytest.mark.parametrize(("kind_name", "item"), WITH_WINDOW)
def test_a_change_that_does_not_wait_for_the_window_says_so_and_what_is_made_with_it(
    kind_name: str, item: dict[str, Any]
) -> None:
    planned = {**item, "PreferredMaintenanceWindow": WINDOW, "PendingModifiedValues": WAITING}
    for fix in changes_of(kind_name, resource_of(kind_name, planned)):
        if fix.command:
            assert f"now, not in the maintenance window {WINDOW} (UTC)" in fix.effect
            assert fix.effect.endswith("what waits for that window: engine-version, master-user-password")  # fmt: skip
            assert "8.0.40" not in fix.text
            assert "no downtime" not in fix.text  # what waits may need a restart


@pytest.mark.parametrize(("kind_name", "item"), WITH_WINDOW)
def test_where_nothing_waits_nothing_is_said_of_it(kind_name: str, item: dict[str, Any]) -> None:
    planned = {**item, "PreferredMaintenanceWindow": WINDOW, "PendingModifiedValues": {}}
    fixes = changes_of(kind_name, resource_of(kind_name, planned))
    assert fixes
    assert not any("what waits" in fix.effect for fix in fixes)


@pytest.mark.parametrize("most_gib", [None, 310, 400, 439, 440, 1_000])
def test_grown_storage_stays_under_what_rds_may_grow_it_to(most_gib: int | None) -> None:
    item = storage() if most_gib is None else storage(MaxAllocatedStorage=most_gib)
    grown = changes_of("rds_storage", resource_of("rds_storage", item))[-1]
    parameters = grown.commands[0].parameters
    size_gib = parameters["AllocatedStorage"]
    most_after = parameters.get("MaxAllocatedStorage", most_gib)
    assert most_after is None or most_after >= 1.1 * size_gib  # RDS refuses less
    assert most_after is None or most_gib is None or most_after >= most_gib
    assert ("MaxAllocatedStorage" in parameters) == (f"{most_after} GiB" in grown.effect)


FOR_GOOD = [
    ("rds_storage", storage()),
    (
        "fsx_hdd_volume",
        {"FileSystemId": "fs-1", "FileSystemType": "WINDOWS", "StorageType": "HDD", "StorageCapacity": 4_000},
    ),
    ("ebs_volume", {"VolumeId": "vol-1", "VolumeType": "st1", "Size": 500, "State": "in-use"}),
    ("ebs_volume", {"VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100, "State": "in-use"}),
]  # fmt: skip
#: What a size is called in a command.
SIZES = {"Size", "AllocatedStorage", "StorageCapacity"}


@pytest.mark.parametrize(("kind_name", "item"), FOR_GOOD)
def test_a_page_has_no_command_for_what_cannot_be_undone(
    kind_name: str, item: dict[str, Any]
) -> None:
    resource = resource_of(kind_name, item)
    bucket = resource.bucket
    assert bucket is not None
    for fix in changes_of(kind_name, resource):
        (command,) = fix.commands
        is_grown = (
            any(command.parameters.get(name, 0) > (item.get(name) or 0) for name in SIZES)
            or command.parameters.get("StorageType") == "SSD"
        )
        assert fix.is_for_good == is_grown
        assert fix.text.endswith("it cannot be undone") == is_grown
    demand = min(bucket.burst, resource.limit.rate)
    for fix in find_kinds()[kind_name].what_helps(resource, bucket.capacity, demand, {}):
        assert not (fix.is_for_good and fix.command)
        assert fix.action.startswith("with its owner, ") == fix.is_for_good


def test_a_mode_that_stays_for_a_day_names_the_price_of_a_day() -> None:
    item = {
        "FileSystemId": "fs-1", "SizeInBytes": {"Value": 58 * 1024**3}, "NumberOfMountTargets": 1,
    }  # fmt: skip
    resource = resource_of("efs_file_system", item)
    provisioned, *_ = find_kinds()["efs_file_system"].changes(resource, 100.0, {})
    assert provisioned.usd_month is not None
    assert (
        f"it stays a day at least ({provisioned.usd_month * 24 / 730:,.2f} USD)"
        in provisioned.effect
    )


def test_what_would_prevent_a_repeat_is_sized_by_two_weeks_where_it_costs_more() -> None:
    item = {
        "FileSystemId": "fs-1", "SizeInBytes": {"Value": 58 * 1024**3}, "NumberOfMountTargets": 1,
    }  # fmt: skip
    dear = resource_of("efs_file_system", item)
    advised = lasting_fix(find_kinds()["efs_file_system"], dear)
    assert (
        advised
        == "see what its load of two weeks needs: burstwatch advise orders --region us-east-1"
    )
    free = resource_of("ebs_volume", {"VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100, "State": "in-use"})  # fmt: skip
    assert lasting_fix(find_kinds()["ebs_volume"], free).startswith("change to gp3")


@pytest.mark.parametrize(("kind", "resource"), [
    pytest.param(kind, resource, id=f"{kind.name} {resource.id} {resource.level_metric}")
    for kind, resource in described()
])  # fmt: skip
def test_what_says_that_it_interrupts_is_asked_of_the_owner(kind: Kind, resource: Resource) -> None:
    assert resource.bucket is not None
    for share in (0.3, 0.6, 1.0):
        for fix in kind.changes(resource, share * resource.bucket.burst, {}):
            says_so = re.search("interrupts|instance stops|unavailable|new cluster", fix.text)
            assert fix.interrupts == bool(says_so), fix.text

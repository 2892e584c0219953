"""The loop of advice: each change of each kind is followed to the letter, AWS makes it state by state, and what alarms say is read.

AWS refuses a command for what is changing, and one for what is so already. Neither may stand in a text.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.fixes.fix import Command
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.shards import thing_id
from tests.conftest import NOW, Cloud
from tests.kinds.playing import (
    described,
    drain,
    examples_of,
    put_examples,
    put_levels,
    sweep_kinds,
)

Item = dict[str, Any]


def settled(kind: Kind) -> ModuleType:
    """The worked examples of a kind, of which no volume is being changed."""
    examples = ModuleType(kind.name)
    vars(examples).update(
        deepcopy({n: v for n, v in vars(examples_of(kind)).items() if n.isupper()})
    )
    if "modifications" in examples.FOUND:
        examples.FOUND["modifications"] = {}
    return examples


def changes() -> Iterator[Any]:
    """Each change that has a command, of each resource of the worked examples; of each sort the first in the quick tests."""
    sorts = set()
    for name, kind in find_kinds().items():
        for resource in described(kind, settled(kind)):
            bucket = resource.bucket
            if bucket is None or not resource.can_spend or not resource.terms.is_sized:
                continue
            demand = min(bucket.burst, resource.limit.rate)
            for number, fix in enumerate(kind.changes(resource, demand, {})):
                if fix.commands:
                    metric = resource.level_metric
                    sort = (name, metric, *((c.operation, *c.parameters) for c in fix.commands))
                    yield pytest.param(
                        name,
                        resource.id,
                        metric,
                        number,
                        id=f"{resource.id}-{metric}-{number}",
                        marks=[pytest.mark.many] if sort in sorts else [],
                    )
                    sorts.add(sort)


def listed(cloud: Cloud, resource: Resource) -> Item:
    """The item of a resource in the account's list."""
    inventory, thing = find_kinds()[resource.kind].inventory, thing_id(resource.id)
    there = cloud.aws.regions["us-east-1"]
    if thing in there.instances | there.volumes:
        return (there.instances | there.volumes)[thing]
    items = there.items[inventory.service, inventory.operation]
    return next(item for item in items if inventory.identify(item).id == thing)


def made_by_ec2(cloud: Cloud, command: Command, item: Item) -> Iterator[bool]:
    """A change of an instance or a volume."""
    if command.operation == "ModifyVolume":
        yield from made_to_volume(cloud, command, item)
        return
    if command.operation == "StopInstances":
        item["State"] = {"Code": 64, "Name": "stopping"}
        yield False
        item["State"] = {"Code": 80, "Name": "stopped"}
    elif command.operation == "ModifyInstanceAttribute":
        item["InstanceType"] = command.parameters["InstanceType"]["Value"]
    elif command.operation == "StartInstances":
        item["State"] = {"Code": 16, "Name": "running"}
        item["LaunchTime"] = datetime.fromtimestamp(cloud.clock.now, tz=UTC)
    elif command.operation == "ModifyInstanceCreditSpecification":
        there = cloud.aws.regions["us-east-1"].items["ec2", "DescribeInstanceCreditSpecifications"]
        (specification,) = command.parameters["InstanceCreditSpecifications"]
        there[:] = [one for one in there if one["InstanceId"] != specification["InstanceId"]]
        there.append(dict(specification))
    yield False


def made_to_volume(cloud: Cloud, command: Command, item: Item) -> Iterator[bool]:
    """A change of a volume: it is made, and optimized, with the new values from the first moment on."""
    values = {n: v for n, v in command.parameters.items() if n != "VolumeId"}
    change = {
        "VolumeId": item["VolumeId"], "ModificationState": "modifying", "Progress": 0,
        "StartTime": datetime.fromtimestamp(cloud.clock.now, tz=UTC),
        "OriginalVolumeType": item["VolumeType"], "OriginalSize": item["Size"],
        "TargetVolumeType": values.get("VolumeType", item["VolumeType"]), "TargetSize": values.get("Size", item["Size"]),
    }  # fmt: skip
    cloud.aws.regions["us-east-1"].modifications[item["VolumeId"]] = change
    yield True
    item.update(values)
    change.update(ModificationState="optimizing", Progress=40)
    yield True
    ended = datetime.fromtimestamp(cloud.clock.now, tz=UTC)
    change.update(ModificationState="completed", Progress=100, EndTime=ended)
    yield False


def made_by_rds(_: Cloud, command: Command, item: Item) -> Iterator[bool]:
    """A change of a database: modifying, then its storage is optimized, with the new values."""
    own = {"DBInstanceIdentifier", "ApplyImmediately"}
    values = {name: value for name, value in command.parameters.items() if name not in own}
    item.update(DBInstanceStatus="modifying", PendingModifiedValues=values)
    yield True
    item.update(values, PendingModifiedValues={})
    if "StorageType" in values:
        item.update(DBInstanceStatus="storage-optimization", StorageOperationPercentProgress=7)
        yield True
        del item["StorageOperationPercentProgress"]
    item["DBInstanceStatus"] = "available"
    yield False


def made_by_efs(_: Cloud, command: Command, item: Item) -> Iterator[bool]:
    """A change of the throughput mode."""
    item["LifeCycleState"] = "updating"
    yield True
    item.update({n: v for n, v in command.parameters.items() if n != "FileSystemId"})
    item["LifeCycleState"] = "available"
    yield False


def made_by_fsx(cloud: Cloud, command: Command, item: Item) -> Iterator[bool]:
    """A change of a file system: it waits, is made, and its storage is optimized."""
    values = {n: v for n, v in command.parameters.items() if n != "FileSystemId"}
    action = {
        "AdministrativeActionType": "FILE_SYSTEM_UPDATE", "Status": "PENDING",
        "RequestTime": datetime.fromtimestamp(cloud.clock.now, tz=UTC), "TargetFileSystemValues": values,
    }  # fmt: skip
    item["AdministrativeActions"] = [action]
    yield True
    action.update(Status="IN_PROGRESS", ProgressPercent=7)
    yield True
    for name, value in values.items():
        item[name] = {**item.get(name, {}), **value} if isinstance(value, Mapping) else value
    if "StorageCapacity" in values or "StorageType" in values:
        action.update(Status="UPDATED_OPTIMIZING", ProgressPercent=70)
        yield True
    action.update(Status="COMPLETED", ProgressPercent=100)
    yield False


MAKERS = {"ec2": made_by_ec2, "rds": made_by_rds, "efs": made_by_efs, "fsx": made_by_fsx}


@pytest.mark.parametrize(("name", "resource_id", "metric", "number"), list(changes()))
def test_no_text_has_a_command_that_aws_would_refuse(
    cloud: Cloud,
    name: str,
    resource_id: str,
    metric: str,
    number: int,
) -> None:
    kind, memory = find_kinds()[name], Memory()
    examples = settled(kind)
    put_examples(cloud, kind, examples)
    cloud.aws.regions["us-east-1"].modifications.clear()
    found = sweep_kinds(cloud, [kind], Memory()).snapshot
    buckets = [
        one for one, _ in found.buckets if one.id == resource_id and one.bucket and one.can_spend
    ]
    drain(cloud, kind, examples, buckets)
    victim = next(resource for resource in buckets if resource.level_metric == metric)
    sweep_kinds(cloud, [kind], memory)
    alarms = cloud.aws.regions["us-east-1"].alarms

    def texts() -> list[str]:
        return [alarm["AlarmDescription"] for alarm in alarms.values()]

    assert any(not text.startswith("RESOLVED") for text in texts())
    bucket = victim.bucket
    assert bucket is not None
    fix = kind.changes(victim, min(bucket.burst, victim.limit.rate), {})[number]
    item = listed(cloud, victim)

    def sweep_on(minutes: float) -> None:
        cloud.clock.now += 60.0 * minutes
        if item.get("State", {}).get("Name") != "stopped":
            level = max(0.0, 0.02 - 0.001 * (cloud.clock.now - NOW) / 60)
            put_levels(cloud, kind, victim, [level] * round(minutes), until=cloud.clock.now)
        sweep_kinds(cloud, [kind], memory)

    for command in fix.commands:
        if command.is_waiter:
            continue
        for is_refused in MAKERS[command.service](cloud, command, item):
            for _ in range(3):
                sweep_on(2)
                told = [line for text in texts() for line in text.splitlines() if line.startswith("Command: ")]  # fmt: skip
                assert not (told and is_refused), told
    for _ in range(12):
        sweep_on(10)
        assert not any(f"Command: {fix.command}" in text for text in texts()), texts()
        # It stays nearly empty, or has nothing that is empty any more.
        assert not any(" back at " in text for text in texts()), texts()

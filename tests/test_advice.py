"""Every advice, over kinds, types, engines, sizes, states and owners: AWS accepts it, and it says what it makes slower.

The rules of AWS stand here a second time, in the words of its pages and apart from the code that gives the advice.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.model import ListShape, Shape, StructureShape
from botocore.validate import ParamValidator

from burstwatch.backtest.advice import advise
from burstwatch.backtest.replay import Recorded
from burstwatch.backtest.simulate import Simulation
from burstwatch.backtest.workloads import read_workload, scaled_loads
from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.ebs.volumes import volume_spec
from burstwatch.fixes.fix import Command, Fix
from burstwatch.fixes.templates import TEMPLATES, cloudformation_lines, terraform_lines
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds._cpu import EARNED, cpu_spec
from burstwatch.kinds.base import Kind, Thing
from burstwatch.messages.message import RUNBOOK_BY_KIND
from burstwatch.recordings.samples import to_points
from tests.recorded import volume_samples, write_series
from tests.runbooks import FOLDER, blocks

pytestmark = pytest.mark.slow

SESSION = botocore.session.Session()
UNIT = "123456789012/us-east-1"
FILE_SYSTEM = "fs-0123456789abcdef0"
#: Words that say that something is less than today.
LESS = re.compile(r"instead of|serves no more|peak drops")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing as AWS lists it, and what its lookups find."""

    kind: str
    thing: str
    item: dict[str, Any]
    related: Mapping[str, Any]

    def resources(self) -> list[Resource]:
        """Those with a bucket that can be advised."""
        kind = find_kinds()[self.kind]
        tags = {tag["Key"]: tag["Value"] for tag in self.item.get("Tags", ())}
        thing = Thing(id=self.thing, name="", tags=tags, item=self.item, unit=UNIT)
        return [
            resource
            for resource in kind.describe(thing, self.related, 0.0)
            if resource.bucket is not None and resource.terms.is_sized
        ]


INSTANCE_OWNERS: list[dict[str, Any]] = [
    {},
    {"Operator": {"Managed": True, "Principal": "eks.amazonaws.com"}},
    {"Tags": [{"Key": "aws:autoscaling:groupName", "Value": "web"}]},
    {"InstanceLifecycle": "spot"},
    {"Placement": {"Tenancy": "host"}},
    {"Placement": {"Tenancy": "default"}},
]
DATABASE_STATES = ["available", "modifying", "storage-optimization", "backing-up", "upgrading"]


def volumes() -> Iterator[Row]:
    sizes = [
        1,
        8,
        33,
        34,
        100,
        125,
        170,
        171,
        333,
        334,
        500,
        999,
        1_000,
        2_048,
        4_000,
        12_800,
        16_384,
    ]
    states = ["", "modifying", "optimizing", "completed", "failed"]
    limits: list[dict[str, Any]] = [
        {"MaximumIops": 11_800, "MaximumThroughputInMBps": 260.6, "BaselineIops": 250, "BaselineThroughputInMBps": 5.4},
        {"MaximumIops": 18_750, "MaximumThroughputInMBps": 593.75, "BaselineIops": 3_600, "BaselineThroughputInMBps": 81.25},
    ]  # fmt: skip
    for name, size, state, managed, info in product(
        ("gp2", "st1", "sc1"), sizes, states, (False, True), limits
    ):
        if size < CATALOGUE[name].min_size_gib.value:
            continue
        item: dict[str, Any] = {
            "VolumeId": "vol-1",
            "VolumeType": name,
            "Size": size,
            "Attachments": [{"InstanceId": "i-1", "State": "attached"}],
        }
        if managed:
            item["Operator"] = {"Managed": True, "Principal": "eks.amazonaws.com"}
        change = {
            "ModificationState": state,
            "OriginalVolumeType": name,
            "OriginalSize": size,
            "TargetVolumeType": name,
            "TargetSize": size,
            "StartTime": _At(),
            "Progress": 30,
        }
        related = {
            "instances": {"i-1": {"InstanceType": "m5.large"}},
            "instance_types": {"m5.large": {"EbsInfo": {"EbsOptimizedInfo": info}}},
            "modifications": {"vol-1": change} if state else {},
        }
        yield Row(kind="ebs_volume", thing="vol-1", item=item, related=related)


class _At:
    """A time of AWS's answer."""

    def timestamp(self) -> float:
        return -600.0


def instances() -> Iterator[Row]:
    for family, owner, mode in product(EARNED, INSTANCE_OWNERS, ("standard", "unlimited")):
        for size in EARNED[family]:
            item = {"InstanceId": "i-1", "InstanceType": f"{family}.{size}", **owner}
            related = {
                "instance_types": {},
                "credit_specifications": {"i-1": {"CpuCredits": mode}},
            }
            yield Row(kind="ec2_instance_cpu", thing="i-1", item=item, related=related)
    info = {"MaximumIops": 18_750, "MaximumThroughputInMBps": 593.75, "BaselineIops": 3_600, "BaselineThroughputInMBps": 81.25}  # fmt: skip
    spec = {"Hypervisor": "nitro", "EbsInfo": {"EbsOptimizedInfo": info}}
    for owner in INSTANCE_OWNERS:
        item = {"InstanceId": "i-1", "InstanceType": "m5.large", **owner}
        yield Row(kind="ec2_instance_ebs", thing="i-1", item=item, related={"instance_types": {"m5.large": spec}})  # fmt: skip


ENGINES = [
    "mysql", "mariadb", "postgres", "db2-se", "oracle-ee", "custom-oracle-ee", "sqlserver-ex", "sqlserver-web",
    "custom-sqlserver-se",
]  # fmt: skip


def databases() -> Iterator[Row]:
    sizes = [
        5,
        20,
        100,
        170,
        171,
        182,
        199,
        200,
        201,
        300,
        363,
        364,
        399,
        400,
        680,
        999,
        1_000,
        1_500,
        3_999,
    ]
    for engine, size, status, is_multi_az in product(
        ENGINES, sizes, DATABASE_STATES, (False, True)
    ):
        item = {
            "DBInstanceIdentifier": "orders",
            "Engine": engine,
            "StorageType": "gp2",
            "AllocatedStorage": size,
            "DBInstanceStatus": status,
            "MultiAZ": is_multi_az,
        }
        yield Row(kind="rds_storage", thing="orders", item=item, related={})
    classes = {
        "rds_instance_cpu": [*ENGINES, "aurora-mysql", "aurora-postgresql"],
        "docdb_instance_cpu": ["docdb"],
        "neptune_instance_cpu": ["neptune"],
    }
    for kind, engines in classes.items():
        for engine, family, status in product(engines, EARNED, DATABASE_STATES):
            for size_name in EARNED[family]:
                item = {
                    "DBInstanceIdentifier": "orders",
                    "Engine": engine,
                    "DBInstanceClass": f"db.{family}.{size_name}",
                    "DBInstanceStatus": status,
                }
                yield Row(kind=kind, thing="orders", item=item, related={})


def caches() -> Iterator[Row]:
    for engine, group, family, status in product(
        ("redis", "valkey", "memcached"), ("", "orders"), ("t3", "t4g"), ("available", "modifying")
    ):
        for size in ("micro", "small", "medium"):
            item = {
                "CacheClusterId": "orders-001",
                "CacheNodeType": f"cache.{family}.{size}",
                "CacheClusterStatus": status,
                "Engine": engine,
                "CacheNodes": [{"CacheNodeId": "0001"}],
                **({"ReplicationGroupId": group} if group else {}),
            }
            yield Row(kind="elasticache_node_cpu", thing="orders-001", item=item, related={})


def file_systems() -> Iterator[Row]:
    for gib, zone, state, mode in product(
        (0, 1, 58, 1_024, 10_240, 60_000, 102_400),
        ("", "us-east-1a"),
        ("available", "updating"),
        ("generalPurpose", "maxIO"),
    ):
        item: dict[str, Any] = {
            "FileSystemId": FILE_SYSTEM,
            "SizeInBytes": {"Value": gib * 1024**3},
            "LifeCycleState": state,
            "PerformanceMode": mode,
            **({"AvailabilityZoneName": zone} if zone else {}),
        }
        yield Row(kind="efs_file_system", thing=FILE_SYSTEM, item=item, related={})
    action = {"AdministrativeActionType": "STORAGE_OPTIMIZATION", "ProgressPercent": 40}
    for status, gib in product(
        ("", "IN_PROGRESS", "COMPLETED"), (2_000, 10_240, 40_000, 60_000, 65_536)
    ):
        actions = [{**action, "Status": status}] if status else []
        item = {
            "FileSystemId": FILE_SYSTEM,
            "FileSystemType": "WINDOWS",
            "StorageType": "HDD",
            "StorageCapacity": gib,
            "AdministrativeActions": actions,
        }
        for capacity in (8, 16, 64):
            windows = {"WindowsConfiguration": {"ThroughputCapacity": capacity}}
            yield Row(
                kind="fsx_hdd_volume", thing=FILE_SYSTEM, item={**item, **windows}, related={}
            )
        for capacity in (32, 64, 128, 256):
            windows = {"WindowsConfiguration": {"ThroughputCapacity": capacity}}
            yield Row(
                kind="fsx_file_server", thing=FILE_SYSTEM, item={**item, **windows}, related={}
            )


ROWS = [*volumes(), *instances(), *databases(), *caches(), *file_systems()]
#: Of what the bucket allows: how much is asked for.
SHARES = (-0.5, 0.0, 0.05, 0.3, 0.7, 1.0)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One fix of one row at one demand."""

    row: Row
    resource: Resource
    demand: float
    fix: Fix


def advice_of(kind: Kind) -> Iterator[Advice]:
    for row in (row for row in ROWS if row.kind == kind.name):
        for resource, share in product(row.resources(), SHARES):
            assert resource.bucket is not None
            low, high = resource.bucket.refill, min(resource.bucket.burst, resource.limit.rate)
            demand = low + share * (high - low) if share >= 0 else low / 2
            for fix in kind.changes(resource, demand, {}):
                yield Advice(row=row, resource=resource, demand=demand, fix=fix)


KINDS = [kind for kind in find_kinds().values() if any(row.kind == kind.name for row in ROWS)]


@pytest.fixture(scope="module")
def advice() -> dict[str, list[Advice]]:
    return {kind.name: list(advice_of(kind)) for kind in KINDS}


def by_name(kind: Kind) -> str:
    return kind.name


def test_the_table_has_thousands_of_rows_of_every_kind_that_can_be_changed(
    advice: dict[str, list[Advice]],
) -> None:
    assert sum(len(given) for given in advice.values()) > 5_000
    assert advice.keys() >= find_kinds().keys() - {"rds_instance_ebs"}
    assert all(advice.values())


def input_shape(command: Command) -> StructureShape:
    shape = SESSION.get_service_model(command.service).operation_model(command.operation).input_shape  # fmt: skip
    assert shape is not None
    return shape


def parsed(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """What the AWS CLI makes of a line: service, operation or waiter, and its parameters."""
    calls = []
    for line in text.split(" && "):
        _, service, operation, *words = shlex.split(line)
        is_waiter = operation == "wait"
        operation, words = (words[0], words[1:]) if is_waiter else (operation, words)
        options: dict[str, list[str]] = {}
        for word in words:
            if word.startswith("--"):
                options[word] = []
            else:
                options[next(reversed(options))].append(word)
        assert options.pop("--region") == ["us-east-1"]
        model = SESSION.get_service_model(service)
        if is_waiter:
            waiters = {
                _dashed(name): name for name in SESSION.get_waiter_model(service).waiter_names
            }
            operation = SESSION.get_waiter_model(service).get_waiter(waiters[operation]).operation
        else:
            operation = {_dashed(name): name for name in model.operation_names}[operation]
        shape = model.operation_model(operation).input_shape
        assert shape is not None
        members = {_dashed(name): (name, member) for name, member in shape.members.items()}
        parameters = {}
        for option, values in options.items():
            name, member = members[option.removeprefix("--")]
            parameters[name] = _value(member, values)
        assert not ParamValidator().validate(parameters, shape).has_errors()
        calls.append((service, operation, parameters))
    return calls


def _dashed(name: str) -> str:
    return str(botocore.xform_name(name, "-"))


def _value(shape: Shape, values: list[str]) -> Any:
    if isinstance(shape, ListShape):
        return [_value(shape.member, [value]) for value in values]
    if shape.type_name == "boolean":
        assert values == []
        return True
    (value,) = values
    if isinstance(shape, StructureShape):
        pairs = dict(pair.split("=", 1) for pair in value.split(","))
        return {name: _value(shape.members[name], [text]) for name, text in pairs.items()}
    if shape.type_name in {"integer", "long"}:
        return int(value)
    if shape.type_name in {"double", "float"}:
        return float(value)
    allowed = getattr(shape, "enum", None)
    assert not allowed or value in allowed, (value, allowed)
    return value


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_each_command_is_one_that_the_cli_takes_with_these_values(
    kind: Kind, advice: dict[str, list[Advice]]
) -> None:
    # The same command is advised in many states, and is read once.
    fixes = {given.fix.command: given.fix for given in advice[kind.name] if given.fix.commands}
    for text, fix in fixes.items():
        calls = parsed(text)
        for command, (service, operation, parameters) in zip(fix.commands, calls, strict=True):
            assert service == command.service
            assert command.is_waiter or operation == command.operation
            assert parameters == command.parameters


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_nothing_is_advised_that_aws_refuses_in_this_state_or_to_anybody_but_the_owner(
    kind: Kind, advice: dict[str, list[Advice]]
) -> None:
    for given in advice[kind.name]:
        item, fix = given.row.item, given.fix
        if item.get("Operator"):
            assert not fix.commands
            assert "eks.amazonaws.com" in fix.action
            continue
        if is_under_way(given.row):
            assert fix.takes == "is under way"
            assert not fix.commands
            continue
        assert fix.takes != "is under way"
        stops = any(command.operation == "StopInstances" for command in fix.commands)
        assert not (stops and ("Tags" in item or "InstanceLifecycle" in item)), item


def is_under_way(row: Row) -> bool:
    """True if AWS takes no change of it now, by its pages."""
    item = row.item
    state = row.related.get("modifications", {}).get(row.thing, {}).get("ModificationState")
    status = item.get("DBInstanceStatus", "")
    return (
        state in {"modifying", "optimizing"}
        or status in {"modifying", "upgrading"}
        or (status == "storage-optimization" and row.kind == "rds_storage")
        or item.get("CacheClusterStatus") == "modifying"
        or item.get("LifeCycleState") == "updating"
        or any(
            action["Status"] == "IN_PROGRESS" for action in item.get("AdministrativeActions", ())
        )
    )


def check_volume(given: Advice, parameters: dict[str, Any]) -> tuple[float, float]:
    """Raises for what ModifyVolume refuses; IOPS and MiB/s afterwards."""
    item = given.row.item
    name, size = (
        parameters.get("VolumeType", item["VolumeType"]),
        parameters.get("Size", item["Size"]),
    )
    assert size >= item["Size"]
    kind = CATALOGUE[name]
    assert kind.min_size_gib.value <= size <= kind.max_size_gib.value
    iops, mib_s = parameters.get("Iops"), parameters.get("Throughput")
    assert (iops is None) == (mib_s is None) == (name != "gp3")
    if iops is not None and mib_s is not None:
        assert 3_000 <= iops <= max(3_000, min(80_000, 500 * size))
        assert 125 <= mib_s <= min(2_000, iops / 4)
    after = volume_spec(name, size, iops=iops, mib_s=mib_s)
    return after.limit_iops, after.limit_mib_s


def rds_gp3(engine: str, size: float) -> tuple[bool, float, float]:
    """If rates may be chosen, and the IOPS and MiB/s that gp3 has at the least: the table of the RDS user guide."""
    if "sqlserver" in engine:
        return True, 3_000, 125
    is_striped = size >= (200 if "oracle" in engine else 400)
    return is_striped, *((12_000.0, 500.0) if is_striped else (3_000.0, 125.0))


def check_storage(given: Advice, parameters: dict[str, Any]) -> tuple[float, float]:
    """Raises for what ModifyDBInstance refuses of storage; IOPS and MiB/s afterwards."""
    item = given.row.item
    engine, present = item["Engine"], item["AllocatedStorage"]
    size = parameters.get("AllocatedStorage", present)
    assert size == present or size >= math.ceil(1.1 * present)
    is_chosen, iops, mib_s = rds_gp3(engine, size)
    assert ("Iops" in parameters) == is_chosen
    assert ("AllocatedStorage" in parameters) == is_chosen
    assert "StorageThroughput" not in parameters or is_chosen
    if is_chosen:
        assert parameters["Iops"] == iops
        mib_s = parameters.get("StorageThroughput", mib_s)
        assert mib_s <= parameters["Iops"] / 4
    if engine.startswith("custom-"):
        assert "StorageThroughput" not in parameters
    return iops, mib_s


def rates_now(given: Advice) -> tuple[float, float]:
    """IOPS and MiB/s of today, with credits left."""
    item = given.row.item
    if given.row.kind == "ebs_volume":
        spec = volume_spec(item["VolumeType"], item["Size"])
        # Nobody chose an HDD for its operations: those of gp3 are smaller, and more.
        return (spec.limit_iops if spec.unit == "io" else 0.0), spec.limit_mib_s
    size = item["AllocatedStorage"]
    is_striped, *_ = rds_gp3(item["Engine"], size)
    stripes = 4 if is_striped and "sqlserver" not in item["Engine"] else 1
    spec = volume_spec("gp2", size / stripes)
    return stripes * spec.limit_iops, stripes * spec.limit_mib_s


@pytest.mark.parametrize("name", ["ebs_volume", "rds_storage"])
def test_a_disk_is_not_made_slower_than_today_without_saying_so(
    name: str, advice: dict[str, list[Advice]]
) -> None:
    check = {"ebs_volume": check_volume, "rds_storage": check_storage}[name]
    for given in advice[name]:
        for command in given.fix.commands:
            iops, mib_s = check(given, dict(command.parameters))
            now_iops, now_mib_s = rates_now(given)
            assert iops >= now_iops, given
            assert (mib_s < now_mib_s) == bool(LESS.search(given.fix.effect)), given


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name.endswith("_cpu")], ids=by_name
)
def test_an_instance_gets_a_type_that_its_service_has_and_more_credits(
    kind: Kind, advice: dict[str, list[Advice]]
) -> None:
    largest = {"docdb_instance_cpu": "medium", "neptune_instance_cpu": "medium", "elasticache_node_cpu": "medium"}  # fmt: skip
    sizes = list(EARNED["t3"])
    for given in advice[kind.name]:
        names = re.findall(r"t\d\w?\.\w+", given.fix.command)
        present = cpu_spec(given.resource.words.facts["instance_type"])
        most = "large" if "aurora" in given.row.item.get("Engine", "") else "2xlarge"
        for name in names:
            spec = cpu_spec(name)
            if spec.family == "t3" and present.family == "t2" and "db." in given.fix.action:
                continue
            assert spec.family == present.family
            assert spec.baseline >= given.demand
            assert sizes.index(spec.size) > sizes.index(present.size)
            assert sizes.index(spec.size) <= sizes.index(largest.get(kind.name, most))
        if "unlimited" in given.fix.command:
            assert given.row.item.get("Placement", {}).get("Tenancy") != "host"
        if given.row.item.get("Engine") == "memcached":
            assert not given.fix.commands


#: Disk throughput (MB/s) and IOPS at the most, by throughput capacity: the table of the FSx guide.
MOST_OF_SERVER = {
    32: (260, 12_000), 64: (350, 16_000), 128: (600, 20_000), 256: (600, 20_000), 512: (512, 20_000),
    1_024: (1_024, 40_000), 2_048: (2_048, 80_000),
}  # fmt: skip


def test_a_file_system_is_given_what_its_service_has(advice: dict[str, list[Advice]]) -> None:
    for given in advice["efs_file_system"]:
        for command in given.fix.commands:
            mib_s = command.parameters.get("ProvisionedThroughputInMibps")
            assert mib_s is None or 1 <= mib_s <= 3_414
            is_elastic = command.parameters["ThroughputMode"] == "elastic"
            assert not (is_elastic and given.row.item["PerformanceMode"] == "maxIO")
            if mib_s is not None and mib_s < given.resource.limit.rate:
                assert LESS.search(given.fix.effect)
    for given in advice["fsx_hdd_volume"]:
        for command in given.fix.commands:
            gib, now = command.parameters.get("StorageCapacity"), given.row.item["StorageCapacity"]
            assert gib is None or math.ceil(1.1 * now) <= gib <= 65_536
            server = given.row.item.get("WindowsConfiguration", {}).get("ThroughputCapacity", 16)
            assert gib is None or server >= 16
    for given in advice["fsx_file_server"]:
        for command in given.fix.commands:
            capacity = command.parameters["WindowsConfiguration"]["ThroughputCapacity"]
            assert capacity in {8, 16, 32, 64, 128, 256, 512, 1_024, 2_048}
            present = given.row.item["WindowsConfiguration"]["ThroughputCapacity"]
            assert capacity > present
            before, after = MOST_OF_SERVER[present], MOST_OF_SERVER[capacity]
            is_slower = any(new < old for old, new in zip(before, after, strict=True))
            assert is_slower == bool(LESS.search(given.fix.effect))


def makes_anew(fix: Fix) -> bool:
    """True for a change that a template could only make by a new and empty file system."""
    return any(command.parameters.get("StorageType") == "SSD" for command in fix.commands)


def test_no_line_of_a_template_replaces_the_resource() -> None:
    """What CloudFormation calls create-only makes a new one, and the old one is lost with what it holds."""
    # It takes seconds to import, and no other test needs it.
    from cfnlint.schema.manager import (  # type: ignore[import-untyped]  # noqa: PLC0415
        PROVIDER_SCHEMA_MANAGER,
    )

    for template in TEMPLATES.values():
        (schema,) = PROVIDER_SCHEMA_MANAGER.get_resource_schemas_by_regions(
            template.cloudformation, ["us-east-1"]
        )
        replaced = {
            path.removeprefix("/properties/").replace("/", ".")
            for path in schema[1].schema.get("createOnlyProperties", ())
        }
        names = {name for name, _ in template.properties.values()}
        assert not names & replaced, template.cloudformation


def test_the_lines_of_cloudformation_name_types_and_properties_that_it_has(
    advice: dict[str, list[Advice]],
) -> None:
    from cfnlint.api import lint  # type: ignore[import-untyped]  # noqa: PLC0415

    shapes: dict[str, tuple[str, ...]] = {}
    for given in (entry for entries in advice.values() for entry in entries):
        lines = cloudformation_lines(given.fix.commands)
        assert bool(lines) == (bool(given.fix.commands) and not makes_anew(given.fix))
        if lines:  # one of each type and set of properties: a linter takes seconds
            shapes.setdefault(re.sub(r"\d+", "N", "\n".join(lines)), lines)
    resources = "".join(
        f"  R{number}:\n" + "".join(f"    {line}\n" for line in lines)
        for number, lines in enumerate(shapes.values())
    )
    wrong = {
        f"{match.rule.id} {match.message}"
        for match in lint(f"Resources:\n{resources}")
        if match.rule.id in {"E0000", "E3001", "E3002", "E3006", "E3012", "E3030", "E3034"}
    }
    assert len(shapes) > 10
    assert not wrong


def test_each_command_that_changes_something_has_lines_of_terraform(
    advice: dict[str, list[Advice]],
) -> None:
    for given in (entry for entries in advice.values() for entry in entries):
        lines = terraform_lines(given.fix.commands)
        has_lines = bool(given.fix.commands) and not makes_anew(given.fix)
        assert (len(lines) > 1) == has_lines, given.fix.command


WORKLOADS = sorted((Path(__file__).parents[1] / "demo" / "workloads" / "smd").glob("*.csv.gz"))


VOLUMES = tuple(product((0.9, 0.3, 1.3), (100, 34, 500)))
#: `make test` plays each load on one volume, `make test-all` each on all.
PLAYED = [
    pytest.param(
        path, use, size_gib, id=f"{path.name.partition('.')[0]}-{use}-{size_gib}",
        marks=() if load % len(VOLUMES) == volume else pytest.mark.many,
    )
    for load, path in enumerate(WORKLOADS)
    for volume, (use, size_gib) in enumerate(VOLUMES)
]  # fmt: skip


@pytest.mark.parametrize(("path", "use", "size_gib"), PLAYED)
def test_on_a_recorded_load_what_is_advised_never_runs_dry_and_costs_what_the_catalogue_says(
    path: Path, use: float, size_gib: int
) -> None:
    """``use`` is the mean load as a share of the baseline. A replay of the advised settings is the judge."""
    workload, spec = read_workload(path), volume_spec("gp2", size_gib)
    assert spec.bucket is not None
    loads = scaled_loads(
        workload.rates, step_s=workload.step_s, mean_iops=use * spec.baseline, reads=0.5
    )
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=300.0)
    samples = volume_samples(write_series(simulation.play(loads)))
    item = {
        "VolumeId": "vol-1",
        "VolumeType": "gp2",
        "Size": size_gib,
        "Attachments": [{"State": "attached"}],
    }
    row = Row(
        kind="ebs_volume",
        thing="vol-1",
        item=item,
        related={"instances": {}, "instance_types": {}, "modifications": {}},
    )
    (resource,) = row.resources()
    recorded = Recorded(
        name="vol-1", kind=find_kinds()["ebs_volume"], resource=resource, samples=samples,
        points=to_points(samples, resource, 300.0), period_s=300.0,
    )  # fmt: skip
    given = advise(recorded)
    assert (given.dry_count > 0) == (given.finding == "runs out")
    assert given.fix is not None  # gp3 of the same rates costs less
    (command,) = given.fix.commands
    settings = {"VolumeType": "gp2", "Size": size_gib, **command.parameters}
    after = volume_spec(
        settings["VolumeType"], settings["Size"],
        iops=settings.get("Iops"), mib_s=settings.get("Throughput"),
    )  # fmt: skip
    if after.bucket is not None:
        again = Simulation(spec=after, bucket=after.bucket, period_s=300.0)
        assert min(point.balance_minimum for point in again.play(loads)) > 0
    gib = {"gp2": 0.10, "gp3": 0.08}[settings["VolumeType"]]
    usd = gib * settings["Size"] + 0.04 * max(0, settings.get("Throughput", 0) - 125)
    assert given.usd_month == pytest.approx(0.10 * size_gib)
    assert round((given.usd_month or 0) + (given.fix.usd_month or 0), 2) == round(usd, 2)


def runbook_section(kind: str) -> str:
    """The section of a kind in the runbook, with those that it refers to."""
    page = (FOLDER / f"{RUNBOOK_BY_KIND}.md").read_text()
    sections = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL))
    referred = [name for name in sections if f"`{name}`" in sections[kind]]
    return "\n".join(sections[name] for name in (kind, *referred))


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_the_runbook_of_a_kind_has_the_commands_that_its_advice_has(
    kind: Kind, advice: dict[str, list[Advice]]
) -> None:
    """Who reads the runbook without the page must find the same ones."""
    text = "\n".join(blocks(runbook_section(kind.name))).replace("\\\n", " ")
    told = {tuple(line.split()[1:3]) for line in text.splitlines() if line.startswith("aws ")}
    if kind.name == "elasticache_node_cpu":  # that of a cluster without a group is in its words
        told.add(("elasticache", "modify-cache-cluster"))
    advised = {
        (command.service, _dashed(command.operation))
        for given in advice[kind.name]
        for command in given.fix.commands
        if not command.is_waiter
    }
    assert not advised - told

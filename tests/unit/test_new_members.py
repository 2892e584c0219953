"""Members of AWS's answers that change what an older one means."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.fixes.fix import Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds._fsx_rates import OPENZFS_TYPES, openzfs_rates
from burstwatch.kinds.base import Thing
from tests.conftest import NOW, Cloud
from tests.kinds.playing import examples_of

KINDS = find_kinds()
DATABASE = {
    "DBInstanceIdentifier": "db", "DBInstanceClass": "db.m6i.large", "Engine": "sqlserver-se",
    "StorageType": "gp3", "AllocatedStorage": 100, "Iops": 3_000, "StorageThroughput": 125,
    "DBInstanceStatus": "available",
}  # fmt: skip
INFO = {
    "BaselineIops": 3_600, "MaximumIops": 40_000,
    "BaselineThroughputInMBps": 80.0, "MaximumThroughputInMBps": 1_250.0,
}  # fmt: skip


def spec(name: str, **more: float) -> dict[str, Any]:
    return {
        "InstanceType": name,
        "Hypervisor": "nitro",
        "EbsInfo": {"EbsOptimizedInfo": {**INFO, **more}},
        "NetworkInfo": {"NetworkCards": [{"BaselineBandwidthInGbps": 0.9375}]},
    }


def database(**more: Any) -> list[Resource]:
    thing = Thing(id="db", name="", tags={}, item={**DATABASE, **more}, unit="1/us-east-1")
    types = {"instance_types": {"m6i.large": spec("m6i.large")}}
    return [*KINDS["rds_instance_ebs"].describe(thing, types, 0.0)]


def reach(**more: Any) -> tuple[float | None, ...]:
    return tuple(resource.terms.reach for resource in database(**more))


IO2 = {"StorageType": "io2", "AllocatedStorage": 1_000, "IOPS": 40_000, "StorageVolumeStatus": "ACTIVE"}  # fmt: skip
GP3 = {"StorageType": "GP3", "AllocatedStorage": 1_000, "IOPS": 16_000, "StorageThroughput": 1_000}


def test_what_further_volumes_can_ask_for_is_added() -> None:
    io, mib_s = reach()
    assert (io, mib_s) == (6_000 + 375 * 64, 375)  # its storage, and a root volume
    assert reach(AdditionalStorageVolumes=None) == reach(AdditionalStorageVolumes=[]) == (io, mib_s)
    assert reach(AdditionalStorageVolumes=[GP3]) == (22_000 + 1_375 * 64, 1_375)
    assert reach(AdditionalStorageVolumes=[IO2, GP3])[1] == 5_375


@pytest.mark.parametrize(
    "volume",
    [
        {**GP3, "StorageType": "gp4"},
        {**GP3, "StorageType": None},
        {**GP3, "StorageVolumeStatus": "MODIFYING"},
        {**GP3, "StorageVolumeStatus": "SHRINKING"},
        {name: value for name, value in GP3.items() if name != "IOPS"},
        {name: value for name, value in GP3.items() if name != "StorageThroughput"},
        {name: value for name, value in GP3.items() if name != "AllocatedStorage"},
        {},
    ],
    ids=repr,
)
def test_a_further_volume_that_is_not_understood_may_ask_for_anything(
    volume: dict[str, Any],
) -> None:
    assert reach(AdditionalStorageVolumes=[GP3, volume]) == (None, None)


def instance(weighting: dict[str, Any], **more: float) -> list[Resource]:
    item = {"InstanceId": "i-1", "InstanceType": "m8i.large", "State": {"Name": "running"}, **weighting}  # fmt: skip
    thing = Thing(id="i-1", name="", tags={}, item=item, unit="1/us-east-1")
    related = {"instance_types": {"m8i.large": spec("m8i.large", **more)}, "disks": {}}
    return [*KINDS["ec2_instance_ebs"].describe(thing, related, 0.0)]


def weighted(name: str) -> dict[str, Any]:
    return {"NetworkPerformanceOptions": {"BandwidthWeighting": name}}


def test_a_bandwidth_that_is_weighted_towards_the_network_sustains_less_and_says_so() -> None:
    io, mib_s = instance({})
    assert io.bucket is not None
    assert mib_s.bucket is not None
    nothing: dict[str, Any] = {"NetworkPerformanceOptions": {}}
    for same in (nothing, weighted("default"), weighted("ebs-1")):
        assert [one.bucket for one in instance(same)] == [io.bucket, mib_s.bucket]
    for name in ("vpc-1", "vpc-2"):  # and a value that AWS may add
        less = instance(weighted(name))
        assert less[0].bucket == io.bucket
        assert less[1].bucket is not None
        shifted_mib_s = 0.25 * 0.9375 * 1e9 / 8 / 2**20  # a quarter of what the network sustains
        assert mib_s.bucket.refill - less[1].bucket.refill == pytest.approx(shifted_mib_s)
        assert all(name in one.words.caveats[0] for one in less)


def test_where_nobody_can_say_what_is_shifted_the_instance_is_not_understood() -> None:
    item = {"InstanceId": "i-1", "InstanceType": "m8i.large", **weighted("vpc-1")}
    thing = Thing(id="i-1", name="", tags={}, item=item, unit="1/us-east-1")
    types = {"m8i.large": {**spec("m8i.large"), "NetworkInfo": {}}}
    with pytest.raises(ValueError, match="AWS does not say what its network sustains"):
        KINDS["ec2_instance_ebs"].describe(thing, {"instance_types": types, "disks": {}}, 0.0)


def test_an_instance_that_sustains_its_maximum_gets_no_bucket_by_its_weighting() -> None:
    for name in ("default", "vpc-1"):
        same = instance(weighted(name), BaselineThroughputInMBps=1_250.0, BaselineIops=40_000)
        assert [one.bucket for one in same] == [None]


def test_the_wait_for_a_change_of_storage_tells_how_far_it_is() -> None:
    thing = Thing(
        id="db", name="", tags={}, unit="1/us-east-1",
        item={
            **DATABASE, "StorageType": "gp2", "DBInstanceStatus": "storage-optimization",
            "StorageOperationStatus": "Optimizing", "StorageOperationPercentProgress": 37,
        },
    )  # fmt: skip
    (resource,) = KINDS["rds_storage"].describe(thing, {}, 0.0)
    assert resource.changes.under_way == (
        "the end of its status storage-optimization (37% of its storage done at 00:00Z)"
    )


@pytest.mark.parametrize("name", ["rds_storage", "rds_instance_ebs"])
def test_storage_that_is_read_from_a_snapshot_may_be_slow_whatever_credits_it_has(
    name: str,
) -> None:
    item = {
        **DATABASE, "StorageType": "gp2", "DBInstanceStatus": "available",
        "StorageOperationStatus": "Initializing", "StorageOperationPercentProgress": 12,
    }  # fmt: skip
    for status, told in (("Initializing", True), ("Optimizing", False), (None, False)):
        thing = Thing(id="db", name="", tags={}, unit="1/us-east-1", item={**item, "StorageOperationStatus": status})  # fmt: skip
        resources = [
            *KINDS[name].describe(thing, {"instance_types": {"m6i.large": spec("m6i.large")}}, 0.0)
        ]
        assert resources
        for resource in resources:
            caveat = (
                "its storage is still read from a snapshot (12% done), and may be slow until then"
            )
            assert (caveat in resource.words.caveats) == told


def file_system(kind_of: str, settings: dict[str, Any], **more: Any) -> list[Resource]:
    name = {"OPENZFS": "OpenZFSConfiguration", "ONTAP": "OntapConfiguration"}[kind_of]
    item = {"FileSystemId": "fs-1", "FileSystemType": kind_of, name: settings, **more}
    region = more.pop("region", "us-east-1")
    thing = Thing(id="fs-1", name="", tags={}, unit=f"1/{region}", item=item)
    return [*KINDS["fsx_file_server"].describe(thing, {}, 0.0)]


@pytest.mark.parametrize(
    ("region", "created", "burst_mb_s", "iops"),
    [
        ("us-east-1", None, 3_125, 12_500),
        ("af-south-1", None, 1_250, 12_000),
        ("eu-west-3", None, 1_187, 10_000),
        ("ca-central-1", datetime(2024, 7, 10, tzinfo=UTC), 3_125, 12_500),
        ("ca-central-1", datetime(2024, 7, 8, tzinfo=UTC), 1_187, 10_000),
    ],
)
def test_openzfs_in_two_zones_bursts_by_its_region_and_its_age(
    region: str, created: datetime | None, burst_mb_s: float, iops: float
) -> None:
    more = {} if created is None else {"CreationTime": created}
    settings = {"DeploymentType": "MULTI_AZ_1", "ThroughputCapacity": 320}
    throughput, operations = file_system("OPENZFS", settings, region=region, **more)
    assert throughput.bucket is not None
    assert operations.bucket is not None
    assert throughput.bucket.burst == pytest.approx(burst_mb_s / 1.048576)
    assert operations.bucket.refill == iops


def test_of_several_servers_the_one_with_the_least_counts() -> None:
    settings = {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacityPerHAPair": 1_536, "HAPairs": 4}
    for resource in file_system("ONTAP", settings):
        assert resource.reporting.statistic == "Minimum"


def test_what_publishes_no_balance_is_never_unknown_for_ever() -> None:
    for deployment, capacity, is_steady in (
        ("SINGLE_AZ_1", 512, False), ("MULTI_AZ_1", 4_096, False), ("SINGLE_AZ_2", 6_144, True),
        ("MULTI_AZ_3", 18_432, True),
    ):  # fmt: skip
        (resource,) = file_system("ONTAP", {"DeploymentType": deployment, "ThroughputCapacity": capacity})  # fmt: skip
        assert (bool(resource.terms.no_bucket_reason), bool(resource.terms.not_watched)) == (is_steady, not is_steady)  # fmt: skip


@pytest.mark.parametrize("deployment", OPENZFS_TYPES)
def test_a_file_server_without_another_is_away_while_it_is_changed(deployment: str) -> None:
    settings = {"DeploymentType": deployment, "ThroughputCapacity": 160}
    if deployment in {"SINGLE_AZ_1", "SINGLE_AZ_HA_1"}:
        settings["ThroughputCapacity"] = 64
    throughput, _ = file_system("OPENZFS", settings)
    (fix,) = KINDS["fsx_file_server"].changes(throughput, 200.0, {})
    is_alone = "HA" not in deployment and "MULTI" not in deployment
    assert fix.interrupts == is_alone
    assert ("unavailable for a few minutes" in fix.text) == is_alone
    assert ("fails over" in fix.text) != is_alone


def test_a_larger_openzfs_is_asked_for_as_its_api_takes_it() -> None:
    throughput, _ = file_system("OPENZFS", {"DeploymentType": "SINGLE_AZ_HA_1", "ThroughputCapacity": 64})  # fmt: skip
    (fix,) = KINDS["fsx_file_server"].changes(throughput, 200.0, {})
    assert fix.command == (
        "aws fsx update-file-system --region us-east-1 --file-system-id fs-1 "
        "--open-zfs-configuration ThroughputCapacity=256"
    )


ON_OUTPOST = {
    "AvailabilityZone": "us-west-2a",
    "DBSubnetGroup": {
        "Subnets": [{"SubnetOutpost": {"Arn": "arn:aws:outposts:us-west-2:1:outpost/op-1"}}]
    },
}
PLACES: dict[str, list[dict[str, Any]]] = {
    "ebs_volume": [
        {"AvailabilityZone": "us-west-2-lax-1a"},
        {"AvailabilityZone": "us-west-2-wl1-las-wlz-1"},
        {
            "AvailabilityZone": "us-west-2a",
            "OutpostArn": "arn:aws:outposts:us-west-2:1:outpost/op-1",
        },
    ],
    "ec2_instance_cpu": [
        {"Placement": {"AvailabilityZone": "us-west-2-lax-1a"}},
        {"OutpostArn": "arn:aws:outposts:us-west-2:1:outpost/op-1"},
    ],
    "ec2_instance_ebs": [{"Placement": {"AvailabilityZone": "us-west-2-lax-1a"}}],
    "rds_storage": [{"AvailabilityZone": "us-west-2-lax-1a"}, ON_OUTPOST],
    "rds_instance_cpu": [{"AvailabilityZone": "us-west-2-lax-1a"}],
    "elasticache_node_cpu": [{"PreferredAvailabilityZone": "us-west-2-lax-1a"}],
}
OWN = {
    "AvailabilityZone": "us-west-2a",
    "PreferredAvailabilityZone": "us-west-2b",
    "OutpostArn": None,
}


def advised(name: str, more: dict[str, Any]) -> list[tuple[Resource, Fix]]:
    kind, examples = KINDS[name], examples_of(KINDS[name])
    pairs = []
    for item in examples.ITEMS:
        thing = replace(kind.inventory.identify({**item, **more}), unit="1/us-west-2")
        for resource in kind.describe(thing, examples.FOUND, 0.0):
            if resource.bucket is not None and resource.terms.is_sized:
                demand = min(resource.bucket.burst, resource.limit.rate)
                pairs += [(resource, fix) for fix in kind.changes(resource, demand, {})]
    return pairs


@pytest.mark.parametrize(
    ("name", "more"), [(name, more) for name in PLACES for more in PLACES[name]]
)
def test_outside_of_a_regions_own_zones_no_other_type_and_no_price_is_told(
    name: str, more: dict[str, Any]
) -> None:
    for resource, fix in advised(name, more):
        assert resource.changes.place
        assert not fix.names_type
        assert fix.usd_month is None or not fix.commands  # to wait costs nothing
        assert KINDS[name].present_usd(resource) is None


@pytest.mark.parametrize("name", PLACES)
def test_in_a_regions_own_zones_advice_is_as_without_any(name: str) -> None:
    placement = {"Placement": {"AvailabilityZone": "us-west-2a"}}
    assert [fix for _, fix in advised(name, {**OWN, **placement})] == [
        fix for _, fix in advised(name, {})
    ]
    if name not in {
        "ec2_instance_ebs",
        "elasticache_node_cpu",
    }:  # whose examples' advice names no type
        assert any(fix.names_type for _, fix in advised(name, {}))


def test_a_resource_at_a_place_says_so_whatever_its_kind(cloud: Cloud) -> None:
    cloud.aws.add_instance_type(
        "t3.medium", iops=11_800, mb_s=260.0, baseline_iops=2_000, baseline_mb_s=43.75
    )
    host = cloud.aws.add_instance("t3.medium")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=host)
    there = cloud.aws.regions["us-east-1"]
    there.instances[host]["Placement"] = {"AvailabilityZone": "us-east-1-bos-1a"}
    there.volumes[volume]["AvailabilityZone"] = "us-east-1-bos-1a"
    for name in ("ebs_volume", "ec2_instance_cpu", "ec2_instance_ebs"):
        taken = take_inventory(KINDS[name], cloud.clients, cloud.unit, now=NOW)
        for resource in taken.resources:
            assert any("it is in us-east-1-bos-1a" in caveat for caveat in resource.words.caveats)
        assert taken.resources


@pytest.mark.parametrize("region", ["us-east-1", "af-south-1", "eu-west-3"])
@pytest.mark.parametrize("deployment", OPENZFS_TYPES)
def test_every_capacity_of_openzfs_has_a_bucket_for_each_rate_that_bursts(
    deployment: str, region: str
) -> None:
    item = {"OpenZFSConfiguration": {"DeploymentType": deployment}}
    for capacity, rates in openzfs_rates(item, region).items():
        settings = {"DeploymentType": deployment, "ThroughputCapacity": capacity}
        resources = file_system("OPENZFS", settings, region=region)
        buckets = [resource.bucket for resource in resources if resource.bucket is not None]
        bursting = [rates.burst_mb_s > rates.mb_s, rates.burst_iops > rates.iops]
        assert len(buckets) == sum(bursting)
        assert all(bucket.can_drain for bucket in buckets)
        if not any(bursting):
            assert [bool(resource.terms.no_bucket_reason) for resource in resources] == [True]

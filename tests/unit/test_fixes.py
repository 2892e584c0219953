"""What helps, what it costs, and what it does: against worked examples and for any volume."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.bucket import Bucket
from burstwatch.ebs.fixes import Attached, volume_fixes
from burstwatch.ebs.load import Traffic, io_load
from burstwatch.ebs.prices import monthly_usd
from burstwatch.ebs.volumes import InstanceLimits, volume_spec
from burstwatch.fixes.fix import (
    STOPS,
    Command,
    Fix,
    applied_now,
    less_load,
    not_stopped,
    soonest,
)
from burstwatch.fixes.prices import TABLES, regions_of, source_of
from burstwatch.history.background import recent_rates
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Thing
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.messages.episode import lasting_fix

WHERE = Attached(volume_id="vol-1", region="us-east-1")
ELSEWHERE = replace(WHERE, region="xx-nowhere-1")


def test_gp3_of_the_same_size_is_cheaper_than_gp2_and_a_larger_gp2_is_not() -> None:
    fixes = list(volume_fixes(volume_spec("gp2", 100), WHERE, demand=1_000))
    assert [fix.action for fix in fixes] == [
        "change to gp3 with 3,000 IOPS and 128 MiB/s",
        "change to gp2 of 334 GiB",
    ]
    assert [fix.usd_month for fix in fixes] == pytest.approx([-2.00 + 3 * 0.04, 23.40])
    assert [fix.command for fix in fixes] == [
        "aws ec2 modify-volume --region us-east-1 --volume-id vol-1 --volume-type gp3 --iops 3000 --throughput 128",
        "aws ec2 modify-volume --region us-east-1 --volume-id vol-1 --size 334",
    ]


def test_gp3_is_given_the_throughput_that_gp2_has_with_credits() -> None:
    """Whatever the load of the last minutes was: tonight's backup may need it."""
    (gp3, _) = volume_fixes(volume_spec("gp2", 500), WHERE, demand=2_000)
    assert gp3.action == "change to gp3 with 3,000 IOPS and 250 MiB/s"
    assert gp3.usd_month == pytest.approx(500 * (0.08 - 0.10) + 125 * 0.040)


@pytest.mark.parametrize(("demand", "is_limit"), [(250, False), (251, True), (3_000, True)])
def test_an_instance_that_sustains_less_than_the_load_is_named_as_the_next_limit(
    demand: float, *, is_limit: bool
) -> None:
    nano = InstanceLimits(iops=11_800, mib_s=248, baseline_iops=250, baseline_mib_s=5)
    where = replace(WHERE, instance_type="t3.nano", instance=nano)
    for fix in volume_fixes(volume_spec("gp2", 20), where, demand=demand):
        assert ("its t3.nano is the limit, which sustains 250 IOPS" in fix.effect) == is_limit


@pytest.mark.parametrize(
    ("volume_type", "size", "demand", "io_kib", "limits"),
    [
        ("gp2", 200, 1_500, 128, "81.2 MiB/s"),
        ("gp2", 200, 1_500, 16, ""),
        ("gp2", 200, 1_500, 0, ""),
        ("st1", 500, 100, 1_024, "81.2 MiB/s"),
        ("st1", 500, 100, 16, "3,600 IOPS and 81.2 MiB/s"),
    ],
)
def test_an_instance_is_the_next_limit_by_its_bytes_too(
    volume_type: str, size: int, demand: float, io_kib: float, limits: str
) -> None:
    large = InstanceLimits(iops=18_750, mib_s=594, baseline_iops=3_600, baseline_mib_s=81.25)
    where = replace(WHERE, instance_type="m5.large", instance=large)
    (gp3, *_) = volume_fixes(volume_spec(volume_type, size), where, demand=demand, io_kib=io_kib)
    named = f"; then its m5.large is the limit, which sustains {limits}" if limits else ""
    assert gp3.effect == f"uses no credits{named}"


def test_half_of_the_load_is_named() -> None:
    bucket = Bucket(capacity=5_400_000, refill=300, burst=3_000)
    fix = less_load(bucket, level=2_700_000, demand=3_000, unit="IOPS")
    assert fix.effect == "at 1,500 IOPS the credits last 38 min; under 300 IOPS they refill"
    fix = less_load(bucket, level=2_700_000, demand=500, unit="IOPS")
    assert fix.effect == "under 300 IOPS the credits refill"


def test_a_disk_of_spinning_metal_may_grow_change_its_type_or_become_gp3() -> None:
    sc1 = volume_spec("sc1", 500)
    fixes = list(volume_fixes(sc1, WHERE, demand=30))
    assert [fix.action for fix in fixes] == [
        "change to gp3 with 3,000 IOPS and 125 MiB/s",
        "change to sc1 of 2,560 GiB",
        "change to st1 of 768 GiB",
    ]


def test_in_a_region_without_a_price_nothing_is_priced_and_less_load_comes_first() -> None:
    bucket = Bucket(capacity=5_400_000, refill=300, burst=3_000)
    fixes = soonest(
        [
            *volume_fixes(volume_spec("gp2", 100), ELSEWHERE, demand=1_000),
            less_load(bucket, level=1e6, demand=1_000, unit="IOPS"),
        ]
    )
    assert [(fix.action, fix.usd_month) for fix in fixes] == [
        ("reduce the load", 0.0),
        ("change to gp3 with 3,000 IOPS and 128 MiB/s", None),
    ]


def test_an_empty_bucket_refills_only_under_its_baseline() -> None:
    bucket = Bucket(capacity=5_400_000, refill=300, burst=3_000)
    assert less_load(bucket, level=0, demand=3_000, unit="IOPS").effect == (
        "the credits refill while the load is under 300 IOPS"
    )


@given(
    volume_type=st.sampled_from(["gp2", "st1", "sc1"]),
    size=st.integers(125, 16_384),
    share=st.floats(0.01, 1.0),
)
def test_every_volume_that_is_proposed_bears_the_load_for_ever(
    volume_type: str, size: int, share: float
) -> None:
    volume = volume_spec(volume_type, size)
    demand = share * volume.burst
    for fix in volume_fixes(volume, WHERE, demand=demand):
        kind, _, rest = fix.action.removeprefix("change to ").partition(" of ")
        if rest:
            larger = volume_spec(kind, float(rest.removesuffix(" GiB").replace(",", "")))
            assert larger.baseline >= demand
            assert larger.size_gib > size or kind != volume_type


@pytest.mark.parametrize("region", regions_of("ebs"))
def test_a_price_is_never_zero_and_gp3_never_dearer_than_gp2(region: str) -> None:
    gp2, gp3 = (monthly_usd(region, volume_type, 100) for volume_type in ("gp2", "gp3"))
    assert gp2 is not None
    assert gp3 is not None
    assert 0 < gp3 < gp2
    assert min(TABLES["ebs"]["prices"][region].values()) > 0


@pytest.mark.parametrize(
    ("volume_type", "rates", "usd"),
    [
        ("gp3", {"iops": 4_000, "mib_s": 250}, 8.00 + 1_000 * 0.005 + 125 * 0.04),
        ("io1", {"iops": 1_000}, 12.50 + 65.00),
        ("io2", {"iops": 70_000}, 12.50 + 32_000 * 0.065 + 32_000 * 0.0455 + 6_000 * 0.0319),
    ],
)
def test_what_is_provisioned_is_priced_beyond_what_is_free(
    volume_type: str, rates: dict[str, float], usd: float
) -> None:
    assert monthly_usd("us-east-1", volume_type, 100, **rates) == pytest.approx(usd)
    assert monthly_usd("xx-nowhere-1", volume_type, 100, **rates) is None


@pytest.mark.parametrize("table", TABLES)
def test_no_price_was_read_more_than_a_year_ago(table: str) -> None:
    year, month = map(int, source_of(table).read.split("-"))
    today = datetime.now(tz=UTC)
    assert (today.year - year) * 12 + today.month - month <= 12, (
        f"{table}: write prices.json anew, with python -m tools.prices"
    )


TRAFFIC = Traffic(read_ops="ro", write_ops="wo", read_bytes="rb", write_bytes="wb")


def test_the_load_is_that_of_the_last_five_minutes_and_knows_its_direction() -> None:
    quiet = {"ro": 6_000.0, "wo": 0.0, "rb": 0.0, "wb": 0.0}
    busy = {"ro": 600.0, "wo": 6_000.0, "rb": 600 * 4_096.0, "wb": 6_000 * 4_096.0}
    sums = {60.0 * n: quiet if n < 25 else busy for n in range(30)}
    found = io_load(TRAFFIC, recent_rates(TRAFFIC.metrics, sums, 60.0))
    assert found is not None
    assert (found.read_iops, found.write_iops) == (10, 100)
    assert found.direction == "writes"
    assert found.io_kib == pytest.approx(4)


def test_half_of_the_traffic_is_not_the_traffic() -> None:
    assert recent_rates(TRAFFIC.metrics, {0.0: {"ro": 6_000.0, "rb": 0.0}}, 60.0) == {}
    assert recent_rates(TRAFFIC.metrics, {}, 60.0) == {}
    assert io_load(TRAFFIC, {}) is None


def volume_of(state: str, *, managed: bool) -> Resource:
    item: dict[str, Any] = {
        "VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100, "Attachments": [{"State": "attached"}],
        "Operator": {"Managed": managed, **({"Principal": "eks.amazonaws.com"} if managed else {})},
    }  # fmt: skip
    change = {
        "VolumeId": "vol-1", "ModificationState": state, "Progress": 63,
        "OriginalVolumeType": "gp2", "OriginalSize": 50, "TargetVolumeType": "gp2", "TargetSize": 100,
        "StartTime": datetime(2026, 9, 1, tzinfo=UTC),
    }  # fmt: skip
    related = {
        "instances": {},
        "instance_types": {},
        "modifications": {"vol-1": change} if state else {},
    }
    (resource,) = KIND.describe(Thing(id="vol-1", name="", tags={}, item=item), related, 1.8e9)
    return resource


@pytest.mark.parametrize(
    ("state", "managed", "first"),
    [
        ("", False, "change to gp3 with"),
        ("completed", False, "change to gp3 with"),
        ("failed", False, "change to gp3 with"),
        ("modifying", False, "wait for the change to gp2 of 100 GiB, 63% done at 08:00Z"),
        ("optimizing", False, "wait for the change to gp2 of 100 GiB, 63% done at 08:00Z"),
        *(
            (state, True, "change the settings that eks.amazonaws.com makes it from")
            for state in ("", "completed", "failed", "modifying", "optimizing")
        ),
    ],
)
def test_a_change_that_aws_would_refuse_is_never_advised(
    state: str, first: str, *, managed: bool
) -> None:
    resource = volume_of(state, managed=managed)
    fixes = list(KIND.changes(resource, 1_000.0, {}))
    assert fixes[0].action.startswith(first)
    assert (len(fixes) == 1) == (managed or state in {"modifying", "optimizing"})
    is_to_wait_for = first.startswith("wait")
    assert (lasting_fix(KIND, resource) == "") == is_to_wait_for  # nobody has to make it any more


def test_every_state_of_a_modification_that_aws_knows_is_tried_above() -> None:
    botocore = pytest.importorskip("botocore.session")
    model = botocore.get_session().get_service_model("ec2").shape_for("VolumeModificationState")
    assert set(model.enum) == {"modifying", "optimizing", "completed", "failed"}


@pytest.mark.parametrize(
    ("mib_s", "actions"),
    [
        (100, ["change to gp3 storage with 3,000", "change to gp3 storage of 400 GiB with 12,000"]),
        (126, ["change to gp3 storage of 400 GiB with 12,000"]),
    ],
)
def test_a_database_whose_load_gp3_of_its_size_cannot_serve_is_advised_only_to_grow(
    mib_s: float, actions: list[str]
) -> None:
    item = {
        "DBInstanceIdentifier": "orders", "Engine": "postgres", "StorageType": "gp2",
        "AllocatedStorage": 300, "DBInstanceStatus": "available",
    }  # fmt: skip
    kind = find_kinds()["rds_storage"]
    thing = Thing(id="orders", name="", tags={}, item=item, unit="123456789012/us-east-1")
    (resource,) = kind.describe(thing, {}, 0.0)
    rates = {
        "ReadIOPS": 2_000.0,
        "WriteIOPS": 0.0,
        "ReadThroughput": mib_s * 1024**2,
        "WriteThroughput": 0.0,
    }
    fixes = kind.changes(resource, 2_000.0, rates)
    assert [fix.action.partition(" IOPS")[0] for fix in fixes] == actions


@pytest.mark.parametrize(
    ("hours", "status", "first"),
    [
        (5.0, "COMPLETED", "wait for the end of the six hours after the last change of the storage (01:00Z)"),
        (7.0, "COMPLETED", "change to SSD storage"),
        (5.0, "FAILED", "change to SSD storage"),
        (7.0, "UPDATED_OPTIMIZING", "wait for the last change of the file system, 40% done at 00:00Z"),
    ],
)  # fmt: skip
def test_storage_that_was_changed_lately_is_advised_to_wait_with_the_time(
    hours: float, status: str, first: str
) -> None:
    now = datetime(2026, 9, 2, tzinfo=UTC)
    action = {
        "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
        "Status": status,
        "ProgressPercent": 40,
        "RequestTime": now - timedelta(hours=hours),
        "TargetFileSystemValues": {"StorageCapacity": 4_000},
    }
    item = {
        "FileSystemId": "fs-1", "FileSystemType": "WINDOWS", "StorageType": "HDD",
        "StorageCapacity": 4_000, "AdministrativeActions": [action],
    }  # fmt: skip
    kind = find_kinds()["fsx_hdd_volume"]
    thing = Thing(id="fs-1", name="", tags={}, item=item, unit="123456789012/us-east-1")
    (resource,) = kind.describe(thing, {}, now.timestamp())
    assert kind.changes(resource, 100.0, {})[0].action == first


@pytest.mark.parametrize(
    ("name", "item", "fix"),
    [
        (
            "efs_file_system",
            {"FileSystemId": "fs-1", "SizeInBytes": {"Value": 58 * 1024**3}, "NumberOfMountTargets": 1},
            "see what its load of two weeks needs: burstwatch advise x --region us-east-1",
        ),
        ("ec2_instance_cpu", {"InstanceId": "i-1", "InstanceType": "t3.medium"}, "switch to Unlimited mode"),
    ],
)  # fmt: skip
def test_the_change_after_which_it_would_not_happen_again_is_named_for_every_kind(
    name: str, item: dict[str, Any], fix: str
) -> None:
    kind = find_kinds()[name]
    thing = Thing(id="x", name="", tags={}, item=item, unit="123456789012/us-east-1")
    (resource,) = kind.describe(thing, {"instance_types": {}, "credit_specifications": {}}, 0.0)
    assert lasting_fix(kind, resource).startswith(fix)
    assert "2.3 vCPU" not in lasting_fix(kind, resource)


@pytest.mark.parametrize(
    ("tib", "zone", "burst"),
    [
        (1, "", 100),
        (40, "", 3_072),
        (40, "us-east-1a", None),
        (10, "us-east-1a", 1_000),
        (16, "us-east-1a", 1_024),
        (100, "", None),
    ],
)
def test_a_file_system_serves_no_more_than_its_region_or_zone_does(
    tib: int, zone: str, burst: float | None
) -> None:
    """By size alone 40 TiB would burst at 4,000 MiB/s; where the baseline is the most there are no credits."""
    item = {
        "FileSystemId": "fs-1", "SizeInBytes": {"Value": tib * 1024**4},
        **({"AvailabilityZoneName": zone} if zone else {}),
    }  # fmt: skip
    kind = find_kinds()["efs_file_system"]
    thing = Thing(id="fs-1", name="", tags={}, item=item, unit="123456789012/us-east-1")
    (resource,) = kind.describe(thing, {}, 0.0)
    if burst is None:
        assert resource.bucket is None
    else:
        assert resource.bucket is not None
        assert resource.bucket.burst == pytest.approx(burst, rel=0.05)
        assert resource.bucket.burst <= burst
        actions = [fix.action for fix in kind.changes(resource, 9_000.0, {})]
        assert actions == ["change to elastic throughput"]  # no region provisions so much


@pytest.mark.parametrize(
    ("engine", "storage", "usd"),
    [
        ("mysql", "gp3", "0.075"), ("mariadb", "gp3", "0.075"), ("postgres", "gp3", "0.075"),
        ("sqlserver-web", "gp3", "0.144"), ("aurora-mysql", "aurora", "0.09"),
        ("aurora-postgresql", "aurora", "0.09"), ("aurora-postgresql", "aurora-iopt1", "0.12"),
    ],
)  # fmt: skip
def test_the_surplus_of_a_database_costs_what_its_engine_and_its_region_say(
    engine: str, storage: str, usd: str
) -> None:
    item = {
        "DBInstanceIdentifier": "orders", "Engine": engine, "StorageType": storage,
        "DBInstanceClass": "db.t3.medium", "DBInstanceStatus": "available",
    }  # fmt: skip
    kind = find_kinds()["rds_instance_cpu"]
    is_everywhere = engine in {"mysql", "mariadb", "postgres"}
    slows = "not slowed, uses surplus credits"
    price = f"USD an hour at full load ({usd} USD a vCPU-hour over the baseline)"
    for region, is_priced in (("us-east-1", True), ("sa-east-1", is_everywhere)):
        thing = Thing(id="orders", name="", tags={}, item=item, unit=f"123456789012/{region}")
        (resource,) = kind.describe(thing, {}, 0.0)
        assert kind.at_zero(resource).short == "billed after 6 h more"
        assert kind.at_zero(resource).note.startswith(slows)
        assert kind.at_zero(resource).note.endswith(price) == is_priced
        assert is_priced or kind.at_zero(resource).note == f"{slows}, price unknown"


def test_the_lasting_change_is_for_what_the_vcpus_can_do_and_not_for_what_is_allowed_for() -> None:
    item = {"InstanceId": "i-1", "InstanceType": "t3.medium", "Placement": {"Tenancy": "host"}}
    kind = find_kinds()["ec2_instance_cpu"]
    thing = Thing(id="i-1", name="", tags={}, item=item, unit="123456789012/us-east-1")
    (resource,) = kind.describe(thing, {"instance_types": {}, "credit_specifications": {}}, 0.0)
    assert lasting_fix(kind, resource).endswith("burstwatch advise i-1.cpu --region us-east-1")
    fixes = [fix.effect for fix in kind.changes(resource, 2.0, {})]
    assert "covers the current load of 2 vCPU" in fixes


def test_what_may_restart_a_resource_is_asked_for_first() -> None:
    command = Command(
        service="rds", operation="ModifyDBInstance", region="us-east-1",
        parameters={"DBInstanceIdentifier": "db", "ApplyImmediately": True},
    )  # fmt: skip
    fix = Fix(action="change to gp3", effect="uses no credits", takes="takes minutes to hours", commands=(command,), has_downtime=False)  # fmt: skip
    assert not fix.interrupts
    assert not applied_now(fix, window="sun:03:00-sun:04:00", waiting=()).interrupts
    assert applied_now(fix, window="", waiting=("engine-version",)).interrupts
    assert applied_now(fix, window="", waiting=()).effect.endswith("; no other change is pending")
    group = replace(command, operation="ModifyReplicationGroup")
    assert applied_now(replace(fix, commands=(group,)), window="", waiting=()).effect == fix.effect
    stops = replace(fix, takes=STOPS)
    assert stops.interrupts
    assert not_stopped(stops, "its Auto Scaling group").interrupts

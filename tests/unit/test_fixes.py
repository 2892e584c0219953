"""What helps, what it costs, and what it does: against worked examples and for any volume."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.bucket import Bucket
from burstwatch.ebs.fixes import volume_fixes
from burstwatch.ebs.load import Load, Traffic, io_load
from burstwatch.ebs.prices import EBS_PRICES, monthly_usd
from burstwatch.ebs.volumes import volume_spec
from burstwatch.fixes import less_load, soonest
from burstwatch.history.background import recent_rates
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Thing
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.messages.episode import lasting_fix

US = EBS_PRICES["us-east-1"]


def load(iops: float, io_kib: float) -> Load:
    mib_s = iops * io_kib / 1024
    return Load(read_iops=iops, write_iops=0, read_mib_s=mib_s, write_mib_s=0)


def test_gp3_of_the_same_size_is_cheaper_than_gp2_and_a_larger_gp2_is_not() -> None:
    fixes = list(
        volume_fixes(volume_spec("gp2", 100), demand=1_000, load=load(1_000, 16), prices=US)
    )
    assert [fix.action for fix in fixes] == [
        "change to gp3 with 3,000 IOPS and 125 MiB/s",
        "change to gp2 of 334 GiB",
    ]
    assert [fix.usd_month for fix in fixes] == pytest.approx([-2.00, 23.40])


def test_gp3_is_given_the_throughput_that_gp2_moved() -> None:
    (gp3, _) = volume_fixes(
        volume_spec("gp2", 500), demand=2_000, load=load(2_000, 102.4), prices=US
    )
    assert gp3.action == "change to gp3 with 3,000 IOPS and 200 MiB/s"
    assert gp3.usd_month == pytest.approx(500 * (0.08 - 0.10) + 75 * 0.040)


def test_gp3_is_given_the_throughput_of_the_burst_where_the_empty_volume_is_held_back() -> None:
    held = load(750, 128)  # what is left of 3,000 IOPS of 128 KiB
    (gp3, *_) = volume_fixes(volume_spec("gp2", 250), demand=3_000, load=held, prices=US)
    assert gp3.action == "change to gp3 with 3,000 IOPS and 250 MiB/s"


def test_half_of_the_load_is_named() -> None:
    bucket = Bucket(capacity=5_400_000, refill=300, burst=3_000)
    fix = less_load(bucket, level=2_700_000, demand=3_000, unit="IOPS")
    assert (
        fix.effect
        == "at half the load (1,500 IOPS) the credits last 38 min; under 300 IOPS they do not run out"
    )
    fix = less_load(bucket, level=2_700_000, demand=500, unit="IOPS")
    assert fix.effect == "at half the load (250 IOPS) it never runs dry"


def test_where_the_load_is_not_known_gp3_gets_all_that_the_volume_gave() -> None:
    (gp3, _) = volume_fixes(volume_spec("gp2", 500), demand=2_000, load=None, prices=US)
    assert gp3.action == "change to gp3 with 3,000 IOPS and 250 MiB/s"


def test_a_disk_of_spinning_metal_may_grow_change_its_type_or_become_gp3() -> None:
    sc1 = volume_spec("sc1", 500)
    fixes = list(volume_fixes(sc1, demand=30, load=load(30, 1024), prices=US))
    assert [fix.action for fix in fixes] == [
        "change to gp3 with 3,000 IOPS and 125 MiB/s",
        "change to sc1 of 2,560 GiB",
        "change to st1 of 768 GiB",
    ]


def test_in_a_region_without_a_price_nothing_is_priced_and_less_load_comes_first() -> None:
    bucket = Bucket(capacity=5_400_000, refill=300, burst=3_000)
    fixes = soonest(
        [
            *volume_fixes(volume_spec("gp2", 100), demand=1_000, load=None, prices=None),
            less_load(bucket, level=1e6, demand=1_000, unit="IOPS"),
        ]
    )
    assert [(fix.action, fix.usd_month) for fix in fixes] == [
        ("reduce the load", 0.0),
        ("change to gp3 with 3,000 IOPS and 130 MiB/s", None),
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
    for fix in volume_fixes(volume, demand=demand, load=None, prices=US):
        kind, _, rest = fix.action.removeprefix("change to ").partition(" of ")
        if rest:
            larger = volume_spec(kind, float(rest.removesuffix(" GiB").replace(",", "")))
            assert larger.baseline >= demand
            assert larger.size_gib > size or kind != volume_type


@pytest.mark.parametrize("region", EBS_PRICES)
def test_a_price_is_never_zero_and_gp3_never_dearer_than_gp2(region: str) -> None:
    prices = EBS_PRICES[region]
    gp2, gp3 = (monthly_usd(prices, one, 100) for one in ("gp2", "gp3"))
    assert gp2 is not None
    assert gp3 is not None
    assert 0 < gp3 < gp2
    assert min(*prices.gib.values(), prices.gp3_iops, prices.gp3_mib_s) > 0


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
        ("modifying", False, "wait for the change to gp2 of 100 GiB, 63 % done"),
        ("optimizing", False, "wait for the change to gp2 of 100 GiB, 63 % done"),
        *(
            (state, True, "change the settings that eks.amazonaws.com makes its volumes from")
            for state in ("", "completed", "failed", "modifying", "optimizing")
        ),
    ],
)
def test_a_change_that_aws_would_refuse_is_never_advised(
    state: str, first: str, *, managed: bool
) -> None:
    resource = volume_of(state, managed=managed)
    fixes = list(KIND.fixes(resource, 1_000.0, {}))
    assert fixes[0].action.startswith(first)
    assert (len(fixes) == 1) == (managed or state in {"modifying", "optimizing"})
    is_to_wait_for = first.startswith("wait")
    assert (lasting_fix(KIND, resource) == "") == is_to_wait_for  # nobody has to make it any more


def test_every_state_of_a_modification_that_aws_knows_is_tried_above() -> None:
    botocore = pytest.importorskip("botocore.session")
    model = botocore.get_session().get_service_model("ec2").shape_for("VolumeModificationState")
    assert set(model.enum) == {"modifying", "optimizing", "completed", "failed"}

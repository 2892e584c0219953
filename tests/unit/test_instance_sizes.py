"""The size that sustains the load of an instance: the smallest of its family, where AWS lists one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.fixes.fix import Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Thing
from burstwatch.kinds.ec2_instance_ebs import KIND, LOSES_STORE, families_that_burst
from tests.kinds import ec2_instance_ebs as example

SUSTAINED = {
    size["InstanceType"]: size["EbsInfo"]["EbsOptimizedInfo"]["BaselineIops"]
    for size in example.SIZES
    if not size.get("BareMetal")
}


def buckets(sizes: list[dict[str, Any]], **item: Any) -> tuple[Resource, ...]:
    listed = {**example.ITEMS[0], **item}
    thing = Thing(id=listed["InstanceId"], name="", tags={}, item=listed, unit="1/us-east-1")
    related = {**example.FOUND, "sizes": {size["InstanceType"]: size for size in sizes}}
    return KIND.describe(thing, related, 0.0)


def advised(demand: float, sizes: list[dict[str, Any]], **item: Any) -> Fix:
    of_io = buckets(sizes, **item)[0]
    (fix,) = KIND.changes(of_io, demand, {})
    return fix


@given(demand=st.floats(min_value=3_601, max_value=18_750))
def test_the_smallest_size_that_sustains_the_load_is_named(demand: float) -> None:
    fix = advised(demand, example.SIZES)
    name = fix.action.removeprefix("change to ")
    assert SUSTAINED[name] >= demand
    assert all(SUSTAINED[name] <= other for other in SUSTAINED.values() if other >= demand)
    assert f"--instance-type Value={name} " in fix.command
    assert fix.afterwards is not None
    bucket = fix.afterwards.bucket
    assert (bucket is None) == (name == "m5.4xlarge")
    assert bucket is None or bucket.refill >= demand


def test_where_no_size_sustains_it_or_none_is_listed_no_type_is_made_up() -> None:
    for demand, sizes in ((20_000.0, example.SIZES), (10_000.0, [])):
        fix = advised(demand, sizes)
        assert fix.action.startswith("change to an instance type that sustains ")
        assert not fix.commands


def test_a_size_of_another_family_is_not_named() -> None:
    others = [{**size, "InstanceType": f"m5x{size['InstanceType'][2:]}"} for size in example.SIZES]
    assert not advised(10_000.0, others).commands


def test_a_host_with_disks_of_its_own_is_not_stopped_at_night() -> None:
    sizes = [{**size, "InstanceStorageSupported": True} for size in example.SIZES]
    of_io = buckets(sizes)[0]
    fix = KIND.changes(of_io, 10_000.0, {})[0]
    assert fix.text.endswith(f"{LOSES_STORE}; it cannot be undone")
    assert not any(fix.command for fix in KIND.what_helps(of_io, 1_000.0, 10_000.0, {}))


def test_where_the_bandwidth_is_weighted_towards_the_network_no_size_is_named() -> None:
    performance = {"BandwidthWeighting": "vpc-1"}
    types = example.FOUND["instance_types"]
    cards = [{"BaselineBandwidthInGbps": 0.75}]
    weighted = {**types["m5.large"], "NetworkInfo": {"NetworkCards": cards}}
    thing_item = {**example.ITEMS[0], "NetworkPerformanceOptions": performance}
    thing = Thing(id="i-1", name="", tags={}, item=thing_item, unit="1/us-east-1")
    related = {**example.FOUND, "instance_types": {**types, "m5.large": weighted}}
    of_io = KIND.describe(thing, related, 0.0)[0]
    assert not KIND.changes(of_io, 10_000.0, {})[0].commands


@pytest.mark.parametrize(
    ("types", "families"),
    [
        (["m5.large", "m5.4xlarge"], {"m5.*"}),
        (["m5.4xlarge"], set()),
        (["m3.medium"], set()),
        (["m9.large"], set()),
    ],
)
def test_only_families_are_asked_for_of_which_a_size_in_use_bursts(
    types: list[str], families: set[str]
) -> None:
    lists = {
        "inventory": [{"InstanceType": name} for name in types],
        "instance_types": [*example.FOUND["instance_types"].values()],
    }
    assert families_that_burst(lists) == families

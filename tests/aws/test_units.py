"""Several accounts and regions from one deployment: each for itself, all kept at home."""

from collections.abc import Callable
from typing import Any

import pytest

from burstwatch.aws.alarms.api import read_alarms
from burstwatch.aws.alarms.episodes import open_episodes
from burstwatch.aws.client.names import EVERY_ALARM, parse_alarm_name
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import UnitSpec, connect, parse_unit
from burstwatch.kinds import find_kinds
from tests.aws.invoking import Context, load
from tests.aws.sweeping import CONFIG, EFFECT, Disk, alarms, run_sweep
from tests.aws.upgrade_state import FOLDER, burn, restored
from tests.conftest import NOW, Cloud
from tests.kinds._rds import instance

pytestmark = pytest.mark.slow

MEMBER = "222222222222"
ROLE = f"arn:aws:iam::{MEMBER}:role/burstwatch-member"
SPEC = UnitSpec(account=MEMBER, region="us-east-1", role_arn=ROLE, external_id="watch-me")


def sweep_unit(cloud: Cloud, units: Units, spec: UnitSpec) -> Sweep:
    kinds = find_kinds().values()
    return units.sweep(spec, kinds, CONFIG, now=cloud.clock.now, deadline=cloud.never())


def hot(cloud: Cloud) -> Disk:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    return disk


def heartbeats(cloud: Cloud) -> set[str]:
    return {
        dict(dimensions)["Unit"]
        for _, metric, dimensions in cloud.aws.regions["us-east-1"].metrics
        if metric == "SweepCompleted"
    }


def test_a_member_account_is_read_through_its_role_and_alarmed_at_home(cloud: Cloud) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    disk, units = hot(cloud), Units(home=cloud.clients, connect=connect)
    swept = sweep_unit(cloud, units, SPEC)
    assert swept.completed
    assert list(alarms(cloud)) == [
        f"burstwatch@{MEMBER}.us-east-1.critical/db/{disk.id}/burstwatch"
    ]
    assert heartbeats(cloud) == {f"{MEMBER}/us-east-1"}


def put_minute(cloud: Cloud, region: str, at: float, *, percent: float, iops: float) -> None:
    """A minute of the database orders-db of a region."""
    for name, value in {
        "BurstBalance": percent,
        "ReadIOPS": iops / 2,
        "WriteIOPS": iops / 2,
        "ReadThroughput": iops * 8_192,
        "WriteThroughput": iops * 8_192,
    }.items():
        of_it = {"DBInstanceIdentifier": "orders-db"}
        cloud.aws.put("AWS/RDS", name, of_it, at, value, region=region)


def two_databases_in_danger(cloud: Cloud) -> tuple[tuple[str, str], Callable[[], None]]:
    """The same database in two regions, in danger in both; the regions, and what sweeps both."""
    regions = ("us-east-1", "eu-west-1")
    for region in regions:
        database = instance("orders-db", "postgres", storage_type="gp2")
        cloud.aws.add_item("rds", "DescribeDBInstances", database, region=region)
        for minute in range(60, 0, -1):
            percent = 40 if minute > 6 else 20 + 3.0 * minute
            put_minute(cloud, region, NOW - 60 * minute, percent=percent, iops=3_000)
    units = Units(home=cloud.clients, connect=connect)

    def sweep_both() -> None:
        for region in regions:
            assert sweep_unit(cloud, units, UnitSpec(region=region)).completed
        cloud.aws.evaluate_alarms()

    return regions, sweep_both


def test_resources_of_one_id_in_two_units_have_alarms_and_episodes_of_their_own(
    cloud: Cloud,
) -> None:
    _, sweep_both = two_databases_in_danger(cloud)
    sweep_both()
    at_home = f"burstwatch.critical/{EFFECT}/orders-db/burstwatch"
    foreign = f"burstwatch@123456789012.eu-west-1.critical/{EFFECT}/orders-db/burstwatch"
    assert alarms(cloud) == {at_home: "ALARM", foreign: "ALARM"}
    episodes = open_episodes(read_alarms(cloud.clients, *EVERY_ALARM))
    assert {(one.unit, one.resource_id) for one in episodes} == {
        ("", "orders-db"), ("123456789012/eu-west-1", "orders-db"),
    }  # fmt: skip
    for _ in range(90):
        put_minute(cloud, "us-east-1", cloud.clock.now, percent=90, iops=0)
        put_minute(cloud, "eu-west-1", cloud.clock.now, percent=0, iops=300)
        cloud.clock.now += 60
    sweep_both()
    assert alarms(cloud) == {at_home: "OK", foreign: "ALARM"}


def test_alarms_of_the_names_before_go_on_in_every_unit_and_nobody_is_paged_again(
    cloud: Cloud,
) -> None:
    regions, sweep_both = two_databases_in_danger(cloud)
    sweep_both()
    kept = cloud.aws.regions["us-east-1"].alarms
    names = [name for name in kept if parse_alarm_name(name)]
    for name in names:
        head, *middle, deployment = name.split("/")
        unit, _, severity = head.removeprefix("burstwatch").rpartition(".")
        before = "/".join([f"burstwatch/{deployment}{unit}", *middle, severity])
        kept[before] = {**kept.pop(name), "AlarmName": before}
    told = list(cloud.aws.notifications)
    sweep_both()
    cloud.clock.now += 3_600
    sweep_both()
    assert len(names) == len(regions)
    assert len(alarms(cloud)) == len(names)
    assert all(name.startswith("burstwatch/") for name in alarms(cloud))
    assert cloud.aws.notifications == told


def test_the_role_is_assumed_again_before_its_credentials_end(cloud: Cloud) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    units = Units(home=cloud.clients, connect=connect)
    for _ in range(3):
        sweep_unit(cloud, units, SPEC)
    assumed = [operation for _, operation, _ in cloud.aws.calls].count("AssumeRole")
    assert assumed == 1
    cloud.clock.now += 3_400
    sweep_unit(cloud, units, SPEC)
    assert [operation for _, operation, _ in cloud.aws.calls].count("AssumeRole") == 2


@pytest.mark.parametrize("external_id", ["", "guess"])
def test_a_denied_role_is_one_counted_failure_that_names_the_unit(
    cloud: Cloud, external_id: str
) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    units = Units(home=cloud.clients, connect=connect)
    spec = UnitSpec(account=MEMBER, region="us-east-1", role_arn=ROLE, external_id=external_id)
    swept = sweep_unit(cloud, units, spec)
    assert not swept.completed
    assert fleet_metrics(swept) == {"UnitsFailed": 1, "Problems": 1}
    (problem,) = swept.problems
    assert problem.part == f"unit {MEMBER}/us-east-1"
    assert "AccessDenied" in problem.error
    assert heartbeats(cloud) == set()
    cloud.aws.roles[ROLE] = external_id  # let in at last
    assert sweep_unit(cloud, units, spec).completed


@pytest.mark.parametrize(
    "region", ["eu-west-1", "us-gov-west-1", "cn-north-1", "eusc-de-east-1", "us-isob-east-1"]
)
def test_regions_of_every_partition_can_be_swept(region: str) -> None:
    assert parse_unit({"unit": {"region": region}}).region == region


def test_a_region_that_is_not_enabled_fails_alone(cloud: Cloud) -> None:
    cloud.aws.closed_regions = {"ap-east-1"}
    units = Units(home=cloud.clients, connect=connect)
    assert sweep_unit(cloud, units, UnitSpec(region="us-east-1")).completed
    failed = sweep_unit(cloud, units, UnitSpec(region="ap-east-1"))
    assert not failed.reached
    assert failed.problems[0].part == "unit home/ap-east-1"
    assert sweep_unit(cloud, units, UnitSpec()).completed


def test_credentials_of_another_account_than_the_one_named_are_refused(cloud: Cloud) -> None:
    units = Units(home=cloud.clients, connect=connect)
    swept = sweep_unit(cloud, units, UnitSpec(account=MEMBER))
    assert not swept.reached
    assert (
        "the credentials are of account 123456789012, expected is 222222222222"
        in swept.problems[0].error
    )


def test_a_unit_that_denies_every_read_ends_no_alarm_of_another(cloud: Cloud) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    hot(cloud)
    units = Units(home=cloud.clients, connect=connect)
    sweep_unit(cloud, units, UnitSpec())
    before = set(alarms(cloud))
    cloud.aws.evaluate_alarms()
    cloud.aws.denied = {"DescribeVolumes", "DescribeInstances", "GetMetricData"}
    swept = sweep_unit(cloud, units, SPEC)
    assert not swept.completed
    assert fleet_metrics(swept)["UnitsFailed"] == 1
    assert set(alarms(cloud)) == before


@pytest.mark.parametrize(
    ("unit", "named"),
    [
        ("us-east-1", "unit is 'us-east-1'; allowed: an object"),
        ({"account": "12"}, r"unit.account is '12'; allowed: "),
        ({"region": "mars"}, "unit.region is 'mars'"),
        (
            {"shard": "3/5"},
            "unit.shard 3/5 is no part of a unit; allowed: 1/N to N/N with N of 1, 2",
        ),
        ({"shard": "17/16"}, "unit.shard 17/16 is no part"),
        ({"shard": "0/4"}, "unit.shard 0/4 is no part"),
        ({"shard": "first"}, "unit.shard is 'first'; allowed: "),
        ({"role": ROLE}, "unit.role is unknown; allowed: account, region"),
        ({"role_arn": ROLE}, "unit.role_arn is given without unit.account"),
        ({"account": MEMBER, "role_arn": "root"}, "unit.role_arn is 'root'"),
    ],
)
def test_an_event_that_names_no_unit_is_refused_with_what_is_allowed(
    unit: object, named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        parse_unit({"unit": unit})


def test_a_schedules_own_event_is_the_unit_at_home() -> None:
    assert parse_unit({"account": "123456789012", "source": "aws.events"}) == UnitSpec()


def test_the_function_goes_on_with_the_next_unit_after_one_that_is_denied(
    cloud: Cloud, aws_env: pytest.MonkeyPatch
) -> None:
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    function: Any = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    said: list[dict[str, str]] = []
    aws_env.setattr(function.logger, "warning", lambda _message, **what: said.append(what))
    denied = {"account": MEMBER, "region": "us-east-1", "role_arn": ROLE, "external_id": "no"}
    answer = function.handler({"unit": denied}, Context())
    assert answer == {
        "unit": f"{MEMBER}/us-east-1", "run": "2026-09-21T14:14:00+00:00", "completed": False,
        "UnitsFailed": 1, "Problems": 1,
    }  # fmt: skip
    (failure,) = said
    assert failure["unit"] == f"{MEMBER}/us-east-1"
    assert "AccessDenied" in failure["error"]
    assert function.handler({"unit": {"region": "us-east-1"}}, Context())["completed"] is True


def test_alarms_of_the_names_before_are_asked_for_only_while_there_could_be_any(
    cloud: Cloud,
) -> None:
    disk, memory = Disk(cloud, percent=90), Memory()
    for _ in range(30):
        disk.minute(iops=10)
        run_sweep(cloud, memory)
    asked = [
        params["AlarmNamePrefix"]
        for _, operation, params in cloud.aws.calls
        if operation == "DescribeAlarms" and "AlarmNamePrefix" in params
    ]
    assert asked.count("burstwatch.") == 30
    assert asked.count("burstwatch/burstwatch/") == 15


@pytest.mark.parametrize("period_s", [60, 1_200])
def test_alarms_of_the_names_before_go_on_where_the_first_listings_fail(
    cloud: Cloud, period_s: int
) -> None:
    disks = restored(cloud, FOLDER / "0.1.0-one.json")
    before = alarms(cloud)
    told, memory = list(cloud.aws.notifications), Memory()
    for minute in range(20 if period_s == 60 else 3):
        cloud.aws.denied = {"DescribeAlarms"} if minute < (16 if period_s == 60 else 1) else set()
        for _ in range(period_s // 60):
            burn(cloud, disks, iops=3_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert alarms(cloud).keys() == before.keys()
    assert [one for one in cloud.aws.notifications if parse_alarm_name(one[1])] == told


def test_a_unit_that_was_forgotten_is_not_asked_anew_for_alarms_of_the_names_before(
    cloud: Cloud,
) -> None:
    Disk(cloud, percent=100)
    units = Units(home=cloud.clients, connect=connect, most_known=0)
    for _ in range(20):
        cloud.clock.now += 60
        for region in ("us-east-1", "eu-west-1"):
            sweep_unit(cloud, units, UnitSpec(region=region))
    asked = [
        params.get("AlarmNamePrefix", "")
        for _, operation, params in cloud.aws.calls
        if operation == "DescribeAlarms"
    ]
    assert sum(prefix.startswith("burstwatch/burstwatch") for prefix in asked) == 2 * 15

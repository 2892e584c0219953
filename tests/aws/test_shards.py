"""A unit in shards: each for itself, and together no more and no less than the whole."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.alarms.api import delete_alarms
from burstwatch.aws.client.names import mass_name
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import UnitSpec, connect
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from burstwatch.shards import COUNTS, WHOLE, Shard, parse_shard, shards_of
from tests.aws.masses import a_minute, draining, with_mass
from tests.aws.sweeping import CONFIG, EFFECT, EVERY_KIND, TOPIC, Disk, alarms, run_sweep
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow


def spread(cloud: Cloud, count: int, *, percent: float) -> list[Disk]:
    """Draining volumes whose ids end in every digit in turn."""
    disks = []
    for _ in range(count):
        cloud.aws.add_instance("m5.large")
        disks += draining(cloud, 1, percent=percent)
    return disks


def sweep_all(
    cloud: Cloud, units: Units, count: int, *, config: Config = CONFIG, without: Shard | None = None
) -> list[Sweep]:
    kinds = find_kinds().values()
    swept = [
        units.sweep(UnitSpec(shard=one), kinds, config, now=cloud.clock.now, deadline=cloud.never())
        for one in shards_of(count)
        if one != without
    ]
    cloud.aws.evaluate_alarms()
    return swept


def heartbeats(cloud: Cloud) -> set[str]:
    return {
        dict(dimensions)["Unit"]
        for (_, metric, dimensions), points in cloud.aws.regions["us-east-1"].metrics.items()
        if metric == "SweepCompleted" and cloud.clock.now in points
    }


@given(resource_id=st.text(min_size=0, max_size=6), count=st.sampled_from(COUNTS))
def test_everything_is_in_exactly_one_shard(resource_id: str, count: int) -> None:
    assert sum(one.owns(resource_id) for one in shards_of(count)) == 1


@pytest.mark.parametrize("count", COUNTS)
def test_a_shard_is_named_by_its_number_of_all(count: int) -> None:
    assert [parse_shard(str(one)) for one in shards_of(count)] == shards_of(count)
    assert {len(one.digits) for one in shards_of(count)} == {16 // count}


def test_all_shards_together_find_what_one_sweep_finds(cloud: Cloud) -> None:
    # As many near as are asked for the days before at one look.
    spread(cloud, 4, percent=20)
    spread(cloud, 5, percent=70)
    for _ in range(4):
        cloud.aws.add_instance("m5.large")
        Disk(cloud, percent=100)
    changing = spread(cloud, 1, percent=90)[0].id
    cloud.aws.regions["us-east-1"].modifications[changing] = {
        "VolumeId": changing, "ModificationState": "modifying", "OriginalSize": 100,
        "OriginalVolumeType": "gp2", "TargetSize": 200, "TargetVolumeType": "gp2",
        "StartTime": datetime.fromtimestamp(NOW - 60, tz=UTC),
    }  # fmt: skip
    whole = run_sweep(cloud, config=EVERY_KIND)
    made = set(alarms(cloud))
    cloud.aws.regions["us-east-1"].alarms.clear()
    cloud.aws.counted.clear()
    cloud.aws.calls.clear()
    parts = sweep_all(cloud, Units(home=cloud.clients, connect=connect), 4)
    asked_of = [call["Filters"] for _, name, call in cloud.aws.calls if name == "DescribeVolumes"]
    assert asked_of == [
        [{"Name": "volume-id", "Values": [f"*{digit}" for digit in one.digits]}]
        for one in shards_of(4)
    ]
    assert set(alarms(cloud)) == made
    assert len(made) == 9
    found = {key: entry[1] for part in parts for key, entry in part.snapshot.assessments.items()}
    assert found == {key: entry[1] for key, entry in whole.snapshot.assessments.items()}
    assert sum(len(part.snapshot.assessments) for part in parts) == len(found)
    assert all(len(part.snapshot.assessments) > 3 for part in parts)
    asked = sum(part.snapshot.metrics_requested for part in parts)
    assert asked == whole.snapshot.metrics_requested
    assert heartbeats(cloud) == {
        str(cloud.unit),
        *(f"{cloud.unit}/{n}/4" for n in (1, 2, 3, 4)),
    }


def test_a_denied_shard_costs_its_volumes_one_sweep_and_shows(cloud: Cloud) -> None:
    units = Units(home=cloud.clients, connect=connect)
    disks = spread(cloud, 8, percent=70)
    sweep_all(cloud, units, 4)
    before = alarms(cloud)
    assert len(before) == 8
    cloud.clock.now += 60
    denied = shards_of(4)[1]
    cloud.aws.denied_values = {f"*{digit}" for digit in denied.digits}
    late = spread(cloud, 4, percent=20)
    swept = sweep_all(cloud, units, 4)
    assert [one.completed for one in swept] == [True, False, True, True]
    assert [fleet_metrics(one)["UnitsFailed"] for one in swept] == [0, 1, 0, 0]
    assert heartbeats(cloud) == {f"{cloud.unit}/{number}/4" for number in (1, 3, 4)}
    assert before.keys() <= alarms(cloud).keys()
    told = {name.split("/")[-2] for name in alarms(cloud)}
    assert {disk.id for disk in late} - told == {d.id for d in late if denied.owns(d.id)} != set()
    cloud.aws.denied_values = set()
    cloud.clock.now += 60
    assert all(one.completed for one in sweep_all(cloud, units, 4))
    told = {name.split("/")[-2] for name in alarms(cloud)}
    assert told == {disk.id for disk in (*disks, *late)}


def test_a_filter_that_lets_nothing_through_is_not_believed(cloud: Cloud) -> None:
    disks = spread(cloud, 5, percent=20)
    cloud.aws.takes_wildcards = False
    swept = sweep_all(cloud, Units(home=cloud.clients, connect=connect), 2)
    volumes = {key for one in swept for key in one.snapshot.assessments if key.startswith("vol-")}
    assert volumes == {disk.id for disk in disks}
    assert len(alarms(cloud)) == 5


def test_a_shard_reads_its_own_modifications_and_all_of_them_only_where_it_has_none(
    cloud: Cloud,
) -> None:
    changing = spread(cloud, 1, percent=90)[0].id
    cloud.aws.regions["us-east-1"].modifications[changing] = {
        "VolumeId": changing, "ModificationState": "completed", "OriginalSize": 100,
        "OriginalVolumeType": "gp2", "TargetSize": 200, "TargetVolumeType": "gp2",
        "StartTime": datetime.fromtimestamp(NOW - 60, tz=UTC),
    }  # fmt: skip
    sweep_all(cloud, Units(home=cloud.clients, connect=connect), 2, config=CONFIG)
    asked = [
        len(call.get("Filters", ()))
        for _, name, call in cloud.aws.calls
        if name == "DescribeVolumesModifications"
    ]
    assert sorted(asked) == [0, 1, 1]


def test_an_alarm_that_another_sweep_has_deleted_is_no_problem(cloud: Cloud) -> None:
    spread(cloud, 2, percent=20)
    run_sweep(cloud)
    names = [*alarms(cloud), f"burstwatch.critical/db {EFFECT}/vol-0/burstwatch"]
    assert delete_alarms(cloud.clients, names) == []
    assert alarms(cloud) == {}
    cloud.aws.denied = {"DeleteAlarms"}
    assert len(delete_alarms(cloud.clients, names)) == len(names)


def test_what_is_gone_ends_in_its_own_shard_and_nowhere_else(cloud: Cloud) -> None:
    units = Units(home=cloud.clients, connect=connect)
    gone = spread(cloud, 1, percent=20)[0]
    spread(cloud, 6, percent=20)
    sweep_all(cloud, units, 4)
    before = set(alarms(cloud))
    del cloud.aws.regions["us-east-1"].volumes[gone.id]
    for _ in range(5):
        cloud.clock.now += 60
        swept = sweep_all(cloud, units, 4)
        assert all(one.completed and not one.problems for one in swept)
    assert before - set(alarms(cloud)) == {f"burstwatch.critical/db {EFFECT}/{gone.id}/burstwatch"}


def test_each_shard_has_a_mass_alarm_of_its_own_from_its_share_on(cloud: Cloud) -> None:
    units, config = Units(home=cloud.clients, connect=connect), replace(with_mass(20), hold_s=600.0)
    hot = spread(cloud, 16, percent=30)
    few = shards_of(4)[1]
    for disk in [disk for disk in hot if few.owns(disk.id)][:3]:
        del cloud.aws.regions["us-east-1"].volumes[disk.id]
    for _ in range(4):
        hot += spread(cloud, 1, percent=30)
    sweep_all(cloud, units, 4, config=config)
    left = [d.id for d in hot if d.id in cloud.aws.regions["us-east-1"].volumes]
    by_shard = {one: [i for i in left if one.owns(i)] for one in shards_of(4)}
    assert sorted(map(len, by_shard.values())) == [2, 5, 5, 5]
    mass = {
        f"burstwatch.critical/{mass_name(one)}/burstwatch" for one in shards_of(4) if one != few
    }
    own = {f"burstwatch.critical/db {EFFECT}/{one}/burstwatch" for one in by_shard[few]}
    assert alarms(cloud) == dict.fromkeys(mass | own, "ALARM")
    described = cloud.aws.regions["us-east-1"].alarms[
        "burstwatch.critical/many_at_once-1-of-4/burstwatch"
    ]
    assert "\nWhere: 123456789012/us-east-1 (shard 1/4 of it)" in described["AlarmDescription"]


def test_a_shard_that_does_not_run_ends_no_alarm_and_the_others_end_theirs(cloud: Cloud) -> None:
    units, config = Units(home=cloud.clients, connect=connect), replace(with_mass(5), hold_s=600.0)
    hot = spread(cloud, 20, percent=30)
    sweep_all(cloud, units, 4, config=config)
    assert len(alarms(cloud)) == 4
    dead = shards_of(4)[2]
    for _ in range(30):
        a_minute(cloud, hot, iops=0)
        sweep_all(cloud, units, 4, config=config, without=dead)
    assert alarms(cloud) == {f"burstwatch.critical/{mass_name(dead)}/burstwatch": "ALARM"}
    for _ in range(30):
        a_minute(cloud, hot, iops=0)
        sweep_all(cloud, units, 4, config=config)
    assert alarms(cloud) == {}
    states = [state for _, _, state in cloud.aws.notifications]
    assert (states.count("ALARM"), states.count("OK")) == (4, 4)
    assert {topic for topic, _, _ in cloud.aws.notifications} == {TOPIC}


@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 4), (4, 2)])
def test_another_number_of_shards_takes_the_alarms_over_and_ends_the_mass_of_the_old(
    cloud: Cloud, before: int, after: int
) -> None:
    config = replace(with_mass(5), hold_s=600.0)
    spread(cloud, 20, percent=20)
    warned = spread(cloud, 4, percent=70)
    sweep_all(cloud, Units(home=cloud.clients, connect=connect), before, config=config)
    old = set(alarms(cloud))
    units = Units(home=cloud.clients, connect=connect)
    for _ in range(5):
        cloud.clock.now += 60
        assert not any(one.problems for one in sweep_all(cloud, units, after, config=config))
    single = {f"burstwatch.warning/db {EFFECT}/{disk.id}/burstwatch" for disk in warned}
    new = set(alarms(cloud))
    assert single <= old & new
    names = {mass_name(one) for one in shards_of(after)}
    assert new - single == {f"burstwatch.critical/{name}/burstwatch" for name in names}
    assert len(cloud.aws.notifications) == len(set(cloud.aws.notifications))  # nobody is told twice


def test_quotas_and_a_budget_are_shared(cloud: Cloud) -> None:
    units = Units(home=cloud.clients, connect=connect)
    config = Config(budget_usd_per_month="1")
    spread(cloud, 4, percent=100)
    whole, *_ = sweep_all(cloud, units, 1, config=config)
    sweep_all(cloud, units, 4, config=config)
    memories = units.memories
    assert whole.snapshot.shard == WHOLE
    assert {spec.shard: memory.pace.shards for spec, memory in memories.items()} == {
        WHOLE: 1, **dict.fromkeys(shards_of(4), 4)
    }  # fmt: skip
    rates = {
        spec.shard.count: memory.budget.rate for spec, memory in memories.items() if memory.budget
    }
    assert rates[1] == 4 * rates[4]


def test_a_function_remembers_no_more_than_its_memory_holds(cloud: Cloud) -> None:
    spread(cloud, 8, percent=100)
    units = Units(home=cloud.clients, connect=connect, most_known=15)
    sweep_all(cloud, units, 4)
    assert [str(spec.shard) for spec in units.memories] == ["3/4", "4/4"]
    sweep_all(cloud, units, 1)
    # The one that was just swept is kept, however large.
    assert [str(spec.shard) for spec in units.memories] == ["1/1"]

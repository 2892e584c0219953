"""A monitor that cannot see says so, and never takes what it cannot see for well."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from burstwatch.aws.alarms.api import read_alarms
from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep import sweep as sweeping
from burstwatch.aws.sweep.sweep import sweep
from burstwatch.kinds import find_kinds
from tests.aws.standby import watch_heartbeat
from tests.aws.sweeping import CONFIG, EFFECT, EVERY_KIND, NOTICE, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud

pytestmark = pytest.mark.slow


def burning(cloud: Cloud, memory: Memory, *, percent: float = 40) -> Disk:
    """A volume that has been at its limit for some minutes, paged for."""
    disk = Disk(cloud, percent=percent)
    for _ in range(4):
        disk.minute(iops=3_000)
    for _ in range(4):
        disk.minute(iops=3_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    assert cloud.aws.notifications == [(TOPIC, *alarms(cloud), "ALARM")]
    return disk


def sweeps(cloud: Cloud, memory: Memory, disk: Disk, count: int) -> Iterator[None]:
    """So many minutes at the limit, each swept."""
    for _ in range(count):
        disk.minute(iops=3_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        yield


def states(cloud: Cloud) -> list[str]:
    return [state for _, _, state in cloud.aws.notifications]


def test_where_every_question_is_refused_the_heartbeat_stops(cloud: Cloud) -> None:
    Disk(cloud, percent=100)
    assert run_sweep(cloud).completed
    cloud.aws.denied = {"GetMetricData"}
    assert not run_sweep(cloud).completed


def test_where_half_of_the_buckets_cannot_be_asked_the_heartbeat_stops(cloud: Cloud) -> None:
    disks = [Disk(cloud, percent=50) for _ in range(4)]
    cloud.aws.failing_series[disks[0].id] = "InternalError"
    assert run_sweep(cloud).completed
    cloud.aws.failing_series[disks[1].id] = "InternalError"
    assert not run_sweep(cloud).completed


def test_silence_is_no_failed_question(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    for _ in range(3):
        cloud.aws.add_volume("gp2", 100, instance_id=instance)
    found = run_sweep(cloud)
    assert {a.verdict for r, a in found.snapshot.assessments.values() if r.bucket} == {"unknown"}
    assert found.completed


def test_a_volume_that_is_missing_from_one_listing_is_not_recovered(cloud: Cloud) -> None:
    memory = Memory()
    disk = burning(cloud, memory)
    cloud.aws.unlisted = {disk.id}
    for _ in sweeps(cloud, memory, disk, 2):
        assert states(cloud) == ["ALARM"]
    cloud.aws.unlisted = set()
    for _ in sweeps(cloud, memory, disk, 5):
        assert states(cloud) == ["ALARM"]


def test_a_function_that_has_just_started_believes_no_absence(cloud: Cloud) -> None:
    disk = burning(cloud, Memory())
    cloud.aws.unlisted = {disk.id}
    for _ in sweeps(cloud, Memory(), disk, 2):
        assert states(cloud) == ["ALARM"]


def test_an_alarm_of_what_is_gone_ends_though_each_sweep_is_a_functions_first(cloud: Cloud) -> None:
    disk = burning(cloud, Memory())
    del cloud.aws.regions["us-east-1"].volumes[disk.id]
    for _ in range(130):
        cloud.clock.now += 60
        run_sweep(cloud, Memory())
        cloud.aws.evaluate_alarms()
    assert states(cloud) == ["ALARM", "OK"]
    assert alarms(cloud) == {}


def test_what_nobody_can_spend_from_hides_no_blindness(cloud: Cloud) -> None:
    disks = [Disk(cloud, percent=50) for _ in range(5)]
    for disk in disks[:3]:
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Attachments"] = []
    cloud.aws.denied = {"GetMetricData"}
    assert not run_sweep(cloud).completed


def test_a_budget_that_is_used_up_is_no_blindness(cloud: Cloud) -> None:
    for _ in range(10):
        Disk(cloud, percent=60)
    swept = run_sweep(cloud, config=replace(CONFIG, budget_usd_per_month="0.005"))
    verdicts = [a.verdict for r, a in swept.snapshot.assessments.values() if r.bucket is not None]
    assert verdicts.count("unknown") > 5
    assert swept.completed


def test_a_volume_that_is_deleted_ends_its_alarm_within_minutes(cloud: Cloud) -> None:
    memory = Memory()
    disk = burning(cloud, memory)
    del cloud.aws.regions["us-east-1"].volumes[disk.id]
    for _ in sweeps(cloud, memory, disk, 7):
        pass
    assert states(cloud) == ["ALARM", "OK"]
    assert alarms(cloud) == {}


def test_datapoints_that_were_there_a_minute_ago_and_are_gone_are_no_calm(cloud: Cloud) -> None:
    memory = Memory()
    disk = burning(cloud, memory)
    witness = Disk(cloud, percent=50)
    for _ in range(3):
        now = cloud.clock.now
        witness.minute(iops=600)
        cloud.clock.now = now
        disk.minute(iops=3_000)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
    kept = cloud.aws.regions["us-east-1"].metrics
    hidden = {key: kept.pop(key) for key in list(kept) if ("VolumeId", disk.id) in key[2]}
    for _ in range(4):
        witness.minute(iops=600)
        found = run_sweep(cloud, memory).snapshot.assessments[disk.id][1]
        assert found.verdict == "unknown"
        assert "gone" in found.reason
        cloud.aws.evaluate_alarms()
    kept.update(hidden)
    assert states(cloud) == ["ALARM"]


def test_a_volume_that_may_be_late_is_asked_at_every_sweep_while_asking_fails(cloud: Cloud) -> None:
    memory, config = Memory(), replace(CONFIG, kinds="ebs_volume")
    disk = Disk(cloud, percent=100)
    run_sweep(cloud, memory, config=config)
    cloud.clock.now += 15 * 60  # a full one is asked again before its worst case is at the margin
    cloud.aws.failing_series[disk.id] = "InternalError"
    for _ in range(6):
        cloud.aws.calls.clear()
        run_sweep(cloud, memory, config=config)
        assert "GetMetricData" in [operation for _, operation, _ in cloud.aws.calls]
        cloud.clock.now += 60


def test_an_answer_of_describe_alarms_that_is_cut_costs_no_look(cloud: Cloud) -> None:
    memory = Memory()
    disk = burning(cloud, memory)
    cloud.aws.cut["DescribeAlarms"] = 1
    disk.minute(iops=3_000)
    found = run_sweep(cloud, memory)
    assert not found.completed
    assert found.snapshot.assessments[disk.id][1].verdict == "critical"
    assert any(problem.part == "DescribeAlarms" for problem in found.problems)


def test_an_inventory_without_its_list_is_not_an_empty_one(cloud: Cloud) -> None:
    memory = Memory()
    burning(cloud, memory)
    cloud.aws.hollow.add("DescribeVolumes")
    for _ in range(5):
        swept = run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    assert not swept.completed
    assert any(problem.part == "DescribeVolumes" for problem in swept.problems)
    assert states(cloud) == ["ALARM"]


def test_a_token_that_comes_again_ends_the_question(cloud: Cloud) -> None:
    Disk(cloud, percent=50)
    cloud.aws.partial_after = 5
    cloud.aws.repeats_tokens = True
    swept = run_sweep(cloud)
    assert any("NextToken" in problem.error for problem in swept.problems)


@pytest.mark.parametrize("value", [float("nan"), -5.0, 1e9])
def test_a_balance_that_no_bucket_can_have_is_unknown_and_hides_no_other(
    cloud: Cloud, value: float
) -> None:
    disk, other = Disk(cloud, percent=50), Disk(cloud, percent=0)
    disk.percent = value
    disk.put(cloud.clock.now, value, iops=100)
    cloud.clock.now += 60
    found = run_sweep(cloud).snapshot.assessments
    assert found[disk.id][1].verdict == "unknown"
    assert found[other.id][1].verdict in {"critical", "exhausted"}


def test_a_sum_below_zero_costs_its_volume_alone(cloud: Cloud) -> None:
    disks = [Disk(cloud, percent=30) for _ in range(4)]
    for _ in range(4):
        now = cloud.clock.now
        for disk in disks:
            cloud.clock.now = now
            disk.minute(iops=3_000)
    cloud.aws.put("AWS/EBS", "VolumeReadOps", {"VolumeId": disks[0].id}, cloud.clock.now - 60, -1e9)
    found = run_sweep(cloud).snapshot.assessments
    assert {found[disk.id][1].verdict for disk in disks[1:]} == {"critical"}
    assert found[disks[0].id][1].verdict in {"unknown", "critical"}


def test_a_call_home_that_hangs_is_not_waited_for_beyond_the_deadline(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "READ_ALARMS_S", 0.2)
    monkeypatch.setattr(sweeping, "PUBLISH_S", 0.5)
    disk = Disk(cloud, percent=20)
    disk.minute(iops=3_000)
    # What could be listed before is known, so the alarms are asked for once: after the look.
    memory = Memory(listed_before=frozenset(find_kinds(CONFIG.kinds)))
    for operation in ("DescribeAlarms", "PutMetricData"):
        with cloud.stalling(operation):  # which is not answered before the sweep has ended
            swept = sweep(
                cloud.unit, find_kinds(CONFIG.kinds).values(), cloud.clients, cloud.clients, CONFIG,
                memory, now=cloud.clock.now,
                deadline=Deadline(time.monotonic, at=time.monotonic() + 3),
            )  # fmt: skip
        assert not swept.completed
        assert any(
            problem.part == operation and "time was up" in problem.error
            for problem in swept.problems
        )
    assert read_alarms(cloud.clients, "burstwatch.") == []


# Blindness is judged for each kind

#: What each kind lists first, and without which nothing of it is known.
INVENTORIES = {name: kind.inventory.operation for name, kind in find_kinds().items()}


def deployed(cloud: Cloud) -> str:
    """The alarm on the heartbeat, as the stack makes it."""
    watch_heartbeat(cloud, "burstwatch", str(cloud.unit))
    return "burstwatch-burstwatch-no-completed-sweep"


def told(cloud: Cloud, topic: str) -> list[tuple[str, str]]:
    return [(name, state) for to, name, state in cloud.aws.notifications if to == topic]


def test_where_nothing_at_all_could_ever_be_listed_it_is_blindness_and_no_policy_on_a_service(
    cloud: Cloud,
) -> None:
    deployed(cloud)
    cloud.aws.denied = set(INVENTORIES.values())
    swept = run_sweep(cloud, Memory(), config=EVERY_KIND)
    assert swept.snapshot.unlisted == {}
    assert swept.snapshot.blind.keys() == INVENTORIES.keys()
    assert not any("not_listed" in name for name in alarms(cloud))


@pytest.mark.parametrize("kind", INVENTORIES)
def test_a_kind_that_could_never_be_listed_is_told_once_and_stops_no_heartbeat_of_the_others(
    cloud: Cloud, kind: str
) -> None:
    heartbeat = deployed(cloud)
    cloud.aws.denied = {INVENTORIES[kind]}
    hidden = {name for name, operation in INVENTORIES.items() if operation == INVENTORIES[kind]}
    for _ in range(6):
        swept = run_sweep(cloud, Memory(), config=EVERY_KIND)
        assert swept.completed
        assert not swept.problems
        assert swept.snapshot.unlisted.keys() == hidden
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    expected = {f"burstwatch.warning/not_listed-{name}/burstwatch" for name in hidden}
    own = [one for one in told(cloud, NOTICE) if "not_listed" in one[0]]
    assert sorted(own) == [(name, "ALARM") for name in sorted(expected)]
    assert told(cloud, TOPIC) == [(heartbeat, "OK")]
    text = cloud.aws.regions["us-east-1"].alarms[min(expected)]["AlarmDescription"]
    assert "AccessDenied" in text or "UnauthorizedOperation" in text
    # It is allowed, and the notice ends.
    cloud.aws.denied = set()
    for _ in range(5):
        assert run_sweep(cloud, Memory(), config=EVERY_KIND).completed
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    assert not any("not_listed" in name for name in alarms(cloud))
    # What could be listed yesterday and cannot today is what pages.
    cloud.aws.denied = {INVENTORIES[kind]}
    assert not run_sweep(cloud, Memory(), config=EVERY_KIND).completed


@pytest.mark.parametrize("kind", INVENTORIES)
def test_where_nobody_knows_what_could_be_listed_before_a_kind_that_cannot_be_is_blindness(
    cloud: Cloud, kind: str
) -> None:
    cloud.aws.denied = {INVENTORIES[kind]}
    swept = run_sweep(cloud, Memory(), config=EVERY_KIND)
    assert not swept.completed
    assert any(kind in problem.part for problem in swept.problems)


def test_where_no_kind_could_ever_be_listed_there_is_no_heartbeat(cloud: Cloud) -> None:
    deployed(cloud)
    cloud.aws.denied = set(INVENTORIES.values())
    assert not run_sweep(cloud, Memory()).completed


@pytest.mark.parametrize(
    ("kind", "operation", "instance_type"),
    [
        ("ec2_instance_ebs", "DescribeInstanceTypes", "m5.large"),
        ("ec2_instance_cpu", "DescribeInstanceCreditSpecifications", "t3.nano"),
    ],
)
@pytest.mark.parametrize("others", [0, 3])
def test_a_kind_whose_resources_cannot_be_described_is_blind_among_any_others(
    cloud: Cloud, kind: str, operation: str, instance_type: str, others: int
) -> None:
    for _ in range(4):
        cloud.aws.add_instance(instance_type)
    for _ in range(others):
        Disk(cloud, percent=100)
    deployed(cloud)
    run_sweep(cloud, Memory(), config=EVERY_KIND)
    cloud.aws.denied = {operation}
    swept = run_sweep(cloud, Memory(), config=EVERY_KIND)
    assert not swept.completed
    assert swept.snapshot.blind.keys() == {kind}


def test_one_kind_whose_metrics_fail_is_blind_however_many_others_are_seen(cloud: Cloud) -> None:
    for _ in range(20):
        Disk(cloud, percent=100)
    host = cloud.aws.add_instance("t3.nano")
    deployed(cloud)
    cloud.aws.failing_series[host] = "InternalError"
    swept = run_sweep(cloud, Memory(), config=EVERY_KIND)
    assert swept.snapshot.blind.keys() == {"ec2_instance_cpu"}
    assert not swept.completed


def test_the_last_whole_inventory_is_judged_and_paged_for_as_long_as_listing_fails(
    cloud: Cloud,
) -> None:
    memory, disk = Memory(), Disk(cloud, percent=100)
    run_sweep(cloud, memory)
    cloud.aws.denied = {"DescribeVolumes", "DescribeInstances", "DescribeInstanceTypes"}
    for minute in range(100):
        disk.minute(iops=50 if minute < 70 else 3_000)
        swept = run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        assert not swept.completed
    own = f"burstwatch.critical/db {EFFECT}/{disk.id}/burstwatch"
    assert told(cloud, TOPIC) == [(own, "ALARM")]


def test_a_heartbeat_alarm_that_may_not_be_read_lets_nothing_pass_for_well(cloud: Cloud) -> None:
    deployed(cloud)
    cloud.aws.denied = {"DescribeFileSystems", "ListTagsForResource"}
    assert not run_sweep(cloud, Memory(), config=EVERY_KIND).completed


def test_an_alarm_of_a_kind_whose_tag_was_lost_is_not_ended_because_it_cannot_be_listed(
    cloud: Cloud,
) -> None:
    burning(cloud, Memory())
    deployed(cloud)  # the stack has made it anew, and it has no tags
    cloud.aws.denied = {"DescribeVolumes"}
    cloud.clock.now += 3 * 3_600  # longer than anything that is gone keeps its alarm
    for _ in range(5):
        cloud.clock.now += 60
        assert run_sweep(cloud, Memory(), config=EVERY_KIND).snapshot.unlisted.keys() == {
            "ebs_volume"
        }
        cloud.aws.evaluate_alarms()
    own = [state for _, name, state in cloud.aws.notifications if ".critical/" in name]
    assert own == ["ALARM"]


def test_instances_without_credits_need_no_mode_and_blind_nobody(cloud: Cloud) -> None:
    for _ in range(3):
        cloud.aws.add_instance("m5.large")
    deployed(cloud)
    cloud.aws.denied = {"DescribeInstanceCreditSpecifications"}
    swept = run_sweep(cloud, Memory(), config=replace(CONFIG, kinds="ec2_instance_cpu"))
    assert swept.completed
    assert swept.snapshot.assessments == {}
    burstable = cloud.aws.add_instance("t3.nano")
    swept = run_sweep(cloud, Memory(), config=replace(CONFIG, kinds="ec2_instance_cpu"))
    assert swept.snapshot.assessments.keys() == {f"{burstable}.cpu"}
    assert not swept.completed


def test_which_kinds_were_listed_is_written_again_where_it_could_not_be(cloud: Cloud) -> None:
    heartbeat, memory = deployed(cloud), Memory()
    cloud.aws.denied = {"TagResource"}
    run_sweep(cloud, memory, config=EVERY_KIND)
    cloud.aws.denied = set()
    run_sweep(cloud, memory, config=EVERY_KIND)
    tags = cloud.aws.regions["us-east-1"].alarm_tags[heartbeat]
    assert {tag.removeprefix("burstwatch:lists-") for tag in tags} == set(INVENTORIES)


def test_metrics_that_the_organisation_forbids_are_told_from_those_that_fail(cloud: Cloud) -> None:
    Disk(cloud, percent=100)
    causes = []
    for words in ("not authorized", "with an explicit deny in a service control policy"):
        cloud.aws.denied, cloud.aws.denied_words = {"GetMetricData"}, words
        causes.append(run_sweep(cloud, Memory()).snapshot.blind["ebs_volume"].cause)
    assert causes == ["other", "forbidden"]

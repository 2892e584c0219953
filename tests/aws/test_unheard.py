"""What nobody would hear is told by name, through alarms that exist since the deployment."""

from collections.abc import Callable

import pytest

from burstwatch.aws.alarms.unheard import HEARING_S, MORE, Unheard, tell_unheard
from burstwatch.aws.client.names import NOT_HEARD, NOT_PAGED, STANDBY_METRICS, standby_name
from burstwatch.aws.look.memory import Memory
from tests.aws.masses import with_mass
from tests.aws.standby import deploy_standby, text_of
from tests.aws.sweeping import CONFIG, EFFECT, NOTICE, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud

pytestmark = pytest.mark.slow


def burn(disk: Disk, minutes: int) -> None:
    for _ in range(minutes):
        disk.minute(iops=3_000)


def sweep_and_evaluate(cloud: Cloud, memory: Memory) -> list[tuple[str, str, str]]:
    """One sweep, and what CloudWatch tells after it."""
    told = len(cloud.aws.notifications)
    run_sweep(cloud, memory)
    cloud.aws.evaluate_alarms()
    return cloud.aws.notifications[told:]


def critical_disk(cloud: Cloud, name: str) -> Disk:
    disk = Disk(cloud, percent=40)
    for tag in cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"]:
        tag["Value"] = name
    for back in range(6):
        disk.put(cloud.clock.now - 60 * (back + 1), 20 + 5 * back, iops=3_000)
    disk.percent = 20
    return disk


def test_a_full_quota_of_alarms_pages_each_resource_by_its_name(cloud: Cloud) -> None:
    deploy_standby(cloud)
    cloud.aws.most_alarms = len(alarms(cloud))
    orders, memory = critical_disk(cloud, "orders"), Memory()
    assert sweep_and_evaluate(cloud, memory) == [
        (TOPIC, standby_name("burstwatch", NOT_PAGED), "ALARM")
    ]
    assert text_of(cloud, NOT_PAGED).startswith(f"{orders.id}: CRITICAL ")
    assert "): orders burst credits, then " in text_of(cloud, NOT_PAGED).splitlines()[0]
    assert orders.id in text_of(cloud, NOT_PAGED).splitlines()[0]
    assert "LimitExceeded" in text_of(cloud, NOT_PAGED).splitlines()[0]
    assert orders.id not in str(cloud.aws.notifications)  # an alarm of its own could not be made


def test_a_further_resource_is_named_although_the_first_one_is_still_without_an_alarm(
    cloud: Cloud,
) -> None:
    deploy_standby(cloud)
    cloud.aws.most_alarms = len(alarms(cloud))
    first, memory = critical_disk(cloud, "orders"), Memory()
    sweep_and_evaluate(cloud, memory)
    second = critical_disk(cloud, "billing")
    told = []
    for _ in range(5):
        at = cloud.clock.now
        for disk in (first, second):
            cloud.clock.now = at
            disk.minute(iops=3_000)
        told += sweep_and_evaluate(cloud, memory)
    assert [state for _, _, state in told] == ["OK", "ALARM"]
    named, _, _ = text_of(cloud, NOT_PAGED).partition("ALARM: ")
    # Each once, although the first has been written before.
    assert sorted(line.split(":")[0] for line in named.splitlines()) == sorted(
        [first.id, second.id]
    )


def test_the_alarm_resolves_when_there_is_room_again_and_the_resource_has_its_own(
    cloud: Cloud,
) -> None:
    deploy_standby(cloud)
    cloud.aws.most_alarms = len(alarms(cloud))
    disk, memory = critical_disk(cloud, "orders"), Memory()
    sweep_and_evaluate(cloud, memory)
    cloud.aws.most_alarms = None
    told = []
    for _ in range(4):
        disk.minute(iops=3_000)
        told += sweep_and_evaluate(cloud, memory)
    own = f"burstwatch.critical/orders {EFFECT}/{disk.id}/burstwatch"
    assert set(told) == {
        (TOPIC, own, "ALARM"),
        (TOPIC, standby_name("burstwatch", NOT_PAGED), "OK"),
    }


def disable(cloud: Cloud, name: str) -> None:
    cloud.aws.regions["us-east-1"].alarms[name]["ActionsEnabled"] = False


def mute(cloud: Cloud, name: str) -> None:
    cloud.aws.mutes["quiet-friday"] = [name]


def leave(cloud: Cloud, _name: str) -> None:
    cloud.aws.subscriptions[TOPIC].clear()


@pytest.mark.parametrize(
    ("silence", "says"),
    [
        (disable, "its actions are disabled"),
        (mute, "the mute rule quiet-friday mutes it"),
        (leave, "topic page: it has no confirmed subscription"),
    ],
)
def test_what_silences_a_page_is_told_on_the_other_topic(
    cloud: Cloud, silence: Callable[[Cloud, str], None], says: str
) -> None:
    deploy_standby(cloud)
    disk, memory = critical_disk(cloud, "orders"), Memory()
    sweep_and_evaluate(cloud, memory)
    own = f"burstwatch.critical/orders {EFFECT}/{disk.id}/burstwatch"
    silence(cloud, own)
    disk.minute(iops=3_000)
    memory.heard_at -= HEARING_S  # an hour later
    told = sweep_and_evaluate(cloud, memory)
    assert told == [(NOTICE, standby_name("burstwatch", NOT_HEARD), "ALARM")]
    (line, *_) = text_of(cloud, NOT_HEARD).splitlines()
    assert says in line
    assert own in line or "topic page" in line


def test_a_topic_notice_without_subscribers_is_told_on_the_topic_page(cloud: Cloud) -> None:
    deploy_standby(cloud)
    cloud.aws.subscriptions[NOTICE].clear()
    memory = Memory()
    assert sweep_and_evaluate(cloud, memory) == []  # whoever has deployed it is still subscribing
    cloud.clock.now += HEARING_S
    told = sweep_and_evaluate(cloud, memory)
    assert told == [(TOPIC, standby_name("burstwatch", NOT_PAGED), "ALARM")]
    assert text_of(cloud, NOT_PAGED).startswith("topic notice: it has no confirmed subscription")


def test_where_all_is_heard_nothing_is_asked_for_an_hour(cloud: Cloud) -> None:
    deploy_standby(cloud)
    memory = Memory()
    for _ in range(119):
        sweep_and_evaluate(cloud, memory)
        cloud.clock.now += 60
    assert cloud.aws.counted["ListSubscriptionsByTopic"] == 2
    assert cloud.aws.counted["ListAlarmMuteRules"] == 1
    assert cloud.aws.counted["PutMetricAlarm"] == len(STANDBY_METRICS)  # as they were deployed


def test_a_deployment_without_these_alarms_says_which_one_is_missing(cloud: Cloud) -> None:
    cloud.aws.most_alarms = 0
    critical_disk(cloud, "orders")
    problems = {problem.part for problem in run_sweep(cloud).problems}
    assert f"alarm {standby_name('burstwatch', NOT_PAGED)}" in problems


def test_a_resource_whose_words_cannot_be_written_is_still_named(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy_standby(cloud)
    disk = critical_disk(cloud, "orders")

    def fail(*_: object) -> None:
        msg = "no words"
        raise RuntimeError(msg)

    monkeypatch.setattr("burstwatch.aws.alarms.reconcile.message_of_new", fail)
    monkeypatch.setattr("burstwatch.aws.alarms.reconcile.danger_title", fail)
    told = sweep_and_evaluate(cloud, Memory())
    assert told == [(TOPIC, standby_name("burstwatch", NOT_PAGED), "ALARM")]
    assert text_of(cloud, NOT_PAGED).startswith(f"{disk.id}: critical. No alarm: ")


def test_every_resource_of_a_mass_that_cannot_be_made_is_named_and_so_is_one_that_comes_later(
    cloud: Cloud,
) -> None:
    deploy_standby(cloud)
    cloud.aws.most_alarms = len(alarms(cloud))
    memory, config = Memory(), with_mass(3)
    many = [critical_disk(cloud, f"disk-{number}") for number in range(3)]
    run_sweep(cloud, memory, config=config)
    cloud.aws.evaluate_alarms()
    assert all(disk.id in text_of(cloud, NOT_PAGED) for disk in many)
    late = critical_disk(cloud, "late")
    for _ in range(6):
        at = cloud.clock.now
        for disk in (*many, late):
            cloud.clock.now = at
            disk.minute(iops=3_000)
        run_sweep(cloud, memory, config=config)
        cloud.aws.evaluate_alarms()
    assert late.id in text_of(cloud, NOT_PAGED)
    own = [state for _, name, state in cloud.aws.notifications if name.endswith(NOT_PAGED)]
    assert own == ["ALARM", "OK", "ALARM"]


def test_units_that_share_the_alarm_do_not_keep_each_other_from_being_named(cloud: Cloud) -> None:
    deploy_standby(cloud)
    config = CONFIG

    def tell(key: str) -> None:
        unheard = Unheard()
        unheard.add_unmade(key, "critical", f"{key}: no alarm")
        assert tell_unheard(cloud.clients, unheard, config, now=cloud.clock.now) == []

    for minute in range(12):
        tell("vol-a")
        if minute >= 2:
            tell("vol-b")
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    states = [state for _, _, state in cloud.aws.notifications]
    assert states == ["ALARM", "OK", "ALARM"]
    text = text_of(cloud, NOT_PAGED)
    assert "vol-a: no alarm" in text
    assert "vol-b: no alarm" in text
    # The OK between is none, and says so.
    assert MORE in cloud.aws.descriptions[-2]
    assert MORE not in text


def test_tags_that_cannot_be_written_make_no_page_that_comes_and_goes(cloud: Cloud) -> None:
    deploy_standby(cloud)
    cloud.aws.denied = {"TagResource"}
    for _ in range(12):
        unheard = Unheard()
        unheard.add_unmade("vol-a", "critical", "vol-a: no alarm")
        assert tell_unheard(cloud.clients, unheard, CONFIG, now=cloud.clock.now)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM"]


def test_a_topic_that_cannot_be_asked_about_wakes_nobody_and_is_asked_again(cloud: Cloud) -> None:
    deploy_standby(cloud)
    memory = Memory()
    cloud.aws.denied = {"ListSubscriptionsByTopic"}
    run_sweep(cloud, memory)
    cloud.clock.now += HEARING_S
    for _ in range(3):
        swept = run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        assert {problem.part for problem in swept.problems} == {"topic page", "topic notice"}
        cloud.clock.now += 60
    assert cloud.aws.notifications == []


REAL = """ALARM: A resource is critical and its alarm could not be made, or nobody has subscribed to the topic notice.
Now: act on the resources named above, then make room for alarms.
OK: each alarm could be made again, and somebody hears it.
Runbook: https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks/not-paged.md"""


@pytest.mark.parametrize(
    "name",
    [
        "ALARM: x",
        *(
            pytest.param(name, marks=pytest.mark.many)
            for name in ("orders", "x ALARM: OK: all is well", "ALARM: ALARM: ", "and 3 more", MORE)
        ),
    ],
)
def test_each_further_resource_is_named_in_an_alarm_whatever_the_first_is_called(
    cloud: Cloud, name: str
) -> None:
    deploy_standby(cloud)
    cloud.aws.regions["us-east-1"].alarms["burstwatch-burstwatch-not-paged"]["AlarmDescription"] = REAL  # fmt: skip
    cloud.aws.most_alarms = len(alarms(cloud))
    cloud.aws.descriptions.clear()
    disks, memory = [critical_disk(cloud, name)], Memory()
    named: set[str] = set()
    for minute in range(64):
        if minute % 8 == 7:
            disks.append(critical_disk(cloud, f"orders-{minute}"))
        at = cloud.clock.now
        for disk in disks:
            cloud.clock.now = at
            disk.minute(iops=3_000)
        before = len(cloud.aws.notifications)
        run_sweep(cloud, memory)
        cloud.aws.evaluate_alarms()
        told = zip(cloud.aws.notifications, cloud.aws.descriptions, strict=True)
        for (_, _, state), text in list(told)[before:]:
            assert text.endswith(REAL)
            if state == "ALARM":
                named |= {disk.id for disk in disks if disk.id in text}
    assert len(disks) == 9
    assert named >= {disk.id for disk in disks[:-1]}  # the last is told in the next alarm


def test_where_many_have_no_alarm_most_of_them_are_named(cloud: Cloud) -> None:
    deploy_standby(cloud)
    cloud.aws.regions["us-east-1"].alarms["burstwatch-burstwatch-not-paged"]["AlarmDescription"] = REAL  # fmt: skip
    cloud.aws.most_alarms = len(alarms(cloud))
    disks = [critical_disk(cloud, f"orders-{number}") for number in range(8)]
    sweep_and_evaluate(cloud, Memory())
    text = text_of(cloud, NOT_PAGED)
    assert sum(disk.id in text for disk in disks) >= 6
    assert "and " in text
    assert text.endswith(REAL)

"""What is left of an episode when its alarms are gone: a line in the log, and a row of `burstwatch episodes`."""

import json
import sys
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.aws.alarms import plan as alarm_plan
from burstwatch.aws.alarms import texts as words
from burstwatch.aws.alarms.episodes import of_alarms
from burstwatch.aws.alarms.plan import plan_alarms
from burstwatch.aws.client.names import parse_alarm_name
from burstwatch.aws.look.memory import Memory
from burstwatch.config import Links
from burstwatch.kinds import find_kinds
from burstwatch.messages.digest import digest_message, is_false_page, is_near_miss
from burstwatch.messages.episode import Episode, Measured, measure_levels
from burstwatch.messages.message import Message
from burstwatch.messages.timeline import Timeline, read_timeline
from tests.aws.commands import burstwatch
from tests.aws.invoking import Context, load
from tests.aws.sweeping import CONFIG, NOTICE, Disk, alarm_of, run_sweep
from tests.conftest import NOW, Cloud
from tests.kinds.life import live

pytestmark = pytest.mark.slow

LOG = "burstwatch-logs"


@pytest.fixture
def logged(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Cloud, Disk]:
    """A volume that was empty for some minutes, swept by the function, whose log is kept."""
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    aws_env.setenv("BURSTWATCH_PAGE_TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:page")
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    # A logger keeps the stream of the first test that made it.
    aws_env.setattr(function.logger.registered_handler, "stream", sys.stdout)
    disk = Disk(cloud, percent=66)
    lines: list[tuple[float, str]] = []
    for minute in range(170):
        disk.minute(iops=3_000 if minute < 27 else 0)
        if minute < 30 or minute > 160 or minute % 10 == 0:
            function.handler({}, Context())
            cloud.aws.evaluate_alarms()
            lines += [(cloud.clock.now, line) for line in capsys.readouterr().out.splitlines()]
    closed = [line for line in lines if "episode closed" in line[1]]
    cloud.aws.logs[LOG] = [*lines, *closed]  # two sweeps that overlap both say it
    cloud.aws.outputs["Burstwatch-test"] = {"LogGroupName": LOG}
    return cloud, disk


def test_an_episode_is_listed_once_with_its_lead_and_its_time_at_zero(
    logged: tuple[Cloud, Disk],
) -> None:
    cloud, disk = logged
    code, out, err = burstwatch(
        cloud, "episodes", "--deployment", "test", "--since", "1d", "--json"
    )
    assert (code, err) == (0, "")
    (episode,) = map(json.loads, out.splitlines())
    assert episode["id"] == disk.id
    assert episode["verdict"] == "critical"
    assert episode["lead_s"] >= 900 - 60  # at least that: it was empty within that minute
    # The start of the minute in which 66 % are spent at 3 % a minute, and not the sweep that saw it.
    assert episode["empty_at"] == NOW + 21 * 60
    assert episode["balance_lowest"] == 0
    assert 240 <= episode["at_zero_s"] <= 480
    assert episode["fix"].startswith("change to gp3 with 3,000 IOPS")
    assert episode["closed_at"] - episode["opened_at"] == episode["lasted_s"]
    _, out, _ = burstwatch(cloud, "episodes", "--deployment", "test")
    heading, row, count = out.splitlines()
    assert heading.split()[:3] == ["began", "resource", "name"]
    assert row.split()[1:4] == [disk.id, "db", "critical"]
    assert (
        f"https://console.aws.amazon.com/ec2/home?region=us-east-1#VolumeDetails:volumeId={disk.id}"
        in row
    )
    assert count == "1 episode in the last 7d"
    _, out, _ = burstwatch(cloud, "episodes", "--deployment", "test", "--annotations")
    note = json.loads(out)
    assert note["timeEnd"] - note["time"] == 1000 * episode["lasted_s"]
    assert note["tags"] == ["burstwatch", "critical", "ebs_volume", disk.id]
    assert note["text"].startswith("db: critical, ")


def test_an_episode_that_is_not_over_is_listed_as_open(cloud: Cloud) -> None:
    cloud.aws.logs[LOG] = [
        (cloud.clock.now, "no JSON: episode closed"),
        (cloud.clock.now, '{"episode closed": 1}'),
    ]
    cloud.aws.outputs["Burstwatch"] = {"LogGroupName": LOG}
    assert burstwatch(cloud, "episodes") == (0, "no episodes in the last 7d\n", "")
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud, Memory())
    _, out, _ = burstwatch(cloud, "episodes")
    assert "still open" in out.splitlines()[1]
    assert out.splitlines()[1].split()[1:3] == [disk.id, "db"]
    _, out, _ = burstwatch(cloud, "episodes", "--json")
    assert json.loads(out)["closed_at"] is None
    say_it_was_empty(cloud)
    _, out, _ = burstwatch(cloud, "episodes")
    assert "at most " in out.splitlines()[1]
    assert "first at " in out.splitlines()[1]


def say_it_was_empty(cloud: Cloud) -> None:
    """A sweep has said so in the text of each alarm."""
    for alarm in cloud.aws.regions["us-east-1"].alarms.values():
        opened_s = read_timeline(alarm["AlarmDescription"], made_at=NOW).opened_s
        line = Timeline(opened_s=opened_s, empty_s=cloud.clock.now + 60).line
        alarm["AlarmDescription"] += f"\n{line}"


def test_an_episode_that_never_ran_dry_has_its_lowest_level_and_no_lead(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=40), Memory()
    closed: list[Episode] = []
    for minute in range(140):
        disk.minute(iops=3_000 if minute < 5 else 0)
        if minute == 8:
            say_it_was_empty(cloud)  # it was expected to be, and was not
        if minute < 8 or minute > 90:
            swept = run_sweep(cloud, memory)
            closed += swept.closed
            cloud.aws.evaluate_alarms()
    (episode,) = closed
    assert episode.lowest_ratio == pytest.approx(0.25, abs=0.02)
    assert episode.at_zero_s == 0
    assert episode.lead_s is None


def test_a_log_that_is_not_there_is_an_error_and_not_an_empty_list(cloud: Cloud) -> None:
    cloud.aws.outputs["Burstwatch"] = {"LogGroupName": LOG}
    code, out, err = burstwatch(cloud, "episodes")
    assert (code, out) == (2, "")
    assert f"log {LOG}: FilterLogEvents: ResourceNotFoundException" in err


@pytest.mark.parametrize(
    ("levels", "lowest_ratio", "at_zero_s", "empty_s"),
    [
        ([(0.0, 0.5), (60.0, 0.4)], 0.4, 0.0, None),
        ([(0.0, 0.5), (60.0, 0.0), (120.0, 0.0), (180.0, 0.1)], 0.0, 120.0, 60.0),
        ([(0.0, 0.0), (300.0, 0.2)], 0.0, 300.0, 0.0),
        ([(0.0, 0.0), (3_600.0, 0.2)], 0.0, 300.0, 0.0),
        ([(0.0, 0.0)], 0.0, 60.0, 0.0),
    ],
)
def test_an_empty_bucket_is_so_until_the_next_datapoint(
    levels: list[tuple[float, float]], lowest_ratio: float, at_zero_s: float, empty_s: float | None
) -> None:
    assert measure_levels(levels) == Measured(
        lowest_ratio=lowest_ratio, at_zero_s=at_zero_s, empty_s=empty_s
    )


def test_without_a_level_nothing_is_measured() -> None:
    assert measure_levels([]) is None


def test_the_times_of_an_episode_are_read_back_from_the_words_of_its_alarm() -> None:
    times = Timeline(opened_s=1e9, paged_s=1e9 + 60, empty_s=1e9 + 120, over_s=1e9 + 180)
    text = f"RESOLVED db: burst credits at 100%\n{times.line}\nRunbook: https://x"
    assert read_timeline(text, made_at=0.0) == times
    for text in ("Opened: today", "Times: opened today", "Note: opened 2026-01-01T00:00:00Z"):
        assert read_timeline(text, made_at=7.0) == Timeline(opened_s=7.0)


def test_the_times_of_an_alarm_that_an_earlier_version_wrote_are_read_too() -> None:
    """An upgrade in an episode must not forget when it began, nor that somebody was paged."""
    text = "db: empty now\nOpened: 2026-09-21T14:28:00Z\nPaged: 2026-09-21T14:30:00Z\nRunbook: https://x"
    assert read_timeline(text, made_at=0.0) == Timeline(opened_s=1790000880.0, paged_s=1790001000.0)


def test_the_digest_of_a_week_names_what_happened_what_it_cost_and_what_would_help(
    logged: tuple[Cloud, Disk], aws_env: pytest.MonkeyPatch
) -> None:
    cloud, disk = logged
    _, out, err = burstwatch(cloud, "episodes", "--digest", "--deployment", "test")
    assert err == ""
    assert out.startswith("DIGEST test, 7 days: 1 episode, 1 ran out of credits\n")
    assert f"1. db ({disk.id}, 1 episode): change to gp3 with 3,000 IOPS" in out
    assert "Pages: 1, of them 0 false (never under 20%)" in out
    aws_env.setenv("BURSTWATCH_NOTICE_TOPIC_ARN", NOTICE)
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    assert function.handler({"digest": LOG}, Context()) == {"title": out.splitlines()[0]}
    (sent,) = [one for one in cloud.aws.published if one["TopicArn"] == NOTICE]
    assert sent["Email"] == out
    assert "USD for a deployment with one function (list prices)" in out
    function.handler({"digest": LOG, "fixed_usd_a_month": 60.0}, Context())
    *_, sent = [one for one in cloud.aws.published if one["TopicArn"] == NOTICE]
    assert ", 14.00 USD for the deployment (list prices)" in sent["Email"]
    assert json.loads(sent["Message"])["metadata"]["eventType"] == "burstwatch.digest"


def an_episode(**more: Any) -> Episode:
    known: dict[str, Any] = {
        "resource_id": "vol-1", "name": "db", "kind": "ebs_volume", "unit": "1/r", "severity": "critical",
        "opened_s": 0.0, "paged_s": 0.0, "empty_s": None, "closed_s": 600.0, "lowest_ratio": 0.5,
        "at_zero_s": 0.0, "fix": "", "console": "",
    }  # fmt: skip
    return Episode(**known | more)


@pytest.mark.parametrize(
    ("more", "needless", "near"),
    [
        ({}, True, False),
        ({"paged_s": None}, False, False),
        ({"lowest_ratio": None}, False, False),
        ({"lowest_ratio": 0.15}, False, False),
        ({"lowest_ratio": 0.05}, False, True),
        ({"lowest_ratio": 0.0, "empty_s": 60.0}, False, False),
    ],
)
def test_a_page_is_false_page_where_the_bucket_stayed_far_from_empty(
    more: dict[str, Any], *, needless: bool, near: bool
) -> None:
    episode = an_episode(**more)
    assert (is_false_page(episode), is_near_miss(episode)) == (needless, near)


def test_the_three_changes_are_those_of_the_resources_that_were_empty_for_longest() -> None:
    some = [
        an_episode(resource_id=f"vol-{n}", name="", at_zero_s=60.0 * n, fix=f"change {n}")
        for n in range(5)
    ]
    message = digest_message(
        [*some, an_episode(resource_id="vol-9", at_zero_s=900.0)],
        deployment="test", lasts_s=7 * 86_400.0, requests_usd=None, charges=[], silences=[], not_watched=3, fixed_usd=2.5, is_of_one_function=False,
        links=Links(dashboard="https://x/{resource_id}", runbooks="https://y"), at=NOW,
    )  # fmt: skip
    assert message.links == ()  # a dashboard of one resource is none for all
    assert tuple(step.line for step in message.actions) == (
        "Top fixes:",
        "1. vol-4 (vol-4, 1 episode): change 4",
        "2. vol-3 (vol-3, 1 episode): change 3",
        "3. vol-2 (vol-2, 1 episode): change 2",
    )
    assert "Not watched: 3 resources, `burstwatch scan` says why" in message.facts
    assert (
        "Cost of watching: not known for metric requests, 2.50 USD for the deployment (list prices)"
        in message.facts
    )


def test_every_alarm_of_a_resource_knows_the_page_of_its_episode(cloud: Cloud) -> None:
    victim = live(cloud, find_kinds()["ec2_instance_ebs"])  # a warning, and then a page
    told = zip(cloud.aws.notifications, cloud.aws.descriptions, strict=True)
    ended = {name.partition("/")[0]: text for (_, name, state), text in told if state == "OK"}
    assert ended.keys() == {"burstwatch.warning", "burstwatch.critical"}
    assert all(", paged 2" in text for text in ended.values())
    # So the episode is one with a page, whichever of them is deleted last.
    times = read_timeline(ended["burstwatch.warning"], made_at=0.0)
    alarm = alarm_of(victim.id, "warning", times)
    assert of_alarms([alarm], unit="", closed_s=None).severity == "critical"


def test_a_warning_that_follows_a_page_is_no_event(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    found = run_sweep(cloud).snapshot
    paged = alarm_of(disk.id, "critical", Timeline(opened_s=NOW, paged_s=NOW))
    plan = replace(plan_alarms(found, [], CONFIG, now=NOW), existing={disk.id: (paged,)})
    assert list(words.events(found, plan, [(disk.id, "warning")], [], [], CONFIG)) == []
    ((severity, write),) = words.events(
        found, replace(plan, existing={}), [(disk.id, "warning")], [], [], CONFIG
    )
    assert (severity, write().event) == ("warning", "opened")


def test_the_words_of_many_are_changed_first_where_not_all_can_be(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm_plan, "MOST_REWRITTEN", 1)
    config, memory = replace(CONFIG, mass_from=5.0, hold_s=600.0), Memory()
    single = Disk(cloud, percent=40)
    for _ in range(5):
        single.minute(iops=3_000)
    run_sweep(cloud, memory, config=config)
    many = [Disk(cloud, percent=10) for _ in range(6)]
    for minute in range(60):
        began = cloud.clock.now
        for disk in (single, *many):
            cloud.clock.now = began
            disk.percent = disk.percent if minute < 2 else 100.0
            disk.minute(iops=3_000 if minute < 2 else 0)
        run_sweep(cloud, memory, config=config)
        cloud.aws.evaluate_alarms()
    told = list(zip(cloud.aws.notifications, cloud.aws.descriptions, strict=True))
    (over,) = [
        text
        for (_, name, state), text in told
        if ".critical/many_at_once" in name and state == "OK"
    ]
    assert over.startswith("RESOLVED many resources: no longer many are critical (")
    # No alarm ends before its text tells it.
    ends = [text for (_, _, state), text in told if state == "OK"]
    assert len(ends) >= 2
    assert all(text.startswith("RESOLVED ") for text in ends), ends


def test_an_open_episode_has_the_name_and_the_unit_of_its_alarm() -> None:
    at = "222222222222.eu-west-1"
    names = {
        "burstwatch.critical/db/vol-1/prod": ("", "db"),
        "burstwatch.critical/vol-1/prod": ("", ""),
        f"burstwatch@{at}.critical/db runs out/vol-1/prod": ("222222222222/eu-west-1", "db"),
        # As they were called until December 2026.
        "burstwatch/prod/db runs out, then 300 of 3,000 IOPS/vol-1/critical": ("", "db"),
        "burstwatch/prod/vol-1/critical": ("", ""),
        f"burstwatch/prod@{at}/db/vol-1/critical": ("222222222222/eu-west-1", "db"),
    }
    for name, (unit, resource_name) in names.items():
        parts = parse_alarm_name(name)
        assert parts is not None, name
        assert (parts.unit, parts.resource_name) == (unit, resource_name)
        assert (parts.severity, parts.deployment) == ("critical", "prod")
    for name in (
        "burstwatch-prod-not-paged", "orders/critical", "burstwatch.critical", "burstwatch/prod/db/vol-1/of-somebody",
        "burstwatchX.critical/db/vol-1/prod", "burstwatch.critical/prod", "burstwatch.exhausted/db/vol-1/prod", "",
    ):  # fmt: skip
        assert parse_alarm_name(name) is None, name


def test_an_alarm_that_somebody_silenced_by_hand_stays_so(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=40), Memory()
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud, memory)
    cloud.aws.evaluate_alarms()
    (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    alarm["ActionsEnabled"] = False
    while ", empty 2" not in alarm["AlarmDescription"]:
        disk.minute(iops=3_000)
        run_sweep(cloud, memory)
        (alarm,) = cloud.aws.regions["us-east-1"].alarms.values()
    assert alarm["ActionsEnabled"] is False


def test_an_event_that_cannot_be_written_costs_no_other(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, memory = Disk(cloud, percent=40), Disk(cloud, percent=40), Memory()
    for _ in range(5):
        first.minute(iops=3_000)
        cloud.clock.now -= 60
        second.minute(iops=3_000)
    real = words.message_of_new

    def broken(*args: Any) -> Message:
        if args[2] == first.id:
            raise OverflowError("year 10000")
        return real(*args)

    monkeypatch.setattr(words, "message_of_new", broken)
    swept = run_sweep(cloud, memory)
    assert [
        one["MessageAttributes"]["resourceId"]["StringValue"] for one in cloud.aws.published
    ] == [second.id]
    assert [problem.part for problem in swept.problems] == ["event critical"]
    assert swept.completed

"""Whatever a tag says, every message keeps the limits of whoever shows it."""

import json
import re
import unicodedata
from dataclasses import replace
from fnmatch import fnmatchcase
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.aws.client.names import (
    AlarmName,
    alarm_name,
    alarm_patterns,
    alarm_prefixes,
    effect_at_zero,
    foreign_name,
    parse_alarm_name,
)
from burstwatch.backtest.replay import volume
from burstwatch.config import Config, Links
from burstwatch.fixes.fix import Command, Fix
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import clock_time, countdown, hour_of, plain_name
from burstwatch.history.observations import BucketTerms, Limit, Resource, Verdict, Words
from burstwatch.kinds.base import AtZero
from burstwatch.messages.brief import Brief
from burstwatch.messages.message import (
    NO_ACTION,
    TITLE_LENGTH,
    Event,
    danger_message,
    danger_title,
    over_message,
)
from burstwatch.messages.shared import shared_by
from burstwatch.messages.text import (
    DESCRIPTION_LENGTH,
    LOOK_ALIKES,
    chat_message,
    description,
    email,
    subject,
)
from burstwatch.messages.timeline import Timeline, read_timeline
from burstwatch.shards import Unit

NOW = 1_790_000_040.0
#: Right to left, overriding, invisible, markup, control characters, emoji, everything.
ODD = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="\u05d0\u05d1\u202e\u2066\u200b\u0000\r\n\t<>`*_~|&@[](){}", max_size=60),
    st.sampled_from(["<!channel>", "[x](http://evil)", "Opened: 2026-01-01T00:00:00Z", "$(id)", "🔥" * 40]),
)  # fmt: skip
VOLUME_ID = "vol-0123456789abcdef0"
DISK = replace(volume("gp2", 100), id=VOLUME_ID, name="orders-db", unit="123456789012/eu-central-1")
BRIEF = Brief(
    resource=DISK,
    assessment=Assessment(
        verdict="critical",
        reason="",
        projection=Projection(state="finite", reason="", at=NOW, time_to_empty_s=7_140.0),
    ),
    metric_id=VOLUME_ID,
    does="run out",
    when="in 119 min at this load (16:13Z)",
    between="14:40Z at the earliest, 14:44Z at this load, 14:52Z at the latest if it lasts",
    chance="44% to run out by 16:14Z, counting that the load may stop",
    at_zero=AtZero(short="300 of 3,000 IOPS"),
    level="62%",
    fixes=(
        Fix(
            action="reduce the load",
            effect="it refills",
            takes="works immediately",
            usd_month=0.0,
            is_less_load=True,
        ),
        Fix(
            action="change to gp3 with 3,000 IOPS and 125 MiB/s",
            effect="uses no credits",
            takes="takes minutes to hours",
            usd_month=-2.0,
        ),
    ),
    cause="writes, 3,000 IOPS of 16 KiB",
    spenders="its processes",
    credits="62% left, 87% at 14:15Z",
    place="/dev/sdf of i-0123456789abcdef0 in 123456789012/eu-central-1",
    data="as of 14:36Z, newest datapoint 2 min old",
    exceeded="",
    undone_by="",
    console="https://console.aws.amazon.com/ec2/home?region=eu-central-1#VolumeDetails:volumeId=vol-0",
    graph="https://console.aws.amazon.com/cloudwatch/home#metricsV2:graph=" + "x" * 300,
)


def of(verdict: Verdict) -> Assessment:
    return replace(BRIEF.assessment, verdict=verdict)


TIMES = Timeline(opened_s=NOW, paged_s=NOW, empty_s=NOW + 60)


@given(
    name=ODD,
    caveat=ODD,
    event=st.sampled_from(["opened", "escalated", "empty"]),
    dashboard=st.integers(0, 3_000),
)
def test_a_message_of_any_tag_keeps_every_limit(
    name: str, caveat: str, event: Event, dashboard: int
) -> None:
    links = Links(dashboard="https://x/" + "d" * dashboard, runbooks="https://wiki.example.org/r")
    words = replace(DISK.words, caveats=(f"tag is {caveat!r}",))
    brief = replace(BRIEF, resource=replace(DISK, name=name, words=words))
    message = danger_message(brief, "critical", TIMES, links, event=event)
    text = description(message)
    # CloudWatch takes 1,024 characters, and ends a line of ours where we end it.
    assert len(text) <= 1_024
    assert text.split("\n")[0] == message.title
    assert text.split("\n")[1] == f"Where: {BRIEF.resource.id} ({BRIEF.type}), {BRIEF.place}"
    # A lock screen shows ninety characters; who, what, when and the effect are among them.
    assert len(message.title) <= TITLE_LENGTH
    assert message.title.startswith("CRITICAL 1 h 59 min left (16:13Z): ")
    assert message.title.endswith("credits, then 300 of 3,000 IOPS")
    assert text.index("Do now: reduce the load") < 220
    assert read_timeline(text, made_at=0.0) == TIMES
    assert not re.search("[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e]", text)
    # SNS takes ASCII of fewer than 100 characters for a subject.
    assert re.fullmatch(r"[!-~][ -~]{0,98}", subject(message))
    # Amazon Q cuts a title at 250 and a description at 8,000.
    chat = json.loads(chat_message(message))
    assert chat["content"]["title"] == message.title.translate(LOOK_ALIKES).replace("](", "] (")
    assert len(chat["content"]["description"]) <= 8_000
    assert "\n" not in chat["content"]["title"]
    assert not set("<>`*~") & set(chat["content"]["title"])
    assert chat["metadata"]["threadId"] == "123456789012/eu-central-1/vol-0123456789abcdef0"
    assert email(message).startswith(f"{message.title}\n{message.where}\n\nDo now: reduce the load")


@given(name=ODD, region=st.sampled_from(["eu-central-1", "ap-southeast-2"]))
def test_the_name_of_an_alarm_is_short_plain_and_its_own(name: str, region: str) -> None:
    home, foreign = (
        Unit(account="1" * 12, region="eu-central-1"),
        Unit(account="2" * 12, region=region),
    )
    names = set()
    for unit in (home, foreign):
        found = alarm_name(
            name, "vol-0123456789abcdef0", "critical",
            deployment="d" * 32, foreign="" if unit == home else foreign_name(unit),
        )  # fmt: skip
        assert found.startswith(alarm_prefixes("d" * 32))
        assert any(fnmatchcase(found, pattern) for pattern in alarm_patterns("d" * 32))
        # CloudWatch takes 255 characters without control characters; others count bytes.
        assert len(found.encode()) <= 255
        assert not any(unicodedata.category(letter)[0] in "CZ" for letter in found)
        assert found.isprintable()
        assert found.endswith(f"/vol-0123456789abcdef0/{'d' * 32}")
        assert "//" not in found
        names.add(found)
    assert len(names) == 2


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("データベース", "データベース"),
        ("emoji 🚀 db", "emoji-🚀-db"),
        ("orders \u2013 prod", "orders-prod"),
        ("база данных", "база-данных"),
        ("قاعدة البيانات", "قاعدة-البيانات"),
        ("डेटाबेस", "डेटाबेस"),
        ("Größe_1.de", "Größe_1.de"),
        ("a/b/critical", "a-b-critical"),
        ("tab\tnl\nname\u202e\u200b", "tab-nl-name"),
        ("x" * 255 + "1", "x" * 10 + "-" + "x" * 20 + "1"),
        ("🔥" * 40, "🔥" * 16),
        ("\u2013\u2014\u2026", ""),
    ],
)
def test_a_name_in_any_script_stays_in_the_name_of_the_alarm(name: str, kept: str) -> None:
    alarm = alarm_name(name, "vol-0123456789abcdef0", "critical", deployment="burstwatch")
    first = f"burstwatch.critical/{kept}/" if kept else "burstwatch.critical/"
    assert alarm == f"{first}vol-0123456789abcdef0/burstwatch"
    parts = parse_alarm_name(alarm)
    assert parts is not None
    assert parts.resource_name == kept


#: Letters of every width, written in either direction, and what nobody sees.
LETTERS = "abcXYZ019 -_./äß漢字データあआبג🚀é\u200b\u202e\n\t<>`"
DEVICES = ("/dev/sdf", "/dev/xvdba", "/dev/nvme26n1", "attached")


def any_text(random: Random, longest: int) -> str:
    return "".join(random.choices(LETTERS, k=random.randrange(longest)))


@pytest.mark.slow
def test_every_message_says_in_its_first_four_lines_which_host_device_volume_type_account_and_region() -> (
    None
):
    random = Random(20261126)  # noqa: S311 - the same messages each time
    for _ in range(10_000):
        host = f"i-{random.getrandbits(68):017x}"
        # As the kind of volumes names a host that people have named.
        named = f"{plain_name(any_text(random, 256))} ({host})" if random.random() < 0.5 else host
        unit = f"{random.randrange(10**12):012}/{random.choice(['us-east-1', 'ap-southeast-2'])}"
        device = random.choice(DEVICES)
        volume_id = f"vol-{random.getrandbits(68):017x}"
        words = replace(
            DISK.words,
            facts={"type": random.choice(["gp2 100 GiB", "st1 16384 GiB", "sc1 500 GiB"])},
            caveats=tuple(any_text(random, 200) for _ in range(random.randrange(3))),
        )
        brief = replace(
            BRIEF,
            resource=replace(
                DISK, id=volume_id, unit=unit, name=any_text(random, 256), words=words
            ),
            assessment=of(random.choice(["warning", "critical", "exhausted"])),
            place=f"{device} of {named} in {unit}",
            cause="c" * random.randrange(300),
            spenders="s" * random.randrange(120),
            at_zero=AtZero(short="z" * random.randrange(40), note="n" * random.randrange(300)),
            fixes=BRIEF.fixes * random.randrange(3),
        )
        links = Links(dashboard=f"https://x/{'d' * random.randrange(900)}", runbooks="https://w/r")
        event: Event = random.choice(["opened", "escalated", "empty"])
        told = danger_message(brief, "critical", TIMES, links, event=event)
        over = over_message(brief, volume_id, unit, TIMES, links, at=NOW)
        for message in (told, over):
            text = description(message)
            first = "\n".join(text.split("\n")[:4])
            assert len(text) <= 1_024
            assert all(word in first for word in (host, device, volume_id, brief.type, unit)), text
            assert not any(word in text.split("\n")[0] for word in ("\u202e", "\u200b"))
            assert len(message.title) <= TITLE_LENGTH


def test_the_subject_of_an_alarm_shows_the_volume_in_its_first_eighty_characters() -> None:
    name = alarm_name("orders-db", "vol-0123456789abcdef0", "critical", deployment="burstwatch")
    assert name == "burstwatch.critical/orders-db/vol-0123456789abcdef0/burstwatch"
    assert "orders-db/vol-0123456789abcdef0" in f'ALARM: "{name}" in EU (Frankfurt)'[:80]


def test_the_name_of_an_alarm_says_the_effect_where_a_lock_screen_shows_only_that() -> None:
    name = alarm_name(
        "orders-db", "vol-0123456789abcdef0", "critical", deployment="prod", effect=effect_at_zero("300 of 3,000 IOPS"),
    )  # fmt: skip
    assert (
        name
        == "burstwatch.critical/orders-db runs out, then 300 of 3,000 IOPS/vol-0123456789abcdef0/prod"
    )
    assert parse_alarm_name(name) == AlarmName(
        severity="critical", deployment="prod", foreign="", resource_name="orders-db"
    )


@given(
    name=ODD,
    effect=st.sampled_from(["", "300 of 3,000 IOPS", "2.9 of 100 MiB/s", "extra CPU is billed"]),
    deployment=st.sampled_from(["burstwatch", "d" * 32]),
)
@example(name="runs", effect="300 of 3,000 IOPS", deployment="burstwatch")
@example(name="runs out", effect="", deployment="burstwatch")
def test_an_alarm_with_an_effect_still_shows_the_id_in_a_subject_and_gives_the_name_back(
    name: str, effect: str, deployment: str
) -> None:
    volume = "vol-0123456789abcdef0"
    alarm, plain = (
        alarm_name(name, volume, "critical", deployment=deployment, effect=words)
        for words in (effect_at_zero(effect), "")
    )
    assert alarm.split("/")[-2:] == [volume, deployment]
    assert volume in f'ALARM: "{alarm}'[:100] or alarm == plain
    assert parse_alarm_name(alarm) == parse_alarm_name(plain)


@pytest.mark.parametrize("seconds", [1.0, 119.0, 599.0, 1_020.0, 7_100.0, 80_000.0])
@pytest.mark.parametrize(
    "left",
    ["300 of 3,000 IOPS", "12,000 of 64,000 IOPS", "extra CPU is billed", "17% of 192 vCPUs"],
)
@pytest.mark.parametrize("credit_name", ["burst credits", "CPU credits", "free CPU credits"])
@pytest.mark.parametrize("name", ["", "orders-db", "payments-prod-primary-postgres-1"])
def test_a_title_has_severity_who_time_and_effect_in_ninety_characters(
    seconds: float, left: str, credit_name: str, name: str
) -> None:
    words = replace(DISK.words, credit_name=credit_name)
    projection = replace(BRIEF.assessment.projection, time_to_empty_s=seconds)
    brief = replace(
        BRIEF,
        resource=replace(DISK, name=name, words=words),
        assessment=replace(BRIEF.assessment, projection=projection),
        at_zero=AtZero(short=left),
    )
    title = danger_title(brief, "critical")
    assert len(title) <= TITLE_LENGTH
    who = name or BRIEF.resource.id
    empty_at = hour_of(projection.at + seconds)
    assert title.startswith(f"CRITICAL {countdown(seconds)} left ({empty_at}): {who[:4]}")
    assert re.search(rf"{re.escape(who[-7:])}( \w.*credits| credits)?, then ", title)
    assert title.endswith(f", then {left}")
    # A lock screen shows some forty characters.
    assert f"{who[:4]}" in title[:40]


@pytest.mark.parametrize(
    ("verdict", "brief", "title"),
    [
        ("ok", BRIEF, "RESOLVED orders-db: burst credits back at 62% (14:14Z), ran out at 14:15Z"),
        (
            "ok",
            replace(BRIEF, ended_because="not in use any more"),
            "RESOLVED orders-db: not in use any more (14:14Z)",
        ),
        ("warning", BRIEF, "WARNING orders-db: no longer critical (14:14Z), still a warning"),
        ("unknown", None, "RESOLVED vol-0123456789abcdef0: deleted or no longer watched (14:14Z)"),
    ],
)
def test_an_alarm_that_is_over_does_not_repeat_the_danger(
    verdict: Verdict, brief: Brief | None, title: str
) -> None:
    told = None if brief is None else replace(brief, assessment=of(verdict), when="in 8 min")
    message = over_message(
        told, BRIEF.resource.id, BRIEF.resource.unit, TIMES, Config().links, at=NOW
    )
    assert message.title == title
    todo = "Do now: follow its warning alarm" if verdict == "warning" else NO_ACTION.line
    assert [step.line for step in message.actions] == [todo]
    assert "run out in" not in description(message)


def test_a_time_on_another_day_has_its_date() -> None:
    assert clock_time(NOW, now=NOW) == "14:14Z"
    assert clock_time(NOW + 86_400, now=NOW) == "22 Sep 14:14Z"


def test_a_fix_that_is_soon_comes_first_and_says_what_it_costs() -> None:
    message = danger_message(BRIEF, "critical", TIMES, Config().links, event="escalated")
    assert tuple(step.line for step in message.actions) == (
        "Do now: reduce the load. It refills",
        "Look at: its processes",
        "Do next: change to gp3 with 3,000 IOPS and 125 MiB/s (2.00 USD a month less, takes minutes to hours): uses no credits",
    )


@pytest.mark.parametrize(
    ("tags", "owner"),
    [
        ({"Team": "payments"}, "Team payments"),
        ({"owner": "ann@example.org", "team": "db"}, "owner ann@example.org, team db"),
        ({"Name": "orders-db", "cost-center": "12"}, None),
        ({"owner": ""}, None),
    ],
)
def test_a_message_says_who_owns_the_resource_by_its_tags(
    tags: dict[str, str], owner: str | None
) -> None:
    brief = replace(BRIEF, resource=replace(BRIEF.resource, tags=tags))
    message = danger_message(brief, "critical", TIMES, Config().links, event="escalated")
    said = [fact.removeprefix("Owner: ") for fact in message.facts if fact.startswith("Owner: ")]
    assert said == ([owner] if owner else [])


def test_a_command_never_stands_without_the_note_on_who_may_undo_it_nor_in_place_of_the_cause() -> (
    None
):
    """The description of an alarm is short. A long command is left to the e-mail."""
    for length in (100, 400, 700):
        fix = Fix(
            action="change to t3.xlarge",
            effect="covers the current load",
            takes="works immediately",
            commands=(
                Command(service="ec2", operation="StopInstances", region="us-east-1", parameters={"InstanceIds": ["i-" + "0" * length]}),
            ),
        )  # fmt: skip
        brief = replace(
            BRIEF, fixes=(fix,), cause="CPU at 95% of 2 vCPUs", undone_by="the stack shop made it"
        )
        message = danger_message(
            brief,
            "warning",
            TIMES,
            Links(dashboard="https://x/d", runbooks="https://w/r"),
            event="opened",
        )
        text = description(message)
        assert len(text) <= DESCRIPTION_LENGTH
        assert "CPU at 95% of 2 vCPUs" in text
        if "Command: " in text:
            assert "Note: the stack shop made it" in text
        assert "Command: aws ec2 stop-instances" in email(message)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.4, "0 s"),
        (59.9, "59 s"),
        (60.0, "1 min"),
        (119.0, "1 min 59 s"),
        (599.9, "9 min 59 s"),
        (600.0, "10 min"),
        (3_599.0, "59 min"),
        (7_200.0, "2 h"),
        (86_399.0, "23 h"),
        (10 * 86_400.0, "10 d"),
    ],
)
def test_the_time_that_is_left_is_to_the_second_under_ten_minutes_and_never_too_long(
    seconds: float, shown: str
) -> None:
    assert countdown(seconds) == shown


def a_volume(number: int, *, host: str, zone: str, **tags: str) -> Resource:
    return Resource(kind="ebs_volume", id=f"vol-{number}", name="", unit="123456789012/us-east-1", bucket=None, terms=BucketTerms(no_bucket_reason="gp3"), limit=Limit(rate=1.0, binding=""), parents=(host,), words=Words(facts={"zone": zone}), tags={"Name": str(number), **tags})  # fmt: skip


@pytest.mark.parametrize(
    ("volumes", "shared"),
    [
        ([a_volume(1, host="i-1", zone="a")], ""),
        ([a_volume(1, host="i-1", zone="a"), a_volume(2, host="i-2", zone="b")], ""),
        ([a_volume(1, host="i-1", zone="a"), a_volume(2, host="i-2", zone="a")], "the zone a"),
        ([a_volume(n, host="i-1", zone="a", team="x", env="y") for n in range(3)], "the instance i-1, the tag env=y and the tag team=x"),
        ([a_volume(n, host=f"i-{n // 3}", zone="a") for n in range(4)], "the instance i-0 (3 of 4) and the zone a"),
        ([a_volume(n, host=f"i-{n // 2}", zone="a") for n in range(4)], "the zone a"),
        ([a_volume(n, host=f"i-{n}", zone="", team="x", owner=str(n)) for n in range(3)], "the tag team=x"),
        (
            [a_volume(n, host=f"i-{n}", zone="", **{"eks:cluster-name": "shop", "aws:x": "y"}) for n in range(3)],
            "the cluster shop",
        ),
    ],
)  # fmt: skip
def test_what_all_or_most_of_many_share_is_named_the_narrowest_first(
    volumes: list[Resource], shared: str
) -> None:
    assert shared_by(volumes) == shared


@pytest.mark.parametrize(
    ("chat", "runbook"),
    [("slack", "<https://w/r/x.md|Runbook>"), ("teams", "[Runbook](https://w/r/x.md)")],
)
def test_a_chat_message_has_its_links_by_name_in_one_line_and_twelve_lines_in_all(
    chat: str, runbook: str
) -> None:
    links = Links(dashboard="https://x/{resource_id}(1)", runbooks="https://w/r")
    message = danger_message(BRIEF, "critical", TIMES, links, event="opened")
    message = replace(message, links=(("Runbook", "https://w/r/x.md"), *message.links[1:]))
    content = json.loads(chat_message(message, chat))["content"]
    last = content["description"].rpartition("\n")[2]
    assert last.startswith(f"{runbook} · ")
    assert "Dashboard" in last
    assert "https://x/vol-0123456789abcdef0%281%29" in last
    # A dashboard shows what the graph shows, whose address is longer than the rest of the message.
    assert "Graph" not in last
    lines = [content["title"], *content["description"].split("\n"), *content["nextSteps"]]
    assert len(lines) <= 12


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("\u30c7\u30fc\u30bf", ": vol-0123456789abcdef0 burst credits"),
        ("a : b", ": a : b burst credits"),
    ],
)
def test_a_subject_has_the_id_only_where_nothing_is_left_of_the_name(name: str, named: str) -> None:
    message = danger_message(
        replace(BRIEF, resource=replace(DISK, name=name)),
        "critical",
        TIMES,
        Config().links,
        event="opened",
    )
    assert named in subject(message)

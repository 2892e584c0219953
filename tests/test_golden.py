"""What on-call receives, whole, as files that a reviewer sees change. `make gen` rewrites them."""

import re
from pathlib import Path

import pytest

from burstwatch.kinds import find_kinds
from burstwatch.messages.message import NO_ACTION, TITLE_LENGTH
from tests.goldens import CASES, FOLDER, golden_path, messages

UNIT = "123456789012/us-east-1"


@pytest.mark.parametrize(
    "name",
    [
        name if name in {"ebs_volume", "mass"} else pytest.param(name, marks=pytest.mark.slow)
        for name in CASES
    ],
)
def test_the_messages_are_the_golden_ones(name: str) -> None:
    assert golden_path(name).read_text(encoding="utf-8") == messages(CASES[name]), "run 'make gen'"


def test_every_golden_file_has_its_case() -> None:
    assert {path.stem for path in golden_path("any").parent.iterdir()} == {*CASES, "doctor"}


@pytest.mark.parametrize(
    "name",
    [
        name if name in {"ebs_volume", "mass"} else pytest.param(name, marks=pytest.mark.slow)
        for name in CASES
    ],
)
def test_a_message_begins_with_the_severity_the_resource_the_time_the_place_and_the_first_action(
    name: str,
) -> None:
    texts = re.split(
        r"^====.*\n(?:Subject:.*\n\n)?", golden_path(name).read_text(), flags=re.MULTILINE
    )
    plain = [text for text in texts if text and not text.startswith("{")]
    assert plain
    for text in plain:
        title, where, action = text.replace("\n\n", "\n").split("\n", 3)[:3]
        assert len(title) <= TITLE_LENGTH, title
        assert re.match(r"(CRITICAL|WARNING|RESOLVED|DRILL|DRILL over) .+: ", title), title
        assert re.search(r"\d\d:\d\dZ", title) or name == "drill", title
        assert where.startswith("Where: ")
        assert UNIT in where, where
        assert action.startswith(("Do now: ", NO_ACTION.line))
        assert text.index(action) < 250
        assert not re.search("works at once|costs nothing|not known|nothing to do", text)


@pytest.mark.parametrize("name", find_kinds())
def test_a_page_of_each_kind_says_which_thing_of_which_type_where(name: str) -> None:
    """In its first four lines, before anything that is true of every incident."""
    pages = re.findall(
        r"^==== ALARM to .*\n((?:.+\n){4})", golden_path(name).read_text(), re.MULTILINE
    )
    assert pages
    for page in pages:
        _, where, *_ = page.split("\n")
        thing, kind_of, place = re.fullmatch(r"Where: (\S+) \((.+?)\), (.+)", where).groups()  # type: ignore[union-attr]
        assert thing
        assert kind_of
        assert place.endswith(UNIT)
        assert "/dev/" in place or name != "ebs_volume"


@pytest.mark.parametrize(
    "name",
    [
        name if name in {"ebs_volume", "mass"} else pytest.param(name, marks=pytest.mark.slow)
        for name in CASES
    ],
)
def test_every_link_of_a_message_opens_on_a_phone(name: str) -> None:
    text = golden_path(name).read_text()
    links = re.findall(r"(?:Runbook|Dashboard|Console|Graph): (\S+)", text)
    links += re.findall(r"<(\S+)\|(?:Runbook|Dashboard|Console|Graph)>", text)
    assert links
    assert all(link.startswith("https://") for link in links)
    assert not re.search(r"[{]\w+[}]|example\.com|TODO|<[a-z-]+>", "\n".join(links))


ALARM = re.compile(r"==== ALARM to (?:page|notice): [^\n]*\n(.*?)\n\n", re.DOTALL)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*_*.txt")), ids=lambda path: path.stem)
def test_an_alarm_keeps_what_makes_it_honest_however_long_its_command_is(path: Path) -> None:
    """Until when at which load, how likely, and what is left with its age."""
    alarms = ALARM.findall(path.read_text(encoding="utf-8"))
    assert alarms
    for text in alarms:
        assert len(text) <= 1_024
        for line in ("Runs out: ", "Chance: ", "Credits: "):
            assert f"\n{line}" in text, text


def test_a_warning_asks_nothing_of_the_night_and_a_page_does() -> None:
    text = (FOLDER / "ebs_volume.txt").read_text(encoding="utf-8")
    warning, page = ALARM.findall(text)
    assert "Do now: nothing; a page follows" in warning
    assert "Do next" not in warning
    assert "Do now: nothing" not in page


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*_*.txt")), ids=lambda path: path.stem)
def test_when_credits_are_back_is_said_only_where_aws_publishes_how_many_there_are(
    path: Path,
) -> None:
    text = path.read_text(encoding="utf-8")
    assert "unpublished size" not in text or "half of them are back" not in text


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*_*.txt")), ids=lambda path: path.stem)
def test_nobody_is_told_to_stop_a_resource_without_asking_first(path: Path) -> None:
    lines = re.findall(
        r"^(Do now|Do next|Would help|Ask its owner|By day): (.*)$",
        path.read_text(),
        flags=re.MULTILINE,
    )
    assert lines
    for label, text in lines:
        stops = "the instance stops" in text or "unavailable" in text or "a new cluster" in text
        assert (label == "Ask its owner") == stops, text

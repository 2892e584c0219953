"""Maintenance windows and the tags that ask for them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.config import parse_config
from burstwatch.owner_tags import Snooze, parse_snooze, parse_windows, quiet_until, read_owner_tags


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("windows", "now", "until"),
    [
        ("02:00-04:00", "2026-11-21T02:00", "2026-11-21T04:00"),
        ("02:00-04:00", "2026-11-21T03:59:59", "2026-11-21T04:00"),
        ("02:00-04:00", "2026-11-21T04:00", None),
        ("02:00-04:00", "2026-11-21T01:59", None),
        ("Sat 22:00-01:30", "2026-11-21T23:00", "2026-11-22T01:30"),
        ("Sat 22:00-01:30", "2026-11-22T01:00", "2026-11-22T01:30"),  # a Sunday
        ("Sat 22:00-01:30", "2026-11-22T23:00", None),
        ("Sat 22:00-01:30", "2026-11-21T01:00", None),
        ("Fri-Mon 00:00-00:00", "2026-11-22T13:00", "2026-11-23T00:00"),
        ("Fri-Mon 00:00-00:00", "2026-11-24T13:00", None),
        ("Mon+Sat 12:00-13:00 / 12:30-14:00", "2026-11-21T12:45", "2026-11-21T14:00"),
    ],
)
def test_a_window_is_open_from_its_beginning_to_before_its_end(
    windows: str, now: str, until: str | None
) -> None:
    found = quiet_until(parse_windows(windows), at(now))
    assert found == (None if until is None else at(until))


@pytest.mark.parametrize(
    ("text", "until", "reason"),
    [
        ("2026-11-23T18:36Z", "2026-11-23T18:36", ""),
        (" 2026-11-23T18:36Z ticket OPS-12: a/b ", "2026-11-23T18:36", "ticket OPS-12: a/b"),
    ],
)
def test_a_snooze_has_an_end_and_a_reason(text: str, until: str, reason: str) -> None:
    assert parse_snooze(text) == Snooze(until_s=at(until), reason=reason)


@pytest.mark.parametrize(
    "text", ["", "4h", "2026-13-01T00:00Z", "2026-11-23T18:36Z a;b", "2026-11-23 18:36"]
)
def test_a_snooze_that_is_not_understood_is_refused_and_silences_nothing(text: str) -> None:
    found = read_owner_tags({"burstwatch:snooze": text})
    assert found.snooze is None
    assert "allowed: a time in UTC" in found.refused["burstwatch:snooze"]


def test_a_window_of_no_days_and_no_text_is_never_open() -> None:
    assert parse_windows("") == ()
    assert quiet_until((), 0.0) is None


@given(
    begins=st.integers(0, 1_439), lasts=st.integers(1, 1_440), now=st.floats(1e9, 2e9),
)  # fmt: skip
def test_a_daily_window_is_open_for_its_share_of_every_day(
    begins: int, lasts: int, now: float
) -> None:
    ends = (begins + lasts) % 1_440
    text = f"{begins // 60:02d}:{begins % 60:02d}-{ends // 60:02d}:{ends % 60:02d}"
    until = quiet_until(parse_windows(text), now)
    is_open = (now / 60 - begins) % 1_440 < lasts
    assert (until is not None) == is_open
    if until is not None:
        assert 0 < until - now <= lasts * 60


def test_wishes_are_read_from_tags() -> None:
    tags = {
        "burstwatch:watch": "No",
        "burstwatch:lead_s": "1800",
        "burstwatch:maintenance": "Sun 02:00-04:00",
        "Name": "db",
    }
    wishes = read_owner_tags(tags)
    assert (wishes.watch, wishes.lead_s, len(wishes.windows)) == (False, 1_800, 1)
    assert not wishes.refused


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        ("burstwatch:watch", "perhaps"),
        ("burstwatch:lead_s", "soon"),
        ("burstwatch:lead_s", "nan"),
        ("burstwatch:lead_s", "5"),
        ("burstwatch:maintenance", "always"),
        ("burstwatch:maintenance", "25:00-26:00"),
        ("burstwatch:maintenance", "Caturday 02:00-04:00"),
    ],
)
def test_a_tag_that_is_not_understood_is_refused_with_what_is_allowed(tag: str, value: str) -> None:
    wishes = read_owner_tags({tag: value})
    assert wishes.watch
    assert wishes.lead_s is None
    assert wishes.windows == ()
    assert "allowed" in wishes.refused[tag]
    assert repr(value) in wishes.refused[tag]


def test_a_window_in_the_settings_that_is_not_understood_is_refused() -> None:
    assert parse_config({"maintenance": "Sun 02:00-04:00"}).maintenance == "Sun 02:00-04:00"
    with pytest.raises(ValueError, match="maintenance is 'tonight'; allowed: hours in UTC"):
        parse_config({"maintenance": "tonight"})

"""What a tag has kept from alarms for long is told, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from burstwatch.formatting import DAY
from burstwatch.messages.silence import (
    LONG_S,
    MOST_LOGGED,
    OLD_S,
    Silence,
    SilenceList,
    logged,
    overdue,
    overdue_words,
)

NOW = 1_790_000_000.0
#: For each day up to today, whether the tag was there.
DAYS = st.lists(st.booleans(), min_size=1, max_size=12)
ENDS = st.none() | st.integers(-5, 60).map(lambda days: NOW + days * DAY)


def lists_of(days: Sequence[bool], until_s: float | None) -> list[SilenceList]:
    """A list a day, the last one of today."""
    silence = Silence(resource_id="vol-1", name="db", until_s=until_s)
    return [
        SilenceList(
            part="1/r",
            at=NOW - (len(days) - 1 - number) * DAY,
            silences=(silence,) if is_there else (),
        )
        for number, is_there in enumerate(days)
    ]


@given(days=DAYS, until_s=ENDS)
def test_it_is_told_of_once_it_has_been_there_for_a_week_or_ends_in_more_than_thirty_days(
    days: list[bool], until_s: float | None
) -> None:
    unbroken = next((n for n, is_there in enumerate(reversed(days)) if not is_there), len(days))
    has_ended = until_s is not None and until_s <= NOW
    is_long = until_s is not None and until_s - NOW > LONG_S
    expected = unbroken > 0 and not has_ended and ((unbroken - 1) * DAY >= OLD_S or is_long)
    assert bool(overdue(lists_of(days, until_s), now=NOW)) == expected


@given(days=DAYS, until_s=ENDS, data=st.data())
def test_the_order_of_lines_and_lines_that_come_twice_change_nothing(
    days: list[bool], until_s: float | None, data: st.DataObject
) -> None:
    lists = lists_of(days, until_s)
    shuffled = data.draw(st.permutations([*lists, *lists]))
    assert overdue(shuffled, now=NOW) == overdue(lists, now=NOW)


def test_of_a_part_that_is_swept_no_more_nothing_is_known() -> None:
    lists = lists_of([True] * 12, None)
    assert overdue(lists, now=NOW)
    assert not overdue(lists, now=NOW + 3 * DAY)


def test_the_end_has_its_year() -> None:
    silences = [Silence(resource_id=f"vol-{number}", name="", until_s=None) for number in range(7)]
    end = Silence(resource_id="vol-9", name="db", until_s=253_402_300_740.0)
    assert overdue_words([end], named=5).endswith(": db (vol-9) until 31 Dec 9999 23:59Z")
    assert overdue_words([*silences, end], named=2).endswith(
        ": vol-0 without an end; vol-1 without an end; and 6 more"
    )


def test_of_very_many_those_that_last_longest_are_logged() -> None:
    silences = [
        Silence(resource_id=f"vol-{number}", name="", until_s=NOW + number) for number in range(900)
    ]
    endless = [Silence(resource_id=f"i-{number}", name="", until_s=None) for number in range(300)]
    for some in (silences, endless, [*silences, *endless]):
        assert len(logged(some)) == MOST_LOGGED
    both = logged([*silences, endless[0]])
    assert len(both) == MOST_LOGGED
    assert [silence.resource_id for silence in both[:2]] == ["i-0", "vol-899"]
    assert "vol-899" in {silence.resource_id for silence in logged([*silences, *endless])}


def test_all_parts_are_counted() -> None:
    lists = [
        replace(
            one,
            part=f"{part}/r",
            silences=tuple(
                Silence(resource_id=f"vol-{part}-{number}", name="", until_s=None)
                for number in range(MOST_LOGGED)
            ),
        )
        for part in range(3)
        for one in lists_of([True] * 9, None)
    ]
    assert overdue_words(overdue(lists, now=NOW), named=1).startswith("600 resources ")

"""Settings that owners put on a resource as tags: not to watch it, another lead, maintenance, a snooze.

Only characters that every AWS service takes in a tag are needed: no comma, no semicolon.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from burstwatch.formatting import clock_time, plain_name

WATCH_TAG = "burstwatch:watch"
LEAD_TAG = "burstwatch:lead_s"
MAINTENANCE_TAG = "burstwatch:maintenance"
SNOOZE_TAG = "burstwatch:snooze"
OWNER_TAGS = (WATCH_TAG, LEAD_TAG, MAINTENANCE_TAG, SNOOZE_TAG)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SHORTEST_LEAD_S, LONGEST_LEAD_S = 60.0, 86_400.0

_DAY = f"(?:{'|'.join(DAYS)})"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
_WINDOW = rf"(?:{_DAY}(?:[+-]{_DAY})* )?{_CLOCK}-{_CLOCK}"
#: `Sat+Sun 02:00-04:00 / Mon-Fri 22:00-01:30`, in UTC.
WINDOWS_PATTERN = rf"{_WINDOW}(?: / {_WINDOW})*"
WINDOWS_ALLOWED = "hours in UTC such as 02:00-04:00, Mon-Fri 22:00-01:30 or Sat+Sun 00:00-06:00; several are separated by ' / '"
#: `2026-11-23T18:36Z disk is being replaced`
_SNOOZE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\dZ)(?: ([\w .:/=+@-]{1,200}))?", re.ASCII)
REASON_ALLOWED = "a reason of up to 200 letters, digits, spaces and . : / = + @ - _"
SNOOZE_ALLOWED = f"a time in UTC such as 2026-11-23T18:36Z, and {REASON_ALLOWED}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Snooze:
    """Until when a resource gets no new alarm, as unix seconds, and why."""

    until_s: float
    reason: str

    @property
    def value(self) -> str:
        """The value of the tag."""
        return (
            f"{datetime.fromtimestamp(self.until_s, tz=UTC):%Y-%m-%dT%H:%MZ} {self.reason}".rstrip()
        )

    def note(self, now: float) -> str:
        """Describe it for people."""
        reason = f": {self.reason}" if self.reason else ""
        return f"snoozed until {clock_time(self.until_s, now=now)}, no new alarm is made{reason}"


def parse_snooze(text: str) -> Snooze:
    """The snooze in the value of a tag.

    Raises:
        ValueError: saying what is allowed.
    """
    match = _SNOOZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(SNOOZE_ALLOWED)
    try:
        until = datetime.strptime(match[1], "%Y-%m-%dT%H:%M%z")
    except ValueError:
        raise ValueError(SNOOZE_ALLOWED) from None
    return Snooze(until_s=until.timestamp(), reason=match[2] or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Hours of some days of the week in UTC. One that ends before it begins ends the next day."""

    days: frozenset[int]
    begins: timedelta
    ends: timedelta

    def until(self, at: float) -> float | None:
        """The end of the window that is open at ``at``, or None when none is."""
        now = datetime.fromtimestamp(at, tz=UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        lasts = (self.ends - self.begins) % timedelta(days=1) or timedelta(days=1)
        for day in (midnight, midnight - timedelta(days=1)):
            begins = day + self.begins
            if day.weekday() in self.days and begins <= now < begins + lasts:
                return (begins + lasts).timestamp()
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerTags:
    """The settings in a resource's tags. ``refused`` are invalid tags, with the value and what is allowed."""

    watch: bool = True
    lead_s: float | None = None
    windows: tuple[Window, ...] = ()
    snooze: Snooze | None = None
    refused: Mapping[str, str]


def read_owner_tags(tags: Mapping[str, str]) -> OwnerTags:
    """The settings in the tags of one resource. An invalid value is refused, not guessed."""
    refused: dict[str, str] = {}
    watch = tags.get(WATCH_TAG, "yes").strip().lower()
    if watch not in {"yes", "no"}:
        refused[WATCH_TAG] = f"is {_quoted(watch)}; allowed: yes and no"
    lead_s = None
    if LEAD_TAG in tags:
        lead_s = _parse_lead(tags[LEAD_TAG])
        if lead_s is None:
            allowed = f"a number of seconds from {SHORTEST_LEAD_S:g} to {LONGEST_LEAD_S:g}"
            refused[LEAD_TAG] = f"is {_quoted(tags[LEAD_TAG])}; allowed: {allowed}"
    windows: tuple[Window, ...] = ()
    text = tags.get(MAINTENANCE_TAG, "").strip()
    if re.fullmatch(WINDOWS_PATTERN, text):
        windows = parse_windows(text)
    elif text:
        refused[MAINTENANCE_TAG] = f"is {_quoted(text)}; allowed: {WINDOWS_ALLOWED}"
    snooze = None
    if SNOOZE_TAG in tags:
        try:
            snooze = parse_snooze(tags[SNOOZE_TAG])
        except ValueError as error:
            refused[SNOOZE_TAG] = f"is {_quoted(tags[SNOOZE_TAG])}; allowed: {error}"
    return OwnerTags(
        watch=watch != "no", lead_s=lead_s, windows=windows, snooze=snooze, refused=refused
    )


def _quoted(text: str) -> str:
    """What somebody wrote, short enough to say nothing else with it."""
    return repr(plain_name(text))


def parse_windows(text: str) -> tuple[Window, ...]:
    """The windows of a text that matches ``WINDOWS_PATTERN``; none of an empty one."""
    return tuple(_window(part) for part in text.split(" / ") if part)


def quiet_until(windows: tuple[Window, ...], at: float) -> float | None:
    """The end of the last of the windows open at ``at``, or None when none is open."""
    return max((end for window in windows if (end := window.until(at)) is not None), default=None)


def _window(text: str) -> Window:
    days, _, clocks = text.rpartition(" ")
    begins, _, ends = clocks.partition("-")
    return Window(days=_days(days), begins=_clock(begins), ends=_clock(ends))


def _days(text: str) -> frozenset[int]:
    """Parse days of the week such as ``Mon-Fri+Sun`` into their numbers, Monday 0; empty is every day."""
    if not text:
        return frozenset(range(len(DAYS)))
    days: set[int] = set()
    for part in text.split("+"):
        begin, *ends = (DAYS.index(day) for day in part.split("-"))
        last = ends[-1] if ends else begin
        days |= {day % len(DAYS) for day in range(begin, begin + (last - begin) % len(DAYS) + 1)}
    return frozenset(days)


def _clock(text: str) -> timedelta:
    hours, _, minutes = text.partition(":")
    return timedelta(hours=int(hours), minutes=int(minutes))


def _parse_lead(text: str) -> float | None:
    """Parse the seconds of warning that an owner wants; None for what is not allowed."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if SHORTEST_LEAD_S <= seconds <= LONGEST_LEAD_S else None

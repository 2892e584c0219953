"""Keeps what happened in an episode in the alarm's own description, so that no sweep has to remember it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

#: ``Times: opened 2026-01-31T14:28:00Z, paged 2026-01-31T14:30:00Z``; before, each time had a line of its own.
_LINE = re.compile(r"^(?:Times: opened|Opened:|Paged:|Empty:|Over:) \d{4}-.*$", re.MULTILINE)
_TIME = re.compile(
    r"(opened|paged|empty|changing|unknown|over):? (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?=,|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """Times of an episode in unix seconds: its first alarm, its page, an empty bucket, its end.

    ``changing_s`` is since when a change of the resource is under way, and None while there is none. ``unknown_s`` is
    when the text was written without a balance, and None where it has one.
    """

    opened_s: float
    paged_s: float | None = None
    empty_s: float | None = None
    changing_s: float | None = None
    unknown_s: float | None = None
    over_s: float | None = None

    @property
    def line(self) -> str:
        """All times in one line, which ``read_timeline`` reads."""
        times = {
            "opened": self.opened_s,
            "paged": self.paged_s,
            "empty": self.empty_s,
            "changing": self.changing_s,
            "unknown": self.unknown_s,
            "over": self.over_s,
        }
        known_times = [f"{name} {_iso(at)}" for name, at in times.items() if at is not None]
        return f"Times: {', '.join(known_times)}"


def read_timeline(description: str, *, made_at: float) -> Timeline:
    """The times in an alarm's description. Without any, the alarm was opened when it was made."""
    lines = "\n".join(_LINE.findall(description))
    texts: Mapping[str, str] = {
        name.lower(): text for name, text in re.findall(_TIME, lines.replace("\n", ", "))
    }
    times = {name: at for name, text in texts.items() if (at := _seconds(text)) is not None}
    return Timeline(
        opened_s=times.get("opened", made_at),
        paged_s=times.get("paged"),
        empty_s=times.get("empty"),
        changing_s=times.get("changing"),
        unknown_s=times.get("unknown"),
        over_s=times.get("over"),
    )


def merge_timelines(timelines: Sequence[Timeline]) -> Timeline:
    """The times of all alarms of one resource, of which there is one at least. None is over."""

    def first(times: Sequence[float | None]) -> float | None:
        return min((at for at in times if at is not None), default=None)

    return Timeline(
        opened_s=min(timeline.opened_s for timeline in timelines),
        paged_s=first([timeline.paged_s for timeline in timelines]),
        empty_s=first([timeline.empty_s for timeline in timelines]),
        changing_s=first([timeline.changing_s for timeline in timelines]),
    )


def _iso(at: float) -> str:
    return f"{datetime.fromtimestamp(at, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"


def _seconds(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except ValueError:  # edited by hand, and no date
        return None

"""Keeps what happened in an episode in the alarm's own description, so that no sweep has to remember it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

_LINE = re.compile(r"^(Opened|Paged|Empty|Over): (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """Times of an episode in unix seconds: its first alarm, its page, an empty bucket, its end."""

    opened_s: float
    paged_s: float | None = None
    empty_s: float | None = None
    over_s: float | None = None

    def lines(self) -> list[str]:
        """A line for each time, which ``read_timeline`` reads."""
        times = {
            "Opened": self.opened_s,
            "Paged": self.paged_s,
            "Empty": self.empty_s,
            "Over": self.over_s,
        }
        return [f"{name}: {_iso(at)}" for name, at in times.items() if at is not None]


def read_timeline(description: str, *, made_at: float) -> Timeline:
    """The times in an alarm's description. Without any, the alarm was opened when it was made."""
    found: Mapping[str, str] = dict(_LINE.findall(description))
    times = {name: _seconds(text) for name, text in found.items()}
    return Timeline(
        opened_s=times.get("Opened", made_at),
        paged_s=times.get("Paged"),
        empty_s=times.get("Empty"),
        over_s=times.get("Over"),
    )


def _iso(at: float) -> str:
    return f"{datetime.fromtimestamp(at, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"


def _seconds(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").timestamp()

"""What led up to an assessment: the load of the last minutes, and since when it drains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstwatch.ebs.load import Load
    from burstwatch.history.history import History

#: So long the load that was seen is told as the cause; after that it may be another.
LOAD_TELLS_S = 1_800.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Background:
    """What led up to an assessment: the load before ``load_at``, and since when it drains."""

    load: Load | None = None
    load_at: float | None = None
    since_s: float | None = None
    since_ratio: float | None = None


def make_background(history: History | None, load: Load | None, at: float) -> Background:
    """What is known of the time before ``at``."""
    load_at = None if load is None else at
    if history is None or history.newest_level() < 0:
        return Background(load=load, load_at=load_at)
    since_s, ratio = history.drain_began()
    return Background(load=load, load_at=load_at, since_s=since_s, since_ratio=ratio)


def with_earlier(background: Background, earlier: Background | None, now: float) -> Background:
    """The background, with the load of an earlier look where this one did not ask for it."""
    if background.load is not None or earlier is None or earlier.load_at is None:
        return background
    if now - earlier.load_at > LOAD_TELLS_S:
        return background
    return replace(background, load=earlier.load, load_at=earlier.load_at)

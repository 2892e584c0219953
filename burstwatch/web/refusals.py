"""Counts what the server refuses, and logs it at most once a minute."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal, get_args

from burstwatch.web.exposition import Page, counter

LOG = logging.getLogger("burstwatch")
#: The help of the metric explains each.
Reason = Literal["password", "busy", "crowded", "incomplete", "slow"]
REASONS: tuple[Reason, ...] = get_args(Reason)
REFUSALS = counter(
    "web_refusals",
    ("reason",),
    "Requests and connections that were refused: a wrong password (password), too many passwords to check (busy), "
    "closed to make room for a new connection (crowded), no whole request or handshake in time (incomplete), an answer that the client read too slowly (slow).",
)
LOGGED_EVERY_S = 60.0
#: So many incomplete requests are worth a line.
MANY_INCOMPLETE = 60


class Refusals:
    """The refusals since the start, by reason. A source of the page."""

    name = "web"

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """``now`` is a clock of seconds."""
        self._now = now
        self._counts: Counter[Reason] = Counter()
        self._logged: Counter[Reason] = Counter()
        self._logged_at = -LOGGED_EVERY_S

    def note(self, reason: Reason) -> None:
        """Count one more."""
        self._counts[reason] += 1
        news = self._counts - self._logged
        is_worth_it = news.total() > news["incomplete"] or news["incomplete"] >= MANY_INCOMPLETE
        if is_worth_it and self._now() - self._logged_at >= LOGGED_EVERY_S:
            self._logged_at, self._logged = self._now(), self._counts.copy()
            LOG.warning(
                "requests refused since the last message like this, by reason: %s",
                ", ".join(f"{count} {name}" for name, count in sorted(news.items())),
            )

    def add_to(self, page: Page, *_: object) -> None:
        """All reasons, those that never came too: a rate needs a first 0."""
        for reason in REASONS:
            page.add(REFUSALS, (reason,), self._counts[reason])

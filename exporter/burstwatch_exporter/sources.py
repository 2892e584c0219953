"""Tracks what the exporter reads from, and whether it went well: each source by name.

A source that fails is down, and says why, once: the same reason is not logged again
until it has been gone in between. What it did give is used all the same.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LOG = logging.getLogger("burstwatch_exporter")
#: More reasons than this at a time are counted and not listed.
NAMED = 5


@dataclass(slots=True)
class Attempt:
    """One reading of a source; what was odd about it is collected here."""

    problems: list[str] = field(default_factory=list)
    has_failed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceStatus:
    """The newest attempt's outcome: seconds that it took, and what was odd.

    ``has_failed`` is whether it ended early, so that there is nothing to go by.
    """

    seconds: float
    problems: tuple[str, ...]
    has_failed: bool

    @property
    def is_up(self) -> bool:
        """True if there was no problem."""
        return not self.problems


class Sources:
    """The newest outcome of each source that was tried."""

    def __init__(self, timer: Callable[[], float]) -> None:
        """``timer`` gives seconds."""
        self._timer = timer
        self.outcomes: dict[str, SourceStatus] = {}

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        """Try a source: what it raises is one problem more, and goes no further."""
        attempt, started = Attempt(), self._timer()
        try:
            yield attempt
        except (OSError, ValueError) as error:
            attempt.problems.append(str(error) or type(error).__name__)
            attempt.has_failed = True
        except Exception as error:  # noqa: BLE001 - a mistake in one source must not end the others
            attempt.problems.append(f"{type(error).__name__}: {error}")
            attempt.has_failed = True
        outcome = SourceStatus(
            seconds=self._timer() - started,
            problems=tuple(dict.fromkeys(attempt.problems)),
            has_failed=attempt.has_failed,
        )
        self._note(name, outcome)

    def _note(self, name: str, outcome: SourceStatus) -> None:
        """Log what is new about a source, and that it is well again."""
        problems = outcome.problems
        before = self.outcomes.get(name)
        problems_before = before.problems if before is not None else ()
        news = [problem for problem in problems if problem not in problems_before]
        for problem in news[:NAMED]:
            LOG.warning("source %s: %s", name, problem)
        if len(news) > NAMED:
            LOG.warning("source %s: %d problems more", name, len(news) - NAMED)
        if problems_before and not problems:
            LOG.info("source %s: well again", name)
        self.outcomes[name] = outcome

"""One recording with what would have been said at each moment of it: its pages, and when its bucket was empty."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import Literal, TypeAlias, TypedDict

from burstwatch.backtest.replay import Moment, Recorded
from burstwatch.fixes.fix import Fix
from burstwatch.forecast.chance import FORESIGHT_S
from burstwatch.forecast.policy import PAGED
from burstwatch.formatting import clock_time, day_and_time, is_dated, recorded_time
from burstwatch.history.observations import Resource
from burstwatch.history.track import EMPTY_RATIO

#: The verdicts of a resource on which somebody must act.
IN_DANGER = frozenset({"warning", "critical", "exhausted"})
#: Whether the credits ran out within two hours of a page; "open" if the recording ends before.
Outcome: TypeAlias = Literal["right", "false", "open"]


class TimeEmpty(TypedDict):
    """When a bucket was first empty, and when no longer; None if it was empty at the end."""

    empty_at: float
    refilled_at: float | None


@dataclass(frozen=True, kw_only=True)
class Story:
    """One recording with what was said at each moment of it, and the ``zone`` in which times are shown.

    ``before`` is the moment before the first, where only a part of the recording is told, and ``origin_s`` when all of it begins.
    """

    recorded: Recorded
    moments: Sequence[Moment]
    before: Moment | None = None
    origin_s: float | None = None
    fixes: Sequence[Fix] = ()
    zone: tzinfo = UTC

    @property
    def start_s(self) -> float:
        """The first row's time."""
        return self.recorded.samples[0].t_s

    @property
    def first_end_s(self) -> float:
        """The end of the first row. A bucket that is empty in it ran out before."""
        return self.start_s + self.recorded.period_s

    @property
    def end_s(self) -> float:
        """The end of the last row."""
        return self.recorded.samples[-1].t_s + self.recorded.period_s

    @property
    def balance(self) -> list[tuple[float, float]]:
        """(end of period, share of the bucket), where CloudWatch had one."""
        levels, _ = self.recorded.points
        return [(point.start_s + self.recorded.period_s, point.ratio) for point in levels]

    @property
    def emptied(self) -> list[float]:
        """The ends of the periods in which the balance first showed 0, the first one included."""
        from_full = [(self.start_s, 1.0), *self.balance]
        return [
            after[0] for before, after in pairwise(from_full) if before[1] > EMPTY_RATIO >= after[1]
        ]

    @property
    def times_empty(self) -> list[TimeEmpty]:
        """When the bucket was empty, each with when it was no longer, as ``--json`` has it."""
        return [
            {"empty_at": since_s, "refilled_at": refilled_at(self, since_s)}
            for since_s in self.emptied
        ]

    def is_paged_at(self, at: float) -> bool:
        """True if the alarm that pages was on at a time, as the verdict of the moment before tells."""
        verdicts = [moment.assessment for moment in self.moments if moment.t_s <= at]
        return bool(verdicts) and verdicts[-1] in PAGED

    @property
    def turns(self) -> list[Moment]:
        """The moments at which the verdict changed, the first among them."""
        turned = [b for a, b in pairwise(self.moments) if a.assessment != b.assessment]
        return [*self.moments[:1], *turned]

    @property
    def pages(self) -> list[Moment]:
        """The moments at which somebody would have been woken."""
        verdicts = [self.before.assessment if self.before else ""]
        verdicts += [moment.assessment for moment in self.moments]
        return [
            moment
            for before, moment in zip(verdicts, self.moments, strict=False)
            if moment.assessment in PAGED and before not in PAGED
        ]

    @property
    def is_paged_before(self) -> bool:
        """True if the alarm that pages was on already when the part that is told began."""
        return self.before is not None and self.before.assessment in PAGED


def page_for(story: Story, emptied_s: float) -> Moment | None:
    """The last page before it ran out, or else the first one after; None if nobody was paged."""
    before = [page for page in story.pages if page.t_s <= emptied_s]
    if before:
        return before[-1]
    return story.pages[0] if story.pages else None


def outcome_of(story: Story, page: Moment) -> Outcome:
    """Whether a page was right, as the backtest counts it."""
    newest = [ratio for at, ratio in story.balance if at <= page.t_s]
    is_empty = bool(newest) and newest[-1] <= EMPTY_RATIO
    if is_empty or any(0 <= at - page.t_s <= FORESIGHT_S for at in story.emptied):
        return "right"
    return "false" if story.end_s >= page.t_s + FORESIGHT_S else "open"


def refilled_at(story: Story, since_s: float) -> float | None:
    """When a bucket that was empty since then had credits again; None if it had none to the end."""
    return next((at for at, ratio in story.balance if at > since_s and ratio > EMPTY_RATIO), None)


def clock_of(story: Story) -> Callable[[float], str]:
    """Times as dates, or in hours and minutes from the first row where it counts from 0."""
    origin_s = story.start_s if story.origin_s is None else story.origin_s
    if is_dated(origin_s):
        return lambda at: recorded_time(at, story.zone)

    def text(at: float) -> str:
        return f"{recorded_time(at - origin_s):>9}"

    return text


def day_of(story: Story, at: float) -> str:
    """A time with its weekday."""
    origin_s = story.start_s if story.origin_s is None else story.origin_s
    return day_and_time(at, story.zone) if is_dated(origin_s) else clock_of(story)(at).strip()


def time_beside(story: Story, at: float, near_s: float) -> str:
    """A time that stands beside another one: without the date where it is of the same day."""
    if is_dated(story.start_s):
        return clock_time(at, now=near_s, zone=story.zone)
    return clock_of(story)(at).strip()


def type_of(resource: Resource) -> str:
    """The resource's type and size, or else its kind."""
    return resource.words.facts.get("type", resource.kind)

"""Explains a bucket's past in words: the levels, each change of the verdict, and what came after each page."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import TypedDict

from burstwatch.backtest.replay import Moment, Recorded
from burstwatch.fixes.fix import Fix
from burstwatch.forecast.policy import PAGED
from burstwatch.formatting import (
    balance,
    clock_time,
    folded,
    folded_command,
    is_dated,
    printable,
    recorded_time,
    span,
    spark,
)
from burstwatch.history.observations import Resource
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.owner_tags import read_owner_tags

IN_DANGER = frozenset({"warning", "critical", "exhausted"})
SPARK_WIDTH, LEAST_SPARKS = 72, 8


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
            {"empty_at": since_s, "refilled_at": _refilled_at(self, since_s)}
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


def as_text(story: Story, columns: int | None = None) -> str:
    """The story in words: the balance as a line of blocks, each change, each page and its truth."""
    at = clock_of(story)
    sentences = [
        *_present(story),
        answer_of(story),
        "",
        f"{printable(story.recorded.name)}: {type_of(story.recorded.resource)}, {_timing(story)}",
        _balance_line(story, columns),
        "",
        *(f"{at(moment.t_s)}  {moment.assessment:9}  {moment.reason}" for moment in story.turns),
        "",
    ]
    sentences += [
        f"would page at {at(page.t_s)}: expected {_forecast(story, page)}; {_truth(story, page)}"
        for page in story.pages
    ]
    sentences += [f"ran out at {at(t)}, {_emptiness(story, t)}" for t in story.emptied]
    for limit, share in story.recorded.exceeded.items():
        sentences.append(f"{limit}, by AWS's own check: exceeded in {share:.0%} of the time")
    lines = [folded("\n".join(sentences), columns)]
    for fix in story.fixes:
        text = f"what would have helped at {at(story.pages[-1].t_s)}: {fix.text}"
        lines.append(folded(text, columns))
        commands = [f"  {line}" for line in fix.command.split("\n") if line]
        lines += [folded_command(command, columns) for command in commands]
    snooze = read_owner_tags(story.recorded.resource.tags).snooze
    if snooze is not None and snooze.until_s > story.end_s:
        lines.append(folded(snooze.note(story.end_s), columns))
    return "\n".join(lines)


def present_of(story: Story) -> str:
    """The last moment in one sentence: what is left then, and since when somebody would have been paged."""
    at, last = clock_of(story), story.moments[-1]
    seconds = last.time_to_empty_s
    if last.assessment not in IN_DANGER:
        left = last.reason
    elif last.assessment == "exhausted":
        left = "the credits have run out"
    elif seconds is None or math.isinf(seconds):
        left = last.reason
    else:
        empty_at = _later(story, last, seconds)
        left = f"runs out in {span(seconds)}, at {empty_at} {_range(story, last)}"
    paged = ""
    if story.is_paged_at(last.t_s):
        paged = f"; paged {at(story.pages[-1].t_s).strip()}" if story.pages else "; paged before"
    return f"{last.assessment} at {at(last.t_s).strip()}: {left}{paged}"


def _present(story: Story) -> list[str]:
    """What holds at the end comes first where somebody must act on it."""
    return [present_of(story)] if story.moments[-1].assessment in IN_DANGER else []


def answer_of(story: Story) -> str:
    """One sentence: when it ran out and for how long, and when somebody would have been paged."""
    at = clock_of(story)
    pages, emptied = story.pages, story.emptied
    if not story.balance:
        return "CloudWatch had no balance, so nobody knows whether it ran out"
    if not emptied:
        times = f"{len(pages)} times, first" if len(pages) > 1 else "once,"
        if pages:
            return f"did not run out; would have paged {times} {at(pages[0].t_s).strip()}"
        nobody = "had paged before" if story.is_paged_before else "would have paged nobody"
        return f"did not run out; {nobody}"
    if emptied[0] <= story.first_end_s:
        return f"was empty at the beginning; {_paged_for(story, emptied[0])}"
    several = f"{len(emptied)} times, first " if len(emptied) > 1 else ""
    more = f"; pages in all: {len(pages)}" if len(emptied) > 1 else ""
    return f"ran out {several}{_emptied_from(story, emptied[0])}; {_paged_for(story, emptied[0])}{more}"


def _emptied_from(story: Story, since_s: float) -> str:
    at = clock_of(story)
    back = _refilled_at(story, since_s)
    if back is None:
        return f"{at(since_s).strip()}, and is empty at the end"
    return f"{at(since_s).strip()} to {at(back).strip()}, {span(back - since_s)}"


def _paged_for(story: Story, emptied_s: float) -> str:
    """Say when somebody was paged for it."""
    page = page_for(story, emptied_s)
    if story.is_paged_before and (page is None or page.t_s > emptied_s):
        return "had paged before"
    if page is None:
        return "would have paged nobody"
    at = clock_of(story)(page.t_s).strip()
    if page.t_s <= emptied_s:
        return f"would have paged {at}, {span(emptied_s - page.t_s)} before"
    return f"would have paged {at}, {span(page.t_s - emptied_s)} after"


def page_for(story: Story, emptied_s: float) -> Moment | None:
    """The last page before it ran out, or else the first one after; None if nobody was paged."""
    before = [page for page in story.pages if page.t_s <= emptied_s]
    if before:
        return before[-1]
    return story.pages[0] if story.pages else None


def clock_of(story: Story) -> Callable[[float], str]:
    """Times as dates, or in hours and minutes from the first row where it counts from 0."""
    origin_s = story.start_s if story.origin_s is None else story.origin_s
    if is_dated(origin_s):
        return lambda at: recorded_time(at, story.zone)

    def text(at: float) -> str:
        return f"{recorded_time(at - origin_s):>9}"

    return text


def _timing(story: Story) -> str:
    length = f"{span(story.end_s - story.start_s)} in periods of {story.recorded.period_s:g} s"
    return f"{length}, each datapoint {story.recorded.delay_s:g} s late (--delay-s)"


def _forecast(story: Story, moment: Moment) -> str:
    """When the bucket is empty, in words: the time on the clock and what is left until then."""
    seconds = moment.time_to_empty_s
    if seconds is None or math.isinf(seconds):
        return f"no end at this load {_range(story, moment)}"
    if seconds == 0:
        return "empty now"
    at = _later(story, moment, seconds)
    return f"empty at {at}, in {span(seconds)} {_range(story, moment)}"


def _range(story: Story, moment: Moment) -> str:
    """The earlier and the later time at which it is empty."""
    low, high = (_later(story, moment, seconds) for seconds in (moment.low_s, moment.high_s))
    return f"({low} to {high})"


def _later(story: Story, moment: Moment, seconds: float | None) -> str:
    """The time on the clock so many seconds after a moment."""
    if seconds is None or math.isinf(seconds):
        return span(seconds)
    at = moment.t_s + seconds
    if is_dated(story.start_s):
        return clock_time(at, now=moment.t_s, zone=story.zone)
    return clock_of(story)(at).strip()


def _truth(story: Story, page: Moment) -> str:
    """Say what came after a page."""
    newest = [ratio for at, ratio in story.balance if at <= page.t_s]
    if page.assessment == "exhausted" and newest and newest[-1] <= EMPTY_RATIO:
        return "it was dry already"
    dry = next((at for at in story.emptied if at >= page.t_s), None)
    if dry is not None:
        return f"ran out {span(dry - page.t_s)} later"
    if page.t_s + (page.time_to_empty_s or 0.0) < story.end_s:
        return "never ran out after"
    last = f", with {story.balance[-1][1]:.0%} left" if story.balance else ""
    if story.end_s <= page.t_s:  # datapoints are late, so a page can be later than the newest
        return f"the recording ends before that{last}"
    return f"the recording ends {span(story.end_s - page.t_s)} later{last}"


def _emptiness(story: Story, since_s: float) -> str:
    """How long it was at zero. It was empty by the end of the period that first shows it."""
    back = _refilled_at(story, since_s)
    return "still empty at the end" if back is None else f"empty for {span(back - since_s)}"


def _refilled_at(story: Story, since_s: float) -> float | None:
    return next((at for at, ratio in story.balance if at > since_s and ratio > EMPTY_RATIO), None)


def _sparks(story: Story, most: int) -> str:
    """The lowest balance of each of so many parts of the time, or of each period where there are fewer, as a line of blocks."""
    width = max(1, min(most, round((story.end_s - story.start_s) / story.recorded.period_s)))
    lowest = [math.inf] * width
    for at, ratio in story.balance:
        part = (
            (at - story.recorded.period_s / 2 - story.start_s)
            / (story.end_s - story.start_s)
            * width
        )
        index = min(width - 1, int(part))
        lowest[index] = min(lowest[index], ratio)
    return "".join(" " if ratio == math.inf else spark(ratio) for ratio in lowest)


def _balance_line(story: Story, columns: int | None) -> str:
    """The balance as a line of blocks, and its lowest and newest value in words."""
    if not story.balance:
        return "CloudWatch had no balance"
    lowest, newest = min(ratio for _, ratio in story.balance), story.balance[-1][1]
    words = f"{balance(lowest)} lowest, {balance(newest)} newest"
    room = SPARK_WIDTH if columns is None else columns - len("balance ") - len(words) - 1
    blocks = _sparks(story, max(LEAST_SPARKS, min(SPARK_WIDTH, room)))
    return f"balance {blocks} {words}"


def type_of(resource: Resource) -> str:
    """The resource's type and size, or else its kind."""
    return resource.words.facts.get("type", resource.kind)

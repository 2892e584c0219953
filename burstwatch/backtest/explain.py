"""Explains a bucket's past in words: the levels, each change of the verdict, and what came after each page."""

import math
from collections.abc import Iterator

from burstwatch.backtest.replay import Moment
from burstwatch.backtest.story import (
    IN_DANGER,
    Story,
    clock_of,
    day_of,
    page_for,
    refilled_at,
    time_beside,
    type_of,
)
from burstwatch.formatting import (
    balance,
    folded,
    folded_command,
    printable,
    span,
)
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.owner_tags import read_owner_tags


def as_text(story: Story, columns: int | None = None) -> str:
    """The story in words: the lowest and the newest balance, each change, each page and its truth."""
    at = clock_of(story)
    sentences = [
        *_present(story),
        answer_of(story),
        "",
        f"{printable(story.recorded.name)}: {type_of(story.recorded.resource)}, {_timing(story)}",
        _balance_line(story),
        "",
        *(f"{at(moment.t_s)}  {moment.assessment:9}  {moment.reason}" for moment in story.turns),
        "",
    ]
    sentences += [
        f"would page at {at(page.t_s)}: expected {_forecast(story, page)}; {truth_of(story, page)}"
        for page in story.pages
    ]
    sentences += [f"ran out at {at(t)}, {_emptiness(story, t)}" for t in story.emptied]
    lines = [folded("\n".join(sentences), columns)]
    for fix in story.fixes:
        text = f"what would have helped at {at(story.pages[-1].t_s)}: {fix.text}"
        lines.append(folded(text, columns))
        commands = [f"  {line}" for line in fix.command.split("\n") if line]
        lines += [folded_command(command, columns) for command in commands]
    lines += [folded(text, columns) for text in extras_of(story)]
    return "\n".join(lines)


def extras_of(story: Story) -> Iterator[str]:
    """What AWS itself says of limits that were exceeded, and a snooze that goes on."""
    for limit, share in story.recorded.exceeded.items():
        yield f"{limit}, by AWS's own check: exceeded in {share:.0%} of the time"
    snooze = read_owner_tags(story.recorded.resource.tags).snooze
    if snooze is not None and snooze.until_s > story.end_s:
        yield snooze.note(story.end_s)


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
    pages, emptied = story.pages, story.emptied
    if not story.balance:
        return "CloudWatch had no balance, so nobody knows whether it ran out"
    if not emptied:
        times = f"{len(pages)} times, first" if len(pages) > 1 else "once,"
        if pages:
            return (
                f"credits did not run out; would have paged {times} {day_of(story, pages[0].t_s)}"
            )
        nobody = "had paged before" if story.is_paged_before else "would have paged nobody"
        return f"credits did not run out; {nobody}"
    if emptied[0] <= story.first_end_s:
        return f"was empty at the beginning; {_paged_for(story, emptied[0])}"
    several = f"{len(emptied)} times, first " if len(emptied) > 1 else ""
    more = f"; pages in all: {len(pages)}" if len(emptied) > 1 else ""
    return f"credits ran out {several}{_emptied_from(story, emptied[0])}; {_paged_for(story, emptied[0])}{more}"


def _emptied_from(story: Story, since_s: float) -> str:
    back = refilled_at(story, since_s)
    if back is None:
        return f"{day_of(story, since_s)}, and is empty at the end"
    return (
        f"{day_of(story, since_s)} to {time_beside(story, back, since_s)}, {span(back - since_s)}"
    )


def _paged_for(story: Story, emptied_s: float) -> str:
    """Say when somebody was paged for it."""
    page = page_for(story, emptied_s)
    if story.is_paged_before and (page is None or page.t_s > emptied_s):
        return "had paged before"
    if page is None:
        return "would have paged nobody"
    at = time_beside(story, page.t_s, emptied_s)
    if page.t_s == emptied_s:
        return f"would have paged {at}, as it ran out"
    if page.t_s <= emptied_s:
        return f"would have paged {at}, {span(emptied_s - page.t_s)} before"
    return f"would have paged {at}, {span(page.t_s - emptied_s)} after"


def _timing(story: Story) -> str:
    length = f"{span(story.end_s - story.start_s)} in periods of {span(story.recorded.period_s)}"
    return f"{length}, each datapoint {span(story.recorded.delay_s)} late (--delay-s)"


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
    return time_beside(story, moment.t_s + seconds, moment.t_s)


def truth_of(story: Story, page: Moment) -> str:
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
    back = refilled_at(story, since_s)
    return "still empty at the end" if back is None else f"empty for {span(back - since_s)}"


def _balance_line(story: Story) -> str:
    """The lowest and the newest balance; the short form draws it."""
    if not story.balance:
        return "CloudWatch had no balance"
    lowest, newest = min(ratio for _, ratio in story.balance), story.balance[-1][1]
    return f"balance {balance(lowest)} lowest, {balance(newest)} newest"

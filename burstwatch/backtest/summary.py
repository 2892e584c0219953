"""Sums a bucket's past up in about twelve lines: a sentence, the balance as a picture, the pages, and what helps."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from burstwatch.backtest.explain import answer_of, extras_of, present_of, truth_of
from burstwatch.backtest.replay import Moment
from burstwatch.backtest.story import IN_DANGER, Outcome, Story, day_of, outcome_of, type_of
from burstwatch.drawing.braille import area, column_of
from burstwatch.formatting import (
    cut_to_width,
    folded,
    is_dated,
    printable,
    recorded_time,
    span,
    width_of,
)
from burstwatch.history.observations import Verdict

#: A pipe is as wide as most terminals.
USUAL_COLUMNS = 80
ROWS = 3
#: What stands left of a line.
MARGIN = 8
LEAST_COLUMNS = 16
MOST_PAGES = 4
#: Higher is worse, so that it can be read without colours too.
BLOCKS: dict[Verdict, str] = {
    "unknown": " ", "not_watched": " ", "ok": "▁", "watch": "▂", "warning": "▄", "critical": "▆", "exhausted": "█",
}  # fmt: skip
PAGE_MARK, EMPTY_MARK = "▲", "●"
#: Verdicts that need their reason.
NOT_JUDGED = frozenset({"unknown", "not_watched"})
MARKS: dict[Outcome, str] = {"right": "✓", "false": "✗", "open": "?"}


def as_summary(
    story: Story,
    columns: int | None = None,
    *,
    paint: Callable[[str, str], str] = lambda text, _: text,
) -> str:
    """The story in as many columns. ``paint`` colours a text by a verdict."""
    width = USUAL_COLUMNS if columns is None else columns
    last = story.moments[-1]
    lines = []
    if last.assessment in IN_DANGER:
        lines.append(paint(folded(_sentence(present_of(story)), width), last.assessment))
    lines += [folded(_sentence(answer_of(story)), width), folded(_subject(story), width)]
    if story.recorded.resource.bucket is None or last.assessment in NOT_JUDGED:
        lines.append(folded(last.reason, width))
    if story.balance:
        lines += _picture(story, max(LEAST_COLUMNS, width - MARGIN), paint)
    lines += [_fitted(line, width) for line in _pages(story)]
    lines += [folded(text, width) for text in extras_of(story)]
    lines += [_fitted(line, width) for line in _fix(story)]
    lines.append(folded(f"{PAGE_MARK} page, {EMPTY_MARK} out of credits; --verbose: each change and why; --html FILE: drawn", width))  # fmt: skip
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _subject(story: Story) -> str:
    recorded = story.recorded
    length = span(story.end_s - story.start_s)
    return f"{type_of(recorded.resource)}, {length} in periods of {span(recorded.period_s)}: {printable(recorded.name)}"


def _picture(story: Story, columns: int, paint: Callable[[str, str], str]) -> Iterator[str]:
    """The balance as an area in the colours of the verdicts, with a mark for each page and each end, and the verdicts."""
    since, until = story.start_s, story.end_s
    verdicts = _verdicts(story, columns)
    drawn = area(story.balance, since=since, until=until, columns=columns, rows=ROWS)
    for margin, line in zip(("100%", *("" for _ in drawn[2:]), "0%"), drawn, strict=True):
        yield f"{margin:>{MARGIN - 1}} {_painted(line, verdicts, paint)}"
    if story.pages or story.emptied:
        yield f"{'':{MARGIN}}{_painted(_marks(story, columns), verdicts, paint)}"
    strip = "".join(BLOCKS[verdict] for verdict in verdicts)
    yield f"{'verdict':>{MARGIN - 1}} {_painted(strip, verdicts, paint)}".rstrip()
    yield f"{'':>{MARGIN - 1}} {_times(story, columns)}".rstrip()


def _marks(story: Story, columns: int) -> str:
    """A mark for each page and each time it ran out. A page in the column of what it announced stands left of that."""

    def place(at: float) -> int:
        return column_of(at, since=story.start_s, until=story.end_s, columns=columns)

    ends = {place(at) for at in story.emptied}
    pages = {place(page.t_s) for page in story.pages}
    pages |= {max(0, column - 1) for column in pages & ends}
    marks = {**dict.fromkeys(pages, PAGE_MARK), **dict.fromkeys(ends, EMPTY_MARK)}
    return "".join(marks.get(column, " ") for column in range(columns))


def _verdicts(story: Story, columns: int) -> list[Verdict]:
    """The worst verdict of each column's time, or else the one before."""
    worst = list(BLOCKS)
    of_column: list[Verdict | None] = [None] * columns
    newest: list[Verdict | None] = [None] * columns
    for moment in story.moments:
        at = column_of(moment.t_s, since=story.start_s, until=story.end_s, columns=columns)
        known = of_column[at]
        of_column[at] = max(known or "unknown", moment.assessment, key=worst.index)
        newest[at] = moment.assessment
    verdicts: list[Verdict] = []
    last: Verdict = "unknown"
    for here, end in zip(of_column, newest, strict=True):
        verdicts.append(here or last)
        last = end or last
    return verdicts


def _painted(line: str, verdicts: Sequence[Verdict], paint: Callable[[str, str], str]) -> str:
    """A line whose characters have the colours of the verdicts of their columns."""
    runs = groupby(zip(line, verdicts, strict=True), key=lambda pair: pair[1])
    return "".join(paint("".join(c for c, _ in run), verdict) for verdict, run in runs)


def _times(story: Story, columns: int) -> str:
    """When it begins and ends, and between them when it ran out or, where it did not, when the pages were."""
    line = [" "] * columns

    def write(text: str, begin: int) -> None:
        room = line[max(0, begin - 2) : begin + len(text) + 2]
        if begin >= 0 and begin + len(text) <= columns and set(room) == {" "}:
            line[begin : begin + len(text)] = text

    first, last = _day(story, story.start_s), _day(story, story.end_s)
    write(first, 0)
    write(last, columns - len(last))
    for at in [*story.emptied, *(page.t_s for page in story.pages)]:
        text = _hour(story, at)
        column = column_of(at, since=story.start_s, until=story.end_s, columns=columns)
        write(text, min(columns - len(text), max(0, column - len(text) // 2)))
    return "".join(line)


def _day(story: Story, at: float) -> str:
    if not is_dated(story.start_s):
        return day_of(story, at)
    return f"{datetime.fromtimestamp(at, tz=story.zone):%a %d %b}"


def _hour(story: Story, at: float) -> str:
    if not is_dated(story.start_s):
        return day_of(story, at)
    return recorded_time(at, story.zone).partition(" ")[2]


def _pages(story: Story) -> Iterator[str]:
    """A line for each page: whether it was right, what it said and what came."""
    outcomes = [(page, outcome_of(story, page)) for page in story.pages]
    for page, outcome in outcomes[:MOST_PAGES]:
        yield f"{'page':>{MARGIN - 1}} {MARKS[outcome]} {day_of(story, page.t_s)}  {_said(page)}; {truth_of(story, page)}"
    more = outcomes[MOST_PAGES:]
    if more:
        count = sum(1 for _, outcome in more if outcome == "false")
        yield f"{'':>{MARGIN - 1}} and {len(more)} more pages, {count} of them false"


def _said(page: Moment) -> str:
    return (
        "said nothing is left"
        if page.time_to_empty_s == 0
        else f"said {span(page.time_to_empty_s)}"
    )


def _fix(story: Story) -> Iterator[str]:
    """What would have helped at the last page, a change of the resource before less load."""
    fixes = sorted(story.fixes, key=lambda fix: fix.is_less_load)
    if fixes:
        yield f"{'fix':>{MARGIN - 1}} {fixes[0].action}: {fixes[0].effect}"


def _fitted(line: str, columns: int) -> str:
    """A line that is cut with an ellipsis where it is too wide."""
    return line if width_of(line) <= columns else f"{cut_to_width(line, columns - 1)}…"

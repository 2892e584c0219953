"""Tells what would have happened to a fleet in the last days: pages and run-outs of each resource, by replay."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from burstwatch.backtest.replay import Recorded
from burstwatch.backtest.story import Story
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.histories import KeptRecord
from burstwatch.cli.recorded import USUAL_DELAY_S
from burstwatch.config import Config
from burstwatch.formatting import (
    balance,
    command_line,
    cut,
    folded,
    folded_command,
    inert,
    recorded_time,
    span,
    table,
)
from burstwatch.history.points import MINUTES_KEPT

HEADINGS = (
    "ran out", "would have paged", "in time", "resource", "name", "empty for", "lowest", "first page", "type"
)  # fmt: skip
ELASTIC = frozenset({"name", "type"})
LONGEST_NAME = 40
#: A balance that was never below this has had no load that could bring it down.
FULL = 0.9999
#: The fields of a kept record that are read again.
FIELDS = frozenset({"id", "page_count", "run_out_count", "warned_in_time_count"})


def past_record(recorded: Recorded, config: Config, *, days: float, now: float) -> KeptRecord:
    """The pages and the times without credits of one resource until ``now``, as the settings of ``config`` would have had them."""
    recorded = replace(recorded, delay_s=USUAL_DELAY_S)
    moments = () if _was_always_full(recorded) else recorded.play(config).moments()
    story = Story(recorded=recorded, moments=[moment for moment in moments if moment.t_s <= now])
    resource, times_empty = recorded.resource, story.times_empty
    ran_out = [empty for empty in times_empty if empty["empty_at"] > story.first_end_s]
    levels = [ratio for _, ratio in story.balance]
    return {
        "id": resource.id,
        "name": resource.name,
        "kind": resource.kind,
        "unit": resource.unit,
        "type": resource.words.facts.get("type", resource.kind),
        "days": days,
        "page_count": len(story.pages),
        "run_out_count": len(ran_out),
        "warned_in_time_count": sum(
            story.is_paged_at(empty["empty_at"] - config.lead_s) for empty in ran_out
        ),
        "run_out_s": sum(
            (empty["refilled_at"] or story.end_s) - empty["empty_at"] for empty in times_empty
        ),
        "balance_lowest": min(levels, default=None) if resource.terms.has_share else None,
        "pages": [page.record() for page in story.pages],
        "run_out": ran_out,
    }


def _was_always_full(recorded: Recorded) -> bool:
    """True if nothing was ever spent: such a resource pages nobody."""
    levels, _ = recorded.points
    return bool(levels) and min(point.ratio for point in levels) >= FULL


def in_order(records: Sequence[KeptRecord]) -> list[KeptRecord]:
    """The worst first: those that ran out, by how often and how long; then those with pages."""
    return sorted(
        records,
        key=lambda record: (
            -record["run_out_count"],
            -record["run_out_s"],
            -record["page_count"],
            record["id"],
        ),
    )


def past_documents(records: Sequence[KeptRecord], *, at: float) -> Iterator[str]:
    """One document for each resource."""
    hidden = {"unit", "key", "question", "at_s"}
    for record in records:
        body: dict[str, Any] = {name: value for name, value in record.items() if name not in hidden}
        yield as_document("past", body, at=at, **place_of_unit(record["unit"]))


def past_answer(records: Sequence[KeptRecord], config: Config) -> str:
    """One sentence: how many pages, how often credits ran out, and how many of those had a page in time."""
    pages = sum(record["page_count"] for record in records)
    times_empty = sum(record["run_out_count"] for record in records)
    in_time = sum(record["warned_in_time_count"] for record in records)
    paged = f"would have paged {_times(pages)}" if pages else "would have paged nobody"
    ran_out = f"ran out {_times(times_empty)}" if times_empty else "nothing ran out"
    sentence = f"{paged}, {ran_out}"
    if times_empty:
        sentence += f", {in_time} of {times_empty} with {span(config.lead_s)} or more"
    return sentence


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def past_report(
    records: Sequence[KeptRecord],
    config: Config,
    *,
    days: float,
    columns: int | None,
    limit: int | None,
) -> str:
    """The answer, the resources that had a page or ran out, and how many had neither."""
    answer = folded(f"in the last {days:g} days: {past_answer(records, config)}", columns)
    eventful = [record for record in records if record["page_count"] or record["run_out_count"]]
    quiet = f"{len(records) - len(eventful)} of {len(records)} resources had neither"
    if not eventful:
        return f"{answer}\n{quiet}"
    rows = [
        (
            _times(record["run_out_count"]),
            _times(record["page_count"]),
            f"{record['warned_in_time_count']} of {record['run_out_count']}"
            if record["run_out_count"]
            else "-",
            record["id"],
            cut(inert(record["name"]), LONGEST_NAME),
            span(record["run_out_s"]) if record["run_out_count"] else "-",
            "-" if record["balance_lowest"] is None else balance(record["balance_lowest"]),
            recorded_time(record["pages"][0]["at"]) if record["pages"] else "-",
            record["type"],
        )
        for record in eventful[:limit]
    ]
    drawn = table(HEADINGS, rows, columns=columns, elastic=ELASTIC)
    worst, hours = eventful[0]["id"], f"{24 * min(days, MINUTES_KEPT.value):g}"
    return "\n".join(
        [
            answer,
            "",
            drawn,
            quiet,
            "what happened to one of them:",
            folded_command(command_line("burstwatch", "explain", worst, "--hours", hours), columns),
        ]
    )

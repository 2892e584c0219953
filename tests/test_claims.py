"""Figures that stand in a sentence of the docs, each with the constant or the record that it is of."""

from pathlib import Path

import pytest

from benchmarks.record import record_of
from burstwatch.aws.client import pace
from burstwatch.aws.look import budget, memory, metrics, reading
from burstwatch.aws.sweep.units import KNOWN_PER_MIB
from burstwatch.backtest.advice import SHORT_S
from burstwatch.ebs.fixes import HEADROOM
from burstwatch.ebs.volumes import volume_spec
from burstwatch.web import server
from burstwatch_exporter.measure import drain, guard, process, run, session, verdict, watch

DOCS = Path(__file__).parents[1] / "docs"
WORDS = {
    0.5: "half", 1: "one", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 10: "ten", 11: "eleven", 20: "twenty",
}  # fmt: skip


def word(number: float) -> str:
    """A number as sentences have it: *twenty*, and *512*."""
    return WORDS.get(round(number, 9), f"{number:g}")


CLAIMS = [
    ("measuring", f"read {word(1 / watch.TICK_S)} times a second"),
    ("measuring", f"within {watch.TICK_S:g} s plus the I/O in flight"),
    ("measuring", f"less than {run.COUNTED:.0%} of the bytes that fio has moved"),
    ("measuring", f"then has {word(run.ENDS_WITHIN_S)} second to write its result"),
    ("measuring", f"({word(run.ENDS_WITHIN_S + run.RESULT_S)} after a drain has found the knee"),
    ("measuring", f"One of less than {word(verdict.LEAST_S)} seconds gets the verdict *too short*"),
    ("measuring", f"that would run out within {guard.SOON_S / 60:g} minutes anyway"),
    ("measuring", f"It stops after {session.LATE:g} times the time, or {session.LATE:g} times the credits"),
    ("measuring", f"is not known to within {drain.KNOWN:.0%}"),
    ("fleets", f"{KNOWN_PER_MIB} resources for each MiB of memory"),
    ("fleets", f"Beyond {word(memory.FEW_CALLS)} calls or {memory.FEW_RESOURCES} resources, the inventory is read every {word(memory.INVENTORY_S / 60)} minutes"),
    ("fleets", f"in batches of {metrics.QUERIES_PER_CALL}, {word(reading.AT_ONCE)} at a time"),
    ("fleets", f"at most {word(pace.SHARE)} of the account's quotas"),
    ("fleets", f"{word(budget.SAVED_S / 3600)} hours of it can be saved up"),
    ("advice", f"keeps {'a fifth' if HEADROOM == 1.2 else HEADROOM} more than the load"),
    ("advice", f"The history is shorter than {'a week' if SHORT_S == 7 * 86_400 else SHORT_S}"),
    ("security", f"{server.CONNECTIONS} connections"),
]  # fmt: skip


def test_busy_servers_have_about_a_page_a_week_of_which_half_are_false() -> None:
    pages = record_of("chance")["pages"]["machine"]["servers stale"]["balanced"]
    a_week = pages["needless_per_week"] / (1 - pages["precision"])
    assert 0.9 < a_week < 1.1
    assert 0.45 < pages["precision"] < 0.55
    assert "about one a week for each, half of them false" in (DOCS / "for-platform.md").read_text()


def test_what_the_backtest_missed_is_what_its_records_say() -> None:
    text = " ".join((DOCS / "backtest.md").read_text().split())
    fresh, stale = (
        record_of("chance")["pages"]["machine"][f"servers {view}"]["balanced"]["needless_per_week"]
        for view in ("fresh", "stale")
    )
    assert f"it is {fresh:.2f} and {stale:.2f}" in text
    policies = record_of("backtest-nab-stale")["policies"]
    ours, static = policies["burstwatch"], policies["static 40 %"]
    assert f"{ours['needless_per_week']:.1f} false pages a volume-week on stale data" in text
    assert (
        f"40% announces {static['announced']:.2f} with {static['needless_per_week']:.1f}. "
        f"*Paged in time* is only {ours['paged_in_time']:.1f}"
    ) in text
    apart = record_of("apart")
    for load in ("merged", "sizes mixed", "four stripes"):
        of = apart[load]["policies"]
        times = of["burstwatch"]["needless_per_week"] / of["balance alone"]["needless_per_week"]
        assert 2 <= times < 3.5, load
    assert "two to three times as many false pages as by the balance alone" in text


def test_a_gp2_disk_has_the_rates_that_the_page_on_incidents_says() -> None:
    for size_gib in (20, 100, 900):
        disk = volume_spec("gp2", size_gib)
        assert disk.bucket is not None
        assert (disk.bucket.refill, disk.bucket.burst) == (max(100, 3 * size_gib), 3_000)
    text = " ".join((DOCS / "for-incidents.md").read_text().split())
    assert "a baseline of 3 IOPS for each GiB, at least 100, and bursts to 3,000" in text


@pytest.mark.parametrize(("page", "claim"), CLAIMS)
def test_a_figure_of_the_docs_is_that_of_the_code(page: str, claim: str) -> None:
    assert claim in " ".join((DOCS / f"{page}.md").read_text().split())


def test_a_process_that_nobody_watches_is_killed_after_as_long_as_the_docs_say() -> None:
    assert process.UNWATCHED_S == 1.0
    assert "has not looked at for a second" in (DOCS / "measuring.md").read_text()

"""Others' figures, beside what the model promises."""

from collections import Counter, defaultdict

import pytest

from tools.published import TABLES, figures, read_table
from tools.published_figure import Figure
from tools.published_reasons import REASONS


def key(figure: Figure) -> tuple[str, str, str]:
    return figure.table, figure.row, figure.what


def test_every_figure_agrees_with_its_promise_or_says_why_not() -> None:
    unexplained = [key(one) for one in figures() if one.is_apart and not one.reason]
    assert unexplained == []


def test_no_explanation_is_of_a_figure_that_agrees_or_is_not_there() -> None:
    assert {key(one) for one in figures() if one.is_apart} == set(REASONS)


def test_every_figure_has_a_name_of_its_own() -> None:
    assert max(Counter(map(key, figures())).values()) == 1


@pytest.mark.parametrize("table", TABLES)
def test_every_number_of_a_table_is_compared(table: str) -> None:
    """Those in the columns that say what was measured on what are not."""
    labels = {
        "size_gb", "size_gib", "volume", "instance", "processes", "credits", "workload", "what",
        "year", "type",
    }  # fmt: skip
    numbers = [
        float(text)
        for row in read_table(table)
        for column, whole in row.items()
        if column not in labels
        for text in whole.replace("/", ";").split(";")
        if text and text[0].isdigit()
    ]
    found = [one.published for one in figures() if one.table == table]
    assert sorted(found) == sorted(numbers)


def test_latency_times_rate_is_the_queue_depth_in_every_row_but_the_misprint() -> None:
    in_flight: dict[str, float] = defaultdict(float)
    by_row: dict[str, dict[str, float]] = defaultdict(dict)
    for one in figures():
        if one.table == "fio_4k_qd4":
            by_row[one.row][one.what] = one.published
    for row, found in by_row.items():
        run = row.removesuffix("_read").removesuffix("_write")
        in_flight[run] += found["IOPS"] * found["mean latency"] / 1e6
    wrong = {
        run: depth for run, depth in in_flight.items() if depth != pytest.approx(3.98, abs=0.02)
    }
    assert list(wrong) == ["c3.large gp2 50 GB mix70"]
    printed = by_row["c3.large gp2 50 GB mix70_write"]
    corrected = wrong["c3.large gp2 50 GB mix70"] + printed["IOPS"] * 1_000 / 1e6
    assert corrected == pytest.approx(3.98, abs=0.02)


def test_a_burst_is_served_at_three_thousand_whatever_the_pattern() -> None:
    bursts = [
        one
        for one in figures()
        if one.table == "fio_4k_qd4" and " gp2 " in one.row and one.what == "IOPS"
    ]
    assert len(bursts) == 24
    assert all(0.96 < (one.ratio or 0) < 1.03 for one in bursts)

"""The figures of a benchmark are kept so that a change of one record is a change of one line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.record import WIDEST, as_lines, rounded

figures = st.floats(min_value=-1e9, max_value=1e9) | st.integers() | st.text() | st.none()
records = st.recursive(
    figures, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=50
)


@given(records)
def test_what_is_kept_is_read_as_it_was(record: object) -> None:
    assert json.loads(as_lines(record)) == record


def test_each_record_of_a_list_has_a_line() -> None:
    rows = [{"volumes": number, "cost_usd": number / 3} for number in range(5)]
    assert len(as_lines(rows).splitlines()) == len(rows) + 2


def test_a_record_that_is_too_wide_has_a_line_for_each_field() -> None:
    fields = {f"field_{number}": "x" * 40 for number in range(WIDEST // 40)}
    assert len(as_lines([fields]).splitlines()) == len(fields) + 4


def test_numbers_keep_six_digits() -> None:
    assert rounded({"a": [1 / 3, 12345678, (2.5,)]}) == {"a": [0.333333, 12345678, [2.5]]}

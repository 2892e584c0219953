"""The story of a bucket in twelve lines: a picture as wide as the terminal, with what came of each page."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.cli.main import run
from burstwatch.drawing.braille import BLANK, area, column_of
from burstwatch.formatting import width_of
from tests.terminals import Screen

THREE_DAYS = str(Path(__file__).parents[1] / "recordings" / "three-days.csv")
GP2 = ("--type", "gp2", "--size-gib", "100")


def summary(*args: str, columns: int = 80, **env: str) -> list[str]:
    out, err = Screen(), Screen()
    code = run(["explain", *args], stdout=out, stderr=err, env={"COLUMNS": f"{columns}", **env}, clock=lambda: 0.0)  # fmt: skip
    assert (code, err.getvalue()) == (0, "")
    return out.getvalue().splitlines()


def without_colours(line: str) -> str:
    return re.sub(r"\033\[[\d;]*m", "", line)


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
def test_an_incident_is_told_in_twelve_lines(columns: int) -> None:
    lines = summary("--example", columns=columns, NO_COLOR="1")
    assert len(lines) <= 12
    assert max(map(width_of, lines)) <= columns
    assert lines[0].startswith("Credits ran out Fri 2014-04-11 18:45Z")
    assert any(line.startswith("   page ✓ Fri 2014-04-11 18:25Z") for line in lines)
    assert "--verbose" in lines[-1]


def test_the_picture_is_as_wide_as_the_terminal_and_marks_the_page_before_the_end() -> None:
    lines = summary("--example", columns=100, NO_COLOR="1")
    (chart,) = [line for line in lines if line.startswith("   100%")]
    assert width_of(chart) == 100
    (marks,) = [line for line in lines if line.strip() == "▲●"]
    (times,) = [line for line in lines if "Sun 13 Apr" in line]
    assert abs(times.index("18:45Z") + 3 - marks.index("●")) <= 3


def test_a_page_is_right_if_the_credits_ran_out_within_two_hours_as_the_backtest_counts() -> None:
    pages = [
        line.split()[1] for line in summary(THREE_DAYS, *GP2) if line.strip().startswith("page")
    ]
    assert pages == ["✗", "✓", "✗"]


def test_without_colours_the_worst_verdicts_are_the_highest_and_no_escape_is_printed() -> None:
    lines = summary("--example", NO_COLOR="1")
    assert "\033" not in "".join(lines)
    (strip,) = [line for line in lines if line.startswith("verdict")]
    assert "█" in strip
    assert {*strip.removeprefix("verdict ")} <= {*" ▁▂▄▆█"}


def test_colours_change_no_character() -> None:
    assert [without_colours(line) for line in summary("--example")] == summary("--example", NO_COLOR="1")  # fmt: skip
    assert any("\033[1;35m" in line for line in summary("--example"))


def test_a_recording_that_ends_in_danger_begins_with_what_holds_now(tmp_path: Path) -> None:
    rows = Path(THREE_DAYS).read_text().splitlines(keepends=True)
    path = tmp_path / "begin.csv"
    path.write_text("".join(rows[: 1 + 36 * 12]))
    first = summary(str(path), *GP2, NO_COLOR="1")[0]
    assert re.match(r"(Critical|Exhausted) at \+3[56]:\d\d: ", first)


POINTS = st.lists(
    st.tuples(st.floats(0, 99.9), st.floats(0, 1)),
    min_size=1,
    max_size=60,
    unique_by=lambda p: p[0],
).map(sorted)


@given(points=POINTS, columns=st.integers(1, 60), rows=st.integers(1, 5))
def test_a_column_is_as_high_as_the_lowest_value_of_its_time(
    points: list[tuple[float, float]], columns: int, rows: int
) -> None:
    lines = area(points, since=0, until=100, columns=columns, rows=rows)
    assert [len(line) for line in lines] == [columns] * rows
    for half in range(2 * columns):
        here = [ratio for at, ratio in points if column_of(at, since=0, until=100, columns=2 * columns) == half]  # fmt: skip
        if here:
            left = half % 2 == 0
            dots = sum(_dots(line[half // 2], is_left=left) for line in lines)
            assert dots == math.ceil(min(here) * rows * 4)


def _dots(character: str, *, is_left: bool) -> int:
    bits = ord(character) - BLANK
    return (bits & (0x47 if is_left else 0xB8)).bit_count()

"""A duration and a number are written in one way, in every golden output: 17 min, 1 h 28 min, 3,000 IOPS."""

import re
from pathlib import Path

import pytest

from burstwatch.formatting import span

ROOT = Path(__file__).parents[1]
OUTPUTS = sorted(
    [
        *(ROOT / "tests" / "golden").glob("*.txt"),
        *(ROOT / "tests" / "exporter" / "trees").glob("*.html"),
        ROOT / "README.md",
        # Those of the backtest have names of rules, such as predict_linear 240 min.
        *(path for path in (ROOT / "docs").glob("*.svg") if not path.name.startswith("backtest-")),
    ]
)
#: Other ways to write a time or a number, each with an example.
OTHERS = {
    r"\b\d+\.\d+ (?:h|d|min)\b": "5.0 h",
    r"\b(?:6\d|[7-9]\d|\d{3,}) min\b": "111 min",
    r"\b(?:12\d|1[3-9]\d|[2-9]\d\d|\d{4,}) s\b": "300 s",
    r"\b\d+ h 0\d\b": "36 h 05",
    r"\b\d{4,}(?:\.\d+)? (?:IOPS|credits|MiB/s|vCPU)\b": "3000 credits",
    r"\b\d+(?:\.\d+)?[KMB] (?:IOPS|io/s)\b": "3K IOPS",
    r"\bruns out in 0 s\b": "runs out in 0 s",
}


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: path.name)
def test_no_output_has_another_way_to_write_a_time_or_a_number(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert {match[0] for other in OTHERS for match in re.finditer(other, text)} == set()


@pytest.mark.parametrize(("other", "example"), OTHERS.items())
def test_each_other_way_is_found(other: str, example: str) -> None:
    assert re.search(other, f"it {example} x")


@pytest.mark.parametrize("seconds", [0, 1, 59, 61, 119, 121, 3_599, 3_600, 5_280, 36_060, 86_400, 90_000, 900_000, 9e7])  # fmt: skip
def test_what_is_written_is_in_that_way(seconds: float) -> None:
    assert not any(re.search(other, span(seconds)) for other in OTHERS)

"""A load that does not explain the fall of the balance is doubted with its factor, and one that does is not."""

import io
import json
import re

import pytest

from burstwatch.cli.main import run
from burstwatch.recordings.samples import volume_sample, write_samples

START, PERIOD_S = 1_763_971_200.0, 300.0
#: IOPS and how many periods of them, by the size: each takes between a fifth and all of what is full.
LOADS = {100: (3_000.0, 5), 200: (1_800.0, 12), 400: (2_400.0, 10)}
DOUBTED = (1 / 300, 1 / 60, 1 / 10, 1 / 5, 1 / 2, 0.7, 0.79, 1.26, 1.5, 2.0, 5.0, 60.0, 300.0)
BELIEVED = (0.9, 1.0, 1.1)


def doubts(size_gib: int, factor: float, *arguments: str) -> tuple[list[str], str, int]:
    """What is doubted of a drain whose load is written so many times as large, on stderr too, and the exit code."""
    iops, periods = LOADS[size_gib]
    fallen = (iops - 3.0 * size_gib) * PERIOD_S / 5_400_000 * 100
    levels = [100.0, 100.0, *(100 - fallen * n for n in range(1, periods + 1))]
    samples = (
        volume_sample(
            START + PERIOD_S * row,
            balance_percent=level,
            read_ops=(iops if row > 1 else 0.0) * PERIOD_S * factor,
            write_ops=0.0,
            read_bytes=(iops if row > 1 else 0.0) * PERIOD_S * factor * 4096,
            write_bytes=0.0,
        )
        for row, level in enumerate(levels)
    )
    text = "".join(write_samples(samples))
    out, err = io.StringIO(), io.StringIO()
    words = ("explain", "-", "--type", "gp2", "--size-gib", f"{size_gib}", "--json", *arguments)
    code = run(words, stdout=out, stderr=err, env={}, clock=lambda: 0.0, stdin=lambda _: text.encode())  # fmt: skip
    return json.loads(out.getvalue())["doubts"] if out.getvalue() else [], err.getvalue(), code


@pytest.mark.parametrize("factor", DOUBTED)
@pytest.mark.parametrize("size_gib", LOADS)
def test_a_load_that_is_too_small_or_too_large_by_a_factor_is_doubted_with_it(
    size_gib: int, factor: float
) -> None:
    told, err, code = doubts(size_gib, factor)
    (doubt,) = (doubt for doubt in told if "times" in doubt and "explain" in doubt)
    times = float(re.sub(",", "", re.search(r"([\d,.]+) times", doubt)[1]))  # type: ignore[index]
    assert times == pytest.approx(1 / factor if factor < 1 else factor, rel=0.02)
    assert (doubt in err, code) == (True, 0)


@pytest.mark.parametrize("factor", BELIEVED)
@pytest.mark.parametrize("size_gib", LOADS)
def test_a_load_that_explains_the_fall_is_not_doubted(size_gib: int, factor: float) -> None:
    assert doubts(size_gib, factor)[0] == []


@pytest.mark.parametrize(
    ("factor", "cause"),
    [(1 / 300, "per second"), (1 / 5, "an Average of minutes"), (1 / 1_024, "in thousands")],
)
def test_the_doubt_says_what_the_load_may_be(factor: float, cause: str) -> None:
    assert cause in " ".join(doubts(200, factor)[0])


def test_a_doubt_ends_the_command_where_none_is_allowed() -> None:
    told, err, code = doubts(100, 1 / 5, "--strict")
    assert (told, code) == ([], 2)
    assert "--strict" in err.splitlines()[-1]
    assert doubts(100, 1.0, "--strict")[2] == 0

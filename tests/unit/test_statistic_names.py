"""The word of a statistic is seen wherever it stands in the name of a series."""

import io
from collections.abc import Sequence

import pytest

from burstwatch.cli.main import run

#: How programs and people write that a series is of a statistic: its word, and the metric.
FORMS = (
    "{metric} ({word})", "{metric} [{word}]", "{metric}_{word}", "{word}_{metric}", "{word} {metric}", "{word}: {metric}", "{metric} {word}",
    "{metric} - {word}", "{metric}|{word}", "{word}({metric})", '{metric}{{stat="{word}"}}', "{metric} {word} value", "{metric} {word} %",
    "vol-0a1b2c3d4e5f60718 {metric} {word}", "{metric} {word} vol-0a1b2c3d4e5f60718", "{word} of aws.ebs.metrics.{metric}",
    "aws.ebs.metrics.{metric}.{word}", "{word}:aws.ebs.{metric}{{*}}", "{word}_over_time({metric}[5m])", "{word} by (volume) ({metric})",
)  # fmt: skip
WORDS = {
    "Maximum": ("max", "Maximum", "MAX", "maximum"),
    "Average": ("avg", "Average", "AVG", "mean"),
}
METRICS = {
    "balance": ("BurstBalance", "burst_balance", "burst balance"),
    "load": ("VolumeReadOps", "volume_read_ops"),
}
ROWS = [100.0 - 4 * row for row in range(20)]


def explain(
    heading: str, *, others: Sequence[str], rows: Sequence[Sequence[object]]
) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    names = ",".join(
        f'"{name}"' for name in ("Time", *(name.replace('"', '""') for name in (heading, *others)))
    )
    lines = [",".join(map(str, (1_790_000_100 + 300 * n, *row))) for n, row in enumerate(rows)]
    code = run(
        ["explain", "-", "--type", "gp2", "--size-gib", "100"],
        stdout=out, stderr=err, env={}, clock=lambda: 0.0, stdin=lambda _: "\n".join([names, *lines, ""]).encode(),
    )  # fmt: skip
    return code, err.getvalue()


@pytest.mark.parametrize("word", WORDS["Maximum"])
@pytest.mark.parametrize("metric", METRICS["balance"])
def test_a_balance_that_is_a_maximum_is_refused(metric: str, word: str) -> None:
    read = []
    for form in FORMS:
        name = form.format(metric=metric, word=word)
        code, said = explain(name, others=(), rows=[[value] for value in ROWS])
        if code != 2 or "Maximum" not in said:
            read.append(name)
    assert read == []


@pytest.mark.parametrize("word", WORDS["Average"])
@pytest.mark.parametrize("metric", METRICS["load"])
def test_operations_that_are_an_average_are_not_summed(metric: str, word: str) -> None:
    summed = []
    for form in FORMS:
        name = form.format(metric=metric, word=word)
        code, said = explain(
            name,
            others=("BurstBalance Minimum", "VolumeWriteOps Sum"),
            rows=[[500, value, 900] for value in ROWS],
        )
        if code != 0 or "left out VolumeReadOps, which is an Average" not in said:
            summed.append(name)
    assert summed == []


@pytest.mark.parametrize("name", ["VolumeReadOps (Count)", "VolumeReadOps Sum", "sum(VolumeReadOps)", "orders VolumeReadOps", "VolumeReadOps (5 min)"])  # fmt: skip
def test_what_is_no_other_statistic_is_summed(name: str) -> None:
    code, said = explain(name, others=("BurstBalance Minimum", "VolumeWriteOps Sum"), rows=[[500, value, 900] for value in ROWS])  # fmt: skip
    assert code == 0
    assert "left out" not in said

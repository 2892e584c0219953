"""What a file says of the unit of a load is asked of the metric: CloudWatch has some as sums, and some per second."""

import json
from collections.abc import Callable, Sequence

import pytest

from burstwatch.cli.recorded import place_recorded
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import DemandMetric, Kind
from burstwatch.recordings.matching import name_series
from burstwatch.recordings.reading import read_text
from tests.unit.every_bucket import SPECS

START, PERIOD_S, ROWS = 1_790_000_100, 300, 12
#: Per second, in the base unit of the metric: another one for each row, and never so much that a bucket runs dry.
RATES = [40.0 + row for row in range(ROWS)]
#: The units of a rate as files write them, with their size in base units: of operations, and of bytes.
OPERATIONS = {"Count/Second": 1.0, "iops": 1.0, "io/s": 1.0, "ops/s": 1.0}
BYTES = {
    "Bytes/Second": 1.0,
    "B/s": 1.0,
    "Bps": 1.0,
    "kB/s": 1e3,
    "KiB/s": 1024.0,
    "MB/s": 1e6,
    "MiB/s": 2.0**20,
}
Writer = Callable[[str, str, str, Sequence[float]], str]


def statistics_json(level: str, metric: str, unit: str, values: Sequence[float]) -> str:
    """As `aws cloudwatch get-metric-statistics` answers, one answer after the other."""
    answers = []
    for name, statistic, of_unit, numbers in (
        (level, "Minimum", "", [50.0] * ROWS),
        (metric, "Average", unit, values),
    ):
        points = [
            {
                "Timestamp": START + PERIOD_S * row,
                statistic: value,
                **({"Unit": of_unit} if of_unit else {}),
            }
            for row, value in enumerate(numbers)
        ]
        answers.append(json.dumps({"Label": name, "Datapoints": points}))
    return "\n".join(answers)


def csv_heading(level: str, metric: str, unit: str, values: Sequence[float]) -> str:
    """A table whose heading has the unit."""
    rows = [f"{START + PERIOD_S * row},50,{value!r}\n" for row, value in enumerate(values)]
    return f"Time,{level},{metric} ({unit})\n" + "".join(rows)


def csv_cells(level: str, metric: str, unit: str, values: Sequence[float]) -> str:
    """A table whose cells have it, as Grafana writes a formatted panel."""
    rows = [f'{START + PERIOD_S * row},50,"{value!r} {unit}"\n' for row, value in enumerate(values)]
    return f"Time,{level},{metric}\n" + "".join(rows)


WRITERS: dict[str, Writer] = {
    "get-metric-statistics": statistics_json,
    "heading": csv_heading,
    "cells": csv_cells,
}
#: Names of units, which stand beside values: a cell has the sign.
NAMES_OF_UNITS = {"Count/Second", "Bytes/Second", "Bps"}


def combinations() -> list[tuple[str, str, str, float, str]]:
    found = []
    for kind in find_kinds().values():
        for metric in kind.demand_metrics:
            units = BYTES if "Byte" in metric.name or "Throughput" in metric.name else OPERATIONS
            if kind.name.endswith("_cpu"):
                continue  # its load is in credits, and CloudWatch has no unit for them
            found += [
                (kind.name, metric.name, unit, size, form)
                for unit, size in units.items()
                for form in WRITERS
                if form != "cells" or unit not in NAMES_OF_UNITS
            ]
    return found


def expected(metric: DemandMetric, rate: float) -> float:
    return rate if metric.is_rate else rate * PERIOD_S


def samples(kind: Kind, text: str, metric: str) -> list[float]:
    contents = name_series(read_text(text, name="file"), kind, metric="", statistic="")
    recorded = place_recorded(
        contents, kind, SPECS[kind.name], name="file", only="", period_s=None, delay_s=0.0
    )  # fmt: skip
    return [sample.values[metric] for sample in recorded.samples if metric in sample.values]


@pytest.mark.parametrize(
    ("kind_name", "metric_name", "unit", "size", "form"), combinations(), ids=str
)
def test_a_rate_of_any_unit_in_any_form_is_the_load_that_was_written(
    kind_name: str, metric_name: str, unit: str, size: float, form: str
) -> None:
    kind = find_kinds()[kind_name]
    (metric,) = (metric for metric in kind.demand_metrics if metric.name == metric_name)
    text = WRITERS[form](kind.level_metrics[0], metric_name, unit, [rate / size for rate in RATES])
    assert samples(kind, text, metric_name) == pytest.approx(
        [expected(metric, rate) for rate in RATES]
    )

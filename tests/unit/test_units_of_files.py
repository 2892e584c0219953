"""What a file says of the unit of a load is asked of the metric: CloudWatch has some as sums, and some per second."""

import json
import re
from collections.abc import Callable, Sequence

import pytest

from burstwatch.cli.recorded import place_recorded
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import DemandMetric, Kind
from burstwatch.recordings.cells import BITS, Number, parse_number, unit_of_series
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
#: A resource of every kind, also of those that are only charged at zero.
RESOURCES = {
    **SPECS,
    "docdb_instance_cpu": {"type": "db.t3.medium"},
    "neptune_instance_cpu": {"type": "db.t3.medium"},
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
        contents, kind, RESOURCES[kind.name], name="file", only="", period_s=None, delay_s=0.0
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


#: Grafana's units of data and data rates with their size in bytes and whether they are per second, after
#: packages/grafana-data/src/valueFormats/categories.ts; None for those that people
#: also set on a panel of bytes, and for what no disk has.
GRAFANA_UNITS: dict[str, tuple[float, bool] | None] = {
    "bits": (1 / 8, False), "bytes": (1, False), "decbits": (1 / 8, False), "decbytes": (1, False),
    "kbytes": (2**10, False), "mbytes": (2**20, False), "gbytes": (2**30, False), "tbytes": (2**40, False),
    "deckbytes": (1e3, False), "decmbytes": (1e6, False), "decgbytes": (1e9, False),
    "dectbytes": (1e12, False), "pbytes": None, "decpbytes": None, "PBs": None, "PiBs": None, "Pbits": None, "Pibits": None,
    "bps": None, "binbps": None, "Bps": (1, True), "binBps": (1, True),
    "KBs": (1e3, True), "MBs": (1e6, True), "GBs": (1e9, True), "TBs": (1e12, True),
    "KiBs": (2**10, True), "MiBs": (2**20, True), "GiBs": (2**30, True), "TiBs": (2**40, True),
    "Kbits": (125.0, True), "Mbits": (125e3, True), "Gbits": (125e6, True), "Tbits": (125e9, True),
    "Kibits": (2**7, True), "Mibits": (2**17, True), "Gibits": (2**27, True), "Tibits": (2**37, True),
}  # fmt: skip
#: CloudWatch's own, of its API's StandardUnit.
CLOUDWATCH_UNITS: dict[str, tuple[float, bool] | None] = {
    f"{prefix}{amount}{per}": (factor * size, bool(per))
    for prefix, factor in {"": 1.0, "Kilo": 1e3, "Mega": 1e6, "Giga": 1e9, "Tera": 1e12}.items()
    for amount, size in {"bytes": 1.0, "bits": 1 / 8}.items()
    for per in ("", "/Second")
}
#: What people write of a network, and mean bits or bytes by it.
UNCLEAR: dict[str, tuple[float, bool] | None] = dict.fromkeys(
    ["b", "kb", "Kb", "Mb", "Gb", "kb/s", "Mb/s", "Gb/s", "kbps", "Kbps", "mbps", "Mbps", "Gbps"]
)


@pytest.mark.parametrize(
    ("unit", "meaning"),
    [*GRAFANA_UNITS.items(), *CLOUDWATCH_UNITS.items(), *UNCLEAR.items()],
    ids=str,
)
@pytest.mark.parametrize("stands", ["beside the values", "in the name"])
def test_a_unit_of_bits_or_bytes_has_its_size_or_is_refused(
    unit: str, meaning: tuple[float, bool] | None, stands: str
) -> None:
    in_name = stands == "in the name"
    beside, name = ("", f"VolumeReadBytes ({unit})") if in_name else (unit, "VolumeReadBytes")
    if meaning is None:
        with pytest.raises(ValueError, match=re.escape(unit)):
            unit_of_series(beside, [name])
        return
    size, is_rate = meaning
    unit_read = unit_of_series(beside, [name])
    assert unit_read.value == pytest.approx(size)
    assert (unit_read.is_rate, unit_read.measure) == (is_rate, "bytes")


@pytest.mark.parametrize("unit", UNCLEAR)
def test_a_cell_in_a_unit_of_bits_or_bytes_is_refused(unit: str) -> None:
    with pytest.raises(ValueError, match=re.escape(unit)):
        parse_number(f"3.5 {unit}")


@pytest.mark.parametrize(("unit", "size"), BITS.items(), ids=str)
def test_a_cell_in_bits_is_an_eighth_of_one_in_bytes(unit: str, size: float) -> None:
    assert parse_number(f"3.5 {unit}") == Number(value=3.5 * size)
    assert parse_number(f"3.5 {unit}/s") == Number(value=3.5 * size, is_rate=True)


#: A unit by what it measures.
MEASURES = {"percent": "%", "bytes": "MiB", "time": "ms", "": ""}
#: What CloudWatch's documentation says of each metric; a metric that is not here counts operations or credits.
PUBLISHED = {
    "percent": r".*(?:Balance%|BurstBalance|ThroughputBalance|IopsBalance)",
    "bytes": r".*(?:Bytes|Throughput)|BurstCreditBalance",
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("kind_name", "metric_name"),
    [
        (kind.name, metric)
        for kind in find_kinds().values()
        for metric in (*kind.level_metrics[:1], *(metric.name for metric in kind.demand_metrics))
    ],
)
def test_a_metric_in_a_unit_that_cloudwatch_has_it_not_in_is_refused(
    kind_name: str, metric_name: str, measure: str
) -> None:
    kind = find_kinds()[kind_name]
    published = [name for name, names in PUBLISHED.items() if re.fullmatch(names, metric_name)]
    names = [kind.level_metrics[0], *(metric.name for metric in kind.demand_metrics)]
    unit = f" ({MEASURES[measure]})" if measure else ""
    heading = [f"{name}{unit if name == metric_name else ''}" for name in names]
    rows = [f"{START + PERIOD_S * row}{',5' * len(names)}" for row in range(ROWS)]
    text = "\n".join([",".join(["Time", *heading]), *rows]) + "\n"
    if measure in {"", *published}:
        assert samples(kind, text, metric_name)
        return
    with pytest.raises(ValueError, match=f"{metric_name} .*CloudWatch has it"):
        samples(kind, text, metric_name)

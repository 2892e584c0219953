"""Empty is not idle: a balance that falls while a recording has no value of it is unknown, in every format."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.cli.main import run
from burstwatch.recordings.cells import NOTHING

PERIOD_S, START_S = 300, 1_795_000_200 - 1_795_000_200 % 300
Values = list[float | None]
#: An hour of which nothing is known, after three hours at 100 % and before an hour at 0.
BLANK = range(36, 48)
FALLING: Values = [*[100.0] * 36, *[None] * 12, *[0.0] * 12]
#: What is late may still be judged by what was known before.
LATE_S = 1_500.0


def _time(at: int) -> str:
    return datetime.fromtimestamp(START_S + PERIOD_S * at, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def csv_of(values: Values, empty: str, ops: float | None = None) -> str:
    rows = ["time,BurstBalance,VolumeReadOps,VolumeWriteOps"]
    for at, value in enumerate(values):
        shown = empty if value is None else f"{value:.2f}"
        load = "," if ops is None else f"0,{ops if value is None else 36_000:g}"
        rows.append(f"{_time(at)},{shown},{load}")
    return "\n".join(rows)


def console_of(values: Values, empty: str) -> str:
    head = [
        "Full label,BurstBalance",
        "Label,BurstBalance",
        "Period,300",
        "Statistic,Minimum",
        "Id,m0",
    ]
    shown = (empty if value is None else f"{value:.2f}" for value in values)
    times = (_time(at).replace("-", "/").replace("T", " ").rstrip("Z") for at in range(len(values)))
    return "\n".join([*head, *(f"{at},{value}" for at, value in zip(times, shown, strict=True))])


def own_of(values: Values, _empty: str) -> str:
    rows = ["t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes"]
    rows += [
        f"{START_S + PERIOD_S * at},{'' if value is None else value},,,,"
        for at, value in enumerate(values)
    ]
    return "\n".join(rows)


def get_metric_data_of(values: Values, _empty: str) -> str:
    times = [_time(at) for at in range(len(values))]
    series = {"Id": "m0", "Label": "BurstBalance", "Timestamps": times, "Values": values}
    return json.dumps({"MetricDataResults": [series]})


def get_metric_statistics_of(values: Values, _empty: str) -> str:
    datapoints = [{"Timestamp": _time(at), "Minimum": value} for at, value in enumerate(values)]
    return json.dumps({"Label": "BurstBalance", "Datapoints": datapoints})


def grafana_of(values: Values, _empty: str) -> str:
    times = {
        "type": "time",
        "values": [1000 * (START_S + PERIOD_S * at) for at in range(len(values))],
    }
    balance = {"type": "number", "name": "BurstBalance", "values": values}
    return json.dumps({"series": [{"fields": [times, balance]}]})


def prometheus_of(values: Values, _empty: str) -> str:
    pairs = [
        [START_S + PERIOD_S * at, "NaN" if value is None else str(value)]
        for at, value in enumerate(values)
    ]
    metric = {"__name__": "aws_ebs_burst_balance_minimum", "volume_id": "vol-1"}
    return json.dumps(
        {
            "status": "success",
            "data": {"resultType": "matrix", "result": [{"metric": metric, "values": pairs}]},
        }
    )


FORMATS: dict[str, Callable[[Values, str], str]] = {
    "csv": csv_of,
    "console": console_of,
    "own": own_of,
    "get-metric-data": get_metric_data_of,
    "get-metric-statistics": get_metric_statistics_of,
    "grafana": grafana_of,
    "prometheus": prometheus_of,
}


def verdicts(text: str, path: Path) -> list[tuple[float, str]]:
    path.write_text(text)
    out, err = io.StringIO(), io.StringIO()
    asked = [
        "explain",
        str(path),
        "--type",
        "gp2",
        "--size-gib",
        "100",
        "--delay-s",
        "0",
        "--every-period",
        "--json",
    ]
    assert run(asked, stdout=out, stderr=err, env={}, clock=lambda: 0.0) == 0, err.getvalue()
    lines = map(json.loads, out.getvalue().splitlines())
    return [(line["at"], line["verdict"]) for line in lines]


def said_while_blank(text: str, path: Path) -> set[str]:
    first, last = START_S + PERIOD_S * BLANK[0] + LATE_S, START_S + PERIOD_S * BLANK[-1]
    return {verdict for at, verdict in verdicts(text, path) if first <= at <= last}


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_says_ok_of_a_balance_that_falls_where_it_has_no_value(
    name: str, tmp_path: Path
) -> None:
    assert said_while_blank(FORMATS[name](FALLING, ""), tmp_path / "file") == {"unknown"}


@pytest.mark.parametrize("empty", sorted({*NOTHING, "N/A", "NaN", "NULL", " "}))
def test_whatever_a_program_prints_for_no_value_it_is_no_datapoint(
    empty: str, tmp_path: Path
) -> None:
    assert said_while_blank(csv_of(FALLING, empty), tmp_path / "file.csv") == {"unknown"}


@pytest.mark.parametrize("after", [100.0, 60.0, 0.0])
def test_load_beside_an_empty_balance_is_no_idleness_wherever_the_balance_ends(
    after: float, tmp_path: Path
) -> None:
    values: Values = [*[100.0] * 36, *[None] * 12, *[after] * 12]
    text = csv_of(values, "", ops=900_000)
    assert said_while_blank(text, tmp_path / "file.csv") == {"unknown"}


def test_a_recording_that_ends_without_a_balance_and_under_load_is_unknown_at_its_end(
    tmp_path: Path,
) -> None:
    text = csv_of([*[100.0] * 36, *[None] * 12], "", ops=900_000)
    assert said_while_blank(text, tmp_path / "file.csv") <= {"unknown"}


def test_a_balance_that_stays_where_it_was_has_been_idle(tmp_path: Path) -> None:
    values: Values = [*[100.0] * 36, *[None] * 12, *[100.0] * 12]
    assert "ok" in said_while_blank(csv_of(values, ""), tmp_path / "file.csv")


@given(
    blank=st.integers(6, 12),
    before=st.floats(50, 100),
    left=st.sampled_from([0.0, 0.1, 0.2, 0.3]),
    name=st.sampled_from(sorted(FORMATS)),
    empty=st.sampled_from(sorted(NOTHING)),
)
def test_over_any_hole_in_which_half_of_it_is_lost_nobody_is_told_that_all_is_well(
    tmp_path_factory: pytest.TempPathFactory,
    blank: int,
    before: float,
    left: float,
    name: str,
    empty: str,
) -> None:
    values: Values = [*[before] * 36, *[None] * blank, *[before * left] * 12]
    path = tmp_path_factory.mktemp("hole") / "file"
    first, last = START_S + PERIOD_S * 36 + LATE_S, START_S + PERIOD_S * (35 + blank)
    said = {
        verdict
        for at, verdict in verdicts(FORMATS[name](values, empty), path)
        if first <= at <= last
    }
    lost, most = 1 - left, 0.01 + 0.30  # what the two rows beside the hole can spend
    assert before / 100 * lost <= most or not said & {"ok", "watch"}

"""Metric math, SEARCH and Metrics Insights give what AWS's own pages say they give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.fake.metric_math.expressions import answer
from tests.fake.metric_math.series import Metric, QueryError

START, END = 0, 300


@dataclass
class Planted:
    """Metrics with a value a minute, or None."""

    series: dict[Metric, list[float | None]] = field(default_factory=dict)

    def put(
        self, name: str, values: Sequence[float | None], *, namespace: str = "N", **dims: str
    ) -> None:
        metric = Metric(namespace=namespace, name=name, dimensions=tuple(sorted(dims.items())))
        self.series[metric] = list(values)

    def metrics(self, namespace: str | None) -> list[Metric]:
        return [one for one in self.series if namespace in {None, one.namespace}]

    def read(
        self, metric: Metric, statistic: str, *, start_s: int, end_s: int, period_s: int
    ) -> Mapping[int, float]:
        assert period_s == 60
        assert statistic in {"Average", "Minimum", "Maximum", "Sum"}
        values = enumerate(self.series.get(metric, []))
        return {60 * i: v for i, v in values if v is not None and start_s <= 60 * i < end_s}


def metric(query_id: str, name: str, **dims: str) -> dict[str, Any]:
    dimensions = [{"Name": key, "Value": value} for key, value in dims.items()]
    asked = {"Namespace": "N", "MetricName": name, "Dimensions": dimensions}
    return {
        "Id": query_id,
        "MetricStat": {"Metric": asked, "Stat": "Average", "Period": 60},
        "ReturnData": False,
    }


def evaluate(expression: str, **metrics: Sequence[float | None]) -> dict[str, list[float | None]]:
    """The series of an expression by label, with None where there is no value."""
    store = Planted()
    for name, values in metrics.items():
        store.put(name, values)
    queries = [metric(name, name) for name in metrics]
    return evaluate_in(store, expression, queries)


def evaluate_in(
    store: Planted,
    expression: str,
    queries: Sequence[dict[str, Any]] = (),
    *,
    label: str = "",
) -> dict[str, list[float | None]]:
    asked = {"Id": "e", "Expression": expression, "Period": 60, "Label": label}
    (found,) = answer([*queries, asked], store, start_s=START, end_s=END)
    return {one.label: [one.points.get(at) for at in range(START, END, 60)] for one in found.series}


def test_the_examples_of_awss_page_on_if_hold() -> None:
    first, second, third = [1, 1, 0, 0, None], [30, None, 0, 0, 30], [0, 0, 20, None, 20]
    assert evaluate("IF(m1, m2, m3)", m1=first, m2=second, m3=third)["e"] == [30, 0, 20, None, None]
    assert evaluate("IF(m1, 5, m3)", m1=first, m3=third)["e"] == [5, 5, 20, None, None]
    assert evaluate("IF(m1, m2, 5)", m1=first, m2=second)["e"] == [30, 0, 5, 5, None]


def test_the_examples_of_awss_page_on_comparisons_hold() -> None:
    metrics: dict[str, list[float | None]] = {"m1": [30, 20, 0, 0], "m2": [20, None, 20, None]}
    assert evaluate("m1 < m2", **metrics)["e"][:4] == [0, 0, 1, 0]
    assert evaluate("m1 >= 30", **metrics)["e"][:4] == [1, 0, 0, 0]
    assert evaluate("m1 > 15 AND m2 > 15", **metrics)["e"][:4] == [1, 0, 0, 0]


def test_a_missing_value_is_0_in_a_sum_and_a_division_by_0_is_dropped() -> None:
    metrics: dict[str, list[float | None]] = {"m1": [4, 6], "m2": [2, None]}
    assert evaluate("m1 + m2 * 2", **metrics)["e"][:2] == [8, 6]
    assert evaluate("m1 / m2", **metrics)["e"][:2] == [2, None]
    assert evaluate("-m1 + 10 ^ 2", m1=[4])["e"][0] == 96


def test_filling_and_epochs_go_to_the_end_of_the_range_as_is_assumed_of_aws() -> None:
    values: list[float | None] = [None, 2, None, 4, None]
    assert evaluate("FILL(m1, REPEAT)", m1=values)["e"] == [None, 2, 2, 4, 4]
    assert evaluate("FILL(m1, 0)", m1=values)["e"] == [0, 2, 0, 4, 0]
    assert evaluate("FILL(m1, MIN(m1))", m1=values)["e"] == [2, 2, 2, 4, 2]
    assert evaluate("EPOCH(m1)", m1=values)["e"] == [0, 60, 120, 180, 240]


def test_series_are_sorted_by_their_own_statistic_and_cut() -> None:
    store = Planted()
    for name, values in {"vol-1": [5.0, 1.0], "vol-2": [2.0, 2.0], "vol-3": [9.0, 3.0]}.items():
        store.put("BurstBalance", values, namespace="AWS/EBS", VolumeId=name)
    store.put("BurstBalance", [0.0], namespace="AWS/EBS", VolumeId="vol-1", Other="x")
    search = """SEARCH('{AWS/EBS,VolumeId} MetricName="BurstBalance"', 'Minimum', 60)"""
    label = "${PROP('Dim.VolumeId')}"
    assert [*evaluate_in(store, f"SORT({search}, MIN, ASC, 2)", label=label)] == ["vol-1", "vol-2"]
    assert [*evaluate_in(store, f"SORT({search}, MAX, DESC)", label=label)] == [
        "vol-3",
        "vol-1",
        "vol-2",
    ]
    total = evaluate_in(store, f"SUM({search})")
    assert next(iter(total.values()))[:2] == [16, 6]


def test_a_search_finds_what_has_the_schema_and_every_property() -> None:
    store = Planted()
    for kind in ("ebs_volume", "ec2_instance_ebs"):
        for name in ("Severity", "TimeToExhaustion"):
            store.put(name, [1.0], Kind=kind, ResourceId=f"{kind}-1")
    store.put("Severity", [1.0], Kind="ebs_volume")

    def found(terms: str) -> set[str]:
        label = "${PROP('MetricName')} ${PROP('Dim.Kind')}"
        search = f"SEARCH('{{N,Kind,ResourceId}} {terms}', 'Maximum', 60)"
        return {*evaluate_in(store, search, label=label)}

    assert found('MetricName="Severity"') == {"Severity ebs_volume", "Severity ec2_instance_ebs"}
    assert found('MetricName="Severity" Kind="ebs_volume"') == {"Severity ebs_volume"}
    assert len(found("")) == 4


def test_insights_groups_orders_and_limits() -> None:
    store = Planted()
    for name, kind, values in (
        ("a", "x", [5.0, 4.0]),
        ("b", "x", [3.0, 9.0]),
        ("c", "y", [1.0, 1.0]),
    ):
        store.put("TimeToExhaustion", values, Kind=kind, ResourceId=name)
    store.put("TimeToExhaustion", [0.0], Deployment="d")

    def found(rest: str, function: str = "MIN") -> dict[str, list[float | None]]:
        query = f"SELECT {function}(TimeToExhaustion) FROM SCHEMA(N, Kind, ResourceId) {rest}"  # noqa: S608 - not SQL
        return {label: values[:2] for label, values in evaluate_in(store, query).items()}

    assert found("") == {"MIN(TimeToExhaustion)": [1, 1]}
    assert found("GROUP BY Kind", "MAX") == {"x": [5, 9], "y": [1, 1]}
    assert [*found("GROUP BY ResourceId ORDER BY MIN() ASC LIMIT 2")] == ["c", "b"]
    assert found("WHERE Kind = 'x' GROUP BY Kind", "SUM") == {"x": [8, 13]}
    assert found("WHERE Kind != 'x' GROUP BY ResourceId", "AVG") == {"c": [1, 1]}


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("NOSUCH(m1)", "NOSUCH"),
        ("m9 + 1", "m9"),
        ("m1 +", "the end"),
        ("(m1", "the end"),
        ("m1 $ 2", "'$ 2'"),
        ("SUM(m1)", "a number"),
        ("e + 1", "needs itself"),
        ("EPOCH(5)", "other arguments"),
        ("m1 - MIN(FILL(m2, 0))", "m2"),
        ("FILL(m1, MIN(IF(m1 > 9, m1)))", "without values"),
        ("1e5 * m1", "'e5' is not expected"),
        ("SORT(SEARCH('{N}', 'Minimum', 60), MEDIAN, ASC)", "MEDIAN"),
        ("SEARCH('{N} balance', 'Minimum', 60)", "exact terms"),
        ("SEARCH('MetricName=\"a\"', 'Minimum', 60)", "without a schema"),
        (f"SEARCH('{'x' * 1025}', 'Minimum', 60)", "1025"),
        ("SELECT MEDIAN(x) FROM N", "not a Metrics Insights query"),
        ("SELECT MIN(x) FROM N WHERE a LIKE 'b'", "not a condition"),
        ("SELECT MIN(x) FROM N GROUP BY a ORDER BY MIN()", "not a Metrics Insights query"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_language_is_refused_by_name(expression: str, named: str) -> None:
    with pytest.raises(QueryError, match="(?i).*" + named.replace("$", r"\$")):
        evaluate(expression, m1=[1.0])


def test_one_request_has_one_insights_query() -> None:
    query = {"Expression": "SELECT MIN(x) FROM N", "Period": 60}
    with pytest.raises(QueryError, match="at most one"):
        answer([{"Id": "a", **query}, {"Id": "b", **query}], Planted(), start_s=START, end_s=END)

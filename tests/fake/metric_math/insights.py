"""Metrics Insights: ``SELECT MIN(name) FROM SCHEMA(...) WHERE ... GROUP BY ... ORDER BY ... LIMIT``.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-querylanguage.html
(read 2026-11). The direction of an order has to be said here, for AWS does not state the default.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from tests.fake.metric_math.series import Metric, QueryError, Series, Store

_NAME = r'(?:"[^"]+"|\w+)'
_QUERY = re.compile(
    rf"""\s*SELECT\s+(AVG|COUNT|MAX|MIN|SUM)\(\s*({_NAME})\s*\)
    \s+FROM\s+(?:SCHEMA\(\s*({_NAME})\s*((?:,\s*{_NAME}\s*)*)\)|({_NAME}))
    (?:\s+WHERE\s+(.+?))?
    (?:\s+GROUP\s+BY\s+({_NAME}(?:\s*,\s*{_NAME})*))?
    (?:\s+ORDER\s+BY\s+(AVG|COUNT|MAX|MIN|SUM)\(\)\s+(ASC|DESC))?
    (?:\s+LIMIT\s+(\d+))?\s*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(rf"\s*({_NAME})\s*(=|!=)\s*'([^']*)'\s*$")
#: How values of several metrics are put together, and of which statistic of each.
_FUNCTIONS: dict[str, tuple[str, Callable[[Sequence[float]], float]]] = {
    "AVG": ("Average", lambda values: sum(values) / len(values)),
    "COUNT": ("SampleCount", sum),
    "MAX": ("Maximum", max),
    "MIN": ("Minimum", min),
    "SUM": ("Sum", sum),
}
MOST_SERIES = 500


def select(text: str, store: Store, *, start_s: int, end_s: int, period_s: int) -> list[Series]:
    """The series that a query gives.

    Raises:
        QueryError: for what is not of the language.
    """
    query = _QUERY.match(text)
    if query is None:
        msg = f"not a Metrics Insights query: {text!r}"
        raise QueryError(msg)
    function, name = query[1].upper(), _plain(query[2])
    namespace = _plain(query[3] or query[5])
    schema = {_plain(part) for part in (query[4] or "").split(",") if part.strip()}
    wanted = [_condition(part) for part in re.split(r"\s+AND\s+", query[6] or "") if part.strip()]
    by = tuple(_plain(part.strip()) for part in (query[7] or "").split(",") if part.strip())
    statistic, combine = _FUNCTIONS[function]
    groups: dict[tuple[tuple[str, str], ...], dict[int, list[float]]] = {}
    for metric in store.metrics(namespace):
        dimensions = dict(metric.dimensions)
        if metric.name != name or (query[3] and dimensions.keys() != schema):
            continue
        if not all((dimensions.get(key) == value) is equal for key, value, equal in wanted):
            continue
        group = tuple((key, dimensions.get(key, "Other")) for key in by)
        points = groups.setdefault(group, defaultdict(list))
        for at, value in store.read(
            metric, statistic, start_s=start_s, end_s=end_s, period_s=period_s
        ).items():
            points[at].append(value)
    found = [
        Series(
            label=" ".join(value for _, value in group) or f"{function}({name})",
            period_s=period_s,
            points={at: combine(values) for at, values in sorted(points.items())},
            metric=Metric(namespace=namespace, name=name),
            statistic=statistic,
            groups=group,
        )
        for group, points in groups.items()
        if points
    ]
    if query[8]:
        order = _FUNCTIONS[query[8].upper()][1]
        descending = query[9].upper() == "DESC"
        found.sort(key=lambda one: order(list(one.points.values())), reverse=descending)
    return found[: min(MOST_SERIES, int(query[10] or MOST_SERIES))]


def _condition(text: str) -> tuple[str, str, bool]:
    match = _CONDITION.match(text)
    if match is None:
        msg = f"Metrics Insights: not a condition: {text.strip()!r}"
        raise QueryError(msg)
    return _plain(match[1]), match[3], match[2] == "="


def _plain(name: str) -> str:
    return name.strip().strip('"')

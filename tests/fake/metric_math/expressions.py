"""Metric math, as CloudWatch evaluates it in GetMetricData.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html (read
2026-11). Known are arithmetic, comparisons, AND and OR, IF and what is in ``functions``;
any other is refused by its name. What that page says of missing values holds here: they are 0 in
arithmetic, and what would be divided by 0 is dropped.
"""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.fake.metric_math.functions import FUNCTIONS, OPERATORS, WORDS, Value, apply
from tests.fake.metric_math.insights import select
from tests.fake.metric_math.searching import parse_search
from tests.fake.metric_math.series import Metric, QueryError, Series, Store

_TOKEN = re.compile(
    r"""\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|'([^']*)'|"([^"]*)"|(<=|>=|==|!=|&&|\|\||[-+*/^()\[\],<>]))""",
)
_LEVELS = (
    ("OR", "||"),
    ("AND", "&&"),
    ("==", "!=", "<=", ">=", "<", ">"),
    ("+", "-"),
    ("*", "/"),
    ("^",),
)
#: Of a Metrics Insights query that states none.
DEFAULT_PERIOD_S = 60
SQL = re.compile(r"\s*SELECT\s", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A query's answer: one result for each of its series, in order."""

    id: str
    series: Sequence[Series]


def answer(
    queries: Sequence[Mapping[str, Any]], store: Store, *, start_s: int, end_s: int
) -> list[Answer]:
    """MetricDataQueries, each with those that it needs; hidden ones are left out of the answer.

    Raises:
        QueryError: for a query that CloudWatch would refuse, or that is not known here.
    """
    by_id = {str(query["Id"]): query for query in queries}
    if sum(bool(SQL.match(str(query.get("Expression", "")))) for query in queries) > 1:
        msg = "at most one Metrics Insights query is allowed"
        raise QueryError(msg)
    evaluation = _Evaluation(by_id, store, start_s, end_s)
    return [
        Answer(id=name, series=evaluation.shown(name))
        for name, query in by_id.items()
        if query.get("ReturnData", True)
    ]


class _Evaluation:
    """The queries of one request; each is evaluated once."""

    def __init__(
        self, queries: Mapping[str, Mapping[str, Any]], store: Store, start_s: int, end_s: int
    ) -> None:
        self._queries, self.store = queries, store
        self.start_s, self.end_s = start_s, end_s
        self._known: dict[str, Value] = {}
        self._under_way: list[str] = []

    def shown(self, name: str) -> list[Series]:
        value = self.value(name)
        if isinstance(value, float):
            msg = f"{name} gives a number, and the result must be a time series"
            raise QueryError(msg)
        query = self._queries[name]
        template = str(query.get("Label", ""))
        if isinstance(value, list):
            return [one.labelled(template) for one in value]
        named = value if "MetricStat" in query else replace(value, label=name)
        return [named.labelled(template)]

    def value(self, name: str) -> Value:
        if name in self._known:
            return self._known[name]
        if name not in self._queries:
            msg = f"the expression names {name}, and there is no query of that id"
            raise QueryError(msg)
        if name in self._under_way:
            msg = f"{name} needs itself"
            raise QueryError(msg)
        self._under_way.append(name)
        self._known[name] = found = self._evaluate(self._queries[name])
        self._under_way.pop()
        return found

    def grid(self, period_s: int) -> range:
        return range(self.start_s - self.start_s % period_s, self.end_s, period_s)

    def search(self, text: str, statistic: str, period_s: int) -> list[Series]:
        search = parse_search(text)
        found = search.select(self.store.metrics(search.namespace))
        read = [self._read(metric, statistic, period_s) for metric in found]
        return [series for series in read if series.points]

    def _evaluate(self, query: Mapping[str, Any]) -> Value:
        if "MetricStat" in query:
            stat = query["MetricStat"]
            asked = stat["Metric"]
            pairs = sorted((d["Name"], d["Value"]) for d in asked.get("Dimensions") or ())
            metric = Metric(
                namespace=asked["Namespace"], name=asked["MetricName"], dimensions=tuple(pairs)
            )
            return self._read(metric, stat["Stat"], int(stat["Period"]))
        expression = str(query["Expression"])
        if SQL.match(expression):
            period_s = int(query.get("Period") or DEFAULT_PERIOD_S)
            return select(
                expression, self.store, start_s=self.start_s, end_s=self.end_s, period_s=period_s
            )
        return _Parser(expression, self).whole()

    def _read(self, metric: Metric, statistic: str, period_s: int) -> Series:
        points = self.store.read(
            metric, statistic, start_s=self.start_s, end_s=self.end_s, period_s=period_s
        )
        label = metric.name
        if metric.dimensions:
            label = " ".join([*(value for _, value in metric.dimensions), metric.name])
        return Series(
            label=label, period_s=period_s, points=points, metric=metric, statistic=statistic
        )


class _Parser:
    """Recursive descent that evaluates as it goes."""

    def __init__(self, text: str, evaluation: _Evaluation) -> None:
        self._text, self._all = text, evaluation
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                msg = f"{text!r}: {text[at:].strip()[:20]!r} is not of the language"
                raise QueryError(msg)
            kind = next(i for i in range(1, 6) if match[i] is not None)
            self._tokens.append((("number", "name", "text", "text", "sign")[kind - 1], match[kind]))
            at = match.end()

    def whole(self) -> Value:
        value = self._level(0)
        if self._tokens:
            raise self._unexpected()
        return value

    def _level(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self._unary()
        value = self._level(level + 1)
        while self._tokens and self._tokens[0][1] in _LEVELS[level]:
            sign = self._tokens.pop(0)[1]
            value = apply(OPERATORS[sign], value, self._level(level + 1))
        return value

    def _unary(self) -> Value:
        if self._take("-"):
            return apply(operator.sub, 0.0, self._unary())
        return self._atom()

    def _atom(self) -> Value:
        if not self._tokens:
            raise self._unexpected()
        kind, text = self._tokens.pop(0)
        if kind == "number":
            return float(text)
        if text == "(":
            value = self._level(0)
            self._expect(")")
            return value
        if text == "[":
            return self._list()
        if kind == "name" and self._take("("):
            return self._call(text)
        if kind == "name":
            return self._all.value(text)
        self._tokens.insert(0, (kind, text))
        raise self._unexpected()

    def _list(self) -> list[Series]:
        found: list[Series] = []
        while not self._take("]"):
            value = self._level(0)
            if isinstance(value, float):
                msg = f"{self._text!r}: a number in a list of series"
                raise QueryError(msg)
            found += value if isinstance(value, list) else [value]
            self._take(",")
        return found

    def _call(self, name: str) -> Value:
        if name not in FUNCTIONS:
            msg = f"{self._text!r}: the function {name} is not known here"
            raise QueryError(msg)
        arguments: list[Value | str] = []
        while not self._take(")"):
            kind, text = self._tokens[0] if self._tokens else ("", "")
            called = self._tokens[1:2] == [("sign", "(")]
            if kind == "text" or (text in WORDS and not called):
                arguments.append(self._tokens.pop(0)[1])
            else:
                arguments.append(self._level(0))
            if not self._take(",") and (not self._tokens or self._tokens[0][1] != ")"):
                raise self._unexpected()
        try:
            return FUNCTIONS[name](self._all, *arguments)
        except (TypeError, AttributeError, LookupError) as error:
            msg = f"{self._text!r}: {name} takes other arguments"
            raise QueryError(msg) from error

    def _take(self, sign: str) -> bool:
        if self._tokens and self._tokens[0] == ("sign", sign):
            self._tokens.pop(0)
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unexpected()

    def _unexpected(self) -> QueryError:
        found = self._tokens[0][1] if self._tokens else "the end"
        return QueryError(f"{self._text!r}: {found!r} is not expected there")

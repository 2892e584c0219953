"""The arithmetic and the functions of metric math, by AWS's page (see ``expressions``)."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tests.fake.metric_math.series import QueryError, Series

#: A number, one series, or several.
Value = float | Series | list[Series]


class Request(Protocol):
    """The request that a function stands in."""

    def search(self, text: str, statistic: str, period_s: int) -> list[Series]:
        """The series of the metrics that a SEARCH finds, without those that have no values."""

    def grid(self, period_s: int) -> range:
        """The start of every period of the range."""


OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow,
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
    "AND": lambda a, b: bool(a) and bool(b), "&&": lambda a, b: bool(a) and bool(b),
    "OR": lambda a, b: bool(a) or bool(b), "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip
COMBINED: dict[str, Callable[[Sequence[float]], float]] = {
    "SUM": sum,
    "AVG": lambda values: sum(values) / len(values),
    "MIN": min,
    "MAX": max,
}


def apply(function: Callable[[float, float], float], left: Value, right: Value) -> Value:
    """An operator on what stands on its two sides; an array is taken series by series.

    Raises:
        QueryError: between two arrays, which AWS refuses.
    """
    if isinstance(left, list):
        if isinstance(right, list):
            msg = "arithmetic between two arrays of series is not allowed"
            raise QueryError(msg)
        return [_pair(function, one, right) for one in left]
    if isinstance(right, list):
        return [_pair(function, left, one) for one in right]
    if isinstance(left, float) and isinstance(right, float):
        return float(function(left, right))
    return _pair(function, left, right)


def _pair(
    function: Callable[[float, float], float], left: float | Series, right: float | Series
) -> Series:
    series = [one for one in (left, right) if isinstance(one, Series)]
    points = {}
    for at in sorted({at for one in series for at in one.points}):
        try:
            points[at] = float(function(_at(left, at, 0.0), _at(right, at, 0.0)))
        except ZeroDivisionError:
            continue
    return replace(series[0], points=points, period_s=max(one.period_s for one in series))


def _at(value: float | Series, at: int, missing: float) -> float:
    return value if isinstance(value, float) else value.points.get(at, missing)


def _if(_: Request, condition: Any, then: Any, otherwise: Any = None) -> Series:
    """By the table of AWS: a missing ``then`` is 0, and where ``otherwise`` is missing the point is dropped."""
    if isinstance(condition, float):
        chosen = then if condition else otherwise
        return chosen if isinstance(chosen, Series) else replace(then, points={})
    points = {}
    for at, is_so in condition.points.items():
        if is_so:
            points[at] = _at(then, at, 0.0)
        elif isinstance(otherwise, float):
            points[at] = otherwise
        elif otherwise is not None and at in otherwise.points:
            points[at] = otherwise.points[at]
    shape = next(
        (one for one in (then, otherwise, condition) if isinstance(one, Series)), condition
    )
    return replace(shape, points=points)


def _fill(evaluation: Request, value: Any, by: Any) -> Any:
    if isinstance(value, list):
        return [_fill(evaluation, one, by) for one in value]
    points, last = {}, None
    for at in evaluation.grid(value.period_s):
        last = value.points.get(at, last)
        if by == "REPEAT":
            if last is not None:
                points[at] = last
        else:
            points[at] = value.points.get(at, _at(by, at, 0.0))
    return replace(value, points=points)


# That EPOCH and FILL go on to the end of a range that ends in the future is assumed: AWS says "non-sparse", and no more.
def _epoch(evaluation: Request, value: Series) -> Series:
    return replace(value, points={at: float(at) for at in evaluation.grid(value.period_s)})


def _combine(name: str) -> Callable[..., Value]:
    function = COMBINED[name]

    def combined(_: Request, value: Any) -> Value:
        if isinstance(value, Series):
            if not value.points:
                msg = f"what the {name} of a series without values is, is not known"
                raise QueryError(msg)
            return float(function(list(value.points.values())))
        points: dict[int, list[float]] = {}
        for one in value:
            for at, number in one.points.items():
                points.setdefault(at, []).append(number)
        shape = value[0] if value else Series(label=name, period_s=60, points={})
        merged = {at: float(function(points[at])) for at in sorted(points)}
        return replace(shape, points=merged, label=name, metric=None)

    return combined


def _sort(
    _: Request, value: list[Series], by: str, order: str, most: float | None = None
) -> list[Series]:
    function = COMBINED[by]
    found = [one for one in value if one.points]
    found.sort(key=lambda one: function(list(one.points.values())), reverse=order == "DESC")
    return found if most is None else found[: int(most)]


#: Words that are arguments and no queries.
WORDS = {"REPEAT", "ASC", "DESC", *COMBINED}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "SEARCH": lambda all_, text, statistic, period: all_.search(text, statistic, int(period)),
    "IF": _if,
    "FILL": _fill,
    "EPOCH": _epoch,
    "PERIOD": lambda _, value: float(value.period_s),
    "SORT": _sort,
    **{name: _combine(name) for name in COMBINED},
}  # fmt: skip

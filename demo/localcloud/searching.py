"""SEARCH: ``{Namespace,Dimension,...} terms``, as CloudWatch finds metrics.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
(read 2026-11). Known here are exact terms in double quotes, with or without a property in
front, AND, OR, NOT and parentheses. Partial matches by token are refused: a dashboard that
depends on them finds what nobody meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demo.localcloud.series import Metric, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONGEST = 1024
MOST_SERIES = 500
_SCHEMA = re.compile(r'\s*\{((?:"[^"]*"|[^}"])*)\}\s*,?\s*')
_TOKEN = re.compile(r'\s*(?:([()])|(AND|OR|NOT)\b|(?:([\w.@:]+)=)?"((?:[^"\\]|\\.)*)")')
Matches = "Callable[[Metric], bool]"


@dataclass(frozen=True, kw_only=True)
class Search:
    """A parsed search: the schema, if there is one, and what a metric must match."""

    namespace: str | None
    dimensions: frozenset[str]
    matches: Callable[[Metric], bool]

    def select(self, metrics: Iterable[Metric]) -> list[Metric]:
        """The metrics found, in order of their names, five hundred at the most."""
        found = [metric for metric in metrics if self._fits(metric) and self.matches(metric)]
        return sorted(found, key=lambda one: (one.namespace, one.name, one.dimensions))[
            :MOST_SERIES
        ]

    def _fits(self, metric: Metric) -> bool:
        if self.namespace is None:
            return True
        names = {name for name, _ in metric.dimensions}
        # A schema without dimensions is a namespace, with them it is exactly those.
        return metric.namespace == self.namespace and (
            not self.dimensions or names == self.dimensions
        )


def parse_search(text: str) -> Search:
    """A search expression.

    Raises:
        QueryError: for what CloudWatch would refuse, and for partial matches.
    """
    if len(text) > LONGEST:
        msg = f"a search of {len(text)} characters, at most {LONGEST} are allowed"
        raise QueryError(msg)
    schema = _SCHEMA.match(text)
    namespace, dimensions, rest = None, frozenset[str](), text
    if schema is not None:
        namespace, *others = (part.strip().strip('"') for part in schema[1].split(","))
        dimensions, rest = frozenset(others), text[schema.end() :]
    if not rest.strip():
        if namespace is None:
            msg = "an empty search"
            raise QueryError(msg)
        return Search(namespace=namespace, dimensions=dimensions, matches=lambda _: True)
    parser = _Terms(rest)
    matches = parser.either()
    if parser.tokens:
        msg = f"search: {parser.tokens[0]} is not expected there"
        raise QueryError(msg)
    return Search(namespace=namespace, dimensions=dimensions, matches=matches)


class _Terms:
    """Recursive descent over the terms: OR of ANDs, with NOT and parentheses."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                msg = f"search: only exact terms in double quotes are known here, not {text[at:].strip()!r}"
                raise QueryError(msg)
            at = match.end()
            if match[1] or match[2]:
                self.tokens.append((match[1] or match[2], ""))
            else:
                value = re.sub(r"\\(.)", r"\1", match[4])
                self.tokens.append((match[3] or "*", value))

    def either(self) -> Callable[[Metric], bool]:
        parts = [self.both()]
        while self._take("OR"):
            parts.append(self.both())
        return lambda metric: any(part(metric) for part in parts)

    def both(self) -> Callable[[Metric], bool]:
        parts = [self.one()]
        while self._take("AND") or (self.tokens and self.tokens[0][0] not in {"OR", ")"}):
            parts.append(self.one())
        return lambda metric: all(part(metric) for part in parts)

    def one(self) -> Callable[[Metric], bool]:
        if self._take("NOT"):
            inner = self.one()
            return lambda metric: not inner(metric)
        if self._take("("):
            inner = self.either()
            if not self._take(")"):
                msg = "search: a parenthesis is not closed"
                raise QueryError(msg)
            return inner
        if not self.tokens or self.tokens[0][0] in {"AND", "OR", ")"}:
            msg = "search: a term is missing"
            raise QueryError(msg)
        name, value = self.tokens.pop(0)
        return lambda metric: _has(metric, name, value)

    def _take(self, word: str) -> bool:
        if self.tokens and self.tokens[0] == (word, ""):
            self.tokens.pop(0)
            return True
        return False


def _has(metric: Metric, name: str, value: str) -> bool:
    """Whether it has that value as that property, or as any where no property is named."""
    if name == "MetricName":
        return metric.name == value
    if name == "Namespace":
        return metric.namespace == value
    if name == "*":
        words = {
            metric.namespace,
            metric.name,
            *(word for pair in metric.dimensions for word in pair),
        }
        return value in words
    return (name, value) in metric.dimensions

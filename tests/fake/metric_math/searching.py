"""SEARCH: ``{Namespace,Dimension,...} terms``, as CloudWatch finds metrics.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
(read 2026-11). Known here are exact terms of a property, ``MetricName="BurstBalance"``, all of which must hold. Partial
matches by token and boolean operators are refused: a dashboard that depends on the first finds what nobody meant.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tests.fake.metric_math.series import Metric, QueryError

LONGEST = 1024
MOST_SERIES = 500
_SCHEMA = re.compile(r"\s*\{([^}]*)\}\s*")
_TERM = re.compile(r'\s*([\w.@:]+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, kw_only=True)
class Search:
    """A parsed search: the schema, and the properties that a metric must have."""

    namespace: str
    dimensions: frozenset[str]
    terms: tuple[tuple[str, str], ...]

    def select(self, metrics: Iterable[Metric]) -> list[Metric]:
        """The metrics found, in order of their names, five hundred at the most."""
        found = [metric for metric in metrics if self._matches(metric)]
        return sorted(found, key=lambda one: (one.namespace, one.name, one.dimensions))[
            :MOST_SERIES
        ]

    def _matches(self, metric: Metric) -> bool:
        names = {name for name, _ in metric.dimensions}
        # A schema without dimensions is a namespace, with them it is exactly those.
        if metric.namespace != self.namespace or (self.dimensions and names != self.dimensions):
            return False
        properties = {("MetricName", metric.name), *metric.dimensions}
        return all(term in properties for term in self.terms)


def parse_search(text: str) -> Search:
    """A search expression.

    Raises:
        QueryError: for what CloudWatch would refuse, and for what is not known here.
    """
    if len(text) > LONGEST:
        msg = f"a search of {len(text)} characters, at most {LONGEST} are allowed"
        raise QueryError(msg)
    schema = _SCHEMA.match(text)
    if schema is None:
        msg = f"a search without a schema is not known here: {text!r}"
        raise QueryError(msg)
    namespace, *dimensions = (part.strip().strip('"') for part in schema[1].split(","))
    terms, at = [], schema.end()
    while text[at:].strip():
        match = _TERM.match(text, at)
        if match is None:
            msg = (
                f"search: only exact terms of a property are known here, not {text[at:].strip()!r}"
            )
            raise QueryError(msg)
        terms.append((match[1], re.sub(r"\\(.)", r"\1", match[2])))
        at = match.end()
    return Search(namespace=namespace, dimensions=frozenset(dimensions), terms=tuple(terms))

"""A page of metrics as text, and the same as families of the Prometheus client.

The client's own encoders escape every label of every sample anew, and take half a second for
a thousand volumes; a scrape has a quarter of that. Here what a metric's samples have in
common is made once. A test holds both to the same meaning, in both formats.
"""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from prometheus_client import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from burstwatch_exporter.metrics import Definition

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
HELP_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n"})
Row = tuple[tuple[str, ...], float]
Histogram = list[tuple[str, tuple[str, ...], float]]


class Page:
    """The samples of one scrape, by metric in the order of the catalogue."""

    def __init__(self, catalogue: Sequence[Definition]) -> None:
        """``catalogue`` is every metric that there may be."""
        self._catalogue = catalogue
        self._rows: dict[str, list[Row]] = {one.name: [] for one in catalogue}
        self._histograms: dict[str, list[Histogram]] = {}

    def add(self, what: Definition, labels: tuple[str, ...], value: float) -> None:
        """One sample; ``labels`` are the values of the metric's labels, in their order."""
        self._rows[what.name].append((labels, value))

    def add_histogram(
        self,
        what: Definition,
        labels: tuple[str, ...],
        buckets: Sequence[tuple[float, int]],
        *,
        total: float,
    ) -> None:
        """Upper bounds with cumulative counts, the last bound infinite, and the sum of all values."""
        rows = [("_bucket", (*labels, _number(bound)), float(count)) for bound, count in buckets]
        rows += [("_count", labels, float(buckets[-1][1])), ("_sum", labels, total)]
        self._histograms.setdefault(what.name, []).append(rows)

    def families(self) -> Iterator[Metric]:
        """As the client's registry takes them."""
        for what, rows in self._filled():
            family = Metric(what.name, what.help, what.type)
            for suffix, names, some in self._parts(what, rows):
                for labels, value in some:
                    named = dict(zip(names, labels, strict=True))
                    family.add_sample(what.printed + suffix, named, float(value))
            yield family

    def text(self) -> str:
        """In Prometheus' text format."""
        parts: list[str] = []
        for what, rows in self._filled():
            name = what.printed
            parts.append(
                f"# HELP {name} {what.help.translate(HELP_ESCAPES)}\n# TYPE {name} {what.type}\n"
            )
            for suffix, names, some in self._parts(what, rows):
                _add_rows(parts, what.printed + suffix, names, some)
        return "".join(parts)

    def openmetrics(self) -> str:
        """In the format OpenMetrics 1.0."""
        parts: list[str] = []
        for what, rows in self._filled():
            parts.append(
                f"# HELP {what.name} {what.help.translate(ESCAPES)}\n# TYPE {what.name} {what.type}\n"
            )
            for suffix, names, some in self._parts(what, rows):
                _add_rows(parts, what.printed + suffix, names, some)
        parts.append("# EOF\n")
        return "".join(parts)

    def _filled(self) -> Iterator[tuple[Definition, list[Row]]]:
        for one in self._catalogue:
            rows = self._rows[one.name]
            if rows or one.name in self._histograms:
                yield one, rows

    def _parts(
        self, what: Definition, rows: list[Row]
    ) -> Iterator[tuple[str, tuple[str, ...], list[Row]]]:
        """The samples of a metric by the end of their name, with the names of their labels."""
        if rows:
            yield "", what.labels, rows
        for histogram in self._histograms.get(what.name, ()):
            for suffix, some in groupby(histogram, key=itemgetter(0)):
                names = (*what.labels, "le") if suffix == "_bucket" else what.labels
                yield suffix, names, [(labels, value) for _, labels, value in some]


def _add_rows(parts: list[str], name: str, labels_of: tuple[str, ...], rows: list[Row]) -> None:
    line = name
    if labels_of:
        inner = ",".join(f'{label}="%s"' for label in labels_of)
        line = f"{line}{{{inner}}}"
    quotes = 2 * len(labels_of)
    for labels, value in rows:
        text = line % labels
        if "\\" in text or "\n" in text or text.count('"') != quotes:
            text = line % tuple(label.translate(ESCAPES) for label in labels)
        parts.append(f"{text} {_number(value)}\n")


def _number(value: float) -> str:
    if value == math.inf:
        return "+Inf"
    return repr(value + 0)  # a bool becomes a number

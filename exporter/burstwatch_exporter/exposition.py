"""A page of metrics as text, and the same as families of the Prometheus client.

The client's own encoders escape every label of every sample anew, and take half a second for
a thousand volumes; a scrape has a quarter of that. Here what a metric's samples have in
common is made once. A test holds both to the same meaning, in both formats.
"""

from __future__ import annotations

import math
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


class Page:
    """The samples of one scrape, by metric in the order of the catalogue."""

    def __init__(self, catalogue: Sequence[Definition]) -> None:
        """``catalogue`` is every metric that there may be."""
        self._catalogue = catalogue
        self._rows: dict[str, list[Row]] = {one.name: [] for one in catalogue}

    def add(self, what: Definition, labels: tuple[str, ...], value: float) -> None:
        """One sample; ``labels`` are the values of the metric's labels, in their order."""
        self._rows[what.name].append((labels, value))

    def families(self) -> Iterator[Metric]:
        """As the client's registry takes them."""
        for what, rows in self._filled():
            family = Metric(what.name, what.help, what.type)
            for labels, value in rows:
                named = dict(zip(what.labels, labels, strict=True))
                family.add_sample(what.printed, named, float(value))
            yield family

    def text(self) -> str:
        """In Prometheus' text format."""
        parts: list[str] = []
        for what, rows in self._filled():
            name = what.printed
            parts.append(
                f"# HELP {name} {what.help.translate(HELP_ESCAPES)}\n# TYPE {name} {what.type}\n"
            )
            _add_rows(parts, what, rows)
        return "".join(parts)

    def openmetrics(self) -> str:
        """In the format OpenMetrics 1.0."""
        parts: list[str] = []
        for what, rows in self._filled():
            parts.append(
                f"# HELP {what.name} {what.help.translate(ESCAPES)}\n# TYPE {what.name} {what.type}\n"
            )
            _add_rows(parts, what, rows)
        parts.append("# EOF\n")
        return "".join(parts)

    def _filled(self) -> Iterator[tuple[Definition, list[Row]]]:
        return ((one, rows) for one in self._catalogue if (rows := self._rows[one.name]))


def _add_rows(parts: list[str], what: Definition, rows: list[Row]) -> None:
    line = what.printed
    if what.labels:
        inner = ",".join(f'{name}="%s"' for name in what.labels)
        line = f"{line}{{{inner}}}"
    quotes = 2 * len(what.labels)
    for labels, value in rows:
        text = line % labels
        if "\\" in text or "\n" in text or text.count('"') != quotes:
            text = line % tuple(label.translate(ESCAPES) for label in labels)
        parts.append(f"{text} {_number(value)}\n")


def _number(value: float) -> str:
    if value == math.inf:
        return "+Inf"
    return repr(value + 0)  # a bool becomes a number

"""A page of metrics as the Prometheus client encodes it, and the declaration of each metric."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.openmetrics.exposition import ALLOWUTF8, UNDERSCORES
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS, OPENMETRICS_VERSION = "application/openmetrics-text", "1.0.0"
#: How a line begins that names a metric before its samples.
TYPE = "# TYPE "
#: From here on Go writes an exponent, and Python does not.
WRITTEN_ALIKE = 1e6
ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


Type = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One metric. A counter's name has no ``_total`` here; it gets it where it is printed."""

    name: str
    type: Type
    labels: tuple[str, ...]
    help: str

    @property
    def printed(self) -> str:
        """The name as it is scraped."""
        return f"{self.name}_total" if self.type == "counter" else self.name


def define(kind: Type, name: str, labels: tuple[str, ...], text: str) -> Definition:
    """Declare a metric of this product: its name begins with ``burstwatch_``."""
    return Definition(name=f"burstwatch_{name}", type=kind, labels=labels, help=text)


gauge, counter, histogram = (
    partial(define, "gauge"), partial(define, "counter"), partial(define, "histogram"),
)  # fmt: skip


@lru_cache(maxsize=65_536)
def _head(printed: str, names: tuple[str, ...], labels: tuple[str, ...]) -> str:
    """A line up to its value. The client sorts labels by name.

    Each scrape has the same ones: to write them anew makes a scrape take 2.6 times node_exporter's CPU, and 2.5 are allowed.
    """
    values = dict(zip(names, labels, strict=True))
    pairs = ",".join(f'{name}="{values[name].translate(ESCAPES)}"' for name in sorted(values))
    return f"{printed}{{{pairs}}} " if pairs else f"{printed} "


def _number(value: float) -> str:
    """A value as the client writes it: nearly all are as Python writes them, and to ask the client takes thrice as long."""
    if 0 <= value < WRITTEN_ALIKE:
        return repr(float(value))
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]


@dataclass(kw_only=True, slots=True)
class _Rows:
    """Samples of one name with the same labels: the values of these, and that of the sample."""

    printed: str
    names: tuple[str, ...]
    samples: list[tuple[tuple[str, ...], float]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The samples as both formats write them."""
        printed, names = self.printed, self.names
        for labels, value in self.samples:
            yield f"{_head(printed, names, labels)}{_number(value)}\n"


class Family(Metric):
    """The samples of one metric as rows. They are written as lines once, in one go.

    The client looks at each letter of each name and value of each sample, which is most of the time of a page.
    """

    def __init__(self, definition: Definition) -> None:
        """A metric without samples."""
        super().__init__(definition.name, definition.help, definition.type)
        self.rows: list[_Rows] = []

    def lines(self) -> Iterator[str]:
        """The samples as both formats write them, in their order."""
        return (line for rows in self.rows for line in rows.lines())

    def with_samples(self) -> Metric:
        """Return the metric as the client keeps it."""
        metric = Metric(self.name, self.documentation, self.type)
        for rows in self.rows:
            for labels, value in rows.samples:
                metric.add_sample(
                    rows.printed, dict(zip(rows.names, labels, strict=True)), float(value)
                )
        return metric


class Page:
    """The samples of one scrape, by metric in the order of the catalogue."""

    def __init__(self, catalogue: Sequence[Definition]) -> None:
        """``catalogue`` is every metric that there may be."""
        self._families = {definition.name: Family(definition) for definition in catalogue}
        self._plain: dict[str, list[tuple[tuple[str, ...], float]]] = {}

    def add(self, definition: Definition, labels: tuple[str, ...], value: float) -> None:
        """Add one sample; ``labels`` are the values of the metric's labels, in their order."""
        if len(labels) != len(definition.labels):
            msg = f"{definition.name} has the labels {definition.labels}, got {labels}"
            raise ValueError(msg)
        samples = self._plain.get(definition.name)
        if samples is None:
            rows = _Rows(printed=definition.printed, names=definition.labels)
            samples = self._plain[definition.name] = rows.samples
            self._families[definition.name].rows.append(rows)
        samples.append((labels, value))

    def add_histogram(
        self,
        definition: Definition,
        labels: tuple[str, ...],
        buckets: Sequence[tuple[float, int]],
        *,
        total: float,
    ) -> None:
        """Upper bounds with cumulative counts, the last bound infinite, and the sum of all values."""
        name, names = definition.name, definition.labels
        upper = ("+Inf" if math.isinf(bound) else repr(bound) for bound, _ in buckets)
        counts: list[tuple[tuple[str, ...], float]] = [
            ((*labels, le), count) for le, (_, count) in zip(upper, buckets, strict=True)
        ]
        self._families[name].rows += [
            _Rows(printed=f"{name}_bucket", names=(*names, "le"), samples=counts),
            _Rows(printed=f"{name}_count", names=names, samples=[(labels, buckets[-1][1])]),
            _Rows(printed=f"{name}_sum", names=names, samples=[(labels, total)]),
        ]

    def families(self) -> Iterator[Family]:
        """Yield the metrics that have samples."""
        return (family for family in self._families.values() if family.rows)


def content_type_of(accept: str) -> str:
    """The format that a client with this ``Accept`` header gets."""
    return _encoder(accept)[1]


def encode(registry: CollectorRegistry, accept: str) -> tuple[str, bytes]:
    """The content type and the body of a scrape, in the format that its client takes.

    The client library writes the page, and chooses its format; the lines of our own samples are put in.
    """
    encoder, content_type, escapes_names = _encoder(accept)
    families = [*registry.collect()]
    if escapes_names:
        plain = [
            family.with_samples() if isinstance(family, Family) else family for family in families
        ]
        return content_type, encoder(_Collected(plain))
    lines = {
        name: family.lines
        for family in families
        if isinstance(family, Family)
        for name in (family.name, f"{family.name}_total")
    }
    parts: list[str] = []
    for line in re.split(r"(?<=\n)", encoder(_Collected(families)).decode()):
        parts.append(line)
        if line.startswith(TYPE):
            parts += lines.get(line.split(" ")[2], tuple)()
    return content_type, "".join(parts).encode()


class _Collected(Collector):
    """Metrics that are collected already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _spoken(accept: str) -> str:
    """An Accept header without the versions of OpenMetrics that the client library would only claim to write."""
    entries = []
    for entry in accept.split(","):
        kind, *parameters = (part.strip() for part in entry.split(";"))
        versions = [part.partition("=")[2] for part in parameters if part.startswith("version=")]
        if kind != OPENMETRICS or versions in ([], [OPENMETRICS_VERSION]):
            entries.append(entry)
    return ",".join(entries)


def _encoder(accept: str) -> tuple[Callable[[Collector], bytes], str, bool]:
    """Choose the format that the scraper accepts: (writer, content type, whether names are changed on the page)."""
    try:
        encoder, content_type = choose_encoder(_spoken(accept))
    except (TypeError, ValueError):  # an Accept header that is none
        return generate_latest, PLAIN, False
    escaping = encoder.keywords.get("escaping") if isinstance(encoder, partial) else UNDERSCORES
    # Every name here is of the classic alphabet, which these two leave as it is.
    return encoder, content_type, escaping not in {UNDERSCORES, ALLOWUTF8}

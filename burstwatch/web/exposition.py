"""A page of metrics as the Prometheus client encodes it, and the declaration of each metric."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, cast

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.openmetrics.exposition import ALLOWUTF8, UNDERSCORES

PLAIN = "text/plain; version=0.0.4; charset=utf-8"


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


class Page:
    """The samples of one scrape, by metric in the order of the catalogue."""

    def __init__(self, catalogue: Sequence[Definition]) -> None:
        """``catalogue`` is every metric that there may be."""
        self._families = {
            definition.name: Metric(definition.name, definition.help, definition.type)
            for definition in catalogue
        }

    def add(self, definition: Definition, labels: tuple[str, ...], value: float) -> None:
        """Add one sample; ``labels`` are the values of the metric's labels, in their order."""
        named = dict(zip(definition.labels, labels, strict=True))
        self._families[definition.name].add_sample(definition.printed, named, float(value))

    def add_histogram(
        self,
        definition: Definition,
        labels: tuple[str, ...],
        buckets: Sequence[tuple[float, int]],
        *,
        total: float,
    ) -> None:
        """Upper bounds with cumulative counts, the last bound infinite, and the sum of all values."""
        family, named = (
            self._families[definition.name],
            dict(zip(definition.labels, labels, strict=True)),
        )
        for bound, count in buckets:
            family.add_sample(
                f"{definition.name}_bucket",
                {**named, "le": "+Inf" if math.isinf(bound) else repr(bound)},
                count,
            )
        family.add_sample(f"{definition.name}_count", named, buckets[-1][1])
        family.add_sample(f"{definition.name}_sum", named, total)

    def families(self) -> Iterator[Metric]:
        """Yield the metrics that have samples."""
        return (family for family in self._families.values() if family.samples)


def content_type_of(accept: str) -> str:
    """The format that a client with this ``Accept`` header gets."""
    return _encoder(accept)[1]


def encode(registry: CollectorRegistry, accept: str) -> tuple[str, bytes]:
    """The content type and the body of a scrape, in the format that its client takes."""
    encoder, content_type = _encoder(accept)
    return content_type, encoder(registry)


def _encoder(accept: str) -> tuple[Callable[[CollectorRegistry], bytes], str]:
    """Choose the format that the scraper accepts: (writer, content type)."""
    try:
        encoder, content_type = choose_encoder(accept)
    except (TypeError, ValueError):  # an Accept header that is none
        return generate_latest, PLAIN
    escaping = encoder.keywords.get("escaping") if isinstance(encoder, partial) else UNDERSCORES
    if escaping == UNDERSCORES:
        # Every name here is of the classic alphabet, so that both ways write the same bytes. To look for what
        # must become an underscore, the client takes each letter of each name: a third of a scrape.
        encoder = partial(cast("Callable[..., bytes]", encoder), escaping=ALLOWUTF8)
    return encoder, content_type

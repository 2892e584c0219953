"""Shapes what a query gives: data frames, as Grafana's data sources give them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Cell = float | str | None


class LookError(ValueError):
    """A dashboard that uses what is not known here, or a source that does not answer."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column. Times are seconds since the epoch; ``shown_as`` is the name that the source gives it."""

    name: str
    type: Literal["time", "number", "string"]
    values: Sequence[Cell]
    labels: Mapping[str, str] = field(default_factory=dict)
    shown_as: str = ""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What one query gave, or one series of it: columns of the same length. Without columns it is empty."""

    query: str
    name: str = ""
    fields: Sequence[Field] = ()

    @property
    def known(self) -> int:
        """How many rows have a value."""
        return sum(value is not None for value in self.fields[-1].values) if self.fields else 0

    @property
    def points(self) -> list[tuple[float, float]]:
        """Time and value of a series."""
        times, values = (one.values for one in self.fields)
        return [
            (float(at or 0), float(value or 0)) for at, value in zip(times, values, strict=True)
        ]

    def as_json(self) -> dict[str, Any]:
        """In Grafana's own format of transfer, in which values that JSON lacks stand aside."""
        schema = [
            {
                "name": one.name,
                "type": one.type,
                "labels": dict(one.labels),
                "config": {"displayNameFromDS": one.shown_as} if one.shown_as else {},
            }
            for one in self.fields
        ]
        return {
            "schema": {"refId": self.query, "name": self.name, "fields": schema},
            "data": {
                "values": [[_plain(one, value) for value in one.values] for one in self.fields],
                "entities": [_entities(one) for one in self.fields],
            },
        }


def series(query: str, name: str, points: Sequence[tuple[float, float]], labels: Mapping[str, str] | None = None) -> Frame:  # fmt: skip
    """A frame of one series over time."""
    times, values = [at for at, _ in points], [value for _, value in points]
    fields = [
        Field(name="Time", type="time", values=times),
        Field(name="Value", type="number", values=values, labels=labels or {}, shown_as=name),
    ]
    return Frame(query=query, name=name, fields=fields)


def _plain(column: Field, value: Cell) -> Cell:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value * 1000 if column.type == "time" and isinstance(value, float) else value


def _entities(column: Field) -> dict[str, list[int]] | None:
    numbers = [(i, x) for i, x in enumerate(column.values) if isinstance(x, float)]
    found = {
        "NaN": [i for i, x in numbers if math.isnan(x)],
        "Inf": [i for i, x in numbers if x == math.inf],
        "NegInf": [i for i, x in numbers if x == -math.inf],
    }
    return found if any(found.values()) else None


@dataclass(frozen=True, kw_only=True)
class Span:
    """The range that is looked at, in seconds since the epoch."""

    start_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end_s - self.start_s

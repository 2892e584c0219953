"""Reads data frames as Grafana's panel inspector and its query API print them.

Three forms: the panel's data (``series`` with ``fields`` that hold their values), data frame
JSON (a list of ``schema`` and ``data``), and the answer of a query (``results`` with ``frames``).
"""

from collections.abc import Iterator
from typing import Any

from burstwatch.recordings.raw import RawContents, RawSeries
from burstwatch.recordings.samples import About

PROGRAMS = ("Grafana's inspector",)


def read_document(document: Any) -> RawContents | None:  # noqa: ANN401 - any JSON
    """The number fields of all frames, or None for a document of another program.

    Raises:
        ValueError: for a column that has not a value for each time.
    """
    frames = list(_frames(document))
    if not frames:
        return None
    return RawContents(
        about=About(format="JSON of Grafana", gaps_are_silence=True),
        series=[series for frame in frames for series in _series(frame)],
    )


def _frames(document: Any) -> Iterator[list[dict[str, Any]]]:  # noqa: ANN401 - any JSON
    """The fields of each frame, each with its ``values``."""
    if isinstance(document, list):
        for frame in document:
            yield from _frames(frame)
    elif isinstance(document, dict):
        if "schema" in document and "data" in document:
            fields = document["schema"]["fields"]
            values = document["data"]["values"]
            yield [
                {**field, "values": column} for field, column in zip(fields, values, strict=True)
            ]
        elif "fields" in document and "rows" not in document:  # which Splunk has
            yield document["fields"]
        else:
            for key in ("series", "frames", "results", "response"):
                inner = document.get(key)
                yield from _frames(list(inner.values()) if key == "results" and inner else inner)


def _series(fields: list[dict[str, Any]]) -> Iterator[RawSeries]:
    """Read each column of numbers against the frame's column of times."""
    times = next((field["values"] for field in fields if field.get("type") == "time"), None)
    if times is None:
        return
    for field in fields:
        if field.get("type") != "number":
            continue
        if len(times) != len(field["values"]):
            msg = f"{field.get('name')} has {len(field['values'])} values for {len(times)} times; allowed: one for each"
            raise ValueError(msg)
        yield RawSeries(
            names=_names(field),
            times=times,
            values=field["values"],
            unit=str((field.get("config") or {}).get("unit") or ""),
        )


def _names(field: dict[str, Any]) -> tuple[str, ...]:
    config = field.get("config") or {}
    shown = config.get("displayNameFromDS") or config.get("displayName") or ""
    labels = " ".join(map(str, (field.get("labels") or {}).values()))
    return (str(shown), str(field.get("name", "")), labels)

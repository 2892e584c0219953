"""Reads Datadog's query API (versions 1 and 2)."""

from typing import Any

from burstwatch.recordings.raw import RawContents, RawSeries, pairs_of
from burstwatch.recordings.samples import About

PROGRAMS = ("Datadog's query API",)


def read_document(document: Any) -> RawContents | None:  # noqa: ANN401 - any JSON
    """The series of an answer, or None for a document of another program. It may have failed to ask where a time is missing.

    Raises:
        ValueError: for an answer that is an error.
    """
    if not isinstance(document, dict):
        return None
    refused = document.get("errors")
    if isinstance(refused, list) and refused and len(document) == 1:
        msg = f"Datadog answered with an error: {refused[0]!s:.80}"
        raise ValueError(msg)
    if document.get("status") == "error" and "series" in document:
        msg = f"Datadog answered with an error: {document.get('error') or document.get('message')}"
        raise ValueError(msg)
    if any("pointlist" in series for series in document.get("series", [])):
        return _contents([_series(series) for series in document["series"]])
    attributes = document["data"]["attributes"]
    if "times" not in attributes:
        return None
    named = zip(attributes["series"], attributes["values"], strict=True)
    return _contents(
        [
            RawSeries(
                names=(" ".join(map(str, series.get("group_tags") or [])),),
                unit=_unit(series),
                times=attributes["times"],
                values=values,
            )
            for series, values in named
        ],
    )


def _series(series: dict[str, Any]) -> RawSeries:
    names = (series.get("expression"), series.get("metric"), series.get("scope"))
    points = pairs_of(series["pointlist"])
    return RawSeries(
        names=tuple(str(name) for name in names if name),
        unit=_unit(series),
        times=[at for at, _ in points],
        values=[value for _, value in points],
    )


def _unit(series: dict[str, Any]) -> str:
    """``/s`` for values per second: Datadog gives a unit as a pair, of which the second is what it is per."""
    units = series.get("unit") or []
    per = units[1].get("name") if len(units) > 1 and units[1] else None
    is_rate = per == "second" or any(unit and unit.get("per") == "second" for unit in units)
    return "/s" if is_rate else ""


def _contents(series: list[RawSeries]) -> RawContents:
    return RawContents(about=About(format="JSON of Datadog", gaps_are_silence=False), series=series)

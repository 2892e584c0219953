"""Reads the answer of Prometheus to ``/api/v1/query_range``."""

from typing import Any

from burstwatch.recordings.raw import RawContents, RawSeries, pairs_of
from burstwatch.recordings.samples import About

PROGRAMS = ("Prometheus's query_range",)


def read_document(document: Any) -> RawContents | None:  # noqa: ANN401 - any JSON
    """The series of a range query, or None for a document of another program.

    A scrape that failed leaves a gap that is no silence of the resource.

    Raises:
        ValueError: for an answer that is an error or no range.
    """
    if _is_series(document):
        document = [document]
    elif isinstance(document, dict) and document.get("resultType") == "matrix":
        document = document["result"]
    if isinstance(document, list) and document and all(_is_series(part) for part in document):
        return _contents("JSON of Prometheus", [_series(part) for part in document])
    if not isinstance(document, dict) or "status" not in document or "series" in document:
        return None
    if document["status"] != "success":
        if "errorType" not in document and "error" not in document:
            return None
        msg = f"Prometheus answered with an error: {document.get('error', document['status'])}"
        raise ValueError(msg)
    data = document["data"]
    if data.get("resultType") != "matrix":
        msg = f"the answer is of the type {data.get('resultType')!r}, only query_range gives a series over time"
        raise ValueError(msg)
    return _contents("JSON of Prometheus", [_series(result) for result in data["result"]])


def _is_series(part: object) -> bool:
    return (
        isinstance(part, dict) and {"metric", "values"} <= part.keys() and "timestamps" not in part
    )


def _series(result: dict[str, Any]) -> RawSeries:
    labels = {key: str(value) for key, value in result["metric"].items()}
    return RawSeries(
        names=_names(labels.pop("__name__", ""), labels),
        times=[at for at, _ in pairs_of(result["values"])],
        values=[value for _, value in pairs_of(result["values"])],
    )


def _names(name: str, labels: dict[str, str]) -> tuple[str, ...]:
    return (name, " ".join(labels.values()))


def _contents(format_: str, series: list[RawSeries]) -> RawContents:
    return RawContents(about=About(format=format_, gaps_are_silence=False), series=series)

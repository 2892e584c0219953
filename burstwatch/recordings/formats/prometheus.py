"""Reads the answer of Prometheus's ``/api/v1/query_range``."""

from typing import Any

from burstwatch.recordings.cells import parse_points
from burstwatch.recordings.samples import Contents, RecordedSeries

PROGRAMS = ("Prometheus's query_range",)


def read_document(document: Any) -> Contents | None:  # noqa: ANN401 - any JSON
    """The series of a range query, or None for a document of another program.

    A scrape that failed leaves a gap that is no silence of the resource.

    Raises:
        ValueError: for an answer that is an error or no range, and for values that no metric has.
    """
    if not isinstance(document, dict) or "status" not in document:
        return None
    if document["status"] != "success":
        msg = f"Prometheus answered with an error: {document.get('error', document['status'])}"
        raise ValueError(msg)
    data = document["data"]
    if data.get("resultType") != "matrix":
        msg = f"the answer is of the type {data.get('resultType')!r}, only query_range gives a series over time"
        raise ValueError(msg)
    return Contents(
        format="JSON of Prometheus",
        series=[
            RecordedSeries(
                names=(
                    str(result["metric"].get("__name__", "")),
                    " ".join(v for k, v in result["metric"].items() if k != "__name__"),
                ),
                points=parse_points(result["values"]),
            )
            for result in data["result"]
        ],
        gaps_are_silence=False,
        spec={},
    )

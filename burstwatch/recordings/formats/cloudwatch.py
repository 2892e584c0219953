"""Reads what the AWS CLI prints: ``get-metric-statistics`` and ``get-metric-data``.

Neither is in time order, and both may say a time in ISO or in seconds.
"""

from typing import Any

from burstwatch.recordings.cells import parse_points
from burstwatch.recordings.samples import Contents, RecordedSeries

PROGRAMS = ("`aws cloudwatch get-metric-statistics`", "`get-metric-data`")
#: How a datapoint names its values, the one that `burstwatch` asks for first.
STATISTICS = ("Minimum", "Sum", "Average", "Maximum")


def read_document(document: Any) -> Contents | None:  # noqa: ANN401 - any JSON
    """The series of one answer, or None for a document of another program.

    Raises:
        ValueError: for a value or time that no metric has.
    """
    if not isinstance(document, dict):
        return None
    if "Datapoints" in document:
        return Contents(
            format="get-metric-statistics",
            series=_statistics(document),
            gaps_are_silence=True,
            spec={},
        )
    if "MetricDataResults" in document:
        return Contents(
            format="get-metric-data",
            series=[
                RecordedSeries(
                    names=(str(result.get("Label") or ""), str(result.get("Id") or "")),
                    points=_points(result),
                )
                for result in document["MetricDataResults"]
            ],
            gaps_are_silence=True,
            spec={},
            notes=_missing_parts(document),
        )
    return None


def _statistics(document: dict[str, Any]) -> list[RecordedSeries]:
    """Read one series for each statistic that the datapoints have."""
    points = document["Datapoints"]
    return [
        RecordedSeries(
            names=(str(document.get("Label", "")),),
            statistic=statistic,
            points=parse_points(
                (point["Timestamp"], point[statistic]) for point in points if statistic in point
            ),
        )
        for statistic in STATISTICS
        if any(statistic in point for point in points)
    ]


def _points(result: dict[str, Any]) -> list[tuple[float, float]]:
    times, values = result["Timestamps"], result["Values"]
    if len(times) != len(values):
        msg = f"{result.get('Id')} has {len(times)} Timestamps and {len(values)} Values, allowed is a value for each"
        raise ValueError(msg)
    return parse_points(zip(times, values, strict=True))


def _missing_parts(document: dict[str, Any]) -> tuple[str, ...]:
    """A note for each part of an answer that is missing: later pages, and series that CloudWatch calls incomplete."""
    notes = []
    if document.get("NextToken"):
        notes.append("the answer has a NextToken, so later pages are missing")
    notes += [
        f"{result.get('Label', 'a series')} is {result['StatusCode']}"
        for result in document["MetricDataResults"]
        if result.get("StatusCode", "Complete") != "Complete"
    ]
    return tuple(notes)

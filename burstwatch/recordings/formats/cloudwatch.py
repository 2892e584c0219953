"""Reads what the AWS CLI and SDKs give: ``get-metric-statistics`` and ``get-metric-data``, whole or by ``--query``.

Neither is in time order, and both may say a time in ISO or in seconds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from burstwatch.recordings.matching import statistic_of_word
from burstwatch.recordings.raw import RawContents, RawSeries
from burstwatch.recordings.samples import About

PROGRAMS = ("`aws cloudwatch get-metric-statistics`", "`get-metric-data`")
#: How a datapoint names its values, the one that `burstwatch` asks for first.
#: ``Value`` stands for one that text output does not name.
STATISTICS = ("Minimum", "Sum", "Average", "Maximum", "Value")


def read_document(document: Any) -> RawContents | None:  # noqa: ANN401 - any JSON
    """The series of one answer, or None for a document of another program.

    Raises:
        ValueError: for a result whose times and values differ in number.
    """
    if isinstance(document, list) and document and all(map(_is_result, document)):
        document = {"MetricDataResults": document}
    elif _is_result(document):
        document = {"MetricDataResults": [document]}
    if not isinstance(document, dict):
        return None
    if "Datapoints" in document:
        return RawContents(
            about=About(format="get-metric-statistics", gaps_are_silence=True),
            series=_statistics(document),
        )
    if "MetricDataResults" in document:
        return RawContents(
            about=About(
                format="get-metric-data", gaps_are_silence=True, notes=_missing_parts(document)
            ),
            series=[_series(result) for result in document["MetricDataResults"]],
        )
    return None


def _is_result(document: object) -> bool:
    return isinstance(document, dict) and {"Timestamps", "Values"} <= document.keys()


def _statistics(document: Mapping[str, Any]) -> list[RawSeries]:
    """Read one series for each statistic that the datapoints have."""
    points: Sequence[Mapping[str, Any]] = document["Datapoints"]
    if not points:
        return []
    times = [point["Timestamp"] for point in points]
    columns = {
        statistic: [point.get(statistic) for point in points]
        for statistic in STATISTICS
        if any(point.get(statistic) is not None for point in points)
    }
    return [
        RawSeries(
            names=(str(document.get("Label") or ""),),
            statistic=statistic_of_word(statistic),
            unit=str(points[0].get("Unit") or ""),
            times=times,
            values=values,
        )
        for statistic, values in columns.items()
    ]


def _series(result: Mapping[str, Any]) -> RawSeries:
    times, values = result["Timestamps"], result["Values"]
    if len(times) != len(values):
        msg = f"{result.get('Id')} has {len(times)} Timestamps and {len(values)} Values; allowed: a value for each"
        raise ValueError(msg)
    return RawSeries(
        names=(str(result.get("Label") or ""), str(result.get("Id") or "")),
        times=times,
        values=values,
    )


def _missing_parts(document: Mapping[str, Any]) -> tuple[str, ...]:
    """A note for each part of an answer that is missing: later pages, and series that CloudWatch calls incomplete."""
    notes = []
    if document.get("NextToken"):
        notes.append("the answer has a NextToken, so later pages are missing")
    notes += [
        f"{result.get('Label', 'a series')} is {result['StatusCode']}"
        for result in document["MetricDataResults"]
        if (result.get("StatusCode") or "Complete") != "Complete"
    ]
    return tuple(notes)

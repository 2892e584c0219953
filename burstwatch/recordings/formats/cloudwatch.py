"""Reads what the AWS CLI and SDKs give: ``get-metric-statistics`` and ``get-metric-data``, whole or by ``--query``.

Neither is in time order, and both may say a time in ISO or in seconds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from burstwatch.recordings.matching import statistic_of_word
from burstwatch.recordings.raw import RawContents, RawSeries
from burstwatch.recordings.samples import About
from burstwatch.recordings.times import is_time

PROGRAMS = ("`aws cloudwatch get-metric-statistics`", "`get-metric-data`")
#: How a datapoint names its values, the one that `burstwatch` asks for first.
#: ``Value`` stands for one that text output does not name.
LOWER_KEYS = frozenset({"datapoints", "metricDataResults"})
PERCENTILES = "ExtendedStatistics"
STATISTICS = ("Minimum", "Sum", "Average", "Maximum", "Value")


def read_document(document: Any) -> RawContents | None:  # noqa: ANN401 - any JSON
    """The series of one answer, or None for a document of another program.

    Raises:
        ValueError: for a result whose times and values differ in number.
    """
    if isinstance(document, list) and document and all(map(_is_result, document)):
        document = {"MetricDataResults": document}
    elif results := _results_of_lists(document):
        document = {"MetricDataResults": results}
    elif _is_result(document):
        document = {"MetricDataResults": [document]}
    if not isinstance(document, dict):
        return None
    if not LOWER_KEYS.isdisjoint(document):
        document = _capitalised(document)
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


def _capitalised(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The document with its keys as the API writes them; some libraries begin them with a small letter."""
    if isinstance(value, list):
        return [_capitalised(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {f"{key[:1].upper()}{key[1:]}": _capitalised(part) for key, part in value.items()}


def _is_result(document: object) -> bool:
    return isinstance(document, dict) and {"Timestamps", "Values"} <= document.keys()


def _results_of_lists(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON
    """The results of ``--query`` that are lists: ``[Timestamps, Values]``, also with a label before, of one or of several."""
    results = document if isinstance(document, list) else []
    if _result_of_list(results):
        results = [results]
    read = [_result_of_list(result) for result in results]
    return [result for result in read if result] if read and all(read) else []


def _result_of_list(parts: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """A result of its texts, its times and its values in a list; empty for anything else."""
    lists = [part for part in parts if isinstance(part, list)] if isinstance(parts, list) else []
    texts = [part for part in parts if isinstance(part, str)] if lists else []
    if len(lists) != 2 or len(lists) + len(texts) != len(parts):  # noqa: PLR2004 - times and values
        return {}
    times, values = lists
    are_times = bool(times) and all(
        isinstance(at, str | int | float) and is_time(f"{at}") for at in times
    )
    if not are_times or len(times) != len(values):
        return {}
    return {"Label": " ".join(texts), "Timestamps": times, "Values": values}


def _statistics(document: Mapping[str, Any]) -> list[RawSeries]:
    """Read one series for each statistic that the datapoints have.

    Raises:
        ValueError: if they have percentiles alone.
    """
    points: Sequence[Mapping[str, Any]] = document["Datapoints"]
    if not points:
        return []
    times = [point["Timestamp"] for point in points]
    columns = _asked(points)
    if not columns and points[0].get(PERCENTILES):
        names = ", ".join(points[0][PERCENTILES])
        msg = f"the datapoints have percentiles alone ({names}), which hide how low a balance was: ask for --statistics Minimum"
        raise ValueError(msg)
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


def _asked(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each statistic. PowerShell gives all of them, with 0 where one was not asked for."""
    columns = {
        statistic: [point.get(statistic) for point in points]
        for statistic in STATISTICS
        if any(point.get(statistic) is not None for point in points)
    }
    if not any(PERCENTILES in point for point in points):
        return columns
    asked = {statistic: values for statistic, values in columns.items() if any(values)}
    return asked or columns


def _series(result: Mapping[str, Any]) -> RawSeries:
    times, values = result["Timestamps"], result["Values"]
    if isinstance(times, str) or isinstance(values, str):
        msg = f"{result.get('Id')} has its lists as a text of PowerShell: convert with ConvertTo-Json -Depth 5"
        raise ValueError(msg)  # noqa: TRY004 - a wrong document
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
    statuses = [
        (result.get("Label", "a series"), _status(result))
        for result in document["MetricDataResults"]
    ]
    notes += [f"{label} is {status}" for label, status in statuses if status != "Complete"]
    return tuple(notes)


def _status(result: Mapping[str, Any]) -> str:
    """Whether a result is complete. PowerShell wraps the word."""
    status = result.get("StatusCode") or "Complete"
    return str(status.get("Value") if isinstance(status, dict) else status)

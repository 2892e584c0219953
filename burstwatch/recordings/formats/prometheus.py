"""Reads Prometheus: the answer of ``/api/v1/query_range``, what promtool prints, and exposition text with times."""

import re
from typing import Any

from burstwatch.recordings.formats.layouts import first_line
from burstwatch.recordings.raw import RawContents, RawSeries, pairs_of

PROGRAMS = ("Prometheus's query_range",)
LABELS = r"\{(?:[^\"{}]|\"(?:[^\"\\]|\\.)*\")*\}"
VALUE = r"[-+]?(?:[0-9][0-9.eE+-]*|NaN|Inf|nan|inf)"
#: A line of exposition text: a name, its labels, a value and a time.
SAMPLE = re.compile(
    rf"(?P<name>[A-Za-z_:][\w:]*)?(?P<labels>{LABELS})?\s+(?P<value>{VALUE})\s+(?P<time>-?[0-9.]+)\s*(?:#.*)?"
)
#: A series as `promtool query range` prints it, and a sample of it.
PRINTED = re.compile(rf"(?P<name>[A-Za-z_:][\w:]*)?(?P<labels>{LABELS})?\s*=>\s*(?P<rest>.*)")
PRINTED_SAMPLE = re.compile(r"(?P<value>\S+) @\[(?P<time>-?[0-9.]+)\]")
LABEL = re.compile(r"(\w+)=\"((?:[^\"\\]|\\.)*)\"")


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
    return RawContents(format=format_, series=series, gaps_are_silence=False)


def is_exposition(text: str) -> bool:
    """True if the first line that is no comment is a sample with labels and a time, or a series of promtool."""
    head = first_line(text)
    printed = PRINTED.fullmatch(head)
    sample = SAMPLE.fullmatch(head)
    has_labels = sample is not None and (sample["labels"] or sample["name"])
    return printed is not None or bool(has_labels)


def read_exposition(text: str, *, name: str) -> RawContents:
    """The series of a text.

    Raises:
        ValueError: for a line that is no sample with a time.
    """
    columns: dict[tuple[str, ...], tuple[list[str], list[str], list[int]]] = {}
    current: tuple[str, ...] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        printed = PRINTED.fullmatch(stripped)
        if printed is not None:
            current = _key(printed)
            stripped = printed["rest"].strip()
        match = PRINTED_SAMPLE.fullmatch(stripped) if current else SAMPLE.fullmatch(stripped)
        if match is None and not stripped:
            continue
        if match is None:
            msg = f"{name} line {number}: {stripped[:80]!r} is no sample with a time"
            raise ValueError(msg)
        times, values, lines = columns.setdefault(current or _key(match), ([], [], []))
        times.append(match["time"])
        values.append(match["value"])
        lines.append(number)
    return _contents(
        "text of Prometheus",
        [
            RawSeries(names=key, times=times, values=values, lines=lines)
            for key, (times, values, lines) in columns.items()
        ],
    )


def _key(match: re.Match[str]) -> tuple[str, ...]:
    labels = dict(LABEL.findall(match["labels"] or ""))
    return _names(match["name"] or labels.pop("__name__", ""), labels)

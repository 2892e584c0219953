"""Reads InfluxDB's line protocol, which telegraf writes."""

import re

from burstwatch.recordings.formats.layouts import first_line
from burstwatch.recordings.raw import RawContents, RawSeries
from burstwatch.recordings.samples import About

WORD = r"(?:[^\s,=\\]|\\.)+"
VALUE = r"(?:\"(?:[^\"\\]|\\.)*\"|[^\s,\"]+)"
FIELD = re.compile(rf"({WORD})=({VALUE})")
#: A measurement with its tags, its fields and a time in nanoseconds.
LINE = re.compile(
    rf"(?P<name>{WORD})(?P<tags>(?:,{WORD}={WORD})*)\s+(?P<fields>{WORD}={VALUE}(?:,{WORD}={VALUE})*)\s+(?P<time>-?[0-9]+)"
)


def is_line_protocol(text: str) -> bool:
    """True if the first line that is no comment is a line of it."""
    head = first_line(text)
    return LINE.fullmatch(head.removeprefix("> ")) is not None


def read_line_protocol(text: str, *, name: str) -> RawContents:
    """One series for each field of each measurement and its tags. telegraf may have failed where a time is missing.

    Raises:
        ValueError: for a line of another form.
    """
    columns: dict[tuple[str, ...], tuple[list[str], list[str], list[int]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.fullmatch(line.strip().removeprefix("> "))
        if match is None:
            msg = f"{name} line {number}: {line.strip()[:80]!r} is no line of InfluxDB's line protocol with a time"
            raise ValueError(msg)
        tags = " ".join(pair.partition("=")[2] for pair in match["tags"].split(",") if pair)
        for field, value in FIELD.findall(match["fields"]):
            if value[:1] in {'"', "t", "T", "f", "F"}:
                continue  # a text or a truth
            key = (field, match["name"], tags)
            times, values, lines = columns.setdefault(key, ([], [], []))
            times.append(match["time"])
            values.append(value.rstrip("iu"))
            lines.append(number)
    return RawContents(
        about=About(format="InfluxDB's line protocol", gaps_are_silence=False),
        series=[
            RawSeries(names=key, times=times, values=values, lines=lines)
            for key, (times, values, lines) in columns.items()
        ],
    )

"""Holds the series of a file as a format found them, and reads their times and numbers.

What a time or a number means is decided over the whole file: which sign is the decimal one, whether the day or the
month comes first. So the formats keep the file's own cells, and this module reads all of them in one way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burstwatch.recordings.cells import (
    NOTHING,
    NUMBERS,
    Number,
    check_number,
    has_decimal_comma,
    parse_number,
)
from burstwatch.recordings.samples import Contents, RecordedSeries
from burstwatch.recordings.times import Conventions, UnreadableTimeError, date_order, read_times

LONGEST_SHOWN = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class RawSeries:
    """One series in the file's order, with its ``times`` and ``values`` as the file has them.

    ``names`` are what the file calls it, the most telling one first. ``statistic`` is CloudWatch's, or empty where the
    file does not say; ``period_s`` is None there. ``lines`` has the line of each value, or nothing for a document.
    """

    names: tuple[str, ...]
    statistic: str = ""
    period_s: float | None = None
    times: Sequence[object]
    values: Sequence[object]
    lines: Sequence[int] = ()

    @property
    def label(self) -> str:
        """All its names, for people."""
        return " ".join(dict.fromkeys(name for name in self.names if name)) or "(no name)"


@dataclass(frozen=True, kw_only=True, slots=True)
class RawContents:
    """The series of a file, and what it says of itself and of its cells.

    ``row_times`` are the times of all rows, with their ``row_lines``. ``has_semicolons`` says that a comma cannot be the
    separator of its columns, so it is a decimal sign. ``is_utc`` says that a heading names UTC.
    """

    format: str
    series: Sequence[RawSeries]
    row_times: Sequence[object] = ()
    row_lines: Sequence[int] = ()
    is_own: bool = False
    gaps_are_silence: bool
    kind: str = ""
    region: str = ""
    level_statistic: str = ""
    spec: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    has_semicolons: bool = False
    is_utc: bool = False


def read_cells(raw: RawContents, conventions: Conventions, *, name: str) -> Contents:
    """The series with times in seconds and values as numbers.

    Raises:
        ValueError: naming the file, the line if it has lines, the cell and what is allowed.
    """
    reader = _Reader(raw, conventions, name)
    series = [reader.series(part) for part in raw.series]
    return Contents(
        format=raw.format,
        series=series,
        row_times=tuple(reader.row_seconds),
        is_own=raw.is_own,
        gaps_are_silence=raw.gaps_are_silence,
        kind=raw.kind,
        region=raw.region,
        level_statistic=raw.level_statistic,
        spec=raw.spec,
        notes=(*raw.notes, *reader.notes),
    )


class _Reader:
    """Reads the cells of one file. The series of a table share its times, which are read once."""

    def __init__(self, raw: RawContents, conventions: Conventions, name: str) -> None:
        self._raw, self._name = raw, name
        self._has_comma = _has_comma(raw)
        every = [raw.row_times, *(part.times for part in raw.series)]
        written = {str(cell).strip() for times in every for cell in times}
        order, notes = date_order(written, conventions)
        self._conventions = replace(conventions, date_order=order)
        self._notes = list(notes)
        self.row_seconds = self._seconds(raw.row_times, raw.row_lines)

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumptions about the times, each once."""
        return unique(self._notes)

    def series(self, part: RawSeries) -> RecordedSeries:
        """One series with its points. Cells that mean "no value" have none."""
        places = [n for n, value in enumerate(part.values) if not _is_nothing(value)]
        if part.times is self._raw.row_times:
            times = [self.row_seconds[place] for place in places]
        else:
            lines = [part.lines[place] for place in places] if part.lines else ()
            times = list(self._seconds([part.times[place] for place in places], lines))
        points, rates = [], set[bool]()
        for at, place in zip(times, places, strict=True):
            number = self._number(part, place)
            if number is None:
                continue
            points.append((at, number.value))
            if number.value:
                rates.add(number.is_rate)
        return RecordedSeries(
            names=part.names,
            statistic=part.statistic,
            period_s=part.period_s,
            points=points,
            is_rate=self._one_unit(part, rates),
            has_percent_sign=any("%" in str(part.values[place]) for place in places),
        )

    def _seconds(self, cells: Sequence[object], lines: Sequence[int]) -> Sequence[float]:
        """Read a column of times; raises ValueError with the place of the one that is none."""
        try:
            times = read_times(
                [str(cell).strip() for cell in cells],
                self._conventions,
                is_own=self._raw.is_own,
                is_utc=self._raw.is_utc,
            )
        except UnreadableTimeError as error:
            where = f"{self._name} line {lines[error.place]}" if lines else self._name
            msg = f"{where}: {'the' if lines else 'a'} time is {error}"
            raise ValueError(msg) from None
        self._notes += times.notes
        return times.seconds

    def _number(self, part: RawSeries, place: int) -> Number | None:
        cell = part.values[place]
        try:
            if isinstance(cell, int | float) and not isinstance(cell, bool):
                return Number(value=check_number(float(cell)))
            return parse_number(str(cell).strip(), decimal_comma=self._has_comma)
        except (ValueError, OverflowError):
            shown = short(str(cell)) if isinstance(cell, str) else short(repr(cell))
            quoted = repr(shown) if isinstance(cell, str) else shown
            if part.lines:
                msg = f"{self._name} line {part.lines[place]}: {short(part.label)} is {quoted}, allowed is {NUMBERS}"
            else:
                msg = f"{self._name}: a value is {quoted}, allowed is {NUMBERS}"
            raise ValueError(msg) from None

    def _one_unit(self, part: RawSeries, rates: set[bool]) -> bool:
        if len(rates) > 1:
            msg = f"{self._name}: {short(part.label)} has values per second and others, allowed is one unit"
            raise ValueError(msg)
        return rates == {True}


def _has_comma(raw: RawContents) -> bool:
    """True if the comma is the decimal sign of the file: one cell shows it, or semicolons separate the columns."""
    texts = [cell for part in raw.series for cell in part.values if isinstance(cell, str)]
    if has_decimal_comma(texts):
        return True
    several = any(cell.count(",") > 1 for cell in texts)
    return raw.has_semicolons and not several and any("," in cell for cell in texts)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in NOTHING)


def merged(parts: Sequence[RawContents]) -> RawContents:
    """The contents of a file that has several documents or tables."""
    if len(parts) == 1:
        return parts[0]
    return RawContents(
        format=parts[0].format,
        series=[series for part in parts for series in part.series],
        gaps_are_silence=all(part.gaps_are_silence for part in parts),
        notes=unique(note for part in parts for note in part.notes),
        has_semicolons=any(part.has_semicolons for part in parts),
        is_utc=all(part.is_utc for part in parts),
    )


def unique(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once, in order."""
    return tuple(dict.fromkeys(notes))


def short(text: str) -> str:
    """A cell as errors show it."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."

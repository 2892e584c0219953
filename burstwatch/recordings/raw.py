"""Holds the series of a file as a format found them, and reads their times and numbers.

What a time or a number means is decided over the whole file: which sign is the decimal one, whether the day or the
month comes first. So the formats keep the file's own cells, and this module reads all of them in one way.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from burstwatch.recordings.cells import (
    AMOUNTS,
    BYTES,
    HIGHEST,
    NOTHING,
    NUMBERS,
    Number,
    SeriesUnit,
    check_number,
    has_decimal_comma,
    measure_of,
    parse_number,
    unit_of_series,
)
from burstwatch.recordings.clocks import UnreadableTimeError
from burstwatch.recordings.matching import is_metric_name
from burstwatch.recordings.samples import About, Contents, Measure, RecordedSeries
from burstwatch.recordings.times import Conventions, date_order, read_times, read_zone
from burstwatch.recordings.written_times import UTC_NAMES, short

#: How Windows PowerShell writes a time in JSON: milliseconds since 1970.
DATE_OF_JSON = re.compile(r"^/Date\((-?\d+)(?:[+-]\d{4})?\)/$")
#: A dot that separates decimals: not three digits behind it.
DECIMAL_DOT = re.compile(r"[0-9]\.(?:[0-9]{1,2}|[0-9]{4,})(?![0-9.,])")
UNIT_OF_CELL = re.compile(r"[A-Za-z%][A-Za-z%/]*$")


class NoTimesError(ValueError):
    """Rows without a column of times."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RawSeries:
    """One series in the file's order, with its ``times`` and ``values`` as the file has them.

    ``names`` are what the file calls it, the most telling one first. ``statistic`` is CloudWatch's, or empty where the
    file does not say; ``period_s`` is None there. ``unit`` is that of all values, as the file writes it beside them. ``lines`` has the line of each value, or nothing for a document.
    """

    names: tuple[str, ...]
    statistic: str = ""
    period_s: float | None = None
    unit: str = ""
    times: Sequence[object]
    values: Sequence[object]
    lines: Sequence[int] = ()

    def __post_init__(self) -> None:
        """Refuse what is no list of times with a value for each."""
        are_lists = all(isinstance(cells, list | tuple) for cells in (self.times, self.values))
        if not are_lists or len(self.times) != len(self.values):
            msg = f"{short(self.label)} has not a value for each time"
            raise ValueError(msg)

    @property
    def label(self) -> str:
        """All its names, for people."""
        return " ".join(dict.fromkeys(name for name in self.names if name)) or "(no name)"


@dataclass(frozen=True, kw_only=True, slots=True)
class RawContents:
    """The series of a file with its cells as they are written.

    ``row_times`` are the times of all rows, with their ``row_lines``. ``has_semicolons`` says that a comma cannot be the
    separator of its columns, so it is a decimal sign. ``zone`` is the time zone that a heading names.
    """

    about: About
    series: Sequence[RawSeries]
    row_times: Sequence[object] = ()
    row_lines: Sequence[int] = ()
    has_semicolons: bool = False
    zone: str = ""


def read_cells(raw: RawContents, conventions: Conventions, *, name: str) -> Contents:
    """The series with times in seconds and values as numbers.

    Raises:
        ValueError: naming the file, the line if it has lines, the cell and what is allowed.
    """
    reader = _Reader(raw, conventions, name)
    series = [reader.series(part) for part in raw.series]
    return Contents(
        about=replace(raw.about, notes=(*raw.about.notes, *reader.notes)),
        series=series,
        row_times=tuple(reader.row_seconds),
    )


class _Reader:
    """Reads the cells of one file. The series of a table share its times, which are read once."""

    def __init__(self, raw: RawContents, conventions: Conventions, name: str) -> None:
        self._raw, self._name = raw, name
        self._has_comma = _has_comma(raw)
        every = [raw.row_times, *(part.times for part in raw.series)]
        written = {str(cell).strip() for times in every for cell in times}
        order, notes = date_order(written, conventions)
        self._conventions = self._with_zone(replace(conventions, date_order=order))
        self._notes = [*_separators(raw, has_comma=self._has_comma), *notes]
        self.row_seconds = self._seconds(raw.row_times, raw.row_lines)

    def _with_zone(self, conventions: Conventions) -> Conventions:
        """The zone that a heading names, if nobody has stated one; raises ValueError for the short name of several."""
        zone = self._raw.zone
        if not zone or conventions.zone is not None or zone.lower() in UTC_NAMES:
            return conventions
        try:
            if not re.search(r"[/+-]", zone):
                raise ValueError(zone)  # noqa: TRY301 - one message for both
            return replace(conventions, zone=read_zone(zone))
        except ValueError:
            msg = f"{self._name}: a heading names the time zone {zone!r}, which stands for several: --timezone names one, such as Europe/Berlin"
            raise ValueError(msg) from None

    @property
    def notes(self) -> tuple[str, ...]:
        """The assumptions about the times, each once."""
        return unique(self._notes)

    def series(self, part: RawSeries) -> RecordedSeries:
        """One series with its points. Cells that mean "no value" have none."""
        values: Sequence[float | None] | None = self._plain_numbers(part.values)
        places: Sequence[int] = range(len(part.values))
        if values is None:
            places = [n for n, value in enumerate(part.values) if not _is_nothing(value)]
            values = self._plain_numbers([part.values[place] for place in places])
        if part.times is self._raw.row_times:
            times = [self.row_seconds[place] for place in places]
        else:
            lines = [part.lines[place] for place in places] if part.lines else ()
            times = list(self._seconds([part.times[place] for place in places], lines))
        unit = self._unit(part)
        rates, is_plain = set[bool](), values is not None
        if values is None:
            numbers = [self._number(part, place) for place in places]
            rates = {number.is_rate for number in numbers if number is not None and number.value}
            values = [None if number is None else number.value for number in numbers]
        points = [
            (at, value * unit.value)
            for at, value in zip(times, values, strict=True)
            if value is not None
        ]
        return RecordedSeries(
            names=part.names,
            statistic=part.statistic,
            period_s=part.period_s,
            points=points,
            is_rate=self._one_unit(part, rates) or unit.is_rate,
            measure=unit.measure or ("" if is_plain else _measure_of_cells(part, places)),
        )

    def _unit(self, part: RawSeries) -> SeriesUnit:
        try:
            return unit_of_series(part.unit, part.names)
        except ValueError as error:
            if not any(map(is_metric_name, part.names)):
                return SeriesUnit()  # it is left out
            msg = f"{self._name}: {short(part.label)} is in {str(error)!r}, a unit that is not known; allowed: {', '.join(BYTES)}, each also per second as in MiB/s, bits as in Mbit/s (Mb may be either), {', '.join(sorted(AMOUNTS))}, and operations per second"
            raise ValueError(msg) from None

    def _seconds(self, cells: Sequence[object], lines: Sequence[int]) -> Sequence[float]:
        """Read a column of times; raises ValueError with the place of the one that is none."""
        try:
            times = read_times(
                [DATE_OF_JSON.sub(r"\1", str(cell).strip()) for cell in cells],
                self._conventions,
                is_own=self._raw.about.is_own,
                is_utc=self._raw.zone.lower() in UTC_NAMES,
            )
        except UnreadableTimeError as error:
            where = f"{self._name} line {lines[error.place]}" if lines else self._name
            msg = f"{where}: {'the' if lines else 'a'} time is {error}"
            raise ValueError(msg) from None
        self._notes += times.notes
        return times.seconds

    def _plain_numbers(self, cells: Sequence[object]) -> list[float] | None:
        """The values if all are numbers without a unit or a separator, as in most files; None if one is not."""
        if self._has_comma or not all(isinstance(cell, str) for cell in cells):
            return None
        try:
            numbers = [float(str(cell)) for cell in cells]
        except ValueError:
            return None
        is_plain = all(number == 0 or 1 / HIGHEST <= number <= HIGHEST for number in numbers)
        return numbers if is_plain else None

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
                msg = f"{self._name} line {part.lines[place]}: {short(part.label)} is {quoted}; allowed: {NUMBERS}"
            else:
                msg = f"{self._name}: a value is {quoted}; allowed: {NUMBERS}"
            raise ValueError(msg) from None

    def _one_unit(self, part: RawSeries, rates: set[bool]) -> bool:
        if len(rates) > 1:
            msg = f"{self._name}: {short(part.label)} has values per second and others; allowed: one unit"
            raise ValueError(msg)
        return rates == {True}


def _has_comma(raw: RawContents) -> bool:
    """True if the comma is the decimal sign of the file: one cell shows it, or semicolons separate the columns."""
    texts = [cell for part in raw.series for cell in part.values if isinstance(cell, str)]
    if has_decimal_comma(texts):
        return True
    several = any(cell.count(",") > 1 for cell in texts)
    has_dot = any(map(DECIMAL_DOT.search, texts))
    return raw.has_semicolons and not several and not has_dot and any("," in cell for cell in texts)


def _separators(raw: RawContents, *, has_comma: bool) -> Iterator[str]:
    """A note for a sign that may separate decimals or thousands, where no other cell of a file decides it."""
    if not raw.has_semicolons:
        return
    sign, opposite = (",", ".") if has_comma else (".", ",")
    may_be_either = re.compile(rf"[1-9][0-9]{{0,2}}\{sign}[0-9]{{3}}")
    texts = [cell.strip() for part in raw.series for cell in part.values if isinstance(cell, str)]
    signed = [cell for cell in texts if sign in cell]
    is_undecided = signed and not any(opposite in cell for cell in texts)
    if is_undecided and all(map(may_be_either.fullmatch, signed)):
        yield f"{signed[0]} is read with {sign!r} as the decimal sign, and nothing in the file decides it"


def _measure_of_cells(part: RawSeries, places: Sequence[int]) -> Measure:
    """What the units in the cells measure; of the first that says it."""
    written = (UNIT_OF_CELL.search(str(part.values[place])) for place in places)
    measures = (measure_of(match[0]) for match in written if match is not None)
    return next(filter(None, measures), "")


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in NOTHING)


def merged(parts: Sequence[RawContents]) -> RawContents:
    """The contents of a file that has several documents or tables."""
    if len(parts) == 1:
        return parts[0]
    times = [part.row_times for part in parts]
    return RawContents(
        about=replace(
            parts[0].about,
            gaps_are_silence=all(part.about.gaps_are_silence for part in parts),
            notes=unique(note for part in parts for note in part.about.notes),
            is_own=all(part.about.is_own for part in parts),
        ),
        series=[series for part in parts for series in part.series],
        row_times=[cell for cells in times for cell in cells] if all(times) else (),
        row_lines=[line for part in parts for line in part.row_lines] if all(times) else (),
        has_semicolons=any(part.has_semicolons for part in parts),
        zone=next((part.zone for part in parts if part.zone), ""),
    )


def pairs_of(points: object) -> Sequence[tuple[object, object]]:
    """The pairs of a time and a value.

    Raises:
        ValueError: if one is no pair.
    """
    pairs = points if isinstance(points, list) else []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:  # noqa: PLR2004 - a pair
            msg = f"a point is {pair!r:.80}; allowed: a time with a value"
            raise ValueError(msg)
    return pairs


def unique(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once, in order."""
    return tuple(dict.fromkeys(notes))

"""Reads the times and numbers that programs print."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime

#: The year 68: the calendar that times are printed in begins soon before.
EARLIEST_S = -6e10
#: A balance of EFS is 2.3e12 bytes for each TiB that is stored.
HIGHEST = 1e18
#: An epoch above this is in milliseconds: in seconds it would be the year 5138.
MILLISECONDS_FROM = 1e11
TIMES = "seconds or milliseconds since 1970, or ISO 8601 such as 2026-11-24T12:00:00Z"
NUMBERS = f"a number from 0 to {HIGHEST:g}, or nothing"
NOTHING = frozenset(
    {
        "",
        "-",
        "--",
        "null",
        "<null>",
        "(null)",
        "nil",
        "none",
        "nan",
        "undefined",
        "n/a",
        "na",
        "#n/a",
        "no data",
    }
)
#: How Grafana shortens numbers and bytes.
FACTORS = {
    "": 1.0,
    "%": 1.0,
    "K": 1e3,
    "Mil": 1e6,
    "Bil": 1e9,
    "Tri": 1e12,
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
THOUSANDS = re.compile(r"[0-9]{1,3}(\.[0-9]{3})+")
SHORTENED = re.compile(r"([-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)")


def parse_time_cell(cell: str) -> tuple[float, bool]:
    """The seconds since 1970, and whether the cell says its time zone. Without one it is UTC.

    Raises:
        ValueError: for anything else than a number or an ISO time.
    """
    try:
        seconds = float(cell)
    except ValueError:
        return _parse_iso(cell)
    if abs(seconds) >= MILLISECONDS_FROM:
        seconds /= 1_000
    if not EARLIEST_S <= seconds < MILLISECONDS_FROM:  # also NaN
        raise ValueError(cell)
    return seconds, True


def _parse_iso(cell: str) -> tuple[float, bool]:
    if not cell[:4].isdigit():
        raise ValueError(cell)
    time = datetime.fromisoformat(cell.replace("/", "-", 2).removesuffix(" UTC"))
    has_zone = time.tzinfo is not None or cell.endswith(" UTC")
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return time.timestamp(), has_zone


def parse_number(cell: str, *, has_decimal_comma: bool = False) -> float | None:
    """A value, or None for an empty cell and what programs print for "no value".

    Raises:
        ValueError: for text, and for numbers that no metric has.
    """
    try:
        # In a file with decimal commas a dot separates thousands: 150.000 is not 150.
        value = float(
            cell.replace(".", "") if has_decimal_comma and THOUSANDS.fullmatch(cell) else cell
        )
    except ValueError:
        if cell.lower() in NOTHING:
            return None
        value = _parse_shortened(cell, has_decimal_comma=has_decimal_comma)
    if math.isnan(value):
        return None
    return check_number(value)


def check_number(value: float) -> float:
    """The value, if a metric can have it.

    Raises:
        ValueError: if it is negative, infinite, or so small or large that sums would break.
    """
    if not 0 <= value <= HIGHEST or 0 < value < 1 / HIGHEST:
        raise ValueError(value)
    return value


def parse_points(pairs: Iterable[tuple[object, object]]) -> list[tuple[float, float]]:
    """The times and values of a JSON document; null and NaN are no datapoint.

    Raises:
        ValueError: naming what is wrong, and what is allowed.
    """
    return [
        parse_point(at, value)
        for at, value in pairs
        if value is not None and str(value).strip().lower() not in NOTHING
    ]


def parse_point(at: object, value: object) -> tuple[float, float]:
    """A time and a value of a JSON document.

    Raises:
        ValueError: naming the one that is wrong, and what is allowed.
    """
    try:
        seconds, _ = parse_time_cell(str(at))
    except (ValueError, OverflowError):
        msg = f"a time is {at!r:.80}, allowed are {TIMES}"
        raise ValueError(msg) from None
    try:
        return seconds, check_number(float(str(value)))
    except ValueError:
        msg = f"a value is {value!r:.80}, allowed is {NUMBERS}"
        raise ValueError(msg) from None


def _parse_shortened(cell: str, *, has_decimal_comma: bool) -> float:
    """Parse a number with thousands separators or a suffix, such as 1.5 K; raises ValueError for an ambiguous comma."""
    match = SHORTENED.fullmatch(cell)
    if match is None or match[2] not in FACTORS:
        raise ValueError(cell)
    digits = match[1]
    if has_decimal_comma:
        digits = digits.replace(".", "").replace(",", ".")
    elif not re.fullmatch(r"[-+]?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?", digits):
        # A comma that does not separate thousands may be a decimal one, so float() refuses it.
        float(digits)
    return float(digits.replace(",", "")) * FACTORS[match[2]]

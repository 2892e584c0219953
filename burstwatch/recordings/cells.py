"""Reads the numbers that programs print, with their units and in their languages."""

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from burstwatch.recordings.samples import Measure

#: A balance of EFS is 2.3e12 bytes for each TiB that is stored.
HIGHEST = 1e18
NUMBERS = f"a number from 0 to {HIGHEST:g}, or nothing"
NOTHING = frozenset(
    {
        "",
        "-",
        "--",
        "\N{EM DASH}",
        "\N{EN DASH}",
        "null",
        "<null>",
        "(null)",
        "nil",
        "none",
        "nan",
        "nat",
        "<na>",
        "undefined",
        "n/a",
        "na",
        "#n/a",
        "no data",
    }
)
#: How Grafana and its like shorten numbers. With a unit behind it, B is billions: 2B iops.
FACTORS = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "Mil": 1e6,
    "G": 1e9,
    "Bil": 1e9,
    "T": 1e12,
    "Tri": 1e12,
}
BYTES = {
    "B": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
#: Bits, of which a byte has eight. Only where the word stands: people write Mb and Mbps for both, and those are refused.
BITS = {
    f"{prefix}{name}": factor / 8
    for name in ("bit", "bits")
    for prefix, factor in {
        "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
        "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
    }.items()
}  # fmt: skip
#: Bytes per second, which differ from bits in a capital letter only.
BYTE_RATES = {
    "Bps": "B/s", "binBps": "B/s", "kBps": "kB/s", "KBps": "kB/s", "MBps": "MB/s", "GBps": "GB/s",
    "KiBps": "KiB/s", "MiBps": "MiB/s",
}  # fmt: skip
#: Units of an amount, which change nothing.
AMOUNTS = frozenset(
    {"%", "percent", "count", "credits", "credit", "bytes", "byte", "ops", "ios", "operations"}
)
#: Units of a rate, in any case.
RATES = frozenset(
    {
        "iops", "io/s", "ops/s", "op/s", "req/s", "rd/s", "wr/s", "reads/s", "writes/s", "rps", "wps", "cps",
        "c/s", "count/s", "count/second", "credits/s", "bytes/s", "bytes/second", "/s",
    }
)  # fmt: skip
PERCENTS = frozenset({"%", "percent"})
#: Units of time, in which no metric of ours is.
TIMES = frozenset(
    {
        "ns", "us", "µs", "ms", "s", "sec", "second", "seconds", "milliseconds", "microseconds", "min", "minutes",
    }
)  # fmt: skip
#: How Grafana and CloudWatch call units in their own fields, as people write them in a cell.
UNIT_ALIASES = {
    "bytes/second": "B/s", "kilobytes/second": "kB/s", "megabytes/second": "MB/s", "gigabytes/second": "GB/s",
    "terabytes/second": "TB/s", "byte/second": "B/s", "kilobytes": "kB", "megabytes": "MB", "gigabytes": "GB", "terabytes": "TB",
    "bits/second": "bit/s", "kilobits/second": "kbit/s", "megabits/second": "Mbit/s", "gigabits/second": "Gbit/s",
    "terabits/second": "Tbit/s", "kilobits": "kbit", "megabits": "Mbit", "gigabits": "Gbit", "terabits": "Tbit",
    "kbs": "kB/s", "mbs": "MB/s", "gbs": "GB/s", "kibs": "KiB/s", "mibs": "MiB/s", "gibs": "GiB/s",
    "tbs": "TB/s", "tibs": "TiB/s",
    "kbits": "kbit/s", "mbits": "Mbit/s", "gbits": "Gbit/s", "tbits": "Tbit/s", "decbits": "bit",
    "kibits": "Kibit/s", "mibits": "Mibit/s", "gibits": "Gibit/s", "tibits": "Tibit/s",
    "kbytes": "KiB", "mbytes": "MiB", "gbytes": "GiB", "tbytes": "TiB", "decbytes": "B", "deckbytes": "kB",
    "decmbytes": "MB", "decgbytes": "GB", "dectbytes": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB",
    "reqps": "req/s", "ops": "ops/s", "operation/second": "ops/s",
}  # fmt: skip
#: A name of values per second.
RATE_NAME = re.compile(
    r"\b(?:i?rate|irate|per_second|persecond|derivative)\(|as_rate\(\)|per[ _]sec(?:ond)?\b|/\s*s(?:ec(?:ond)?)?\b|/\s*PERIOD\(|\b(?:iops|ops/s)\b",
    re.IGNORECASE,
)
#: Bytes per second as Grafana shows them. ``bps`` may be bits.
GRAFANA_RATE = re.compile(r"[kKMGT]i?Bs")
#: A unit at the end of a name: in parentheses, a percent sign, or behind "in".
UNIT_IN_NAME = re.compile(r"(?:[(\[]\s*([A-Za-z%/]+)\s*[)\]]|\s(%)|\sin\s+([A-Za-z%/]+))\s*$")
#: A name of values per minute.
PER_MINUTE = re.compile(r"(?:/|\bper[ _])\s*(?:min(?:ute)?)\b", re.IGNORECASE)
#: A unit of bits or bytes, or per time: if it is none that is known, its factor is not 1.
SCALED_NAME = re.compile(
    r"^[kmgtp]?(?:i|bin|dec[kmgtp]?)?(?:b|bit|byte)s?(?:ps|/\w+)?$", re.IGNORECASE
)
SCALED = re.compile(r"bit|byte|/|bs$|ps$|^[kmgtp]?i?b$", re.IGNORECASE)
#: The first character is a digit, also where a percent sign comes first.
SHORTENED = re.compile(
    r"%?\s?([-+]?[0-9][0-9.,'\s]*(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)\s*([A-Za-z/]*)"
)
#: Swiss programs separate thousands by it.
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
GROUPED = re.compile(r"[0-9]{1,3}([.,' ])[0-9]{3}(?:\1[0-9]{3})*")
#: A comma or dot that is no separator of thousands: not three digits behind it, or no group before it.
DECIMAL_COMMA = re.compile(
    r"[0-9],(?:[0-9]{1,2}|[0-9]{4,})(?![0-9.,])|[0-9]{4,},[0-9]|\.[0-9]{3},[0-9]"
)


#: ``81.920.000``: of two dots none is a decimal one.
THOUSANDS_BY_DOTS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,}(?:,[0-9]+)?")
#: ``7,50,000`` of India, where groups have two digits but for the last.
GROUPED_BY_TWO = re.compile(r"[-+]?[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A value in base units. ``is_rate`` says that its unit is one per second, such as IOPS."""

    value: float
    is_rate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesUnit:
    """The unit of a whole series: the factor of its values, whether they are per second, and what they are written in."""

    value: float = 1.0
    is_rate: bool = False
    measure: Measure = ""


def unit_of_series(unit: str, names: Iterable[str]) -> SeriesUnit:
    """The unit that stands beside the values, or in a name such as ``rate(VolumeReadOps)`` or ``VolumeReadBytes (MiB)``.

    The unit of CloudWatch, such as Count, changes nothing.

    Raises:
        ValueError: for a unit of bits, bytes or a rate that is not known.
    """
    names = [name for name in names if name]
    if any(PER_MINUTE.search(name) for name in names):
        return SeriesUnit(value=1 / 60, is_rate=True)
    is_named_rate = any(RATE_NAME.search(name) for name in names)
    matches = (UNIT_IN_NAME.search(name) for name in names)
    in_name = next((match[1] or match[2] or match[3] for match in matches if match), "")
    for text in filter(None, (unit, in_name)):
        if text.lower() == "percentunit":
            return SeriesUnit(value=100.0, measure="percent")
        # (min) is the Minimum.
        if text.lower() in TIMES and (text == unit or text.lower() != "min"):
            return SeriesUnit(measure="time")
        try:
            factor, is_rate = _unit(_alias(text), "", text)
        except ValueError:
            if (SCALED if text == unit else SCALED_NAME).search(text):
                raise
            continue
        return SeriesUnit(value=factor, is_rate=is_rate or is_named_rate, measure=measure_of(text))
    return SeriesUnit(is_rate=is_named_rate)


def _alias(unit: str) -> str:
    """A unit of Grafana or CloudWatch as people write it in a cell."""
    return BYTE_RATES.get(unit) or UNIT_ALIASES.get(unit.lower(), unit)


def measure_of(unit: str) -> Measure:
    """What a unit measures: ``%``, ``MiB`` or ``Bytes``, ``ms``."""
    plain = _alias(unit)
    if unit.lower() in PERCENTS:
        return "percent"
    if unit.lower() in TIMES:
        return "time"
    is_size = plain.partition("/")[0] in {**BYTES, **BITS} or unit.lower() in {"byte", "bytes"}
    return "bytes" if is_size else ""


def has_decimal_comma(cells: Iterable[str]) -> bool:
    """True if one cell shows that the comma is the decimal sign: it cannot separate thousands there, or dots do."""
    return any(
        ("," in cell and DECIMAL_COMMA.search(cell)) or THOUSANDS_BY_DOTS.fullmatch(cell.strip())
        for cell in cells
    )


def parse_number(cell: str, *, decimal_comma: bool = False) -> Number | None:
    """A value, or None for an empty cell and what programs print for "no value".

    Raises:
        ValueError: for text, and for numbers that no metric has.
    """
    try:
        # In a file with decimal commas a dot separates thousands: 150.000 is not 150.
        number = Number(value=float(cell.replace(".", "x" if decimal_comma else ".")))
    except ValueError:
        if cell.lower() in NOTHING:
            return None
        number = _parse_shortened(cell, decimal_comma=decimal_comma)
    if math.isnan(number.value):
        return None
    check_number(number.value)
    return number


def check_number(value: float) -> float:
    """The value, if a metric can have it.

    Raises:
        ValueError: if it is negative, infinite, or so small or large that sums would break.
    """
    if not 0 <= value <= HIGHEST or 0 < value < 1 / HIGHEST:
        raise ValueError(value)
    return value


def _parse_shortened(cell: str, *, decimal_comma: bool) -> Number:
    """Parse a number with separators, a suffix or a unit, such as 1.5 K or 3.2K iops.

    Raises:
        ValueError: for a unit that is not known, and for a comma or dot that can be either sign.
    """
    match = SHORTENED.fullmatch(
        unicodedata.normalize("NFKC", cell).replace(APOSTROPHE, "'").strip()
    )
    if match is None:
        raise ValueError(cell)
    factor, is_rate = _unit(match[2], match[3], cell)
    value = _digits(match[1].strip(), decimal_comma=decimal_comma)
    return Number(value=value * factor, is_rate=is_rate)


def _unit(shortened: str, unit: str, cell: str) -> tuple[float, bool]:
    """The factor of a suffix and a unit, and whether that is a rate."""
    shortened = UNIT_ALIASES[shortened.lower()] if GRAFANA_RATE.fullmatch(shortened) else shortened
    if unit and shortened not in FACTORS and shortened != "B":
        raise ValueError(cell)
    if unit:
        factor, is_rate = _unit(unit, "", cell)
        return factor * {**FACTORS, "B": 1e9}[shortened], is_rate
    if shortened in FACTORS:
        return FACTORS[shortened], False
    sizes = {**BYTES, **BITS}
    if shortened in sizes:
        return sizes[shortened], False
    amount, per, second = shortened.partition("/")
    if per and second.lower() in {"s", "sec", "second"} and amount in sizes:
        return sizes[amount], True
    if shortened.lower() in RATES:
        return 1.0, True
    if shortened.lower() in AMOUNTS:
        return 1.0, False
    raise ValueError(cell)


def _digits(digits: str, *, decimal_comma: bool) -> float:
    """The number; float() refuses a sign that may be either."""
    grouped = "".join(digits.split()).replace("'", "") if GROUPED.match(digits) else digits
    if decimal_comma:
        whole, _, decimals = grouped.partition(",")
        if "." in whole and not GROUPED.fullmatch(whole):
            raise ValueError(digits)
        return float(f"{whole.replace('.', '')}.{decimals or 0}")
    is_grouped = re.fullmatch(r"[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", grouped)
    if is_grouped or GROUPED_BY_TWO.fullmatch(grouped):
        grouped = grouped.replace(",", "")
    return float(grouped)

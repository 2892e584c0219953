"""Values in Grafana's units. Grafana writes some of them longer ("1.83 hours"), and infinity as a sign."""

import math
from collections.abc import Callable

from monitoring.look.frames import LookError

#: Where a unit ends and the next begins, and its name.
_TIME = (
    (60.0, 1.0, "s"),
    (3600.0, 60.0, "min"),
    (86_400.0, 3600.0, "h"),
    (604_800.0, 86_400.0, "d"),
    (math.inf, 604_800.0, "wk"),
)
_SHORT_TIME = ((1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"))
_KILO = ((1e3, 1.0, ""), (1e6, 1e3, " K"), (1e9, 1e6, " Mil"), (math.inf, 1e9, " Bil"))
_BINARY = (
    (1024.0, 1.0, "B/s"),
    (1024.0**2, 1024.0, "KiB/s"),
    (1024.0**3, 1024.0**2, "MiB/s"),
    (math.inf, 1024.0**3, "GiB/s"),
)
#: Steps of an axis of time, in seconds: nobody counts in thousands of them.
_TIME_STEPS = (
    1,
    2,
    5,
    10,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
    86_400,
)


def written(value: float, unit: str, decimals: int | None = None) -> str:
    """A value with its unit.

    Raises:
        LookError: for a unit that is not known here.
    """
    if unit not in WRITERS:
        msg = f"the unit {unit} is not known here, known are {', '.join(sorted(WRITERS))}"
        raise LookError(msg)
    if math.isinf(value):
        return "never" if unit == "s" else "∞"
    return WRITERS[unit](value, decimals)


def axis_ticks(low: float, high: float, unit: str, *, most: int = 5) -> list[float]:
    """Round values within a range, round in the unit that they are written in."""
    span = high - low
    if span <= 0:
        return [low]
    if unit == "s" and span > 1:
        days = math.ceil(span / most / 86_400) * 86_400.0
        step = next((float(one) for one in _TIME_STEPS if span / one <= most), days)
    else:
        base = 1024.0 if unit == "binBps" else 10.0
        scale = base ** math.floor(math.log(span / most, base))
        rounds = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1024)
        step = next(scale * n for n in rounds if span / (scale * n) <= most)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _scaled(
    value: float,
    scales: tuple[tuple[float, float, str], ...],
    decimals: int | None,
    *,
    gap: str = "",
) -> str:
    end = next((one for one in scales if abs(value) < one[0]), scales[-1])
    return f"{_digits(value / end[1], decimals)}{gap}{end[2]}"


def _digits(value: float, decimals: int | None) -> str:
    """Three significant digits at the most, unless it is said how many."""
    if decimals is None:
        size = abs(value)
        decimals = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2  # noqa: PLR2004 - orders of ten
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.{decimals}f}"


#: How a value of each unit is written, with so many decimals if that is said.
WRITERS: dict[str, Callable[[float, int | None], str]] = {
    "short": lambda value, decimals: _scaled(value, _KILO, decimals),
    "iops": lambda value, decimals: f"{_scaled(value, _KILO, decimals)} io/s",
    "binBps": lambda value, decimals: _scaled(value, _BINARY, decimals, gap=" "),
    "percent": lambda value, decimals: f"{_digits(value, decimals)}%",
    "percentunit": lambda value, decimals: f"{_digits(100 * value, decimals)}%",
    "currencyUSD": lambda value, decimals: f"${value:.{2 if decimals is None else decimals}f}",
    "s": lambda value, decimals: _scaled(
        value, _TIME if abs(value) >= 1 or value == 0 else _SHORT_TIME, decimals, gap=" "
    ),
}

"""Draws a balance over time as characters of Braille, each of two by four dots: an area, as wide as a terminal."""

import math
from collections.abc import Sequence

BLANK = 0x2800
#: The dots of the left and of the right half of a character, from its lowest to its highest.
LEFT_DOTS, RIGHT_DOTS = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)
HEIGHT = len(LEFT_DOTS)


def area(
    points: Sequence[tuple[float, float]], *, since: float, until: float, columns: int, rows: int
) -> list[str]:
    """Lines from the highest to the lowest. A value is a share from 0 to 1, and what is above 0 has one dot at least.

    Of the values of a dot's time the lowest is drawn, for a short time without credits must be seen. Where
    there is none, the one before goes on; before the first nothing is drawn.
    """
    lowest = lowest_of_parts(points, since=since, until=until, parts=2 * columns)
    heights = [
        0 if ratio is None else math.ceil(min(1.0, ratio) * rows * HEIGHT) for ratio in lowest
    ]
    return [
        "".join(
            chr(
                BLANK
                + sum(LEFT_DOTS[: _within(heights[2 * column], row)])
                + sum(RIGHT_DOTS[: _within(heights[2 * column + 1], row)])
            )
            for column in range(columns)
        )
        for row in reversed(range(rows))
    ]


def lowest_of_parts(
    points: Sequence[tuple[float, float]], *, since: float, until: float, parts: int
) -> list[float | None]:
    """The lowest value of each part of the time, or else the newest before it."""
    lowest: list[float | None] = [None] * parts
    newest: list[float | None] = [None] * parts
    for at, ratio in points:
        part = column_of(at, since=since, until=until, columns=parts)
        before = lowest[part]
        lowest[part] = ratio if before is None else min(before, ratio)
        newest[part] = ratio
    drawn: list[float | None] = []
    last = None
    for least, end in zip(lowest, newest, strict=True):
        drawn.append(last if least is None else least)
        last = last if end is None else end
    return drawn


def column_of(at: float, *, since: float, until: float, columns: int) -> int:
    """The column of a time; times outside are in the first and in the last one."""
    share = (at - since) / (until - since) if until > since else 0.0
    return min(columns - 1, max(0, math.floor(share * columns)))


def _within(height: int, row: int) -> int:
    """How many of the four dots of a row, counted from below, are under a height."""
    return min(HEIGHT, max(0, height - row * HEIGHT))

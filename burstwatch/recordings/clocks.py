"""Reads times without a zone, as a clock on a wall showed them, also where it was put back or forward."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby, pairwise
from statistics import median

from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.recordings.written_times import short

#: Clocks change at night, before four.
NIGHT_S = 4 * HOUR_S
#: The share of the times of an hour that comes twice when clocks change: rows can be missing.
MOSTLY = 0.6


class UnreadableTimeError(ValueError):
    """A cell is no time. ``place`` is its index in the column."""

    def __init__(self, message: str, place: int) -> None:
        """``message`` names the cell and what is allowed."""
        super().__init__(message)
        self.place = place


def seconds_of_clock(
    local: Sequence[float], cells: Sequence[str], zone: tzinfo | None
) -> tuple[Sequence[float], tuple[str, ...]]:
    """The seconds since 1970 of times on a wall in a zone, or else in UTC, which is said.

    Raises:
        UnreadableTimeError: for a time that no clock showed, or that it showed twice and nothing tells which is meant.
    """
    if zone is None:
        _check_one_clock(local, cells)
        missing = _missing_hour(local)
        return local, (
            "times have no zone and are taken as UTC (--timezone names another)",
            *([missing] if missing else []),
        )
    is_falling = len(local) > 1 and local[-1] < local[0]
    places = range(len(local) - 1, -1, -1) if is_falling else range(len(local))
    seconds = [0.0] * len(local)
    before = -math.inf
    for place in places:
        time = datetime.fromtimestamp(local[place], UTC).replace(tzinfo=zone)
        once, again = (time.replace(fold=fold).timestamp() for fold in (0, 1))
        if once > again:
            msg = f"{short(cells[place])!r}, which no clock in {zone} showed: is the zone another?"
            raise UnreadableTimeError(msg, place)
        seconds[place] = again if once <= before < again else once
        before = seconds[place]
    _check_repeated_hour(seconds, places, cells, zone)
    _move_to_second(seconds, places, cells, zone)
    return seconds, ()


def _move_to_second(
    seconds: list[float], places: Sequence[int], cells: Sequence[str], zone: tzinfo
) -> None:
    """Move the times of an hour that a clock showed twice to the second one, if they are next to what follows.

    Raises:
        UnreadableTimeError: if all times are in such an hour, so that nothing tells which one it was.
    """
    later = [_later(seconds[place], zone) for place in places]
    runs = [
        list(run) for twice, run in groupby(range(len(places)), lambda n: later[n] > 0) if twice
    ]
    usual = median([abs(seconds[b] - seconds[a]) for a, b in pairwise(places)] or [HOUR_S])
    for run in runs:
        begin, end = run[0], run[-1]
        before = seconds[places[begin]] - seconds[places[begin - 1]] if begin else None
        after = seconds[places[end + 1]] - seconds[places[end]] if end + 1 < len(places) else None
        if before is None and after is None:
            msg = f"{short(cells[places[begin]])!r}, which a clock in {zone} showed twice, and no row tells which time it was: write the times in UTC"
            raise UnreadableTimeError(msg, places[begin])
        is_next_to_before = before is not None and before <= 1.5 * usual
        shift = later[begin]
        if after is not None and not is_next_to_before and after - shift >= usual / 2:
            for n in run:
                seconds[places[n]] += shift


def _later(seconds: float, zone: tzinfo) -> float:
    """How many seconds later a clock showed the same time again; 0 if it did not, or did before."""
    time = datetime.fromtimestamp(seconds, zone)
    return time.replace(fold=1).timestamp() - seconds


def _check_repeated_hour(
    seconds: Sequence[float], places: Sequence[int], cells: Sequence[str], zone: tzinfo
) -> None:
    """Refuse times of an hour that a clock showed twice, if the rows are in no order that tells them apart."""
    ordered = [seconds[place] for place in places]
    if all(after > before for before, after in pairwise(ordered)):
        return
    for place in places:
        time = datetime.fromtimestamp(seconds[place], zone)
        if time.replace(fold=0).timestamp() != time.replace(fold=1).timestamp():
            msg = f"{short(cells[place])!r}, which a clock in {zone} showed twice, and the rows are not in order: sort them"
            raise UnreadableTimeError(msg, place)


def _check_one_clock(local: Sequence[float], cells: Sequence[str]) -> None:
    """Refuse times of which an hour at night comes twice, as when clocks change: merged they would be wrong."""
    counts = Counter(local)
    twice = sorted(at for at, count in counts.items() if count > 1)
    if not twice or len(counts) < 3:  # noqa: PLR2004 - more than the hour itself
        return
    ordered = sorted(counts)
    usual = median([after - before for before, after in pairwise(ordered)])
    begin = twice[0] - twice[0] % HOUR_S
    in_hour = [at for at in ordered if begin <= at < begin + HOUR_S]
    is_night = begin % DAY_S < NIGHT_S
    is_whole = len(twice) >= MOSTLY * len(in_hour) and twice[-1] - twice[0] < HOUR_S
    steps = [after - before for before, after in pairwise(local)]
    direction = 1.0 if local[-1] >= local[0] else -1.0
    back = [step * direction for step in steps if step * direction <= 0]
    # In order it goes back once, by the hour but for a few rows; out of order the whole hour is there twice.
    goes_back = len(back) == 1 and back[0] <= 3 * usual - HOUR_S
    is_whole = is_whole or (goes_back and twice[-1] - twice[0] < HOUR_S)
    if is_night and is_whole and usual <= HOUR_S and len(ordered) > len(in_hour):
        place = max(n for n, at in enumerate(local) if at == twice[0])
        msg = f"{short(cells[place])!r} again, and with it an hour at night, as when clocks change: --timezone names the zone, such as Europe/Berlin, or UTC if rows are doubled"
        raise UnreadableTimeError(msg, place)


def _missing_hour(local: Sequence[float]) -> str:
    """A note if an hour at night is missing, as when clocks change in spring; nothing else."""
    ordered = sorted(set(local))
    gaps = [(after - before, before) for before, after in pairwise(ordered)]
    usual = median([gap for gap, _ in gaps] or [HOUR_S])
    wide = [before for gap, before in gaps if gap == usual + HOUR_S]
    odd = sum(gap != usual for gap, _ in gaps)
    if len(wide) == odd == 1 and wide[0] % DAY_S < NIGHT_S and usual < HOUR_S:
        return f"an hour is missing after {datetime.fromtimestamp(wide[0], UTC):%Y-%m-%d %H:%M}, as when clocks change: --timezone names the zone"
    return ""

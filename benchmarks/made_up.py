"""Makes up demand of kinds that recordings of a few companies do not have, by the minute.

Heavy-tailed bursts, jobs by the clock, ramps, work with long silence, compactions, nightly
backups, and steps that stay. Each series is drawn from its name, so it is always the same.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from burstwatch.backtest.workloads import Workload

DAY = 1_440
WEEKS = 5
EACH = 4


def _bursts(draw: random.Random) -> Iterator[float]:
    floor, every = draw.uniform(0.02, 0.4), draw.uniform(60, 900)
    left, height = 0.0, 0.0
    while True:
        if left <= 0 and draw.random() < 1 / every:
            left, height = (
                min(600.0, 3 * draw.paretovariate(1.2)),
                min(30.0, draw.paretovariate(1.3)),
            )
        left -= 1
        yield floor * draw.uniform(0.5, 1.5) + (height if left > 0 else 0.0)


def _jobs(draw: random.Random) -> Iterator[float]:
    jobs = [
        (
            draw.choice((60, 180, 360, 720, DAY)), draw.randrange(DAY),
            draw.uniform(5, 90), draw.uniform(0.5, 4),
        )
        for _ in range(draw.randint(1, 4))
    ]  # fmt: skip
    running: list[tuple[float, float, float]] = []
    minute = 0
    while True:
        for period, offset, lasts, height in jobs:
            if (minute - offset) % period == 0 and draw.random() > 0.05:  # noqa: PLR2004 - some are left out
                begins = minute + max(0.0, draw.gauss(2, 3))
                ends = begins + lasts * draw.uniform(0.7, 1.4)
                running.append((begins, ends, height * draw.uniform(0.8, 1.25)))
        running = [one for one in running if one[1] > minute]
        yield 0.1 * draw.uniform(0.5, 1.5) + sum(one[2] for one in running if one[0] <= minute)
        minute += 1


def _ramps(draw: random.Random) -> Iterator[float]:
    floor, per_day = draw.uniform(0.05, 0.3), draw.uniform(0.3, 3)
    length = left = top = 0.0
    while True:
        if left <= 0 and draw.random() < per_day / DAY:
            length = left = draw.uniform(60, 480)
            top = draw.uniform(0.5, 4)
        left -= 1
        share = 1 - left / length if left > 0 else 0.0
        yield (floor + top * share) * draw.uniform(0.8, 1.2)


def _silence(draw: random.Random) -> Iterator[float]:
    work, rest = draw.uniform(10, 120), draw.uniform(300, 2_000)
    is_working, left, height = False, draw.expovariate(1 / rest), 1.0
    while True:
        left -= 1
        if left <= 0:
            is_working = not is_working
            left = draw.expovariate(1 / (work if is_working else rest))
            height = draw.lognormvariate(0, 0.6)
        yield height * draw.uniform(0.7, 1.3) if is_working else 0.0


def _compactions(draw: random.Random) -> Iterator[float]:
    """Writes gather until they are merged: each second merge is larger, each eighth the largest."""
    limit, rate = draw.uniform(120, 600), draw.uniform(0.2, 1)
    gathered, merges, left, minute = 0.0, 0, 0.0, 0
    while True:
        writes = rate * (1 + 0.7 * math.sin(2 * math.pi * minute / DAY)) * draw.uniform(0.5, 1.5)
        gathered += writes
        if gathered > limit:
            gathered, merges = 0.0, merges + 1
            size = 6 if merges % 8 == 0 else 2 if merges % 2 == 0 else 1
            left = 10.0 * size * draw.uniform(0.7, 1.3)
        left -= 1
        yield 0.2 * writes + (3.0 if left > 0 else 0.0)
        minute += 1


def _backups(draw: random.Random) -> Iterator[float]:
    begins, lasts, height = draw.randrange(DAY), draw.uniform(20, 180), draw.uniform(1, 6)
    by_day, on_sunday = draw.uniform(0.1, 0.6), draw.uniform(1, 3)
    tonight, minute = (0.0, 0.0), 0
    while True:
        if minute % DAY == begins:
            start = minute + draw.expovariate(1 / 8)
            length = lasts * (on_sunday if (minute // DAY) % 7 == 6 else 1.0)  # noqa: PLR2004 - the last day
            tonight = (start, start + length * draw.lognormvariate(0, 0.25))
        busy = by_day * max(0.1, math.sin(2 * math.pi * minute / DAY)) * draw.uniform(0.5, 1.5)
        yield busy + (height if tonight[0] <= minute < tonight[1] else 0.0)
        minute += 1


def _steps(draw: random.Random) -> Iterator[float]:
    level, left, noise = draw.uniform(0.3, 1), draw.uniform(DAY, 6 * DAY), 0.0
    while True:
        left -= 1
        if left <= 0:
            level, left = draw.lognormvariate(-0.2, 0.6), draw.uniform(DAY, 6 * DAY)
        noise = 0.98 * noise + draw.gauss(0, 0.06)
        spike = 4.0 if draw.random() < 0.003 else 0.0  # noqa: PLR2004 - a few a day
        yield max(0.0, level * (1 + noise)) + spike


SHAPES: Mapping[str, Callable[[random.Random], Iterator[float]]] = {
    "bursts": _bursts,
    "jobs": _jobs,
    "ramps": _ramps,
    "silence": _silence,
    "compactions": _compactions,
    "backups": _backups,
    "steps": _steps,
}


def make_up(name: str) -> Workload:
    """The series of a name such as ``ramps-2``."""
    shape = SHAPES[name.partition("-")[0]]
    demand = shape(random.Random(name))  # noqa: S311 - nothing secret
    return Workload(name=name, step_s=60.0, rates=list(islice(demand, WEEKS * 7 * DAY)))

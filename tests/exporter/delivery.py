"""Repeats a real-time test when the machine was too busy to deliver the load that the test is about.

A busy machine neither passes nor fails such a test. Where an assertion fails, this looks at how long
processes waited for a core meanwhile, which Linux counts as CPU pressure, and how long a thread beside
the test that only sleeps was not woken, as where a virtual machine stands still. If nothing got a core
for most of the time, or once for half a second, the test runs again. If that goes on, pytest reports
it as skipped, with the figures. Where only the load is high, it runs again as well, and fails if it
fails each time.
"""

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec

import pytest

ATTEMPTS = 4
#: The share of the time during which something waited for a core. Two tests at a time on two cores stay below.
BUSY = 0.6
PRESSURE = Path("/proc/pressure/cpu")
#: How often the thread beside the test wakes, and from which delay on the machine stood still.
WAKES_S, STILL_S = 0.02, 0.5
#: So many processes a core are more than the tests alone.
LOADED = 1.2
P = ParamSpec("P")


def waited_s(pressure: Path = PRESSURE) -> float:
    """Seconds since boot in which something waited for a core, 0 where Linux does not count it."""
    if not pressure.exists():
        return 0.0
    some = pressure.read_text().splitlines()[0]
    return float(some.rpartition("total=")[2]) / 1e6


@contextmanager
def longest_delay(
    *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep
) -> Iterator[Callable[[], float]]:
    """Watch beside what runs in the block. What it yields returns by how many seconds a sleep was too long at most."""
    delays, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.is_set():
            began = clock()
            sleep(WAKES_S)
            delays[0] = max(delays[0], clock() - began - WAKES_S)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield lambda: delays[0]
    finally:
        over.set()
        thread.join()


def load_per_core() -> float:
    """Processes that ran or waited for a core or for a disk in the last minute, for each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def repeats_when_busy(
    test: Callable[P, None],
    *,
    waited_s: Callable[[], float] = waited_s,
    clock: Callable[[], float] = time.monotonic,
    load: Callable[[], float] = load_per_core,
) -> Callable[P, None]:
    """Run the test again, up to four times, while it fails on a busy machine.

    It fails in the end unless there was no free core each time.
    """

    @functools.wraps(test)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> None:
        figures = []
        for attempt in range(1, ATTEMPTS + 1):
            began, waited = clock(), waited_s()
            with longest_delay() as delay_s:
                try:
                    test(*args, **kwargs)
                except AssertionError as error:
                    share = (waited_s() - waited) / (clock() - began)
                    figure = f"{share:.0%} of the time, {delay_s():.2f} s at once"
                    print(f"no free core for {figure}, {load():.1f} processes a core: {error}")
                    if share >= BUSY or delay_s() >= STILL_S:
                        figures.append(figure)
                    elif load() < LOADED or attempt == ATTEMPTS:
                        raise
                else:
                    return
        if len(figures) == ATTEMPTS:
            pytest.skip(f"no free core in {ATTEMPTS} attempts: {'; '.join(figures)}")
        pytest.fail(f"it failed {ATTEMPTS} times, and there was a free core in some")

    return repeated

"""Repeats a real-time test when the machine was too busy to deliver the load that the test is about.

A busy machine neither passes nor fails such a test. Where an assertion fails, this looks at how long
processes waited for a core meanwhile, which Linux counts as CPU pressure. If that was most of the
time, the test runs again. If it never gets a core, pytest reports it as skipped, with the figures.
"""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import pytest

ATTEMPTS = 4
#: The share of the time during which something waited for a core. Two tests at a time on two cores stay below.
BUSY = 0.6
PRESSURE = Path("/proc/pressure/cpu")
P = ParamSpec("P")


def waited_s(pressure: Path = PRESSURE) -> float:
    """Seconds since boot in which something waited for a core, 0 where Linux does not count it."""
    if not pressure.exists():
        return 0.0
    some = pressure.read_text().splitlines()[0]
    return float(some.rpartition("total=")[2]) / 1e6


def repeats_when_busy(
    test: Callable[P, None],
    *,
    waited_s: Callable[[], float] = waited_s,
    clock: Callable[[], float] = time.monotonic,
) -> Callable[P, None]:
    """Run the test again, up to four times, while it fails on a machine without a free core."""

    @functools.wraps(test)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> None:
        shares = []
        for _ in range(ATTEMPTS):
            began, waited = clock(), waited_s()
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                shares.append((waited_s() - waited) / (clock() - began))
                if shares[-1] < BUSY:
                    raise
                print(
                    f"no free core for {shares[-1]:.0%} of the time, so the test repeats: {error}"
                )
            else:
                return
        pytest.skip(f"no free core in {ATTEMPTS} attempts, for these shares of the time: {shares}")

    return repeated

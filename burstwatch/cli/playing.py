"""Plays a long recording in parts, on as many processors as there are.

The parts are of equal length, in order, and what is made of one part does not depend on another.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TextIO, TypeVar, cast

from burstwatch.backtest.replay import Moment, Replay
from burstwatch.cli.progress import track

T = TypeVar("T")
#: A part takes about a second.
PART = 10_000

#: The replay of a worker, which is forked with it, so that nothing is copied.
_shared: list[tuple[Replay, Callable[[Iterator[Moment]], object]]] = []


def play_parts(
    replay: Replay, use: Callable[[Iterator[Moment]], T], *, stderr: TextIO
) -> Iterator[T]:
    """Apply ``use`` to the moments of each part in several processes, and yield the results in the order of time."""
    parts = [range(at, min(at + PART, len(replay))) for at in range(0, len(replay), PART)]
    processes = min(os.cpu_count() or 1, len(parts))
    if processes == 1 or "fork" not in multiprocessing.get_all_start_methods():
        results = (use(replay.moments(part)) for part in parts)
        yield from track(results, total=len(parts), label="replay", stderr=stderr)
        return
    _shared.append((replay, use))
    try:
        # Where a worker is killed this raises; a Pool would wait for ever.
        fork = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(processes, mp_context=fork, initializer=end_with_parent) as pool:
            played = cast("Iterator[T]", pool.map(_play, parts))
            yield from track(played, total=len(parts), label="replay", stderr=stderr)
    finally:
        _shared.pop()


def end_with_parent() -> None:
    """End this worker when its parent is gone, whatever ended that: it would wait for work for ever."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play(part: range) -> object:
    replay, use = _shared[-1]
    return use(replay.moments(part))

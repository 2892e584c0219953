"""Long work: its progress on a terminal, and replays in several processes."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TextIO, TypeVar, cast

from burstwatch.backtest.replay import Moment, Replay

T = TypeVar("T")
#: Shorter work is over before anybody has read how long it takes.
QUIET_S = 1.0


def track(items: Iterable[T], *, total: int, label: str, stderr: TextIO) -> Iterator[T]:
    """Pass the items on, and show how many of ``total`` have been."""
    if not stderr.isatty():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - takes long to import
    from rich.progress import Progress  # noqa: PLC0415

    began = time.monotonic()
    bar = Progress(console=Console(file=stderr), transient=True)
    task = bar.add_task(label, total=total)
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - began >= QUIET_S:
                bar.start()
    finally:
        bar.stop()


#: Moments in one part; it takes about a second.
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

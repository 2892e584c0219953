"""Shows how far long work is: on a terminal only, on standard error, and after a moment of silence.

With the extra ``terminal`` it is a bar with the time that is left; without it, a counter.
"""

import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")
#: Shorter work is over before anybody has read how long it takes.
QUIET_S = 1.0


def track(items: Iterable[T], *, total: int, label: str, stderr: TextIO) -> Iterator[T]:
    """Pass the items on, and show how many of ``total`` have been."""
    if not stderr.isatty():
        yield from items
        return
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.progress import Progress  # noqa: PLC0415
    except ModuleNotFoundError:
        yield from _counted(items, total=total, label=label, stderr=stderr)
        return
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


def _counted(items: Iterable[T], *, total: int, label: str, stderr: TextIO) -> Iterator[T]:
    """Without control sequences: not every terminal knows them."""
    began, width = time.monotonic(), 0
    try:
        for number, item in enumerate(items, start=1):
            yield item
            if time.monotonic() - began >= QUIET_S:
                text = f"{label} {number}/{total}"
                width = max(width, len(text))
                print(f"\r{text:{width}}", end="", file=stderr, flush=True)
    finally:
        if width:
            print(f"\r{'':{width}}\r", end="", file=stderr, flush=True)

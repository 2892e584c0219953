"""Kills the process that measures at many instants of a program's start, and counts what survives it.

`python -m tests.exporter.kill_trials` tries it a thousand times with fio and dbench, over the first 200 ms, on both
sides of each exec. `make test-real` does fewer.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from burstwatch_exporter.measure.process import Process
from burstwatch_exporter.measure.scratch import scratch_file

TRIALS, WITHIN_S = 500, 0.2
#: Whatever is to die with it is dead by then, on a busy machine too.
DEAD_WITHIN_S = 10.0

Args = Callable[[Path, int], list[str]]


def fio(folder: Path, fd: int) -> list[str]:
    """Two workers for an hour, threads as in all of our jobs."""
    os.pwrite(fd, bytes(2**20), 0)
    return [
        "/usr/bin/fio", "--name=job", f"--filename=/proc/self/fd/{fd}", "--size=1m", "--rw=randread", "--numjobs=2", "--thread",
        "--rate_iops=10", "--time_based", "--runtime=3600", f"--output={folder}/result.json",
    ]  # fmt: skip


def dbench(folder: Path, _: int) -> list[str]:
    """Two clients for an hour."""
    return ["/usr/bin/dbench", "-t", "3600", "-D", str(folder), "2"]


PROGRAMS: dict[str, Args] = {"fio": fio, "dbench": dbench}


def survivors(mark: str) -> list[int]:
    """The processes that have ``mark`` in their command line and are no zombies."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _has(path, mark.encode())]


def _has(process: Path, mark: bytes) -> bool:
    try:
        is_marked = mark in (process / "cmdline").read_bytes()
        return is_marked and b"State:\tZ" not in (process / "status").read_bytes()
    except OSError:  # it has ended
        return False


def trial(args: Args, after_s: float, folder: Path) -> tuple[int, list[int]]:
    """Kill a process that starts the program so long after it was told to.

    Returns how many processes there were then, and what survived.
    """
    parent = os.fork()
    if parent == 0:
        try:
            with ExitStack() as stack, scratch_file(folder) as fd:
                program = Process(
                    args=args(folder, fd), printed=folder / "out", errors=folder / "err", fd=fd
                )
                program.start(stack)
                signal.pause()
        finally:
            os._exit(1)
    time.sleep(after_s)
    running = len(survivors(str(folder)))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    until = time.monotonic() + DEAD_WITHIN_S
    while (left := survivors(str(folder))) and time.monotonic() < until:
        time.sleep(0.01)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return running, left


def trials(count: int, seed: int) -> Iterator[tuple[str, float, int, list[int]]]:
    """Each program, killed at ``count`` instants of its start: its name, the instant, and as ``trial``."""
    chance = random.Random(seed)  # noqa: S311 - instants
    for name, args in PROGRAMS.items():
        for number in range(count):
            after_s = WITHIN_S * (number + chance.random()) / count
            with tempfile.TemporaryDirectory(prefix="burstwatch-kill-") as folder:
                yield (name, after_s, *trial(args, after_s, Path(folder)))


def main() -> None:
    survived = ran = 0
    for number, (name, after_s, running, left) in enumerate(trials(TRIALS, seed=1), start=1):
        ran += running > 1
        if left:
            survived += 1
            print(f"{name}, killed after {1_000 * after_s:.1f} ms: {len(left)} survived")
        if sys.stderr.isatty():
            print(f"\r{number}\033[K", end="", file=sys.stderr)
    print(
        f"{TRIALS * len(PROGRAMS)} kills over {1_000 * WITHIN_S:.0f} ms, {ran} with a program running: {survived} survived"
    )
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()

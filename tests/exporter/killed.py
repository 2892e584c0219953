"""Writes a state again and again, killed one call later each time, and prints what is left."""

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from burstwatch_exporter.credits.state import SavedState, read_state, write_state
from tests.exporter.states import some


def write_until(path: Path, killed_at: int) -> None:
    """Write, and be killed before the call of that number that leaves Python."""
    seen = 0

    def count(_: FrameType, event: str, arg: object) -> None:
        nonlocal seen
        module = getattr(arg, "__self__", None)
        outside = type(module).__module__ == "_io" or getattr(arg, "__module__", "") in {
            "posix",
            "io",
            "_io",
        }
        if event == "c_call" and outside:
            seen += 1
            if seen > killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    write_state(path, SavedState(format=1, volumes=[some(2.0)]))


def main() -> None:
    path = Path(sys.argv[1])
    survived: list[float] = []
    status = 1
    while status:
        write_state(path, SavedState(format=1, volumes=[some(1.0)]))
        child = os.fork()
        if child == 0:
            write_until(path, len(survived))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        (found,) = read_state(path).volumes
        survived.append(found.interval.low)
    print(json.dumps(survived))


if __name__ == "__main__":
    main()
